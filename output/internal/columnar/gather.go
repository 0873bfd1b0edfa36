package columnar

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// A gathering holds the rows of a batch from which columns are gathered. Columns of URLs read URLs; columns of
// verdicts read verdicts, which have one of three forms with the same interface:
//
//   - in the long layout, all verdicts of all URLs;
//   - in the wide layout, the verdicts for one agent on up to wideBlock URLs;
//   - by streaks, the first of each streak of rows that have one verdict and one rule set.
//
// Consecutive rows of a log often have the same origin and verdict: about 200 if the log is grouped by host. So if
// a chunk has one row per URL and becomes Parquet pages, its columns have one value per streak, as long as streaks
// are long. The bytes of the pages are the same.
type gathering struct {
	names    *Numbering
	c        *Chunk
	batch    *engine.Batch
	from, to int // URLs of the batch

	verdicts []engine.Verdict
	rulings  []engine.RulingID // by URL, or by streak: the deciding ruling

	preferences []engine.Preference // by verdict; nil if no column needs them

	agents  int     // verdicts per ruling
	agent   int     // the agent of the first of them, unless agents come from the log
	streaks []int32 // for each verdict, the number of rows that it stands for; nil if each stands for one
	uniform bool    // all verdicts are known to be equal

	ruled bool // the columns of rules are filled

	scratch     []int32
	heads       []engine.Verdict
	headRulings []engine.RulingID
	lengths     []int32
	transposed  []engine.Verdict // the verdicts of one agent on up to wideBlock URLs, then those of the next agent

	headPreferences, transposedPreferences []engine.Preference // the same for preferences
}

// wideBlock is the number of URLs that are gathered for one agent before the next agent: the verdicts of 95 agents
// for them take 49 kB and stay in the cache.
const wideBlock = 64

// The values of uniform verdicts.
var (
	allTrue     = slices.Repeat([]bool{true}, wideBlock)
	allPresent  = slices.Repeat([]int16{1}, wideBlock)
	noValues    = make([]int32, wideBlock)
	nonePresent = make([]int16, wideBlock)
)

// gather adds the URLs b.URLs[from:to] and their verdicts to the columns of c.
func (g *gathering) gather(c *Chunk, b *engine.Batch, from, to int) {
	g.c, g.batch, g.from, g.to, g.ruled = c, b, from, to, false
	g.verdicts, g.rulings = b.Verdicts[from*c.Agents:to*c.Agents], b.Rulings[from:to]
	g.agents, g.agent, g.streaks, g.uniform = c.Agents, 0, nil, false
	g.preferences = nil
	if c.Schema.preferences {
		g.preferences = b.Preferences[from*c.Agents : to*c.Agents]
	}
	if c.streaks && c.Schema.verdicts {
		// Replace the verdicts by the first of each streak.
		g.heads, g.headRulings, g.lengths, g.headPreferences = g.heads[:0], g.headRulings[:0], g.lengths[:0], g.headPreferences[:0]
		start := 0
		for i, v := range g.verdicts {
			if next := i + 1; next < len(g.verdicts) && g.verdicts[next] == v &&
				(v.Rule == engine.NoRule || g.rulings[next] == g.rulings[i]) && g.samePreferences(i, next) {
				continue
			}
			if g.preferences != nil {
				g.headPreferences = append(g.headPreferences, g.preferences[i])
			}
			g.heads, g.headRulings = append(g.heads, v), append(g.headRulings, g.rulings[i])
			g.lengths = append(g.lengths, int32(i+1-start))
			start = i + 1
		}
		g.verdicts, g.rulings, g.streaks = g.heads, g.headRulings, g.lengths
		if g.preferences != nil {
			g.preferences = g.headPreferences
		}
	}
	for i := range c.Schema.Fields {
		if f := &c.Schema.Fields[i]; !c.Schema.Wide || !f.spec.perAgent {
			f.spec.gather(g, f, c.Columns[i])
		}
	}
	if c.Schema.Wide {
		// Add the verdicts to the columns of the agents. Each dictionary gets its texts in the order of the rows,
		// regardless of the boundaries of blocks.
		agents, rulings := len(g.c.Schema.Agents), g.batch.Rulings
		g.agents = 1
		if g.transposed == nil {
			g.transposed = make([]engine.Verdict, agents*wideBlock)
		}
		transposed := g.transposed
		if g.c.Schema.preferences && g.transposedPreferences == nil {
			g.transposedPreferences = make([]engine.Preference, agents*wideBlock)
		}
		for from := g.from; from < g.to; from += wideBlock {
			g.rulings = rulings[from:min(from+wideBlock, g.to)]
			for i := range g.rulings { // transpose: reading the verdicts by agent would miss the cache for each
				for a, v := range g.batch.Verdicts[(from+i)*agents:][:agents] {
					transposed[a*wideBlock+i] = v
				}
				if !g.c.Schema.preferences {
					continue
				}
				for a, p := range g.batch.Preferences[(from+i)*agents:][:agents] {
					g.transposedPreferences[a*wideBlock+i] = p
				}
			}
			for a, columns := range g.c.Schema.Agents {
				g.verdicts, g.agent, g.ruled = transposed[a*wideBlock:][:len(g.rulings)], a, false
				g.uniform = allEqual(g.verdicts)
				if g.c.Schema.preferences {
					g.preferences = g.transposedPreferences[a*wideBlock:][:len(g.rulings)]
				}
				for _, i := range columns {
					f := &g.c.Schema.Fields[i]
					f.spec.gather(g, f, g.c.Columns[i])
				}
			}
		}
	}
}

