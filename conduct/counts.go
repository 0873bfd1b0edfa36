package conduct

import (
	"encoding/binary"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/internal/wire"
)

// counts are the numbers of a pair. All but answers leave impostors out.
type counts struct {
	answers     [ranges.NumAnswers]int64 // requests by who sent them
	bytes       int64
	first, last int64 // NoTime if no request has a time
	robots      int64 // requests of /robots.txt
	untimed     int64 // that the text forbids, without a time
	violations  int64
	fetched     int64 // when the first answer counted; NoTime is never
	newest      int64 // the delay of the newest text; noDelay is none
}

// newCounts returns the counts of no request.
func newCounts() counts { return counts{first: NoTime, last: NoTime, fetched: NoTime, newest: noDelay} }

// earlier returns the earlier of two moments.
func earlier(a, b int64) int64 {
	if a == NoTime || b != NoTime && b < a {
		return b
	}
	return a
}

// addCounts adds the counts of other requests of the pair.
func (c *counts) addCounts(o *counts) {
	for i, n := range o.answers {
		c.answers[i] += n
	}
	c.bytes += o.bytes
	c.first, c.last = earlier(c.first, o.first), max(c.last, o.last)
	c.robots += o.robots
	c.untimed += o.untimed
	c.violations += o.violations
	c.fetched = earlier(c.fetched, o.fetched)
	c.newest = max(c.newest, o.newest)
}

// append appends the counts to dst.
func (c *counts) append(dst []byte) []byte {
	for _, n := range c.answers {
		dst = binary.AppendVarint(dst, n)
	}
	for _, n := range [...]int64{c.bytes, c.first, c.last, c.robots, c.untimed, c.violations, c.fetched, c.newest} {
		dst = binary.AppendVarint(dst, n)
	}
	return dst
}

// readCounts reads the bytes that append wrote.
func readCounts(from *wire.Cursor) (c counts) {
	for i := range c.answers {
		c.answers[i] = from.Varint()
	}
	for _, n := range [...]*int64{&c.bytes, &c.first, &c.last, &c.robots, &c.untimed, &c.violations, &c.fetched, &c.newest} {
		*n = from.Varint()
	}
	return c
}
