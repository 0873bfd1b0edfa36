package parquetfile

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
)

// errRuns is the error of runs that end too early, or are none.
var errRuns = errors.New("its runs are damaged")

// A hybrid reads numbers in the RLE and bit-packing hybrid.
type hybrid struct {
	data  []byte
	width int
	run   uint64 // numbers that are left of a run of equal ones
	value uint32
	bits  uint64 // numbers that are left of a bit-packed run
	pos   uint64 // in bits of data, in such a run
}

// checkHybrid goes over runs that have n numbers, and returns an error if they have fewer or do not
// fill data. Some writers leave out the padding of the last one.
func checkHybrid(data []byte, width, n int) error {
	if width > 32 {
		return errRuns
	}
	for left := uint64(n); left > 0; {
		head, size := binary.Uvarint(data)
		if size <= 0 || head>>1 == 0 || head>>1 > 1<<32 {
			return errRuns
		}
		data = data[size:]
		count, need := head>>1, uint64(width+7)/8
		if head&1 != 0 {
			need = count * uint64(width)
			count *= 8
			if least := (min(count, left)*uint64(width) + 7) / 8; need > uint64(len(data)) && least <= uint64(len(data)) {
				need = uint64(len(data))
			}
		}
		if need > uint64(len(data)) {
			return errRuns
		}
		data, left = data[need:], left-min(count, left)
	}
	if !padding(data) {
		return errRuns
	}
	return nil
}

// padding reports whether a page may end so: fastparquet adds eight zeros to the values of each.
func padding(rest []byte) bool {
	return len(rest) <= 8 && !slices.ContainsFunc(rest, func(b byte) bool { return b != 0 })
}

// next returns the next number of runs that were checked.
func (h *hybrid) next() uint32 {
	for h.run == 0 && h.bits == 0 {
		h.begin()
	}
	if h.run > 0 {
		h.run--
		return h.value
	}
	h.bits--
	v := readBits(h.data, h.pos, h.width)
	if h.pos += uint64(h.width); h.bits == 0 {
		h.data, h.pos = h.data[min(uint64(len(h.data)), (h.pos+7)/8):], 0
	}
	return uint32(v)
}

// begin begins the next run.
func (h *hybrid) begin() {
	head, size := binary.Uvarint(h.data)
	h.data = h.data[size:]
	if head&1 != 0 {
		h.bits = head >> 1 * 8
		return
	}
	h.run, h.value = head>>1, 0
	for i := range (h.width + 7) / 8 {
		h.value |= uint32(h.data[i]) << (8 * i)
	}
	h.data = h.data[(h.width+7)/8:]
}

// readBits returns the number of that width, at most 64, that begins at that bit. Bits behind the
// end of data are 0.
func readBits(data []byte, at uint64, width int) uint64 {
	if width == 0 {
		return 0
	}
	first, shift := at/8, at%8
	var b [9]byte
	copy(b[:], data[min(first, uint64(len(data))):])
	v := binary.LittleEndian.Uint64(b[:]) >> shift
	if shift > 0 {
		v |= uint64(b[8]) << (64 - shift)
	}
	return v & (1<<width - 1)
}

// readLevels appends the levels of a page to dst: the definition or repetition levels, in that encoding. None may be
// above most.
func readLevels(dst []uint8, data []byte, p *page, encoding parquet.Encoding, most int) ([]uint8, error) {
	width := bits.Len(uint(most))
	if p.kind == dataPage && encoding == parquet.Encodings.BitPacked { // from the highest bit down
		for i := range int(p.values) * width {
			if i%width == 0 {
				dst = append(dst, 0)
			}
			dst[i/width] = dst[i/width]<<1 | data[i/8]>>(7-i%8)&1
		}
	} else {
		if err := checkHybrid(data, width, int(p.values)); err != nil {
			return dst, errLevels
		}
		for h := (hybrid{data: data, width: width}); len(dst) < int(p.values); {
			if h.run == 0 && h.bits == 0 {
				h.begin()
				for ; h.run > 0 && len(dst) < int(p.values); h.run-- {
					dst = append(dst, uint8(h.value))
				}
				continue
			}
			dst = append(dst, uint8(h.next()))
		}
	}
	for _, l := range dst {
		if int(l) > most {
			return dst, errLevels
		}
	}
	return dst, nil
}

// errDeltas is the error of damaged differences.
var errDeltas = errors.New("its differences are damaged")

// readDeltas appends the numbers in DELTA_BINARY_PACKED that data begin with, which must be n, to
// dst. It returns the data behind them.
func readDeltas(dst []int64, data []byte, n int) ([]int64, []byte, error) {
	c := compact{data: data} // the numbers are Thrift's
	block, minis, count := c.uvarint(), c.uvarint(), c.uvarint()
	value := c.int()
	if c.err != nil || minis == 0 || block == 0 || block%minis != 0 || block/minis%8 != 0 || block > 1<<20 || count != uint64(n) {
		return dst, nil, errDeltas
	}
	if n > 0 {
		dst = append(dst, value)
	}
	mini := block / minis
	for left := uint64(max(0, n-1)); left > 0; {
		least := c.int()
		widths := data[min(len(data), c.pos):]
		c.bytes(minis)
		for i := uint64(0); i < minis && left > 0 && c.err == nil; i++ {
			width := int(widths[i])
			bytes := uint64(width) * mini / 8
			at := c.pos
			if width > 64 {
				return dst, nil, errDeltas
			}
			if here := uint64(len(data) - at); bytes > here && (min(left, mini)*uint64(width)+7)/8 <= here {
				bytes = here // some writers leave out the padding of the last one
			}
			if c.bytes(bytes); c.err != nil {
				break
			}
			packed := data[at:c.pos]
			for k := range min(left, mini) {
				value += least + int64(readBits(packed, k*uint64(width), width))
				dst = append(dst, value)
			}
			left -= min(left, mini)
		}
		if c.err != nil {
			return dst, nil, errDeltas
		}
	}
	return dst, data[c.pos:], nil
}