// samePreferences reports whether rows i and k have the same preferences. If these include a text of How, they must
// also have the same ruling.
func (g *gathering) samePreferences(i, k int) bool {
	return g.preferences == nil || g.preferences[i] == g.preferences[k] && (g.preferences[i].How == 0 || g.rulings[i] == g.rulings[k])
}

// longStreaks is the minimum average length of streaks for gathering by streak; shorter ones are faster by row.
const longStreaks = 4

// hasShortStreaks reports whether consecutive rows rarely have the same site: streaks are shorter than longStreaks on
// average. It judges by a sample of one row in eight.
func hasShortStreaks(sites []engine.SiteID) bool {
	const step = 8
	ends := 0
	for i := 1; i < len(sites); i += step {
		if sites[i] != sites[i-1] {
			ends++
		}
	}
	return ends*longStreaks*step > len(sites)
}

// allEqual reports whether all verdicts are equal, which is common for many agents. There must be at least one.
func allEqual(verdicts []engine.Verdict) bool {
	first := verdicts[0]
	for _, v := range verdicts {
		if v != first {
			return false
		}
	}
	return true
}

// gatherTexts copies texts, once for each agent; engine.NoURL becomes null. It escapes bytes that are not UTF-8, and
// counts them in Chunk.Invalid.
func gatherTexts(g *gathering, f *field, col column) {
	c, data, spans := col.(*TextColumn), g.batch.Data, f.spec.spans(g.batch, f)[g.from:g.to]
	size := 0
	for _, span := range spans {
		size += int(span.Len)
	}
	valid := size > len(data)/4 && utf8.Valid(data) // if only few texts are copied, each is checked instead
	for _, span := range spans {
		present, start := int16(0), len(c.Bytes)
		if span != engine.NoURL {
			present = 1
			c.beginText(int(span.Len))
			if valid && validPiece(data, span) {
				c.Bytes = append(c.Bytes, data[span.Off:span.Off+span.Len]...)
			} else {
				// Escape the text, and correct its length.
				var escaped int
				start := len(c.Bytes)
				c.Bytes, escaped = fieldtext.AppendValid(c.Bytes, data[span.Off:span.Off+span.Len])
				if c.pages {
					binary.LittleEndian.PutUint32(c.Bytes[start-4:], uint32(len(c.Bytes)-start))
				}
				g.c.Invalid += int64(escaped * g.agents)
			}
		}
		c.endText(present)
		end := len(c.Bytes)
		for range g.agents - 1 {
			c.Bytes = append(c.Bytes, c.Bytes[start:end]...)
			c.endText(present)
		}
	}
}

// gatherOrigins adds the origin of each URL; null if the URL is invalid. It looks up an origin once for all
// consecutive rows that share it.
func gatherOrigins(g *gathering, _ *field, col column) {
	c, sites := col.(*dictColumn), g.batch.Sites[g.from:g.to]
	strays := len(g.batch.Strays)
	c.dict.strays = slices.Grow(c.dict.strays[:0], strays)[:strays]
	clear(c.dict.strays)
	if c.Streaks != nil {
		// Add one streak for all neighbours of the same origin.
		start := 0
		for i, site := range sites {
			if next := i + 1; next < len(sites) && sites[next] == site {
				continue
			}
			rows, level := i+1-start, int16(1)
			id := int32(0)
			if site == engine.NoSite {
				level = 0
				c.Nulls += rows
			} else {
				id = g.names.addOrigin(c.dict, site, g.batch.Strays)
			}
			c.Present = append(c.Present, level)
			c.fill(id, rows)
			start = i + 1
		}
		return
	}
	ids, present := c.extendNullable(len(sites))
	last, id := engine.NoSite, int32(0) // logs are often grouped by origin
	for i, site := range sites {
		has := int16(1)
		if site == engine.NoSite {
			last, id, has = site, 0, 0
			c.Nulls += g.agents
		} else if site != last {
			last, id = site, g.names.addOrigin(c.dict, site, g.batch.Strays)
		}
		ids[i], present[i] = id, has
	}
	c.repeat(len(sites), g.agents)
}

