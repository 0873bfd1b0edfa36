package memory

import "cmp"

// step divides the limits that errors name: such numbers are short to type.
const step = 16 * mib

// sixteenths are the unit of shares, so that half of three quarters is exact.
const sixteenths = 16

// A Share is the part of -max-memory that something has. Errors name the whole by it, as it was typed
// and as it should be. The zero value is all of it, typed in an unknown way.
type Share struct {
	Typed string // -max-memory as it was given, for messages
	Taken int64  // sixteenths of it that others have
}

// Less returns the share without a part of it, as 1 of 4.
func (s Share) Less(part, of int64) Share {
	return Share{s.Typed, s.Taken + (sixteenths-s.Taken)*part/of}
}

// Whole returns a -max-memory whose share is n bytes at least: the least multiple of step.
func (s Share) Whole(n int64) int64 {
	parts := sixteenths - s.Taken
	return ((n+parts-1)/parts*sixteenths + step - 1) / step * step
}

// Text returns -max-memory as it was typed; n bytes if that is not known.
func (s Share) Text(n int64) string { return cmp.Or(s.Typed, Text(n)) }
