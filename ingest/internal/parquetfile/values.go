package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// Faults of values.
var (
	errFill   = errors.New("its values are shorter or longer than the page")
	errNoDict = errors.New("it has dictionary indices, but the column has no dictionary")
	errID     = errors.New("it has a number that the dictionary does not have")
	errPrefix = errors.New("it has a value whose shared prefix is longer than the previous value")
)

// byteStreamSplit is BYTE_STREAM_SPLIT, for which the library has no name.
const byteStreamSplit parquet.Encoding = 9

// A kind is the decoding method for the values of a page.
type kind uint8

const (
	fixed     kind = iota // PLAIN
	scattered             // BYTE_STREAM_SPLIT
	bools                 // PLAIN
	texts                 // PLAIN
	ids                   // dictionary indexes
	runs                  // RLE of booleans
	deltas                // DELTA_BINARY_PACKED
	lengths               // DELTA_LENGTH_BYTE_ARRAY
	prefixes              // DELTA_BYTE_ARRAY
)

// values are the non-null values of a page. Their structure is already checked.
type values struct {
	kind kind
	typ  parquet.Type
	size int    // size of a fixed-size value
	data []byte // for texts, the remaining data
	n, i int    // number of values, and of values read

	dict   *dictionary
	hybrid hybrid
	ints   []int64 // values, or lengths of texts
	shared []int64 // lengths of the prefixes that values share with their predecessor
	text   []byte  // previous value
}

// sizeOf returns the size in bytes of a value of a type; 0 if it is variable.
func sizeOf(col *schema.Column) int {
	switch col.PhysicalType() {
	case parquet.Types.Int32, parquet.Types.Float:
		return 4
	case parquet.Types.Int64, parquet.Types.Double:
		return 8
	case parquet.Types.Int96:
		return 12
	case parquet.Types.FixedLenByteArray:
		return col.TypeLength()
	}
	return 0
}

// set starts a page of n non-null values, and checks that they fill the page. v keeps data and dict, which must not
// change until the next page.
func (v *values) set(col *schema.Column, dict *dictionary, data []byte, n int, encoding parquet.Encoding) (err error) {
	v.typ, v.size, v.data, v.n, v.i, v.dict, v.text = col.PhysicalType(), sizeOf(col), data, n, 0, dict, v.text[:0]
	isText, isInt := v.typ == parquet.Types.ByteArray, v.typ == parquet.Types.Int32 || v.typ == parquet.Types.Int64
	switch {
	case encoding == parquet.Encodings.Plain:
		return v.setPlain()
	case encoding == parquet.Encodings.PlainDict, encoding == parquet.Encodings.RLEDict:
		v.kind = ids
		// Check dictionary indexes; the first byte is their width.
		switch {
		case v.n == 0: // only nulls: some writers omit the width
			return nil
		case v.dict.data == nil:
			return errNoDict
		case len(v.data) == 0:
			return errFill
		}
		v.hybrid = hybrid{data: v.data[1:], width: int(v.data[0])}
		return checkHybrid(v.data[1:], int(v.data[0]), v.n)
	case encoding == parquet.Encodings.RLE && v.typ == parquet.Types.Boolean:
		v.kind = runs
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) != uint64(len(data)-4) {
			return errFill
		}
		v.hybrid = hybrid{data: data[4:], width: 1}
		return checkHybrid(data[4:], 1, n)
	case encoding == parquet.Encodings.DeltaBinaryPacked && isInt:
		v.kind = deltas
		v.ints, data, err = readDeltas(v.ints[:0], data, n)
		if err == nil && !isPadding(data) {
			err = errFill
		}
		return err
	case encoding == parquet.Encodings.DeltaLengthByteArray && isText:
		v.kind = lengths
		return v.setLengths(data)
	case encoding == parquet.Encodings.DeltaByteArray && isText:
		v.kind = prefixes
		// Check texts that share a prefix with their predecessor: the prefix cannot be longer than the predecessor.
		var err error
		var suffixes []byte
		if v.shared, suffixes, err = readDeltas(v.shared[:0], v.data, v.n); err != nil {
			return err
		}
		if err := v.setLengths(suffixes); err != nil {
			return err
		}
		before := int64(0)
		for i, n := range v.shared {
			if n < 0 || n > before {
				return errPrefix
			}
			before = n + v.ints[i]
		}
		return nil
	case encoding == byteStreamSplit && v.size > 0:
		v.kind = scattered
		return v.checkSize(uint64(n) * uint64(v.size))
	}
	return fmt.Errorf("it is %s in the encoding %s, %w", v.typ, encoding, ErrUnsupported)
}