// addAgentTexts adds, for each verdict, the number of a text about its agent. number returns it for an agent, and adds
// the text to the dictionary if necessary.
func (g *gathering) addAgentTexts(c *dictColumn, number func(n *Numbering, d *Dictionary, agent int) int32) {
	rows := (g.to - g.from) * g.agents
	switch {
	case len(g.batch.Agents) > 0:
		ids := c.extend(rows)
		for i, agent := range g.batch.Agents[g.from:g.to] {
			ids[i] = number(g.names, c.dict, int(agent))
		}
	case g.agents == 1:
		c.fill(number(g.names, c.dict, 0), rows)
	default:
		ids := c.extend(rows)
		for a := range g.agents {
			ids[a] = number(g.names, c.dict, a)
		}
		for n := g.agents; n < len(ids); n *= 2 { // the row of agents repeats
			copy(ids[n:], ids[:n])
		}
	}
}

// addAccess adds whether each verdict allows; null if that is unknown. It does not set streaks.
func (c *boolColumn) addAccess(verdicts []engine.Verdict) {
	values, present := c.extendNullable(len(verdicts))
	unknown := 0
	for i := range verdicts {
		values[i], present[i] = verdicts[i].Access == engine.Allowed, 1
		if verdicts[i].Access == engine.Unknown {
			present[i] = 0
			unknown++
		}
	}
	c.Nulls += unknown
}

// gatherReasons adds the reason of each verdict. For speed, it looks up known reasons without a call.
func gatherReasons(g *gathering, _ *field, col column) {
	c := col.(*dictColumn)
	if g.uniform {
		c.fill(c.dict.addNumbered(int(g.verdicts[0].Reason), g.verdicts[0].Reason.String()), len(g.verdicts))
		return
	}
	ids, known := c.extend(len(g.verdicts)), c.dict.ids
	for i := range g.verdicts {
		r := int(g.verdicts[i].Reason)
		if r < len(known) && known[r] != 0 {
			ids[i] = known[r] - 1
			continue
		}
		ids[i] = c.dict.addNumbered(r, g.verdicts[i].Reason.String())
		known = c.dict.ids
	}
	c.setStreaks(g.streaks)
}

// A ruleColumns holds the columns of the deciding rules; either may be nil. They are gathered together, because one
// lookup finds both.
type ruleColumns struct {
	texts *dictColumn
	lines *int32Column
}

// gatherRules fills both columns of rules, the texts and the lines, when it is called for the first of them. The
// second call for the same verdicts does nothing.
func gatherRules(g *gathering, f *field, _ column) {
	if g.ruled {
		return
	}
	g.ruled = true
	c, n := g.c.rules[f.agent], len(g.verdicts)
	if g.uniform && g.verdicts[0].Rule == engine.NoRule {
		if c.texts != nil {
			c.texts.append(noValues[:n], nonePresent[:n], n)
		}
		if c.lines != nil {
			c.lines.append(noValues[:n], nonePresent[:n], n)
		}
		return
	}
	var ids, lines []int32
	var present []int16
	if c.lines != nil {
		lines, present = c.lines.extendNullable(n)
	} else {
		g.scratch = slices.Grow(g.scratch[:0], n)[:n]
		lines = g.scratch
	}
	if c.texts != nil {
		ids, present = c.texts.extendNullable(n)
	} else {
		g.scratch = slices.Grow(g.scratch[:0], n)[:n]
		ids = g.scratch
	}
	nulls := g.findRules(ids, lines, present)
	if c.texts != nil {
		c.texts.Nulls += nulls
		c.texts.setStreaks(g.streaks)
	}
	if c.lines != nil {
		copy(c.lines.Present[len(c.lines.Present)-n:], present)
		c.lines.Nulls += nulls
		c.lines.setStreaks(g.streaks)
	}
}

