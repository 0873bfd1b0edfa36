package paths

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// addAll adds URLs in their order, each with one request. Rule 1 denies it if its number is even.
func addAll(urls []string) (*Tree, map[string]Counts) {
	split := func(url string) (origin, path string) { return url[:9], url[9:] }
	pathOf := func(url string) string {
		_, path := split(url)
		path, _, _ = strings.Cut(path, "#")
		path, _, _ = strings.Cut(path, "?")
		return path
	}
	slices.SortStableFunc(urls, func(a, b string) int {
		x, _ := split(a)
		y, _ := split(b)
		return cmp.Or(strings.Compare(x, y), strings.Compare(pathOf(a), pathOf(b)), strings.Compare(a, b))
	})
	t, all := New(), map[string]Counts{}
	for i, url := range urls {
		denied := int64(1 - i%2)
		origin, rest := split(url)
		path := pathOf(url)
		t.Enter([]byte(url), len(origin), len(origin)+len(path))
		if t.AddRequests(&Counts{Requests: 1, Denied: denied, Failed: int64(i % 3), Bytes: int64(i)}); denied > 0 {
			t.AddDenied(1+int32(i%4), 1)
		}
		names := []string{origin}
		for p := path; p != ""; {
			end := strings.IndexByte(p, '/') + 1
			if end == 0 {
				end = len(p)
			}
			names, p = append(names, p[:end]), p[end:]
		}
		if strings.HasPrefix(rest[len(path):], "?") {
			names = append(names, query)
		}
		names = names[:min(len(names), MaxDepth)]
		for n := range names {
			key := strings.Join(names[:n+1], "|")
			sum := all[key]
			sum.addCounts(&Counts{1, denied, int64(i % 3), int64(i)}, 1)
			all[key] = sum
		}
	}
	return t, all
}

// TestTree compares a tree with sums in a map, and the shown paths with those of a slow selection.
func TestTree(t *testing.T) {
	for _, number := range []int{10, 2000, 60_000} {
		rng, urls := rand.New(rand.NewPCG(uint64(number), 30)), []string(nil)
		for range number {
			n := rng.IntN(1 + rng.IntN(number))
			end := []string{"", "/", "?a=/x", "#f", "!", "?x#y", "/" + strings.Repeat("d/", 11)}[rng.IntN(7)]
			urls = append(urls, fmt.Sprintf("https://%c/%d/%d/%d%s", 'a'+rune(n%3), n%7, n%101, n, end))
		}
		tree, all := addAll(urls)
		root := tree.Root()
		if root.Requests != int64(number) || tree.used != 1 {
			t.Fatalf("%+v", root)
		}
		shown := map[string]bool{}
		var compare func(p *Path, above string)
		compare = func(p *Path, above string) {
			for i, b := range p.Below {
				key := above + b.Name
				if b.Counts != all[key] || b.Depth != p.Depth+1 || i > 0 && b.Requests > p.Below[i-1].Requests {
					t.Fatalf("%s: %+v, want %+v", key, b, all[key])
				}
				shown[key] = true
				compare(b, key+"|")
			}
			if len(p.Below) > shownBelow {
				t.Errorf("%s has %d rows", p.Name, len(p.Below))
			}
			if r := p.Rest(); r != nil {
				rows := p.Requests
				for _, b := range p.Below {
					rows -= b.Requests
				}
				if r.Requests != rows {
					t.Errorf("the rest of %s has %d requests, want %d", p.Name, r.Requests, rows)
				}
			}
		}
		compare(root, "")
		var got []int64
		for key := range shown {
			got = append(got, all[key].Requests)
		}
		slices.Sort(got)
		if slow := shownSlowly(all); !slices.Equal(got, slow) {
			t.Errorf("%d paths are shown, want %d; their requests are %d, want %d", len(got), len(slow), got, slow)
		}
	}
}

// shownSlowly returns the numbers of requests of the shown paths, in ascending order. It repeatedly selects the
// busiest path whose parent is shown and has fewer than shownBelow shown children.
func shownSlowly(all map[string]Counts) (requests []int64) {
	below := map[string][]string{}
	for key := range all {
		above := key[:max(0, strings.LastIndexByte(key, '|'))]
		below[above] = append(below[above], key)
	}
	open := []string{""}
	for len(requests) < shownPaths-1 && len(open) > 0 {
		if open[0] != "" {
			requests = append(requests, all[open[0]].Requests)
		}
		children := below[open[0]]
		slices.SortFunc(children, func(a, b string) int {
			return cmp.Or(cmp.Compare(all[b].Requests, all[a].Requests), strings.Compare(a, b))
		})
		open = append(open[1:], children[:min(len(children), shownBelow)]...)
		slices.SortStableFunc(open, func(a, b string) int { return cmp.Compare(all[b].Requests, all[a].Requests) })
	}
	slices.Sort(requests)
	return requests
}

// TestRule checks that the rule that denied most requests is named, and whether there are others.
func TestRule(t *testing.T) {
	tree := New()
	for i, path := range []string{"/a", "/b", "/c"} {
		tree.Enter([]byte("https://x"+path), 9, 11)
		tree.AddRequests(&Counts{Requests: int64(i), Denied: int64(i)})
		tree.AddDenied(int32(10+i), int64(i+1))
	}
	site := tree.Root().Below[0]
	if site.Rule != 12 || !site.Several || site.Below[0].Below[0].Several || site.Below[0].Below[0].Rule != 12 {
		t.Errorf("%+v, %+v", site, site.Below[0].Below[0])
	}
	if p := New().Root(); p.Rule != -1 || p.Rest() != nil {
		t.Errorf("nothing is %+v", p)
	}
}

// TestLong checks that paths of any length and with any bytes are kept apart.
func TestLong(t *testing.T) {
	tree, long := New(), bytes.Repeat([]byte("x"), 4000)
	for _, end := range []string{"", "\x00", "y"} {
		url := slices.Concat([]byte("https://x/"), long, []byte(end))
		tree.Enter(url, 9, len(url))
		tree.AddRequests(&Counts{Requests: 1})
	}
	if dir := tree.Root().Below[0].Below[0]; len(dir.Below) != 3 || dir.Requests != 3 {
		t.Errorf("%d paths", len(dir.Below))
	}
}
