package worlds

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	each = flag.Int("worlds", 0, "how many worlds of each code TestWorlds makes, and three times as many without a fault")
	from = flag.Uint64("seed", 1, "the seed of the first of them")
	only = flag.String("codes", "", "codes of these worlds, separated by commas; all if not given")
	keep = flag.String("keep", "", "a folder for the worlds with a mistake")
)

// The goals of a report: the shares of planted faults that it must name, for each code and in total; the share of
// worlds in which it must name the worst fault first; and the share of logs without a fault that may have a finding.
const (
	goalCode, goalAll, goalFirst = .85, .95, .9
	goalFalse                    = 1. / 60
)

// A finding is a finding of a report.
type finding struct {
	Code     string
	Agents   []string
	Path     string
	From, To time.Time
}

// The verdicts on findings, and on faults without a finding.
const (
	found       = iota
	misdated    // found, but at another time
	missed      // there is no finding about it
	untrue      // a finding that no fault explains
	consequence // a finding that follows from a fault and should be part of its finding
	repeated    // a second finding of a fault
	verdicts
)

// A verdict is about a fault, a finding, or both.
type verdict struct {
	kind    int
	fault   *truth
	finding *finding
}

// TestWorlds generates worlds, and checks that reports name exactly the planted faults, the worst one first.
func TestWorlds(t *testing.T) {
	if *each == 0 {
		t.Skip("make worlds makes them")
	}
	program := filepath.Join(t.TempDir(), "robobatch")
	build := exec.Command("go", "build", "-o", program, "./cmd/robobatch")
	build.Dir = filepath.Join("..", "..")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	wanted := append(codes(), "faultless")
	if *only != "" {
		wanted = strings.Split(*only, ",")
	}
	sums := map[string]*[verdicts]int{}
	faulty, first, faultless, wrong := 0, 0, 0, 0
	for _, code := range wanted {
		o := order{codes: []string{code}}
		n := *each
		if code == "faultless" {
			o, n = order{faultless: true}, 3*n
		}
		for i := range n {
			o.seed = *from + uint64(i)
			dir := filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d", code, o.seed))
			if *keep != "" {
				dir = filepath.Join(*keep, filepath.Base(dir))
			}
			if err := o.make(dir); err != nil {
				t.Fatal(err)
			}
			r, all := reportOf(t, program, dir)
			isWrong := false
			for _, v := range r.judge(all) {
				about := v.fault
				if about == nil || v.kind == consequence {
					about = &truth{Code: v.finding.Code}
				}
				code := about.Code
				if sums[code] == nil {
					sums[code] = new([verdicts]int)
				}
				if sums[code][v.kind]++; v.kind != found {
					isWrong = true
					t.Logf("%s: %s: %s: %+v, %+v", filepath.Base(dir), code, [...]string{"found", "misdated", "missed", "false", "consequence", "repeated"}[v.kind], v.fault, v.finding)
				}
			}
			if len(r.Faults) == 0 {
				faultless++
				wrong += map[bool]int{true: 1}[isWrong]
			} else if faulty++; r.isWorst(all) {
				first++
			}
			if !isWrong || *keep == "" {
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
		}
	}
	t.Logf("%-24s %9s %9s %9s %9s %9s %9s", "code", "found", "misdated", "missed", "false", "conseq.", "repeated")
	var all [verdicts]int
	for _, code := range slices.Sorted(maps.Keys(sums)) {
		s := sums[code]
		t.Logf("%-24s %9d", code, *s)
		for i, n := range s {
			all[i] += n
		}
		if named := s[found] + s[misdated]; float64(named) < goalCode*float64(named+s[missed]) {
			t.Errorf("%s: %d of %d faults are named, at least %g of them should be", code, named, named+s[missed], goalCode)
		}
	}
	t.Logf("%-24s %9d; %d of %d begin with the worst; %d of %d without a fault have a finding", "all", all, first, faulty, wrong, faultless)
	if named := all[found] + all[misdated]; float64(named) < goalAll*float64(named+all[missed]) {
		t.Errorf("%d of %d faults are named, at least %g of them should be", named, named+all[missed], goalAll)
	}
	if float64(first) < goalFirst*float64(faulty) {
		t.Errorf("%d of %d reports begin with the worst fault, at least %g of them should", first, faulty, goalFirst)
	}
	if float64(wrong) > max(1, goalFalse*float64(faultless)) {
		t.Errorf("%d of %d logs without a fault have a finding", wrong, faultless)
	}
}

// reportOf returns the truth of a world, and the findings of a report.
func reportOf(t *testing.T, program, dir string) (r report, all []finding) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	lists, failed := os.ReadFile(filepath.Join(dir, "ranges.args"))
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	arguments := []string{"report", "-rules", "robots.jsonl", "-as-of", "log", "-base", r.Base, "-in", "access.log.zst", "-agent-from-log", "-in-sitemap", "sitemap.xml.zst", "-print", "json", "-quiet", "-out", "page.html"}
	run := exec.Command(program, append(arguments, strings.Fields(string(lists))...)...)
	run.Dir = dir
	var problems bytes.Buffer
	run.Stderr = &problems
	printed, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &problems)
	}
	var d struct{ Findings, Limits []finding }
	if err := json.Unmarshal(printed, &d); err != nil {
		t.Fatal(err)
	}
	for _, l := range d.Limits {
		if !slices.ContainsFunc(r.Limits, func(own map[string]string) bool { return own["code"] == l.Code }) {
			d.Findings = append(d.Findings, l)
		}
	}
	return r, d.Findings
}

