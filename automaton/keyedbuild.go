package automaton

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// A keyEntry is what is filed of a pattern.
type keyEntry struct {
	hash   int32 // of the key; -1 if there is none
	number uint32
	needs  uint64 // keyBit of what the path must have
}

// A filing is how patterns are filed under keys, and which bytes these are.
type filing struct {
	log, set, shape, end byte
	entries              []keyEntry
}

// tableKeyed writes patterns of descending rank, filed under their keys.
func (b *builder) tableKeyed(pats []ranked) {
	f := fileKeys(pats)
	words := 1 << f.log
	filter, first := make([]uint64, words), make([]uint16, 0, len(pats)+1)
	for i, e := range f.entries {
		if e.hash >= 0 && (i == 0 || e.hash != f.entries[i-1].hash) {
			filter[e.hash>>6] |= 1 << (e.hash & 63)
			first = append(first, uint16(i))
		}
	}
	b.table = append(b.table, 0, f.log, f.set, f.shape, f.end)
	b.table = b.table.appendU16(uint32(len(first))).appendU24(uint32(pats[0].rank))
	for _, word := range filter {
		b.table = b.table.appendU64(word)
	}
	before := 0
	for _, word := range filter {
		b.table = b.table.appendU16(uint32(before))
		before += bits.OnesCount64(word)
	}
	for _, i := range append(first, uint16(len(pats))) {
		b.table = b.table.appendU16(uint32(i))
	}
	for _, e := range f.entries {
		b.table = b.table.appendU64(e.needs).appendU16(e.number)
	}
	offsets := uint32(len(b.table))
	b.table = append(b.table, make(table, 3*len(pats))...)
	for i := range pats {
		b.table.putU24(offsets+3*uint32(i), uint32(len(b.table)))
		b.pattern(&pats[i])
	}
}

// fileKeys files patterns in the way that is expected to cost paths least.
func fileKeys(pats []ranked) *filing {
	f := &filing{log: byte(min(maxKeyedLog, max(0, bits.Len(uint(len(pats)-1))-1))), end: endBytes(pats)}
	f.set, f.shape = chooseKeys(pats)
	count := make([]uint16, 64<<f.log)
	for i := range pats {
		f.keys(&pats[i], func(key uint64, _ keyUse) { count[f.hash(key)]++ })
	}
	f.entries = make([]keyEntry, len(pats))
	for i := range pats {
		f.entries[i] = f.entry(&pats[i], count)
		f.entries[i].number = uint32(i)
	}
	slices.SortFunc(f.entries, func(x, y keyEntry) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.number, y.number))
	})
	return f
}

// endBytes returns how many bytes the last segments have that are at the end of the path, up to what a window has: those of the
// shortest; 0 if there are none.
func endBytes(pats []ranked) (n byte) {
	for i := range pats {
		if p := &pats[i]; p.End {
			size := byte(min(windowSize-1, len(p.Rest)-1-strings.LastIndexByte(p.Rest, '*')))
			if n == 0 || size < n {
				n = size
			}
		}
	}
	return n
}

func (f *filing) hash(key uint64) uint32 { return hash(key*keyHash) & (64<<f.log - 1) }

// entry returns the entry of the key that paths are expected to have least, given how many patterns have each hash.
func (f *filing) entry(p *ranked, count []uint16) keyEntry {
	e, least := keyEntry{hash: -1}, math.Inf(1)
	f.keys(p, func(key uint64, use keyUse) {
		if use&needed != 0 {
			e.needs |= keyBit(key * keyHash)
		}
		if use&lookedUp == 0 {
			return
		}
		h := f.hash(key)
		if cost := likelihood(key) * float64(count[h]); cost < least {
			least, e.hash = cost, int32(h)
		}
	})
	return e
}

// A keyUse says what a pattern's key serves for.
type keyUse uint8

const (
	lookedUp keyUse = 1 << iota // the pattern may be filed under it
	needed                      // a path that lacks it is known to do so
)

// keys calls yield for each key that a pattern's segments have.
func (f *filing) keys(p *ranked, yield func(key uint64, use keyUse)) {
	shape, set := &keyShapes[f.shape], delimiterSets[f.set]
	p.segments(func(seg string, last bool) {
		atEnd := last && p.End
		for i := range len(seg) {
			var use keyUse
			if strings.IndexByte(set, seg[i]) >= 0 {
				use = lookedUp | needed
			} else if seg[i] == '/' {
				use = needed
			} else {
				continue
			}
			w, known := windowOf(seg, i, atEnd)
			for _, mask := range [...]uint64{shape.next, shape.last, shape.short} {
				if mask == shape.short {
					use &= lookedUp
				}
				if mask&^known == 0 {
					yield(w&mask, use)
				}
			}
		}
		if atEnd {
			w, _ := windowOf(seg, len(seg)-(windowSize-1-windowBefore), true)
			yield(w&endMask(f.end), lookedUp)
		}
	})
}

// windowOf returns the window of a place of a segment, and a mask of the bytes that are known of it: if the segment is at
// the end of the path, these are also the zeros behind it.
func windowOf(seg string, at int, atEnd bool) (w, known uint64) {
	for i := range windowSize {
		switch j := at - windowBefore + i; {
		case j >= 0 && j < len(seg):
			w |= uint64(seg[j]) << (8 * i)
			known |= 0xff << (8 * i)
		case j >= len(seg) && atEnd:
			known |= 0xff << (8 * i)
		}
	}
	return w, known
}

// likelihood is a coarse measure of how often paths have a key.
func likelihood(key uint64) float64 {
	p := 1.0
	for ; key != 0; key >>= 8 {
		if b := byte(key); b != 0 {
			p *= float64(common(b)) / 64
		}
	}
	return p
}

// common is a coarse measure of how often paths have a byte.
func common(b byte) int {
	switch {
	case b == '/' || b == 'e' || b == 'a' || b == 't' || b == 'i' || b == 's' || b == 'o' || b == 'r' || b == 'n':
		return 12
	case 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '-' || b == '.':
		return 7
	case b == '_' || b == '%':
		return 5
	}
	return 2
}
