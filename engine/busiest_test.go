package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestFrequent compares the rows of keys with a map: they are exact for few keys. For many keys, they are too low by at
// most off, and no key with more rows is missing.
func TestFrequent(t *testing.T) {
	for _, keys := range []int{1, 100, maxItems, 4 * maxItems} {
		r := rand.New(rand.NewPCG(1, uint64(keys)))
		var f frequent
		want := map[uint64]int64{}
		add := func(key uint64, rows int64) {
			f.countKey(key, rows, decider{})
			want[key] += rows
		}
		for key := range uint64(keys) {
			add(key, 1)
			add(r.Uint64N(uint64(keys)), 1+r.Int64N(2))
			add(key%20, 2)
		}
		if exact := keys <= maxItems; exact != (f.off == 0) || f.off > int64(keys)/100 {
			t.Errorf("%d keys: the counts may be %d rows too low, want exact ones", keys, f.off)
		}
		if len(f.slots) > 2*maxItems {
			t.Errorf("%d keys: %d slots", keys, len(f.slots))
		}
		got := map[uint64]int64{}
		for _, it := range f.topItems(keys) {
			got[it.key] = it.rows
		}
		for key, rows := range want {
			if n := got[key]; n > rows || n+f.off < rows {
				t.Fatalf("%d keys: one has %d rows, want %d or at most %d less", keys, n, rows, f.off)
			}
		}
	}
}

// TestFrequentStreaks checks that rows of a key can be added one by one or at once.
func TestFrequentStreaks(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	var one, all frequent
	for range 6 * maxItems {
		key, rows := r.Uint64N(3*maxItems), 1+r.Int64N(3)
		all.countKey(key, rows, decider{})
		for range rows {
			one.countKey(key, 1, decider{})
		}
	}
	if all.off == 0 || !reflect.DeepEqual(one, all) {
		t.Errorf("%d keys with off %d if added one by one, but %d keys with off %d if added at once", one.used, one.off, all.used, all.off)
	}
}

// TestBusiest compares the busiest origins and rules of a long run over many sites and origins without rules with
// counts by row, for any number of workers and batch size.
func TestBusiest(t *testing.T) {
	var sites []string
	for n := range 200 {
		sites = append(sites, fmt.Sprintf("https://%d.com", n), fmt.Sprintf("User-agent: *\nDisallow: /%d\nDisallow: /x\n", n%150))
	}
	s := buildStore(t, StoreOptions{Dialect: robots.Google}, sites...)
	r := rand.New(rand.NewPCG(5, 6))
	var rows []string
	for range 6_000 {
		host := min(r.IntN(400), r.IntN(400))
		for range 1 + r.IntN(3) {
			rows = append(rows, fmt.Sprintf("https://%d.com/%d", host, min(r.IntN(150), host%150+r.IntN(2))))
		}
		rows = append(rows, fmt.Sprintf("https://stray%d.com/", r.IntN(2_000)))
	}
	var want *Stats
	for _, workers := range []int{1, 2, 5} {
		src, sink := newSource(1000*workers+7, rows), newSink(s)
		got, err := Run(t.Context(), s, src, sink, Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = &got
			origins := busiestOf(sink.sites)[:Top]
			if !slices.Equal(got.TopOrigins[:], origins) {
				t.Errorf("the busiest are %v, want %v", got.TopOrigins, origins)
			}
			for i, rule := range got.TopRules {
				n := int64(0)
				for one, rows := range sink.rules { // including rules of sites with the same text
					if one.Rule == rule.Rule && (one.Origin == rule.Origin || rule.Others && sameText(s, one.Origin, rule.Origin)) {
						n += rows
					}
				}
				if n != rule.Rows || n == 0 || i > 0 && n > got.TopRules[i-1].Rows {
					t.Errorf("rule %d is %+v, but has %d rows", i, rule, n)
				}
			}
		}
		if !reflect.DeepEqual(got, *want) {
			t.Errorf("%d workers: %+v, want %+v", workers, got, *want)
		}
	}
	if want.TopOriginsOff != 0 || want.TopRulesOff != 0 || !slices.ContainsFunc(want.TopRules[:], func(r BusyRule) bool { return r.Others }) {
		t.Errorf("%+v", want)
	}
}

