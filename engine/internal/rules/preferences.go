package rules

import (
	"encoding/binary"
	"sync"

	"github.com/robobatch/robobatch/internal/preference"
	"github.com/robobatch/robobatch/robots"
)

// textPreferences are the preferences of a text for the agents of Options and for other agents that it names. The
// sets of the latter are made when a row needs them. It is safe for concurrent use.
type textPreferences struct {
	dialect robots.Dialect
	notes   [robots.NumSources]*robots.Notes // by source; nil if the text has no such line
	file    robots.File                      // the groups for each source
	byAgent []*preference.Set                // by agent of Options; nil means no preferences

	mu    sync.Mutex
	named map[int]*preference.Set    // by agent
	lists map[string]*preference.Set // by the groups that bind an agent
	size  int64                      // bytes of the sets in lists
	most  int64                      // maximum of size: above that all are dropped, and made again when needed
}

// SetPreferences compiles the preferences among r.Notes for the agents of Options, and adds the most memory that they
// can take to r.Size. Call it after SetNotes and SetNamed.
func (r *Ruling) SetPreferences(opt *Options) (err error) {
	p := &textPreferences{dialect: opt.Dialect}
	for i := range r.Notes {
		if source := robots.SourceOf(r.Notes[i].Directive); source < robots.NumSources {
			p.notes[source], r.preferences = &r.Notes[i], p
			if len(r.Notes[i].Groups) > 0 {
				p.file.Groups = r.Notes[i].Groups
			}
		}
	}
	if r.preferences == nil {
		return nil
	}
	none := new(preference.Set) // not nil, because ForAgents treats nil as a set that does not exist yet
	p.byAgent, err = ForAgents(&p.file, opt.Agents, func(_ robots.Agent, groups []int) (*preference.Set, error) {
		set, err := p.compileFor(groups)
		if set == nil {
			return none, err
		}
		r.Size += set.Size()
		return set, err
	})
	for i, set := range p.byAgent {
		if set == none {
			p.byAgent[i] = nil
		}
	}
	r.Size += 8 * int64(len(p.byAgent))
	if r.named != nil {
		p.named, p.lists = map[int]*preference.Set{}, map[string]*preference.Set{}
		p.most = 64 * int64(len(r.named.ends))
		for _, n := range p.notes {
			for i := 0; n != nil && i < len(n.Lines); i++ {
				const perByte, perLine = 8, 256
				p.most += perByte*int64(len(n.Lines[i].Value)) + perLine
			}
		}
		r.Size += p.most
	}
	return err
}

// compileFor compiles the lines that bind an agent with these groups. The Set is nil if there are none.
func (p *textPreferences) compileFor(groups []int) (*preference.Set, error) {
	var bound robots.Bound
	for source, n := range p.notes {
		if n == nil {
			continue
		}
		for _, note := range n.OfGroups(groups) {
			bound[source] = append(bound[source], robots.Source(source).Statement(note, p.dialect))
		}
	}
	return preference.Compile(&bound)
}

// HasPreferences reports whether the text has preferences for any agent.
func (r *Ruling) HasPreferences() bool { return r != nil && r.preferences != nil }

// Preferences returns the preferences for an agent of Options, or for one that FindNamed returned; nil if it has none.
// It compiles those of the latter when they are first needed, and reports an error to Options.Fail.
func (r *Ruling) Preferences(agent int) *preference.Set {
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
		if set, err = p.compileFor(groups); err != nil {
			r.named.fail(err)
			return nil
		}
		const entry = 64
		p.size += set.Size() + entry
		if p.size > p.most {
			clear(p.named)
			clear(p.lists)
			p.size = set.Size() + entry
		}
		p.lists[string(key)] = set
	}
	p.named[agent] = set
	return set
}
