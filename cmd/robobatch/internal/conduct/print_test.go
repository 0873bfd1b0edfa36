package conduct

import (
	"testing"

	"github.com/robobatch/robobatch/internal/times"
)

// TestLasting checks the units in which durations are printed, rounded down and rounded up.
func TestLasting(t *testing.T) {
	for l, want := range map[times.Length][2]string{
		1500000: {"1.5 s", "1.5 s"}, 2*times.Minute + 1: {"2 min", "3 min"}, 71 * times.Hour: {"71 h", "71 h"},
		3651694*times.Day - 1: {"3,651,693 days", "3,651,694 days"}, // from year 1 to year 9999
	} {
		if got := [2]string{formatDuration(int64(l), false), formatDuration(int64(l), true)}; got != want {
			t.Errorf("%d: %q, want %q", l, got, want)
		}
	}
}
