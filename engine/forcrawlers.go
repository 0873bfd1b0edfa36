package engine

import (
	"bytes"

	"github.com/robobatch/robobatch/robots"
)

// A counted is the result of ForCrawlers if it differs from the batch itself.
type counted struct {
	batch    *Batch // nil until it is needed
	verdicts [2][]Verdict
	changes  []Change
	isMade   bool
	isOther  bool
}

// reset makes the next call of ForCrawlers compute its result again.
func (c counted) reset() counted {
	c.isMade, c.isOther = false, false
	return c
}

// ForCrawlers returns the batch for counting disallowed requests of crawlers. Requests for a robots.txt are never
// disallowed there, whatever the rules and the dialect say, because a crawler has to fetch it. Such a row is
// allowed, with ReasonRobotsTxt. If there is no such row, the result is b; otherwise it shares the memory of b. It
// is valid until the next Reset.
func (b *Batch) ForCrawlers() *Batch {
	c := &b.crawlers
	if !c.isMade {
		c.isMade = true
		c.allowTxt(b)
	}
	if c.isOther {
		return c.batch
	}
	return b
}

// allowTxt allows the disallowed requests for robots.txt in a copy of the batch. If there are none, it makes no copy,
// and c.isOther stays false.
func (c *counted) allowTxt(b *Batch) {
	n := b.Len()
	if n == 0 {
		return
	}
	agents := len(b.Verdicts) / n
	old, stores := b.oldBatch(), 1
	if old != nil {
		stores = 2
	}
	for row := range n {
		if !denies(b.Verdicts[row*agents:][:agents]) && (old == nil || !denies(old.Verdicts[row*agents:][:agents])) || !b.IsTxt(row) {
			continue
		}
		if !c.isOther {
			c.copy(b, old)
		}
		for i := row * agents; i < (row+1)*agents; i++ {
			for _, verdicts := range c.verdicts[:stores] {
				if verdicts[i].Access == Denied {
					verdicts[i] = Verdict{NoRule, ReasonRobotsTxt, Allowed}
					if old != nil {
						c.changes[i] = Same
					}
				}
			}
		}
	}
}

// copy makes c.batch a copy of b, which shares all columns except the verdicts and changes. old is the batch of
// the old store, or nil.
func (c *counted) copy(b, old *Batch) {
	c.isOther = true
	if c.batch == nil {
		c.batch = new(Batch)
	}
	before := c.batch.Old
	*c.batch = *b
	c.batch.crawlers = counted{isMade: true}
	c.verdicts[0] = append(c.verdicts[0][:0], b.Verdicts...)
	c.batch.Verdicts = c.verdicts[0]
	if old == nil {
		return
	}
	if before == nil || before == old {
		before = new(Batch)
	}
	*before = *old
	c.verdicts[1] = append(c.verdicts[1][:0], old.Verdicts...)
	c.changes = append(c.changes[:0], b.Changes...)
	before.Verdicts, c.batch.Old, c.batch.Changes = c.verdicts[1], before, c.changes
}

// IsTxt reports whether the URL of a row names a robots.txt. It is false for a bad URL.
func (b *Batch) IsTxt(row int) bool {
	url := b.URL(row)
	authority := bytes.IndexByte(url, ':') + len("://")
	if authority > len(url) {
		return false
	}
	slash := bytes.IndexByte(url[authority:], '/')
	if slash < 0 || !bytes.HasPrefix(url[authority+slash:], txtPath) { // nearly always
		return false
	}
	u, err := robots.SplitURL(url)
	return err == nil && robots.IsTxt(u.Path)
}

var txtPath = []byte(robots.TxtPath)

// oldBatch returns the old store's batch, or nil.
func (b *Batch) oldBatch() *Batch {
	if b.Old == nil || len(b.Changes) == 0 {
		return nil
	}
	return b.Old
}

// crawlerOf returns the crawler of a row with LogAgents, and the batch that names it: b, or the old store's batch if
// only the old robots.txt names the crawler.
func (b *Batch) crawlerOf(row int) (agent uint32, by *Batch) {
	if agent = b.Agents[row]; agent == unknownAgent {
		if old := b.oldBatch(); old != nil {
			return old.Agents[row], old
		}
	}
	return agent, b
}
