package diff

import (
	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/engine"
)

// gates are the kinds of changes that -fail knows: those of the column change, changed for all of these, and
// otherPreference.
var gates = ci.Kinds{
	Names:    []string{"closed", "opened", "other_rule", "changed", otherPreference},
	Noun:     "kind of change",
	Examples: "closed=0, closed=0.1% or closed:Googlebot=10",
}

// otherPreference is the kind of requests for which the answer about a use of the page changed.
const otherPreference = "other_preference"

// kindOf returns how many requests and URLs of an agent are of a kind.
func kindOf(a *Agent, kind string) Count {
	switch kind {
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

// judge returns the verdicts of gates on the crawlers of a report.
func judge(gates []ci.Gate, r *Report) []ci.Verdict {
	verdicts := []ci.Verdict{}
	for _, g := range gates {
		for i := range r.Agents {
			if a := &r.Agents[i]; g.About(a.Agent) {
				count := kindOf(a, g.Kind)
				verdicts = append(verdicts, g.Judge(a.Agent, count.Requests, a.Requests, r.counts(count)))
			}
		}
	}
	return verdicts
}
