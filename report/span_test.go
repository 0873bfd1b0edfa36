package report

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// TestSpan looks at which times are left out of a chart.
func TestSpan(t *testing.T) {
	begin := time.Date(2026, 1, 5, 22, 30, 0, 0, time.UTC)
	month := func(rows int) (all []time.Time) {
		for i := range rows {
			all = append(all, begin.Add(time.Duration(i)*30*24*time.Hour/time.Duration(rows)))
		}
		return all
	}
	at := func(texts ...string) (all []time.Time) {
		for _, text := range texts {
			one, err := time.Parse(time.DateTime, text)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		return all
	}
	both := at("1970-01-01 00:00:07", "9999-12-31 23:59:59")
	for name, c := range map[string]struct {
		times []time.Time
		step  string
		apart string
	}{
		"a month":             {month(1000), "day", ""},
		"and one long ago":    {append(month(1000), both[0]), "day", "1 before at 1970-01-01 00:00:07"},
		"and one far ahead":   {append(month(100), both[1]), "day", "1 after at 9999-12-31 23:59:59"},
		"and both":            {append(month(1000), both...), "day", "1 before at 1970-01-01 00:00:07; 1 after at 9999-12-31 23:59:59"},
		"too few to be sure":  {append(month(18), both[0]), "52 weeks", ""},
		"too many":            {append(month(1000), slices.Repeat(both[:1], 11)...), "52 weeks", ""},
		"several":             {append(month(1000), at("1970-01-01 00:00:07", "1970-01-01 00:10:00", "1999-06-07 08:09:10")...), "day", "3 before between 1970-01-01 00:00:07 and 1999-06-07 08:59:59"},
		"a day before":        {append(month(1000), begin.Add(-24*time.Hour)), "day", ""},
		"eight days, by hour": {append(month(1000)[:200], at("2025-01-01 00:00:00")...), "hour", "1 before at 2025-01-01 00:00:00"},
		"two busy months":     {append(month(1000), at("2020-01-01 00:00:00", "2020-01-02 00:00:00", "2020-01-03 00:00:00", "2020-01-04 00:00:00", "2020-01-05 00:00:00", "2020-01-06 00:00:00", "2020-01-07 00:00:00", "2020-01-08 00:00:00", "2020-01-09 00:00:00", "2020-01-10 00:00:00", "2020-01-11 00:00:00")...), "4 weeks", ""},
	} {
		s := newSeries(2)
		for i, moment := range c.times {
			s.at(moment.UnixMicro(), i%2).requests++
		}
		within := s.span()
		p := s.points(within, 0, timePoints)
		v := timeView{Rows: make([]timeRow, len(p.Starts))}
		v.addApart(p, []int{0, 1})
		var got []string
		sum := p.all()
		for _, a := range v.Apart {
			got = append(got, show.Number(a.All)+" "+a.At+" "+a.When)
			if sum += a.All; a.By[0]+a.By[1] != a.All {
				t.Errorf("%s: %d by crawler, %d in all", name, a.By, a.All)
			}
		}
		if strings.Join(got, "; ") != c.apart || p.Step != c.step || sum != int64(len(c.times)) {
			t.Errorf("%s: %q by the %s, %d rows; want %q by the %s, %d rows", name, got, p.Step, sum, c.apart, c.step, len(c.times))
		}
		if n := s.outside(within); n != sum-p.all() {
			t.Errorf("%s: %d are outside, %d not in the chart", name, n, sum-p.all())
		}
	}
}

// TestShortest compares the shortest stretches with all there are.
func TestShortest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 18))
	for range 2000 {
		var numbers, sums []int64
		sum := int64(0)
		for at := int64(0); len(numbers) < 1+rng.IntN(8) || sum == 0; {
			at += 1 + rng.Int64N(5)
			sum += rng.Int64N(4)
			numbers, sums = append(numbers, at), append(sums, sum)
		}
		rows := 1 + rng.Int64N(sum)
		length := numbers[len(numbers)-1] - numbers[0]
		for from := range numbers {
			for to := from; to < len(numbers); to++ {
				has := sums[to]
				if from > 0 {
					has -= sums[from-1]
				}
				if has >= rows {
					length = min(length, numbers[to]-numbers[from])
				}
			}
		}
		first, last := shortest(numbers, sums, rows)
		has := sums[last]
		if first > 0 {
			has -= sums[first-1]
		}
		if has < rows || numbers[last]-numbers[first] != length {
			t.Fatalf("%d, sums %d: %d rows are in %d to %d; the shortest take %d", numbers, sums, rows, first, last, length)
		}
	}
}

// TestApart reads on the page what its chart leaves out.
func TestApart(t *testing.T) {
	all := fetches(rand.New(rand.NewPCG(8, 18)), 500)
	for i := range all {
		all[i].at = time.Date(2026, 1, 5+i/20, 22, 0, 0, 0, time.UTC).UnixMicro()
	}
	stray := fetch{url: "https://a.example/q", userAgent: clients[0], at: 0, status: 200}
	late := stray
	late.at = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
	c, stats := counted(t, sites, append(all, stray, late), question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1})
	var page bytes.Buffer
	if err := Write(&page, c, &Run{Stats: stats}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2026-01-05 22:00:00 to 2026-01-29 22:59:59 UTC, but for 2 requests",
		"Not in the chart: 1 request before it, at 1970-01-01 00:00:00, and 1 request after it, at 9999-12-31 23:59:59 UTC. The table has them in its last rows.",
		`<tr><th scope="row">before<small>at 1970-01-01 00:00:00</small></th><td class="n">1</td><td class="n">1</td><td class="n">1</td>`,
		"The bars by time leave out 2 requests far from the others: see Time.",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}