// findRules sets, for each verdict, the number of the text and the line of the deciding rule, and whether there is one.
// It returns the number of verdicts without a rule.
func (g *gathering) findRules(ids, lines []int32, present []int16) (nulls int) {
	fromLog := len(g.batch.Agents) > 0
	if g.agents == 1 && !fromLog {
		// This loop for verdicts of one agent takes half the time of the general one.
		var nulls int
		verdicts, rulings := g.verdicts, g.rulings
		for i := range verdicts {
			switch rule := verdicts[i].Rule; {
			case rule == engine.NoRule:
				ids[i], lines[i], present[i] = 0, 0, 0
				nulls++
			case i > 0 && rule == verdicts[i-1].Rule && rulings[i] == rulings[i-1]:
				ids[i], lines[i], present[i] = ids[i-1], lines[i-1], 1
			default:
				ids[i], lines[i] = g.names.addRule(rulings[i], g.agent, rule)
				present[i] = 1
			}
		}
		return nulls
	}
	i, lastAgent := 0, -1
	var last engine.RulingID
	for row, ruling := range g.rulings {
		for a := range g.agents {
			agent := g.agent + a
			if fromLog {
				agent = int(g.batch.Agents[g.from+row])
			}
			switch rule := g.verdicts[i].Rule; {
			case rule == engine.NoRule:
				ids[i], lines[i], present[i] = 0, 0, 0
				nulls++
			case i > 0 && rule == g.verdicts[i-1].Rule && ruling == last && (agent == lastAgent || a > 0 &&
				g.names.catalog.FirstAgent(ruling, agent) == g.names.catalog.FirstAgent(ruling, lastAgent)):
				ids[i], lines[i], present[i] = ids[i-1], lines[i-1], 1
			default:
				ids[i], lines[i] = g.names.addRule(ruling, agent, rule)
				present[i] = 1
			}
			last, lastAgent = ruling, agent
			i++
		}
	}
	return nulls
}

// gatherDates adds the day of each row in the time zone of the dictionary; null if its time is unknown.
func gatherDates(g *gathering, _ *field, col column) {
	c := col.(*dictColumn)
	n := g.to - g.from
	ids, present := c.extendNullable(n)
	for i := range n {
		ids[i], present[i] = 0, 0
		if len(g.batch.Times) > 0 && g.batch.Times[g.from+i] != engine.NoTime {
			d := c.dict
			micros := g.batch.Times[g.from+i]
			micros = d.clock.Shown(micros)
			const microsPerDay = 24 * 60 * 60 * 1_000_000
			day := micros / microsPerDay
			if micros%microsPerDay < 0 {
				day--
			}
			if d.dayID == 0 || day != d.day {
				text := time.Unix(day*24*60*60, 0).UTC().Format(time.DateOnly)
				d.day, d.dayID = day, 1+d.addString(text)
			}
			ids[i], present[i] = d.dayID-1, 1
		} else {
			c.Nulls += g.agents
		}
	}
	c.repeat(n, g.agents)
}

func gatherKeptInts(g *gathering, f *field, col column) {
	gatherKept(g, f, &col.(*intColumn).values, g.batch.Kept[f.kept].Ints)
}

// gatherKept adds values of a column of the input, once for each agent.
func gatherKept[T scalar](g *gathering, f *field, v *values[T], src []T) {
	values, levels := v.extendNullable(g.to - g.from)
	copy(values, src[g.from:g.to])
	v.Nulls += g.setKeptLevels(f, levels)
	v.repeat(len(values), g.agents)
}

// setKeptLevels sets which values of a column of the input are present, and returns the number of null rows.
func (g *gathering) setKeptLevels(f *field, levels []int16) (nulls int) {
	for i, present := range g.batch.Kept[f.kept].Present[g.from:g.to] {
		levels[i] = 1
		if !present {
			levels[i] = 0
			nulls += g.agents
		}
	}
	return nulls
}

// validPiece reports whether a part of valid UTF-8 is valid itself: whether it starts and ends between characters.
func validPiece(data []byte, s engine.Span) bool {
	end := int(s.Off + s.Len)
	return utf8.RuneStart(data[s.Off]) && (end == len(data) || utf8.RuneStart(data[end]))
}

