package engine

import (
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/singleflight"

	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// A loadBuffer is the memory of one loading.
type loadBuffer struct {
	record   pack.Buffer
	resolver *resolver
	text     []byte
	rules    []byte
}

// flight has each text loaded by one goroutine at a time.
type flight = singleflight.Group

// An outcomeCode is what is in force for a site, in 4 bytes: 0 if that is not known yet, then the effects and causes in
// place of rules, then, from maxFixed on, the number of a text.
type outcomeCode uint32

const (
	maxFixed  = 64
	causeBits = 3 // so that 1 + effect<<causeBits + cause is less than maxFixed
)

func (o *packOutcome) code() outcomeCode {
	if o.Effect == robots.UseRules {
		return maxFixed + outcomeCode(o.text)
	}
	return 1 + outcomeCode(o.Effect)<<causeBits + outcomeCode(o.Cause)
}

// text returns the number of the text that is in force, if it is one.
func (c outcomeCode) text() (int, bool) { return int(c) - maxFixed, c >= maxFixed }

// outcome returns the outcome, which is not that of a text.
func (c outcomeCode) outcome() robots.Outcome {
	c--
	return robots.Outcome{Effect: robots.Effect(c >> causeBits), Cause: robots.Cause(c & (1<<causeBits - 1))}
}

// find returns the site of an origin; ok is false if nothing is in force for it.
func (p *packStore) find(origin []byte) (id SiteID, ok bool) {
	lo, hi := p.file.Candidates(pack.Site, origin)
	for ; lo < hi; lo++ {
		if site := p.siteNamed(SiteID(lo), origin); site != nil {
			return SiteID(lo), p.times || site.Rules != nil
		}
	}
	return 0, false
}

// locate is find under a limit of memory: what is in force for the origin is found out and remembered, but rules are not
// loaded.
func (p *packStore) locate(origin []byte) (id SiteID, ok bool) {
	if p.times {
		return p.find(origin)
	}
	b := p.buffers.Get().(*loadBuffer)
	defer p.buffers.Put(b)
	lo, hi := p.file.Candidates(pack.Site, origin)
	for ; lo < hi; lo++ {
		id = SiteID(lo)
		record, err := b.record.Read(p.file, pack.Site, lo)
		if err != nil {
			p.fail(err)
			return id, true
		}
		if string(record.Name) != string(origin) {
			continue
		}
		code := outcomeCode(p.outcomes[id].Load())
		if code == 0 {
			if code, err = p.outcome(id, record, robots.Origin(origin), b); err != nil {
				p.fail(err)
				return id, true
			}
		}
		_, isText := code.text()
		return id, isText || code.outcome().Effect != robots.NoRecord
	}
	return 0, false
}

// rules returns the site of that number, or what is in force for sites by its outcomeCode, without a name if it is known what is
// in force.
func (p *packStore) rules(id SiteID) *Site {
	if !p.times && int(id) < len(p.outcomes) {
		if site := p.ruling(outcomeCode(p.outcomes[id].Load())); site != nil {
			return site
		}
	}
	return p.site(id)
}

// origin returns the name of the site of that number.
func (p *packStore) origin(id SiteID) robots.Origin {
	b := p.buffers.Get().(*loadBuffer)
	defer p.buffers.Put(b)
	record, err := b.record.Read(p.file, pack.Site, uint32(id))
	if err != nil {
		p.fail(err)
		return ""
	}
	return robots.Origin(record.Name)
}

// siteNamed returns the site of that number if it has that name, and otherwise nil.
func (p *packStore) siteNamed(id SiteID, origin []byte) *Site {
	if p.sites != nil {
		if site := p.sites[id].Load(); site != nil {
			if string(site.Origin) != string(origin) {
				return nil
			}
			return site
		}
	}
	return p.load(id, origin)
}

// site returns the site of that number, or, behind the last of them, what is in force for sites by its outcomeCode.
func (p *packStore) site(id SiteID) *Site {
	if int(id) < len(p.sites) {
		if site := p.sites[id].Load(); site != nil {
			return site
		}
	}
	if n := p.file.Sites(); int(id) >= n {
		return p.ruling(outcomeCode(int(id) - n))
	}
	return p.load(id, nil)
}

// load reads a site. It returns nil if the site has another name than the given one, if that is not empty, and a site
// without rules if nothing is in force for it.
func (p *packStore) load(id SiteID, name []byte) *Site {
	b := p.buffers.Get().(*loadBuffer)
	defer p.buffers.Put(b)
	record, err := b.record.Read(p.file, pack.Site, uint32(id))
	if err != nil {
		p.fail(err)
		return p.broken
	}
	if len(name) > 0 && string(record.Name) != string(name) {
		return nil
	}
	site := &Site{Origin: robots.Origin(record.Name)}
	if p.times {
		changes, err := p.changes(record, site.Origin, b)
		if err != nil {
			p.fail(err)
			return p.broken
		}
		site.more = &siteMore{changes: changes}
		return p.keep(id, site)
	}
	code, err := p.outcome(id, record, site.Origin, b)
	if err != nil {
		p.fail(err)
		return p.broken
	}
	if number, ok := code.text(); ok {
		t, err := p.text(number, b)
		if err != nil {
			p.fail(err)
			return p.broken
		}
		site.Rules, site.Firsts, site.more, site.size = t.Rules, t.Firsts, t.more, t.size
	} else if o := code.outcome(); o.Effect != robots.NoRecord {
		site.Rules, site.Firsts = p.fixed[code].Rules, p.oneRuleset
	}
	return p.keep(id, site)
}

// keep keeps a site, unless there is a limit.
func (p *packStore) keep(id SiteID, site *Site) *Site {
	if p.sites != nil {
		p.sites[id].Store(site)
	}
	return site
}

// outcome returns what is in force for a site.
func (p *packStore) outcome(id SiteID, record *pack.Record, origin robots.Origin, b *loadBuffer) (outcomeCode, error) {
	if p.outcomes != nil {
		if code := outcomeCode(p.outcomes[id].Load()); code != 0 {
			return code, nil
		}
	}
	o, err := b.resolver.outcome(record, origin, p.asOf)
	if err != nil {
		return 0, err
	}
	code := o.code()
	if p.outcomes != nil {
		p.outcomes[id].Store(uint32(code))
	}
	return code, nil
}

// text returns what a text says to the agents.
func (p *packStore) text(number int, b *loadBuffer) (*loadedText, error) {
	if p.texts != nil {
		if t := p.texts[number].Load(); t != nil {
			return t, nil
		}
		t, err := p.readText(number, b)
		if err == nil && !p.texts[number].CompareAndSwap(nil, t) {
			t = p.texts[number].Load() // another goroutine has been faster
		}
		return t, err
	}
	if t, ok := p.cache.Get(uint64(number)); ok && t.number == number {
		return t, nil
	}
	v, err, _ := p.flight.Do(strconv.Itoa(number), func() (any, error) {
		t, err := p.readText(number, b)
		if err == nil {
			p.cache.Set(uint64(number), t, t.size)
		}
		return t, err
	})
	if err != nil {
		return nil, err
	}
	return v.(*loadedText), nil
}

// readText reads a text from the file.
func (p *packStore) readText(number int, b *loadBuffer) (t *loadedText, err error) {
	if b.text, err = p.file.Chunk(b.text[:0], p.file.Text(number)); err != nil {
		return nil, err
	}
	c := pack.NewCursor(b.text)
	readKey(&c)
	const overhead = 256 // of the loadedText, and of the cache for it
	t = &loadedText{Site: Site{Rules: make([]*Ruleset, len(p.agents)), size: overhead + 8*int64(len(p.agents))}, number: number}
	switch form := c.Byte(); {
	case form == formSource && !c.Bad():
		err = p.compileText(t, c.Rest())
	case form == formCompiled:
		err = p.decodeText(t, &c, b)
	default:
		err = errText
	}
	if err != nil {
		return nil, err
	}
	t.Firsts = firstAgents(t.Rules)
	t.size += 2 * int64(len(t.Firsts))
	p.count(t)
	return t, nil
}

// compileText compiles a text that is stored as it is written.
func (p *packStore) compileText(t *loadedText, body []byte) error {
	var c compiledText
	if err := c.compile(body, p.agents, p.dialect); err != nil {
		return err
	}
	t.Rules = c.rules
	for a, rs := range t.Rules {
		if int(c.firsts[a]) == a {
			t.size += rs.footprint()
		}
	}
	if p.cleans {
		t.setClean(cleanParams(body, p.dialect))
	}
	return nil
}

// decodeText reads a compiled text: for each agent the rules of the groups that bind it.
func (p *packStore) decodeText(t *loadedText, c *pack.Cursor, b *loadBuffer) error {
	groups := readGroups(c)
	all := readSelections(c)
	if p.cleans {
		t.setClean(readCleans(c, p.dialect))
	}
	if c.Bad() || p.cleans && !c.Done() {
		return errText
	}
	bounds := make([][]int, len(p.agents)) // the groups of each agent
	for a, agent := range p.agents {
		bound := groups.Binding(agent)
		bounds[a] = bound
		if len(bound) == 0 {
			t.Rules[a] = p.noGroup
			continue
		}
		i := slices.IndexFunc(all, func(s selection) bool { return slices.Equal(s.groups, bound) })
		if i < 0 {
			return fmt.Errorf("%w: no rules for an agent", errText)
		}
		if before := slices.IndexFunc(bounds[:a], func(other []int) bool { return slices.Equal(other, bound) }); before >= 0 {
			t.Rules[a] = t.Rules[before]
			continue
		}
		if err := p.readRules(t, a, all[i].ref, b); err != nil {
			return err
		}
	}
	return nil
}

// readRules reads the rules for an agent.
func (p *packStore) readRules(t *loadedText, agent int, ref pack.Ref, b *loadBuffer) (err error) {
	if b.rules, err = p.file.Chunk(b.rules[:0], ref); err != nil {
		return err
	}
	if t.Rules[agent], err = decodeRuleset(b.rules); err == nil {
		t.size += t.Rules[agent].footprint()
	}
	return err
}

// setClean notes the clean-param lines of a text.
func (t *loadedText) setClean(clean robots.CleanParams) {
	if len(clean) > 0 {
		t.more = &siteMore{clean: clean}
	}
}

// count adds a text to what is in memory, unless it was there before.
func (p *packStore) count(t *loadedText) {
	bit := uint64(1) << (t.number % 64)
	if p.counted[t.number/64].Or(bit)&bit != 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory.Files++
	for a, rs := range t.Rules {
		if int(t.Firsts[a]) == a {
			p.memory.add(rs)
		}
	}
}
