package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const example = "https://a.example"

// pathOf returns the part of a URL before its query or fragment.
func pathOf(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		return url[:i]
	}
	return url
}

// spacesOf adds URLs in the order that Waste asks for, and returns the spaces.
func spacesOf(all map[string]*Visit) []Space {
	w := Waste{Year: 2026}
	for _, url := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(strings.Compare(pathOf(a), pathOf(b)), strings.Compare(a, b)) }) {
		v := all[url]
		v.URL, v.Origin, v.PathEnd = []byte(url), len(example), len(pathOf(url))
		w.Add(v)
	}
	_, spaces := w.End()
	return spaces
}

// by returns the visit of a URL with requests of the first crawler.
func by(requests int64) *Visit { return &Visit{Spent: []Spent{{1, requests}}} }

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
		"an old paper": func(_ *rand.Rand, i int) string { return day(i + 16_000).Format("/archive/2006/01/02/") },
		"a paper since 1850": func(_ *rand.Rand, i int) string {
			return time.Date(1850, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 16*i).Format("/archive/2006/01/02/")
		},
		"things by number":    func(_ *rand.Rand, i int) string { return fmt.Sprintf("/shop/%d/%d", 2200+i, 1+i%12) },
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
		"commits and files": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/repo/blob/%016x%016x%08x/src/f%d.go", rng.Uint64(), rng.Uint64(), rng.Uint32(), i%400)
		},
		"releases by hash": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/releases/%016x%016x/linux-%d.tar.gz", rng.Uint64(), rng.Uint64(), i%40)
		},
		"pages beside ids": func(rng *rand.Rand, i int) string {
			if i%2 == 0 {
				return fmt.Sprintf("/shop/p%d", i%400)
			}
			return fmt.Sprintf("/shop/%016x%016x/p%d", rng.Uint64(), rng.Uint64(), i%400)
		},
		"tabs of visitors": func(rng *rand.Rand, i int) string {
			tab := []string{"posts", "likes", "about", "photos"}[i%4]
			if i < 40 {
				return "/" + tab
			}
			return fmt.Sprintf("/user/%016x%016x/%s", rng.Uint64(), rng.Uint64(), tab)
		},
		"documents by uuid": func(rng *rand.Rand, _ int) string {
			return fmt.Sprintf("/doc/%08x-1f2e-4a3b-9c4d-%012x", rng.Uint32(), rng.Uint64()>>16)
		},
		"sharing": func(rng *rand.Rand, _ int) string { return fmt.Sprintf("/s/%016x%016x/", rng.Uint64(), rng.Uint64()) },
		"a forum with scripts": func(rng *rand.Rand, i int) string {
			start := rng.IntN(9)
			switch i % 4 {
			case 0:
				return fmt.Sprintf("/viewforum.php?f=%d&start=%d", i%20, start)
			case 1:
				return fmt.Sprintf("/viewtopic.php?f=%d&t=%d&start=%d", i%20, i, start)
			case 2:
				return fmt.Sprintf("/viewtopic.php?t=%d&start=%d", i, start)
			}
			return fmt.Sprintf("/viewtopic.php?f=%d&t=%d", i%20, i)
		},
		"campaigns in parts": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/p%d?%s", i%10, some(rng, "utm_source=%d", "utm_medium=%d", "utm_campaign=%d", "gclid=%d"))
		},
		"searches": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/search?q=w%d&%s", i, some(rng, "page=%d", "sort=%d", "lang=%d", "type=%d"))
		},
		"sizes of images": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/img/%d.webp?%s", i%9, some(rng, "w=%d", "h=%d", "q=%d", "fit=%d"))
		},
		"a wiki": func(rng *rand.Rand, i int) string {
			if i%20 == 0 {
				return fmt.Sprintf("/index.php?oldid=%d&action=raw", i)
			}
			return fmt.Sprintf("/index.php?title=T%d&%s", i, some(rng, "action=%d", "oldid=%d", "diff=%d"))
		},
		"few filters of a page": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/c%d?%s", i, some(rng, "color=%d", "size=%d", "sort=%d", "brand=%d"))
		},
		"cities by locale": func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("/%s-%s/hotels/city-%d/", []string{"de", "fr", "it", "en"}[i%4], []string{"ch", "at", "de"}[i/4%3], i/12)
		},
		"flights": func(rng *rand.Rand, _ int) string {
			return fmt.Sprintf("/flights/c%d/c%d/", rng.IntN(70), rng.IntN(70))
		},
		"translations": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/word/l%d/l%d/w%d", rng.IntN(9), rng.IntN(9), i)
		},
		"a tree of sources": func(rng *rand.Rand, _ int) string {
			return fmt.Sprintf("/tree/w%d/w%d/w%d/w%d", rng.IntN(30), rng.IntN(30), rng.IntN(30), rng.IntN(30))
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
		"categories by page, in any order": func(rng *rand.Rand, i int) string {
			return "/list?" + shuffled(rng, fmt.Sprintf("category=%d", i%60), fmt.Sprintf("page=%d", i/60))
		},
		"topics of forums, in any order": func(rng *rand.Rand, i int) string {
			return "/viewtopic.php?" + shuffled(rng, fmt.Sprintf("f=%d", i%20), fmt.Sprintf("t=%d", i/2))
		},
		"few in any order": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/p%d?", i/4) + shuffled(rng, fmt.Sprintf("tab=%d", i%2), fmt.Sprintf("view=%d", i/2%2))
		},
		"two in one order but for a few": func(_ *rand.Rand, i int) string {
			if i%10 == 0 {
				return fmt.Sprintf("/list?view=%d&tab=%d", i%50, i/50)
			}
			return fmt.Sprintf("/list?tab=%d&view=%d", i/50, i%50)
		},
		"colours of a thing": func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("/p%d?color=%d&size=%d", i/6, i%2, i/2%3)
		},
		"a list by size": func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("/list?cat=%d&page=%d&size=%d", i%60, i/60%40, i%3)
		},
		"searches with semicolons": func(_ *rand.Rand, i int) string { return fmt.Sprintf("/find?q=red;w%d;size", i) },
		"a repository's files": func(rng *rand.Rand, i int) string {
			return fmt.Sprintf("/git?p=repo%d.git;a=blob;f=src/f%d.go;hb=%016x%016x%08x", i%9, i%400, rng.Uint64(), rng.Uint64(), rng.Uint32())
		},
		"brackets":         func(_ *rand.Rand, i int) string { return fmt.Sprintf("/math/(S(n%d))/p%d", i, i) },
		"few of a session": func(_ *rand.Rand, i int) string { return fmt.Sprintf("/p/%d?PHPSESSID=abcdef01234567%02d", i, i%19) },
	} {
		rng, all := rand.New(rand.NewPCG(34, 9)), map[string]*Visit{}
		for i := range 4000 {
			all[example+path(rng, i)] = by(1)
		}
		for _, one := range spacesOf(all) {
			t.Errorf("%s: %s: %d URLs below %s", name, one.Text, one.URLs, one.Path)
		}
	}
}

