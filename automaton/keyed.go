package automaton

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Where many patterns share an anchor, they are not tried one by one. Each is filed under a key, some bytes around a
// delimiter in one of its floating segments, and only those are tried whose key the path has, and which need no bytes
// around a delimiter that it lacks. So a path is looked at only where it has one of a few bytes, and at its end.
// The offset of a trie node's patterns leads to
//
//	keyed     1 byte: 0, which is no count of patterns to try in turn
//	log       1 byte: keys are hashed to 6+log bits
//	set       1 byte: the bytes around which there are keys, an index of delimiterSets
//	shape     1 byte: what is a key of what is around them, an index of keyShapes
//	end       1 byte: how many bytes before the end of the path are a key, or 0
//	keys      2 bytes: the number of distinct hashes
//	bound     3 bytes: the highest rank of a pattern
//	filter    8 bytes for each of 1<<log words: a bit for each hash that is one of a key
//	before    2 bytes for each word: the number of hashes in the words before it
//	first     2 bytes for each hash, and one more: its first entry
//	entries   10 bytes for each pattern, in the order of their hashes, those without a key first: what it needs, see
//	          keyBit; its number, in 2 bytes
//	offsets   3 bytes for each pattern, in the order of their numbers, which is that of descending rank
//	patterns  see builder.pattern
const (
	keyedHeader = 5 + 2 + 3
	entrySize   = 8 + 2

	maxKeyedLog = 8 // filters of 16,384 bits are the largest: 51 for each of keyedLimit patterns

	keyHash = 0x9e3779b97f4a7c15 // what a key is multiplied by, for its highest bits

	// maxEntries is how many entries are looked at for a path, and maxHits how many keys, before all patterns are taken for
	// found.
	maxEntries = 8 * keyedLimit
	maxHits    = 500
)

// delimiterSets are the bytes to choose from around which keys are looked up. Each byte costs a search of the path, and a
// look where it is found; the last set finds segments of letters.
var delimiterSets = [...]string{"=", "?=", "/", "/=", "./?=", "-./=?_", "aeiou"}

// A window is eight bytes around a place of a path, the first lowest: three before it, that at it, and four behind it. Those
// outside of the path are zeros.
const (
	windowSize   = 8
	windowBefore = 3
)

// A keyShape is masks of a window, for three keys: a long one that begins with a delimiter, a long one that ends with it, and
// one for a segment that has no more.
type keyShape struct{ next, last, short uint64 }

// keyShapes are those to choose from.
var keyShapes = [...]keyShape{
	{next5, last4, last2},
	{next5, last4, next3},
	{next4, last4, last2},
	{next4, last4, next3},
	{next3, last3, last2},
	{next3, last3, next2},
}

const (
	next5 = 0xffff_ffff_ff00_0000
	next4 = 0x00ff_ffff_ff00_0000
	next3 = 0x0000_ffff_ff00_0000
	next2 = 0x0000_00ff_ff00_0000
	last4 = 0x0000_0000_ffff_ffff
	last3 = 0x0000_0000_ffff_ff00
	last2 = 0x0000_0000_ffff_0000
)

// hash returns the hash of a key, given its product with keyHash: as many bits of it count as number the bits of a filter.
func hash(product uint64) uint32 { return uint32(product >> (64 - 6 - maxKeyedLog)) }

// keyBit returns the bit of 64 that stands for a key, given its product with keyHash. A pattern needs those of the long keys
// of its segments around the bytes of the set, and around every '/'.
func keyBit(product uint64) uint64 { return 1 << (product >> 58) }

// candidates is the memory in which those patterns are found that a path may match.
type candidates struct {
	short  [windowSize]byte // a path that is shorter than a window, zeros behind it
	hashes [512]uint16      // hashes of the path's keys that are those of patterns
	found  [8]uint64        // the patterns to try, a bit for each by number
}

// keys is where the parts of what a node says of its keyed patterns are.
type keys struct {
	filter                        []byte // bit h&7 of byte h>>3 is set if h is the hash of a key
	set                           string
	shape                         *keyShape
	end                           uint64 // the mask of the key at the end of the path, see endOf
	before, first, entries, count uint32 // count is the number of patterns
}

func (t table) keysAt(off uint32) (k keys) {
	log := t[off+1] & 15
	filter := off + keyedHeader
	k.set, k.shape, k.end = delimiterSets[t[off+2]], &keyShapes[t[off+3]], endMask(t[off+4])
	k.before = filter + 8<<log
	k.filter = t[filter:k.before]
	k.first = k.before + 2<<log
	k.entries = k.first + 2*t.u16(off+5) + 2
	k.count = t.u16(k.entries - 2)
	return k
}

