package times

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPart compares Part with big integers, for spans of all lengths.
func TestPart(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	moment := func() int64 {
		if rng.IntN(8) == 0 {
			return []int64{math.MinInt64, math.MaxInt64, 0, -1, 1}[rng.IntN(5)]
		}
		return int64(rng.Uint64()) >> rng.IntN(63)
	}
	for range 100_000 {
		s := Span{moment(), moment()}
		if s.First > s.Last {
			s.First, s.Last = s.Last, s.First
		}
		at := moment()
		if rng.IntN(2) == 0 {
			at = []int64{s.First, s.Last}[rng.IntN(2)]
		}
		n := 1 + rng.IntN(1000)
		got, ok := s.Part(at, n)
		if in := s.First <= at && at <= s.Last; ok != in {
			t.Fatalf("%v has %d: %v", s, at, ok)
		} else if !in {
			continue
		}
		from := new(big.Int).Sub(big.NewInt(at), big.NewInt(s.First))
		whole := new(big.Int).Sub(big.NewInt(s.Last), big.NewInt(s.First))
		want := from.Mul(from, big.NewInt(int64(n)))
		want.Div(want, whole.Add(whole, big.NewInt(1)))
		if int64(got) != want.Int64() {
			t.Fatalf("%v: %d is in part %d of %d, want %d", s, at, got, n, want)
		}
	}
}

// TestBetween tests that lengths are exact beyond the maximum of time.Duration, and equal to it otherwise.
func TestBetween(t *testing.T) {
	date := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	if got := Between(date(1), date(9999)).Days(); got != 3651694 {
		t.Errorf("%g days", got)
	}
	if got := Between(date(9999), date(1)); got != -Between(date(1), date(9999)) {
		t.Errorf("back: %d", got)
	}
	if got := (Span{date(1).UnixMicro(), date(9999).UnixMicro()}).Length(); got != Between(date(1), date(9999)) {
		t.Errorf("the length of the span is %d", got)
	}
	rng := rand.New(rand.NewPCG(51, 2))
	for range 10_000 {
		from := date(2026).Add(time.Duration(rng.Int64N(int64(time.Hour))))
		d := time.Duration(rng.Int64()) >> rng.IntN(63)
		if rng.IntN(2) == 0 {
			d = -d
		}
		if got, rest := Between(from, from.Add(d)), d%time.Microsecond; got != Length((d-(rest+time.Microsecond)%time.Microsecond)/time.Microsecond) {
			t.Fatalf("%v is %d microseconds", d, got)
		}
	}
}

// TestBegun rounds up.
func TestBegun(t *testing.T) {
	for l, want := range map[Length]int64{0: 0, 1: 1, Hour - 1: 1, Hour: 1, Hour + 1: 2, math.MaxInt64: math.MaxInt64/int64(Hour) + 1} {
		if got := l.Begun(Hour); got != want {
			t.Errorf("%d: %d hours, want %d", l, got, want)
		}
	}
}
