package columnar

import (
	"time"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// A Catalog returns the names for the numbers of a batch. It is called about once per distinct name, not per row.
type Catalog interface {
	Origin(site engine.SiteID) robots.Origin
	Rule(site engine.RulingID, agent int, rule int32) robots.Rule
	// FirstAgent returns the first agent with the same rules: the agent itself or an earlier one.
	FirstAgent(site engine.RulingID, agent int) int
	Binding(agent int) engine.Binding
	AgentName(site engine.RulingID, agent int) string
	ProofName(proof ranges.Proof) string
	// Note returns the first line of a directive that binds the agent.
	Note(site engine.RulingID, agent int, directive robots.Directive) (note robots.Note, ok bool)
	// HowUsed returns the value of use that Content-Signal gives in a preference of an agent.
	HowUsed(site engine.RulingID, agent int, p engine.Preference) string
}

// A Numbering holds the dictionaries of a table, which the chunks of a Writer share, and the tables that map the
// numbers of a batch to them.
type Numbering struct {
	Dicts []*Dictionary      // by column; nil for columns without one
	Texts []parquet.TextList // the same as Dicts
	rules ruleTable
	// ruleTexts are the dictionaries of rules: one, or one per agent in the wide layout; none if no column has the
	// texts of rules.
	ruleTexts []*Dictionary
	oldTexts  *Dictionary // of the old rules; nil if there is no such column

	catalog Catalog
	Old     *OldRules // nil without Options.Old
	inputs  []string
	agents  []string

	gathering gathering
}

// NewNumbering returns an empty numbering for the columns of a schema.
func NewNumbering(cat Catalog, inputs, agents []string, l *Schema) *Numbering {
	n := NewDictionaries(l)
	n.catalog, n.inputs, n.agents, n.rules = cat, inputs, agents, newRuleTable()
	n.gathering.names = n
	return n
}

// SetLocation sets the time zone of dates; nil means UTC. Call it before the first row is added.
func (n *Numbering) SetLocation(loc *time.Location) {
	for _, d := range n.Dicts {
		if d != nil {
			d.clock = times.NewClock(loc)
		}
	}
}

// NewDictionaries returns the empty dictionaries of a schema, for rows that are copied from other chunks. Rows of
// batches need NewNumbering.
func NewDictionaries(l *Schema) *Numbering {
	n := &Numbering{Dicts: make([]*Dictionary, len(l.Fields)), Texts: make([]parquet.TextList, len(l.Fields))}
	for i, f := range l.Fields {
		if f.Type != parquet.Dictionary {
			continue
		}
		n.Dicts[i] = newDictionary()
		n.Texts[i] = n.Dicts[i]
		if f.spec.Name == nameRuleOld {
			n.oldTexts = n.Dicts[i]
		}
		if f.spec.Name == nameRule {
			n.ruleTexts = append(n.ruleTexts, n.Dicts[i])
		}
	}
	return n
}

// Reset empties all dictionaries and the tables of rules: the numbers start again at 0. No column may still refer to
// the texts.
func (n *Numbering) Reset() {
	for _, d := range n.Dicts {
		if d != nil {
			d.reset()
		}
	}
	n.rules.reset()
	if n.Old != nil {
		n.Old.rules.reset()
	}
}

// Memory returns the number of bytes allocated for the dictionaries.
func (n *Numbering) Memory() (size int) {
	for _, d := range n.Dicts {
		if d != nil {
			size += d.memory()
		}
	}
	return size
}

// textOverhead is the memory of a text in a dictionary besides its bytes: its offset and its slot in the table,
// which is at most half full.
const textOverhead = 16

// Size returns the size of all texts in bytes, including textOverhead. It depends only on the texts.
func (n *Numbering) Size() (size int) {
	for _, d := range n.Dicts {
		if d != nil {
			size += len(d.Text) + textOverhead*d.Len()
		}
	}
	return size
}

// addAgent returns the number of an agent's name, which it adds if it is new.
func (n *Numbering) addAgent(d *Dictionary, agent int) int32 {
	return d.addNumbered(agent, n.agents[agent])
}

// addRowAgent returns the number of the name of a row's agent, which it adds if it is new. If the robots.txt in force
// does not name the agent, the name in the old robots.txt is used, if there is one.
func (n *Numbering) addRowAgent(d *Dictionary, b *engine.Batch, row int) int32 {
	from, look := b, n.catalog
	if b.Agents[row] == 0 && n.Old != nil && len(b.Old.Agents) > 0 {
		from, look = b.Old, n.Old.catalog
	}
	agent := int(from.Agents[row])
	if agent < len(n.agents) {
		return n.addAgent(d, agent)
	}
	return d.addString(look.AgentName(from.Rulings[row], agent))
}

// groupOf returns the group in the table of rules for the rules of an agent.
func groupOf(site engine.RulingID, agent int) uint64 { return 1 + (uint64(site)<<32 | uint64(agent)) }

// proof returns the number of the text of a proof, which it adds if it is new.
func (n *Numbering) proof(d *Dictionary, p ranges.Proof) int32 {
	if id := d.knownNumber(int(p)); id != 0 {
		return id - 1
	}
	return d.addNewNumbered(int(p), n.catalog.ProofName(p)) - 1
}

// addOrigin returns the number of the origin of a row that has one, and adds it if it is new. strays are those of the
// batch.
func (n *Numbering) addOrigin(d *Dictionary, site engine.SiteID, strays [][]byte) int32 {
	if i, stray := site.Stray(); stray {
		if d.strays[i] == 0 {
			d.strays[i] = 1 + d.addValid(strays[i])
		}
		return d.strays[i] - 1
	}
	if id := d.knownNumber(int(site)); id != 0 {
		return id - 1
	}
	return d.addNewNumbered(int(site), string(n.catalog.Origin(site))) - 1
}

// addRule returns the number of the text of the rule that decided a verdict, which it adds if it is new, and the line
// of the rule. The number is 0 if there is no column for the text.
func (n *Numbering) addRule(site engine.RulingID, agent int, rule int32) (id, line int32) {
	owner := agent // the first agent with the same rules, if they share a dictionary
	if len(n.ruleTexts) <= 1 {
		owner = n.catalog.FirstAgent(site, agent)
	}
	group := groupOf(site, owner)
	e := n.rules.findOrAdd(group, rule)
	if e.group == 0 {
		r := n.catalog.Rule(site, agent, rule)
		*e = ruleEntry{group: group, rule: rule, line: r.Line}
		if len(n.ruleTexts) > 0 {
			e.id = n.ruleTexts[min(agent, len(n.ruleTexts)-1)].addString(r.String())
		}
	}
	return e.id, e.line
}

// A ruleTable remembers the number and the line of rules that decided a verdict. It is an open-addressing hash
// table without pointers, so that a row costs one probe. It may drop rules at any time: they are found again
// through the dictionary, which gives a text the same number.
type ruleTable struct {
	entries []ruleEntry // a power of two long, at most half full
	used    int
}

// A ruleEntry describes one rule.
type ruleEntry struct {
	group uint64 // see groupOf; 0 for an empty entry
	rule  int32  // index in the rule set of the group
	id    int32  // number of its text
	line  int32
}

// minRuleEntries is the size of the empty table: 96 KiB, which stay in the second-level cache.
const minRuleEntries = 1 << 12

// maxRuleEntries is the maximum size of the table, 3 MiB: 65,536 rules. A log that needs more has its rules in
// random order, and writing to a table of all of them took a third of the time.
const maxRuleEntries = 1 << 17

func newRuleTable() ruleTable { return ruleTable{entries: make([]ruleEntry, minRuleEntries)} }

// reset removes all rules. It keeps the memory, unless most of it was unused.
func (t *ruleTable) reset() {
	if len(t.entries) > minRuleEntries && t.used < len(t.entries)/8 {
		t.entries = make([]ruleEntry, len(t.entries)/4)
	} else {
		clear(t.entries)
	}
	t.used = 0
}

// findOrAdd returns the entry of a rule; a new one with group 0 if there is none. The caller must fill a new entry
// before the next call. A full table is emptied first.
func (t *ruleTable) findOrAdd(group uint64, rule int32) *ruleEntry {
	e := t.probe(group, rule)
	if e.group != 0 {
		return e
	}
	t.used++
	if 2*t.used <= len(t.entries) {
		return e
	}
	if len(t.entries) < maxRuleEntries {
		t.grow()
	} else {
		clear(t.entries)
		t.used = 1
	}
	return t.probe(group, rule)
}

// probe returns the entry of a rule, or the empty entry for it. The table must have an empty entry.
func (t *ruleTable) probe(group uint64, rule int32) *ruleEntry {
	mask := uint64(len(t.entries) - 1)
	slot := (group*0x9E3779B97F4A7C15 + uint64(rule)*0xC2B2AE3D27D4EB4F) >> 40
	for {
		e := &t.entries[slot&mask]
		if e.group == 0 || e.group == group && e.rule == rule {
			return e
		}
		slot++
	}
}

// grow doubles the table.
func (t *ruleTable) grow() {
	old := t.entries
	t.entries = make([]ruleEntry, 2*len(old))
	for _, e := range old {
		if e.group != 0 {
			*t.probe(e.group, e.rule) = e
		}
	}
}
