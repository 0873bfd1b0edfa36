package timeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/report/internal/show"
)

// TestSpan checks which requests are omitted from a chart as outliers.
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
		s := New(2)
		for i, moment := range c.times {
			s.CellAt(moment.UnixMicro(), i%2)[Requests]++
		}
		within := s.Shown()
		p := s.Points(within, 0, timePoints)
		v := View{Rows: make([]timeRow, len(p.Starts))}
		v.addApart(p, []int{0, 1})
		var got []string
		sum := p.countRequests()
		for _, a := range v.Apart {
			got = append(got, show.Number(a.All)+" "+a.At+" "+a.When)
			if sum += a.All; a.By[0]+a.By[1] != a.All {
				t.Errorf("%s: %d by crawler, %d in all", name, a.By, a.All)
			}
		}
		if strings.Join(got, "; ") != c.apart || p.Step != c.step || sum != int64(len(c.times)) {
			t.Errorf("%s: %q by the %s, %d rows; want %q by the %s, %d rows", name, got, p.Step, sum, c.apart, c.step, len(c.times))
		}
		if n := s.Outside(within); n != sum-p.countRequests() {
			t.Errorf("%s: %d requests are outside of the range, %d are not in the chart", name, n, sum-p.countRequests())
		}
	}
}

// TestShortest compares the shortest range of intervals with all possible ranges.
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
		first, last := shortestRange(numbers, sums, rows)
		has := sums[last]
		if first > 0 {
			has -= sums[first-1]
		}
		if has < rows || numbers[last]-numbers[first] != length {
			t.Fatalf("%d, sums %d: %d rows are in intervals %d to %d, but the shortest range has %d", numbers, sums, rows, first, last, length)
		}
	}
}

// TestScale checks that a chart has up to six labels on its axis, starting with 0.
func TestScale(t *testing.T) {
	for most, want := range map[int64]string{1: "0 1", 3: "0 1 2 3", 5: "0 1 2 3 4 5", 9: "0 2 4 6 8", 138: "0 50 100", 1_000_000: "0 200,000 400,000 600,000 800,000 1,000,000"} {
		v := View{Rows: []timeRow{{At: "a"}, {At: "b"}, {At: "c"}}}
		v.addScale(most)
		var got []string
		for _, tick := range v.Ticks {
			got = append(got, tick.Text)
		}
		if strings.Join(got, " ") != want || v.Ticks[0].Y != "160" || strings.Join(v.Labels, "") != "abc" {
			t.Errorf("scale up to %d: %q, %q, want %s", most, got, v.Labels, want)
		}
	}
}

// TestPeaks checks that the page names the busiest hour and, if there are several days, the busiest day.
func TestPeaks(t *testing.T) {
	rows := []timeRow{{At: "2015-05-17 22:00"}, {At: "2015-05-17 23:00"}, {At: "2015-05-18 00:00"}, {At: "2015-05-18 01:00"}}
	for _, c := range []struct {
		step    string
		numbers []int64
		want    string
	}{
		{"hour", []int64{0, 5, 3, 4}, "5 in the hour from 2015-05-17 23:00; 7 on the day 2015-05-18"},
		{"hour", []int64{2, 5}, "5 in the hour from 2015-05-17 23:00"},
		{"day", []int64{1, 5}, "5 on the day 2015-05-17 23:00"},
		{"week", []int64{1, 5}, "5 in the week from 2015-05-17 23:00"},
		{"hour", []int64{0, 0, 0, 0}, ""},
	} {
		v := View{Step: c.step, Rows: rows[:len(c.numbers)]}
		v.addPeak("requests", c.numbers)
		var got []string
		for _, p := range v.Peaks {
			got = append(got, p.Number+" "+p.When)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("by the %s, %d: %q, want %q", c.step, c.numbers, got, c.want)
		}
	}
}

// TestLongTimes uses a log with the earliest and the latest possible time.
func TestLongTimes(t *testing.T) {
	s := New(150) // and 50 that come later
	rng := rand.New(rand.NewPCG(5, 18))
	for i := range 100_000 {
		at := rng.Int64N(2*253402300799*int64(1e6)) - 253402300799*int64(1e6)
		if i%2 == 0 {
			at = int64(i) * hour
		}
		s.CellAt(at, i%200)[Requests]++
	}
	if len(s.all) > s.most {
		t.Errorf("%d stretches", len(s.all))
	}
	p, sum := s.Points(times.Span{First: s.from, Last: s.to}, 0, timePoints), int64(0)
	for _, cells := range p.Of[Requests] {
		for _, n := range cells {
			sum += n
		}
	}
	if sum != 100_000 || len(p.Starts) > 2*timePoints {
		t.Errorf("%d requests in %d intervals of %s", sum, len(p.Starts), p.Step)
	}
}

// TestLines checks that the chart has a line for each crawler, that crawlers beyond the maximum share one line, and
// that zeros are encoded compactly.
func TestLines(t *testing.T) {
	const crawlers = lineCrawlers + 20
	s := New(crawlers)
	for c := range crawlers {
		for range crawlers - c {
			cell := s.CellAt(int64(c%30)*day, c)
			cell[Requests]++
			cell[Violations]++
		}
	}
	v := s.View(s.Shown(), Options{FromLog: true, Name: strconv.Itoa})
	lines := v.Chart.Lines
	if len(lines) != 1+lineCrawlers+1 || lines[1].Name != "0" || lines[lineCrawlers+1].Name != "20 other crawlers" || len(v.Names) != timeCrawlers {
		t.Fatalf("%d lines, %d in the table", len(lines), len(v.Names))
	}
	for i, all := range lines[0].Values {
		sum := int64(0)
		for _, line := range lines[1:] {
			sum += line.Values[i]
		}
		if sum != all {
			t.Errorf("stretch %d: %d, not %d", i, sum, all)
		}
	}
	if got := fmt.Sprint(v.Chart.Drawn); got != "[0 2 3]" { // 0 are other clients
		t.Errorf("drawn are %s", got)
	}
	for want, s := range map[string]series{"[]": {}, "[-3]": {0, 0, 0}, "[7,-2,1,-1]": {7, 0, 0, 1, 0}} {
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("%v is %s, %v, want %s", s, got, err, want)
		}
	}
}
