package rules

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// A Preference is the answer of a PreferenceSet for a path, see engine.Preference.
type Preference struct {
	UsageLine       int32 // of the first Content-Usage that counts; 0 if there is none
	TrainAI, Search robots.Preference

	SignalLine                             int32 // of the first Content-Signal that gave one of these; 0 if none did
	Use                                    int32 // 1 + its index for PreferenceSet.Use; 0 is none
	SignalSearch, SignalInput, SignalTrain robots.Preference
}

// UseTrainAI returns the answer of both directives to whether a model may be trained.
func (a Preference) UseTrainAI() robots.Preference { return a.TrainAI.And(a.SignalTrain) }

// UseSearch returns the answer of both directives to whether a search may show the page.
func (a Preference) UseSearch() robots.Preference { return a.Search.And(a.SignalSearch) }

// A PreferenceSet has the preferences that bind one agent at one site, compiled. It is immutable and
// safe for concurrent use. Sites with equal texts share it.
//
// Of the lines that match a path, those with the longest pattern count together, which is no order of
// single lines. So each value that may differ among them is a question of its own. Nearly all files
// have no pattern, and then no question has an automaton.
//
// The rules have an automaton to themselves. In one walk with them, the patterns of preferences would
// cost all who do not ask for them: DESIGN.md has the figures.
type PreferenceSet struct {
	usage          question
	train, search  *question // asked where the rules of a length clash; nil if none do
	signals        [3]question
	use            question
	uses           []string   // the values of use, each once
	constant       Preference // the answer where no pattern matches
	usagePatterns  bool       // usage has an automaton
	signalPatterns bool       // one of signals, or use, has one
}

// A question asks which of some lines answers for a path: the first without a pattern, unless a
// pattern matches.
type question struct {
	automaton *automaton.Automaton // nil if no line has a pattern
	lines     []statement          // by automaton.Rank.Position
	otherwise statement
}

// A statement is the line that answers, and its content.
type statement struct {
	line   int32 // 0 is no answer
	use    int32
	first  robots.Preference // of train-ai, or of the key of a question about one
	second robots.Preference // of search
	clash  bool              // lines of this length may say other things of one path
}

// A candidate is a line that may answer.
type candidate struct {
	pattern string
	length  int // of pattern, see [robots.Dialect.Length]
	statement
}

// compileQuestion compiles lines: of those with equally long patterns, the first decides.
func compileQuestion(lines []candidate) (q question, err error) {
	var in []automaton.Rule
	var said []statement
	for _, c := range lines {
		if c.pattern != "" {
			in, said = append(in, automaton.Rule{Pattern: c.pattern, Uncounted: int32(len(c.pattern) - c.length)}), append(said, c.statement)
		} else if q.otherwise.line == 0 {
			q.otherwise = c.statement
		}
	}
	if len(in) == 0 {
		return q, nil
	}
	var order []int32
	if q.automaton, order, err = automaton.Compile(in); err != nil {
		return q, err
	}
	q.lines = make([]statement, len(order))
	for pos, i := range order {
		q.lines[pos] = said[i]
	}
	return q, nil
}

// ask returns the statement for a path.
func (q *question) ask(path []byte, s *automaton.Scratch) *statement {
	if q.automaton == nil {
		return &q.otherwise
	}
	if rank := q.automaton.Match(path, s); rank != automaton.NoMatch {
		return &q.lines[rank.Position()]
	}
	return &q.otherwise
}

// size returns the bytes of memory of a question.
func (q *question) size() int64 {
	if q == nil || q.automaton == nil {
		return 0
	}
	return int64(q.automaton.Size()) + int64(len(q.lines))*int64(unsafe.Sizeof(statement{}))
}

// compilePreferences compiles lines of Content-Usage and Content-Signal. It returns nil if there are
// none.
func compilePreferences(usage []robots.UsageRule, signals []robots.SignalRule) (p *PreferenceSet, err error) {
	if len(usage)+len(signals) == 0 {
		return nil, nil //nolint:nilnil // no preferences is what nil means
	}
	p = &PreferenceSet{}
	if err := p.addUsage(usage); err != nil {
		return nil, err
	}
	if err := p.addSignals(signals); err != nil {
		return nil, err
	}
	p.usagePatterns = p.usage.automaton != nil
	p.signalPatterns = slices.ContainsFunc([]*question{&p.signals[0], &p.signals[1], &p.signals[2], &p.use},
		func(q *question) bool { return q.automaton != nil })
	otherwise := &p.usage.otherwise
	p.constant.UsageLine, p.constant.TrainAI, p.constant.Search = otherwise.line, otherwise.first, otherwise.second
	p.constant.setSignals(&p.signals[0].otherwise, &p.signals[1].otherwise, &p.signals[2].otherwise, &p.use.otherwise)
	return p, nil
}