// shuffled returns the parameters of a query in any order.
func shuffled(rng *rand.Rand, all ...string) string {
	rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	return strings.Join(all, "&")
}

// some returns some of the parameters of a query, in their order, with values.
func some(rng *rand.Rand, all ...string) string {
	var query []string
	for _, one := range all {
		if rng.IntN(2) == 0 {
			query = append(query, fmt.Sprintf(one, rng.IntN(9)))
		}
	}
	return strings.Join(query, "&")
}

// TestSpaces holds the numbers of spaces beside others, and that sites and directories are counted apart.
func TestSpaces(t *testing.T) {
	all := map[string]*Visit{}
	for i := range 300 {
		day := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		all["https://a.example/x/y"+day.Format("?cal=20060102")] = by(3)
		all["https://a.example/z"+day.Format("?date=2006-01-02")] = by(4)
		all[fmt.Sprintf("https://b.example/y/%d.html", i)] = by(7)
		all[fmt.Sprintf("https://b.example/y/%d.html;jsessionid=%032X", i%30, i)] = by(2)
		all[fmt.Sprintf("https://b.example/(S(%024x))/%d.html", i*0x9e3779b1, i%40)] = by(1)
		all[fmt.Sprintf("https://c.example/p/%d?view=1;sid=aZ3kQ9xTb7LmW%05d", i%40, i)] = by(1)
		all["https://c.example"+day.Format("/events?date=2006-01-02")] = by(6)
		all["https://c.example"+day.Format("/list?year=2006&m=1&day=2")] = by(1)
		all["https://d.example/x"+day.AddDate(0, 0, i%40-i).Format("/?date=2006-01-02")+fmt.Sprint("&v=", i)] = by(1) // few dates
		all["https://f.example/en"+day.AddDate(-4, 0, 1).Format("/?date=2006-01-02")] = by(4)                         // not long after the log
	}
	var got []string
	for _, one := range spacesOf(all) {
		got = append(got, fmt.Sprint(one.Text, " ", one.Origin, one.Path, " ", one.Requests, " ", one.URLs, " ", one.By, " ", one.Pattern))
	}
	want := []string{
		"an endless calendar https://c.example/ 2100 600 map[1:2100] ",
		"an endless calendar https://a.example/ 1200 300 map[1:1200] ",
		"an endless calendar https://a.example/x/ 900 300 map[1:900] ",
		"URLs with session ids https://b.example/y/ 600 300 map[1:600] /*;jsessionid=",
		"URLs with session ids https://b.example/ 300 300 map[1:300] /*(S(",
		"URLs with session ids https://c.example/p/ 300 300 map[1:300] /*?sid=",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSharedIDs holds that ids in parameters are those of sessions where each comes from one crawler, on many pages,
// and that they are none where crawlers or people share them, or where one page has them all.
func TestSharedIDs(t *testing.T) {
	for name, test := range map[string]struct {
		crawlers, people, pages, want int
	}{
		"sessions": {1, 0, 60, 1}, "crawlers share": {2, 0, 60, 0}, "people share": {1, 1, 60, 0}, "one page": {1, 0, 1, 0}, "19 pages": {1, 0, 19, 0}, "20 pages": {1, 0, 20, 1},
	} {
		for _, form := range []string{"/story%d.php?sid=%s", "/story.php?n=%d&sid=%s", "/story%d.php;jsessionid=%s", "/story?n=%d&SessionID=%s"} {
			all := map[string]*Visit{}
			for i := range 1200 {
				url := "https://a.example" + fmt.Sprintf(form, i%test.pages, fmt.Sprintf("%08x%08xaf3", 0x7a3b1c9d+i/2*0x51ed27, i/2*0x9e3779b1&0xffffffff))
				all[url] = &Visit{Spent: []Spent{{i % test.crawlers, 1}}, Others: int64(test.people)}
			}
			if found := spacesOf(all); len(found) != test.want {
				t.Errorf("%s: %s: %d spaces, want %d", name, form, len(found), test.want)
			}
		}
	}
}

// TestDatesThatEnd holds that one or two far days of each month are a list that ends, unless it is called a calendar,
// and that more of them are a calendar, but not where no page is there.
func TestDatesThatEnd(t *testing.T) {
	for name, test := range map[string]struct {
		form   string
		days   int // of each month
		failed int64
		want   int
	}{
		"bonds": {"/bonds?maturity=2006-01-02", 2, 0, 0}, "months": {"/bonds?maturity=2006-01", 1, 0, 0}, "days": {"/bonds?maturity=2006-01-02", 3, 0, 1},
		"no pages": {"/bonds?maturity=2006-01-02", 3, 1, 0}, "months of events": {"/events/?event=2006-01", 1, 0, 1}, "days of a query": {"/list?start=2006-01-02", 1, 0, 1},
	} {
		all := map[string]*Visit{}
		for month := range 360 {
			for day := range test.days {
				v := by(1)
				v.Failed = test.failed
				all[example+time.Date(2028, time.Month(1+month), 1+9*day, 0, 0, 0, 0, time.UTC).Format(test.form)] = v
			}
		}
		if found := spacesOf(all); len(found) != test.want {
			t.Errorf("%s: %d spaces, want %d", name, len(found), test.want)
		}
	}
}

// TestLateYears holds that a calendar has all later years, as far as they have four digits, and that numbers
// beside it are none.
func TestLateYears(t *testing.T) {
	all, urls := map[string]*Visit{}, int64(0)
	for day := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2300; day = day.AddDate(0, 0, 10) {
		all["https://a.example"+day.Format("/termine/?tag=2006-01-02&termin=1")] = by(2)
		if day.Year() >= 2028 {
			urls++
		}
	}
	for i := range 900 {
		all[fmt.Sprintf("https://a.example/shop/?price=%d-%02d", 2200+i, 1+i%12)] = by(1)
		all[fmt.Sprintf("https://a.example/termine/?tag=9%03d-12", i)] = by(2)
	}
	urls += 900
	if found := spacesOf(all); len(found) != 1 || found[0].URLs != urls || found[0].Requests != 2*urls {
		t.Fatalf("%+v, want one of %d URLs", found, urls)
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

// TestParameters compares the counts of parameters with sets of URLs and paths.
func TestParameters(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 5))
	all := map[string]int64{}
	for range 40_000 {
		url := fmt.Sprintf("https://a%d.example/p%d", rng.IntN(3), rng.IntN(40))
		var pairs []string
		for range rng.IntN(4) {
			pairs = append(pairs, []string{"sort", "view", "q", "", "a*b", "a/b", strings.Repeat("x", 70)}[rng.IntN(7)]+[]string{"=" + strconv.Itoa(rng.IntN(9)), "", "=x=y", "=1;page=2"}[rng.IntN(4)])
		}
		if len(pairs) > 0 {
			url += "?" + strings.Join(pairs, []string{"&", "&&"}[rng.IntN(2)])
		}
		if rng.IntN(5) == 0 {
			url += "#sort=1"
		}
		all[url] += int64(rng.IntN(4))
	}
	want, paths := map[string]*Parameter{}, map[string]bool{}
	var w Waste
	for _, url := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(strings.Compare(pathOf(a), pathOf(b)), strings.Compare(a, b)) }) {
		path, n := pathOf(url), all[url]
		v := &Visit{URL: []byte(url), Origin: len(example) + 1, PathEnd: len(path), Served: 9}
		if n > 0 {
			v.Spent = []Spent{{1, n}}
		}
		w.Add(v)
		_, rest, _ := strings.Cut(url, "?")
		query, _, _ := strings.Cut(rest, "#")
		names := map[string]bool{}
		for _, pair := range strings.Split(query, "&") {
			if name, _, _ := strings.Cut(pair, "="); n > 0 && name != "" && !strings.Contains(name, "/") && len(name) <= longParameter {
				names[name] = true
			}
		}
		for name := range names {
			key := url[:len(example)+1] + " " + name
			if want[key] == nil {
				want[key] = new(Parameter)
			}
			want[key].URLs++
			_, isBare := all[path]
			want[key].Bare += int64(bit(isBare))
			want[key].Paths += int64(bit(!paths[path+key]))
			paths[path+key] = true
		}
	}
	got, _ := w.End()
	if len(got) != 12 {
		t.Errorf("%d parameters: %+v", len(got), got)
	}
	for _, p := range got {
		if one := want[p.Origin+" "+p.Name]; one == nil || p.URLs != one.URLs || p.Bare != one.Bare || p.Paths != one.Paths || (p.Pattern == "/*?"+p.Name+"=") != (p.Name != "a*b") {
			t.Errorf("%+v, want %+v", p, one)
		}
	}
}

