package output

import (
	"slices"

	"github.com/robobatch/robobatch/engine"
)

// wideCells is the most verdicts of a chunk in the wide layout, so that a chunk of many agents takes some megabytes, too: up
// to 19 bytes a verdict. With twice as many files are 3 % smaller, and take as long to write.
const wideCells = 512 << 10

// wideGroupCells is the most verdicts of a row group, whose pages are kept until it is complete.
const wideGroupCells = 16 << 20

// wideBlock is how many URLs are gathered for one agent before the next: the verdicts of 95 agents for so many take 49 kB
// and stay in the cache.
const wideBlock = 64

// agentColumns are the columns of an agent in the wide layout. Those that are not wanted stay empty.
type agentColumns struct {
	allowed  valueColumn[bool]
	reason   valueColumn[int32] // index
	ruleLine valueColumn[int32]
	rule     valueColumn[int32] // index
}

func (w *agentColumns) reset() {
	w.allowed.reset()
	w.reason.reset()
	w.ruleLine.reset()
	w.rule.reset()
}

// forLayout returns the limits for chunks of a layout.
func (lim limits) forLayout(l layout) limits {
	lim.rows = wideRows(lim.rows, wideCells, l)
	return lim
}

// forLayout returns the limits for row groups of a layout.
func (lim groupLimits) forLayout(l layout) groupLimits {
	lim.rows = wideRows(lim.rows, wideGroupCells, l)
	return lim
}

// wideRows returns how many rows may be where so many rows and cells may be.
func wideRows(rows, cells int, l layout) int {
	if l.wide == nil {
		return rows
	}
	return max(1, min(rows, cells*numWide/max(1, len(l.wide))))
}

// bools returns a column of truth values.
func (c *columns) bools(col column) *valueColumn[bool] {
	if col == colAllowed {
		return &c.allowed
	}
	if col == colViolation {
		return &c.violated
	}
	agent, _ := col.agent()
	return &c.wide[agent].allowed
}

// ruleLines returns a column of lines.
func (c *columns) ruleLines(col column) *valueColumn[int32] {
	if col == colRuleLine {
		return &c.ruleLine
	}
	agent, _ := col.agent()
	return &c.wide[agent].ruleLine
}

// indices returns the indices of a dictionary column.
func (c *columns) indices(col column) *valueColumn[int32] {
	if int(col) < numColumns {
		return &c.ids[col]
	}
	agent, index := col.agent()
	if index == wideReason {
		return &c.wide[agent].reason
	}
	return &c.wide[agent].rule
}

// appendWide adds the verdicts of the URLs from up to to of b to the columns of the agents. Each agent's dictionaries get
// their texts in the order of the rows, so that it does not matter where a block begins.
func (c *columns) appendWide(b *engine.Batch, from, to int) {
	for ; from < to; from += wideBlock {
		rulings := b.Rulings[from:min(from+wideBlock, to)]
		c.turn(b.Verdicts[from*len(c.wide):], len(rulings))
		for a := range c.wide {
			c.appendAgent(a, c.turned[a*wideBlock:][:len(rulings)], rulings)
		}
	}
}

// appendAgent adds the verdicts for an agent.
func (c *columns) appendAgent(agent int, verdicts []engine.Verdict, rulings []engine.RulingID) {
	one := uniform(verdicts)
	if c.want[colAllowed] {
		c.wide[agent].appendAllowed(verdicts, one)
	}
	if c.want[colReason] {
		c.appendAgentReasons(agent, verdicts, one)
	}
	switch {
	case !c.want[colRule] && !c.want[colRuleLine]:
	case one && verdicts[0].Rule == engine.NoRule:
		c.appendRuleValues(agent, noValues[:len(verdicts)], noValues[:len(verdicts)], nonePresent[:len(verdicts)])
	default:
		c.appendAgentRules(agent, verdicts, rulings)
	}
}

// uniform reports whether all verdicts are equal, as they are for many agents on many sites.
func uniform(verdicts []engine.Verdict) bool {
	first := verdicts[0]
	for _, v := range verdicts {
		if v != first {
			return false
		}
	}
	return true
}

// What uniform verdicts give.
var (
	allAllowed  = slices.Repeat([]bool{true}, wideBlock)
	allPresent  = slices.Repeat([]int16{1}, wideBlock)
	noValues    = make([]int32, wideBlock)
	nonePresent = make([]int16, wideBlock)
)

