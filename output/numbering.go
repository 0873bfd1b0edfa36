package output

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A catalog tells the names behind the numbers of a batch. It is asked once per distinct name or so, not per row.
type catalog interface {
	NumSites() int
	Origin(site engine.SiteID) robots.Origin
	Rule(id engine.RulingID, agent int, rule int32) robots.Rule
	// FirstAgent returns the first agent that has the same rules: itself, or one before it.
	FirstAgent(id engine.RulingID, agent int) int
}

// A numbering leads from what a batch holds to the numbers of the dictionaries, without hashing a text per row. Its
// tables hold 1 + the number, and 0 for what has none yet.
type numbering struct {
	dicts     [numColumns]dictionary // of the columns that have one
	wideDicts []dictionary           // of the columns of agents, by column less numColumns; in the wide layout

	dates dictionary // of days
	day   int64      // the last that was asked for, in days since 1970
	dayID int32      // 1 + its number; 0 is none

	catalog catalog
	inputs  []string // names of the inputs
	agents  []string // names of the agents

	inputIDs  []int32
	agentIDs  []int32
	reasonIDs [engine.NumReasons]int32
	wideIDs   [][engine.NumReasons]int32 // of reasons by agent; in the wide layout, if it has them
	siteIDs   []int32                    // by SiteID
	sites     []engine.SiteID            // whose siteIDs are set
	strayIDs  []int32                    // by index in Batch.Strays; of the current batch only
	rules     ruleTable
	ruleTexts bool // there is a column, or one for each agent, for the text of rules

	scratch, escaped []byte
}

// newNumbering returns an empty numbering for the columns of a layout.
func newNumbering(cat catalog, inputs, agents []string, l layout) *numbering {
	n := &numbering{
		catalog: cat, inputs: inputs, agents: agents,
		inputIDs: make([]int32, len(inputs)),
		agentIDs: make([]int32, len(agents)),
		siteIDs:  make([]int32, cat.NumSites()),
		rules:    newRuleTable(),
		dates:    newDictionary(),
	}
	for i, f := range fields {
		if f.kind == kindDictionary {
			n.dicts[i] = newDictionary()
		}
	}
	n.ruleTexts = slices.Contains(l.picked, colRule)
	if l.wide != nil {
		n.widen(l)
	}
	return n
}

// newDictionaries returns a numbering of the columns of a layout that cannot number what a batch holds, only what is numbered already.
func newDictionaries(l layout) *numbering {
	n := &numbering{dates: newDictionary()}
	if l.wide != nil {
		n.widen(l)
	}
	for _, col := range l.picked {
		if l.field(col).kind == kindDictionary {
			*n.dict(col) = newDictionary()
		}
	}
	return n
}

// reset empties all dictionaries: the numbers start again at 0.
func (n *numbering) reset() {
	for i := range n.dicts {
		n.dicts[i].reset()
	}
	for i := range n.wideDicts {
		n.wideDicts[i].reset()
	}
	n.dates.reset()
	n.dayID = 0
	clear(n.wideIDs)
	clear(n.inputIDs)
	clear(n.agentIDs)
	clear(n.reasonIDs[:])
	clear(n.strayIDs)
	n.rules.reset()
	for _, site := range n.sites {
		n.siteIDs[site] = 0
	}
	n.sites = n.sites[:0]
}

// date numbers the day in UTC of a time in microseconds since 1970.
func (n *numbering) date(micros int64) int32 {
	const perDay = 24 * 60 * 60 * 1_000_000
	day := micros / perDay
	if micros%perDay < 0 {
		day--
	}
	if n.dayID == 0 || day != n.day {
		n.scratch = time.Unix(day*(perDay/1_000_000), 0).UTC().AppendFormat(n.scratch[:0], time.DateOnly)
		n.day, n.dayID = day, 1+n.dates.add(n.scratch, 0)
	}
	return n.dayID - 1
}

// memory returns how many bytes are allocated for the dictionaries.
func (n *numbering) memory() int {
	size := n.dates.memory()
	for i := range n.dicts {
		size += n.dicts[i].memory()
	}
	for i := range n.wideDicts {
		size += n.wideDicts[i].memory()
	}
	return size
}

// size returns the bytes of all texts.
func (n *numbering) size() (size int) {
	for i := range n.dicts {
		size += len(n.dicts[i].text)
	}
	for i := range n.wideDicts {
		size += len(n.wideDicts[i].text)
	}
	return size
}

// dict returns the dictionary of a column. It is of no use for one that has none.
func (n *numbering) dict(col column) *dictionary {
	if int(col) < numColumns {
		return &n.dicts[col]
	}
	return &n.wideDicts[int(col)-numColumns]
}

// add numbers text in the dictionary of col, escaped where it is not valid UTF-8.
func (n *numbering) add(col column, text []byte) int32 {
	if utf8.Valid(text) {
		return n.dict(col).add(text, 0)
	}
	valid, escaped := appendValid(n.escaped[:0], text)
	n.escaped = valid
	return n.dict(col).add(valid, escaped)
}

// addString is add for a string.
func (n *numbering) addString(col column, text string) int32 {
	n.scratch = append(n.scratch[:0], text...)
	return n.add(col, n.scratch)
}

func (n *numbering) input(i int) int32 {
	if n.inputIDs[i] == 0 {
		n.inputIDs[i] = 1 + n.addString(colInput, n.inputs[i])
	}
	return n.inputIDs[i] - 1
}

func (n *numbering) agent(a int) int32 {
	if n.agentIDs[a] == 0 {
		n.agentIDs[a] = 1 + n.addString(colAgent, n.agents[a])
	}
	return n.agentIDs[a] - 1
}

// reason is small enough to be inlined, as every row asks.
func (n *numbering) reason(r engine.Reason) int32 {
	if id := n.reasonIDs[r]; id != 0 {
		return id - 1
	}
	return n.newReason(r)
}

func (n *numbering) newReason(r engine.Reason) int32 {
	n.reasonIDs[r] = 1 + n.addString(colReason, r.String())
	return n.reasonIDs[r] - 1
}

// startBatch forgets the strays of the batch before.
func (n *numbering) startBatch(strays int) {
	if cap(n.strayIDs) < strays {
		n.strayIDs = make([]int32, strays)
	}
	n.strayIDs = n.strayIDs[:strays]
	clear(n.strayIDs)
}

// origin numbers the origin of a row that has one.
func (n *numbering) origin(site engine.SiteID, strays [][]byte) int32 {
	if i, stray := site.Stray(); stray {
		if n.strayIDs[i] == 0 {
			n.strayIDs[i] = 1 + n.add(colOrigin, strays[i])
		}
		return n.strayIDs[i] - 1
	}
	if n.siteIDs[site] == 0 {
		n.siteIDs[site] = 1 + n.addString(colOrigin, string(n.catalog.Origin(site)))
		n.sites = append(n.sites, site)
	}
	return n.siteIDs[site] - 1
}

// rule numbers the rule that decided a verdict, and returns its line. The number is 0 if there is no column for its text.
func (n *numbering) rule(ruling engine.RulingID, agent int, rule int32) (id, line int32) {
	group := 1 + uint64(ruling)*uint64(len(n.agents)) + uint64(n.catalog.FirstAgent(ruling, agent))
	e := n.rules.entry(group, rule)
	if e.group == 0 {
		r := n.catalog.Rule(ruling, agent, rule)
		*e = ruleEntry{group: group, rule: rule, line: r.Line}
		if n.ruleTexts {
			e.id = n.addString(colRule, r.String())
		}
	}
	return e.id, e.line
}
