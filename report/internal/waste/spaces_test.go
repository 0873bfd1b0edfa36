package waste

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// found returns the spaces of so many made-up paths of one site, each fetched once by a crawler, for a log of 2026.
func found(number int, path func(rng *rand.Rand, i int) string) []*Space {
	rng := rand.New(rand.NewPCG(34, 9))
	all := map[string]int64{}
	for i := range number {
		all["https://a.example"+path(rng, i)]++
	}
	s := Spaces{Year: 2026}
	add(&s, all)
	return s.Rows()
}

// add counts URLs in the order that Spaces asks for.
func add(s *Spaces, all map[string]int64) {
	urls := make([]string, 0, len(all))
	for url := range all {
		urls = append(urls, url)
	}
	slices.SortFunc(urls, func(a, b string) int {
		a, b = pathOf(a), pathOf(b)
		dirs := func(url string) string { return url[:strings.LastIndexByte(url, '/')+1] }
		return strings.Compare(dirs(a)+"\x00"+a, dirs(b)+"\x00"+b)
	})
	for _, url := range urls {
		origin := strings.Index(url[len("https://"):], "/") + len("https://")
		s.AddURL(&Visit{URL: []byte(url), Origin: origin, PathEnd: len(pathOf(url)), Spent: []Spent{{1, all[url]}}})
	}
}

// TestNoSpaces holds that sites that have just many pages have no space.
func TestNoSpaces(t *testing.T) {
	day := func(i int) time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -i%4000) }
	for name, path := range map[string]func(rng *rand.Rand, i int) string{
		"dated articles":    func(_ *rand.Rand, i int) string { return day(i).Format("/2006/01/02/") + fmt.Sprintf("title-%d/", i) },
		"archives by month": func(_ *rand.Rand, i int) string { return day(30 * i).Format("/2006/01") },
		"archives by day":   func(_ *rand.Rand, i int) string { return day(i).Format("/news/archive/2006/01/02/") },
		"a paper by day":    func(_ *rand.Rand, i int) string { return day(i).Format("/paper/2006-01-02.html") },
		"few events":        func(_ *rand.Rand, i int) string { return day(i % 90).Format("/calendar/2006/01/02/") },
		"commits": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/repo%d/commit/%016x%016x%08x", i%40, rng.Uint64(), rng.Uint64(), rng.Uint32())
		},
		"things with parts": func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("/user/%08x-1f2e-4a3b-9c4d-%012x/%s", i/3, i/3, []string{"posts", "likes", "about"}[i%3])
		},
		"uploads": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/uploads/%016x%016x/photo%d.jpg", rng.Uint64(), rng.Uint64(), i%50)
		},
		"pages of the same ids": func(_ *rand.Rand, i int) string { return fmt.Sprintf("/cache/1f2e4a3b9c4d5e6f7a8b/%d.html", i) },
		"a forum":               func(_ *rand.Rand, i int) string { return fmt.Sprintf("/viewtopic.php?f=%d&t=%d", i%20, i) },
		"sections by number":    func(_ *rand.Rand, i int) string { return fmt.Sprintf("/modules.php?name=News&sid=%d", i) },
		"a list with pages": func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("/list?cat=%d&page=%d&lang=%d", i%60, i/60%40, i%3)
		},
		"slugs": func(_ *rand.Rand, i int) string { return fmt.Sprintf("/topic-%d/how-to-%d", i%60, i) },
		"languages and guides": func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("/%c%c-us/g%d-guide/", 'a'+i%5, 'a'+i%7, i/35%300)
		},
		"an old paper":        func(_ *rand.Rand, i int) string { return day(i + 16_000).Format("/archive/2006/01/02/") },
		"past events":         func(_ *rand.Rand, i int) string { return day(i).Format("/events/2006-01-02/") },
		"words with a date":   func(_ *rand.Rand, i int) string { return day(i).Format("/prevention/2006/01/02/") },
		"bookings for a year": func(_ *rand.Rand, i int) string { return day(-i % 500).Format("/booking?date=2006-01-02") },
		"few far days": func(_ *rand.Rand, i int) string {
			return day(i%99).AddDate(40, 0, 0).Format("/x/2006/01/02/") + fmt.Sprintf("?v=%d", i)
		},
		"searches for hashes": func(rng *rand.Rand, _ int) string { return fmt.Sprintf("/?s=%016x%016x", rng.Uint64(), rng.Uint64()) },
		"files by commit": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/repo/blob/%016x%016x%08x/src/f%d.go", rng.Uint64(), rng.Uint64(), i/40, i%40)
		},
		"teams and seasons": func(_ *rand.Rand, i int) string { return fmt.Sprintf("/team-%d/season-%d/", i%30, i/30) },
		"campaigns": func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("/p%d?utm_source=s%d&utm_medium=m%d", i%100, i/100%20, i/2000)
		},
		"tiles of maps":  func(_ *rand.Rand, i int) string { return fmt.Sprintf("/tiles/%d/%d/%d.png", i%9, i%9, i/9) },
		"numbers":        func(_ *rand.Rand, i int) string { return fmt.Sprintf("/7/7/7/%d", i) },
		"one name twice": func(_ *rand.Rand, i int) string { return fmt.Sprintf("/shop/shop/item-%d", i) },
		"prices and sizes": func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("/item/%d?price=2000-10000&code=20991231%d", i, i)
		},
		"few of a session": func(_ *rand.Rand, i int) string { return fmt.Sprintf("/p/%d?PHPSESSID=abcdef01234567%02d", i, i%19) },
	} {
		for _, one := range found(4000, path) {
			t.Errorf("%s: %s of %d URLs as %q, closed by %q", name, one.Kind, one.URLs, one.Examples, one.Rules)
		}
	}
}

