package engine

import "math/bits"

// minStreak is the mean number of consecutive rows of one site from which a batch is decided in the order of its
// rows.
const minStreak = 4

// A rulingOrder sorts the rows of a batch by their rulings, so that rules are fetched from memory once for all of
// their rows. It reuses its memory.
type rulingOrder struct{ rows, spare []rulingRow }

// A rulingRow is a row of a batch with its ruling.
type rulingRow struct {
	id  RulingID
	row uint32
}

// digit is the number of bits per pass of the sort. The counts of one pass fit in the first-level cache.
const digit = 11

// sort returns the rows in the order of their rulings; rows of one ruling keep their order. It makes one pass for
// every 11 bits of the largest ruling.
func (o *rulingOrder) sort(rulings []RulingID) []rulingRow {
	n := len(rulings)
	if cap(o.rows) < n {
		o.rows, o.spare = make([]rulingRow, n), make([]rulingRow, n)
	}
	o.rows, o.spare = o.rows[:n], o.spare[:n]
	used := RulingID(0) // the bits set in any ruling
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
