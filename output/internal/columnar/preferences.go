package columnar

import (
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// preferenceSpec returns a column of the allowed uses of a page. Like columns of verdicts it has a value for
// each agent, and a value a streak where neighbours are alike.
func preferenceSpec(name string, t parquet.Type, value func(c *preferenceCell) present, directives ...robots.Directive) *spec {
	return &spec{
		Field: of(name, t, nullable), choice: ifNamed, perAgent: true, beside: true, streaks: true,
		needs: Needs{Directives: directives}, preference: value, gather: gatherPreferences,
	}
}

// HasUsage reports whether lines that are read by a draft decide the needs.
func (n *Needs) HasUsage() bool {
	return slices.ContainsFunc([]robots.Directive{robots.UsageLines, robots.SignalLines, robots.LicenseLines},
		func(d robots.Directive) bool { return slices.Contains(n.Directives, d) })
}

// A present says whether a value is not null.
type present = bool

// A preferenceCell is a place in a column of preferences, with the field of its type set.
type preferenceCell struct {
	engine.Preference
	use func() string // the value of use in Content-Signal

	number int    // of the text among those without use; -1 is none
	text   string // of the column
	line   int32
	yes    bool
}

// numberOf returns a number for some answers.
func numberOf(answers ...robots.Preference) (n int) {
	for _, a := range answers {
		n = 3*n + int(a)
	}
	return n
}

func contentUsage(c *preferenceCell) present {
	c.number = numberOf(c.TrainAI, c.Search)
	c.text = robots.UsageAnswer{TrainAI: c.TrainAI, Search: c.Search}.String()
	return c.UsageLine > 0
}

func contentUsageLine(c *preferenceCell) present {
	c.line = c.UsageLine
	return c.line > 0
}

// contentSignal returns the text of a content_signal, which is made once for each of its values.
func contentSignal(c *preferenceCell) present {
	c.number = numberOf(c.SignalSearch, c.SignalInput, c.SignalTrain)
	a := robots.SignalAnswer{Search: c.SignalSearch, AIInput: c.SignalInput, AITrain: c.SignalTrain}
	if c.Use > 0 {
		c.number, a.Use = -1, c.use()
	}
	c.text = a.String()
	return c.SignalLine > 0
}

func contentSignalLine(c *preferenceCell) present {
	c.line = c.SignalLine
	return c.line > 0
}

func useTrainAI(c *preferenceCell) present { return c.combine(c.UseTrainAI()) }
func useSearch(c *preferenceCell) present  { return c.combine(c.UseSearch()) }
func useAIInput(c *preferenceCell) present { return c.combine(c.SignalInput) }

// combine sets the value of a column of both directives.
func (c *preferenceCell) combine(p robots.Preference) present {
	c.yes = p == robots.Permitted
	return p != robots.Unstated
}

// gatherPreferences adds the values of a column of preferences.
func gatherPreferences(g *gathering, f *field, col column) {
	n := len(g.preferences)
	var ids, lines []int32
	var bools []bool
	var levels []int16
	var nulls *int
	switch c := col.(type) {
	case *dictColumn:
		ids, levels = c.extendNullable(n)
		nulls = &c.Nulls
		defer c.stretch(g.streaks)
	case *int32Column:
		lines, levels = c.extendNullable(n)
		nulls = &c.Nulls
		defer c.stretch(g.streaks)
	case *boolColumn:
		bools, levels = c.extendNullable(n)
		nulls = &c.Nulls
		defer c.stretch(g.streaks)
	}
	clear(ids)
	clear(lines)
	clear(bools)
	clear(levels)
	missing := n
	cell := preferenceCell{}
	for i := range g.preferences {
		p := &g.preferences[i]
		if *p == (engine.Preference{}) {
			continue
		}
		if i > 0 && p.Use == 0 && *p == g.preferences[i-1] { // all but the text of use is in it
			levels[i] = levels[i-1]
		} else {
			cell = preferenceCell{Preference: *p, use: func() string {
				row, agent := i/g.agents, g.agent+i%g.agents
				if len(g.batch.Agents) > 0 {
					agent = int(g.batch.Agents[g.from+row])
				}
				return g.names.catalog.SignalUse(g.rulings[row], agent, g.preferences[i])
			}}
			if f.spec.preference(&cell) {
				levels[i] = 1
			}
		}
		if levels[i] == 0 {
			continue
		}
		missing--
		switch {
		case lines != nil:
			lines[i] = cell.line
		case bools != nil:
			bools[i] = cell.yes
		case cell.number < 0:
			ids[i] = col.(*dictColumn).dict.addString(cell.text)
		default:
			ids[i] = col.(*dictColumn).dict.named(cell.number, cell.text)
		}
	}
	*nulls += missing
}

// gatherLicenses adds the license of each robots.txt, by streaks of the ruling in force.
func gatherLicenses(g *gathering, f *field, col column) {
	c, rulings := col.(*dictColumn), g.batch.Rulings[g.from:g.to]
	start := 0
	for i, ruling := range rulings {
		if next := i + 1; next < len(rulings) && rulings[next] == ruling {
			continue
		}
		rows, level := (i+1-start)*g.agents, int16(1)
		// The number of the first license of a robots.txt, if there is one. at is the index of
		// the column, whose lines the table of rules has among the rules: below those.
		n := g.names
		d := c.dict
		at := f.at
		group := groupOf(ruling, 0)
		e := n.rules.entry(group, engine.NoRule-1-int32(at))
		if e.group == 0 {
			*e = ruleEntry{group: group, rule: engine.NoRule - 1 - int32(at)}
			if note, ok := n.catalog.Note(ruling, 0, robots.LicenseLines); ok {
				e.id, e.line = d.addString(note.Value), note.Line
			}
		}
		id, ok := e.id, e.line > 0
		if !ok {
			id, level = 0, 0
			c.Nulls += rows
		}
		if c.Streaks != nil {
			c.Present = append(c.Present, level)
			c.fill(id, rows)
		} else {
			ids, levels := c.extendNullable(rows)
			for k := range ids {
				ids[k], levels[k] = id, level
			}
		}
		start = i + 1
	}
}
