package rules

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

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

// SetNamed finds the agents that a file names in addition to the agents of Options. If there are any, it calls
// loadOf once, with the lists of groups that bind them; loadOf returns a function that returns the Set of a list.
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

// token returns a token.
func (n *named) token(i int) string {
	start := uint32(0)
	if i > 0 {
		start = n.ends[i-1]
	}
	return n.text[start:n.ends[i]]
}

// FindNamed returns the number of an agent by its token in lower case, and whether the file names it in addition to
// the agents of Options.
func (r *Ruling) FindNamed(token []byte) (agent int, ok bool) {
	n := r.named
	if n == nil {
		return 0, false
	}
	i := sort.Search(len(n.ends), func(i int) bool { return n.token(i) >= string(token) })
	return len(r.Sets) + i, i < len(n.ends) && n.token(i) == string(token)
}

// NameOf returns the token, in lower case, of an agent that FindNamed returned.
func (r *Ruling) NameOf(agent int) string {
	if n := agent - len(r.Sets); r.named != nil && n < len(r.named.ends) {
		return r.named.token(n)
	}
	return "" // the store has failed
}

// Set returns the Set of an agent of Options, or of one that FindNamed returned, and keeps it.
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

// LoadNamed returns the Set of a list of groups without keeping it.
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

// CompileGroups compiles the rules of some groups of a file together, as for an agent that they bind.
func CompileGroups(f *robots.File, groups []int, d robots.Dialect) (*Set, error) {
	switch len(groups) {
	case 0:
		return NoGroup, nil
	case 1:
		return compileRules(f.Groups[groups[0]].Rules, d)
	}
	var rules []robots.Rule
	for _, i := range groups {
		rules = append(rules, f.Groups[i].Rules...)
	}
	return compileRules(rules, d)
}
