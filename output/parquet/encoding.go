package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// This file implements encodings from the Parquet document "Encodings". Each function appends to a page. Some encodings
// have two functions, for values and for streaks of equal values, which produce the same bytes.

// appendHybrid appends values of width bits in the hybrid of RLE and bit-packing. It packs groups of eight values.
// Eight or more equal values at the start of a group become a run.
func appendHybrid[T int16 | int32](dst []byte, values []T, width int) []byte {
	packed := 0 // start of the values that are not packed yet; i-packed is a multiple of eight
	for i := 0; i < len(values); {
		run := runLength(values[i:])
		if run < 8 {
			i = min(i+8, len(values))
			continue
		}
		dst = appendPacked(dst, values[packed:i], width)
		dst = appendRun(dst, uint32(values[i]), run, width)
		i += run
		packed = i
	}
	return appendPacked(dst, values[packed:], width)
}

// appendRun appends n equal values as a run. The value takes the bytes that width bits need.
func appendRun(dst []byte, value uint32, n, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for shift := 0; shift < width; shift += 8 {
		dst = append(dst, byte(value>>shift))
	}
	return dst
}

// runLength returns the number of values at the start that are equal to the first. There must be at least one value.
func runLength[T int16 | int32](values []T) int {
	first := values[0]
	n := 1
	for rest := values[1:]; len(rest) >= 8; rest = rest[8:] { // long runs take most of the time
		v := (*[8]T)(rest)
		if (v[0]^first)|(v[1]^first)|(v[2]^first)|(v[3]^first)|(v[4]^first)|(v[5]^first)|(v[6]^first)|(v[7]^first) != 0 {
			break
		}
		n += 8
	}
	for n < len(values) && values[n] == first {
		n++
	}
	return n
}

// appendPacked appends values as one bit-packed run, padded with zeros to a multiple of eight.
func appendPacked[T int16 | int32](dst []byte, values []T, width int) []byte {
	if len(values) == 0 {
		return dst
	}
	groups := (len(values) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	var p bitPacker
	for _, v := range values {
		dst = p.append(dst, uint64(v), width)
	}
	for range 8*groups - len(values) {
		dst = p.append(dst, 0, width)
	}
	return p.finish(dst)
}

// A bitPacker packs values into bytes, from the lowest bit up.
type bitPacker struct {
	word uint64
	used int // bits of word; less than 64
}

// append packs v, which has at most width bits. It appends to dst only when word is full.
func (p *bitPacker) append(dst []byte, v uint64, width int) []byte {
	p.word |= v << p.used
	p.used += width
	if p.used < 64 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint64(dst, p.word)
	p.used -= 64
	p.word = v >> (width - p.used)
	return dst
}

// finish appends the last bits.
func (p *bitPacker) finish(dst []byte) []byte {
	for ; p.used > 0; p.used -= 8 {
		dst = append(dst, byte(p.word))
		p.word >>= 8
	}
	return dst
}

// The number of values in a block and in a miniblock of DELTA_BINARY_PACKED.
const (
	deltaBlock = 128
	deltaMini  = 32
)

// appendDeltas appends values, which may be none, with their header in DELTA_BINARY_PACKED.
func appendDeltas(dst []byte, values []int64) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaBlock/deltaMini)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(dst, 0)
	}
	dst = binary.AppendVarint(dst, values[0])
	var deltas [deltaBlock]int64
	for last, rest := values[0], values[1:]; len(rest) > 0; {
		n := min(deltaBlock, len(rest))
		if hasEqualSteps(last, rest[:n]) { // usual for line numbers
			dst = append(binary.AppendVarint(dst, rest[0]-last), make([]byte, deltaBlock/deltaMini)...)
			last, rest = rest[n-1], rest[n:]
			continue
		}
		least := int64(math.MaxInt64)
		for i, v := range rest[:n] {
			deltas[i] = v - last
			least = min(least, deltas[i])
			last = v
		}
		used := (n + deltaMini - 1) / deltaMini * deltaMini
		for i := n; i < used; i++ {
			deltas[i] = least
		}
		dst = appendDeltaBlock(dst, deltas[:used], least)
		rest = rest[n:]
	}
	return dst
}

// hasEqualSteps reports whether all differences between neighbouring values are equal, including that between last and
// values[0].
func hasEqualSteps(last int64, values []int64) bool {
	delta := values[0] - last
	for _, v := range values {
		if v-last != delta {
			return false
		}
		last = v
	}
	return true
}

// appendDeltaBlock appends one block. Its number of deltas is a multiple of deltaMini, at most deltaBlock; only the
// last block of a page has fewer. least is the minimum of the deltas.
func appendDeltaBlock(dst []byte, deltas []int64, least int64) []byte {
	dst = binary.AppendVarint(dst, least)
	widths := len(dst)
	dst = append(dst, make([]byte, deltaBlock/deltaMini)...)
	for mini := 0; len(deltas) > 0; mini++ {
		piece := (*[deltaMini]int64)(deltas)
		deltas = deltas[deltaMini:]
		var all uint64
		for _, d := range piece {
			all |= uint64(d - least)
		}
		width := bits.Len64(all)
		dst[widths+mini] = byte(width)
		if width <= 8 { // usual for lengths
			dst = appendNarrow(dst, piece, least, width)
			continue
		}
		var p bitPacker
		for _, d := range piece {
			dst = p.append(dst, uint64(d-least), width)
		}
		dst = p.finish(dst)
	}
	return dst
}

