package packed

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

var packTexts = []string{
	"", "User-agent: *\nDisallow: /private\n", "User-agent: a\nDisallow: /a\nUser-agent: *\nDisallow: /\nAllow: /x\nUser-agent: A\nAllow: /a/b\n",
	"User-agent: googlebot\nDisallow: /*.css$\nClean-param: sid /x\nUser-agent: googlebot-news\nUser-agent: yandex\nDisallow: /x*y\nAllow: /x\n",
	"User-agent: a\nCrawl-delay: 2\nUser-agent: b\nDisallow: /b\n", "User-agent: *\nCrawl-delay: 7\nDisallow: /q\n",
	"User-agent: *\n" + manyFloating(40), "\xef\xbb\xbfuser-agent:*\rdisallow:/x%2a\xff\r",
}

// manyFloating returns enough rules that package onepass finds their segments.
func manyFloating(n int) string {
	var w strings.Builder
	for i := range n {
		fmt.Fprintf(&w, "Disallow: /*/%d/\n", i)
	}
	return w.String()
}

// options returns options for some agents.
func options(d robots.Dialect, notes bool, names ...string) rules.Options {
	opt := rules.Options{Dialect: d}
	if notes {
		opt.Directives = robots.Directives()
	}
	for _, name := range names {
		opt.Agents = append(opt.Agents, robots.NewAgent(name, d))
	}
	return opt
}

// FuzzPack writes any bytes to a pack as a text and as the rules that it refers to, with correct checksums, so that
// only the checks of this package and of package rules protect it: reading neither panics nor hangs, and fails or
// returns existing rules.
func FuzzPack(f *testing.F) {
	const rulesAt = 256 // offset of the first chunk
	for _, d := range []robots.Dialect{robots.Google, robots.Google2010, robots.Yandex} {
		for _, body := range packTexts {
			t, err := packText(captures.Key{}, []byte(body), d)
			if err != nil {
				f.Fatal(err)
			}
			for i := range t.rules {
				for k := range t.selections {
					t.selections[k].ref = pack.Ref{Offset: rulesAt, Size: uint32(len(t.rules[i]))}
				}
				f.Add(uint32(d), t.appendBinary(nil), t.rules[i])
			}
		}
	}
	f.Add(uint32(0), append(make([]byte, 16), formSource), []byte("x"))
	paths := []string{"/", "/a/b", "/x1.css", "/x%2Ay?sid=1", "/q/7/z/12/", "/private/x"}
	path := filepath.Join(f.TempDir(), "x.rbp")
	f.Fuzz(func(t *testing.T, dialect uint32, text, chunk []byte) {
		writeRawPack(t, path, dialect, text, chunk)
		d := robots.Dialect(dialect) &^ URLFlags
		s, err := Open(path, Options{Options: options(d, len(text)%2 == 0, "*", "a", "googlebot-news", "yandexbot")})
		if err != nil {
			t.Skip(err)
		}
		defer s.Close()
		_, id, ok := s.Reader(1).Find([]byte("https://a.com"))
		if !ok || s.Err() != nil {
			return
		}
		r := s.Reader(1).Ruling(id)
		var scratch automaton.Scratch
		for _, path := range paths {
			for _, set := range r.Sets {
				if v := set.Decide([]byte(path), &scratch); v.Rule != rules.NoRule && int(v.Rule) >= set.Len() {
					t.Errorf("rule %d of %d won", v.Rule, set.Len())
				}
			}
		}
	})
}

// writeRawPack writes a pack of one site with any bytes as its text and rules.
func writeRawPack(t *testing.T, path string, dialect uint32, text, chunk []byte) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := pack.NewWriter(file, "")
	defer w.Close()
	if _, err := w.AddChunk(chunk); err != nil {
		t.Fatal(err)
	}
	if err := w.AddText(bytes.Clone(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.AddCapture(pack.Site, "https://a.com", pack.Capture{Status: 200}); err != nil {
		t.Fatal(err)
	}
	dialect &^= uint32(URLFlags)
	if err := w.Finish(func(*pack.Reader) (pack.Summary, error) { return pack.Summary{Dialect: dialect}, nil }); err != nil {
		t.Fatal(err)
	}
}

// TestSelections checks which texts are stored verbatim.
func TestSelections(t *testing.T) {
	for n, want := range map[int]bool{20: true, 200: false} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "User-agent: bot%s\n", letters(i))
		}
		for i := range 600 {
			fmt.Fprintf(&text, "Disallow: /%d\n", i)
		}
		for i := range n {
			fmt.Fprintf(&text, "User-agent: bot%s\nAllow: /%d/x\n", letters(i), i)
		}
		if _, ok := selections(robots.Parse([]byte(text.String()), robots.Yandex)); ok != want {
			t.Errorf("the selections of %d agents can be stored: %t", n, ok)
		}
	}
}

