package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// While all pairs fit, the numbers are those of a map, in whatever order the requests come.
func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	urls := NewURLs(0)
	groups := []Group{urls.NewGroup(), urls.NewGroup(), urls.NewGroup()}
	requests, distinct := map[Group]int64{}, map[Group]map[string]uint32{}
	for range 200_000 {
		g := groups[rng.IntN(3)]
		url := fmt.Sprintf("https://a.com/%d", rng.IntN(50_000))
		if distinct[g] == nil {
			distinct[g] = map[string]uint32{}
		}
		requests[g]++
		distinct[g][url]++
		if got := urls.Add(g, Hash([]byte(url))); got != distinct[g][url] {
			t.Fatalf("%s has %d requests, want %d", url, got, distinct[g][url])
		}
	}
	for _, g := range groups {
		if got, want := urls.Distinct(g), (Estimate{N: int64(len(distinct[g]))}); got != want || urls.Requests(g) != requests[g] {
			t.Errorf("group %d: %+v of %d requests, want %+v of %d", g, got, urls.Requests(g), want, requests[g])
		}
	}
}

// Beyond its memory the set estimates. The estimate is within four times the error that it says, and
// the same in whatever order the URLs come.
func TestEstimate(t *testing.T) {
	for _, n := range []int{100_000, 1_000_000} {
		forth, back := NewURLs(1<<20), NewURLs(1<<20)
		g, small := forth.NewGroup(), forth.NewGroup()
		back.NewGroup()
		back.NewGroup()
		for i := range n {
			forth.Add(g, Hash(fmt.Appendf(nil, "/%d", i)))
			back.Add(g, Hash(fmt.Appendf(nil, "/%d", n-1-i)))
		}
		forth.Add(small, 7)
		back.Add(small, 7)
		got := forth.Distinct(g)
		if forth.Exact() || got.Error == 0 {
			t.Fatalf("%d URLs are exact in a megabyte: %+v", n, got)
		}
		if off := math.Abs(float64(got.N)/float64(n) - 1); off > 4*got.Error || got.Error > 0.02 {
			t.Errorf("%d URLs are estimated as %d, %.4f off; the error says %.4f", n, got.N, off, got.Error)
		}
		if back.Distinct(g) != got || back.Distinct(small) != forth.Distinct(small) {
			t.Errorf("in reverse %+v, want %+v", back.Distinct(g), got)
		}
		if size := len(forth.slots) * pairBytes; size > 1<<20 {
			t.Errorf("%d bytes in a megabyte", size)
		}
	}
}

// A group that follows another counts the same URLs.
func TestFollow(t *testing.T) {
	for _, n := range []int{10_000, 1_000_000} {
		urls := NewURLs(1 << 20)
		g, like, half := urls.NewGroup(), urls.NewGroup(), urls.NewGroup()
		for range 2 {
			for i := range n {
				requests := urls.Add(g, Hash(fmt.Appendf(nil, "/%d", i)))
				urls.Follow(like, requests)
				if i%2 == 0 {
					urls.Follow(half, requests)
				}
			}
		}
		if got, want := urls.Distinct(like), urls.Distinct(g); urls.Exact() && got != want || urls.Requests(like) != 2*int64(n) {
			t.Errorf("%+v of %d requests, want %+v", got, urls.Requests(like), want)
		}
		for group, want := range map[Group]float64{like: float64(n), half: float64(n) / 2} {
			got := urls.Distinct(group)
			if off := math.Abs(float64(got.N)/want - 1); off > 4*got.Error || got.Error > 0.03 {
				t.Errorf("%v URLs are estimated as %d, %.4f off; the error says %.4f", want, got.N, off, got.Error)
			}
		}
	}
}

// The most requested URLs are found whatever the order; ties go by bytes.
func TestTop(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var log []string
		counts := map[string]int{}
		for range 1 + rng.IntN(40) {
			url := string(rune('a' + rng.IntN(12)))
			log = append(log, url)
			counts[url]++
		}
		var all []string
		for url := range counts {
			all = append(all, url)
		}
		slices.SortFunc(all, func(a, b string) int {
			if counts[a] != counts[b] {
				return counts[b] - counts[a]
			}
			return strings.Compare(a, b)
		})
		for range 3 {
			rng.Shuffle(len(log), func(i, j int) { log[i], log[j] = log[j], log[i] })
			urls := NewURLs(0)
			g := urls.NewGroup()
			var top Top[int]
			for _, url := range log {
				h := Hash([]byte(url))
				top.Offer([]byte(url), h, urls.Add(g, h), func() int { return int(url[0]) })
			}
			for i, e := range top.Examples() {
				if e.URL != all[i] || e.Requests != int64(counts[all[i]]) || e.With != int(all[i][0]) || e.Cut {
					t.Fatalf("%v: example %d is %+v, want %s with %d", log, i, e, all[i], counts[all[i]])
				}
			}
		}
	}
}

// A table has no more keys than it may, and loses no request.
func TestTableOthers(t *testing.T) {
	urls := NewURLs(0)
	table := NewTable[string](urls, 2)
	for i, key := range strings.Split("a b b c d c b", " ") {
		urls.Add(table.Group(key), uint64(i+1))
	}
	rows := table.Rows(strings.Compare)
	if len(rows) != 2 || rows[0].Key != "b" || rows[0].Requests != 3 || rows[1].Key != "a" || rows[1].URLs.N != 1 {
		t.Errorf("%+v", rows)
	}
	if others, ok := table.Others(); !ok || others.Requests != 3 || others.URLs.N != 3 {
		t.Errorf("others %+v, %t", others, ok)
	}
}

// Counting allocates nothing once the set has grown.
func TestNoAllocation(t *testing.T) {
	urls := NewURLs(0)
	g := urls.NewGroup()
	url := []byte("https://a.com/x")
	if n := testing.AllocsPerRun(100, func() { urls.Add(g, Hash(url)) }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 4_000_000} {
		b.Run(fmt.Sprintf("urls=%d", n), func(b *testing.B) {
			urls := NewURLs(0)
			g := urls.NewGroup()
			url := []byte("https://www.example.com/a/path/of/a/usual/length/0000000.html")
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = Hash(fmt.Append(url, i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				urls.Add(g, hashes[i%n])
			}
		})
	}
}
