package diagnose

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var months = flag.Int("months", 600, "crawler-months that TestChance simulates")

// mostChance is how many findings codes 10 to 12 may give for a faultless crawler in a month.
const mostChance = .001

// TestChance holds that crawlers which stop, slow down and surge by chance alone hardly ever have a row. Their days
// vary together, with a weekly rhythm and a daily one, or they come at night; many make few requests. make chance
// prints the rates.
func TestChance(t *testing.T) {
	type world struct {
		spread, memory, weekend float64
		nightly                 bool
	}
	worlds := []world{{.15, 0, 1, false}, {.3, .3, .7, false}, {.3, .6, .55, false}, {.45, .5, .85, false}, {.2, .3, .7, true}, {.35, .5, 1.2, true}}
	found, crawlers := map[string]int{}, 0.0
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 0; crawlers < float64(*months); n++ {
		w, days := worlds[n%len(worlds)], []int{14, 30, 10, 60}[n/len(worlds)%4]
		g := &grid{Log: &Log{Agents: []Agent{{}}}, from: 1_790_000_000 / hour * hour, step: hour, slots: days * 24}
		g.to, g.first = g.from+int64(days)*day-1, g.from/hour
		g.traffic = append(g.traffic, simulated(rng, g, 3000, world{spread: .1, weekend: .9}.spread, .3, .9, false))
		for _, rate := range []float64{15, 60, 250, 1000} {
			g.Agents = append(g.Agents, Agent{Name: string(rune('a' + len(g.Agents))), Search: true})
			g.traffic = append(g.traffic, simulated(rng, g, rate, w.spread, w.memory, w.weekend, w.nightly))
			crawlers += float64(days) / 30
		}
		g.findGaps()
		g.findStopped()
		g.findSurges()
		g.findSlowed()
		for _, r := range append(g.rows, g.limits...) {
			found[r.Code]++
			t.Logf("%d days, %+v: %s %v %s..%s, expected %.0f, made %d, before %.0f, after %.0f", days, w, r.Code, r.Agents, r.From, r.To, r.Evidence.Expected, r.Evidence.Made, r.Evidence.Before, r.Evidence.After)
		}
	}
	for _, code := range []string{CrawlerStopped, CrawlerSlowed, CrawlerSurge, LogGap} {
		rate := float64(found[code]) / crawlers
		t.Logf("%-16s %d rows in %.0f faultless crawler-months: %.5f", code, found[code], crawlers, rate)
		if float64(found[code]) > math.Ceil(mostChance*crawlers) {
			t.Errorf("%s: %.5f rows in a faultless crawler-month, at most %.5f may be", code, rate, mostChance)
		}
	}
}

// simulated returns the requests of a faultless crawler: Poisson around a rate that has a share by hour, weekends of
// its own, and days that vary with a memory of the day before.
func simulated(rng *rand.Rand, g *grid, daily, spread, memory, weekend float64, nightly bool) []count {
	all := make([]count, g.slots)
	level := rng.NormFloat64() * spread
	peak := rng.Float64() * 24
	for i := range all {
		at := g.startOf(i)
		if at%day == 0 {
			level = memory*level + math.Sqrt(1-memory*memory)*rng.NormFloat64()*spread
		}
		rate := daily / 24 * math.Exp(level-spread*spread/2)
		if weekday := (at/day + 3) % 7; weekday >= 5 {
			rate *= weekend
		}
		h := float64(at % day / hour)
		if nightly {
			if math.Mod(h-peak+48, 24) < 6 {
				rate *= 3.6
			} else {
				rate *= .13
			}
		} else {
			rate *= 1 + .4*math.Cos((h-peak)*math.Pi/12)
		}
		n := poisson(rng, rate)
		all[i] = count{float64(n), at, at + hour - 1}
		if n == 0 {
			all[i] = count{}
		}
	}
	return all
}

// poisson returns a number of events of a mean.
func poisson(rng *rand.Rand, mean float64) (n int64) {
	for left := mean; ; n++ {
		if left -= rng.ExpFloat64(); left < 0 {
			return n
		}
	}
}