// meets reports whether a finding may be about a fault, judging by agents and path.
func (f *truth) meets(one *finding) bool {
	isAny := len(one.Agents) == 0 || f.Agents[0] == "*" || slices.ContainsFunc(one.Agents, func(a string) bool {
		return slices.ContainsFunc(f.Agents, func(b string) bool { return strings.EqualFold(a, b) })
	})
	switch {
	case !isAny:
		return false
	case f.Path == "" || one.Path == "":
		return true
	case f.Path == "/" || one.Path == "/":
		return f.Path == one.Path
	}
	return strings.HasPrefix(f.Path, one.Path) || strings.HasPrefix(one.Path, f.Path)
}

// timeRange returns the span of a fault.
func (f *truth) timeRange() (from, to time.Time) {
	from, _ = time.Parse(time.RFC3339, f.From)
	to, _ = time.Parse(time.RFC3339, f.To)
	return from, to
}

// countWrongEnds returns how many of the two ends of a finding differ from those of a fault by more than two hours or
// 15 % of its duration. Ends are ignored if the fault lasts the whole log.
func (r *report) countWrongEnds(f *truth, one *finding) (n int) {
	from, to := f.timeRange()
	begin, end := (&truth{From: r.From, To: r.To}).timeRange()
	if 10*to.Sub(from) >= 9*end.Sub(begin) {
		return 0
	}
	slack := max(2*time.Hour, to.Sub(from)*15/100)
	for _, apart := range []time.Duration{one.From.Sub(from), one.To.Sub(to)} {
		n += map[bool]int{true: 1}[apart.Abs() > slack]
	}
	return n
}

// judge compares findings with the truth.
func (r *report) judge(all []finding) (verdicts []verdict) {
	hit := map[*truth]bool{}
	for i := range all {
		one, best, least := &all[i], (*truth)(nil), 100
		for j := range r.Faults {
			f := &r.Faults[j]
			if f.Code != one.Code || !f.meets(one) {
				continue
			}
			if n := r.countWrongEnds(f, one) + 10*map[bool]int{true: 1}[hit[f]]; n < least {
				best, least = f, n
			}
		}
		v := verdict{untrue, best, one}
		switch {
		case best == nil:
			for j := range r.Faults {
				f := &r.Faults[j]
				from, to := f.timeRange()
				if slices.Contains(f.Consequences, one.Code) && (&truth{Agents: f.Agents}).meets(one) && one.From.Before(to.Add(24*time.Hour)) && one.To.After(from) {
					v.kind, v.fault = consequence, f
				}
			}
		case hit[best]:
			v.kind = repeated
		default:
			hit[best] = true
			v.kind = map[bool]int{true: misdated, false: found}[least > 0]
		}
		verdicts = append(verdicts, v)
	}
	for i := range r.Faults {
		if f := &r.Faults[i]; !hit[f] && !f.Small {
			verdicts = append(verdicts, verdict{missed, f, nil})
		}
	}
	return verdicts
}

// harm returns the number of requests that search crawlers lost because of a fault, weighted as in the catalogue of
// findings.
func (r *report) harm(f *truth) float64 {
	harm := float64(f.Requests)
	if f.Lost > 0 {
		harm = float64(f.Lost)
	}
	if f.Code == "crawler_refused" { // both the refused requests and those that were no longer made got no page
		harm += float64(f.Requests)
	}
	from, to := f.timeRange()
	_, end := (&truth{To: r.To}).timeRange()
	switch f.Code {
	case "robots_txt_failed":
		if to.Sub(from) > 12*time.Hour {
			harm = max(harm, 100)
		}
	case "bytes_hog", "crawler_surge", "robots_txt_missing":
		harm /= 10
	case "parameter_crawl":
		if harm /= 16; f.Of < 10_000 {
			harm /= 10
		}
	case "not_found_section", "endless_urls", "crawler_impostors", "sitemap_bad_urls", "rules_ignored", "robots_txt_other_text":
		harm /= 4
	case "redirect_chain", "soft_not_found", "crawl_delay_ignored":
		harm /= 8
	}
	if strings.HasPrefix(f.Code, "crawler_s") {
		harm /= 2
	}
	if !to.Before(end.Add(-2 * time.Hour)) {
		harm *= 3
	}
	if f.Agents[0] != "*" && !slices.ContainsFunc(f.Agents, func(name string) bool { return slices.Contains(searches, name) }) {
		harm /= 4
	}
	return harm
}

// searches are the crawlers of search engines.
var searches = strings.Fields("Googlebot bingbot YandexBot Baiduspider DuckDuckBot Applebot SeznamBot Yeti PetalBot MojeekBot")

// isWorst reports whether the first finding is about the fault with the most harm, or one with at least half as much.
func (r *report) isWorst(all []finding) bool {
	most := 0.
	for i := range r.Faults {
		most = max(most, r.harm(&r.Faults[i]))
	}
	return len(all) > 0 && slices.ContainsFunc(r.Faults, func(f truth) bool { return f.Code == all[0].Code && f.meets(&all[0]) && 2*r.harm(&f) >= most })
}
