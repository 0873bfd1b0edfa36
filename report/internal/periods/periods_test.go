package periods

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pairs is the number of simulated pairs of each kind in TestPairs.
var pairs = flag.Int("pairs", 40, "simulated pairs of periods of each kind")

// A plan describes what happens to crawlers between two simulated periods. The first row is browsers, the second is
// the crawler that is slowed.
type plan struct {
	name    string
	rate    func(row int, holiday bool) float64 // requests after the change, as a share of those before
	denied  func(row int) float64               // the share of later requests that are disallowed; below 0 means as before
	planted func(row, number int) bool          // the change is there
	most    int                                 // the maximum percentage of pairs with a false claim
	least   int                                 // planted changes of 100 that are claimed
}

var plans = []plan{
	{name: "nothing", most: 5},
	{name: "holiday", most: 5, rate: func(row int, holiday bool) float64 {
		switch {
		case holiday && row == 0:
			return 0.4
		case holiday:
			return 0.85
		}
		return 1
	}},
	{name: "slowed", most: 5, least: 15, rate: func(row int, _ bool) float64 {
		if row == 1 {
			return 2. / 3
		}
		return 1
	}, planted: func(row, _ int) bool { return row == 1 }},
	{name: "closed", most: 5, least: 85, denied: func(int) float64 { return 0.3 }, planted: func(row, number int) bool { return row > 0 && number == Denied }},
}

// simulate returns the rows of two periods of 2 to 6 weeks, and of 1 to 4 weeks. Crawlers differ in rate and noise:
// each day resembles the previous one, each week drifts, weekends are quieter, and there are bursts and outages.
func simulate(seed uint64, p *plan) *Comparison {
	r := rand.New(rand.NewPCG(seed, 1))
	n, m := 7*(2+r.IntN(5)), 7*(1+r.IntN(4))
	c := &Comparison{}
	for row := range 6 + r.IntN(8) {
		level, weekend, size := math.Exp(3+6*r.Float64()), 0.15*r.Float64(), 5000*math.Exp(3*r.Float64())
		noise, alike, step := 0.1+0.25*r.Float64(), 0.3+0.4*r.Float64(), 0.08*r.Float64()
		denied, failing := max(0, 0.15*r.Float64()-0.05), 0.05*r.Float64()
		switch row {
		case 0:
			weekend = 0.4
		case 1:
			level = math.Exp(6 + 3*r.Float64())
		}
		x, drift, holiday := noise*r.NormFloat64(), 0., n+r.IntN(max(1, m-4))
		var days []Day
		for d := range n + m {
			x = alike*x + math.Sqrt(1-alike*alike)*noise*r.NormFloat64()
			if d%7 == 0 {
				drift += step * r.NormFloat64()
			}
			rate, bad, errors := level*math.Exp(x+drift), denied, failing*math.Exp(0.5*r.NormFloat64())
			if d%7 > 4 {
				rate *= 1 - weekend
			}
			if r.Float64() < 0.01 {
				rate *= 3
			}
			if r.Float64() < 0.02 {
				errors = 0.5
			}
			if d >= n && p.rate != nil {
				rate *= p.rate(row, d >= holiday && d < holiday+5)
			}
			if d >= n && p.denied != nil {
				bad += p.denied(row)
			}
			count := func(mean float64) int64 { return max(0, int64(math.Round(mean+math.Sqrt(mean)*r.NormFloat64()))) }
			requests := count(rate)
			of := float64(requests)
			days = append(days, Day{Requests: requests, Errors: count(of * errors), Denied: count(of * bad), Bytes: int64(of * size * math.Exp(0.1*r.NormFloat64()))})
		}
		c.Rows = append(c.Rows, NewRow(strconv.Itoa(row), row > 0, "", days[:n], days[n:]))
	}
	return c
}

// TestPairs checks that at most one of twenty pairs has a false claim, and that planted changes are claimed.
func TestPairs(t *testing.T) {
	for i := range plans {
		p := &plans[i]
		wrong, planted, claimed := 0, 0, 0
		for seed := range uint64(*pairs) {
			c := simulate(seed, p)
			c.Compare()
			isWrong := false
			for i := range c.Rows {
				row, err := strconv.Atoi(c.Rows[i].Name)
				if err != nil {
					t.Fatal(err)
				}
				for m, change := range c.Rows[i].Changes {
					isPlanted := p.planted != nil && p.planted(row, m)
					if isPlanted && (m == Requests || m == Denied && p.denied != nil) {
						planted++
						if change.Claimed {
							claimed++
						}
					}
					if change.Claimed && !isPlanted {
						isWrong = true
					}
				}
			}
			if isWrong {
				wrong++
			}
		}
		t.Logf("%s: %d pairs, %d with a false claim; %d of %d planted changes claimed", p.name, *pairs, wrong, claimed, planted)
		if 100*wrong > p.most**pairs {
			t.Errorf("%s: %d of %d pairs have a false claim, want at most %d%%", p.name, wrong, *pairs, p.most)
		}
		if 100*claimed < p.least*planted {
			t.Errorf("%s: %d of %d planted changes are claimed, want at least %d%%", p.name, claimed, planted, p.least)
		}
	}
}

// days returns days that repeat some requests.
func days(n int, requests ...int64) (all []Day) {
	for i := range n {
		all = append(all, Day{Requests: requests[i%len(requests)]})
	}
	return all
}

func TestClaims(t *testing.T) {
	week := []int64{100, 110, 95, 105, 100, 60, 50}
	half := []int64{50, 55, 47, 52, 50, 30, 25}
	outage := slices.Concat(days(5, 100), days(2, 0))
	for _, tt := range []struct {
		name          string
		before, after []Day
		want          string
	}{
		{"halved", days(28, week...), days(14, half...), "halved, per day: requests 89 → 44 (−50%; −57% to −43%)."},
		{"equal", days(28, week...), days(14, week...), "No crawler changed"},
		{"came", days(14, 0), days(7, 40), "came, per day: requests 0 → 40."},
		{"short before", days(13, week...), days(14, half...), "Too short"},
		{"short after", days(28, week...), days(6, half...), "Too short"},
		{"few", days(14, 2), days(7, 1), "No crawler changed"},
		{"none after", days(14, week...), nil, "Too short"},
		{"outage", days(28, 100), outage, "No crawler changed"},
		{"small", days(28, 1000), days(14, 930), "No crawler changed"},
	} {
		c := &Comparison{Rows: []Row{NewRow(tt.name, true, "", tt.before, tt.after), NewRow("browsers", false, "", days(28, 1000), days(28, 1))}}
		c.Compare()
		if got := strings.Join(append(c.Claims, c.Limit), ""); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestCritical compares quantiles with those of tables.
func TestCritical(t *testing.T) {
	for _, tt := range []struct{ p, freedom, want float64 }{{0.05, 10, 2.228}, {0.01, 7, 3.499}, {0.001, 7, 5.408}, {0.05, 1000, 1.962}} {
		if got := criticalWidth(tt.p, tt.freedom); math.Abs(got/tt.want-1) > 0.01 {
			t.Errorf("%v with %v degrees of freedom: %.3f, want %v", tt.p, tt.freedom, got, tt.want)
		}
	}
}