// letters writes a number in letters, for a product token.
func letters(i int) string { return string([]byte{byte('a' + i%26), byte('a' + i/26)}) }

// longRules yields robots.txt files with five rules of 10 kB each.
func longRules(origins int) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for i := range origins {
			body := []byte("User-agent: *\n")
			for k := range 5 {
				body = fmt.Appendf(body, "Disallow: /%d/own%d%s\n", k, i, strings.Repeat("*", 10_000))
			}
			if !yield(robots.Response{Origin: robots.Origin(fmt.Sprintf("https://h%d.example", i)), Status: 200, Body: body}, nil) {
				return
			}
		}
	}
}

// TestReaderDrops checks that a Reader does not exceed its memory for rules, but always keeps the rules that were
// requested last.
func TestReaderDrops(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x.rbp"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Write(t.Context(), f, longRules(20), WriteOptions{Dialect: robots.Google}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(f.Name(), Options{Options: options(robots.Google, false, "*"), MaxMemory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var ids []rules.RulingID
	for i := range 20 {
		_, id, ok := s.Reader(1).Find(fmt.Appendf(nil, "https://h%d.example", i))
		if !ok {
			t.Fatalf("no site %d", i)
		}
		ids = append(ids, id)
	}
	one := s.Reader(1).Ruling(ids[0]).Size
	if one < 50_000 {
		t.Fatalf("a site of 50 kB takes %d bytes", one)
	}
	for _, test := range []struct{ most, want int64 }{{1, 1}, {one + 100, 1}, {5*one + 1000, 5}, {100 * one, 20}} {
		m := s.Reader(1).(*limitedReader)
		m.most = test.most
		peak := int64(0)
		for _, id := range slices.Repeat(ids, 3) {
			r, entries, size := m.Ruling(id), int64(0), int64(0)
			for _, e := range m.rulings {
				if e.ruling != nil {
					entries, size = entries+1, size+e.ruling.Size
				}
			}
			if size != m.size || m.Ruling(id) != r {
				t.Fatalf("%d rulings take %d bytes, but the reader counts %d", entries, size, m.size)
			}
			peak = max(peak, entries)
		}
		if peak != test.want {
			t.Errorf("keeps %d rulings in %d bytes, want %d", peak, test.most, test.want)
		}
	}
}

// A sizesCache only records the sizes that are set.
type sizesCache struct{ sizes []int64 }

func (*sizesCache) Get(uint64) (*rules.Ruling, bool) { return nil, false }
func (*sizesCache) Close()                           {}

func (c *sizesCache) Set(_ uint64, _ *rules.Ruling, size int64) bool {
	c.sizes = append(c.sizes, size)
	return false
}

// TestLimited checks that the cache gets the sizes of rules, and that a site that could not be read is not treated as
// one without a robots.txt afterwards.
func TestLimited(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x.rbp"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Write(t.Context(), f, longRules(2), WriteOptions{Dialect: robots.Google}); err != nil {
		t.Fatal(err)
	}
	var cache sizesCache
	s, err := Open(f.Name(), Options{
		Options: options(robots.Google, false, "*"), MaxMemory: 64 << 20,
		NewCache: func(int64, int64) Cache { return &cache },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := s.Reader(1).(*limitedReader)
	if r := m.Ruling(m.site(0).id); !slices.Equal(cache.sizes, []int64{r.Size}) || r.Size == 0 {
		t.Errorf("the cache was given %d bytes, want %d", cache.sizes, r.Size)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if e := m.site(1); e.origin != "" || s.Err() == nil {
		t.Fatalf("site %q was read from an empty file", e.origin)
	}
	if id := rules.RulingID(m.ids[1].Load()); id != rules.NoRuling {
		t.Errorf("a site that could not be read has ruling %d", id)
	}
}

// TestCacheFor checks that a cache of the size that cacheFor returns drops none of the rules, and that a smaller one
// does. Rules that are set again had to be loaded again.
func TestCacheFor(t *testing.T) {
	const texts, size = 500, 5003
	for _, test := range []struct {
		bytes int64
		all   bool
	}{{cacheFor(texts * size), true}, {cacheFor(texts*size) * 9 / 10, false}} {
		c := newCache(test.bytes, texts)
		kept := 0
		for round := range 3 {
			kept = 0
			for text := range uint64(texts) {
				if _, ok := c.Get(text); ok {
					kept++
				} else {
					c.Set(text, &rules.Ruling{}, size)
				}
			}
			if lossy := c.lossy.Load(); lossy != nil {
				lossy.Wait()
			}
			if round > 0 && test.all && kept != texts {
				t.Errorf("round %d: %d of %d texts are in a cache of %d bytes for %d", round, kept, texts, test.bytes, texts*size)
			}
		}
		if !test.all && kept == texts {
			t.Errorf("a cache of %d bytes has all texts, although they take %d", test.bytes, texts*size)
		}
		c.Close()
	}
}
