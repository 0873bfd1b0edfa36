package output

import (
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// A catalog has the names behind the numbers of a batch. It is asked once for each distinct name or
// so, not for each row.
type catalog interface {
	Origin(site engine.SiteID) robots.Origin
	Rule(site engine.RulingID, agent int, rule int32) robots.Rule
	// FirstAgent returns the first agent that has the same rules: itself, or one before it.
	FirstAgent(site engine.RulingID, agent int) int
	Binding(agent int) engine.Binding
	AgentName(site engine.RulingID, agent int) string
}

// A numbering is the dictionaries of a table, which the chunks of a Writer share, and the tables
// that lead from a batch to them.
type numbering struct {
	dicts []*dictionary      // by column; nil where it has none
	texts []parquet.TextList // the same
	rules ruleTable
	// ruleTexts are the dictionaries of rules: one, or one for each agent in the wide layout; none
	// if no column has the texts of rules.
	ruleTexts []*dictionary
	oldTexts  *dictionary // of the old rules; nil if there is no such column

	catalog catalog
	old     *oldRules // nil without Options.Old
	inputs  []string
	agents  []string

	gathering gathering
}

// inputName returns the name of an input; "" if there is none, as in a program whose rows have no
// file.
func inputName(inputs []string, i int) string {
	if i < len(inputs) {
		return inputs[i]
	}
	return ""
}

// newNumbering returns an empty numbering for the columns of a layout.
func newNumbering(cat catalog, inputs, agents []string, l *layout) *numbering {
	n := newDictionaries(l)
	n.catalog, n.inputs, n.agents, n.rules = cat, inputs, agents, newRuleTable()
	n.gathering.names = n
	return n
}

// newDictionaries returns the dictionaries of a layout for rows that are numbered already, by other
// dictionaries.
func newDictionaries(l *layout) *numbering {
	n := &numbering{dicts: make([]*dictionary, len(l.fields)), texts: make([]parquet.TextList, len(l.fields))}
	for i, f := range l.fields {
		if f.Type != parquet.Dictionary {
			continue
		}
		n.dicts[i] = newDictionary()
		n.texts[i] = n.dicts[i]
		if f.spec.Name == nameRuleOld {
			n.oldTexts = n.dicts[i]
		}
		if f.spec.Name == nameRule {
			n.ruleTexts = append(n.ruleTexts, n.dicts[i])
		}
	}
	return n
}

// reset empties all dictionaries: the numbers start again at 0.
func (n *numbering) reset() {
	for _, d := range n.dicts {
		if d != nil {
			d.reset()
		}
	}
	n.rules.reset()
	if n.old != nil {
		n.old.rules.reset()
	}
}

// memory returns how many bytes are allocated for the dictionaries.
func (n *numbering) memory() (size int) {
	for _, d := range n.dicts {
		if d != nil {
			size += d.memory()
		}
	}
	return size
}

// textOverhead is what a text of a dictionary takes besides its bytes: its offset and its place in
// the table, which is at most half full.
const textOverhead = 16

// size returns the bytes of all texts, each with textOverhead. It depends on nothing but the texts.
func (n *numbering) size() (size int) {
	for _, d := range n.dicts {
		if d != nil {
			size += len(d.text) + textOverhead*d.Len()
		}
	}
	return size
}

// agent returns the number of an agent's name.
func (n *numbering) agent(d *dictionary, agent int) int32 {
	return d.named(agent, n.agents[agent])
}

// agentOf returns the number of the name of the agent of a row. Where the robots.txt in force names
// none, it is the one that the old robots.txt names, if there is one.
func (n *numbering) agentOf(d *dictionary, b *engine.Batch, row int) int32 {
	from, look := b, n.catalog
	if b.Agents[row] == 0 && n.old != nil && len(b.Old.Agents) > 0 {
		from, look = b.Old, n.old.catalog
	}
	agent := int(from.Agents[row])
	if agent < len(n.agents) {
		return n.agent(d, agent)
	}
	return d.addString(look.AgentName(from.Rulings[row], agent))
}

// groupOf returns the number of the rules of an agent for the table of rules.
func groupOf(site engine.RulingID, agent int) uint64 { return 1 + (uint64(site)<<32 | uint64(agent)) }

// binding returns the number of the word for whether robots.txt binds an agent.
func (n *numbering) binding(d *dictionary, agent int) int32 {
	b := n.catalog.Binding(agent)
	if id := d.known(int(b)); id != 0 {
		return id - 1
	}
	return d.number(int(b), b.String()) - 1
}

// origin returns the number of the origin of a row that has one.
func (n *numbering) origin(d *dictionary, site engine.SiteID, strays [][]byte) int32 {
	if i, stray := site.Stray(); stray {
		return d.stray(i, strays[i])
	}
	if id := d.known(int(site)); id != 0 {
		return id - 1
	}
	return d.number(int(site), string(n.catalog.Origin(site))) - 1
}

// rule returns the number of the text of the rule that decided a verdict, and its line. The number
// is 0 if there is no column for the text.
func (n *numbering) rule(site engine.RulingID, agent int, rule int32) (id, line int32) {
	owner := agent // whose dictionary has the text
	if len(n.ruleTexts) <= 1 {
		owner = n.catalog.FirstAgent(site, agent)
	}
	group := groupOf(site, owner)
	e := n.rules.entry(group, rule)
	if e.group == 0 {
		r := n.catalog.Rule(site, agent, rule)
		*e = ruleEntry{group: group, rule: rule, line: r.Line}
		if len(n.ruleTexts) > 0 {
			e.id = n.ruleTexts[min(agent, len(n.ruleTexts)-1)].addString(r.String())
		}
	}
	return e.id, e.line
}
