package output

import "github.com/robobatch/robobatch/engine"

// wideCells is the most verdicts of a chunk in the wide layout, so that a chunk of many agents is not larger than one of
// few: they take up to 19 bytes each.
const wideCells = 1 << 20

// wideGroupCells is the most verdicts of a row group, whose pages are kept until it is complete.
const wideGroupCells = 16 << 20

// wideBlock is how many URLs are gathered for one agent before the next: the verdicts of 95 agents for so many take 73 kB
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
	switch {
	case col == colAllowed:
		return &c.allowed
	case col == colViolation:
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
		block := min(wideBlock, to-from)
		for a := range c.wide {
			if c.want[colAllowed] {
				c.appendAgentAllowed(b, a, from, block)
			}
			if c.want[colReason] {
				c.appendAgentReasons(b, a, from, block)
			}
			if c.want[colRule] || c.want[colRuleLine] {
				c.appendAgentRules(b, a, from, block)
			}
		}
	}
}

// agentVerdicts returns the verdicts from that of an agent for a URL on, and how far it is to those for the next URLs.
func (c *columns) agentVerdicts(b *engine.Batch, agent, from int) (verdicts []engine.Verdict, stride int) {
	return b.Verdicts[from*len(c.wide)+agent:], len(c.wide)
}

func (c *columns) appendAgentAllowed(b *engine.Batch, agent, from, n int) {
	verdicts, stride := c.agentVerdicts(b, agent, from)
	col := &c.wide[agent].allowed
	values, present := col.extendNullable(n)
	for i := range values {
		access := verdicts[i*stride].Access
		values[i], present[i] = access == engine.Allowed, 1
		if access == engine.Unknown {
			present[i] = 0
			col.nulls++
		}
	}
}

func (c *columns) appendAgentReasons(b *engine.Batch, agent, from, n int) {
	verdicts, stride := c.agentVerdicts(b, agent, from)
	ids := c.wide[agent].reason.extend(n)
	for i := range ids {
		ids[i] = c.names.agentReason(agent, verdicts[i*stride].Reason)
	}
}

func (c *columns) appendAgentRules(b *engine.Batch, agent, from, n int) {
	verdicts, stride := c.agentVerdicts(b, agent, from)
	var ids, lines [wideBlock]int32
	var present [wideBlock]int16
	nulls := 0
	for i, site := range b.Sites[from : from+n] {
		rule := verdicts[i*stride].Rule
		if rule == engine.NoRule {
			nulls++
			continue
		}
		present[i] = 1
		if i > 0 && site == b.Sites[from+i-1] && rule == verdicts[(i-1)*stride].Rule {
			ids[i], lines[i] = ids[i-1], lines[i-1]
		} else {
			ids[i], lines[i] = c.names.agentRule(site, agent, rule)
		}
	}
	if c.want[colRuleLine] {
		c.wide[agent].ruleLine.append(lines[:n], present[:n], nulls)
	}
	if c.want[colRule] {
		c.wide[agent].rule.append(ids[:n], present[:n], nulls)
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
	id := &n.wideIDs[agent][r]
	if *id == 0 {
		*id = 1 + n.addString(wideColumn(agent, wideReason), r.String())
	}
	return *id - 1
}

// agentRule is rule for the columns of an agent. The number is 0 where the text of rules is not wanted.
func (n *numbering) agentRule(site engine.SiteID, agent int, rule int32) (id, line int32) {
	owner := agent // whose dictionary has the text
	if !n.ruleTexts {
		owner = n.catalog.FirstAgent(site, agent)
	}
	e := n.rules.entry(1+uint64(site)*uint64(len(n.agents))+uint64(owner), rule)
	if e.group == 0 {
		r := n.catalog.Rule(site, agent, rule)
		*e = ruleEntry{group: 1 + uint64(site)*uint64(len(n.agents)) + uint64(owner), rule: rule, line: r.Line}
		if n.ruleTexts {
			e.id = n.addString(wideColumn(agent, wideRule), r.String())
		}
	}
	return e.id, e.line
}
