package decide

import (
	"errors"
	"slices"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/internal/preference"
	"github.com/robobatch/robobatch/robots"
)

// A Text is a robots.txt, with its verdicts for a log. It is immutable.
type Text struct {
	File *robots.File
	Open bool // whether it is larger than the dialect reads, and therefore allows everything

	rules   [][]robots.Rule // by crawler: the rules that bind it; crawlers may share them
	winners [][]int32       // by crawler: for each of its URLs an index in its rules, or none or always

	said []robots.Bound  // by crawler
	uses [][]robots.Uses // by crawler: for each of its URLs; nil if the text states no preference
}

// The winners that are not rules.
const (
	none    int32 = -1 // no rule matches, or no group binds the crawler
	always  int32 = -2 // the URL is allowed whatever the rules
	unknown int32 = -3 // not decided yet
)

// ErrStopped is the error of an evaluation that goOn stopped.
var ErrStopped = errors.New("stopped")

// An answer is the decision for a URL.
type answer struct {
	winner int32
	uses   robots.Uses
}

// stride is the number of URLs that are evaluated between two calls of a function that may pause. With most rules,
// one URL takes 0.1 µs; with rules made to be slow, up to a few milliseconds.
const stride = 8

// Decide evaluates the log with a robots.txt. before is a Text of the same log, or nil: if a crawler's rules have not
// changed since, its verdicts are reused. goOn is called every few URLs and may pause; if it returns false, the
// evaluation stops; nil means never. The error is [automaton.ErrTooLarge] or ErrStopped.
func (l *Log) Decide(body []byte, before *Text, goOn func() bool) (*Text, error) {
	t := &Text{
		File:    robots.Parse(body, l.dialect),
		Open:    !l.dialect.HasRules(&robots.Response{Status: 200, Body: body}),
		rules:   make([][]robots.Rule, len(l.agents)),
		winners: make([][]int32, len(l.agents)),
		said:    make([]robots.Bound, len(l.agents)),
		uses:    make([][]robots.Uses, len(l.agents)),
	}
	preferences := robots.PreferencesOf(body, l.dialect)
	for a := range l.agents {
		t.said[a] = preferences.Select(l.agents[a].agent)
	}
	for _, group := range l.groupCrawlers(t) {
		if err := l.decideGroup(t, group, before, goOn); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// groupCrawlers returns lists of crawlers that have the same rules and preferences. Each crawler is in one list.
func (l *Log) groupCrawlers(t *Text) (lists [][]int) {
	var groups [][]int // of the file, by list
	for a := range l.agents {
		binding := t.File.Binding(l.agents[a].agent)
		i := 0
		for i < len(groups) && (!slices.Equal(groups[i], binding) || !samePreferences(&t.said[lists[i][0]], &t.said[a])) {
			i++
		}
		if i == len(groups) {
			groups = append(groups, binding)
			lists = append(lists, nil)
		}
		lists[i] = append(lists[i], a)
	}
	return lists
}

// decideGroup sets the verdicts of crawlers that have the same rules and preferences. It reuses those of before if the
// rules and preferences have not changed.
func (l *Log) decideGroup(t *Text, agents []int, before *Text, goOn func() bool) error {
	rules, _ := t.File.Select(l.agents[agents[0]].agent)
	if t.Open {
		rules = nil
	}
	todo := agents[:0:0]
	for _, a := range agents {
		t.rules[a] = rules
		if before != nil && slices.EqualFunc(before.rules[a], rules, sameRule) && samePreferences(&before.said[a], &t.said[a]) {
			t.winners[a], t.uses[a] = before.winners[a], before.uses[a]
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
	if s.preferences, err = preference.Compile(&t.said[todo[0]]); err != nil {
		return err
	}
	var known []answer // by URL, if several crawlers may have requested it
	if len(todo) > 1 {
		known = slices.Repeat([]answer{{winner: unknown}}, l.URLs())
	}
	for _, a := range todo {
		if !l.decideAgent(t, a, s, known, goOn) {
			return ErrStopped
		}
	}
	return nil
}

// sameRule reports whether two rules have the same effect, regardless of their lines.
func sameRule(a, b robots.Rule) bool { return a.Allow == b.Allow && a.Pattern == b.Pattern }

// decideAgent evaluates the URLs of a crawler with the automata of s. It uses and extends known, the answers by URL,
// which may be nil. It returns false if goOn stopped it.
func (l *Log) decideAgent(t *Text, a int, s *set, known []answer, goOn func() bool) bool {
	who := &l.agents[a]
	winners := make([]int32, len(who.urls))
	var uses []robots.Uses
	if s.preferences != nil {
		uses = make([]robots.Uses, len(who.urls))
	}
	for i, url := range who.urls {
		if i%stride == 0 && goOn != nil && !goOn() {
			return false
		}
		n := answer{winner: unknown}
		if known != nil {
			n = known[url]
		}
		if n.winner == unknown {
			n = l.decideURL(url, t.rules[a], s)
			if known != nil {
				known[url] = n
			}
		}
		winners[i] = n.winner
		if uses != nil {
			uses[i] = n.uses
		}
	}
	t.winners[a], t.uses[a] = winners, uses
	return true
}

// decideURL decides a URL of the log by rules, which s has compiled, and by the preferences of s. A robots.txt is
// never disallowed.
func (l *Log) decideURL(url int32, rules []robots.Rule, s *set) (n answer) {
	n.winner = always
	if !l.always[url] {
		n.winner = s.winner(l.paths.at(int(url)))
	}
	fetched := n.winner < 0 || rules[n.winner].Allow
	if s.preferences != nil {
		var a preference.Answer
		if s.preferences.Decide(&a, l.paths.at(int(url)), &s.scratch); !fetched {
			a.Unfetch()
		}
		n.uses = a.Uses()
	}
	if l.txt[url] && !fetched {
		n.winner = always
	}
	return n
}

// decidingRule returns the rule that decides the i-th URL of a crawler; nil if none does.
func (t *Text) decidingRule(agent, i int) *robots.Rule {
	if w := t.winners[agent][i]; w >= 0 {
		return &t.rules[agent][w]
	}
	return nil
}

// usesOf returns the preferences for the i-th URL of a crawler.
func (t *Text) usesOf(agent, i int) (u robots.Uses) {
	if all := t.uses[agent]; all != nil {
		u = all[i]
	}
	return u
}

// A set is rules and preferences, compiled.
type set struct {
	automaton   *automaton.Automaton
	rules       []int32 // by position: the index of the rule
	scratch     automaton.Scratch
	preferences *preference.Set // nil if nothing is said
}

// compile compiles rules to a set without preferences. A rule may have two patterns, see
// [robots.Dialect.IndexPattern]. The error is [automaton.ErrTooLarge].
func compile(rules []robots.Rule, d robots.Dialect) (*set, error) {
	patterns := make([]automaton.Rule, 0, len(rules))
	origin := make([]int32, 0, len(rules)) // by pattern: the index of its rule
	for i, r := range rules {
		patterns = append(patterns, automaton.Rule{Pattern: r.Pattern, Allow: r.Allow, Uncounted: d.Uncounted(r.Pattern)})
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

// winner returns the index of the rule that decides a path; none if no rule does.
func (s *set) winner(path []byte) int32 {
	rank := s.automaton.Match(path, &s.scratch)
	if rank == automaton.NoMatch {
		return none
	}
	return s.rules[rank.Position()]
}

// Deciding returns the number of the deciding line for each URL of a crawler, in the order of the log: negative if the
// line disallows, 0 if no line decides.
func (t *Text) Deciding(agent int) []int32 {
	lines := make([]int32, len(t.winners[agent]))
	for i := range lines {
		if r := t.decidingRule(agent, i); r != nil && r.Allow {
			lines[i] = r.Line
		} else if r != nil {
			lines[i] = -r.Line
		}
	}
	return lines
}
