package engine

import "github.com/robobatch/robobatch/robots"

// held is what of a pack under a limit of memory is still needed of a batch once its verdicts are there: the names of its
// sites, and the rules that decided. The sites' rules may be dropped meanwhile, and need not be loaded again for that.
type held struct {
	origins map[SiteID]robots.Origin
	rules   map[heldRule]robots.Rule
}

// A heldRule names a rule as a verdict does.
type heldRule struct {
	site  SiteID // of Batch.Rulings
	agent int32
	rule  int32
}

// reset empties h and keeps its memory.
func (h held) reset() held {
	clear(h.origins)
	clear(h.rules)
	return h
}

// hold keeps what is needed of the site of a row of b after its verdicts. It does nothing where rules stay in memory.
func (m *Lookup) hold(b *Batch, row int, verdicts []Verdict) {
	if m.store.pack != nil && m.store.pack.sites == nil {
		m.holdSite(b, row, verdicts)
	}
}

func (m *Lookup) holdSite(b *Batch, row int, verdicts []Verdict) {
	m.holdOrigin(b, b.Sites[row])
	id := b.Rulings()[row]
	site := m.Site(id)
	for a, v := range verdicts {
		a = b.agent(row, a)
		key := heldRule{id, int32(a), v.Rule}
		if _, known := b.held.rules[key]; known || v.Rule == NoRule {
			continue
		}
		b.held.rules[key] = site.Rules[a].Rule(v.Rule)
	}
}

// holdOrigin keeps the name of a site for b. It does nothing where sites stay in memory.
func (m *Lookup) holdOrigin(b *Batch, id SiteID) {
	if m.store.pack == nil || m.store.pack.sites != nil {
		return
	}
	if b.held.origins == nil {
		b.held = held{map[SiteID]robots.Origin{}, map[heldRule]robots.Rule{}}
	}
	if _, known := b.held.origins[id]; !known {
		b.held.origins[id] = m.Site(id).Origin
	}
}

// Use makes the Lookup look first at what the batch still knows of the store. It holds until the batch is reset.
func (m *Lookup) Use(b *Batch) { m.held = b.held }

// Origin returns the name of a site.
func (m *Lookup) Origin(id SiteID) robots.Origin {
	if o, ok := m.held.origins[id]; ok {
		return o
	}
	return m.Site(id).Origin
}
