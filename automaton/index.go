package automaton

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// An index finds the patterns of an anchor that has more of them than a group has room for. It
// begins as a group does, but all its patterns share the eight buckets, which only say at which
// places of a path a fingerprint may be. A pattern is filed under a key, some bytes around its
// fingerprint or at the end of the path. The keys of a path, at these places and at its end, are
// looked up in a filter; and of the patterns that are filed under them, those are tried which need
// no key that the path lacks. The offset of an index leads to
//
//	count     1 byte: 0, or moreGroups if there is another group
//	bound     3 bytes: the highest rank of a pattern
//	masks     as in a group
//	log       1 byte: keys are hashed to 6+log bits
//	hashes    2 bytes: the number of distinct hashes
//	number    2 bytes: that of the patterns
//	filter    8 bytes for each of 1<<log words: a bit for each hash that is one of a key
//	before    2 bytes for each word: the number of hashes in the words before it
//	first     2 bytes for each hash, and one more: its first entry
//	entries   10 bytes for each pattern, in the order of their hashes: what it needs, see key.bits;
//	          its number, in 2 bytes
//	offsets   3 bytes for each pattern, in the order of their numbers, which is that of descending
//	          rank
//	patterns  see builder.pattern
const (
	indexLog    = groupHeader + masksSize
	indexHeader = indexLog + 1 + 2 + 2
	entrySize   = 8 + 2

	// maxIndexLog is that of triedLimit patterns. With 16 to 32 bits for each, 2 to 4 of a hundred
	// keys that are no pattern's are in the filter.
	maxIndexLog = 8

	keyHash = 0x9e3779b97f4a7c15 // what a key is multiplied by, for its highest bits

	// maxHits is how many hashes of the filter are looked at for a path, and maxEntries how many
	// entries, before all patterns are tried.
	maxHits    = 480
	maxEntries = 1024

	hitsRoom = maxHits + 4*blockSize // vector instructions look up two blocks at once
)

// A window is eight bytes around a place of a path, the first lowest: three before it, that at it,
// and four behind it. Those outside of the path are zeros.
const (
	windowSize   = 8
	windowBefore = 3

	windowPrint  = 0x0000_ffff_ff00_0000 // the bytes of a fingerprint
	windowAhead  = 0xffff_ffff_ff00_0000 // those of the key that begins with it
	windowBehind = 0x0000_ffff_ffff_0000 // those of the key that ends with it
)

// A key is some bytes times keyHash.
type key uint64

func keyAhead(window uint64) key  { return key(window >> 24 * keyHash) }
func keyBehind(window uint64) key { return key(window << 16 >> 32 * keyHash) }

// keyAtEnd is the key of a path's last eight bytes.
func keyAtEnd(last uint64) key { return key(last * keyHash) }

// bits returns two of 64 bits that stand for a key. A pattern needs those of the keys ahead of each
// place where all paths that it matches have a fingerprint, or a '/'.
func (k key) bits() uint64 { return 1<<(k>>58) | 1<<(k>>52&63) }

// hash returns the hash of a key: as many bits of it count as number the bits of a filter.
func (k key) hash() uint32 { return uint32(k >> 44) }

// candidates is the memory in which those patterns are found that a path may match.
type candidates struct {
	hashes [hitsRoom]uint16   // those of the path that the filter has
	found  [maxEntries]uint16 // the patterns to try, by number
}

// An index says where its parts are.
type index struct {
	before, first, entries, offsets uint32
	count                           uint32 // of the patterns
}

func (t table) indexAt(off uint32) (x index) {
	head := t.u64(off + indexLog)
	words, hashes := uint32(1)<<(head&15), uint32(head>>8)&0xffff
	x.count = uint32(head>>24) & 0xffff
	x.before = off + indexHeader + 8*words
	x.first = x.before + 2*words
	x.entries = x.first + 2*hashes + 2
	x.offsets = x.entries + entrySize*x.count
	return x
}

// tryIndexed returns the best rank among best and the patterns of an index.
func (t table) tryIndexed(p *pending, path []byte, best Rank, c *candidates) Rank {
	n, has := t.hits(p.group, path, int(p.pos), &c.hashes)
	if n == 0 {
		return best
	}
	x := t.indexAt(p.group)
	found, ok := t.candidates(p.group, &x, c.hashes[:n], has|slashes(path), c)
	if !ok {
		return t.tryAll(&x, path[p.pos:], best)
	}
	path = path[p.pos:]
	for _, number := range found {
		off := t.u24(x.offsets + 3*uint32(number))
		if r := t.try(off, path, best); r != best || t.headerAt(off).rank() <= best {
			return r // the others have lower ranks
		}
	}
	return best
}

// candidates finds the patterns that are to be tried, by descending rank, or reports that all are.
func (t table) candidates(group uint32, x *index, hashes []uint16, has uint64, c *candidates) (found []uint16, ok bool) {
	if len(hashes) >= maxHits {
		return nil, false
	}
	n, looked := 0, uint32(0)
	for _, h := range hashes {
		w := uint32(h >> 6)
		word := t.u64(group + indexHeader + 8*w)
		first := x.first + 2*(t.u16(x.before+2*w)+uint32(bits.OnesCount64(word&(1<<(h&63)-1))))
		lo, hi := t.u16(first), t.u16(first+2)
		if looked += hi - lo; looked > maxEntries {
			return nil, false
		}
		for e := x.entries + entrySize*lo; lo < hi; lo++ { // without branches on what is found
			c.found[n] = uint16(t.u16(e + 8))
			if t.u64(e)&^has == 0 {
				n++
			}
			e += entrySize
		}
	}
	found = c.found[:n]
	if n > 1 {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found, true
}

// tryAll is tryIndexed for a path that may match all patterns.
func (t table) tryAll(x *index, path []byte, best Rank) Rank {
	for number := range x.count {
		off := t.u24(x.offsets + 3*number)
		if r := t.try(off, path, best); r != best || t.headerAt(off).rank() <= best {
			return r
		}
	}
	return best
}

// windowAt returns the window of a place of a path of at least windowSize bytes. It has no
// branches.
func windowAt(path []byte, i int) uint64 {
	from, last := i-windowBefore, len(path)-windowSize
	below := from & (from >> 63)                   // how far it begins before the path, negative
	above := (last - from) & ((last - from) >> 63) // how far it ends behind the path, negative
	w := binary.LittleEndian.Uint64(path[from-below+above:])
	return w << (-8 * below & 63) >> (-8 * above & 63)
}
