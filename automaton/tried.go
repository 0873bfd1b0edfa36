package automaton

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// addPattern writes a pattern that is tried: 3 bytes for its rank, 2 for how long the segments are and
// whether the last is at the end of the path, and of each segment its length and the place of its
// window, 1 byte each, and the bytes.
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

// The limits of a pattern that is tried.
const (
	// longSegment is the longest segment that bytes.Index searches only with vector instructions, in time linear in the
	// path for any segment.
	longSegment = 63

	// longestSegment is the longest for whose length there is room.
	longestSegment = 255

	// longRest is the longest Pattern.Rest that a header has room for; with its segments' lengths
	// and places it takes at most twice that.
	longRest = endBit/2 - 1

	// endBit marks a pattern with an end anchor, beside its size.
	endBit = 1 << 15
)

// A header is the rank and the size that table.addPattern writes before the segments, and three bytes
// more.
type header uint64

const patternHeader = 3 + 2

func (t table) headerAt(off uint32) header { return header(t.u64(off)) }

func (h header) ruleRank() Rank { return Rank(h & (1<<24 - 1)) }
func (h header) size() uint32   { return uint32(h>>24) & (endBit - 1) }
func (h header) atEnd() bool    { return h>>24&endBit != 0 }

// follow reports whether the segments at off, up to end, occur in path one after the other.
func (t table) follow(off, end uint32, path []byte) bool {
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

// endsWith is follow for a pattern with an end anchor: the last segment is at the end of the path.
func (t table) endsWith(off, end uint32, path []byte) bool {
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

// A segment is a floating segment of a pattern that is tried. It has at least one byte.
type segment struct {
	text   []byte
	window int // where the bytes begin that the search uses: printSize, or all if it has fewer
}

const segmentHeader = 1 + 1

// segmentAt returns the segment at off, as table.addPattern writes it.
func (t table) segmentAt(off uint32) segment {
	text := off + segmentHeader
	return segment{t[text : text+uint32(t[off])], int(t[off+1])}
}

// maxMisses is how often a segment's window may be found without the segment, before the path is
// searched for all of it: so that time stays linear in the path.
const maxMisses = 4

// firstIn returns where the segment first occurs in path, or -1. Mostly the path lacks the window.
func (seg segment) firstIn(path []byte) int {
	from, window := 0, seg.text[seg.window:min(seg.window+printSize, len(seg.text))]
	for range maxMisses {
		last := len(path) - len(seg.text) // where the segment can still be
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
	// baitedLeast is the least of a path that is searched by indexBaited.
	baitedLeast = 256

	// baits is how often bytes.Index is misled: on each processor more often than it bears.
	baits = 5

	// baitedPart is the number of places of a path that are searched together.
	baitedPart = 512
)

// indexBaited is bytes.Index for a text of 2 to longSegment bytes, in linear time whatever the path
// is. bytes.Index looks for the first byte and compares, until that was in vain once in eight
// bytes of the path; only then it compares at each place, by vector instructions. So a text that
// nearly occurs a little less often takes three times as long. Here it is misled at once: the path
// is copied behind baits, the first byte and one that the text lacks, so that no bait is a part of
// the text.
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

// findGeneric returns where a window of printSize bytes first occurs in a path, or -1. It compares eight
// places at once: a byte of x is zero where the window begins.
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

// window returns where the bytes of a segment begin that paths are expected to have least:
// printSize, or all if it has fewer.
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

// rarity orders bytes by how many paths have them, counted in 366,373 paths of a crawl: 91 % have
// an "n", 8 % an "x". Bytes that are not listed are rarer still.
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
