package automaton

import (
	"encoding/binary"
	"math/bits"
)

// Where many patterns share an anchor, they are not tried one by one. Each is filed under a key, the rarest three bytes
// in a row of its floating segments, and only those are tried whose key the path has, and which need no three bytes that
// it lacks. The offset of a trie node's patterns leads to
//
//	keyed     1 byte: 0, which is no count of patterns to try in turn
//	log       1 byte: keys are hashed to 6+log bits
//	keys      2 bytes: the number of distinct hashes
//	bound     3 bytes: the highest rank of a pattern
//	filter    8 bytes for each of 1<<log words: a bit for each hash that is one of a key
//	before    2 bytes for each word: the number of hashes in the words before it
//	first     2 bytes for each hash, and one more: its first entry
//	entries   10 bytes for each pattern, in the order of their hashes, those without a key first: what it needs, a bit for
//	          each three bytes in a row of its segments, see threeBit; its number, in 2 bytes
//	offsets   3 bytes for each pattern, in the order of their numbers, which is that of descending rank
//	patterns  see builder.pattern
const (
	keyedHeader = 1 + 1 + 2 + 3
	entrySize   = 8 + 2

	maxKeyedLog = 8 // filters of 16,384 bits are the largest: 51 for each of keyedLimit patterns

	keyHash = 0x9e3779b1 // what a key, in the upper 24 bits, is multiplied by, for its highest bits

	// maxEntries is how many entries are looked at for a path before all patterns are taken for found.
	maxEntries = 8 * keyedLimit
)

// hash returns the hash of three bytes in a row, given their product with keyHash: as many bits of it count as number the
// bits of a filter.
func hash(product uint32) uint32 { return product >> (32 - 6 - maxKeyedLog) }

// threeBit returns the bit of 64 that stands for three bytes in a row, given their product with keyHash.
func threeBit(product uint32) uint64 { return 1 << (product >> 26 & 63) }

// candidates are what one pass over a path finds.
type candidates struct {
	has    uint64                  // threeBit of each three bytes of the path
	listed [64]uint16              // entries that were found, for a look at what they need
	count  int                     // how many
	found  [keyedLimit / 64]uint64 // the patterns to try, a bit for each by number
}

func (c *candidates) find(number uint32) {
	c.found[number>>6%uint32(len(c.found))] |= 1 << (number & 63)
}

// keys is where the parts of what a node says of its keyed patterns are.
type keys struct {
	filter                        []byte // bit h&7 of byte h>>3 is set if h is the hash of a key
	before, first, entries, count uint32 // count is the number of patterns
}

func (t table) keysAt(off uint32) (k keys) {
	log := t[off+1] & 15
	filter := off + keyedHeader
	k.before = filter + 8<<log
	k.filter = t[filter:k.before]
	k.first = k.before + 2<<log
	k.entries = k.first + 2*t.u16(off+2) + 2
	k.count = t.u16(k.entries - 2)
	return k
}

// tryKeyed returns the best rank among best and the patterns of a node that are filed under keys.
func (t table) tryKeyed(p pending, path []byte, best Rank) Rank {
	if Rank(t.u24(p.floating+4)) <= best {
		return best
	}
	path = path[p.pos:]
	var c candidates
	k := t.keysAt(p.floating)
	if !t.candidates(&k, path, &c) {
		return best
	}
	offsets := k.entries + entrySize*k.count
	for w, set := range c.found {
		for ; set != 0; set &= set - 1 {
			off := t.u24(offsets + 3*uint32(64*w+bits.TrailingZeros64(set)))
			h := t.headerAt(off)
			if h.rank() <= best {
				return best // and so are all that follow
			}
			if off += patternHeader; h.atEnd() {
				if t.endsWith(off, off+h.size(), path) {
					return h.rank()
				}
			} else if t.follow(off, off+h.size(), path) {
				return h.rank()
			}
		}
	}
	return best
}

// candidates finds the patterns that are to be tried, and reports whether there are any.
func (t table) candidates(k *keys, path []byte, c *candidates) bool {
	left := maxEntries // the entries that may be looked at
	for at := 0; at < len(path); at += 64 {
		for hits := k.hits(path, at, c); hits != 0; hits &= hits - 1 {
			if left -= t.lookUp(k, threeAt(path, at+bits.TrailingZeros64(hits)), c); left < 0 {
				for number := range k.count {
					c.find(number)
				}
				return true
			}
		}
	}
	found := c.count == len(c.listed)
	for _, entry := range c.listed[:c.count] {
		e := k.entries + entrySize*uint32(entry)
		if t.u64(e)&^c.has == 0 {
			c.find(t.u16(e + 8))
			found = true
		}
	}
	for e := range t.u16(k.first) { // those without a key
		c.find(t.u16(k.entries + entrySize*e + 8))
		found = true
	}
	return found
}

// hits returns a bit for each of the 64 bytes of path from at on, or as many as there are: whether it ends three bytes
// that may be a key. This is what takes the time, so it calls nothing, and all that it changes is in registers.
func (k *keys) hits(path []byte, at int, c *candidates) (hits uint64) {
	last, has, filter, mask := uint32(0), c.has, k.filter, uint32(len(k.filter)*8-1)
	if at > 0 {
		last = threeAt(path, at-1)
	}
	block := path[at:min(at+64, len(path))]
	for i, b := range block {
		last = last<<8 | uint32(b)
		product := last << 8 * keyHash
		has |= threeBit(product)
		h := hash(product) & mask
		if uint32(filter[h>>3])&(1<<(h&7)) != 0 {
			hits |= 1 << (i & 63)
		}
	}
	c.has = has
	if at == 0 {
		hits &^= 3 // before the first two bytes there is too little
	}
	return hits
}

// threeAt returns the three bytes of path up to the one at i, that one lowest.
func threeAt(path []byte, i int) uint32 {
	return uint32(path[i-2])<<16 | uint32(path[i-1])<<8 | uint32(path[i])
}

// lookUp lists the patterns that have the hash of three bytes for a key, or adds them without another look if the list is
// full. It returns how many they are.
func (t table) lookUp(k *keys, three uint32, c *candidates) int {
	h := hash(three<<8*keyHash) & uint32(len(k.filter)*8-1)
	word := binary.LittleEndian.Uint64(k.filter[h>>6<<3:])
	n := t.u16(k.before+2*(h>>6)) + uint32(bits.OnesCount64(word&(1<<(h&63)-1)))
	lo, hi := t.u16(k.first+2*n), t.u16(k.first+2*n+2)
	for e := lo; e < hi; e++ {
		if c.count == len(c.listed) {
			c.find(t.u16(k.entries + entrySize*e + 8))
			continue
		}
		c.listed[c.count] = uint16(e)
		c.count++
	}
	return int(hi - lo)
}