// TestSiteRows checks that counts of all sites and counts of the most frequent ones have the same result, with ties
// ordered by name.
func TestSiteRows(t *testing.T) {
	var sites []string
	for n := range 50 {
		sites = append(sites, fmt.Sprintf("https://%d.com", n), "User-agent: *\nDisallow: /\n")
	}
	s := buildStore(t, StoreOptions{}, sites...)
	all, few := newSiteRows(s.NumSites()), newSiteRows(mostSites+1)
	r := rand.New(rand.NewPCG(7, 8))
	want := map[string]int64{}
	for range 60 {
		streak := siteStreak{SiteID(r.IntN(40)), 1 + r.Uint32N(3)}
		all.addStreak(streak)
		few.addStreak(streak)
		want[string(s.NewLookup().Origin(streak.site))] += int64(streak.rows)
	}
	if got := all.top(s.NewLookup()); !slices.Equal(got, busiestOf(want)[:Top]) || !slices.Equal(got, few.top(s.NewLookup())) || few.all != nil {
		t.Errorf("all %v, few %v, want %v", got, few.top(s.NewLookup()), busiestOf(want)[:Top])
	}
}

// sameText reports whether two origins have the same rules.
func sameText(s *Store, a, b robots.Origin) bool {
	reader := s.rules.Reader(1)
	_, x, _ := reader.Find([]byte(a))
	_, y, _ := reader.Find([]byte(b))
	return x == y
}

// TestBusiestStrays checks that the names of the busiest of very many origins without rules are kept, and few others.
func TestBusiestStrays(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google})
	c, e := newCounter(s, 1), s.NewEvaluator()
	all := newBusiest(s, nil)
	want := map[string]int64{}
	b := new(Batch)
	for n := range 30 {
		b.Reset()
		for m := range 8000 {
			name := fmt.Sprintf("https://%d.example", n*8000+m)
			if m%7 == 0 {
				name = fmt.Sprintf("https://busy%d.example", m%14)
			}
			want[name]++
			b.AddURL([]byte(name+"/"), 1)
		}
		e.Evaluate(b)
		c.countBatch(b)
		all.countSites(b)
	}
	got := sumCounts([]*counter{c}, all)
	order := busiestOf(want)
	if got.Origins != int64(len(want)) || !slices.Equal(got.TopOrigins[:2], order[:2]) || !slices.Equal(got.Busiest[:2], order[:2]) {
		t.Errorf("%d origins, the busiest %v, want %d, %v", got.Origins, got.TopOrigins, len(want), order[:2])
	}
	if len(all.names) > 2*maxItems*64 || got.TopOriginsOff == 0 {
		t.Errorf("%d bytes of names, %d off", len(all.names), got.TopOriginsOff)
	}
	if !slices.IsSortedFunc(got.TopOrigins[:], func(a, b BusyOrigin) int { return cmp.Compare(b.Rows, a.Rows) }) {
		t.Errorf("%v", got.TopOrigins)
	}
}

// TestBusiestAllocates checks that as many origins as rows need few allocations, once there is room.
func TestBusiestAllocates(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google})
	c, e := newCounter(s, 1), s.NewEvaluator()
	b := new(Batch)
	for n := range 8000 {
		b.AddURL(fmt.Appendf(nil, "https://%d.example/", n), 1)
	}
	e.Evaluate(b)
	c.countBatch(b)
	all := newBusiest(s, nil)
	all.countSites(b)
	if n := testing.AllocsPerRun(10, func() { all.countSites(b) }); n > 0 {
		t.Errorf("%v allocations for 8,000 strays", n)
	}
}
