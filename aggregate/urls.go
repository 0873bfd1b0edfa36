package aggregate

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/extsort"
)

// DefaultMemory is the default memory of [URLs] and [Requests] in bytes.
const DefaultMemory = 256 << 20

// Hash returns the hash by which URLs are identified. The probability that any two of n URLs have the same hash is
// n²/2⁶⁵: 1 in 1,000,000 for 6 million.
func Hash(url []byte) uint64 { return xxh3.Hash(url) }

// A Group identifies one of the counts of [URLs]. The zero Group means none.
type Group uint32

// URLs count requests and distinct URLs by group, exactly.
//
// They are a set of pairs of group and URL, each with its number of requests: in a hash table while they fit in
// memory, and otherwise in sorted runs on disk. They are for one goroutine. Call Close in the end.
type URLs struct {
	slots  []pair // a hash table, linearly probed; its length is a power of two
	used   int
	most   int    // the greatest length of slots
	seed   uint64 // affects only the slots, so that an attacker cannot construct URLs with colliding slots
	groups []groupCount
	spill  *extsort.Spill
	writer pairWriter
}

// A pair is a URL in a group.
type pair struct {
	hash     uint64 // hash of URL and group, never 0; 0 means a free slot
	group    Group
	also     Also
	requests uint32 // at most math.MaxUint32
}

// Also are further groups in which a pair is counted; 0 means none. All pairs of a group with the same URL must have
// the same further groups, so these need no memory of their own.
type Also [2]Group

// A groupCount counts for a group.
type groupCount struct{ requests, urls int64 }

// The sizes of the set.
const (
	pairBytes  = 24
	leastSlots = 1 << 10
)

// NewURLs returns an empty set that takes approximately the given number of bytes; 0 means DefaultMemory. While the
// table doubles, the old half exists as well. When the table is full, a temporary file is created in dir; "" means
// the default directory. Call Close in the end.
func NewURLs(memory int64, dir string) *URLs {
	if memory <= 0 {
		memory = DefaultMemory
	}
	most := leastSlots
	for int64(most)*2*pairBytes*3/2 <= memory && most < 1<<30 {
		most *= 2
	}
	return &URLs{slots: make([]pair, leastSlots), most: most, seed: rand.Uint64(), groups: make([]groupCount, 1), spill: extsort.NewSpill(dir)}
}

// Close removes the temporary file. Further calls do nothing.
func (u *URLs) Close() { u.spill.Close() }

// Spilled reports whether some pairs were written to disk.
func (u *URLs) Spilled() bool { return u.spill.Runs() > 0 }

// NewGroup returns a group without requests.
func (u *URLs) NewGroup() Group {
	u.groups = append(u.groups, groupCount{})
	return Group(len(u.groups) - 1)
}

// AddRequest counts a request in a group, without a URL.
func (u *URLs) AddRequest(g Group) { u.groups[g].requests++ }

// Add counts a request for a URL, by its Hash, in a group and in the groups of also. It returns the number of
// requests for that URL in the group since the last write to disk.
func (u *URLs) Add(g Group, url uint64, also Also) (requests uint32, err error) {
	u.groups[g].requests++
	for _, other := range also {
		u.groups[other].requests++
	}
	hash := mix(url, g)
	p := u.find(hash)
	if p.hash == 0 {
		if 4*u.used >= 3*len(u.slots) {
			if err := u.makeRoom(); err != nil {
				return 0, err
			}
			p = u.find(hash)
		}
		*p = pair{hash: hash, group: g, also: also}
		u.used++
		u.countPair(p)
	}
	if p.requests < math.MaxUint32 {
		p.requests++
	}
	return p.requests, nil
}

// countPair counts a URL that is new.
func (u *URLs) countPair(p *pair) {
	u.groups[p.group].urls++
	for _, other := range p.also {
		u.groups[other].urls++
	}
}

// Requests returns the number of requests in a group.
func (u *URLs) Requests(g Group) int64 { return u.groups[g].requests }

// Distinct returns the number of distinct URLs in a group. Call it after Finish.
func (u *URLs) Distinct(g Group) int64 { return u.groups[g].urls }

// Finish counts the pairs that were written to disk, if there are any, and sets the value of each key in requests to
// its total. Nothing may be added afterwards.
func (u *URLs) Finish(requests map[PairKey]int64) error {
	if !u.Spilled() {
		return nil
	}
	if err := u.writeRun(); err != nil {
		return err
	}
	u.slots = nil
	for i := range u.groups {
		u.groups[i].urls = 0
	}
	begin := func(run *extsort.Run) extsort.Output[*pairCursor] { return &pairWriter{run: run} }
	return extsort.Merge(u.spill, extsort.MaxFan, func() *pairCursor { return &pairCursor{} }, begin, &pairCounter{to: u, requests: requests})
}

// A PairKey is a URL in a group, for [URLs.Finish].
type PairKey uint64

// KeyOf returns the key of a URL, by its Hash, in a group.
func KeyOf(g Group, url uint64) PairKey { return PairKey(mix(url, g)) }