// appendNarrow appends a miniblock with at most eight bits per value. Eight values fit in a word and fill whole bytes.
func appendNarrow(dst []byte, piece *[deltaMini]int64, least int64, width int) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, deltaMini+8)...) // each word overwrites the unused bytes of the previous one
	for i := 0; i < deltaMini; i += 8 {
		var word uint64
		for k, d := range piece[i : i+8] {
			word |= uint64(d-least) << (k * width & 63)
		}
		binary.LittleEndian.PutUint64(dst[at:], word)
		at += width
	}
	return dst[:at]
}

// AppendBits appends one bit per value, the lowest bit first: the format of booleans in Parquet (PLAIN) and Arrow, and
// of Arrow's bitmaps. Bits after the last value are zero.
func AppendBits[T bool | int16](dst []byte, values []T) []byte {
	var zero T
	for len(values) > 0 {
		n := min(8, len(values))
		var b byte
		for i, v := range values[:n] {
			if v != zero {
				b |= 1 << i
			}
		}
		dst, values = append(dst, b), values[n:]
	}
	return dst
}

// A streak is a number of neighbouring rows with the same value.
type streak struct {
	value int32
	rows  int
}

// appendStreak adds rows to streaks. It extends the last streak if the value is the same.
func appendStreak(streaks []streak, value int32, rows int) []streak {
	if n := len(streaks); n > 0 && streaks[n-1].value == value {
		streaks[n-1].rows += rows
		return streaks
	}
	return append(streaks, streak{value, rows})
}

// appendHybridStreaks is like appendHybrid for streaks. Neighbouring streaks must have different values.
func (e *Encoder) appendHybridStreaks(dst []byte, streaks []streak, width int) []byte {
	wait := e.ids[:0] // the values that are not packed yet
	for _, s := range streaks {
		for s.rows > 0 && len(wait)%8 != 0 { // fill the current group of eight
			wait = append(wait, s.value)
			s.rows--
		}
		if s.rows >= 8 {
			dst = appendRun(appendPacked(dst, wait, width), uint32(s.value), s.rows, width)
			wait = wait[:0]
			continue
		}
		for range s.rows {
			wait = append(wait, s.value)
		}
	}
	e.ids = wait[:0]
	return appendPacked(dst, wait, width)
}

// appendBitStreaks is like AppendBits for streaks of 0 and 1.
func appendBitStreaks(dst []byte, streaks []streak) []byte {
	var p bitPacker
	for _, s := range streaks {
		for rows := s.rows; rows > 0; rows -= 64 {
			n := min(rows, 64)
			dst = p.append(dst, uint64(-int64(s.value))>>(64-n), n)
		}
	}
	return p.finish(dst)
}

// A Type is the type of a column's values.
type Type uint8

// The types.
const (
	Int64 Type = iota
	Int32
	Bool
	Text       // UTF-8 that rarely repeats
	Dictionary // UTF-8 that repeats: a row group stores each text once
	Time       // microseconds since 1970 in UTC, as int64
	Double
)

// A Field describes a column.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	Delta    bool // Int64: use DELTA_BINARY_PACKED, for small steps; Text: use DELTA_BYTE_ARRAY for pages where it pays
}

// Values are a column of some rows, with one value per row or one per streak of equal rows.
type Values[T any] struct {
	All     []T     // the value of a null is ignored
	Present []int16 // for each value, 0 if it is null, otherwise 1; empty unless the field is nullable
	Nulls   int     // number of rows that are null
	Streaks []int32 // for each value, its number of rows, at least 1; nil means one row per value
}

// Spread expands one value per streak into one value per row.
func (v *Values[T]) Spread() {
	if v.Streaks == nil {
		return
	}
	v.All, v.Present = expandStreaks(v.All, v.Streaks), expandStreaks(v.Present, v.Streaks)
	v.Streaks = nil
}

// expandStreaks repeats each value for its rows, and returns the longer slice. It works in place, from the end, so
// that no value is overwritten before it is read.
func expandStreaks[T any](values []T, rows []int32) []T {
	if len(values) == 0 {
		return values
	}
	end := 0
	for _, n := range rows {
		end += int(n)
	}
	values = slices.Grow(values, end-len(values))[:end]
	for i := len(rows) - 1; i >= 0 && end > i; i-- {
		value, start := values[i], end-int(rows[i])
		for row := start; row < end; row++ {
			values[row] = value
		}
		end = start
	}
	return values
}

// Texts are a column of texts.
type Texts struct {
	Bytes   []byte  // each text that is not null, after its length in four bytes (Parquet's PLAIN)
	Present []int16 // see Values
	Nulls   int
}

// A TextList is a dictionary. Its texts are numbered from 0.
type TextList interface {
	Len() int
	At(i int32) []byte // valid until the list changes
}
