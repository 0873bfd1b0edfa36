package automaton

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// An indexEntry is what an index has of a pattern.
type indexEntry struct {
	hash   uint32
	number uint32
	needs  uint64
}

// index writes patterns of descending rank as an index.
func (b *builder) index(pats []ranked) {
	masks := indexPrints(pats)
	log := max(0, bits.Len(uint(len(pats)-1))-2)
	entries := indexEntries(pats, masks, uint32(64<<log-1))
	filter, first := make([]uint64, 1<<log), make([]uint16, 0, len(pats)+1)
	for i, e := range entries {
		if i == 0 || e.hash != entries[i-1].hash {
			filter[e.hash>>6] |= 1 << (e.hash & 63)
			first = append(first, uint16(i))
		}
	}
	b.table = append(b.table, 0)
	b.u24(uint32(pats[0].rank))
	b.table = append(append(b.table, masks[:]...), byte(log))
	b.u16(len(first))
	b.u16(len(pats))
	for _, word := range filter {
		b.u64(word)
	}
	before := 0
	for _, word := range filter {
		b.u16(before)
		before += bits.OnesCount64(word)
	}
	for _, i := range append(first, uint16(len(pats))) {
		b.u16(int(i))
	}
	for _, e := range entries {
		b.u64(e.needs)
		b.u16(int(e.number))
	}
	b.patterns(pats)
}

// indexEntries returns the entries of patterns in the order of their hashes. Only the bits of mask
// count in a hash.
func indexEntries(pats []ranked, masks *[masksSize]byte, mask uint32) []indexEntry {
	entries, keys, count := make([]indexEntry, len(pats)), make([]filedKeys, len(pats)), make([]uint16, mask+1)
	for i := range pats {
		entries[i].number = uint32(i)
		keys[i], entries[i].needs = pats[i].keys(masks)
		for _, k := range keys[i].all[:keys[i].n] {
			count[k.hash()&mask]++
		}
	}
	for i := range entries {
		least := ^uint16(0)
		for _, k := range keys[i].all[:keys[i].n] { // that which fewest others may be filed under
			if h := k.hash() & mask; count[h] < least {
				least, entries[i].hash = count[h], h
			}
		}
	}
	slices.SortFunc(entries, func(x, y indexEntry) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.number, y.number))
	})
	return entries
}

// A filedKeys is the first keys that a pattern may be filed under, one at least.
type filedKeys struct {
	all [2]key
	n   int
}

func (f *filedKeys) add(k key) {
	if f.n < len(f.all) {
		f.all[f.n] = k
		f.n++
	}
}

// endPrint stands for the fingerprint of a pattern that is filed under the end of the path.
const endPrint fingerprint = 1<<32 - 1

// hasEnd reports whether a pattern gives the last eight bytes of the paths that it matches.
func (p *ranked) hasEnd() bool {
	return p.End && len(p.Rest)-1-strings.LastIndexByte(p.Rest, '*') >= windowSize
}

// keys returns the keys that a pattern may be filed under: those where it has its fingerprint, or
// that of the end; and what it needs, see key.bits.
func (p *ranked) keys(masks *[masksSize]byte) (filed filedKeys, needs uint64) {
	wanted := p.print.window()
	if p.print == endPrint {
		filed.add(keyAtEnd(binary.LittleEndian.Uint64([]byte(p.Rest[len(p.Rest)-windowSize:]))))
	}
	p.windows(func(w, known uint64) {
		if known&windowAhead == windowAhead {
			a, b, c := byte(w>>24), byte(w>>32), byte(w>>40)
			if a == '/' || bucketsOf(masks, a, b, c) != 0 {
				needs |= keyAhead(w).bits()
			}
		}
		if w&windowPrint != wanted || p.print == endPrint {
			return
		}
		if known&windowAhead == windowAhead {
			filed.add(keyAhead(w))
		}
		if known&windowBehind == windowBehind {
			filed.add(keyBehind(w))
		}
	})
	return filed, needs
}

// windows calls yield for each place of a pattern's segments where all bytes of a fingerprint are
// known: with the window there, and with a mask of its bytes that are known. Behind a segment at the
// end of the path they are zeros.
func (p *ranked) windows(yield func(w, known uint64)) {
	p.segments(func(seg string, last bool) {
		w, known := uint64(0), uint64(0)
		for i := range len(seg) + windowSize {
			w, known = w>>8, known>>8
			if i < len(seg) {
				w |= uint64(seg[i]) << 56
			}
			if i < len(seg) || last && p.End {
				known |= 0xff << 56
			}
			if at := i - (windowSize - windowBefore - 1); at >= 0 && at < len(seg) && known&windowPrint == windowPrint {
				yield(w, known)
			}
		}
	})
}

// window returns the bytes of a window at a place that has the fingerprint.
func (f fingerprint) window() uint64 {
	return uint64(byte(f>>24))<<24 | uint64(byte(f>>16))<<32 | uint64(byte(f>>8))<<40
}
