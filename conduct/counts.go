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
	fetched     firstAnswers
	newest      int64 // the delay of the newest text; noDelay is none
}

// firstAnswers are when a crawler first had an answer that counts, by its fit; NoTime is never.
type firstAnswers [misfits + 1]int64

// noAnswers returns those of a crawler that never had one.
func noAnswers() firstAnswers {
	return firstAnswers{NoTime, NoTime, NoTime, NoTime, NoTime}
}

// addAnswers adds those to other requests of the crawler.
func (f *firstAnswers) addAnswers(o *firstAnswers) {
	for i, at := range o {
		f[i] = earlier(f[i], at)
	}
}

// append appends them to dst.
func (f *firstAnswers) append(dst []byte) []byte {
	for _, at := range f {
		dst = binary.AppendVarint(dst, at)
	}
	return dst
}

// readAnswers reads the bytes that append wrote.
func readAnswers(from *wire.Cursor) (f firstAnswers) {
	for i := range f {
		f[i] = from.Varint()
	}
	return f
}

// known returns when the crawler first had an answer that no bytes contradict. One that confirms a copy is such an answer
// unless another text came before it. bodies is as in [Options].
func (f *firstAnswers) known(bodies bool) int64 {
	first, other := earlier(f[unsized], f[fits]), f[misfits]
	if bodies {
		other = earlier(other, f[fitsHeaders])
	} else {
		first = earlier(first, f[fitsHeaders])
	}
	if other == NoTime || f[confirms] <= other {
		first = earlier(first, f[confirms])
	}
	return first
}

// newCounts returns the counts of no request.
func newCounts() counts {
	return counts{first: NoTime, last: NoTime, fetched: noAnswers(), newest: noDelay}
}

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
	c.fetched.addAnswers(&o.fetched)
	c.newest = max(c.newest, o.newest)
}

// append appends the counts to dst.
func (c *counts) append(dst []byte) []byte {
	for _, n := range c.answers {
		dst = binary.AppendVarint(dst, n)
	}
	for _, n := range [...]int64{c.bytes, c.first, c.last, c.robots, c.untimed, c.violations, c.newest} {
		dst = binary.AppendVarint(dst, n)
	}
	return c.fetched.append(dst)
}

// readCounts reads the bytes that append wrote.
func readCounts(from *wire.Cursor) (c counts) {
	for i := range c.answers {
		c.answers[i] = from.Varint()
	}
	for _, n := range [...]*int64{&c.bytes, &c.first, &c.last, &c.robots, &c.untimed, &c.violations, &c.newest} {
		*n = from.Varint()
	}
	c.fetched = readAnswers(from)
	return c
}
