package rules

import (
	"encoding/binary"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// named are the agents that a robots.txt names in addition to the agents of Options, and that Options.Named
// accepts. They are numbered after the agents of Options, in the order of their tokens. A file can name many
// thousands, and nearly all of them never occur, so their Sets are compiled when a row needs them. It is safe for
// concurrent use.
type named struct {
	text  string   // the tokens in lower case, one after the other
	ends  []uint32 // by token: where it ends in text
	lists []uint32 // by token: which list of groups binds it
	sets  []atomic.Pointer[Set]
	size  atomic.Int64 // bytes of the sets

	load func(list int) (*Set, error)
	fail func(error) // receives the error if a Set fails to load
}

// mostNamed is the maximum size of the kept Sets of one file, in bytes: above that all are dropped, and compiled
// again when needed. If groups name an agent twice, the total can be quadratic in the rules of the file.
const mostNamed = 64 << 20

// MaxToken is the maximum length of a token that is kept, in bytes. No crawler has such a long name.
const MaxToken = 128

// SetNamed finds the agents that a file names in addition to the agents of Options, if Options.Named accepts them. If
// there are any, it calls loadOf once, with the distinct lists of groups that bind them; loadOf returns a function that
// returns the Set of a list, by its index. SetNamed adds their memory, without the Sets, to r.Size.
func (r *Ruling) SetNamed(f *robots.File, opt *Options, loadOf func(lists [][]int) func(list int) (*Set, error)) {
	type pair struct {
		token string
		group int
	}
	if opt.Named == nil {
		return
	}
	var pairs []pair
	for i := range f.Groups {
		for _, t := range f.Groups[i].Agents {
			if len(t) <= MaxToken && !t.IsPolicy() && opt.Named(t) {
				pairs = append(pairs, pair{strings.ToLower(string(t)), i})
			}
		}
	}
	if len(pairs) == 0 {
		return
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return strings.Compare(a.token, b.token) })
	n := &named{fail: opt.Fail}
	var text strings.Builder
	var key []byte
	var lists [][]int
	numbers := map[string]uint32{} // numbers of the lists
	for len(pairs) > 0 {
		token := pairs[0].token
		var groups []int
		for len(pairs) > 0 && pairs[0].token == token {
			if k := len(groups); k == 0 || groups[k-1] != pairs[0].group {
				groups = append(groups, pairs[0].group)
			}
			pairs = pairs[1:]
		}
		key = key[:0]
		for _, g := range groups {
			key = binary.AppendUvarint(key, uint64(g))
		}
		number, known := numbers[string(key)]
		if !known {
			number = uint32(len(lists))
			numbers[string(key)] = number
			lists = append(lists, groups)
		}
		text.WriteString(token)
		n.ends, n.lists = append(n.ends, uint32(text.Len())), append(n.lists, number)
	}
	n.text, n.sets, n.load = text.String(), make([]atomic.Pointer[Set], len(lists)), loadOf(lists)
	r.named = n
	const list = 8 + 40 // bytes of its Set's pointer and its loader
	r.Size += int64(len(n.text) + 8*len(n.ends) + list*len(lists))
}

// tokenAt returns the token with that number, in lower case.
func (n *named) tokenAt(i int) string {
	start := uint32(0)
	if i > 0 {
		start = n.ends[i-1]
	}
	return n.text[start:n.ends[i]]
}

// FindNamed returns the number of an agent by its token in lower case. ok is false unless the file names it in addition
// to the agents of Options; then the number means nothing.
func (r *Ruling) FindNamed(token []byte) (agent int, ok bool) {
	n := r.named
	if n == nil {
		return 0, false
	}
	i := sort.Search(len(n.ends), func(i int) bool { return n.tokenAt(i) >= string(token) })
	return len(r.Sets) + i, i < len(n.ends) && n.tokenAt(i) == string(token)
}

// NameOf returns the token, in lower case, of an agent that FindNamed returned.
func (r *Ruling) NameOf(agent int) string {
	if n := agent - len(r.Sets); r.named != nil && n < len(r.named.ends) {
		return r.named.tokenAt(n)
	}
	return "" // the store has failed
}

// Set returns the Set of an agent of Options, or of one that FindNamed returned. It loads the Set of the latter when it
// is first needed, and keeps it; if the kept Sets exceed mostNamed, it drops all others. After an error of the store,
// it may return NoGroup.
func (r *Ruling) Set(agent int) *Set {
	if agent < len(r.Sets) {
		return r.Sets[agent]
	}
	list := r.List(agent)
	if list < 0 {
		return NoGroup
	}
	if set := r.named.sets[list].Load(); set != nil {
		return set
	}
	set := r.LoadNamed(list)
	size := set.footprint()
	if r.named.size.Add(size) > mostNamed {
		for i := range r.named.sets {
			r.named.sets[i].Store(nil)
		}
		r.named.size.Store(size)
	}
	r.named.sets[list].Store(set)
	return set
}

// List returns which list of groups binds an agent that FindNamed returned, or -1 if the store has failed.
func (r *Ruling) List(agent int) int {
	if n := agent - len(r.Sets); r.named != nil && n < len(r.named.lists) {
		return int(r.named.lists[n])
	}
	return -1
}