// checkSize returns an error unless the values take exactly that many bytes.
func (v *values) checkSize(bytes uint64) error {
	if bytes > uint64(len(v.data)) || !isPadding(v.data[bytes:]) {
		return errFill
	}
	return nil
}

// setPlain starts values in PLAIN encoding, and checks that their length matches their type.
func (v *values) setPlain() error {
	switch v.typ {
	case parquet.Types.Boolean:
		v.kind = bools
		return v.checkSize((uint64(v.n) + 7) / 8)
	case parquet.Types.ByteArray:
		v.kind = texts
		rest := v.data
		for range v.n {
			var ok bool
			if _, rest, ok = cutText(rest); !ok {
				return errFill
			}
		}
		if !isPadding(rest) {
			return errFill
		}
		return nil
	}
	v.kind = fixed
	return v.checkSize(uint64(v.n) * uint64(v.size))
}

// cutText returns the first text in PLAIN data, and the rest. ok is false if data is too short.
func cutText(data []byte) (text, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, nil, false
	}
	end := 4 + uint64(binary.LittleEndian.Uint32(data))
	if end > uint64(len(data)) {
		return nil, nil, false
	}
	return data[4:end], data[end:], true
}

// setLengths starts texts that follow their lengths, and checks that they fill the page.
func (v *values) setLengths(data []byte) (err error) {
	if v.ints, v.data, err = readDeltas(v.ints[:0], data, v.n); err != nil {
		return err
	}
	sum := uint64(0)
	for _, n := range v.ints {
		if n < 0 || n > math.MaxInt32 {
			return errFill
		}
		sum += uint64(n)
	}
	return v.checkSize(sum)
}

// next returns the next value, which is valid until the next call. The caller must know that a value remains. The error
// is errID for an unknown number of the dictionary.
func (v *values) next() (Value, error) {
	i := v.i
	v.i++
	switch v.kind {
	case fixed:
		return fixedValue(v.typ, v.data[i*v.size:][:v.size:v.size]), nil
	case scattered:
		b := v.text[:0]
		for k := range v.size {
			b = append(b, v.data[k*v.n+i])
		}
		v.text = b
		return fixedValue(v.typ, b), nil
	case bools:
		return Value{Int: int64(v.data[i/8] >> (i % 8) & 1)}, nil
	case ids:
		d := v.dict
		id := v.hybrid.next()
		switch {
		case uint64(id) >= uint64(d.n):
			return Value{}, errID
		case d.typ == parquet.Types.ByteArray:
			return Value{Bytes: d.data[d.offsets[id]+4 : d.offsets[id+1] : d.offsets[id+1]]}, nil
		case d.typ == parquet.Types.Boolean:
			return Value{Int: int64(d.data[id/8] >> (id % 8) & 1)}, nil
		}
		return fixedValue(d.typ, d.data[int(id)*d.size:][:d.size:d.size]), nil
	case runs:
		return Value{Int: int64(v.hybrid.next())}, nil
	case deltas:
		if v.typ == parquet.Types.Int32 {
			return Value{Int: int64(int32(v.ints[i]))}, nil
		}
		return Value{Int: v.ints[i]}, nil
	case lengths:
		return Value{Bytes: v.nextText(i)}, nil
	case prefixes:
		v.text = append(v.text[:v.shared[i]], v.nextText(i)...)
		return Value{Bytes: v.text}, nil
	case texts:
	}
	var text []byte
	text, v.data, _ = cutText(v.data) // already checked
	return Value{Bytes: text}, nil
}

// nextText returns the next text, which has length v.ints[i].
func (v *values) nextText(i int) []byte {
	n := v.ints[i]
	text := v.data[:n:n]
	v.data = v.data[n:]
	return text
}