// TestPages holds which parameters make versions of pages: by how many URLs have the same value, by the requests for
// their paths without them, and by the parameters beside them.
func TestPages(t *testing.T) {
	for name, test := range map[string]struct {
		url    func(i int) string
		served int64 // requests for each path without a query
		want   string
	}{
		"topics, a scanner":   {func(i int) string { return fmt.Sprintf("/viewtopic.php?t=%d", i) }, 1, ""},
		"topics":              {func(i int) string { return fmt.Sprintf("/viewtopic.php?t=%d", i) }, 900, ""},
		"boards and topics":   {func(i int) string { return fmt.Sprintf("/index.php?board=%d&topic=%d", i%20, i) }, 900, ""},
		"lists":               {func(i int) string { return fmt.Sprintf("/c%d?page=%d", i%40, i/40) }, 900, ""},
		"forums, a scanner":   {func(i int) string { return fmt.Sprintf("/f?f=%d&from=%d", i%60, i/60) }, 1, ""},
		"views":               {func(i int) string { return fmt.Sprintf("/c%d?view=%d", i%40, i/40) }, 90, "view"},
		"views of a scanner":  {func(i int) string { return fmt.Sprintf("/c%d?view=%d", i%40, i/40) }, 0, ""},
		"two views of a path": {func(i int) string { return fmt.Sprintf("/c?tab=%d&view=%d", i%60, i/60) }, 90, "tab view"},
		"filters by page":     {func(i int) string { return fmt.Sprintf("/c%d?color=%d&page=%d", i%40, i/40%20, i/800) }, 90, "color"},
		"few of each path":    {func(i int) string { return fmt.Sprintf("/c%d?t=%d", i/9, i) }, 0, ""},
		"campaigns":           {func(i int) string { return fmt.Sprintf("/c%d?gclid=%d", i%40, i) }, 90, ""},
	} {
		var urls []string
		for i := range 4000 {
			urls = append(urls, "https://a.example"+test.url(i))
		}
		slices.Sort(urls)
		var w Waste
		path := ""
		for _, url := range urls {
			if pathOf(url) != path {
				path = pathOf(url)
				w.Add(&Visit{URL: []byte(path), Origin: len(example), PathEnd: len(path), Served: test.served})
			}
			w.Add(&Visit{URL: []byte(url), Origin: len(example), PathEnd: len(path), Served: 1, Spent: []Spent{{1, 1}}})
		}
		found, _ := w.End()
		var got []string
		for _, p := range found {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, want %s", name, got, test.want)
		}
	}
}

