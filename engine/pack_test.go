package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine/internal/packed"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// sequence yields responses.
func sequence(all []robots.Response) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// makePack writes a pack and returns its name.
func makePack(tb testing.TB, d robots.Dialect, all ...robots.Response) string {
	tb.Helper()
	f, err := os.Create(filepath.Join(tb.TempDir(), "x.rbp"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := WritePack(context.Background(), f, sequence(all), PackOptions{Dialect: d}); err != nil {
		tb.Fatal(err)
	}
	return f.Name()
}

// openPack opens a pack until the test ends.
func openPack(tb testing.TB, name string, opt StoreOptions) *Store {
	tb.Helper()
	s, err := OpenPack(name, opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// A droppingCache drops everything. It is safe for concurrent use.
type droppingCache struct{}

func (droppingCache) Get(uint64) (*rules.Ruling, bool)      { return nil, false }
func (droppingCache) Set(uint64, *rules.Ruling, int64) bool { return false }
func (droppingCache) Close()                                {}

// openDropping opens a pack with a memory limit and a droppingCache, and closes it at the end of the test.
func openDropping(tb testing.TB, name string, opt StoreOptions) *Store {
	tb.Helper()
	opt, forRules := opt.withDefaults()
	r, err := packed.Open(name, packed.Options{
		Options: forRules, MaxMemory: opt.MaxMemory,
		NewCache: func(int64, int64) packed.Cache { return droppingCache{} },
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.Close() })
	return newStore(r, opt)
}

// waysToOpen are stores of the same pack, which must give the same answers: with all loaded rules in memory; with the
// cache, with and without room for the copies of batches; and without a cache.
func waysToOpen(tb testing.TB, name string, opt StoreOptions) map[string]*Store {
	tb.Helper()
	stores := map[string]*Store{"unlimited": openPack(tb, name, opt)}
	opt.MaxMemory = 64 << 20
	stores["roomy"] = openPack(tb, name, opt)
	opt.MaxMemory = 1
	stores["limited"] = openPack(tb, name, opt)
	stores["dropping"] = openDropping(tb, name, opt)
	return stores
}

var packTexts = []string{
	"", "User-agent: *\nDisallow: /private\n", "User-agent: a\nDisallow: /a\nUser-agent: *\nDisallow: /\nAllow: /x\nUser-agent: A\nAllow: /a/b\n",
	"User-agent: googlebot\nDisallow: /*.css$\nClean-param: sid /x\nUser-agent: googlebot-news\nUser-agent: yandex\nDisallow: /x*y\nAllow: /x\n",
	"User-agent: a\nCrawl-delay: 2\nUser-agent: googlebot\nDisallow: /b\nUser-agent: *\nCrawl-delay: soon\nCrawl-delay: 0.5\nDisallow: /private\n",
	"Content-Signal: ai-train=no\nUser-agent: a\nContent-Usage: /a train-ai=n\nUser-agent: *\nContent-Usage: train-ai=y\nLicense: https://a.com/l\n",
	"User-agent: *\nDisallow: /q\nCrawl-delay: 7\n", "User-agent: *\n" + manyFloating(40), "\xef\xbb\xbfuser-agent:*\rdisallow:/x%2a\xff\r",
}

// randomResponses returns responses of a few origins, and of the targets of their redirects.
func randomResponses(r *rand.Rand) (all []robots.Response) {
	urls := []string{"https://a.com/robots.txt", "https://a.com:8080/robots.txt", "https://a.com-b.com/robots.txt", "http://a.com/robots.txt", "https://b.com/x?y", "https://b.com/d/robots.txt"}
	undated := map[string]bool{}
	for range r.IntN(20) {
		url := urls[r.IntN(len(urls))]
		resp := robots.Response{Origin: robots.Origin(url[:strings.Index(url[8:], "/")+8]), Status: []int{200, 200, 200, 204, 301, 302, 404, 503, 0}[r.IntN(9)]}
		switch {
		case resp.Status/100 == 2:
			resp.Body = []byte(packTexts[r.IntN(len(packTexts))])
		case resp.Status/100 == 3:
			resp.Location = []string{"/robots.txt", "//b.com/x?y", "", "https://b.com/d/../d/robots.txt", "http://a.com/robots.txt", "https://nowhere.com/"}[r.IntN(6)]
		case resp.Status == 0:
			resp.Error = "no such host"
		}
		if string(resp.Origin)+"/robots.txt" != url {
			resp.URL = url
		}
		if undated[url] || r.IntN(4) > 0 {
			resp.FetchedAt = time.Unix(int64(r.IntN(60)-10)*86400, int64(r.IntN(2)*5)).UTC()
		} else {
			undated[url] = true
		}
		if r.IntN(10) == 0 {
			resp.Size = robots.MaxBytes + 1
		}
		all = append(all, resp)
	}
	return all
}

// TestPackRandom compares packs with stores of the same responses: answers, hash and number of origins, for all
// dialects, agents and moments, and with any part of the rules in memory.
func TestPackRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var urls []string
	for _, origin := range []string{"https://a.com", "https://a.com:8080", "https://a.com-b.com", "http://a.com", "https://b.com", "https://c.com"} {
		for _, path := range []string{"/", "/private/x", "/a/b", "/x1.css", "/x%2A?sid=1&b", "/robots.txt", "/xay", "/q/7/z"} {
			urls = append(urls, origin+path)
		}
	}
	rounds := 150
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		all := randomResponses(r)
		d := []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex}[r.IntN(4)]
		name := makePack(t, d, all...)
		for _, asOf := range []time.Time{{}, time.Unix(int64(r.IntN(60)-5)*86400, 0), time.Unix(86400*365, 0)} {
			opt := StoreOptions{
				Dialect: d, AsOf: asOf, Agents: []string{"*", "a", "Googlebot-News", "googlebot-image", "YandexImages", "A/2.0"},
				Directives: randomDirectives(r), Missing: MissingUnknown,
			}
			if r.IntN(2) == 0 {
				opt.Dialect |= robots.URLAsIs
			}
			want := storeOf(t, opt, all...)
			for way, got := range waysToOpen(t, name, opt) {
				compareStores(t, fmt.Sprintf("%s, %v as of %v", way, d, asOf), got, want, urls)
			}
		}
	}
}

// randomDirectives returns some of the directives.
func randomDirectives(r *rand.Rand) []robots.Directive {
	return slices.DeleteFunc(robots.Directives(), func(robots.Directive) bool { return r.IntN(2) == 0 })
}

// compareStores checks that two stores give the same answers on URLs.
func compareStores(t *testing.T, what string, got, want *Store, urls []string) {
	t.Helper()
	if got.RulesHash() != want.RulesHash() || got.InForce() != want.InForce() {
		t.Fatalf("%s: %d origins, hash %s, want %d, %s", what, got.InForce(), got.RulesHash(), want.InForce(), want.RulesHash())
	}
	b, c := newBatch(urls...), newBatch(urls...)
	got.NewEvaluator().Evaluate(b)
	want.NewEvaluator().Evaluate(c)
	if err := got.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range urls {
		if g, w := describe(got, b, i), describe(want, c, i); g != w {
			t.Fatalf("%s: %s: %s, want %s", what, urls[i], g, w)
		}
		for a := range want.Options().Agents {
			for _, directive := range want.Options().Directives {
				g, okG := got.NewLookup().Note(b.Rulings[i], a, directive)
				w, okW := want.NewLookup().Note(c.Rulings[i], a, directive)
				if okG != okW || g.Line != w.Line || g.Value != w.Value {
					t.Fatalf("%s: %s of %s: %v, %t, want %v, %t", what, directive, urls[i], g, okG, w, okW)
				}
			}
		}
		if want.hasPreferences() {
			for a := range want.Options().Agents {
				agents := len(want.Options().Agents)
				g, w := preferenceText(got.NewLookup(), b, i, a, agents), preferenceText(want.NewLookup(), c, i, a, agents)
				if g != w {
					t.Fatalf("%s: preferences of %s: %s, want %s", what, urls[i], g, w)
				}
			}
		}
		if slices.Contains(want.Options().Directives, robots.CleanParamLines) {
			g, w := b.Canonicals[i], c.Canonicals[i]
			if !bytes.Equal(b.Data[g.Off:g.Off+g.Len], c.Data[w.Off:w.Off+w.Len]) {
				t.Fatalf("%s: canonical URLs of %s differ", what, urls[i])
			}
		}
	}
}

// TestPackBytes checks that the bytes of a pack do not depend on the number of workers, and that texts are stored once.
func TestPackBytes(t *testing.T) {
	var all []robots.Response
	for i := range 500 {
		body := fmt.Sprintf("# %d\nUser-agent: *\nDisallow: /%d\n", i%50, i%10)
		all = append(all, robots.Response{Origin: robots.Origin(fmt.Sprintf("https://%d.com", i)), Status: 200, Body: []byte(body), Name: "x"})
	}
	var first []byte
	for _, workers := range []int{1, 2, 8} {
		f, err := os.Create(filepath.Join(t.TempDir(), "x.rbp"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		stats, err := WritePack(t.Context(), f, sequence(all), PackOptions{Dialect: robots.RFC9309, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if want := (PackStats{500, 500, 50, 10, int64(len(data)), OddCount{}}); stats != want {
			t.Errorf("%+v, want %+v", stats, want)
		}
		if first == nil {
			first = data
		}
		if !bytes.Equal(first, data) {
			t.Errorf("%d workers write another pack", workers)
		}
	}
}

// TestPackSource checks that a text whose groups would be merged too often is stored verbatim, and gives the same
// answers.
func TestPackSource(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "User-agent: bot%s\n", letters(i))
	}
	for i := range 600 {
		fmt.Fprintf(&text, "Disallow: /%d\n", i)
	}
	for i := range 200 {
		fmt.Fprintf(&text, "User-agent: bot%s\nAllow: /%d/x\n", letters(i), i)
	}
	r := robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(text.String() + "Clean-param: sid\n")}
	opt := StoreOptions{Dialect: robots.Yandex, Agents: []string{"*", "bot" + letters(7)}, Directives: []robots.Directive{robots.CleanParamLines}}
	name := makePack(t, robots.Yandex, r)
	if data, err := os.ReadFile(name); err != nil || !bytes.Contains(data, r.Body) {
		t.Fatalf("no text is stored verbatim, so none has too many selections: %v", err)
	}
	for way, s := range waysToOpen(t, name, opt) {
		compareStores(t, way, s, storeOf(t, opt, r), []string{"https://a.com/7/x?sid=1", "https://a.com/599", "https://a.com/8/x"})
	}
}

// letters writes a number in letters, for a product token.
func letters(i int) string { return string([]byte{byte('a' + i%26), byte('a' + i/26)}) }

// TestPackErrors checks the errors of opening a pack.
func TestPackErrors(t *testing.T) {
	all := randomResponses(rand.New(rand.NewPCG(1, 1)))
	name := makePack(t, robots.Google, all...)
	_, err := OpenPack(name, StoreOptions{Dialect: robots.Yandex})
	if e, ok := errors.AsType[*PackDialectError](err); !ok || e.Compiled != robots.Google || e.Asked != robots.Yandex || !strings.Contains(err.Error(), "for the dialect google, not yandex") {
		t.Errorf("error %v for another dialect", err)
	}
	_, err = OpenPack(name, StoreOptions{Dialect: robots.Google | robots.WideTokens | robots.URLAsIs})
	if e, ok := errors.AsType[*PackDialectError](err); !ok || e.Asked != robots.Google|robots.WideTokens {
		t.Errorf("error %v for another option", err)
	}
	if _, err := OpenPack(name+"x", StoreOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v for no file", err)
	}
	twice := robots.Response{Origin: "https://a.com", Status: 200, Name: "second"}
	f, err := os.Create(filepath.Join(t.TempDir(), "x.rbp"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := WritePack(t.Context(), f, sequence([]robots.Response{twice, twice}), PackOptions{}); !errors.Is(err, ErrTwoFiles) {
		t.Errorf("error %v for two files", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := WritePack(ctx, f, sequence(all), PackOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v when cancelled", err)
	}
}

// TestPackDamaged changes each byte of a pack, and cuts it at each length: opening fails, or the store reports an
// error, or all answers are right.
func TestPackDamaged(t *testing.T) {
	all := []robots.Response{
		{Origin: "https://a.com", Status: 200, Body: []byte(packTexts[2]), FetchedAt: noon(1)},
		{Origin: "https://b.com", Status: 301, Location: "/x"},
		{Origin: "https://b.com", URL: "https://b.com/x", Status: 200, Body: []byte(packTexts[3]), FetchedAt: noon(1)},
		{Origin: "https://c.com", Status: 404, FetchedAt: noon(2), Error: "x"},
	}
	data, err := os.ReadFile(makePack(t, robots.Google, all...))
	if err != nil {
		t.Fatal(err)
	}
	urls := []string{"https://a.com/a", "https://b.com/x.css", "https://c.com/", "https://d.com/"}
	opt := StoreOptions{Dialect: robots.Google, Agents: []string{"*", "a", "googlebot"}, AsOf: noon(20)}
	want := storeOf(t, opt, all...)
	path := filepath.Join(t.TempDir(), "x.rbp")
	damage := func(what string, changed []byte, try func(s *Store)) {
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenPack(path, opt)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "read the rule pack "+path+": it ") {
				t.Fatalf("%s: error %v", what, err)
			}
			return
		}
		defer s.Close()
		try(s)
	}
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1 << (i % 8)
		damage(fmt.Sprintf("byte %d", i), changed, func(s *Store) {
			b, c := newBatch(urls...), newBatch(urls...)
			s.NewEvaluator().Evaluate(b)
			want.NewEvaluator().Evaluate(c)
			for k := range urls {
				if s.Err() == nil && describe(s, b, k) != describe(want, c, k) {
					t.Fatalf("byte %d: %s of %s, but no error", i, describe(s, b, k), urls[k])
				}
			}
			if s.Err() != nil && !errors.Is(s.Err(), pack.ErrDamaged) {
				t.Fatalf("byte %d: error %v", i, s.Err())
			}
		})
	}
	for n := range data {
		damage("cut", data[:n], func(*Store) { t.Fatalf("a pack cut to %d of %d bytes was opened", n, len(data)) })
	}
	damage("longer", append(slices.Clone(data), 0), func(*Store) { t.Fatal("a pack with an extra byte was opened") })
}

// TestPackFails checks that a run with a damaged pack ends with the error, and does not write rows whose rules could
// not be loaded.
func TestPackFails(t *testing.T) {
	name := makePack(t, 0, robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(rulesText)})
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[260] ^= 1 // in the first chunk
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openPack(t, name, StoreOptions{})
	sink := newSink(s)
	src := newSource(1, []string{"https://b.com/", "https://a.com/"})
	_, err = Run(t.Context(), s, src, sink, Options{Workers: 1})
	if !errors.Is(err, pack.ErrDamaged) || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v", err)
	}
	if len(sink.origins) > 1 {
		t.Errorf("origins %v were written", sink.origins)
	}
}

// TestPackMemory checks that Memory counts the loaded rules once.
func TestPackMemory(t *testing.T) {
	all := []robots.Response{
		{Origin: "https://a.com", Status: 200, Body: []byte(rulesText)},
		{Origin: "https://b.com", Status: 200, Body: []byte(rulesText)},
		{Origin: "https://c.com", Status: 200, Body: []byte(otherText)},
	}
	want := storeOf(t, StoreOptions{}, all...).Memory()
	for way, s := range waysToOpen(t, makePack(t, 0, all...), StoreOptions{}) {
		if m := s.Memory(); m != (Memory{}) {
			t.Errorf("%s: memory %+v before the first URL", way, m)
		}
		for range 2 {
			ask(s, "https://a.com/")
			ask(s, "https://b.com/")
			ask(s, "https://c.com/")
		}
		if m := s.Memory(); m != want {
			t.Errorf("%s: memory %+v, want %+v", way, m, want)
		}
		if got := s.NumSites(); got != 3 {
			t.Errorf("%s: %d sites", way, got)
		}
	}
}
