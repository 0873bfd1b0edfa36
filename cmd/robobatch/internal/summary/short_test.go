package summary

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestShort checks, for every combination of contents, that the short summary has at most twelve lines of 80 columns,
// and contains the most important numbers.
func TestShort(t *testing.T) {
	for n := range 1 << 8 {
		has := func(bit int) int64 { return int64(n >> bit & 1) }
		r := &Report{Inputs: []Input{{Name: "a.log"}}, Output: "x.csv"}
		r.Counts = Counts{URLs: 100, Rows: 100, Null: 2 * has(0), Skipped: 3 * has(1), Refused: map[string]int64{"quote": 4 * has(2)}}
		if has(3) == 1 {
			r.Where = "disallowed"
		}
		if has(4) == 1 {
			r.Rules.Skipped = []string{"x.md"}
		}
		for a := range 1 + 9*has(5) {
			r.Agents = append(r.Agents, fmt.Sprintf("agent%d", a))
			r.ByAgent = append(r.ByAgent, AgentCount{Agent: r.Agents[a], Rows: 100, Disallowed: 10 * a, Violations: &a})
		}
		if has(6) == 1 {
			r.AgentFromLog, r.Others, r.Unbound = true, &Clients{10, 5}, &Clients{7, 6}
		}
		for i := range 10 * has(7) {
			rule := BusyRule{Origin: "https://" + strings.Repeat("long.", 10) + "com", Line: 3, Rule: "Disallow: /" + strings.Repeat("é", 20), Rows: 90 - i, allow: i%2 == 0}
			r.Busiest.Rules = append(r.Busiest.Rules, rule)
		}
		text := r.Short()
		lines := strings.Split(strings.TrimSuffix(text, "\n\n"), "\n")
		most := shortLines
		if has(6) == 1 {
			most += shortViolators + shortRules
		}
		if len(lines) > most {
			t.Errorf("case %d: %d lines\n%s", n, len(lines), text)
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > shortWidth {
				t.Errorf("case %d: %d columns: %s", n, utf8.RuneCountInString(l), l)
			}
		}
		for part, want := range map[string]bool{
			"  URLs ": true, "  allowed ": true, "  disallowed ": true, "-v prints more": true, "  null ": has(0) == 1,
			"3 from unknown agents": has(1) == 1, "  no verdict ": has(2) == 1, "rows: -where disallowed": has(3) == 1, "1 other file in -rules": has(4) == 1,
			"  violations ": has(6) == 1, "  other clients  ": has(6) == 1, "  not bound ": has(6) == 1, "for 10 agents": has(5) == 1 && has(6) == 0,
			"\n  agent9 ": has(5) == 1,
		} {
			if got := strings.Contains(text, part); got != want {
				t.Errorf("case %d: %q is there: %t\n%s", n, part, got, text)
			}
		}
		if n == 1<<7 && strings.Count(text, "disallowed by") != shortRules {
			t.Errorf("rules are missing:\n%s", text)
		}
	}
}

// TestViolators checks that the short summary names the ten crawlers with the most violations and counts the others
// that have any, before the lines about written rows.
func TestViolators(t *testing.T) {
	for _, with := range []int64{0, 1, 10, 11, 13} {
		r := &Report{Inputs: []Input{{Name: "a.log"}}, Others: &Clients{}, Unbound: &Clients{}}
		r.AgentFromLog, r.Where, r.Counts = true, "violations", Counts{URLs: 100, Rows: 100, Null: 1}
		r.Busiest.Violated = []BusyRule{{Origin: "https://a.example", Line: 2, Rule: "Disallow: /x", Rows: 9}}
		for a := range with + 5 {
			violations := max(0, with-a)
			r.ByAgent = append(r.ByAgent, AgentCount{Agent: fmt.Sprintf("agent%d", a), Rows: 100, Disallowed: 50, Violations: &violations})
		}
		text := r.Short()
		if got := strings.Count(text, "violations in 100 rows"); int64(got) != min(with, 10) {
			t.Errorf("%d with violations: %d named\n%s", with, got, text)
		}
		more := map[int64]string{11: "  -v prints 1 more crawler with violations\n", 13: "  -v prints 3 more crawlers with violations\n"}[with]
		if strings.Contains(text, " more crawler") != (more != "") || !strings.Contains(text, more) {
			t.Errorf("%d with violations: want %q\n%s", with, more, text)
		}
		if rule := strings.Index(text, "  violated  "); rule < 0 || rule > strings.Index(text, "  null ") || rule > strings.Index(text, "  written ") {
			t.Errorf("the rules do not precede null and written:\n%s", text)
		}
	}
}
