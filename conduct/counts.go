package conduct

import (
	"encoding/binary"
	"slices"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/internal/wire"
)

// counts are the numbers of a pair. All except answers exclude impostors.
type counts struct {
	answers     [ranges.NumAnswers]int64 // requests by who sent them
	bytes       int64
	first, last int64 // NoTime if no request has a time
	robots      int64 // requests of /robots.txt
	untimed     int64 // that the text disallows, without a time
	violations  int64
	fetched     answersOf
	newest      int64 // the delay of the newest text; noDelay if it has no delay
}

// answersOf are the responses to a crawler that count.
type answersOf struct {
	first        [impossible + 1]int64 // time of the first response of each fit; NoTime if there is none
	gave, denied int64                 // responses with a text while a text is in force, and responses without one
	moved        int64                 // redirects of /robots.txt
	requests     int64                 // number of requests for any URL; set when the pair is sent
}

// noteAnswer counts the response of an event, which must be a fetch. isText reports whether a text is in force.
func (a *answersOf) noteAnswer(e *event, isText bool) {
	a.first[e.fit] = earlier(a.first[e.fit], e.at)
	switch {
	case e.fit == denies:
		a.denied++
	case isText && e.kind == gotText:
		a.gave++
	}
}

// addAnswers adds the responses to other requests of the same crawler at the same origin.
func (a *answersOf) addAnswers(o *answersOf) {
	for i, at := range o.first {
		a.first[i] = earlier(a.first[i], at)
	}
	a.gave += o.gave
	a.denied += o.denied
	a.moved += o.moved
	a.requests += o.requests
}

// append appends the encoded responses to dst, for readAnswers.
func (a *answersOf) append(dst []byte) []byte {
	for _, at := range a.first {
		dst = binary.AppendVarint(dst, at)
	}
	for _, n := range [...]int64{a.gave, a.denied, a.moved, a.requests} {
		dst = binary.AppendVarint(dst, n)
	}
	return dst
}

// readAnswers reads the bytes that answersOf.append wrote. The caller must check the cursor for errors.
func readAnswers(from *wire.Cursor) (a answersOf) {
	for i := range a.first {
		a.first[i] = from.Varint()
	}
	for _, n := range [...]*int64{&a.gave, &a.denied, &a.moved, &a.requests} {
		*n = from.Varint()
	}
	return a
}

// any reports whether there is a response.
func (a *answersOf) any() bool {
	return slices.ContainsFunc(a.first[:], func(at int64) bool { return at != NoTime })
}

// known returns the time of the crawler's first response whose size fits the text in force; NoTime if there is
// none. A response that confirms a copy counts unless the crawler got a different text before it. bodies is as in
// judge.
func (a *answersOf) known(bodies bool) int64 {
	f := &a.first
	first, other := earlier(earlier(f[unsized], f[denies]), f[fits]), f[impossible]
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

// newCounts returns counts without requests.
func newCounts() counts {
	var a answersOf
	for i := range a.first {
		a.first[i] = NoTime
	}
	return counts{first: NoTime, last: NoTime, fetched: a, newest: noDelay}
}

// earlier returns the earlier of two times.
func earlier(a, b int64) int64 {
	if a == NoTime || b != NoTime && b < a {
		return b
	}
	return a
}

// addBytes returns the sum of two non-negative numbers of bytes, at most [MostBytes].
func addBytes(a, b int64) int64 {
	if b > MostBytes-a {
		return MostBytes
	}
	return a + b
}

// append appends the encoded counts to dst, for item.piece.
func (c *counts) append(dst []byte) []byte {
	for _, n := range c.answers {
		dst = binary.AppendVarint(dst, n)
	}
	for _, n := range [...]int64{c.bytes, c.first, c.last, c.robots, c.untimed, c.violations, c.newest} {
		dst = binary.AppendVarint(dst, n)
	}
	return c.fetched.append(dst)
}
