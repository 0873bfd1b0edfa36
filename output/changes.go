package output

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

// errChanges is the error of a layout or a Where that changes do not have.
var errChanges = errors.New("changes are in the long layout, and all of them are written")

// ChangeColumns returns the names of the columns of changes, see Options.Old: columns that name the
// row, then verdict and rule by the old store and by the store, then the [engine.Change].
func ChangeColumns() []string {
	return []string{
		"line", "input", "url", nameOrigin, nameAgent, nameAllowedOld, nameAllowed, nameRuleLineOld, nameRuleLine,
		nameRuleOld, nameRule, nameChange,
	}
}

// oldRules remember the rules of the old store that decided.
type oldRules struct {
	catalog catalog
	agents  int
	rules   ruleTable
}

func newOldRules(cat catalog, agents int) *oldRules {
	return &oldRules{catalog: cat, agents: agents, rules: newRuleTable()}
}

// oldRule returns the number of the text of the old rule that decided a verdict, and its line. The
// number is 0 if there is no column for the text.
func (n *numbering) oldRule(ruling engine.RulingID, agent int, rule int32) (id, line int32) {
	group := 1 + uint64(ruling)*uint64(n.old.agents) + uint64(agent)
	e := n.old.rules.entry(group, rule)
	if e.group == 0 {
		r := n.old.catalog.Rule(ruling, agent, rule)
		*e = ruleEntry{group: group, rule: rule, line: r.Line}
		if n.oldTexts != nil {
			e.id = n.oldTexts.addString(r.String())
		}
	}
	return e.id, e.line
}

// eachOldRule calls add for each row: with the number of the text and the line of the old rule that
// decided, or with ok false if none did. Rows of changes have one verdict each.
func (g *gathering) eachOldRule(add func(i int, id, line int32, ok bool)) {
	old := g.batch.Old
	for i := g.from; i < g.to; i++ {
		v := old.Verdicts[i]
		if v.Rule == engine.NoRule {
			add(i-g.from, 0, 0, false)
			continue
		}
		agent := 0
		if len(g.batch.Agents) > 0 {
			agent = int(g.batch.Agents[i])
		}
		id, line := g.names.oldRule(old.Rulings[i], agent, v.Rule)
		add(i-g.from, id, line, true)
	}
}

func gatherAllowedOld(g *gathering, _ *field, col column) {
	c := col.(*boolColumn)
	values, present := c.extendNullable(g.to - g.from)
	for i, v := range g.batch.Old.Verdicts[g.from:g.to] {
		values[i], present[i] = v.Access == engine.Allowed, 1
		if v.Access == engine.Unknown {
			present[i] = 0
			c.Nulls++
		}
	}
}

func gatherRuleLinesOld(g *gathering, _ *field, col column) {
	c := col.(*int32Column)
	values, present := c.extendNullable(g.to - g.from)
	g.eachOldRule(func(i int, _, line int32, ok bool) {
		values[i], present[i] = line, 1
		if !ok {
			present[i] = 0
			c.Nulls++
		}
	})
}

func gatherRulesOld(g *gathering, _ *field, col column) {
	c := col.(*dictColumn)
	ids, present := c.extendNullable(g.to - g.from)
	g.eachOldRule(func(i int, id, _ int32, ok bool) {
		ids[i], present[i] = id, 1
		if !ok {
			present[i] = 0
			c.Nulls++
		}
	})
}

func gatherChanges(g *gathering, _ *field, col column) {
	c := col.(*dictColumn)
	ids := c.extend(g.to - g.from)
	for i, change := range g.batch.Changes[g.from:g.to] {
		ids[i] = c.dict.named(int(change), change.String())
	}
}
