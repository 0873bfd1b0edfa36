package engine

import (
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"
)

// Busy is how many of the busiest origins Stats names.
const Busy = 3

// A BusyOrigin is an origin and the number of its rows.
type BusyOrigin struct {
	Origin string // "" is none
	Rows   int64
}

// A tally counts rows by origin. Each origin takes 22 to 43 bytes. The names of the busiest
// thousands alone are kept: those that are among them in one tally, so that an origin which is
// among the busiest of all is among them in one at least. Of origins with equally many rows, those
// with the least hashes are. It is for one goroutine.
type tally struct {
	slots []slot // a hash table, linearly probed; its length is 0 or a power of two
	count int    // slots in use
	names map[uint64]string
	floor slot // the last slot to keep its name when names were dropped; zero until then
}

// A slot is an origin of a tally.
type slot struct {
	hash uint64 // of its name, and never 0; 0 is a free slot
	rows int64
}

// busier orders slots: those with more rows come first.
func busier(a, b slot) int { return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.hash, b.hash)) }

// keptNames is how many names a tally keeps when it has twice as many: in all at most a megabyte of
// hosts of the greatest length.
const keptNames = 2048

// add counts rows of an origin.
func (t *tally) add(origin []byte, rows int64) {
	hash := max(1, xxh3.Hash(origin))
	s := t.find(hash)
	s.rows += rows
	if t.floor.hash == 0 && s.rows > rows || t.floor.hash != 0 && busier(*s, t.floor) > 0 {
		return // it has a name already; or it gets none
	}
	if _, known := t.names[hash]; known {
		return
	}
	if t.names == nil {
		t.names = map[uint64]string{}
	}
	t.names[hash] = string(origin)
	if len(t.names) == 2*keptNames {
		t.dropNames()
	}
}

// find returns the slot of a hash, which is a new one if there is none. It is valid until the next
// call.
func (t *tally) find(hash uint64) *slot {
	if 4*t.count >= 3*len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch s := &t.slots[i]; s.hash {
		case hash:
			return s
		case 0:
			s.hash = hash
			t.count++
			return s
		}
	}
}

// grow doubles the table.
func (t *tally) grow() {
	old := t.slots
	t.slots, t.count = make([]slot, max(64, 2*len(old))), 0
	for _, s := range old {
		if s.hash != 0 {
			t.find(s.hash).rows = s.rows
		}
	}
}

// dropNames drops the names of the less busy half of those that have one.
func (t *tally) dropNames() {
	named := make([]slot, 0, len(t.names))
	for hash := range t.names {
		named = append(named, *t.find(hash))
	}
	slices.SortFunc(named, busier)
	for _, s := range named[keptNames:] {
		delete(t.names, s.hash)
	}
	t.floor = named[keptNames-1]
}

// merge adds what another tally counted.
func (t *tally) merge(o *tally) {
	for _, s := range o.slots {
		if s.hash != 0 {
			t.find(s.hash).rows += s.rows
		}
	}
	if t.names == nil {
		t.names = map[uint64]string{}
	}
	for hash, name := range o.names {
		t.names[hash] = name
	}
}

// busiest returns the origins with the most rows, those with equally many in the order of their
// names.
func (t *tally) busiest() (top [Busy]BusyOrigin) {
	all := make([]BusyOrigin, 0, len(t.names))
	for hash, name := range t.names {
		all = append(all, BusyOrigin{name, t.find(hash).rows})
	}
	slices.SortFunc(all, func(a, b BusyOrigin) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Origin, b.Origin))
	})
	copy(top[:], all)
	return top
}
