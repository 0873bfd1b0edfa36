package conduct

import (
	"encoding/binary"
	"slices"

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
	fetched     answersOf
	newest      int64 // the delay of the newest text; noDelay if it has no delay
}

// answersOf are the answers of a crawler that count.
type answersOf struct {
	first        [misfits + 1]int64 // when it had the first of each fit; NoTime is never
	gave, denied int64              // how many gave a text where one is in force, and how many said that there is none
	moved        int64              // redirects of /robots.txt
	requests     int64              // of anything, set where the pair is sent
}

// note notes the answer of an event. isText reports whether a text is in force.
func (a *answersOf) note(e *event, isText bool) {
	a.first[e.fit] = earlier(a.first[e.fit], e.at)
	switch {
	case e.fit == denies:
		a.denied++
	case isText && e.kind == gotText:
		a.gave++
	}
}

// addAnswers adds those to other requests of the crawler.
func (a *answersOf) addAnswers(o *answersOf) {
	for i, at := range o.first {
		a.first[i] = earlier(a.first[i], at)
	}
	a.gave += o.gave
	a.denied += o.denied
	a.moved += o.moved
	a.requests += o.requests
}

// append appends them to dst.
func (a *answersOf) append(dst []byte) []byte {
	for _, at := range a.first {
		dst = binary.AppendVarint(dst, at)
	}
	for _, n := range [...]int64{a.gave, a.denied, a.moved, a.requests} {
		dst = binary.AppendVarint(dst, n)
	}
	return dst
}

// readAnswers reads the bytes that append wrote.
func readAnswers(from *wire.Cursor) (a answersOf) {
	for i := range a.first {
		a.first[i] = from.Varint()
	}
	for _, n := range [...]*int64{&a.gave, &a.denied, &a.moved, &a.requests} {
		*n = from.Varint()
	}
	return a
}

// any reports whether there is an answer.
func (a *answersOf) any() bool {
	return slices.ContainsFunc(a.first[:], func(at int64) bool { return at != NoTime })
}

// known returns when the crawler first had an answer that no bytes contradict. One that confirms a copy is such an answer
// unless another text came before it. bodies is as in judge.
func (a *answersOf) known(bodies bool) int64 {
	f := &a.first
	first, other := earlier(earlier(f[unsized], f[denies]), f[fits]), f[misfits]
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
	var a answersOf
	for i := range a.first {
		a.first[i] = NoTime
	}
	return counts{first: NoTime, last: NoTime, fetched: a, newest: noDelay}
}

// earlier returns the earlier of two moments.
func earlier(a, b int64) int64 {
	if a == NoTime || b != NoTime && b < a {
		return b
	}
	return a
}

// addBytes returns the sum of counts of bytes, which are not negative: [MostBytes] if it is greater.
func addBytes(a, b int64) int64 {
	if b > MostBytes-a {
		return MostBytes
	}
	return a + b
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
