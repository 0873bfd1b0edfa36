package ci

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/robots"
)

// Kinds are the kinds of counts that a command accepts in -fail.
type Kinds struct {
	Names    []string
	Noun     string // what messages call the kinds: "kind of change"
	Examples string // gates for messages: "closed=0, closed=0.1% or closed:Googlebot=10"
}

// A Gate is one condition of -fail: the maximum count of a kind.
type Gate struct {
	Text    string // as written
	Kind    string
	agents  []string // the agents it applies to; nil means each agent
	most    int64
	percent float64 // used instead of most unless negative
}

// Parse parses the values of -fail, such as "closed=0.1%" and "opened:@ai=0". The error reports every invalid value
// once; the gates are then those of the valid values.
func (k Kinds) Parse(words []string) (gates []Gate, err error) {
	var errs []error
	for _, word := range words {
		g, err := k.parseGate(strings.TrimSpace(word))
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

// parseGate parses one value of -fail. The name of an agent may be a set, or a file that is read.
func (k Kinds) parseGate(word string) (Gate, error) {
	g := Gate{Text: word, percent: -1}
	left, number, ok := strings.Cut(word, "=")
	if !ok {
		return g, fmt.Errorf("%q has no limit: write %s", word, k.Examples)
	}
	kind, agent, named := strings.Cut(left, ":")
	if g.Kind = kind; !slices.Contains(k.Names, kind) {
		return g, cli.Hint(fmt.Errorf("%q is not a %s: use %s", kind, k.Noun, strings.Join(k.Names, ", ")), kind, k.Names)
	}
	var err error
	if named {
		if g.agents, err = flags.ExpandAgents([]string{agent}); err != nil {
			return g, err
		}
	}
	digits, percent := strings.CutSuffix(number, "%")
	if strings.Trim(digits, "0123456789.") != "" { // ParseFloat accepts more: 1_0, inf, 0x1p4
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

// CheckGates returns an error for each gate that does not apply to any of the agents.
func CheckGates(gates []Gate, asked []string) error {
	var errs []error
	for _, g := range gates {
		if g.agents != nil && !slices.ContainsFunc(asked, g.AppliesTo) {
			errs = append(errs, fmt.Errorf("%q is for a crawler that this run does not cover: add it to -agent", g.Text))
		}
	}
	return errors.Join(errs...)
}

// AppliesTo reports whether the gate applies to an agent.
func (g *Gate) AppliesTo(agent string) bool {
	return g.agents == nil || slices.ContainsFunc(g.agents, func(name string) bool { return strings.EqualFold(name, agent) })
}

// WarnIdle returns a warning about gates that do not apply to any of the crawlers; nil if there are none. Without
// crawlers, there is no warning. If the crawler name in such a gate resembles a known one, it returns an error
// instead.
func WarnIdle(gates []Gate, crawlers []string, d robots.Dialect) ([]warning.Warning, error) {
	var idle, names []string
	for _, g := range gates {
		names = append(names, g.agents...)
		if len(crawlers) > 0 && !slices.ContainsFunc(crawlers, g.AppliesTo) {
			idle = append(idle, g.Text)
		}
	}
	if len(idle) == 0 {
		return nil, nil
	}
	if unclear := flags.UnclearAgents(names, d, flags.RuleTokens{}); len(unclear) > 0 {
		return nil, fmt.Errorf("-fail names a crawler without requests: %s", strings.Join(unclear[0].Examples, ", "))
	}
	text := "-fail " + strings.Join(idle, ",") + " never fails, because no request is from this crawler: check its name"
	return []warning.Warning{{Code: warning.UnclearAgent, Text: text, Count: int64(len(idle))}}, nil
}

// A Verdict is the result of a gate for an agent.
type Verdict struct {
	Gate   string `json:"gate"` // as written
	Agent  string `json:"agent"`
	Count  int64  `json:"requests"`
	Of     int64  `json:"of"` // the total for a percentage
	Passed bool   `json:"passed"`

	Kind string `json:"-"`
	Text string `json:"-"` // the fault
}

// Judge returns the verdict on a count for an agent. of is the total for a percentage, and words describe the count.
func (g *Gate) Judge(agent string, count, of int64, words string) Verdict {
	v := Verdict{Gate: g.Text, Agent: agent, Count: count, Of: of, Kind: g.Kind}
	v.Text = strings.ReplaceAll(g.Kind, "_", " ") + " " + words
	if g.percent >= 0 {
		// A share such as 0.1% is not exact in floating point. The tolerance lets a count equal to the threshold
		// pass.
		v.Passed = float64(count)*100 <= g.percent*float64(of)*(1+1e-12)
		v.Text += fmt.Sprintf(" (%s): more than %s %%", percent(count, of), strconv.FormatFloat(g.percent, 'f', -1, 64))
	} else {
		v.Passed = count <= g.most
		v.Text += ": more than " + msg.Number(g.most)
	}
	return v
}

// A Failure is a gate that failed for crawlers with equal counts.
type Failure struct {
	Verdict          // for the first crawler
	Names   []string // all crawlers
}

// Failures returns the gates that failed, in the order of the verdicts. Crawlers for which a gate failed with the
// same text share a Failure.
func Failures(all []Verdict) (failed []Failure) {
	for _, v := range all {
		if v.Passed {
			continue
		}
		i := slices.IndexFunc(failed, func(f Failure) bool { return f.Gate == v.Gate && f.Text == v.Text })
		if i < 0 {
			i, failed = len(failed), append(failed, Failure{Verdict: v})
		}
		failed[i].Names = append(failed[i].Names, v.Agent)
	}
	return failed
}

// Err returns the error of failed gates, an [*outputs.PolicyError]; nil if all passed.
func Err(all []Verdict) error {
	failed := Failures(all)
	if len(failed) == 0 {
		return nil
	}
	texts := make([]string, 0, len(failed))
	for _, f := range failed {
		texts = append(texts, f.String())
	}
	return outputs.NewPolicyError(strings.Join(texts, "\n"))
}

// percent returns n as a percentage of all, with about two significant digits.
func percent(n, all int64) string {
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

// String describes the failure: "Googlebot: closed 2 URLs, 3 requests (0.12 %): more than 0.1 % (-fail
// closed:Googlebot=0.1%)".
func (f Failure) String() string {
	return Crawlers(f.Names) + ": " + f.Text + " (-fail " + f.Gate + ")"
}

// Crawlers formats a list of crawlers: up to three names, and the number of the others.
func Crawlers(names []string) string {
	if n := len(names); n > 3 {
		return fmt.Sprintf("%s, %s and %d others", msg.Line(names[0]), msg.Line(names[1]), n-2)
	}
	return msg.Line(strings.Join(names, ", "))
}
