package engine

import "github.com/zeebo/xxh3"

// Busy is how many of the busiest origins without rules Stats names.
const Busy = 3

// A BusyOrigin is an origin and the number of its rows.
type BusyOrigin struct {
	Origin string // "" is none
	Rows   int64
}

// A tally counts rows by origin, by the hashes of their names. Each origin takes 22 to 43 bytes. It is
// for one goroutine.
type tally struct {
	slots []slot // a hash table, linearly probed; its length is 0 or a power of two
	count int    // slots in use
}

// A slot is an origin of a tally.
type slot struct {
	hash uint64 // 0 is a free slot
	rows int64
}

// hashOrigin returns the hash of a name, which is never 0.
func hashOrigin(name []byte) uint64 { return max(1, xxh3.Hash(name)) }

// addRows counts rows of an origin.
func (t *tally) addRows(hash uint64, rows int64) {
	if 4*t.count >= 3*len(t.slots) {
		t.grow()
	}
	s := t.find(hash)
	if s.hash == 0 {
		s.hash = hash
		t.count++
	}
	s.rows += rows
}

// rows returns the rows of an origin that was added.
func (t *tally) rows(hash uint64) int64 { return t.find(hash).rows }

// find returns the slot of a hash, or the free one for it. There is one.
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

// merge adds what another tally counted.
func (t *tally) merge(o *tally) {
	for _, s := range o.slots {
		if s.hash != 0 {
			t.addRows(s.hash, s.rows)
		}
	}
}
