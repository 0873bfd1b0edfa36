package report

import (
	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// ruleCounts count requests by rule: which rule decides, and which others match.
type ruleCounts struct {
	*aggregate.Rules
	uncounted int64 // requests whose robots.txt came when there was no memory for it
}

// newRuleCounts returns counts that take about so much memory.
func newRuleCounts(store *engine.Store, memory int64) ruleCounts {
	return ruleCounts{Rules: aggregate.NewRules(store, aggregate.RulesOptions{Memory: max(1, memory*3/4), Matchers: max(1, memory/4)})}
}

// openKind sets the rules to ask for a new kind, which has this row of a site that the store knows.
func (c *ruleCounts) openKind(k *kind, b *engine.Batch, r *rowKey, verdicts []engine.Verdict) {
	if k.file = c.File(b.Rulings[r.row], b.Sites[r.row]); k.file == nil {
		return
	}
	k.site = b.Sites[r.row]
	for a, v := range verdicts {
		if s, _ := c.Set(k.file, int(r.local)+a, v); s != nil {
			k.asked = append(k.asked, askedRule{s, v.Rule})
		}
	}
}

// addRequests counts requests of a URL that have a kind, by rule.
func (c *ruleCounts) addRequests(u *aggregate.URL, k *kind, requests *aggregate.Request) {
	for i, asked := range k.asked {
		o := c.Outcome(u.Text, u.Prefix, k.file, asked.set, asked.rule)
		o.AddURL(requests.Rows, u.Number)
		o.Failed += requests.Failed
		o.Bytes += requests.Bytes
		if i == 0 {
			k.first = o
		}
	}
}

// addKind counts the effects of a kind alone, once all its rows are known.
func (c *ruleCounts) addKind(k *kind) {
	switch {
	case k.stray:
	case k.file == nil:
		c.uncounted += k.Rows
	default:
		k.file.Requests += k.Rows
		if k.first != nil && c.ByRow() {
			c.Ask(k.first, int(k.agent), k.Rows)
		}
	}
}
