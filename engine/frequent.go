package engine

import (
	"cmp"
	"slices"
)

// A frequent finds the keys with the most rows, in bounded memory. It is exact for up to maxItems keys. If there
// are more, it subtracts the same number from the count of each key, and drops the keys whose count reaches 0
// (Misra and Gries 1982). So a key has up to off more rows than its count says, and a missing key has at most off
// rows. The result depends on the order of the keys, but not on how consecutive rows of one key are divided among
// calls of countKey. The zero frequent is empty. It is for one goroutine.
type frequent struct {
	slots []item // a hash table, linearly probed; its length is 0 or a power of two
	used  int
	off   int64 // rows that were subtracted from each key
}

// An item is a key and its count of rows.
type item struct {
	key  uint64
	rows int64 // 0 is a free slot
	from decider
}

// maxItems is the maximum number of keys that are counted at once, in 2.5 MiB.
const maxItems = 1 << 15

// countKey adds rows of a key, and returns its item. The item stores from when the key is new.
func (f *frequent) countKey(key uint64, rows int64, from decider) *item {
	if len(f.slots) == 0 {
		f.makeRoom()
	}
	s := f.find(key)
	if s.rows == 0 {
		if 2*f.used >= len(f.slots) {
			f.makeRoom()
			s = f.find(key)
		}
		s.key, s.from = key, from
		f.used++
	}
	s.rows += rows
	return s
}

// find returns the slot of a key, or the free slot for it.
func (f *frequent) find(key uint64) *item {
	mask := uint64(len(f.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		if s := &f.slots[i]; s.key == key || s.rows == 0 {
			return s
		}
	}
}

// makeRoom doubles the table, or drops keys if the table has its maximum size.
func (f *frequent) makeRoom() {
	old, size, most := f.slots, max(64, 2*len(f.slots)), int64(0)
	if f.used >= maxItems {
		size, most = len(old), f.median()
		f.off += most
	}
	f.slots, f.used = make([]item, size), 0
	for _, s := range old {
		if s.rows > most {
			s.rows -= most
			*f.find(s.key) = s
			f.used++
		}
	}
}

// median returns the median count of a sample: the first keys. Keys are placed by hash, so the sample is random.
func (f *frequent) median() int64 {
	const sample = 1023
	rows := make([]int64, 0, sample)
	for i := range f.slots {
		if n := f.slots[i].rows; n > 0 {
			if rows = append(rows, n); len(rows) == sample {
				break
			}
		}
	}
	slices.Sort(rows)
	return rows[len(rows)/2]
}

// top returns the n keys with the most rows, and all with as many as the last of these, in no order.
func (f *frequent) top(n int) []item {
	all := slices.DeleteFunc(slices.Clone(f.slots), func(s item) bool { return s.rows == 0 })
	if len(all) <= n {
		return all
	}
	slices.SortFunc(all, func(a, b item) int { return cmp.Compare(b.rows, a.rows) })
	least := all[n-1].rows
	return all[:slices.IndexFunc(append(all, item{}), func(s item) bool { return s.rows < least })]
}
