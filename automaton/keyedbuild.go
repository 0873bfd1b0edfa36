package automaton

import (
	"cmp"
	"math/bits"
	"slices"
)

// A keyEntry is what is filed of a pattern.
type keyEntry struct {
	hash   int32 // of the key; -1 if there is none
	number uint32
	needs  uint64 // threeBit of each three bytes of the segments
}

// tableKeyed writes patterns of descending rank, filed under their keys.
func (b *builder) tableKeyed(pats []ranked) {
	log := min(maxKeyedLog, max(0, bits.Len(uint(len(pats)-1))-1))
	entries := keyEntries(pats, log)
	words := 1 << log
	filter, first := make([]uint64, words), make([]uint16, 0, len(pats)+1)
	for i, e := range entries {
		if e.hash >= 0 && (i == 0 || e.hash != entries[i-1].hash) {
			filter[e.hash>>6] |= 1 << (e.hash & 63)
			first = append(first, uint16(i))
		}
	}
	b.table = append(b.table, 0, byte(log))
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
	for _, e := range entries {
		b.table = b.table.appendU64(e.needs).appendU16(e.number)
	}
	offsets := uint32(len(b.table))
	b.table = append(b.table, make(table, 3*len(pats))...)
	for i := range pats {
		b.table.putU24(offsets+3*uint32(i), uint32(len(b.table)))
		b.pattern(&pats[i])
	}
}

// keyEntries returns an entry for each pattern, in the order of the hashes of their keys.
func keyEntries(pats []ranked, log int) []keyEntry {
	count := make([]uint16, 64<<log)
	for i := range pats {
		threes(pats[i].Rest, func(_ int, product uint32) { count[hash(product)&uint32(len(count)-1)]++ })
	}
	entries := make([]keyEntry, len(pats))
	for i := range pats {
		entries[i] = keyOf(pats[i].Rest, count)
		entries[i].number = uint32(i)
	}
	slices.SortFunc(entries, func(x, y keyEntry) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.number, y.number))
	})
	return entries
}

// threes calls yield for each three bytes in a row of a segment, with where the last of them is and
// their product with keyHash.
func threes(rest string, yield func(at int, product uint32)) {
	star := -1
	for i := range len(rest) {
		if rest[i] == '*' {
			star = i
		}
		if i-star >= 3 {
			key := uint32(rest[i-2])<<24 | uint32(rest[i-1])<<16 | uint32(rest[i])<<8
			yield(i, key*keyHash)
		}
	}
}

// keyOf returns the entry of the key that paths are expected to have least, given how many patterns have each hash.
func keyOf(rest string, count []uint16) keyEntry {
	least, e := 1<<30, keyEntry{hash: -1}
	threes(rest, func(at int, product uint32) {
		e.needs |= threeBit(product)
		h := hash(product) & uint32(len(count)-1)
		if cost := common(rest[at-2]) * common(rest[at-1]) * common(rest[at]) * int(count[h]); cost < least {
			least, e.hash = cost, int32(h)
		}
	})
	return e
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
