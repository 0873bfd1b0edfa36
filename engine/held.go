package engine

import (
	"cmp"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// held is what of a pack under a limit of memory is still needed of a batch once its verdicts are there: the names of its
// sites, and the rules that decided. The sites' rules may be dropped meanwhile, and need not be loaded again for that. Where
// that is too much it lacks some, which are loaded again.
type held struct {
	origins map[SiteID]robots.Origin
	rules   map[heldRule]heldText
	size    int64 // bytes of rules
	most    int64 // that they may have; 0 is what a store gives that knows nothing of others
}

// A heldRule names a rule as a verdict does.
type heldRule struct {
	site  SiteID // of Batch.Rulings
	agent int32
	rule  int32
}

// A heldText is a rule, with its Value or without. It shares no memory with the rules of its site.
type heldText struct {
	robots.Rule
	hasText bool
}

// heldOverhead is the bytes of a rule that is held, without its Value: some 100 in the map.
const heldOverhead = 128

// reset empties h and keeps its memory.
func (h held) reset() held {
	clear(h.origins)
	clear(h.rules)
	h.size = 0
	return h
}

// add holds a rule: half of what there may be is for rules with their Value, and the rest for others.
func (h *held) add(key heldRule, r robots.Rule, most int64) {
	size := heldOverhead + int64(len(r.Value))
	hasText := h.size+size <= most/2
	if hasText {
		r.Value = strings.Clone(r.Value)
	} else {
		r.Value, size = "", heldOverhead
	}
	if h.size+size <= most {
		h.size += size
		h.rules[key] = heldText{r, hasText}
	}
}

// hold keeps what is needed of the site of a row of b after its verdicts. It does nothing where rules stay in memory.
func (m *Lookup) hold(b *Batch, row int, verdicts []Verdict) {
	if m.store.forgets() {
		m.holdSite(b, row, verdicts)
	}
}

func (m *Lookup) holdSite(b *Batch, row int, verdicts []Verdict) {
	m.holdOrigin(b, b.Sites[row])
	id := b.Rulings()[row]
	for a, v := range verdicts {
		a = b.agent(row, a)
		key := heldRule{id, int32(a), v.Rule}
		if _, known := b.held.rules[key]; known || v.Rule == NoRule {
			continue
		}
		b.held.add(key, m.Site(id).Rules[a].Rule(v.Rule), cmp.Or(b.held.most, m.store.share(unknownHolders)))
	}
}

// holdOrigin keeps the name of a site for b. It does nothing where sites stay in memory.
func (m *Lookup) holdOrigin(b *Batch, id SiteID) {
	if !m.store.forgets() {
		return
	}
	if _, known := b.held.origins[id]; !known {
		m.holdName(b, id, m.store.pack.origin(id))
	}
}

// holdName is holdOrigin of a site whose name is known.
func (m *Lookup) holdName(b *Batch, id SiteID, name robots.Origin) {
	if b.held.origins == nil {
		b.held.origins, b.held.rules = map[SiteID]robots.Origin{}, map[heldRule]heldText{}
	}
	b.held.origins[id] = name
}

// holdFound is holdOrigin of a site that was found by its name.
func (m *Lookup) holdFound(b *Batch, id SiteID, name []byte) {
	if !m.store.forgets() {
		return
	}
	if _, known := b.held.origins[id]; !known {
		m.holdName(b, id, robots.Origin(name))
	}
}

// Use makes the Lookup look first at what the batch still knows of the store. It holds until the batch is reset.
func (m *Lookup) Use(b *Batch) { m.held = b.held }

// Origin returns the name of a site.
func (m *Lookup) Origin(id SiteID) robots.Origin {
	if o, ok := m.held.origins[id]; ok {
		return o
	}
	if m.store.forgets() {
		return m.store.pack.origin(id)
	}
	return m.Site(id).Origin
}
