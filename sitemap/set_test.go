package sitemap

import (
	"encoding/xml"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

var urlCount = flag.Int("urls", 20_000, "how many URLs TestIdentity makes up")

// written returns a sitemap of these URLs.
func written(urls []string) string {
	var sb strings.Builder
	sb.WriteString(xml.Header + `<urlset xmlns="` + Namespace + "\">\n")
	for _, url := range urls {
		sb.WriteString("<url><loc>")
		xml.EscapeText(&sb, []byte(url))
		sb.WriteString("</loc><lastmod>2026-01-02</lastmod></url>\n")
	}
	sb.WriteString("</urlset>\n")
	return sb.String()
}

// normal is a slow and simple normal form of a URL: its origin and its path as text; "" if it is invalid.
func normal(url string, d robots.Dialect) string {
	u, err := robots.SplitURL([]byte(url))
	if err != nil {
		return ""
	}
	origin, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return ""
	}
	path, _ := d.Path([]byte(url[len(u.Prefix):]), nil)
	return string(origin) + "\x00" + string(path)
}

// madeUp returns a random URL, which often equals another one with a different spelling.
func madeUp(rng *rand.Rand, n int) string {
	scheme := []string{"https", "http", "HTTPS"}[rng.IntN(3)]
	host := []string{"www.example.com", "WWW.example.com", "www.example.com:443", "a.example", "bücher.example", "xn--bcher-kva.example", "[::1]"}[rng.IntN(7)]
	path := []string{"/p/%d", "/p/%d/", "/caf%%C3%%A9/%d", "/caf%%c3%%a9/%d", "/café/%d", "/q?id=%d", "/q?id=%d#part", "/a&b/%d", "/%%7Euser/%d", "/~user/%d", "/a b/%d"}[rng.IntN(11)]
	return scheme + "://" + host + fmt.Sprintf(path, rng.IntN(n/8+1))
}

// TestIdentity reads sitemaps of random URLs, and compares the set with a set of texts, for listed and other URLs.
func TestIdentity(t *testing.T) {
	for _, d := range []robots.Dialect{robots.Google, robots.RFC9309, robots.Google | robots.URLAsIs} {
		rng := rand.New(rand.NewPCG(34, 6))
		want := map[string]bool{}
		b := NewBuilder(d, 0)
		const perFile = 1000
		start := time.Now()
		for done := 0; done < *urlCount; done += perFile {
			urls := make([]string, 0, perFile)
			for range perFile {
				urls = append(urls, madeUp(rng, *urlCount))
			}
			r := NewReader(strings.NewReader(written(urls)))
			for _, url := range urls {
				e, err := r.Next()
				if err != nil || string(e.URL) != url {
					t.Fatalf("%q, %v, want %q", e.URL, err, url)
				}
				if _, err := b.AddURL(e.URL); err != nil {
					t.Fatalf("%q: %v", url, err)
				}
				want[normal(url, d)] = true
			}
		}
		s := b.Set()
		t.Logf("%d URLs, %d distinct, read in %v", b.Count(), s.Len(), time.Since(start).Round(time.Millisecond))
		if s.Len() != len(want) {
			t.Errorf("%v: %d URLs, want %d", d, s.Len(), len(want))
		}
		seen := make([]bool, s.Len())
		found := 0
		for range 2 * *urlCount {
			url := madeUp(rng, *urlCount)
			u, _ := robots.SplitURL([]byte(url))
			origin, _ := robots.AppendOrigin(nil, u)
			path, _ := d.Path([]byte(url[len(u.Prefix):]), nil)
			number, ok := s.Origin(origin)
			index := 0
			if ok {
				index, ok = s.Find(number, path)
			}
			if ok != want[normal(url, d)] {
				t.Fatalf("%q: %v", url, ok)
			}
			if ok && !seen[index] {
				seen[index] = true
				found++
			}
		}
		if found == 0 || found > s.Len() {
			t.Errorf("%d of %d were found", found, s.Len())
		}
	}
}