// LoadNamed loads the Set of a list of groups without keeping it. It reports an error to Options.Fail, and then returns
// a Set that gives every path the answer Unknown.
func (r *Ruling) LoadNamed(list int) *Set {
	set, err := r.named.load(list)
	if err != nil {
		r.named.fail(err)
		return &Set{otherwise: Verdict{NoRule, ReasonNoRobots, Unknown}}
	}
	if set != NoGroup {
		set.isRead = r.others != nil
	}
	return set
}

// CompileGroups compiles the rules of some groups of a file together, as for an agent that they bind. Without groups,
// the result is NoGroup.
func CompileGroups(f *robots.File, groups []int, d robots.Dialect) (*Set, error) {
	switch len(groups) {
	case 0:
		return NoGroup, nil
	case 1:
		return compileRules(f.Groups[groups[0]].Rules, d)
	}
	return compileRules(mergeRules(f, groups), d)
}

// Tokens holds the product tokens that groups name, in one spelling each: the first in byte order. It is safe for
// concurrent use. The zero value is empty.
type Tokens struct {
	mu    sync.RWMutex
	names map[string]robots.ProductToken // by the token in lower case
	full  bool                           // there are more than maxTokens, and the rest is missing
}

// maxTokens is the maximum number of product tokens that are kept. 2,561 real files name about 1,200; a hostile
// file can name 50,000.
const maxTokens = 1 << 17

// Add adds the tokens of a file.
func (t *Tokens) Add(groups []robots.Group) {
	for i := range groups {
		for _, token := range groups[i].Agents {
			t.addToken(token)
		}
	}
}

// addToken adds a token, unless it is a policy token, is longer than MaxToken, or is one too many. It does not keep the
// memory of the token.
func (t *Tokens) addToken(token robots.ProductToken) {
	if len(token) > MaxToken || token.IsPolicy() {
		return
	}
	var buf [MaxToken]byte
	key := append(buf[:0], token...)
	for i, b := range key {
		if 'A' <= b && b <= 'Z' {
			key[i] |= 0x20
		}
	}
	t.mu.RLock()
	name, known := t.names[string(key)]
	full := t.full
	t.mu.RUnlock()
	if known && name <= token || !known && full {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		t.names = map[string]robots.ProductToken{}
	}
	name, known = t.names[string(key)]
	switch {
	case !known && len(t.names) == maxTokens:
		t.full = true
	case !known || token < name:
		t.names[string(key)] = robots.ProductToken(strings.Clone(string(token)))
	}
}

// List returns the tokens in the order of their lower case, and whether the list is complete.
func (t *Tokens) List() (all []robots.ProductToken, complete bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all = make([]robots.ProductToken, 0, len(t.names))
	for _, key := range slices.Sorted(maps.Keys(t.names)) {
		all = append(all, t.names[key])
	}
	return all, !t.full
}

// rivals finds out whether the verdict on a path is undefined, see [robots.Undefined]: whether a rule with the
// opposite verdict might decide instead of the winner. Such a rule has a "*" and matches, or it takes precedence
// among the rules without a "*".
//
// The automaton of all rules reports only the rule with the highest precedence, so rules that might decide are
// compiled a second time. Each path then costs two more matches. This concerns only the dialect google-2010, and
// there only groups that have Allow and Disallow rules and a "*".
type rivals struct {
	literal *automaton.Automaton    // rules without a "*"
	wild    [2]*automaton.Automaton // rules with a "*": those that disallow, and those that allow
}

// compileRivals returns the rivals of rules, or nil if a verdict is never undefined. rules are patterns, as for the
// automaton of all rules.
func compileRivals(rules []automaton.Rule, d robots.Dialect) (*rivals, error) {
	if !d.Has(robots.WildcardsUndefined) {
		return nil, nil //nolint:nilnil // nil means no rivals
	}
	var literal []automaton.Rule
	var wild [2][]automaton.Rule
	var says [2]bool
	for _, r := range rules {
		says[allowIndex(r.Allow)] = true
		if strings.Contains(r.Pattern, "*") {
			wild[allowIndex(r.Allow)] = append(wild[allowIndex(r.Allow)], r)
		} else {
			literal = append(literal, r)
		}
	}
	if len(literal) == len(rules) || !says[0] || !says[1] {
		return nil, nil //nolint:nilnil // nil means no rivals
	}
	r := &rivals{}
	for _, part := range []struct {
		automaton **automaton.Automaton
		rules     []automaton.Rule
	}{{&r.literal, literal}, {&r.wild[0], wild[0]}, {&r.wild[1], wild[1]}} {
		var err error
		if *part.automaton, _, err = automaton.Compile(part.rules); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// allowIndex returns 1 for rules that allow, and 0 for rules that disallow: their index in arrays such as rivals.wild.
func allowIndex(allow bool) int {
	if allow {
		return 1
	}
	return 0
}

// mayDecide reports whether a rule with the opposite verdict might decide the path instead of the winner.
func (r *rivals) mayDecide(winner automaton.Rank, path []byte, s *automaton.Scratch) bool {
	if r.wild[allowIndex(!winner.Allow())].Match(path, s) != automaton.NoMatch {
		return true
	}
	best := r.literal.Match(path, s)
	return best != automaton.NoMatch && best.Allow() != winner.Allow()
}

// size returns the size of the tables in bytes.
func (r *rivals) size() int {
	if r == nil {
		return 0
	}
	return r.literal.Size() + r.wild[0].Size() + r.wild[1].Size()
}