// preferenceSpec returns the spec of a column of the allowed uses of a page. Like columns of verdicts, it has a value
// per agent, or a value per streak if consecutive rows are equal.
func preferenceSpec(name string, t parquet.Type, value func(c *preferenceCell) present, directives ...robots.Directive) *spec {
	return &spec{
		Field: newField(name, t, nullable), choice: ifNamed, perAgent: true, beside: true, streaks: true,
		needs: Needs{Directives: directives}, preference: value, gather: gatherPreferences,
	}
}

// HasUsage reports whether the needs include directives from drafts: preferences and licenses.
func (n *Needs) HasUsage() bool {
	return slices.ContainsFunc(append(robots.PreferenceLines(), robots.LicenseLines),
		func(d robots.Directive) bool { return slices.Contains(n.Directives, d) })
}

// A present reports whether a value is not null.
type present = bool

// A preferenceCell is a value of a column of preferences. Only the field for the column's type is set.
type preferenceCell struct {
	engine.Preference
	how func() string // returns the text of How

	number int    // number of the text in the dictionary's ids; -1 if it is not there, because it contains how
	text   string // for a dictionary column
	line   int32
	yes    bool
}

// sourceSpec returns the spec of a column with the preference of one source: a boolean for sources that are rules,
// otherwise a text.
func sourceSpec(s robots.Source) *spec {
	kind := parquet.Dictionary
	if robots.Sources[s].Rules {
		kind = parquet.Bool
	}
	return preferenceSpec(robots.Sources[s].Column, kind, func(c *preferenceCell) present {
		answer := robots.Answers{Said: c.Said}
		c.number = 0
		for _, p := range c.Said[s].Uses {
			c.number = 3*c.number + int(p)
		}
		if s == robots.BySignal && c.How > 0 {
			c.number, answer.How = -1, c.how()
		}
		c.text, c.yes = answer.Text(s), c.Said[s].Uses[robots.TrainAI] == robots.Permitted
		return c.Said[s].Line > 0
	}, robots.Sources[s].Directive)
}

// sourceLineSpec returns the spec of the column with the first line of a source that counts.
func sourceLineSpec(s robots.Source) *spec {
	return preferenceSpec(robots.Sources[s].Column+"_line", parquet.Int32, func(c *preferenceCell) present {
		c.line = c.Said[s].Line
		return c.line > 0
	}, robots.Sources[s].Directive)
}

// useSpec returns the spec of the column for a use, combined from all sources.
func useSpec(u robots.Use) *spec {
	return preferenceSpec("use_"+strings.ReplaceAll(u.String(), "-", "_"), parquet.Bool, func(c *preferenceCell) present {
		answer := c.Uses()[u]
		c.yes = answer == robots.Permitted
		return answer != robots.Unstated
	}, robots.PreferenceLines()...)
}

// gatherPreferences adds the values of a column of preferences; null where f.spec.preference returns false, or nothing
// is stated.
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
		defer c.setStreaks(g.streaks)
	case *int32Column:
		lines, levels = c.extendNullable(n)
		nulls = &c.Nulls
		defer c.setStreaks(g.streaks)
	case *boolColumn:
		bools, levels = c.extendNullable(n)
		nulls = &c.Nulls
		defer c.setStreaks(g.streaks)
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
		if i > 0 && p.How == 0 && *p == g.preferences[i-1] { // equal, because only the text of How is not in p
			levels[i] = levels[i-1]
		} else {
			cell = preferenceCell{Preference: *p, how: func() string {
				row, agent := i/g.agents, g.agent+i%g.agents
				if len(g.batch.Agents) > 0 {
					agent = int(g.batch.Agents[g.from+row])
				}
				return g.names.catalog.HowUsed(g.rulings[row], agent, g.preferences[i])
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
			ids[i] = col.(*dictColumn).dict.addNumbered(cell.number, cell.text)
		}
	}
	*nulls += missing
}

// gatherLicenses adds the first license of each robots.txt, by streaks of the ruling in force; null if there is none.
func gatherLicenses(g *gathering, f *field, col column) {
	c, rulings := col.(*dictColumn), g.batch.Rulings[g.from:g.to]
	start := 0
	for i, ruling := range rulings {
		if next := i + 1; next < len(rulings) && rulings[next] == ruling {
			continue
		}
		rows, level := (i+1-start)*g.agents, int16(1)
		// Look up the first license of the robots.txt. The table of rules also remembers licenses, with negative numbers
		// below NoRule that depend on the column.
		n := g.names
		d := c.dict
		at := f.at
		group := groupOf(ruling, 0)
		e := n.rules.findOrAdd(group, engine.NoRule-1-int32(at))
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
