package engine

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Busy is the number of busiest origins without rules that Stats names.
const Busy = 3

// A BusyOrigin is an origin and the number of its rows.
type BusyOrigin struct {
	Origin string // "" if unused
	Rows   int64
}

// A tally counts rows by origin, using hashes of the origins' names. Each origin takes 22 to 43 bytes. It is for
// one goroutine.
//
// If it reaches its limit, it keeps only origins whose hashes begin with a number of zero bits, as small as
// possible. The result is the same however the rows are divided among tallies that are merged.
type tally struct {
	slots []slot // a hash table, linearly probed; its length is 0 or a power of two
	count int    // slots in use
	most  int    // maximum of count; 0 means no limit
	zeros int    // number of zero bits that the kept hashes begin with
}

// A slot is an origin of a tally.
type slot struct {
	hash uint64 // 0 if the slot is free
	rows int64
}

// hashOrigin returns the hash of a name, which is never 0.
func hashOrigin(name []byte) uint64 { return max(1, xxh3.Hash(name)) }

// addRows counts rows of an origin.
func (t *tally) addRows(hash uint64, rows int64) {
	if !t.keeps(hash) {
		return
	}
	if 4*t.count >= 3*len(t.slots) {
		t.grow()
	}
	s := t.find(hash)
	if s.hash == 0 {
		s.hash = hash
		t.count++
	}
	s.rows += rows
	for t.most > 0 && t.count > t.most {
		t.halve()
	}
}

// keeps reports whether the tally keeps an origin.
func (t *tally) keeps(hash uint64) bool { return bits.LeadingZeros64(hash) >= t.zeros }

// halve drops about half of the origins.
func (t *tally) halve() {
	old := t.slots
	t.slots, t.count = make([]slot, len(old)), 0
	t.zeros++
	for _, s := range old {
		if s.hash != 0 && t.keeps(s.hash) {
			*t.find(s.hash) = s
			t.count++
		}
	}
}

// origins returns the number of origins, and whether that is an estimate.
func (t *tally) origins() (n int64, about bool) { return int64(t.count) << t.zeros, t.zeros > 0 }

// rows returns the rows of an origin, if the tally keeps it.
func (t *tally) rows(hash uint64) (rows int64, ok bool) {
	if t.count == 0 || !t.keeps(hash) {
		return 0, false
	}
	return t.find(hash).rows, true
}

// find returns the slot of a hash, or the free slot for it. One of them always exists.
func (t *tally) find(hash uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == hash || s.hash == 0 {
			return s
		}
	}
}

// grow doubles the table.
func (t *tally) grow() {
	old := t.slots
	t.slots = make([]slot, max(64, 2*len(old)))
	for _, s := range old {
		if s.hash != 0 {
			*t.find(s.hash) = s
		}
	}
}

// merge adds the counts of another tally, which must have the same limit.
func (t *tally) merge(o *tally) {
	for t.zeros < o.zeros {
		t.halve()
	}
	for _, s := range o.slots {
		if s.hash != 0 {
			t.addRows(s.hash, s.rows)
		}
	}
}
