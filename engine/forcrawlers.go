package engine

import (
	"bytes"
	"slices"

	"github.com/robobatch/robobatch/robots"
)

// A counted is the batch that ForCrawlers returns, if that is another than the one that was decided.
type counted struct {
	batch    *Batch // nil if none was needed yet
	verdicts [2][]Verdict
	changes  []Change
	isMade   bool
	isOther  bool
}

// reset has the next call of ForCrawlers look again.
func (c counted) reset() counted {
	c.isMade, c.isOther = false, false
	return c
}

// ForCrawlers returns the batch as those count it who ask which requests of crawlers are disallowed: that
// of a robots.txt itself never is, since a crawler has to fetch it, whatever its rules and the dialect say.
// Such a row is allowed for ReasonRobotsTxt. The result is b if it has no such row; it shares the memory of
// b, and is valid until the next Reset.
func (b *Batch) ForCrawlers() *Batch {
	c := &b.crawlers
	if !c.isMade {
		c.isMade = true
		c.make(b)
	}
	if c.isOther {
		return c.batch
	}
	return b
}

// make looks for rows to change, and changes them in a copy.
func (c *counted) make(b *Batch) {
	n := b.Len()
	if n == 0 {
		return
	}
	agents := len(b.Verdicts) / n
	old := b.compared()
	for row := range n {
		if !deniesAny(b.Verdicts[row*agents:][:agents]) && (old == nil || !deniesAny(old.Verdicts[row*agents:][:agents])) || !b.IsTxt(row) {
			continue
		}
		if !c.isOther {
			c.copy(b, old)
		}
		c.allow(row*agents, agents)
	}
}

// copy makes the copy.
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

// allow allows verdicts on a robots.txt, so many from one on. Nothing changed for those who may always
// fetch it.
func (c *counted) allow(first, n int) {
	for i := first; i < first+n; i++ {
		isCompared := len(c.batch.Changes) > 0
		if isCompared && (c.verdicts[0][i].Access == Denied || c.verdicts[1][i].Access == Denied) {
			c.changes[i] = Same
		}
		allowTxt(&c.verdicts[0][i])
		if isCompared {
			allowTxt(&c.verdicts[1][i])
		}
	}
}

// allowTxt allows a robots.txt that a verdict denies.
func allowTxt(v *Verdict) {
	if v.Access == Denied {
		*v = Verdict{NoRule, ReasonRobotsTxt, Allowed}
	}
}

// deniesAny reports whether a verdict denies.
func deniesAny(verdicts []Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Access == Denied })
}

// IsTxt reports whether the URL of a row names a robots.txt.
func (b *Batch) IsTxt(row int) bool {
	url := b.URL(row)
	authority := bytes.IndexByte(url, ':') + len("://")
	if authority > len(url) {
		return false
	}
	slash := bytes.IndexByte(url[authority:], '/')
	if slash < 0 || !bytes.HasPrefix(url[authority+slash:], txtPath) { // nearly all
		return false
	}
	u, err := robots.SplitURL(url)
	return err == nil && robots.IsTxt(u.Path)
}

var txtPath = []byte(robots.TxtPath)

// compared returns the old store's batch, nil if there is none.
func (b *Batch) compared() *Batch {
	if b.Old == nil || len(b.Changes) == 0 {
		return nil
	}
	return b.Old
}

// crawler returns the crawler of a row with LogAgents, and the batch that knows it: if the store's robots.txt does not
// name the crawler, the old robots.txt decides.
func (b *Batch) crawler(row int) (agent uint32, by *Batch) {
	if agent = b.Agents[row]; agent == unknownAgent {
		if old := b.compared(); old != nil {
			return old.Agents[row], old
		}
	}
	return agent, b
}