// addUsage compiles the lines of Content-Usage. Lines of one pattern become one.
func (p *PreferenceSet) addUsage(usage []robots.UsageRule) (err error) {
	var merged []candidate
	numbers := map[string]int{} // in merged, by pattern
	for i := range usage {
		r := &usage[i]
		n, known := numbers[r.Pattern]
		if !known {
			n = len(merged)
			numbers[r.Pattern] = n
			merged = append(merged, candidate{pattern: r.Pattern, length: r.Length, statement: statement{line: r.Line}})
		}
		merged[n].first, merged[n].second = merged[n].first.And(r.TrainAI), merged[n].second.And(r.Search)
	}
	clashes := markClashes(merged)
	if p.usage, err = compileQuestion(merged); err != nil || !clashes {
		return err
	}
	p.train, p.search = new(question), new(question)
	for _, part := range []struct {
		question *question
		said     func(c candidate) robots.Preference
	}{
		{p.train, func(c candidate) robots.Preference { return c.first }},
		{p.search, func(c candidate) robots.Preference { return c.second }},
	} {
		byAnswer := slices.Clone(merged)
		slices.SortStableFunc(byAnswer, func(a, b candidate) int { return cmp.Compare(strength(part.said(b)), strength(part.said(a))) })
		if *part.question, err = compileQuestion(byAnswer); err != nil {
			return err
		}
	}
	return nil
}

// strength returns how strong an answer is, as robots.Preference.And has it.
func strength(p robots.Preference) int {
	return [...]int{robots.Unstated: 0, robots.Permitted: 1, robots.Refused: 2}[p]
}

// markClashes marks the lines of each length if two of them may match one path and differ,
// and reports whether there are any. One of two such patterns has a wildcard, or an anchor that does not count.
func markClashes(lines []candidate) (some bool) {
	type group struct {
		first candidate
		mixed bool // they say different things
		wild  bool // one has a wildcard
	}
	byLength := map[int]group{}
	for _, c := range lines {
		g, known := byLength[c.length]
		if !known {
			g.first = c
		}
		g.mixed = g.mixed || g.first.first != c.first || g.first.second != c.second
		g.wild = g.wild || strings.Contains(c.pattern, "*") || c.length < len(c.pattern)
		byLength[c.length] = g
	}
	for i := range lines {
		g := byLength[lines[i].length]
		lines[i].clash = g.mixed && g.wild
		some = some || lines[i].clash
	}
	return some
}

// addSignals compiles the lines of Content-Signal, by key.
func (p *PreferenceSet) addSignals(signals []robots.SignalRule) (err error) {
	for k, of := range []func(r *robots.SignalRule) robots.Preference{
		func(r *robots.SignalRule) robots.Preference { return r.Search },
		func(r *robots.SignalRule) robots.Preference { return r.AIInput },
		func(r *robots.SignalRule) robots.Preference { return r.AITrain },
	} {
		var lines []candidate
		for _, answer := range []robots.Preference{robots.Refused, robots.Permitted} {
			for i := range signals {
				if r := &signals[i]; of(r) == answer {
					lines = append(lines, candidate{r.Pattern, r.Length, statement{line: r.Line, first: answer}})
				}
			}
		}
		if p.signals[k], err = compileQuestion(lines); err != nil {
			return err
		}
	}
	var lines []candidate
	numbers := map[string]int32{} // 1 + the index in uses
	for i := range signals {
		r := &signals[i]
		if r.Use == "" {
			continue
		}
		if numbers[r.Use] == 0 {
			p.uses = append(p.uses, strings.Clone(r.Use))
			numbers[r.Use] = int32(len(p.uses))
		}
		lines = append(lines, candidate{r.Pattern, r.Length, statement{line: r.Line, use: numbers[r.Use]}})
	}
	p.use, err = compileQuestion(lines)
	return err
}

// Decide sets a to the preferences for a path in normal form that may be fetched. For another, the lines of
// Content-Usage do not count: see [Preference.Unfetch]. It writes where the answer is needed: a copy of bytes
// written one by one waits for memory, and took 50 ns a row.
func (p *PreferenceSet) Decide(a *Preference, path []byte, s *automaton.Scratch) {
	*a = p.constant
	if p.usagePatterns {
		usage := p.usage.ask(path, s)
		a.UsageLine, a.TrainAI, a.Search = usage.line, usage.first, usage.second
		if usage.clash {
			a.TrainAI, a.Search = p.train.ask(path, s).first, p.search.ask(path, s).second
		}
	}
	if p.signalPatterns {
		a.setSignals(p.signals[0].ask(path, s), p.signals[1].ask(path, s), p.signals[2].ask(path, s), p.use.ask(path, s))
	}
}

// Constant reports whether the preferences are the same for all paths.
func (p *PreferenceSet) Constant() bool { return !p.usagePatterns && !p.signalPatterns }

// setSignals sets the answers of Content-Signal, and the line of the first that gave one.
func (a *Preference) setSignals(search, input, train, use *statement) {
	a.SignalSearch, a.SignalInput, a.SignalTrain, a.Use = search.first, input.first, train.first, use.use
	a.SignalLine = 0
	for _, said := range [...]*statement{search, input, train, use} {
		if said.line > 0 && (a.SignalLine == 0 || said.line < a.SignalLine) {
			a.SignalLine = said.line
		}
	}
}

