package rules

import (
	"slices"
	"sync/atomic"

	"github.com/robobatch/robobatch/robots"
)

// Misread records in which texts an agent of Options gets other groups, with other rules, than the documentation of
// its operator prescribes. nil means that there is no such agent. Once it has its texts, it is safe for concurrent
// use.
type Misread struct {
	agents []misreadAgent
	found  atomic.Bool // some text has been added
}

// A misreadAgent is an agent whose operator documents another dialect.
type misreadAgent struct {
	number int
	now    robots.Agent // in the dialect of Options
	own    robots.Agent // in the dialect of its operator
	texts  []atomic.Uint64
}

// NewMisread returns a Misread for those of the named agents whose operators document another dialect than d; nil if
// there are none. Its numbers of agents are indices in names.
func NewMisread(names []string, d robots.Dialect) (m *Misread) {
	for i, name := range names {
		if own, _, ok := robots.DocumentedAgent(name, d); ok {
			if m == nil {
				m = new(Misread)
			}
			m.agents = append(m.agents, misreadAgent{number: i, now: robots.NewAgent(name, d), own: own})
		}
	}
	return m
}

// Agents returns the numbers of the agents whose operators document another dialect, ascending.
func (m *Misread) Agents() (all []int) {
	if m != nil {
		for i := range m.agents {
			all = append(all, m.agents[i].number)
		}
	}
	return all
}

// SetTexts allocates memory for that many texts. It does nothing if m is nil.
func (m *Misread) SetTexts(texts int) {
	if m == nil {
		return
	}
	for i := range m.agents {
		m.agents[i].texts = make([]atomic.Uint64, (texts+63)/64)
	}
}

// FindMisread sets r.Misread to the agents that get other groups, with other rules, than their operators document;
// opt.Misread may be nil. rulesOf returns the rules of groups together, and its error is returned.
func (r *Ruling) FindMisread(f *robots.File, opt *Options, rulesOf func(groups []int) ([]robots.Rule, error)) (err error) {
	m := opt.Misread
	if m == nil {
		return nil
	}
	named := tokensOf(f)
	var last [2][]int // the groups compared last
	differ := false
	for i := range m.agents {
		a := &m.agents[i]
		if a.now.IgnoresStar == a.own.IgnoresStar && !named.includeAgent(a.own) {
			continue
		}
		now, own := f.Binding(a.now), f.Binding(a.own)
		if slices.Equal(now, own) {
			continue
		}
		if !slices.Equal(now, last[0]) || !slices.Equal(own, last[1]) {
			last = [2][]int{now, own}
			var rules [2][]robots.Rule
			for k := range last {
				if rules[k], err = rulesOf(last[k]); err != nil {
					return err
				}
			}
			differ = mayDiffer(rules[0], rules[1])
		}
		if differ {
			r.Misread = append(r.Misread, i)
		}
	}
	return nil
}

// mayDiffer reports whether some path may get different verdicts from the two lists of rules: at least one list
// disallows something, and the lists differ in more than their order and empty Allow rules.
func mayDiffer(own, others []robots.Rule) bool {
	var texts [2][]string
	denies := false
	for k, rules := range [2][]robots.Rule{own, others} {
		for _, r := range rules {
			denies = denies || !r.Allow
			if !r.Allow || r.Value != "" {
				texts[k] = append(texts[k], r.String())
			}
		}
		slices.Sort(texts[k])
		texts[k] = slices.Compact(texts[k])
	}
	return denies && !slices.Equal(texts[0], texts[1])
}

// AddText records the agents that a text binds by other groups, see Ruling.Misread.
func (m *Misread) AddText(text int, agents []int) {
	for _, i := range agents {
		m.agents[i].texts[text/64].Or(1 << (text % 64))
		m.found.Store(true)
	}
}

// Found reports whether some text has been added.
func (m *Misread) Found() bool { return m != nil && m.found.Load() }

// Has reports whether the text in force binds the agent with that index in Agents by other groups.
func (m *Misread) Has(i int, id RulingID) bool {
	text, ok := id.Text()
	return ok && id != Dated && m.agents[i].texts[text/64].Load()&(1<<(text%64)) != 0
}
