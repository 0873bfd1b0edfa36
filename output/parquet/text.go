package parquet

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/robobatch/robobatch/internal/prefix"
)

// A textCutter cuts texts into the start shared with the one before and the rest, for the encoding
// DELTA_BYTE_ARRAY. Its memory is used again.
type textCutter struct {
	shared []int64 // length of the beginning that a text shares with the one before
	rest   []int64 // length of the rest
}

// fewShared says when texts share too little for DELTA_BYTE_ARRAY, which is slower to read: if it is
// less than one byte in so many. In random order, URLs share one in seven: that takes 0.87 of the
// time of PLAIN and as many bytes. Grouped by host they share two of three.
const fewShared = 16

// texts appends the texts of a page, which are in PLAIN, and describes them in stats. Unless deltas may be used the encoding is PLAIN. The bytes of dst beside text, that is
// levels and lengths, ends at head.
func (c *textCutter) texts(dst, plain []byte, deltas bool, stats *statistics) (page []byte, head int, _ parquet.Encoding) {
	shared := c.cut(plain, stats)
	if !deltas || shared == 0 || shared*fewShared < len(plain)-4*len(c.shared) {
		return append(dst, plain...), len(dst), parquet.Encodings.Plain
	}
	dst = appendDeltas(appendDeltas(dst, c.shared), c.rest)
	return c.appendRests(dst, plain), len(dst), parquet.Encodings.DeltaByteArray
}

// appendRests appends the rest of each text.
func (c *textCutter) appendRests(dst, plain []byte) []byte {
	const short = 32 // is copied whole, and the next copy writes over the excess
	at := len(dst)
	dst = slices.Grow(dst, len(plain)+short)
	dst = dst[:cap(dst)]
	for i, n := range c.rest {
		start := 4 + int(c.shared[i])
		if n <= short && start+short <= len(plain) {
			*(*[short]byte)(dst[at:]) = *(*[short]byte)(plain[start:])
		} else {
			copy(dst[at:], plain[start:start+int(n)])
		}
		at += int(n)
		plain = plain[start+int(n):]
	}
	return dst[:at]
}

// cut fills the cutter, and returns how many bytes texts share.
func (c *textCutter) cut(plain []byte, stats *statistics) (all int) {
	c.shared, c.rest = c.shared[:0], c.rest[:0]
	var last []byte
	var bounds textBounds
	for first := true; len(plain) > 0; first = false {
		end := 4 + int(binary.LittleEndian.Uint32(plain))
		text := plain[4:end:end]
		plain = plain[end:]
		n := prefix.Shared(last, text)
		c.shared, c.rest = append(c.shared, int64(n)), append(c.rest, int64(len(text)-n))
		all += n
		if first {
			bounds.begin(text)
		} else {
			bounds.widen(last, text, n)
		}
		last = text
	}
	if len(c.rest) > 0 {
		stats.some, stats.texts = true, [2][]byte{bounds.least, bounds.most}
		stats.keepTexts()
	}
	return all
}

// textBounds are the least and the greatest of some texts. They are found nearly without comparing
// any, from the length each text shares with the one before it.
type textBounds struct {
	least, most         []byte
	withLeast, withMost int // bytes that the last text shares with each
}

// begin adds the first text, and keeps a reference to its memory.
func (b *textBounds) begin(text []byte) {
	*b = textBounds{least: text, most: text, withLeast: len(text), withMost: len(text)}
}

// widen widens the bounds to a text that shares its first n bytes, and no more, with the last one. Where these are
// more than the last one shares with a bound, the text is on the same side of it.
func (b *textBounds) widen(last, text []byte, n int) {
	if n <= b.withMost {
		var order int
		if b.withMost, order = compareAfter(b.most, last, text, b.withMost, n); order > 0 {
			b.most, b.withMost = text, len(text)
		}
	}
	if n <= b.withLeast {
		var order int
		if b.withLeast, order = compareAfter(b.least, last, text, b.withLeast, n); order < 0 {
			b.least, b.withLeast = text, len(text)
		}
	}
}

// compareAfter compares a text with a bound, and returns the length they share, and -1, 0 or 1. The last
// text shares with bytes with the bound; text shares n with the last one, which are no more.
func compareAfter(bound, last, text []byte, with, n int) (shared, order int) {
	other := last // as the bound, where text differs from it
	if n == with {
		n += prefix.Shared(bound[n:], text[n:])
		other = bound
	}
	switch {
	case n == len(text) && n == len(other):
		return n, 0
	case n == len(text) || n < len(other) && text[n] < other[n]:
		return n, -1
	}
	return n, 1
}
