package columnar

import (
	"errors"

	"github.com/robobatch/robobatch/engine"
)

// The names of the columns that only changes have.
const (
	nameAllowedOld  = "allowed_old"
	nameRuleLineOld = "rule_line_old"
	nameRuleOld     = "rule_old"
	nameChange      = "change"
)

// ErrChanges is the error if changes are requested with the wide layout or with a Where.
var ErrChanges = errors.New("changes need the long layout, and cannot be filtered")

// ChangeColumns returns the names of the columns for changes, see Options.Old: the columns that identify the row,
// verdict and rule by the old store and by the new store, and the [engine.Change].
func ChangeColumns() []string {
	return []string{
		"line", "input", "url", NameOrigin, NameAgent, nameAllowedOld, nameAllowed, nameRuleLineOld, nameRuleLine,
		nameRuleOld, nameRule, nameChange,
	}
}

// OldRules number the texts of rules of the old store.
type OldRules struct {
	catalog Catalog
	rules   ruleTable
}

// NewOldRules returns OldRules of a store whose names are in cat.
func NewOldRules(cat Catalog) *OldRules { return &OldRules{catalog: cat, rules: newRuleTable()} }

// appendOldRules appends to c, for each row, the result of value for the number of the text and the line of the
// deciding old rule, or null if no rule decided. Rows of changes have one verdict each.
func (g *gathering) appendOldRules(c *values[int32], value func(id, line int32) int32) {
	all, present := c.extendNullable(g.to - g.from)
	old := g.batch.Old
	for i, v := range old.Verdicts[g.from:g.to] {
		if v.Rule == engine.NoRule {
			all[i], present[i] = 0, 0
			c.Nulls++
			continue
		}
		agent := 0
		switch {
		case len(old.Agents) > 0:
			agent = int(old.Agents[g.from+i])
		case len(g.batch.Agents) > 0:
			agent = int(g.batch.Agents[g.from+i])
		}
		// Look up the number of the rule's text, which is 0 if there is no column for it, and its line.
		names, ruling := g.names, old.Rulings[g.from+i]
		group := groupOf(ruling, agent)
		e := names.Old.rules.findOrAdd(group, v.Rule)
		if e.group == 0 {
			r := names.Old.catalog.Rule(ruling, agent, v.Rule)
			*e = ruleEntry{group: group, rule: v.Rule, line: r.Line}
			if names.oldTexts != nil {
				e.id = names.oldTexts.addString(r.String())
			}
		}
		all[i], present[i] = value(e.id, e.line), 1
	}
}
