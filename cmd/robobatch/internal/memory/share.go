package memory

import "cmp"

// step is the multiple of which a limit is that an error names: one that is typed in short.
const step = 16 * mib

// sixteenths are what shares are counted in, so that half of three quarters is exact.
const sixteenths = 16

// A Share is how much of -max-memory something has. The zero value is all of a limit of which it is
// not known how it was typed. Errors name -max-memory by it: as typed, and as it should be.
type Share struct {
	Typed string // -max-memory as it was given, for messages
	Taken int64  // sixteenths of it that others have
}

// Less returns the share without a part of it, as 1 of 4.
func (s Share) Less(part, of int64) Share {
	return Share{s.Typed, s.Taken + (sixteenths-s.Taken)*part/of}
}

// of returns the bytes of the share of a limit.
func (s Share) of(limit int64) int64 { return limit / sixteenths * (sixteenths - s.Taken) }

// Whole returns the least value of -max-memory of which the share is n bytes, rounded up to what one types.
func (s Share) Whole(n int64) int64 {
	parts := sixteenths - s.Taken
	return ((n+parts-1)/parts*sixteenths + step - 1) / step * step
}

// Text returns -max-memory as it was typed, of which n bytes are the share.
func (s Share) Text(n int64) string { return cmp.Or(s.Typed, Text(n)) }
