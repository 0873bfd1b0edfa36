package conducts

import (
	"testing"

	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/internal/times"
)

// TestApart checks the units of the time between two responses.
func TestApart(t *testing.T) {
	for most, want := range map[times.Length]string{
		times.Second - 1: "at most 1 second apart", 3*times.Minute + 1: "at most 4 minutes apart", 47 * times.Hour: "at most 47 hours apart",
		3651694 * times.Day: "at most 3,651,694 days apart", // from year 1 to year 9999
	} {
		r := Row{Row: conduct.Row{AnswerGaps: 1, AnswerMost: int64(most)}}
		if got := r.Apart(); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}
