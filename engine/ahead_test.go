package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// TestAhead compares the verdicts on URLs of thousands of origins in random order, for which most rules are prefetched,
// with those of a store in memory without prefetching.
func TestAhead(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 3))
	const origins = 6000
	var all []robots.Response
	for i := range origins {
		all = append(all, robots.Response{
			Origin: robots.Origin(fmt.Sprintf("https://h%d.example", i)), Status: []int{200, 200, 200, 404, 503}[r.IntN(5)],
			Body: fmt.Appendf(nil, "%s\n# %d\n", packTexts[r.IntN(len(packTexts))], r.IntN(origins)),
		})
	}
	opt := StoreOptions{Dialect: robots.Google, Agents: []string{"*", "a", "Googlebot-News", "YandexImages"}, Missing: MissingUnknown}
	want := storeOf(t, opt, all...)
	paths := []string{"/", "/private/x", "/a/b", "/x1.css", "/robots.txt", "/q/7/z", ""}
	hosts := []string{"https://h%d.example", "https://h%d.example", "https://h%d.example", "HTTPS://H%d.example", "https://h%d.example:443", "http://h%d.example", "h%d"}
	for way, got := range waysToOpen(t, makePack(t, robots.Google, all...), opt) {
		e, f := got.NewEvaluator(), want.NewEvaluator()
		looked := false
		for range 12 {
			var urls []string
			for range 500 + r.IntN(300) {
				urls = append(urls, fmt.Sprintf(hosts[r.IntN(len(hosts))], r.IntN(origins+100))+paths[r.IntN(len(paths))])
			}
			b, c := newBatch(urls...), newBatch(urls...)
			e.Evaluate(b)
			f.Evaluate(c)
			looked = looked || e.ahead.useful
			for i := range urls {
				if g, w := describe(got, b, i), describe(want, c, i); g != w {
					t.Fatalf("%s: %s: %s, want %s", way, urls[i], g, w)
				}
			}
		}
		if err := got.Err(); err != nil || looked != (way == "unlimited") {
			t.Errorf("%s: looked ahead: %t, %v", way, looked, err)
		}
	}
}

// TestAheadDamagedIndex prefetches origins in packs with a wrong byte. If a block of the index cannot be read, its
// origins are not found, whatever the previous result was, and the Find of their rows reports the error.
func TestAheadDamagedIndex(t *testing.T) {
	const origins = 3000
	var all []robots.Response
	for i := range origins {
		all = append(all, robots.Response{Origin: robots.Origin(fmt.Sprintf("https://h%d.example", i)), Status: 200, Body: []byte("User-agent: *\nDisallow: /\n")})
	}
	name := makePack(t, robots.Google, all...)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for at := len(whole) / 2; at < len(whole); at += 1021 {
		text := slices.Clone(whole)
		text[at] ^= 1
		bad := filepath.Join(t.TempDir(), "bad.rbp")
		if err := os.WriteFile(bad, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenPack(bad, StoreOptions{Dialect: robots.Google, Agents: []string{"*"}})
		if err != nil {
			continue // opening fails
		}
		reader, unread := s.rules.Reader(1), 0
		for i := range all {
			origin := []byte(all[i].Origin)
			site, id, ok := reader.Find(origin)
			found := []rules.Found{{Site: origins, OK: true}} // of a previous row
			reader.(rules.AheadReader).FindAll([][]byte{origin}, found)
			if f := found[0]; f.OK && (!ok || f.Site != site || f.ID != id) {
				t.Fatalf("byte %d: %s: with prefetching found as %v, without as %d, %d, %t", at, origin, f, site, id, ok)
			}
			if !ok {
				unread++
			}
		}
		if unread > 0 && s.Err() == nil {
			t.Errorf("byte %d: origins were not found, and there is no error", at)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if unread > 100 { // not only one site, but a block of the index
			damaged++
		}
	}
	if damaged == 0 {
		t.Error("no block of the index was damaged")
	}
}
