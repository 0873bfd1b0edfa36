package decide

import (
	"errors"
	"slices"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// A Text is a robots.txt and what it decides for a log. It is immutable.
type Text struct {
	File *robots.File
	Open bool // it is larger than the dialect reads, and so allows everything

	rules   [][]robots.Rule // by crawler: those that bind it; crawlers may share them
	winners [][]int32       // by crawler: for each of its URLs an index of its rules, or none or always
}

// The winners that are no rules.
const (
	none    int32 = -1 // no rule matches, or no group binds the crawler
	always  int32 = -2 // the URL is allowed whatever the rules
	unknown int32 = -3 // not decided yet
)

// ErrStopped is the error of a decision that was stopped.
var ErrStopped = errors.New("stopped")

// stride is how many URLs are decided between two calls of a function that may pause. One takes 0.1 µs by
// most rules, and up to some milliseconds by rules that are made to be slow.
const stride = 8

// Decide decides the log by a robots.txt. What before, a Text of the same log, has decided by the same
// rules is not decided again; it may be nil. Every few URLs it calls goOn, which may pause, and stops if
// that returns false; nil goes on. The error is [automaton.ErrTooLarge] or ErrStopped.
func (l *Log) Decide(body []byte, before *Text, goOn func() bool) (*Text, error) {
	t := &Text{
		File:    robots.Parse(body, l.dialect),
		Open:    !l.dialect.HasRules(&robots.Response{Status: 200, Body: body}),
		rules:   make([][]robots.Rule, len(l.agents)),
		winners: make([][]int32, len(l.agents)),
	}
	for _, group := range l.bound(t.File) {
		if err := l.decideGroup(t, group, before, goOn); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// bound returns the crawlers in lists: those of one list have the same rules.
func (l *Log) bound(f *robots.File) (lists [][]int) {
	var groups [][]int // of the file, by list
	for a := range l.agents {
		binding := f.Binding(l.agents[a].agent)
		i := slices.IndexFunc(groups, func(known []int) bool { return slices.Equal(known, binding) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, binding)
			lists = append(lists, nil)
		}
		lists[i] = append(lists[i], a)
	}
	return lists
}

// decideGroup decides for crawlers that have the same rules.
func (l *Log) decideGroup(t *Text, agents []int, before *Text, goOn func() bool) error {
	rules, _ := t.File.Select(l.agents[agents[0]].agent)
	if t.Open {
		rules = nil
	}
	todo := agents[:0:0]
	for _, a := range agents {
		t.rules[a] = rules
		if before != nil && slices.EqualFunc(before.rules[a], rules, sameRule) {
			t.winners[a] = before.winners[a]
		} else {
			todo = append(todo, a)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	s, err := compile(rules, l.dialect)
	if err != nil {
		return err
	}
	var known []int32 // by URL, if several crawlers may ask for it
	if len(todo) > 1 {
		known = slices.Repeat([]int32{unknown}, l.URLs())
	}
	for _, a := range todo {
		if t.winners[a] = l.decideAgent(a, s, rules, known, goOn); t.winners[a] == nil {
			return ErrStopped
		}
	}
	return nil
}

// sameRule reports whether two rules decide alike, wherever they stand.
func sameRule(a, b robots.Rule) bool { return a.Allow == b.Allow && a.Pattern == b.Pattern }

// decideAgent decides the URLs of a crawler by its rules, which s has compiled. It returns nil if it was
// stopped.
func (l *Log) decideAgent(a int, s *set, rules []robots.Rule, known []int32, goOn func() bool) []int32 {
	who := &l.agents[a]
	winners := make([]int32, len(who.urls))
	for i, url := range who.urls {
		if i%stride == 0 && goOn != nil && !goOn() {
			return nil
		}
		w := unknown
		if known != nil {
			w = known[url]
		}
		if w == unknown {
			w = always
			if !l.always[url] {
				w = s.winner(l.paths.at(int(url)))
			}
			if l.txt[url] && w >= 0 && !rules[w].Allow {
				w = always
			}
			if known != nil {
				known[url] = w
			}
		}
		winners[i] = w
	}
	return winners
}

// rule returns the rule that decides the i-th URL of a crawler, nil if none does.
func (t *Text) rule(agent, i int) *robots.Rule {
	if w := t.winners[agent][i]; w >= 0 {
		return &t.rules[agent][w]
	}
	return nil
}

// A set is rules, compiled.
type set struct {
	automaton *automaton.Automaton
	rules     []int32 // by position: the index of the rule
	scratch   automaton.Scratch
}

// compile compiles rules. A rule may have two patterns, see [robots.Dialect.IndexPattern].
func compile(rules []robots.Rule, d robots.Dialect) (*set, error) {
	patterns := make([]automaton.Rule, 0, len(rules))
	origin := make([]int32, 0, len(rules)) // by pattern: the index of its rule
	for i, r := range rules {
		patterns = append(patterns, automaton.Rule{Pattern: r.Pattern, Allow: r.Allow})
		origin = append(origin, int32(i))
		if index, ok := d.IndexPattern(r); ok {
			patterns = append(patterns, automaton.Rule{Pattern: index, Allow: true})
			origin = append(origin, int32(i))
		}
	}
	a, order, err := automaton.Compile(patterns)
	if err != nil {
		return nil, err
	}
	s := &set{automaton: a, rules: make([]int32, len(order))}
	for position, pattern := range order {
		s.rules[position] = origin[pattern]
	}
	return s, nil
}

// winner returns the index of the rule that decides a path, or none.
func (s *set) winner(path []byte) int32 {
	rank := s.automaton.Match(path, &s.scratch)
	if rank == automaton.NoMatch {
		return none
	}
	return s.rules[rank.Position()]
}

// Deciding returns for each URL of a crawler, in the order of the log, the line that decides it: less
// than 0 if it disallows, 0 if there is none.
func (t *Text) Deciding(agent int) []int32 {
	lines := make([]int32, len(t.winners[agent]))
	for i := range lines {
		if r := t.rule(agent, i); r != nil && r.Allow {
			lines[i] = r.Line
		} else if r != nil {
			lines[i] = -r.Line
		}
	}
	return lines
}