// TestSizes holds which URLs are about as large as others of their path, and that sizes that are not known say nothing.
func TestSizes(t *testing.T) {
	for name, test := range map[string]struct {
		bare       int64
		sizes      [][]int64 // by path
		sized, one int64     // Sized and Same
	}{
		"as the path":          {5000, [][]int64{{5000, 5050, 4951, 900}}, 4, 3},
		"a hundredth more":     {5000, [][]int64{{5051, 4949}}, 2, 0},
		"of a large page":      {90_000, [][]int64{{90_064, 80_000, 89_935}}, 3, 1},
		"of one template":      {50_000, [][]int64{{50_300, 50_600, 50_200, 50_900}}, 4, 0},
		"as the one before":    {0, [][]int64{{5000, 5050, 9000, 9064}}, 3, 2},
		"no other":             {0, [][]int64{{5000}, {5000}, {5000}}, 0, 0},
		"all others":           {5000, [][]int64{{2000, 9000, 30_000, 12_000}}, 4, 0},
		"hardly any known":     {0, [][]int64{{0, 0, 5000, 0, 5000}}, 1, 1},
		"none known":           {0, [][]int64{{0, 0, 0}}, 0, 0},
		"the bare one is not":  {0, [][]int64{{5000, 0}, {0, 5000}}, 0, 0},
		"of two paths, and so": {7000, [][]int64{{7000}, {100, 7000}}, 3, 2},
	} {
		var w Waste
		for n, sizes := range test.sizes {
			path := fmt.Sprintf("https://a.example/p%d", n)
			w.Add(&Visit{URL: []byte(path), Origin: len(example), PathEnd: len(path), Served: 1, Size: test.bare})
			for i, size := range sizes {
				w.Add(&Visit{URL: fmt.Appendf(nil, "%s?v=%d", path, i), Origin: len(example), PathEnd: len(path), Served: 1, Size: size, Spent: []Spent{{1, 1}}})
			}
		}
		if p := w.of["v"]; p.Sized != test.sized || p.Same != test.one {
			t.Errorf("%s: %+v, want %d of %d", name, p.Parameter, test.one, test.sized)
		}
	}
}

// TestSample holds that the estimate of different texts is near their number, and exact for few, and that memory is
// bounded.
func TestSample(t *testing.T) {
	for _, n := range []int{0, 1, 90, mostSampled, 1000, 100_000} {
		var s sample
		for i := range 2 * n {
			s.add(strconv.AppendInt(nil, int64(i%n), 10), i/n*(i%n%2))
		}
		for got, want := range map[int64]int{s.countTexts(): n, s.shared(): n / 2} {
			if got < int64(want)*2/3 || got > int64(want)*3/2+1 || n <= mostSampled && got != int64(want) || len(s.by) > mostSampled {
				t.Errorf("%d, want about %d", got, want)
			}
		}
	}
}
