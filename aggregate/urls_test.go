package aggregate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// TestURLs compares the counts with those of a map, in memory and with many runs on disk, including groups that share
// the URLs of another group.
func TestURLs(t *testing.T) {
	for _, memory := range []int64{0, 1 << 18, 1} {
		rng := rand.New(rand.NewPCG(1, 2))
		urls := NewURLs(memory, t.TempDir())
		defer urls.Close()
		groups := []Group{urls.NewGroup(), urls.NewGroup(), urls.NewGroup()}
		also := []Group{urls.NewGroup(), urls.NewGroup(), urls.NewGroup(), urls.NewGroup()}
		days := urls.NewGroup()
		requests, distinct := map[Group]int64{}, map[Group]map[string]int64{}
		add := func(g Group, url string) int64 {
			if distinct[g] == nil {
				distinct[g] = map[string]int64{}
			}
			requests[g]++
			distinct[g][url]++
			return distinct[g][url]
		}
		for range 200_000 {
			g, n := groups[rng.IntN(3)], rng.IntN(50_000)
			url := fmt.Sprintf("https://a.com/%d", n)
			of := Also{also[n%2], 0}
			if n%3 > 0 {
				of[1] = also[1+n%3]
				add(of[1], fmt.Sprint(g, url))
			}
			add(of[0], fmt.Sprint(g, url)) // a URL also counts once in each further group
			want := add(g, url)
			got, err := urls.Add(g, Hash([]byte(url)), of)
			if err != nil || memory == 0 && int64(got) != want {
				t.Fatalf("%s has %d requests, want %d: %v", url, got, want, err)
			}
			urls.AddRequest(days)
		}
		asked, want := map[PairKey]int64{}, map[PairKey]int64{}
		for n := range 1000 {
			url := fmt.Sprintf("https://a.com/%d", n)
			asked[KeyOf(groups[1], Hash([]byte(url)))], want[KeyOf(groups[1], Hash([]byte(url)))] = 0, distinct[groups[1]][url]
		}
		if err := urls.Finish(asked); err != nil || urls.Spilled() != (memory > 0) {
			t.Fatalf("%d bytes: spilled %t, %v", memory, urls.Spilled(), err)
		}
		if urls.Spilled() && !maps.Equal(asked, want) {
			t.Errorf("%d bytes: the counts of 1000 URLs differ", memory)
		}
		for _, g := range append(groups, also...) {
			if got, want := urls.Distinct(g), int64(len(distinct[g])); got != want || urls.Requests(g) != requests[g] {
				t.Errorf("%d bytes, group %d: %d URLs in %d requests, want %d in %d", memory, g, got, urls.Requests(g), want, requests[g])
			}
		}
		if urls.Requests(days) != 200_000 || urls.Distinct(days) != 0 {
			t.Errorf("%d requests without a URL", urls.Requests(days))
		}
	}
}

// TestURLsMemory checks that the table stays within its memory limit.
func TestURLsMemory(t *testing.T) {
	urls := NewURLs(1<<20, t.TempDir())
	defer urls.Close()
	g := urls.NewGroup()
	for i := range uint64(300_000) {
		if _, err := urls.Add(g, i*0x9E3779B97F4A7C15, Also{}); err != nil {
			t.Fatal(err)
		}
		if size := len(urls.slots) * pairBytes; size > 1<<20 {
			t.Fatalf("%d bytes in a megabyte", size)
		}
	}
	if unsafe.Sizeof(pair{}) != pairBytes {
		t.Errorf("a pair has %d bytes", unsafe.Sizeof(pair{}))
	}
}

// TestURLsNoDirectory checks that disk errors are returned.
func TestURLsNoDirectory(t *testing.T) {
	urls := NewURLs(1, filepath.Join(t.TempDir(), "missing"))
	g := urls.NewGroup()
	for i := range uint64(10_000) {
		if _, err := urls.Add(g, i*0x9E3779B97F4A7C15, Also{}); err != nil {
			return
		}
	}
	t.Error("no error without a directory")
}

// Find the most requested URLs in any order; ties are sorted by bytes.
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
			urls := NewURLs(0, "")
			g := urls.NewGroup()
			var top Top[int]
			for _, url := range log {
				h := Hash([]byte(url))
				requests, err := urls.Add(g, h, Also{})
				if err != nil {
					t.Fatal(err)
				}
				top.Offer([]byte(url), h, requests, func() int { return int(url[0]) })
			}
			for i, e := range top.Examples() {
				if e.URL != all[i] || e.Requests != int64(counts[all[i]]) || e.With != int(all[i][0]) || e.Cut {
					t.Fatalf("%v: example %d is %+v, want %s with %d", log, i, e, all[i], counts[all[i]])
				}
			}
		}
	}
}

// TestTable checks that a table has no more keys than its limit, except those for other keys, and loses no request.
func TestTable(t *testing.T) {
	urls := NewURLs(0, "")
	table := NewTable[string](urls, 2)
	for i, key := range strings.Split("a b b c d c b", " ") {
		if _, err := urls.Add(table.GroupOr(key, "others"), uint64(i+1), Also{}); err != nil {
			t.Fatal(err)
		}
	}
	got := fmt.Sprintf("%+v", table.Rows(strings.Compare))
	if want := "[{Key:b Group:2 Requests:3 URLs:3} {Key:others Group:3 Requests:3 URLs:3} {Key:a Group:1 Requests:1 URLs:1}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Counting allocates nothing once the set has grown.
func TestNoAllocation(t *testing.T) {
	urls := NewURLs(0, "")
	g := urls.NewGroup()
	url := []byte("https://a.com/x")
	if n := testing.AllocsPerRun(100, func() { _, _ = urls.Add(g, Hash(url), Also{}) }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 4_000_000} {
		b.Run(fmt.Sprintf("urls=%d", n), func(b *testing.B) {
			urls := NewURLs(0, "")
			g := urls.NewGroup()
			url := []byte("https://www.example.com/a/path/of/a/usual/length/0000000.html")
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = Hash(fmt.Append(url, i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				if _, err := urls.Add(g, hashes[i%n], Also{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