// Unfetch leaves the preferences for a path that may not be fetched.
func (a *Preference) Unfetch() {
	a.UsageLine, a.TrainAI, a.Search = 0, robots.Unstated, robots.Unstated
}

// Use returns the value of use of a Preference; "" is none.
func (p *PreferenceSet) Use(a Preference) string {
	if n := int(a.Use) - 1; p != nil && n >= 0 && n < len(p.uses) {
		return p.uses[n]
	}
	return ""
}

// size returns the bytes of memory of the set.
func (p *PreferenceSet) size() int64 {
	if p == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*p)) + p.usage.size() + p.train.size() + p.search.size() + p.use.size()
	for i := range p.signals {
		n += p.signals[i].size()
	}
	for _, use := range p.uses {
		n += int64(unsafe.Sizeof(use)) + int64(len(use))
	}
	return n
}

// textPreferences are the preferences of a text for all agents: the agents of Options, and others that it
// names, whose sets are made when a row needs them. It is safe for concurrent use.
type textPreferences struct {
	dialect robots.Dialect
	usage   *robots.Notes // nil if there is no line
	signals *robots.Notes
	file    robots.File      // the groups of both
	byAgent []*PreferenceSet // of Options; nil is none

	mu    sync.Mutex
	named map[int]*PreferenceSet    // by agent
	lists map[string]*PreferenceSet // by the groups that bind an agent
	size  int64                     // bytes of the sets of lists
	most  int64                     // that they may have: above that all are dropped, and made again
}

// SetPreferences compiles the preferences among r.Notes for the agents of Options. It is called once all
// else is set.
func (r *Ruling) SetPreferences(opt *Options) (err error) {
	p := &textPreferences{dialect: opt.Dialect}
	for i := range r.Notes {
		if n := &r.Notes[i]; n.Directive == robots.UsageLines {
			p.usage, p.file.Groups = n, n.Groups
		} else if n.Directive == robots.SignalLines {
			p.signals, p.file.Groups = n, n.Groups
		}
	}
	if p.usage == nil && p.signals == nil {
		return nil
	}
	none := new(PreferenceSet) // in the place of nil, which ForAgents takes for a set that is not made yet
	p.byAgent, err = ForAgents(&p.file, opt.Agents, func(_ robots.Agent, groups []int) (*PreferenceSet, error) {
		set, err := p.compile(groups)
		if set == nil {
			return none, err
		}
		r.Size += set.size()
		return set, err
	})
	for i, set := range p.byAgent {
		if set == none {
			p.byAgent[i] = nil
		}
	}
	r.Size += 8 * int64(len(p.byAgent))
	if r.named != nil {
		p.named, p.lists = map[int]*PreferenceSet{}, map[string]*PreferenceSet{}
		p.most = 64 * int64(len(r.named.ends))
		for _, n := range []*robots.Notes{p.usage, p.signals} {
			for i := 0; n != nil && i < len(n.Lines); i++ {
				const perByte, perLine = 8, 256
				p.most += perByte*int64(len(n.Lines[i].Value)) + perLine
			}
		}
		r.Size += p.most
	}
	r.preferences = p
	return err
}

// compile compiles the lines that bind an agent with these groups.
func (p *textPreferences) compile(groups []int) (*PreferenceSet, error) {
	var usage []robots.UsageRule
	var signals []robots.SignalRule
	if p.usage != nil {
		for _, n := range p.usage.OfGroups(groups) {
			usage = append(usage, p.dialect.UsageRule(n))
		}
	}
	if p.signals != nil {
		for _, n := range p.signals.OfGroups(groups) {
			signals = append(signals, p.dialect.SignalRule(n))
		}
	}
	return compilePreferences(usage, signals)
}

// HasPreferences reports whether there are preferences for any agent.
func (r *Ruling) HasPreferences() bool { return r != nil && r.preferences != nil }

// Preferences returns the preferences for an agent: of Options, or one that FindNamed returned. nil is
// none.
func (r *Ruling) Preferences(agent int) *PreferenceSet {
	p := r.preferences
	switch {
	case p == nil:
		return nil
	case agent < len(p.byAgent):
		return p.byAgent[agent]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if set, known := p.named[agent]; known {
		return set
	}
	groups := p.file.Binding(robots.Agent{Token: robots.ProductToken(r.NameOf(agent))})
	var key []byte
	for _, g := range groups {
		key = binary.AppendUvarint(key, uint64(g))
	}
	set, known := p.lists[string(key)]
	if !known {
		var err error
		if set, err = p.compile(groups); err != nil {
			r.named.fail(err)
			return nil
		}
		const entry = 64
		p.size += set.size() + entry
		if p.size > p.most {
			clear(p.named)
			clear(p.lists)
			p.size = set.size() + entry
		}
		p.lists[string(key)] = set
	}
	p.named[agent] = set
	return set
}
