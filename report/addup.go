package report

import (
	"slices"

	"github.com/robobatch/robobatch/aggregate"
)

// The groups of a [aggregate.Sampler]: that of all URLs, of crawlers, of kinds and of outcomes.
const (
	firstAgent   = 1
	firstKind    = 1 << 17
	firstOutcome = 1 << 24
)

// hasOne reports whether a URL has one kind: then it is new for that where it is new at all.
func (c *Counter) hasOne() bool { return !c.fromLog && !c.byTime }

// see tells that a crawler asked for a URL.
func (c *Counter) see(agent uint16, url uint64) {
	if c.hasOne() {
		return
	}
	if c.urls.Take(&c.whole.Sample, url) > 0 {
		c.new(&c.whole.Tally, aggregate.Entry{Sample: &c.whole.Sample, URL: url})
	}
	if of := c.agents; c.fromLog && c.urls.Take(&of[agent].Sample, url) > 0 {
		c.new(&of[agent].Tally, aggregate.Entry{Sample: &of[agent].Sample, Group: firstAgent + uint32(agent), URL: url})
	}
}

// new tells of a URL that may be new in a group.
func (c *Counter) new(of *aggregate.Tally, e aggregate.Entry) {
	if c.entries, c.of = append(c.entries, e), append(c.of, of); len(c.entries) == leaving {
		c.addNew()
	}
}

// addNew adds the URLs that may be new.
func (c *Counter) addNew() {
	c.urls.Add(c.entries)
	for i, of := range c.of {
		of.Add(0, c.entries[i].New)
	}
	c.entries, c.of = c.entries[:0], c.of[:0]
}

// leave adds up what is counted by URL and by path.
func (c *Counter) leave(b *batch) {
	order := c.order.bySite(b.all)
	for _, n := range order {
		if r := &b.all[n]; r.alone {
			r.did = c.ruled.meet(&c.kinds.all[r.kind], r.kind, b.url(r), int(r.prefix))
		}
	}
	for _, n := range order {
		r := &b.all[n]
		k := &c.kinds.all[r.kind]
		if !r.alone {
			k.held.add(&r.counts)
			if r.did >= 0 {
				c.ruled.all[r.did].rows += r.counts.rows
			}
			c.see(r.agent, r.hash)
			r.isURL, r.stands = c.urls.Take(k.urlsIn, r.hash) > 0, 1
		} else if r.did >= 0 {
			c.ruled.all[r.did].meet(int64(r.stands))
		}
		if r.stands > 0 {
			c.leavePath(b.url(r), r, k)
		}
		if !r.isURL {
			continue
		}
		of, url := &k.urls, aggregate.Entry{Sample: k.urlsIn, URL: r.hash}
		if !c.hasOne() {
			url.Group = firstKind + uint32(r.kind)
		}
		if r.did >= 0 {
			e := &c.ruled.all[r.did]
			of = &e.urls
			if c.fromLog && len(e.outcomes) > 0 { // which other crawlers have as well
				of, url.Group = &e.outcomes[0].Tally, firstOutcome+e.outcomes[0].Number
			}
		}
		c.new(of, url)
	}
	c.addNew() // encounters may move
}

// leaveFew adds up the requests that are not in the table.
func (c *Counter) leaveFew() {
	c.leave(&c.few)
	c.few.reset()
}

// leavePath adds up what is counted by path.
func (c *Counter) leavePath(url []byte, r *request, k *kind) {
	stands := int64(r.stands)
	v := visit{rows: r.counts.rows * stands, site: r.site, by: c.visit.by}
	v.denied = int64(k.denies) * v.rows
	if stands > 1 {
		v.told, v.variance = v.rows, float64(v.rows*(stands-1))
	} else {
		c.bySite(r.site).denied += v.denied
	}
	v.by = c.denials.verdicts(v.by, k.answer, v.rows)
	c.tree.add(url, int(r.prefix), &v)
	c.visit.by = v.by
}

// add adds n rows of a crawler.
func (p *parted) add(isOther bool, n int64) {
	if isOther {
		p.others += n
	} else {
		p.own += n
	}
}

// isOther reports whether an agent stands for clients that are no known crawlers.
func (c *Counter) isOther(agent uint16) bool { return c.fromLog && agent == 0 }

// finish ends the count. Nothing may be written after it.
func (c *Counter) finish() {
	if c.isDone {
		return
	}
	c.isDone = true
	c.leaveFew()
	for some := range slices.Chunk(c.requested.all, leaving) {
		c.leave(&batch{all: some, text: c.requested.text})
	}
	c.ruled.settle(c.kinds.all)
	all, denied := counts{}, int64(0)
	for i := range c.kinds.all {
		k := &c.kinds.all[i]
		sum := k.sum()
		all.add(&sum)
		denied += int64(k.denies) * sum.rows
		if k.denies > 0 {
			c.deniedServed.add(c.isOther(k.agent), sum.served)
		}
		if int(k.denies) < c.verdicts {
			c.allowedFailed.add(c.isOther(k.agent), sum.failed)
		}
		if c.fromLog {
			c.agents[k.agent].Add(sum.rows, 0)
		}
		if c.hasOne() {
			c.whole.Join(&k.urls)
		}
	}
	if c.whole.Add(all.rows, 0); c.hasOne() {
		for i := range c.ruled.all {
			c.whole.Join(&c.ruled.all[i].urls)
		}
	}
	c.denied = denied
	c.tree.settle(all.rows, denied, c.sites, c.elsewhere)
}