// tryKeyed returns the best rank among best and the patterns of a node that are filed under keys.
func (t table) tryKeyed(p pending, path []byte, best Rank, c *candidates) Rank {
	path = path[p.pos:]
	if Rank(t.u24(p.floating+7)) <= best || len(path) == 0 {
		return best
	}
	k := t.keysAt(p.floating)
	if !t.candidates(&k, path, c) {
		return best
	}
	offsets := k.entries + entrySize*k.count
	for w := range c.found {
		for set := c.found[w]; set != 0; set &= set - 1 {
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
	end := len(path)
	if end < windowSize {
		c.short = [windowSize]byte{}
		copy(c.short[:], path)
		path = c.short[:]
	}
	n, has := k.hits(path, end, c)
	keyless := t.u16(k.first)
	if n+keyless == 0 {
		return false
	}
	has |= k.slashes(path)
	c.found = [len(c.found)]uint64{}
	some, left := uint64(0), maxEntries
	for _, h := range c.hashes[:n] {
		lo, hi := t.entriesOf(k, uint32(h))
		if left -= int(hi - lo); left < 0 || n >= maxHits {
			c.findAll(k.count)
			return true
		}
		for e := lo; e < hi; e++ {
			some |= t.check(k, e, has, c)
		}
	}
	for e := range keyless {
		some |= t.check(k, e, has, c)
	}
	return some != 0
}

// check adds the pattern of an entry to those to try if the path has all that it needs, and returns 1, or 0.
func (t table) check(k *keys, e uint32, has uint64, c *candidates) (ok uint64) {
	off := k.entries + entrySize*e
	if t.u64(off)&^has == 0 {
		ok = 1
	}
	number := t.u16(off + 8)
	c.found[number>>6&7] |= ok << (number & 63)
	return ok
}

func (c *candidates) findAll(count uint32) {
	for number := range count {
		c.found[number>>6&7] |= 1 << (number & 63)
	}
}

// hits looks up the keys of a path of at least windowSize bytes, of which those from end on do not count. It writes the
// hashes of keys that patterns may have to c, and returns how many, at most maxHits and two more, and the set of the long
// keys. It does not branch on what it finds, since that cannot be predicted.
func (k *keys) hits(path []byte, end int, c *candidates) (n uint32, has uint64) {
	filter, mask := k.filter, uint32(len(k.filter)*8-1)
	next, last, short := k.shape.next, k.shape.last, k.shape.short
	if k.end != 0 {
		h := hash(endOf(path, end)&k.end*keyHash) & mask
		c.hashes[0] = uint16(h)
		if uint32(filter[h>>3])&(1<<(h&7)) != 0 {
			n++
		}
	}
	for s := range len(k.set) {
		for i := bytes.IndexByte(path, k.set[s]); i >= 0 && n < maxHits; i = after(path, i, k.set[s]) {
			w := window(path, i)
			p, q := w&next*keyHash, w&last*keyHash
			has |= keyBit(p)
			has |= keyBit(q)
			h := hash(p) & mask
			c.hashes[n&511] = uint16(h)
			if uint32(filter[h>>3])&(1<<(h&7)) != 0 {
				n++
			}
			h = hash(q) & mask
			c.hashes[n&511] = uint16(h)
			if uint32(filter[h>>3])&(1<<(h&7)) != 0 {
				n++
			}
			h = hash(w&short*keyHash) & mask
			c.hashes[n&511] = uint16(h)
			if uint32(filter[h>>3])&(1<<(h&7)) != 0 {
				n++
			}
		}
	}
	return n, has
}

// slashes returns the set of the long keys around every '/'.
func (k *keys) slashes(path []byte) (has uint64) {
	for i := bytes.IndexByte(path, '/'); i >= 0; i = after(path, i, '/') {
		w := window(path, i)
		has |= keyBit(w & k.shape.next * keyHash)
		has |= keyBit(w & k.shape.last * keyHash)
	}
	return has
}

// after returns where in path behind i a byte is, or a negative number.
func after(path []byte, i int, b byte) int {
	j := bytes.IndexByte(path[i+1:], b)
	return (j + i + 1) | j>>63
}

// window returns the window of the place i of a path of at least windowSize bytes. It has no branches.
func window(path []byte, i int) uint64 {
	from, last := i-windowBefore, len(path)-windowSize
	below := from & (from >> 63)                   // how far it begins before the path, negative
	above := (last - from) & ((last - from) >> 63) // how far it ends behind the path, negative
	w := binary.LittleEndian.Uint64(path[from-below+above:])
	return w << (-8 * below & 63) >> (-8 * above & 63)
}

// endOf returns the window of which the last byte is the first behind a path that ends there.
func endOf(path []byte, end int) uint64 { return window(path, end-(windowSize-1-windowBefore)) }

// endMask returns the mask of the last n bytes of a path in the window that endOf returns.
func endMask(n byte) uint64 { return (1<<(8*n&63) - 1) << (8 * (windowSize - 1 - n) & 63) }

// entriesOf returns the first of the entries that have a hash, and that after the last.
func (t table) entriesOf(k *keys, h uint32) (lo, hi uint32) {
	word := binary.LittleEndian.Uint64(k.filter[h>>6<<3:])
	n := k.first + 2*(t.u16(k.before+2*(h>>6))+uint32(bits.OnesCount64(word&(1<<(h&63)-1))))
	return t.u16(n), t.u16(n + 2)
}