// TestSpaceCounts holds the numbers of a space beside others, that sites and directories are counted apart, and that memory
// does not grow.
func TestSpaceCounts(t *testing.T) {
	all := map[string]int64{}
	for i := range 300 {
		day := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		all["https://a.example/x"+day.Format("/2006/01/02/")] = 3
		all["https://b.example/y"+day.Format("/2006/01/02/")] = 5
		all["https://b.example/z"+day.Format("/2006/01/02/")] = 1
		all[fmt.Sprintf("https://b.example/y/%d.html", i)] = 7
		all[fmt.Sprintf("https://b.example/y/%d.html;jsessionid=%032X", i%30, i)] = 2
		all["https://d.example/x"+day.AddDate(0, 0, i%40-i).Format("/2006/01/02/")+strings.Repeat("a/b/", i%2)] = 1 // few dates
		all[fmt.Sprintf("https://e.example/1/%s%d", strings.Repeat("a/b/", 2+i%3), i/3)] = 1
		all["https://f.example/en"+day.Format("/2006/01/02/")] = 4
		all["https://f.example/en/news"+day.AddDate(0, 0, 1).Format("/2006/01/02/")] = 4
	}
	for i := range 20_000 {
		all[fmt.Sprintf("https://c.example/a%d-%d/b%d-%d/?n%d=1&m%d=2", i, i, i, i, i, i)] = 1
	}
	s := Spaces{Year: 2026}
	add(&s, all)
	var got []string
	for _, one := range s.Rows() {
		got = append(got, fmt.Sprint(one.Kind, " ", one.Origin, " ", one.Requests, " ", one.URLs, " ", one.By, " ", one.Rules))
	}
	want := []string{
		"calendar https://f.example 2400 600 [{1 2400}] []", // the dates stand behind several paths
		"calendar https://b.example 1500 300 [{1 1500}] [Disallow: /y/203]",
		"calendar https://a.example 900 300 [{1 900}] [Disallow: /x/203]",
		"session ids https://b.example 600 300 [{1 600}] [Disallow: /*;jsessionid=]",
		"calendar https://b.example 300 300 [{1 300}] [Disallow: /z/203]",
		"repeated segments https://e.example 300 300 [{1 300}] [Disallow: /a/b/a/b/ Disallow: /*/a/b/a/b/]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(s.all) > 4*shownSpaces {
		t.Errorf("%d spaces are kept", len(s.all))
	}
}

// TestToken holds which segments look like ids that a program drew.
func TestToken(t *testing.T) {
	for text, want := range map[string]bool{
		"d41d8cd98f00b204e9800998ecf8427e": true, "550e8400-e29b-41d4-a716-446655440000": true, "aZ3kQ9xTb7LmW2pR": true,
		"how-to-make-your-own-bread": false, "iphone-12-pro-max-256gb": false, "0123456789012345": false, "defaceddefaceddeface": false, "InternationalBusinessMachines": false,
		"2024-05-12-the-title-of-it": false, "product_12345_details_page": false,
	} {
		if isToken([]byte(text)) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
}

// TestCleaned holds which parameters Clean-param lines took away.
func TestCleaned(t *testing.T) {
	var c Cleaned
	c.AddURL([]byte("https://a.example/?a=1&ref=2&b=3&sid=4"), []byte("https://a.example/?a=1&b=3"))
	c.AddURL([]byte("https://a.example/?x=1"), []byte("https://a.example/"))
	for name, want := range map[string]bool{"a": false, "ref": true, "b": false, "sid": true, "x": true} {
		if c.names[name] != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
