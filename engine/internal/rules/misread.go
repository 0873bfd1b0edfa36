package rules

import (
	"slices"
	"sync/atomic"

	"github.com/robobatch/robobatch/robots"
)

// Misread are the texts in which agents of Options are bound by other groups than the documentation of their operators
// chooses. nil is for no such agent. It is safe for concurrent use once it has its texts.
type Misread struct {
	agents []misreadAgent
	found  atomic.Bool // there is such a text
}

// A misreadAgent is an agent whose operator documents another dialect.
type misreadAgent struct {
	number int
	now    robots.Agent // by the dialect of Options
	own    robots.Agent // by that of its operator
	texts  []atomic.Uint64
}

// NewMisread returns the agents of some names whose operators document another dialect; nil if there is none.
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

// Agents returns the numbers of these agents, ascending.
func (m *Misread) Agents() (all []int) {
	if m != nil {
		for i := range m.agents {
			all = append(all, m.agents[i].number)
		}
	}
	return all
}

// SetTexts makes room for so many texts.
func (m *Misread) SetTexts(texts int) {
	if m == nil {
		return
	}
	for i := range m.agents {
		m.agents[i].texts = make([]atomic.Uint64, (texts+63)/64)
	}
}

// of returns the indices of the agents that the groups of a text bind otherwise.
func (m *Misread) of(f *robots.File) (all []int) {
	if m == nil {
		return nil
	}
	named := tokensOf(f)
	for i := range m.agents {
		a := &m.agents[i]
		if a.now.IgnoresStar == a.own.IgnoresStar && !named.have(a.own) {
			continue
		}
		if !slices.Equal(f.Binding(a.now), f.Binding(a.own)) {
			all = append(all, i)
		}
	}
	return all
}

// FindMisread finds the agents of Options that the groups of the text bind otherwise.
func (r *Ruling) FindMisread(f *robots.File, opt *Options) { r.Misread = opt.Misread.of(f) }

// AddText notes the agents that a text binds otherwise, see Ruling.Misread.
func (m *Misread) AddText(text int, agents []int) {
	for _, i := range agents {
		m.agents[i].texts[text/64].Or(1 << (text % 64))
		m.found.Store(true)
	}
}

// Found reports whether some text has been added.
func (m *Misread) Found() bool { return m != nil && m.found.Load() }

// Has reports whether the text in force binds the agent with that index in Agents otherwise.
func (m *Misread) Has(i int, id RulingID) bool {
	text, ok := id.Text()
	return ok && id != Dated && m.agents[i].texts[text/64].Load()&(1<<(text%64)) != 0
}
