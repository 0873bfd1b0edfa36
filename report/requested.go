package report

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/robobatch/robobatch/engine"
)

// A request is what rows share that are alike: the same URL, decided in the same way for the same
// crawler. Rows that are alike are counted together, and what is counted by path, rule or origin is
// added up once for all of them, when the request leaves the table or the run ends.
type request struct {
	key    uint64 // of the URL, crawler and verdicts; never 0
	hash   uint64 // of the URL
	at, n  uint32 // the URL, in requested.text
	site   engine.SiteID
	prefix uint16 // of the URL: what is before the path
	agent  uint16 // the crawler that fetched; 0 without crawlers of the log
	denies uint16 // of the verdicts: how many deny
	answer int32  // index of what denied, see Counter.answers; -1 if nothing did
	ruled  int32  // index of Counter.ruled: what rules did; -1 if there is no robots.txt
	counts counts

	// missed is the most rows of the same kind that may have come before, when the request was not in
	// the table.
	missed uint32
}

// counts are what is counted of rows. All but rows are parts of rows.
type counts struct {
	rows       int64
	violations int64
	served     int64 // answered by 2xx or 304
	failed     int64 // answered by 4xx or 5xx
}

func (c *counts) add(o *counts) {
	c.rows += o.rows
	c.violations += o.violations
	c.served += o.served
	c.failed += o.failed
}

// requested are the most requested URLs, by crawler, in a memory that does not grow: a hash table
// whose requests with few rows leave it when it is full. So a request that is in it has been counted
// since it came, and may have had at most so many rows before as any that left.
type requested struct {
	// 1 + index of all, and above that bits of the key, so that others are told apart without a look at
	// them, which is a wait for memory; 0 is free.
	slots []uint32
	all   []request
	most  int // of all
	text  []byte
	bytes int       // the most of text
	gone  []request // that leave next
	floor uint32
	seed  uint64 // says where a request lies, and nothing else: nobody can choose URLs whose slots are the same

	// leave is called for requests that leave. The URLs are valid until it returns.
	leave func(all []request)
}

// leaving is how many requests leave at a time.
const leaving = 512

// newRequested returns a table of at most so many requests, whose URLs take at most so many bytes.
func newRequested(most, bytes int, leave func(all []request)) *requested {
	slots := 1024
	for slots < 2*most {
		slots *= 2
	}
	// All of it at once: what is not used takes no memory, and growing by copies took a tenth of the count.
	return &requested{
		slots: make([]uint32, slots), all: make([]request, 0, most), text: make([]byte, 0, bytes), gone: make([]request, 0, leaving), most: most, bytes: bytes, leave: leave, seed: rand.Uint64(),
	}
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

// add adds a request that is not in the table. The pointer is valid until the next one is added.
func (t *requested) add(r request, url []byte) *request {
	if len(t.all) == t.most || len(t.text)+len(url) > t.bytes && len(t.all) > 0 {
		t.shrink()
	}
	r.at, r.n, r.missed = uint32(len(t.text)), uint32(len(url)), t.floor
	t.text = append(t.text, url...)
	t.all = append(t.all, r)
	t.place(len(t.all) - 1)
	return &t.all[len(t.all)-1]
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

// url returns the URL of a request. It is valid until a request is added.
func (t *requested) url(r *request) []byte { return t.text[r.at : r.at+r.n] }

// shrink removes requests with few rows: so many that at most half of them stay, and half of their
// bytes.
func (t *requested) shrink() {
	least := t.least()
	kept := t.all[:0]
	gone := t.gone[:0]
	for i := range t.all {
		r := &t.all[i]
		if r.counts.rows > least {
			kept = append(kept, *r)
			continue
		}
		t.floor = max(t.floor, uint32(min(r.counts.rows, math.MaxUint32/2))+min(r.missed, math.MaxUint32/2))
		if gone = append(gone, *r); len(gone) == cap(gone) {
			t.leave(gone)
			gone = gone[:0]
		}
	}
	t.leave(gone)
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
