package times

import (
	"math"
	"math/bits"
	"time"
)

// A Span is a time range, from its first microsecond to its last one, both since 1970 UTC. It is empty if First is after
// Last.
type Span struct{ First, Last int64 }

// Times returns the ends of the span, in UTC; ok is false if it is empty.
func (s Span) Times() (first, last time.Time, ok bool) {
	return time.UnixMicro(s.First).UTC(), time.UnixMicro(s.Last).UTC(), s.First <= s.Last
}

// Part divides the span into n equal parts, and returns the index of the part with a time; false if the time is not in the
// span. It is exact, unlike a quotient of floats, which at the end of 285 years is rounded up to n.
func (s Span) Part(at int64, n int) (int, bool) {
	if at < s.First || at > s.Last {
		return 0, false
	}
	// The difference of two int64 fits in a uint64. Only the length of a span of all 2^64 times does not.
	high, low := bits.Mul64(uint64(at)-uint64(s.First), uint64(n))
	whole := uint64(s.Last) - uint64(s.First)
	if whole < math.MaxUint64 {
		whole++
	}
	part, _ := bits.Div64(high, low, whole)
	return min(int(part), n-1), true
}

// Length returns the time between the ends; 0 if the span is empty.
func (s Span) Length() Length {
	if s.First > s.Last {
		return 0
	}
	return Length(min(uint64(s.Last)-uint64(s.First), math.MaxInt64))
}

// A Length is a duration in microseconds, which may be negative.
type Length int64

// Units of a Length.
const (
	Second Length = 1e6
	Minute        = 60 * Second
	Hour          = 60 * Minute
	Day           = 24 * Hour
)

// Between returns the time between two times, in whole microseconds, rounded down. Times outside the years 1 to 9999 are
// treated as the nearest end of that range.
func Between(from, to time.Time) Length {
	const first, last = -62135596800, 253402300799 // of year 1, of year 9999
	seconds := min(max(to.Unix(), first), last) - min(max(from.Unix(), first), last)
	nanos := int64(to.Nanosecond() - from.Nanosecond())
	micros := nanos / 1000
	if nanos%1000 < 0 {
		micros--
	}
	return Length(seconds)*Second + Length(micros)
}

// Days returns the length in days.
func (l Length) Days() float64 { return float64(l) / float64(Day) }

// Hours returns the length in hours.
func (l Length) Hours() float64 { return float64(l) / float64(Hour) }

// Begun returns the length in units of time, rounded up.
func (l Length) Begun(unit Length) int64 {
	n := int64(l / unit)
	if l%unit > 0 {
		n++
	}
	return n
}
