package report

// An order has requests in the order of their sites, so that what is in memory of a site is used for all of its
// requests together.
type order struct{ by, other []uint32 }

// bySite returns the indexes of requests: those of a site one after the other, in the order in which they are.
// The result is valid until the next call. Sites that differ by a multiple of 65,536 are taken for one.
func (o *order) bySite(all []request) []uint32 {
	o.by, o.other = o.by[:0], append(o.other[:0], make([]uint32, len(all))...)
	var low, high [256]uint32
	for i := range all {
		o.by = append(o.by, uint32(i))
		low[uint8(all[i].site)]++
		high[uint8(all[i].site>>8)]++
	}
	for step := range 2 {
		starts := &low
		if step == 1 {
			starts = &high
		}
		at := uint32(0)
		for b, n := range starts {
			starts[b] = at
			at += n
		}
		for _, n := range o.by {
			b := uint8(all[n].site >> (8 * step))
			o.other[starts[b]] = n
			starts[b]++
		}
		o.by, o.other = o.other, o.by
	}
	return o.by
}
