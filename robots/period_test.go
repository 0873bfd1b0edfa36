package robots_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// periodsText writes the periods of the origin here, such as "day 1.5 use rules: fetched #0".
func periodsText(d robots.Dialect, responses ...robots.Response) string {
	h := robots.NewHistory(d)
	for _, r := range responses {
		if r.Origin == "" {
			r.Origin = here
		}
		h.Add(r)
	}
	var parts []string
	for _, p := range h.Periods(here) {
		from := "first"
		if p.From != math.MinInt64 {
			from = fmt.Sprintf("day %.4g", float64(p.From-start.UnixMicro())/8.64e10)
		}
		parts = append(parts, fmt.Sprintf("%s %s: %s #%d", from, p.Effect, p.Cause, p.Capture))
	}
	return strings.Join(parts, "; ")
}

func TestPeriods(t *testing.T) {
	at := func(days float64, r robots.Response) robots.Response {
		r.FetchedAt = day(days)
		return r
	}
	ok, gone, bad := robots.Response{Status: 200}, robots.Response{Status: 404}, robots.Response{Status: 500}
	file := robots.Response{Status: 200, File: true}
	moved := robots.Response{Status: 301, Location: "//b.com/robots.txt"}
	target := func(r robots.Response) robots.Response { r.Origin = there; return r }
	const none = "first no record: none #-1"
	for _, c := range []struct {
		name      string
		responses []robots.Response
		want      string
	}{
		{"nothing", nil, none},
		{"one", []robots.Response{at(1, ok)}, none + "; day 1 use rules: fetched #0"},
		{"of unknown time", []robots.Response{at(3, gone), ok}, "first use rules: fetched #1; day 3 allow all: status_4xx #0"},
		{"in any order", []robots.Response{at(2, ok), at(3, gone), at(1, bad)}, none + "; day 1 disallow all: unreachable #2; day 2 use rules: fetched #0; day 3 allow all: status_4xx #1"},
		{"two at one time", []robots.Response{at(1, ok), at(1, gone)}, none + "; day 1 allow all: status_4xx #1"},
		{"failure", []robots.Response{at(1, bad)}, none + "; day 1 disallow all: unreachable #0; day 31 allow all: unreachable_expired #0"},
		{"failure after a good copy", []robots.Response{at(0, ok), at(1, bad)}, none + "; day 0 use rules: fetched #0; day 1 disallow all: unreachable #1; day 31 use rules: fetched #0"},
		{"failure that ends", []robots.Response{at(1, bad), at(9, ok)}, none + "; day 1 disallow all: unreachable #0; day 9 use rules: fetched #1"},
		{"target that changes", []robots.Response{at(1, moved), target(at(1.1, ok)), target(at(8, gone))}, none + "; day 1 use rules: fetched #1; day 8 allow all: status_4xx #2"},
		{"target known before", []robots.Response{at(5, moved), target(at(1, ok)), target(at(8, gone))}, none + "; day 5 use rules: fetched #1; day 8 allow all: status_4xx #2"},
		{"moved back", []robots.Response{at(1, moved), at(2, gone), target(at(1, ok)), target(at(3, ok))}, none + "; day 1 use rules: fetched #2; day 2 allow all: status_4xx #1"},
		{"file alone", []robots.Response{at(5, file)}, "first use rules: fetched #0"},
		{"file before a capture", []robots.Response{at(5, file), at(6, gone)}, "first use rules: fetched #0; day 6 allow all: status_4xx #1"},
		{"file behind a capture", []robots.Response{at(5, file), at(4, gone)}, none + "; day 4 allow all: status_4xx #1; day 5 use rules: fetched #0"},
	} {
		if got := periodsText(robots.RFC9309, c.responses...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestPeriodsRandom compares the periods of random histories with Outcome at each moment.
func TestPeriodsRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	origins := []robots.Origin{here, there, "https://c.com"}
	locations := []string{"/robots.txt", "//b.com/robots.txt", "//c.com/robots.txt", "//a.com/robots.txt", "//nowhere.com/", ""}
	for round := range 3000 {
		h := robots.NewHistory(named[r.IntN(len(named))])
		var moments []time.Time
		for range 1 + r.IntN(12) {
			resp := robots.Response{Origin: origins[r.IntN(3)], Status: []int{200, 200, 301, 302, 404, 500, 0}[r.IntN(7)]}
			if resp.Status/100 == 3 {
				resp.Location = locations[r.IntN(len(locations))]
			}
			if r.IntN(9) > 0 {
				resp.FetchedAt = start.Add(time.Duration(r.IntN(80))*24*time.Hour + time.Duration(r.IntN(3))*300)
			}
			h.Add(resp)
			for _, d := range []time.Duration{0, robots.Lapse} {
				for _, e := range []time.Duration{-time.Hour, -time.Microsecond, 0, time.Microsecond, time.Hour} {
					moments = append(moments, resp.FetchedAt.Add(d+e))
				}
			}
		}
		for _, o := range origins {
			periods := h.Periods(o)
			for _, m := range moments {
				if m.Year() < 1000 { // before all responses without a time
					continue
				}
				m = m.Truncate(time.Microsecond)
				if got, want := periodAt(periods, m.UnixMicro()), h.Outcome(o, m); got != want {
					t.Fatalf("round %d: %s at %v: %v, want %v; periods %v", round, o, m, got, want, periods)
				}
			}
			for i := range periods[1:] {
				if periods[i].From >= periods[i+1].From || periods[i].Outcome == periods[i+1].Outcome {
					t.Fatalf("round %d: %s: periods %v", round, o, periods)
				}
			}
		}
	}
}

// periodAt returns the outcome at a moment.
func periodAt(periods []robots.Period, moment int64) (o robots.Outcome) {
	for _, p := range periods {
		if p.From <= moment {
			o = p.Outcome
		}
	}
	return o
}

func TestMicroseconds(t *testing.T) {
	for want, moment := range map[int64]time.Time{
		0: time.Unix(0, 0), 1: time.Unix(0, 1), -1: time.Unix(0, -1000), -999_999: time.Unix(-1, 1), 5_000_001: time.Unix(5, 1000), 5_000_002: time.Unix(5, 1001),
		math.MaxInt64: time.Unix(math.MaxInt64/2, 0), math.MinInt64 + 1: time.Unix(math.MinInt64/2, 0), -62_135_596_800_000_000: {},
	} {
		if got := robots.Microseconds(moment); got != want {
			t.Errorf("%v is %d, want %d", moment, got, want)
		}
	}
}