// TestIndexes checks that each URL has its own index, and that all indexes below Len are used.
func TestIndexes(t *testing.T) {
	b := NewBuilder(robots.Google, 0)
	const n = 30_000
	url := func(i int) []byte { return fmt.Appendf(nil, "https://a%d.example/%d", i%7, i) }
	for i := range 2 * n {
		if _, err := b.AddURL(url(i % n)); err != nil {
			t.Fatal(err)
		}
	}
	s, seen := b.Set(), map[int]bool{}
	for i := range n {
		number, _ := s.Origin(fmt.Appendf(nil, "https://a%d.example", i%7))
		index, ok := s.Find(number, fmt.Appendf(nil, "/%d", i))
		if !ok || index < 0 || index >= n || seen[index] {
			t.Fatalf("%s: %d, %v", url(i), index, ok)
		}
		seen[index] = true
	}
	if s.Len() != n || len(seen) != n {
		t.Errorf("%d URLs, %d indexes", s.Len(), len(seen))
	}
}

// TestBadURLs checks that URLs without an origin are rejected.
func TestBadURLs(t *testing.T) {
	b := NewBuilder(robots.Google, 0)
	for _, url := range []string{"/relative", "relative", "//host/path", "", "https://", "https://a b/", "mailto:a@b"} {
		if _, err := b.AddURL([]byte(url)); err == nil {
			t.Errorf("%q is added", url)
		}
	}
	if b.Count() != 0 || b.Set().Len() != 0 {
		t.Errorf("%d URLs", b.Count())
	}
}

// TestFull checks that a Builder stays below its limit, and that the size that it then reports is sufficient.
func TestFull(t *testing.T) {
	fill := func(most int64) *Builder {
		b := NewBuilder(robots.Google, most)
		for i := range 50_000 {
			if _, err := b.AddURL(fmt.Appendf(nil, "https://a%d.example/%d", i/10, i)); err != nil {
				t.Fatal(err)
			}
		}
		return b
	}
	b := fill(100_000)
	if !b.Full() || b.Set() != nil || b.Count() != 50_000 {
		t.Fatalf("%d URLs, full %v", b.Count(), b.Full())
	}
	enough := fill(b.Size())
	if s := enough.Set(); enough.Full() || s.Len() != 50_000 || s.Size() > b.Size() {
		t.Errorf("%d bytes are not enough", b.Size())
	}
	if less := fill(b.Size() - 1); !less.Full() {
		t.Error("less is enough")
	}
}

// TestMemory compares the memory of a set with its Size.
func TestMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b := NewBuilder(robots.Google, 0)
	for i := range 1_000_000 {
		if _, err := b.AddURL(fmt.Appendf(nil, "https://a%d.example/%d", i/100, i)); err != nil {
			t.Fatal(err)
		}
	}
	s := b.Set()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > s.Size() || got < s.Size()/2 {
		t.Errorf("%d URLs take %d bytes, said are %d", s.Len(), got, s.Size())
	}
}

// BenchmarkReader measures the time per URL of a sitemap.
func BenchmarkReader(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	urls := make([]string, 10_000)
	for i := range urls {
		urls[i] = madeUp(rng, 1_000_000)
	}
	text := written(urls)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(strings.NewReader(text))
		for err := error(nil); err == nil; {
			_, err = r.Next()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(urls)), "ns/url")
}

// BenchmarkFind measures a look-up in a set of five million URLs.
func BenchmarkFind(b *testing.B) {
	builder := NewBuilder(robots.Google, 0)
	var path []byte
	for i := range 5_000_000 {
		builder.AddURL(fmt.Appendf(nil, "https://a.example/products/%d", i))
	}
	s := builder.Set()
	number, _ := s.Origin([]byte("https://a.example"))
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		path = fmt.Appendf(path[:0], "/products/%d", rng.IntN(10_000_000))
		s.Find(number, path)
	}
}