// fixedValue converts the bytes of a fixed-size value. For types other than numbers, the value shares the memory of b.
func fixedValue(t parquet.Type, b []byte) Value {
	switch t {
	case parquet.Types.Int32:
		return Value{Int: int64(int32(binary.LittleEndian.Uint32(b)))}
	case parquet.Types.Int64:
		return Value{Int: int64(binary.LittleEndian.Uint64(b))}
	case parquet.Types.Float:
		return Value{Float: float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))}
	case parquet.Types.Double:
		return Value{Float: math.Float64frombits(binary.LittleEndian.Uint64(b))}
	}
	return Value{Bytes: b}
}

// A dictionary holds the values that the indexes in a column chunk refer to.
type dictionary struct {
	typ     parquet.Type
	size    int    // size of a fixed-size value
	data    []byte // nil without a dictionary
	n       int
	offsets []uint32 // positions of texts in data, and the end of the last one
}

// set sets the dictionary from a page of n values in PLAIN encoding, and checks that they fill the page. It keeps data.
func (d *dictionary) set(col *schema.Column, data []byte, n int) error {
	*d = dictionary{typ: col.PhysicalType(), size: sizeOf(col), data: data, n: n, offsets: d.offsets[:0]}
	if d.data == nil {
		d.data = []byte{}
	}
	if d.typ != parquet.Types.ByteArray {
		v := values{typ: d.typ, size: d.size, data: data, n: n}
		return v.setPlain()
	}
	rest := data
	for range n {
		var ok bool
		d.offsets = append(d.offsets, uint32(len(data)-len(rest)))
		if _, rest, ok = cutText(rest); !ok {
			return errFill
		}
	}
	if !isPadding(rest) {
		return errFill
	}
	d.offsets = append(d.offsets, uint32(len(data)-len(rest)))
	return nil
}

// errRuns means that runs are truncated or invalid.
var errRuns = errors.New("its runs are damaged")

// A hybrid reads numbers in the RLE and bit-packing hybrid encoding.
type hybrid struct {
	data  []byte
	width int
	run   uint64 // numbers left in a run of equal ones
	value uint32
	bits  uint64 // numbers left in a bit-packed run
	pos   uint64 // bit position in data, in a bit-packed run
}

// checkHybrid checks that runs contain n numbers and fill data. Some writers omit the padding of the last run.
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
	if !isPadding(data) {
		return errRuns
	}
	return nil
}

// isPadding reports whether the rest of a page is valid padding: fastparquet adds eight zeros to the values of each
// page.
func isPadding(rest []byte) bool {
	return len(rest) <= 8 && !slices.ContainsFunc(rest, func(b byte) bool { return b != 0 })
}

// next returns the next number of runs that checkHybrid has accepted. The caller must know that a number remains.
func (h *hybrid) next() uint32 {
	for h.run == 0 && h.bits == 0 {
		h.beginRun()
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

// beginRun starts the next run.
func (h *hybrid) beginRun() {
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

// readBits returns the number at a bit position with a width of at most 64 bits. Bits after the end of data are 0.
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

// readLevels decodes the definition or repetition levels of a page, and appends them to dst: p.values levels of at most
// most. The error is errLevels.
func readLevels(dst []uint8, data []byte, p *page, encoding parquet.Encoding, most int) ([]uint8, error) {
	width := bits.Len(uint(most))
	if p.kind == dataPage && encoding == parquet.Encodings.BitPacked { // most significant bit first
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
				h.beginRun()
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

// errDeltas means that deltas are damaged.
var errDeltas = errors.New("its differences are damaged")

// readDeltas reads exactly n numbers in DELTA_BINARY_PACKED from the beginning of data, and appends them to dst. It
// returns the data after them.
func readDeltas(dst []int64, data []byte, n int) ([]int64, []byte, error) {
	c := compact{data: data} // numbers are encoded as in Thrift
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
		c.skipBytes(minis)
		for i := uint64(0); i < minis && left > 0 && c.err == nil; i++ {
			width := int(widths[i])
			bytes := uint64(width) * mini / 8
			at := c.pos
			if width > 64 {
				return dst, nil, errDeltas
			}
			if here := uint64(len(data) - at); bytes > here && (min(left, mini)*uint64(width)+7)/8 <= here {
				bytes = here // some writers omit the padding of the last one
			}
			if c.skipBytes(bytes); c.err != nil {
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
