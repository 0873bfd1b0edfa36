package pack

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// An index finds the record of a name. It is a section as it lies in the file: each entry is the
// hash of a name and the offset of its record, eight bytes each, in the order of the hashes.
type index struct {
	entries []byte
	shift   uint     // of a hash, to the number of its bucket
	buckets []uint32 // first entry of each bucket, and the number of entries at last
}

// bucketSize is the most entries that a bucket has on average: a lookup reads about two cache
// lines.
const bucketSize = 4

// newIndex checks the entries and returns their index.
func newIndex(entries []byte, sum uint64) (index, error) {
	if xxh3.Hash(entries) != sum {
		return index{}, fmt.Errorf("%w (an index has a wrong checksum)", ErrDamaged)
	}
	x := index{entries: entries}
	count := x.len()
	width := uint(bits.Len(uint(count / bucketSize)))
	x.shift = 64 - width
	x.buckets = make([]uint32, 1<<width+1)
	last, filled := uint64(0), uint64(0)
	for i := range uint32(count) {
		h := x.hash(i)
		if h < last {
			return index{}, fmt.Errorf("%w (an index is not in order)", ErrDamaged)
		}
		last = h
		for b := h >> x.shift; filled < b; {
			filled++
			x.buckets[filled] = i
		}
	}
	for filled++; filled < uint64(len(x.buckets)); filled++ {
		x.buckets[filled] = uint32(count)
	}
	return x, nil
}

func (x *index) len() int { return len(x.entries) / indexEntry }

func (x *index) hash(i uint32) uint64 {
	return binary.LittleEndian.Uint64(x.entries[int(i)*indexEntry:])
}

func (x *index) offset(i uint32) uint64 {
	return binary.LittleEndian.Uint64(x.entries[int(i)*indexEntry+8:])
}

// find returns the entries with that hash, lo up to hi: mostly one or none.
func (x *index) find(hash uint64) (lo, hi uint32) {
	lo, end := x.buckets[hash>>x.shift], x.buckets[hash>>x.shift+1]
	for hi = end; lo < hi; {
		if mid := lo + (hi-lo)/2; x.hash(mid) < hash {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for hi < end && x.hash(hi) == hash {
		hi++
	}
	return lo, hi
}