// turn sets c.turned to the verdicts of so many URLs. They are read once and in order: by agent, each would be fetched from
// memory by itself.
func (c *columns) turn(verdicts []engine.Verdict, urls int) {
	agents := len(c.wide)
	if c.turned == nil {
		c.turned = make([]engine.Verdict, agents*wideBlock)
	}
	for i := range urls {
		for a, v := range verdicts[i*agents : (i+1)*agents] {
			c.turned[a*wideBlock+i] = v
		}
	}
}

func (w *agentColumns) appendAllowed(verdicts []engine.Verdict, one bool) {
	if one && verdicts[0].Access == engine.Allowed {
		w.allowed.append(allAllowed[:len(verdicts)], allPresent[:len(verdicts)], 0)
		return
	}
	values, present := w.allowed.extendNullable(len(verdicts))
	unknown := 0
	for i, v := range verdicts {
		values[i], present[i] = v.Access == engine.Allowed, 1
		if v.Access == engine.Unknown {
			present[i] = 0
			unknown++
		}
	}
	w.allowed.nulls += unknown
}

func (c *columns) appendAgentReasons(agent int, verdicts []engine.Verdict, one bool) {
	ids := c.wide[agent].reason.extend(len(verdicts))
	if one {
		fill(ids, c.names.agentReason(agent, verdicts[0].Reason))
		return
	}
	for i, v := range verdicts {
		ids[i] = c.names.agentReason(agent, v.Reason)
	}
}

func (c *columns) appendAgentRules(agent int, verdicts []engine.Verdict, rulings []engine.RulingID) {
	var ids, lines [wideBlock]int32
	var present [wideBlock]int16
	for i, v := range verdicts {
		switch {
		case v.Rule == engine.NoRule:
			continue
		case i > 0 && v.Rule == verdicts[i-1].Rule && rulings[i] == rulings[i-1]:
			ids[i], lines[i] = ids[i-1], lines[i-1]
		default:
			ids[i], lines[i] = c.names.agentRule(rulings[i], agent, v.Rule)
		}
		present[i] = 1
	}
	c.appendRuleValues(agent, ids[:len(verdicts)], lines[:len(verdicts)], present[:len(verdicts)])
}

// appendRuleValues adds rows to those of the columns rule and rule_line of an agent that are wanted.
func (c *columns) appendRuleValues(agent int, ids, lines []int32, present []int16) {
	nulls := len(present)
	for _, is := range present {
		nulls -= int(is)
	}
	if c.want[colRuleLine] {
		c.wide[agent].ruleLine.append(lines, present, nulls)
	}
	if c.want[colRule] {
		c.wide[agent].rule.append(ids, present, nulls)
	}
}

// append adds rows to a column with nulls.
func (v *valueColumn[T]) append(values []T, present []int16, nulls int) {
	v.values = append(v.values, values...)
	v.present = append(v.present, present...)
	v.nulls += nulls
}

// widen makes the numbering one for the columns of a wide layout, which have a dictionary each.
func (n *numbering) widen(l layout) {
	n.wideDicts = make([]dictionary, len(l.wide))
	for _, col := range l.picked {
		if int(col) < numColumns {
			continue
		}
		if l.field(col).kind == kindDictionary {
			*n.dict(col) = newDictionary()
		}
		n.ruleTexts = n.ruleTexts || col.base() == colRule
	}
	n.wideIDs = make([][engine.NumReasons]int32, len(n.agents))
}

// agentReason is reason for the column of an agent.
func (n *numbering) agentReason(agent int, r engine.Reason) int32 {
	if id := n.wideIDs[agent][r]; id != 0 {
		return id - 1
	}
	return n.newAgentReason(agent, r)
}

func (n *numbering) newAgentReason(agent int, r engine.Reason) int32 {
	n.wideIDs[agent][r] = 1 + n.addString(wideColumn(agent, wideReason), r.String())
	return n.wideIDs[agent][r] - 1
}

// agentRule is rule for the columns of an agent. The number is 0 where the text of rules is not wanted.
func (n *numbering) agentRule(ruling engine.RulingID, agent int, rule int32) (id, line int32) {
	owner := agent // whose dictionary has the text
	if !n.ruleTexts {
		owner = n.catalog.FirstAgent(ruling, agent)
	}
	e := n.rules.entry(1+uint64(ruling)*uint64(len(n.agents))+uint64(owner), rule)
	if e.group == 0 {
		r := n.catalog.Rule(ruling, agent, rule)
		*e = ruleEntry{group: 1 + uint64(ruling)*uint64(len(n.agents)) + uint64(owner), rule: rule, line: r.Line}
		if n.ruleTexts {
			e.id = n.addString(wideColumn(agent, wideRule), r.String())
		}
	}
	return e.id, e.line
}