// find returns the slot of a hash, or the free one where it belongs.
func (u *URLs) find(hash uint64) *pair {
	shift := 64 - bits.TrailingZeros(uint(len(u.slots)))
	for i := (hash ^ u.seed) * 0x9E3779B97F4A7C15 >> shift; ; i = (i + 1) & uint64(len(u.slots)-1) {
		if p := &u.slots[i]; p.hash == hash || p.hash == 0 {
			return p
		}
	}
}

// makeRoom doubles the table, or writes it to disk if it has reached its maximum size.
func (u *URLs) makeRoom() error {
	if 2*len(u.slots) > u.most {
		return u.writeRun()
	}
	old := u.slots
	u.slots = make([]pair, 2*len(old))
	for i := range old {
		if old[i].hash != 0 {
			*u.find(old[i].hash) = old[i]
		}
	}
	return nil
}

// writeRun writes all pairs to disk, and removes them from memory.
func (u *URLs) writeRun() error {
	run, err := u.spill.Begin()
	if err != nil {
		return err
	}
	pairs := u.slots[:0]
	for i := range u.slots {
		if u.slots[i].hash != 0 {
			pairs = append(pairs, u.slots[i]) // sort in the memory of the slots, because there is none for a copy
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.hash, b.hash) })
	u.writer.run = run
	for i := range pairs {
		if err := u.writer.write(&pairs[i], int64(pairs[i].requests)); err != nil {
			return err
		}
	}
	if err := u.writer.Finish(); err != nil {
		return err
	}
	run.End()
	clear(u.slots)
	u.used = 0
	return nil
}

// A pairWriter writes pairs in their order as blocks of a run.
type pairWriter struct {
	run   *extsort.Run
	block []byte
}

// pairRecord is the size of a pair in a run, in bytes.
const pairRecord = 28

// write writes a pair with its requests.
func (w *pairWriter) write(p *pair, requests int64) error {
	b := binary.LittleEndian.AppendUint64(w.block, p.hash)
	b = binary.LittleEndian.AppendUint32(b, uint32(p.group))
	b = binary.LittleEndian.AppendUint32(b, uint32(p.also[0]))
	b = binary.LittleEndian.AppendUint32(b, uint32(p.also[1]))
	w.block = binary.LittleEndian.AppendUint64(b, uint64(requests))
	if len(w.block) >= runBlock {
		return w.Finish()
	}
	return nil
}

// Take writes the pair of a cursor, and advances the cursor.
func (w *pairWriter) Take(c *pairCursor) error {
	if err := w.write(&c.pair, c.requests); err != nil {
		return err
	}
	return c.next()
}

// Finish writes the block.
func (w *pairWriter) Finish() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block = w.block[:0]
	return err
}

// A pairCursor points to a pair of a block.
type pairCursor struct {
	block    []byte // that follows
	pair     pair
	requests int64
	isDone   bool
}

var errPairs = errors.New("the block of URLs differs from what was written")

// Load moves the cursor to the first pair of a block.
func (c *pairCursor) Load(block []byte) error {
	c.block, c.isDone = block, false
	return c.next()
}

// Done reports whether the cursor is after the last pair.
func (c *pairCursor) Done() bool { return c.isDone }

// Compare compares two pairs.
func (c *pairCursor) Compare(o *pairCursor) int { return cmp.Compare(c.pair.hash, o.pair.hash) }

// next moves the cursor on.
func (c *pairCursor) next() error {
	b := c.block
	if len(b) == 0 {
		c.isDone = true
		return nil
	}
	if len(b) < pairRecord {
		return errPairs
	}
	c.pair.hash, c.pair.group = binary.LittleEndian.Uint64(b), Group(binary.LittleEndian.Uint32(b[8:]))
	c.pair.also = Also{Group(binary.LittleEndian.Uint32(b[12:])), Group(binary.LittleEndian.Uint32(b[16:]))}
	c.requests = int64(binary.LittleEndian.Uint64(b[20:]))
	c.block = b[pairRecord:]
	return nil
}

// A pairCounter counts the distinct pairs of a merge.
type pairCounter struct {
	to       *URLs
	requests map[PairKey]int64
	last     pair
	sum      int64 // requests of last
}

// Take counts the pair of a cursor, and advances the cursor.
func (n *pairCounter) Take(c *pairCursor) error {
	if c.pair.hash != n.last.hash {
		if err := n.Finish(); err != nil {
			return err
		}
		n.last, n.sum = c.pair, 0
	}
	n.sum += c.requests
	return c.next()
}

// Finish counts the last pair.
func (n *pairCounter) Finish() error {
	if n.last.hash == 0 {
		return nil
	}
	if int(max(n.last.group, n.last.also[0], n.last.also[1])) >= len(n.to.groups) {
		return errPairs
	}
	n.to.countPair(&n.last)
	if _, ok := n.requests[PairKey(n.last.hash)]; ok {
		n.requests[PairKey(n.last.hash)] = n.sum
	}
	return nil
}

// mix returns the hash of a URL in a group. It is never 0. Except for that, different hashes of URLs give different
// results in one group.
func mix(url uint64, g Group) uint64 {
	h := url ^ (uint64(g)+1)*0x9E3779B97F4A7C15
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	h ^= h >> 32
	return max(1, h)
}
