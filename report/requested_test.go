package report

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
)

// TestMissed holds that no request in the table lacks more rows than it says, none outside has more than the
// table says, and that URLs that come often are in it, in logs whose URLs come in all kinds of order.
func TestMissed(t *testing.T) {
	logs := map[string]func(rng *rand.Rand, i int) int{
		"each once":       func(_ *rand.Rand, i int) int { return i },
		"again and again": func(_ *rand.Rand, i int) int { return i % 20_000 },
		"few often":       func(rng *rand.Rand, i int) int { return i * rng.IntN(2) * rng.IntN(2) },
		"often, then new": func(rng *rand.Rand, i int) int { return 1000*(i/100_000) + rng.IntN(1+rng.IntN(50_000)) },
		"twice":           func(_ *rand.Rand, i int) int { return i / 2 },
	}
	for name, next := range logs {
		rng, rows, passed := rand.New(rand.NewPCG(8, 18)), map[uint64]int64{}, int64(0)
		var left int64
		table := newRequested(2000, 2000*20, func(b *batch) {
			for i := range b.all {
				left += b.all[i].counts.rows
			}
		})
		const number = 600_000
		for i := range number {
			key := keyOf(&hand{hash: uint64(next(rng, i)) * 0x9E3779B97F4A7C15}, 0, engine.Verdict{})
			rows[key]++
			switch r := table.find(key); {
			case r != nil:
				r.counts.rows++
			case table.takes(key):
				table.add(request{key: key}, strconv.AppendUint(nil, key, 10)).counts.rows++
			default:
				passed++
			}
		}
		sum := int64(0)
		for i := range table.all {
			r := &table.all[i]
			n := rows[r.key]
			if delete(rows, r.key); r.counts.rows > n || r.counts.rows+int64(r.missed) < n {
				t.Fatalf("%s: a request has %d rows; counted are %d, and at most %d were missed", name, n, r.counts.rows, r.missed)
			}
			if text := string(table.url(r)); text != strconv.FormatUint(r.key, 10) {
				t.Fatalf("%s: %d has the URL %s", name, r.key, text)
			}
			sum += r.counts.rows
		}
		for _, n := range rows {
			if n > int64(table.floor) {
				t.Fatalf("%s: a request that is not in the table has %d rows; it says %d at most", name, n, table.floor)
			}
		}
		if sum+left+passed != number || table.level == 0 || table.floor > number/500+2 {
			t.Errorf("%s: %d rows in the table, %d left, %d passed; level %d, floor %d", name, sum, left, passed, table.level, table.floor)
		}
	}
}

// TestMissedTwice holds that who comes after a request that had missed rows itself may have missed these as well.
func TestMissedTwice(t *testing.T) {
	table := newRequested(leastRequests, leastRequests*urlBytes, func(*batch) {})
	table.floor = 5
	for key := range uint64(leastRequests + 1) {
		table.add(request{key: 1 + key, counts: counts{rows: 3}}, []byte("https://a.example/"))
	}
	if missed := table.all[len(table.all)-1].missed; missed < 8 {
		t.Errorf("the last request missed %d, want 5 and 3 more", missed)
	}
}

// TestMostRequested holds that what crawlers asked for one path is put together, and that a URL that was cut off is
// no path.
func TestMostRequested(t *testing.T) {
	c := &Counter{fromLog: true, requested: &requested{}}
	for agent, origin := range []string{"https://a.example", "http://a.example", "https://a.example"} {
		c.requested.batch.add(request{agent: uint16(agent), site: 1, prefix: uint16(len(origin)), missed: 3, counts: counts{rows: 10}}, []byte(origin+"/x"))
	}
	for _, size := range []int{maxURL - 1, maxURL} {
		c.requested.batch.add(request{site: 1, counts: counts{rows: 1}}, []byte("/"+strings.Repeat("y", size-1)))
	}
	got := c.MostRequested([][]engine.SiteID{{1}}, 10)[0]
	if len(got) != 2 || got[0].Path != "/x" || got[0].requests() != 30 || got[0].Missed != 9 || len(got[0].Counts) != 3 || len(got[1].Path) != maxURL-1 {
		t.Errorf("%d paths, the first %+v", len(got), got[0])
	}
}
