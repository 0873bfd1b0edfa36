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

// Kinds are the kinds of changes that -fail knows: those of the column change, and changed for all.
var Kinds = []string{"closed", "opened", "other_rule", "changed"}

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

// about reports whether the gate is about an agent.
func (g *Gate) about(agent string) bool {
	return g.agents == nil || slices.ContainsFunc(g.agents, func(name string) bool { return strings.EqualFold(name, agent) })
}

// count returns how many requests are of the kind.
func (g *Gate) count(a *Agent) int64 {
	switch Kinds[g.kind] {
	case engine.Closed.String():
		return a.Closed.Requests
	case engine.Opened.String():
		return a.Opened.Requests
	case engine.OtherRule.String():
		return a.OtherRule.Requests
	}
	return a.Closed.Requests + a.Opened.Requests + a.OtherRule.Requests
}

// A Verdict is a gate, as it is for an agent.
type Verdict struct {
	Gate   string `json:"gate"` // as it was written
	Agent  string `json:"agent"`
	Count  int64  `json:"requests"`
	Of     int64  `json:"of"` // all requests of the agent
	Passed bool   `json:"passed"`

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
			v := Verdict{Gate: g.text, Agent: a.Agent, Count: g.count(a), Of: a.Requests}
			if g.percent >= 0 {
				// 0.1 is not exact: a count of just that many passes.
				v.Passed = float64(v.Count)*100 <= g.percent*float64(v.Of)*(1+1e-12)
				v.text = fmt.Sprintf("%s %s: more than %s %%", Kinds[g.kind], Percent(v.Count, v.Of), strconv.FormatFloat(g.percent, 'f', -1, 64))
			} else {
				v.Passed = v.Count <= g.most
				v.text = fmt.Sprintf("%s %s: more than %s", Kinds[g.kind], say.Number(v.Count), say.Number(g.most))
			}
			verdicts = append(verdicts, v)
		}
	}
	return verdicts
}

// Failed returns the verdicts that did not pass.
func Failed(all []Verdict) (failed []Verdict) {
	for _, v := range all {
		if !v.Passed {
			failed = append(failed, v)
		}
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

// String names the fault: "Googlebot: closed 0.12 %: more than 0.1 % (closed:Googlebot=0.1%)".
func (v Verdict) String() string { return v.Agent + ": " + v.text + " (-fail " + v.Gate + ")" }
