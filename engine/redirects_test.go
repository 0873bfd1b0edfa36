package engine

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestRedirects checks that a pack, with and without a memory limit, has the same redirects as the files, and that a
// redirect in many captures is one redirect.
func TestRedirects(t *testing.T) {
	var all []robots.Response
	want := map[string]string{}
	for i := range 50 {
		from, to := fmt.Sprintf("http://h%d.example", i), fmt.Sprintf("https://h%d.example", i)
		all = append(all, robots.Response{Origin: robots.Origin(to), Status: 200, FetchedAt: day(1, 0), Body: []byte("User-agent: *\nDisallow: /x\n")})
		if i%3 == 0 {
			continue
		}
		for n := range 4 {
			all = append(all, robots.Response{Origin: robots.Origin(from), Status: 301, Location: to + "/robots.txt", FetchedAt: day(1+n, 0)})
		}
		want[from] = to
	}
	files, err := BuildStore(sequence(all), StoreOptions{Dialect: robots.Google, RowTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	pack := makePack(t, robots.Google, all...)
	for name, s := range map[string]*Store{
		"files": files, "pack": openPack(t, pack, StoreOptions{Dialect: robots.Google, RowTimes: true}),
		"limit": openPack(t, pack, StoreOptions{Dialect: robots.Google, RowTimes: true, MaxMemory: 1 << 20}),
	} {
		lookup, got := s.NewLookup(), map[string]string{}
		for site, redirects := range s.Redirects() {
			if len(redirects) != 1 {
				t.Errorf("%s: %s has %d redirects", name, lookup.Origin(site), len(redirects))
			}
			got[string(lookup.Origin(site))] = string(redirects[0].To)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}
