package summary

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
)

// The sizes of the short summary.
const (
	shortLines  = 12 // with the title, and the empty line below it
	shortWidth  = 80 // of lines with a rule
	shortAgents = 3
	shortRules  = 3

	shortViolators = 10 // crawlers with violations, for which there are as many lines more
)

// Text returns all of the summary, or the lines that answer the question.
func (r *Report) Text(verbose bool) string {
	if verbose {
		return r.Full()
	}
	return r.Short()
}

// Short returns the lines of the summary that answer the question: at most twelve, and with crawlers of
// the log so many more as name those with violations, and the rules.
func (r *Report) Short() string {
	if r.Fault != "" && r.Counts.URLs == 0 {
		return r.Full()
	}
	c := &r.Counts
	note := c.origins(func(n int64) string { return say.Count(n, "origin") })
	if note != "" {
		note = "of " + note
	}
	if r.isForSeveral() {
		note = strings.TrimPrefix(note+fmt.Sprintf(", for %d agents", len(r.Agents)), ", ")
	}
	if c.Skipped > 0 {
		note += "; " + say.Number(c.Skipped) + " of unknown agents are left out"
	}
	head, rows, rest := table{
		{"URLs", say.Number(c.URLs), note, true},
		{"allowed", say.Number(c.Allowed), say.Percent(c.Allowed, c.Rows), true},
		{"disallowed", say.Number(c.Disallowed), say.Percent(c.Disallowed, c.Rows), true},
		{"violations", say.Number(c.Violations), say.Percent(c.Violations, c.Rows), r.AgentFromLog},
	}.visible(), r.rows().visible(), r.outside().visible()
	var text string
	if r.AgentFromLog {
		var t table
		all := slices.DeleteFunc(r.worst(), func(a AgentCount) bool { return *a.Violations == 0 })
		for _, a := range all[:min(shortViolators, len(all))] {
			t = append(t, line{a.Agent, say.Number(*a.Violations), "violations in " + say.Count(a.Rows, "row"), true})
		}
		if left := len(all) - len(t); left > 0 {
			t = append(t, line{"others", "", "-v prints " + say.Count(int64(left), "more crawler") + " with violations", true})
		}
		text = slices.Concat(head, t, r.violated(shortRules), r.verified().visible(), rows, rest).String()
	} else {
		room := shortLines - 3 - len(head) - len(rows) - len(rest)
		agents := r.clients(min(shortAgents, room))
		most := min(shortRules, room-len(agents))
		var t table
		for _, rule := range r.Busiest.Rules {
			if !rule.allow && len(t) < most {
				t = append(t, line{"disallowed by", say.Number(rule.Rows), rule.place(), true})
			}
		}
		text = slices.Concat(head, rows, agents, t, rest).String()
	}
	lines := strings.SplitAfter(text, "\n")
	for i := range lines {
		lines[i] = fit(lines[i])
	}
	return r.title() + "\n\n" + strings.Join(lines, "") + r.end() + "\n"
}

// rows returns the lines about rows without rules, rows without a verdict, and rows that are written.
func (r *Report) rows() table {
	c := &r.Counts
	without := r.perURL(c.Reasons[engine.ReasonNoRobots.String()])
	note := "rows: no robots.txt of their origins"
	if c.Early > 0 {
		note += ", or none so old"
	}
	return table{
		{"no rules", say.Number(without), note + "; " + missing[r.Missing], without > 0},
		{"null", say.Number(c.Null), say.Percent(c.Null, c.Rows), c.Null > 0},
		{"written", say.Number(c.Written), "rows: -where " + r.Where, r.Where != ""},
	}
}

// missing says what a value of -missing answers.
var missing = map[string]string{"allow": "allowed", "disallow": "disallowed", "null": "null"}

// perURL returns how many URLs n verdicts are, if each agent has one.
func (r *Report) perURL(n int64) int64 {
	if r.isForSeveral() {
		return n / int64(len(r.Agents))
	}
	return n
}

// isForSeveral reports whether each URL is decided for several agents.
func (r *Report) isForSeveral() bool { return !r.AgentFromLog && len(r.Agents) > 1 }

// clients returns the agents that say most, if they are several.
func (r *Report) clients(most int) (t table) {
	if !r.isForSeveral() {
		return nil
	}
	all := r.worst()
	for i, a := range all[:max(0, min(most, len(all)))] {
		note := say.Percent(a.Disallowed, a.Rows) + " disallowed"
		if left := len(all) - most; i == most-1 && left > 0 {
			note += fmt.Sprintf("; -v prints %d more", left)
		}
		t = append(t, line{a.Agent, say.Number(a.Disallowed), note, true})
	}
	return t
}

// violated returns the rules that most violations broke.
func (r *Report) violated(most int) (t table) {
	for _, rule := range r.Busiest.Violated[:min(most, len(r.Busiest.Violated))] {
		t = append(t, line{"violated", say.Number(rule.Rows), rule.place(), true})
	}
	return t
}

// outside returns the rows that no violation is about, and the lines without a verdict.
func (r *Report) outside() (t table) {
	if r.AgentFromLog {
		t = table{
			{"other clients", say.Number(r.Others.Disallowed), "disallowed of " + say.Count(r.Others.Rows, "row") + ": browsers, and unknown crawlers", r.Others.Rows > 0},
			{"not bound", say.Number(r.Unbound.Disallowed), "disallowed of " + say.Count(r.Unbound.Rows, "row") + ": crawlers that are exempt, or may be", r.Unbound.Rows > 0},
		}
	}
	bad := r.perURL(r.Counts.Reasons[engine.ReasonBadURL.String()]) + Sum(r.Counts.Refused)
	return append(t, line{"no verdict", say.Number(bad), "lines: -rejects lists them", bad > 0})
}

// end returns the line about time and memory.
func (r *Report) end() string {
	text := fmt.Sprintf("%.2f s, %.2f s of CPU, %s; -v prints more", r.Run.Seconds, r.Run.CPUSeconds, say.Bytes(r.Run.PeakMemory))
	if n := int64(len(r.Rules.Skipped)); n > 0 {
		text = say.Count(n, "other file") + " in -rules; " + text
	}
	return "  " + text + "\n"
}

// visible returns the lines of a table that are shown.
func (t table) visible() (shown table) {
	for _, l := range t {
		if l.shown {
			shown = append(shown, l)
		}
	}
	return shown
}

// fit cuts a line to the width.
func fit(text string) string {
	if utf8.RuneCountInString(text) <= shortWidth+1 { // with the end of line
		return text
	}
	runes := []rune(text)
	return string(runes[:shortWidth-1]) + "…\n"
}
