package diff

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
)

// Kinds are the kinds of changes that -fail knows: those of the column change, changed for all of these, and
// otherPreference.
var Kinds = []string{"closed", "opened", "other_rule", "changed", otherPreference}

// otherPreference is the kind of requests for which the answer about a use of the page changed.
const otherPreference = "other_preference"

// A Gate is a part of -fail: how many changes of a kind there may be.
type Gate struct {
	text    string
	kind    int      // index of Kinds
	agents  []string // whose; nil is each of them
	most    int64
	percent float64 // in place of most, if it is not negative
}

// ParseGates reads the words of -fail, such as "closed=0.1%" and "opened:@ai=0". All faults are
// reported at once.
func ParseGates(words []string) (gates []Gate, err error) {
	var errs []error
	for _, word := range words {
		g, err := parseGate(strings.TrimSpace(word))
		if err != nil {
			if !slices.ContainsFunc(errs, func(other error) bool { return other.Error() == err.Error() }) {
				errs = append(errs, err)
			}
			continue
		}
		gates = append(gates, g)
	}
	return gates, errors.Join(errs...)
}

// parseGate reads a gate as -fail has it.
func parseGate(word string) (Gate, error) {
	g := Gate{text: word, percent: -1}
	left, number, ok := strings.Cut(word, "=")
	if !ok {
		return g, fmt.Errorf("%q has no limit: write closed=0, closed=0.1%% or closed:Googlebot=10", word)
	}
	kind, agent, named := strings.Cut(left, ":")
	if g.kind = slices.Index(Kinds, kind); g.kind < 0 {
		return g, cli.Hint(fmt.Errorf("%q is no kind of change: use %s", kind, strings.Join(Kinds, ", ")), kind, Kinds)
	}
	var err error
	if named {
		if g.agents, err = agents.Expand([]string{agent}); err != nil {
			return g, err
		}
	}
	digits, percent := strings.CutSuffix(number, "%")
	if strings.Trim(digits, "0123456789.") != "" { // ParseFloat takes more: 1_0, inf, 0x1p4
		digits = ""
	}
	if percent {
		g.percent, err = strconv.ParseFloat(digits, 64)
	} else {
		g.most, err = strconv.ParseInt(digits, 10, 64)
	}
	if err != nil || percent && !(g.percent <= 100) {
		return g, fmt.Errorf("%q: %q is neither a number, such as 10, nor a share, such as 0.1%%", word, number)
	}
	return g, nil
}

// Check returns an error for each gate that is about none of the agents.
func Check(gates []Gate, asked []string) error {
	var errs []error
	for _, g := range gates {
		if g.agents != nil && !slices.ContainsFunc(asked, g.about) {
			errs = append(errs, fmt.Errorf("%q is about no crawler of this run: name it with -agent, too", g.text))
		}
	}
	return errors.Join(errs...)
}

// Idle returns the gates that are about no crawler of a report that has some, as they are written.
func Idle(gates []Gate, r *Report) (idle []string) {
	for _, g := range gates {
		about := func(a Agent) bool { return g.about(a.Agent) }
		if len(r.Agents) > 0 && !slices.ContainsFunc(r.Agents, about) {
			idle = append(idle, g.text)
		}
	}
	return idle
}

// Names returns the crawlers that gates name.
func Names(gates []Gate) (names []string) {
	for _, g := range gates {
		names = append(names, g.agents...)
	}
	return names
}

// about reports whether the gate is about an agent.
func (g *Gate) about(agent string) bool {
	return g.agents == nil || slices.ContainsFunc(g.agents, func(name string) bool { return strings.EqualFold(name, agent) })
}

// count returns how many requests and URLs are of the kind.
func (g *Gate) count(a *Agent) Count {
	switch Kinds[g.kind] {
	case engine.Closed.String():
		return a.Closed
	case engine.Opened.String():
		return a.Opened
	case engine.OtherRule.String():
		return a.OtherRule
	case otherPreference:
		return a.OtherPreference
	}
	return Count{
		Requests: a.Closed.Requests + a.Opened.Requests + a.OtherRule.Requests, URLs: a.Closed.URLs + a.Opened.URLs + a.OtherRule.URLs,
	}
}

// A Verdict is a gate, as it is for an agent.
type Verdict struct {
	Gate   string `json:"gate"` // as it was written
	Agent  string `json:"agent"`
	Count  int64  `json:"requests"`
	Of     int64  `json:"of"` // all requests of the agent
	Passed bool   `json:"passed"`

	kind string // of change, of Kinds
	text string // what is wrong
}

// Judge returns the verdicts of the gates.
func Judge(gates []Gate, r *Report) []Verdict {
	verdicts := []Verdict{}
	for _, g := range gates {
		for i := range r.Agents {
			a := &r.Agents[i]
			if !g.about(a.Agent) {
				continue
			}
			count := g.count(a)
			v := Verdict{Gate: g.text, Agent: a.Agent, Count: count.Requests, Of: a.Requests, kind: Kinds[g.kind]}
			v.text = strings.ReplaceAll(v.kind, "_", " ") + " " + r.counts(count)
			if g.percent >= 0 {
				// 0.1 is not exact: a count of just that many passes.
				v.Passed = float64(v.Count)*100 <= g.percent*float64(v.Of)*(1+1e-12)
				v.text += fmt.Sprintf(" (%s): more than %s %%", Percent(v.Count, v.Of), strconv.FormatFloat(g.percent, 'f', -1, 64))
			} else {
				v.Passed = v.Count <= g.most
				v.text += ": more than " + say.Number(g.most)
			}
			verdicts = append(verdicts, v)
		}
	}
	return verdicts
}

// A Failure is a gate that did not pass for crawlers with equal counts.
type Failure struct {
	Verdict          // of the first of them
	Names   []string // of all of them
}

// Failures returns the gates that did not pass, with the crawlers that they say the same of.
func Failures(all []Verdict) (failed []Failure) {
	for _, v := range all {
		if v.Passed {
			continue
		}
		i := slices.IndexFunc(failed, func(f Failure) bool { return f.Gate == v.Gate && f.text == v.text })
		if i < 0 {
			i, failed = len(failed), append(failed, Failure{Verdict: v})
		}
		failed[i].Names = append(failed[i].Names, v.Agent)
	}
	return failed
}

// Percent returns n as a percentage of all, with two digits that count.
func Percent(n, all int64) string {
	if all == 0 {
		return "0 %"
	}
	p := 100 * float64(n) / float64(all)
	switch {
	case p == 0 || p >= 10:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	case p >= 1:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	case p >= 0.01:
		return strconv.FormatFloat(p, 'f', 2, 64) + " %"
	}
	return strconv.FormatFloat(p, 'g', 2, 64) + " %"
}

// String names the fault: "Googlebot: closed 2 URLs, 3 requests (0.12 %): more than 0.1 % (-fail closed:Googlebot=0.1%)".
func (f Failure) String() string {
	return crawlers(f.Names) + ": " + f.text + " (-fail " + f.Gate + ")"
}

// crawlers names up to three crawlers, and counts the others.
func crawlers(names []string) string {
	if n := len(names); n > 3 {
		return fmt.Sprintf("%s, %s and %d others", say.Line(names[0]), say.Line(names[1]), n-2)
	}
	return say.Line(strings.Join(names, ", "))
}
