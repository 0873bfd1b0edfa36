package output

import (
	"encoding/binary"
	"math/bits"
)

// longRuns is how many rows runs must have on average for pages to be made from them: shorter ones are faster by row.
const longRuns = 4

// A run is a value of rows that follow each other, as a number.
type run struct {
	value int32
	rows  int
}

// collectRuns sets e.runs to the values of a column that are not null, as numbers. No two neighbours are equal.
func collectRuns[T any](e *pageEncoder, v *valueColumn[T], lengths []int32, number func(T) int32) []run {
	e.runs = e.runs[:0]
	for i, value := range v.values {
		if len(v.present) == 0 || v.present[i] != 0 {
			e.addRun(number(value), int(lengths[i]))
		}
	}
	return e.runs
}

// addRun adds rows to e.runs.
func (e *pageEncoder) addRun(value int32, rows int) {
	if n := len(e.runs); n > 0 && e.runs[n-1].value == value {
		e.runs[n-1].rows += rows
	} else {
		e.runs = append(e.runs, run{value, rows})
	}
}

// encodeRuns is encodeColumn for a column that was gathered by runs.
func (e *pageEncoder) encodeRuns(c *columns, col column, lengths []int32, dictLen int) (stats columnStats) {
	number := func(n int32) int32 { return n }
	switch col {
	case colAllowed:
		stats.nulls = e.addRunLevels(c.allowed.present, lengths, c.rows, c.allowed.nulls)
		e.page = appendBitRuns(e.page, collectRuns(e, &c.allowed, lengths, bit))
		stats.addRuns(e.runs)
	case colRuleLine:
		stats.nulls = e.addRunLevels(c.ruleLine.present, lengths, c.rows, c.ruleLine.nulls)
		for _, r := range collectRuns(e, &c.ruleLine, lengths, number) {
			for range r.rows {
				e.page = binary.LittleEndian.AppendUint32(e.page, uint32(r.value))
			}
		}
		stats.addRuns(e.runs)
	default:
		ids := &c.ids[col]
		if fields[col].nullable {
			stats.nulls = e.addRunLevels(ids.present, lengths, c.rows, ids.nulls)
		}
		width := bits.Len(uint(max(1, dictLen) - 1))
		e.page = e.appendHybridRuns(append(e.page, byte(width)), collectRuns(e, ids, lengths, number), width)
	}
	return stats
}

// bit returns 1 for true.
func bit(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// addRunLevels is addLevels by runs.
func (e *pageEncoder) addRunLevels(present []int16, lengths []int32, rows, nulls int) int64 {
	e.page = append(e.page, 0, 0, 0, 0)
	if nulls == 0 {
		e.page = appendRun(e.page, 1, rows, 1)
	} else {
		e.runs = e.runs[:0]
		for i, level := range present {
			e.addRun(int32(level), int(lengths[i]))
		}
		e.page = e.appendHybridRuns(e.page, e.runs, 1)
	}
	binary.LittleEndian.PutUint32(e.page, uint32(len(e.page)-4))
	return int64(nulls)
}

// addRuns takes in values that are not null.
func (s *columnStats) addRuns(runs []run) {
	for _, r := range runs {
		v := int64(r.value)
		if !s.some {
			s.some, s.ints = true, [2]int64{v, v}
		}
		s.ints = [2]int64{min(s.ints[0], v), max(s.ints[1], v)}
	}
}

// appendHybridRuns is appendHybrid of values by runs, of which no two neighbours are equal.
func (e *pageEncoder) appendHybridRuns(dst []byte, runs []run, width int) []byte {
	wait := e.ids[:0] // the values that wait to be packed
	for _, r := range runs {
		for r.rows > 0 && len(wait)%8 != 0 { // a group of eight that has begun takes what it lacks
			wait = append(wait, r.value)
			r.rows--
		}
		if r.rows >= 8 {
			dst = appendRun(appendPacked(dst, wait, width), uint32(r.value), r.rows, width)
			wait = wait[:0]
			continue
		}
		for range r.rows {
			wait = append(wait, r.value)
		}
	}
	e.ids = wait[:0]
	return appendPacked(dst, wait, width)
}

// appendBitRuns is packBits of values by runs.
func appendBitRuns(dst []byte, runs []run) []byte {
	var p bitPacker
	for _, r := range runs {
		for rows := r.rows; rows > 0; rows -= 64 {
			n := min(rows, 64)
			dst = p.append(dst, uint64(-int64(r.value))>>(64-n), n)
		}
	}
	return p.finish(dst)
}
