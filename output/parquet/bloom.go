package parquet

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// A bloomFilter is a split block Bloom filter, as the document "Parquet Bloom Filter" of the format
// describes it: a text sets a bit in each of the eight words of one block.
type bloomFilter []uint32

// bloomWords are the words of a block.
const bloomWords = 8

// bloomSalt makes eight bits of a hash, one for each word of a block. The specification gives the
// numbers.
var bloomSalt = [bloomWords]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

const (
	// bloomBits is the bits of a distinct text. At most one in a hundred absent texts is taken for
	// present; mostly fewer, because the number of blocks is rounded up to a power of two.
	bloomBits = 10.5
	// maxBloom is the most bytes of a filter: enough for 50 million texts.
	maxBloom = 64 << 20
)

// newBloomFilter returns the filter of these hashes. It reorders them.
func newBloomFilter(hashes []uint64) bloomFilter {
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	size := 4 * bloomWords
	for size < maxBloom && float64(8*size) < bloomBits*float64(len(hashes)) {
		size *= 2
	}
	f := make(bloomFilter, size/4)
	for _, h := range hashes {
		f.insertHash(h)
	}
	return f
}

// block returns the first word of the block of a hash.
func (f bloomFilter) block(hash uint64) int {
	blocks := uint64(len(f) / bloomWords)
	return int((hash>>32)*blocks>>32) * bloomWords
}

// insertHash sets the bits of a hash.
func (f bloomFilter) insertHash(hash uint64) {
	block := f[f.block(hash):][:bloomWords]
	for i, salt := range bloomSalt {
		block[i] |= 1 << (uint32(hash) * salt >> 27)
	}
}

// writeTo writes the filter after its header, which says: this many bytes, in blocks, by XXH64,
// uncompressed.
func (f bloomFilter) writeTo(w io.Writer) error {
	// Thrift's compact protocol: field 1 is an i32, in zigzag; 2, 3 and 4 are unions whose field 1
	// is an empty struct.
	b := binary.AppendVarint([]byte{0x15}, int64(4*len(f)))
	b = append(b, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0)
	for _, word := range f {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	_, err := w.Write(b)
	return err
}

// bloomHash returns the hash of a text.
func bloomHash(text []byte) uint64 { return xxhash.Sum64(text) }
