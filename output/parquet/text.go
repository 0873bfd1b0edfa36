package parquet

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/robobatch/robobatch/internal/prefix"
)

// A textCutter divides texts into the prefix shared with the previous text and the rest, for the encoding
// DELTA_BYTE_ARRAY. It reuses its memory.
type textCutter struct {
	shared []int64 // for each text, the length of the prefix shared with the previous one
	rest   []int64 // for each text, the length of the rest
}

// fewShared is the minimum share of bytes in shared prefixes, as 1/16. With less, PLAIN is used, because
// DELTA_BYTE_ARRAY is slower to read. URLs in random order share 1/7 of their bytes: DELTA_BYTE_ARRAY then takes 0.87×
// the time of PLAIN, and as many bytes. URLs grouped by host share 2/3.
const fewShared = 16

// texts appends the texts of a page, which are given in PLAIN, to dst, and sets stats. It uses DELTA_BYTE_ARRAY
// if deltas is set and the texts share enough bytes, and PLAIN otherwise. In the page, the bytes of texts begin at
// head.
func (c *textCutter) texts(dst, plain []byte, deltas bool, stats *statistics) (page []byte, head int, _ parquet.Encoding) {
	shared := c.cutTexts(plain, stats)
	if !deltas || shared == 0 || shared*fewShared < len(plain)-4*len(c.shared) {
		return append(dst, plain...), len(dst), parquet.Encodings.Plain
	}
	dst = appendDeltas(appendDeltas(dst, c.shared), c.rest)
	return c.appendRests(dst, plain), len(dst), parquet.Encodings.DeltaByteArray
}

// appendRests appends the rest of each text that cut divided. plain is the same as in the call of cut.
func (c *textCutter) appendRests(dst, plain []byte) []byte {
	const short = 32 // for speed, short rests are copied as 32 bytes; the next copy overwrites the excess
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

// cutTexts divides the texts: it sets c.shared and c.rest, adds the minimum and maximum to stats, and returns the total
// length of shared prefixes.
func (c *textCutter) cutTexts(plain []byte, stats *statistics) (all int) {
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

// textBounds are the minimum and maximum of some texts. Most texts need no comparison, because the length of the prefix
// that they share with the previous text decides.
type textBounds struct {
	least, most         []byte
	withLeast, withMost int // length of the prefix that the last text shares with each
}

// begin adds the first text, and refers to its memory.
func (b *textBounds) begin(text []byte) {
	*b = textBounds{least: text, most: text, withLeast: len(text), withMost: len(text)}
}

// widen adds a text that shares n bytes with the previous text, last. If last shares fewer bytes with a bound, both
// texts are on the same side of the bound.
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

// compareAfter compares a text with a bound, with the help of the previous text, last. last shares n bytes with the
// text, and boundShared bytes with the bound, where n <= boundShared. The results are the length of the prefix that
// text and bound share, and -1, 0 or 1 if the text is less than, equal to or greater than the bound.
func compareAfter(bound, last, text []byte, boundShared, n int) (shared, order int) {
	other := last // equal to the bound up to the byte where text differs
	if n == boundShared {
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
