package report

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// requested are the most requested URLs, by crawler, in a memory that does not grow: a hash table
// whose requests with few rows leave it when it is full. So a request that is in it has been counted
// since it came, and may have had at most so many rows before as any that left.
//
// Once it was full, requests do not come in with their first row, but with their second that comes soon after
// it: most never have one. Of the others the table has an even sample, of fewer and fewer of them.
type requested struct {
	batch

	// 1 + index of all, and above that bits of the key, so that others are told apart without a look at
	// them, which is a wait for memory; 0 is free.
	slots []uint32
	most  int // of all
	bytes int // the most of text
	floor uint32
	seed  uint64 // says where a request lies, and nothing else: nobody can choose URLs whose slots are the same

	seen  sightings // of keys that are not in the table
	level uint      // zero bits at the begin of the keys that come in with their first row

	gone  batch // that leave next; without a text
	leave func(all *batch)
}

// leaving is how many requests leave at a time.
const leaving = 512

// newRequested returns a table of at most so many requests, whose URLs take at most so many bytes. leave is
// called for requests that leave. What it is given is valid until it returns.
func newRequested(most, bytes int, leave func(all *batch)) *requested {
	slots := 1024
	for slots < 2*most {
		slots *= 2
	}
	// All of it at once: what is not used takes no memory, and growing by copies took a tenth of the count.
	return &requested{
		batch: batch{all: make([]request, 0, most), text: make([]byte, 0, bytes)}, slots: make([]uint32, slots), most: most, bytes: bytes, seed: rand.Uint64(),
		seen: newSightings(most / 2), gone: batch{all: make([]request, 0, leaving)}, leave: leave,
	}
}

// look looks at the places where a key may be, so that the waits for memory of several keys overlap.
func (t *requested) look(key uint64) uint32 {
	return t.slots[t.slot(key)] | uint32(*t.seen.word(key))
}

// find returns the request of a key. It returns nil if it is new: add adds it.
func (t *requested) find(key uint64) *request {
	mask := uint64(len(t.slots) - 1)
	for i := t.slot(key); ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == 0 {
			return nil
		}
		if (n^tagOf(key))>>indexBits == 0 {
			if r := &t.all[n&(1<<indexBits-1)-1]; r.key == key {
				return r
			}
		}
	}
}

// indexBits are the lower bits of a slot, in which 1 + maxRequests fits.
const indexBits = 18

// tagOf returns the upper bits of the slot of a key.
func tagOf(key uint64) uint32 { return uint32(key) &^ (1<<indexBits - 1) }

// takes reports whether a key that is new comes in.
func (t *requested) takes(key uint64) bool {
	return uint(bits.LeadingZeros64(key)) >= t.level || t.see(key)
}

// see reports whether a key that is not in the table was seen of late, and notes that it is.
func (t *requested) see(key uint64) bool {
	seen, forgot := t.seen.see(key)
	if forgot {
		t.floor++ // a row of each
	}
	return seen
}

// add adds a request that is not in the table. The pointer is valid until the next one is added.
func (t *requested) add(r request, url []byte) *request {
	if len(t.all) == t.most || len(t.text)+len(url) > t.bytes && len(t.all) > 0 {
		t.shrink()
	}
	r.missed = t.floor
	added := t.batch.add(r, url)
	t.place(len(t.all) - 1)
	return added
}

// place puts a request into a slot.
func (t *requested) place(n int) {
	mask := uint64(len(t.slots) - 1)
	i := t.slot(t.all[n].key)
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = uint32(n+1) | tagOf(t.all[n].key)
}

// slot returns where the search for a key begins.
func (t *requested) slot(key uint64) uint64 { return spread(key, t.seed, len(t.slots)) }

// spread returns a slot of a table, whose length is a power of two.
func spread(hash, seed uint64, slots int) uint64 {
	return (hash ^ seed) * 0x9E3779B97F4A7C15 >> (64 - bits.TrailingZeros(uint(slots)))
}

// shrink removes requests with few rows: so many that at most half of them stay, and half of their
// bytes.
func (t *requested) shrink() {
	least := t.thin()
	kept := t.all[:0]
	t.gone.all, t.gone.text = t.gone.all[:0], t.text
	for i := range t.all {
		r := &t.all[i]
		if t.stays(r, least) {
			kept = append(kept, *r)
			continue
		}
		t.see(r.key) // so that it comes in again with its next row
		t.floor = max(t.floor, uint32(min(r.counts.rows, math.MaxUint32/2))+min(r.missed, math.MaxUint32/2))
		if t.gone.all = append(t.gone.all, *r); len(t.gone.all) == cap(t.gone.all) {
			t.leave(&t.gone)
			t.gone.all = t.gone.all[:0]
		}
	}
	t.leave(&t.gone)
	text := t.text[:0]
	for i := range kept {
		url := t.url(&kept[i])
		kept[i].at = uint32(len(text))
		text = append(text, url...)
	}
	t.all, t.text = kept, text
	clear(t.slots)
	for n := range t.all {
		t.place(n)
	}
}

// stays reports whether a request stays if those with so many rows leave, and those with one that are not
// in the sample.
func (t *requested) stays(r *request, least int64) bool {
	return r.counts.rows > max(1, least) || r.counts.rows > least && uint(bits.LeadingZeros64(r.key)) >= t.level
}

// thin takes a smaller sample of requests with one row, so that half of the table is left. Where these are
// too few, it returns the number of rows up to which requests have to leave.
func (t *requested) thin() (least int64) {
	t.floor = max(t.floor, 1)
	for n := range mostThin + 1 {
		if n > 0 {
			t.level++
		}
		left, size := 0, 0
		for i := range t.all {
			if r := &t.all[i]; t.stays(r, 0) {
				left++
				size += int(r.n)
			}
		}
		if left <= t.most/2 && size <= t.bytes/2 {
			return 0
		}
	}
	return t.least()
}

// mostThin is how often the sample is halved when the table is full.
const mostThin = 3

// least returns the number of rows up to which requests have to leave.
func (t *requested) least() int64 {
	const classes = 64 // of rows, by their logarithm above 32
	var number, bytes [classes]int
	class := func(rows int64) int {
		if rows < 32 {
			return int(rows)
		}
		return min(classes-1, 27+int(math.Log2(float64(rows))))
	}
	for i := range t.all {
		c := class(t.all[i].counts.rows)
		number[c]++
		bytes[c] += int(t.all[i].n)
	}
	left, size := len(t.all), len(t.text)
	for c := range classes {
		left -= number[c]
		size -= bytes[c]
		if left > t.most/2 || size > t.bytes/2 {
			continue
		}
		if c < 32 {
			return int64(c)
		}
		return int64(1)<<(c-26) - 1
	}
	return math.MaxInt64
}
