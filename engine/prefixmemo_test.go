package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// oddURLs returns URLs of few hosts in many spellings, some of them invalid.
func oddURLs(rng *rand.Rand, n int) []string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	long := strings.Repeat("a", 63)
	urls := make([]string, n)
	for i := range urls {
		urls[i] = pick("http://", "https://", "HTTP://", "ftp://", "http:/", "http:///", "//", "a://", "http://u:p@", "http://u/@", " http://", "x") +
			pick("a", "A", "b", "a.", "a:80", "a:443", "a:8080", "a:0", "a:", "[::1]", "[::1]:80", "é", "", "a\x00", "a b", long, long[:47], long[:48], long[:49]) +
			pick("", "/", "?", ";", "#", "\\", "@b", "?x=/", ";/", "#/", "//", "/private", "?/private", ";private", "/private#/", "\\/private", "@b/private", "/private?x=http://b/") +
			pick("", "", "/", "private", " ", "\xff")
	}
	return urls
}

// TestPrefixMemo compares rows of many hosts in random order, whose prefixes are remembered, with the evaluation of
// each row alone.
func TestPrefixMemo(t *testing.T) {
	long := strings.Repeat("a", 63)
	origins := []string{
		"http://a", "https://a", "ftp://a", "https://b", "http://[::1]", "http://a:8080", "https://u",
		"http://" + long, "http://" + long[:47], "http://" + long[:48], "https://" + long[:47], "http://" + long[:49],
	}
	store, err := BuildStore(func(yield func(robots.Response, error) bool) {
		for i, o := range origins {
			text := fmt.Sprintf("User-agent: *\n%sDisallow: *private\n", strings.Repeat("#\n", i))
			if !yield(robots.Response{Origin: robots.Origin(o), Status: 200, Body: []byte(text)}, nil) {
				return
			}
		}
	}, StoreOptions{Dialect: robots.Google})
	if err != nil {
		t.Fatal(err)
	}
	describe := func(b *Batch) (rows []string) {
		look := store.NewLookup()
		for i := range b.Len() {
			rows = append(rows, fmt.Sprintf("%q: %s", b.URL(i), describeTimed(store, look, b, i)))
		}
		return rows
	}
	batch := func(urls ...string) *Batch {
		b := &Batch{}
		for i, url := range urls {
			appendRow(b, url, int64(i+1))
		}
		return b
	}
	rng := rand.New(rand.NewPCG(3, 1))
	urls := oddURLs(rng, 4000)
	known := 0
	e := store.NewEvaluator()
	for part := range slices.Chunk(urls, 100) {
		for _, url := range part {
			if n := prefixLen([]byte(url)); n > 0 {
				if _, _, ok := e.memo.find([]byte(url[:n])); ok {
					known++
				}
			}
		}
		b := batch(part...)
		e.Evaluate(b)
		got := describe(b)
		for i, url := range part {
			alone := batch(url)
			store.NewEvaluator().Evaluate(alone)
			if want := describe(alone)[0]; got[i] != want {
				t.Fatalf("got  %s\nwant %s", got[i], want)
			}
		}
	}
	if known < len(urls)/40 {
		t.Errorf("only %d of %d prefixes were remembered", known, len(urls))
	}
}
