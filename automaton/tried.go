package automaton

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// addPattern writes a pattern that is tried by itself: 3 bytes for its rank, and 2 bytes for the length of the
// segments and whether the last is at the end of the path; then, for each segment, its length and the position of
// its window, 1 byte each, and its bytes.
func (t *table) addPattern(p *ranked) {
	at := uint32(len(*t))
	t.addU24(uint32(p.rank))
	*t = append(*t, 0, 0)
	p.segments(func(seg string, _ bool) {
		*t = append(*t, byte(len(seg)), window(seg))
		*t = append(*t, seg...)
	})
	size := uint32(len(*t)) - at - patternHeader
	if p.End {
		size |= endBit
	}
	(*t)[at+3], (*t)[at+4] = byte(size), byte(size>>8)
}

// The limits of such a pattern.
const (
	// longSegment is the maximum length for which bytes.Index uses only vector instructions, in linear time for any
	// segment.
	longSegment = 63

	// longestSegment is the maximum length of a segment, because its length is one byte.
	longestSegment = 255

	// longRest is the maximum length of a Pattern.Rest that fits in a header; with the lengths and positions of its
	// segments it takes at most twice as much.
	longRest = endBit/2 - 1

	// endBit is set in the size of a pattern with an end anchor.
	endBit = 1 << 15
)

// A header is the rank and the size that table.addPattern writes before the segments, followed by three more bytes.
type header uint64

const patternHeader = 3 + 2

func (t table) headerAt(off uint32) header { return header(t.u64(off)) }

func (h header) ruleRank() Rank { return Rank(h & (1<<24 - 1)) }
func (h header) size() uint32   { return uint32(h>>24) & (endBit - 1) }
func (h header) atEnd() bool    { return h>>24&endBit != 0 }

// containsInOrder reports whether the segments from off to end occur in path in this order, without overlap.
func (t table) containsInOrder(off, end uint32, path []byte) bool {
	for off < end {
		seg := t.segmentAt(off)
		i := seg.firstIn(path)
		if i < 0 {
			return false
		}
		path = path[i+len(seg.text):]
		off += segmentHeader + uint32(len(seg.text))
	}
	return true
}

// containsAtEnd is like containsInOrder, but the last segment must be at the end of the path. There must be a segment.
func (t table) containsAtEnd(off, end uint32, path []byte) bool {
	for {
		seg := t.segmentAt(off)
		off += segmentHeader + uint32(len(seg.text))
		if off == end {
			return bytes.HasSuffix(path, seg.text)
		}
		i := seg.firstIn(path)
		if i < 0 {
			return false
		}
		path = path[i+len(seg.text):]
	}
}

// A segment is a floating segment of a pattern that is tried. It is not empty.
type segment struct {
	text   []byte
	window int // offset of the bytes to search for: printSize of them, or all if there are fewer
}

const segmentHeader = 1 + 1

// segmentAt returns the segment that table.addPattern wrote at off.
func (t table) segmentAt(off uint32) segment {
	text := off + segmentHeader
	return segment{t[text : text+uint32(t[off])], int(t[off+1])}
}

// maxMisses is how often a segment's window may be found without the segment, before the path is searched for the
// whole segment. So time stays linear in the path.
const maxMisses = 4

// firstIn returns the first position of the segment in path, or -1. It searches for the window of the segment, which
// the path usually lacks.
func (seg segment) firstIn(path []byte) int {
	from, window := 0, seg.text[seg.window:min(seg.window+printSize, len(seg.text))]
	for range maxMisses {
		last := len(path) - len(seg.text) // the last position where the segment fits
		if from > last {
			return -1
		}
		var i int
		if rest := path[from+seg.window : last+seg.window+len(window)]; len(window) == printSize {
			i = find(rest, window)
		} else {
			i = bytes.Index(rest, window)
		}
		if i < 0 {
			return -1
		}
		if from += i; string(path[from:from+len(seg.text)]) == string(seg.text) {
			return from
		}
		from++
	}
	var i int
	if rest := path[from:]; len(rest) < baitedLeast || len(seg.text) > longSegment {
		i = bytes.Index(rest, seg.text)
	} else {
		i = indexBaited(rest, seg.text)
	}
	if i < 0 {
		return -1
	}
	return from + i
}

const (
	// baitedLeast is the minimum length of a path that is searched by indexBaited.
	baitedLeast = 256

	// baits is the number of false starts given to bytes.Index: more than it tolerates on any processor.
	baits = 5

	// baitedPart is the number of positions of a path that are searched together.
	baitedPart = 512
)

// indexBaited is bytes.Index for a text of 2 to longSegment bytes, in linear time for any path. bytes.Index searches
// for the first byte and compares; it compares at each position with vector instructions only after too many of these
// comparisons have failed. So a text that nearly occurs, a little less often than that, takes three times as long. Here
// it switches at once: the path is copied behind baits, which are the first byte and a byte that the text lacks, so
// that no bait is a part of the text.
func indexBaited(path, text []byte) int {
	other := byte(0xff)
	for bytes.IndexByte(text, other) >= 0 {
		other--
	}
	var baited [2*baits + baitedPart + longSegment]byte
	for i := 0; i < 2*baits; i += 2 {
		baited[i], baited[i+1] = text[0], other
	}
	for at := 0; ; at += baitedPart {
		n := copy(baited[2*baits:], path[at:])
		if i := bytes.Index(baited[:2*baits+n], text); i >= 0 {
			return at + i - 2*baits
		}
		if at+n == len(path) {
			return -1
		}
	}
}

// findGeneric returns the first position of a window of printSize bytes in a path, or -1. It compares eight
// positions at once: a byte of x is zero where the window begins.
func findGeneric(path, window []byte) int {
	const word = 8
	last := len(path) - word - printSize + 1
	if last < 0 {
		return bytes.Index(path, window)
	}
	a, b, c := ones*uint64(window[0]), ones*uint64(window[1]), ones*uint64(window[2])
	for at := 0; ; at = min(at+word, last) {
		text := (*[word + printSize - 1]byte)(path[at:])
		x := binary.LittleEndian.Uint64(text[:]) ^ a
		x |= binary.LittleEndian.Uint64(text[1:]) ^ b
		x |= binary.LittleEndian.Uint64(text[2:]) ^ c
		if zero := (x - ones) &^ x & (ones << 7); zero != 0 {
			return at + bits.TrailingZeros64(zero)/8
		}
		if at == last {
			return -1
		}
	}
}

// window returns the offset of the bytes of a segment that are rarest in paths: printSize bytes, or all if there
// are fewer.
func window(seg string) (at byte) {
	most := -1
	for i := 0; i+printSize <= len(seg); i++ {
		rare := int(rarity[seg[i]]) + int(rarity[seg[i+1]]) + int(rarity[seg[i+2]])
		if rare > most {
			at, most = byte(i), rare
		}
	}
	return at
}

// rarity orders bytes by how many paths contain them, counted in 366,373 paths of a crawl: 91 % contain an "n", 8 %
// an "x". Bytes that are not listed are rarer.
var rarity = func() (order [256]uint8) {
	const common = "/eastnior-cldupmghfby02v1wk.345987j6x_zqACSOTRPIFEDN?=ML%BH&GUW"
	for b := range order {
		order[b] = uint8(len(common))
	}
	for i := range len(common) {
		order[common[i]] = uint8(i)
	}
	return order
}()
