package rules

import (
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// TestAppendPeriods checks that consecutive equal captures are one period, because the hash of the rules includes
// periods.
func TestAppendPeriods(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		status [3]int // of captures on consecutive days
		want   int    // number of periods, including the one before the first capture
	}{
		"two equal":   {[3]int{404, 404, 410}, 2},
		"a change":    {[3]int{404, 200, 404}, 4},
		"equal texts": {[3]int{200, 200, 404}, 3},
	} {
		h := robots.NewHistory(robots.Google)
		for day, status := range test.status {
			h.Add(robots.Response{Origin: "https://a.com", Status: status, FetchedAt: noon.AddDate(0, 0, day)})
		}
		got := Moment{Rows: true}.AppendPeriods(nil, h, "https://a.com", func(int) int { return 7 }, func(int) uint32 { return CacheDefault })
		if len(got) != test.want {
			t.Errorf("%s: periods %v, want %d", name, got, test.want)
		}
	}
}
