package engine

import "math/bits"

// minStreak is the least mean number of neighbouring rows of one site for a batch to be decided in
// the order of its rows.
const minStreak = 4

// A rulingOrder sorts the rows of a batch by the rulings in force for them, so that the same rules are
// fetched from memory once for all of their rows. It keeps its memory.
type rulingOrder struct{ rows, spare []rulingRow }

// A rulingRow is a row of a batch and the ruling in force for it.
type rulingRow struct {
	id  RulingID
	row uint32
}

// digit is the number of bits that one pass sorts by: its counts stay in the first-level cache.
const digit = 11

// sort returns the rows in the order of their rulings; rows of one ruling stay in order. It makes
// a pass for every 11 bits of the greatest.
func (o *rulingOrder) sort(rulings []RulingID) []rulingRow {
	n := len(rulings)
	if cap(o.rows) < n {
		o.rows, o.spare = make([]rulingRow, n), make([]rulingRow, n)
	}
	o.rows, o.spare = o.rows[:n], o.spare[:n]
	used := RulingID(0) // the bits of all
	for i, id := range rulings {
		o.rows[i] = rulingRow{id, uint32(i)}
		used |= id
	}
	for shift := 0; shift < bits.Len32(uint32(used)); shift += digit {
		o.sortByDigit(shift)
	}
	return o.rows
}

// sortByDigit sorts the rows by one digit of their rulings.
func (o *rulingOrder) sortByDigit(shift int) {
	const mask = 1<<digit - 1
	var starts [mask + 1]uint32
	for _, r := range o.rows {
		starts[r.id>>shift&mask]++
	}
	next := uint32(0)
	for d, n := range starts {
		starts[d] = next
		next += n
	}
	for _, r := range o.rows {
		d := r.id >> shift & mask
		o.spare[starts[d]] = r
		starts[d]++
	}
	o.rows, o.spare = o.spare, o.rows
}
