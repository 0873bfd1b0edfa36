package waste

import (
	"cmp"
	"fmt"
	"maps"
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
	return rows(&s, all)
}

// rows counts URLs in the order that Spaces asks for, looks at them again, and returns the spaces. Those without requests are
// not of crawlers.
func rows(s *Spaces, all map[string]int64) []*Space {
	urls := make([]string, 0, len(all))
	for url := range all {
		urls = append(urls, url)
	}
	slices.SortFunc(urls, func(a, b string) int { return cmp.Or(strings.Compare(pathOf(a), pathOf(b)), strings.Compare(a, b)) })
	look := func(visit func(*Visit)) {
		for _, url := range urls {
			v := new(Visit).Of([]byte(url), strings.Index(url[len("https://"):], "/")+len("https://"), len(pathOf(url)))
			if all[url] > 0 {
				v.Spent = Spend(v.Spent, 1, all[url])
			}
			visit(v)
		}
	}
	if look(s.AddURL); s.Begin() {
		look(s.TryURL)
	}
	return s.Rows()
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
		for _, one := range found(4000, path) {
			t.Errorf("%s: %s of %d URLs as %q, closed by %q", name, one.Kind, one.URLs, one.Examples, one.Rules)
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

// TestRulesCloseNoOther holds that a rule that would close other pages is not given, or only with the number of those that it
// closes: pages that nobody but people asked for are pages, too.
func TestRulesCloseNoOther(t *testing.T) {
	for name, path := range map[string]struct {
		space, other string
	}{
		"sid":    {"/forum/t%[1]d.php?sid=aZ3kQ9xTb7LmW%05[1]d", "/modules.php?name=News&sid=%d"},
		"far":    {"/x/%[1]d?date=20%[2]d-%02[3]d-14", "/road?date=2035-q%d"},
		"facets": {"", "/c?a=%d&b=2&c=3&q=7"},
		"talks":  {"", "/c?a=%d&b=2&sid=aZ3kQ9xTb7LmW2pR5"},
		"orders": {"", "/shop/new/shoe/%d"},
		"ids":    {"", "/t/%d"},
	} {
		for _, others := range []int{0, 3, 900} {
			rng := rand.New(rand.NewPCG(34, 11))
			all := map[string]int64{}
			for i := range 3000 {
				url := fmt.Sprintf(path.space, i, 31+i/12%9, 1+i%12)
				switch name {
				case "facets", "talks":
					url = "/c?" + some(rng, "a=%d", "b=%d", "c=%d", "d=%d")
				case "orders":
					words := []string{string("abcde"[i%5]) + "-color", string("abcd"[i/5%4]) + "-size", string("abcde"[i/20%5]) + "-brand"}
					rng.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
					url = "/shop/" + strings.Join(words, "/")
				case "ids":
					url = fmt.Sprintf("/t/%016x%016x/p%d", rng.Uint64(), rng.Uint64(), i%100)
					all[fmt.Sprintf("https://a.example/p%d", i%100)] = 1
				}
				all["https://a.example"+url]++
			}
			for i := range others {
				all["https://a.example"+fmt.Sprintf(path.other, i)] = 0
			}
			s := Spaces{Year: 2026}
			found := rows(&s, all)
			if name == "ids" && others == 900 {
				if len(found) != 0 {
					t.Errorf("%s: %+v", name, found[0])
				}
				continue
			}
			if len(found) != 1 {
				t.Errorf("%s: %d spaces", name, len(found))
				continue
			}
			closes := int64(others)
			if others == 900 {
				closes = 0
			}
			if one := found[0]; len(one.Rules) > 0 != (others < 900) || one.Rules != nil && one.Others != closes {
				t.Errorf("%s: %q, which close %d of %d others", name, one.Rules, one.Others, others)
			}
		}
	}
}

// TestSessionDirs holds that ids in a directory that is called so are those of sessions even where no page is asked for without
// one, that no rule closes these pages, and that ids which crawlers share are no sessions.
func TestSessionDirs(t *testing.T) {
	for _, crawlers := range []int{1, 2} {
		s := Spaces{Year: 2026}
		look := func(visit func(*Visit)) {
			for i := range 4000 {
				for page := range 3 {
					path := fmt.Sprintf("https://a.example/s/%08x%08xaf3/p%d", 0x7a3b1c9d+i*0x51ed27, i*0x9e3779b1&0xffffffff, 100*page+i%50)
					v := new(Visit).Of([]byte(path), len("https://a.example"), len(path))
					v.Spent = Spend(v.Spent, (i+page)%crawlers, 1)
					visit(v)
				}
			}
		}
		if look(s.AddURL); s.Begin() {
			look(s.TryURL)
		}
		if found := s.Rows(); crawlers == 1 && (len(found) != 1 || found[0].Rules != nil || found[0].URLs < 9000) || crawlers == 2 && len(found) != 0 {
			t.Errorf("%d crawlers: %+v", crawlers, found)
		}
	}
}

// TestSharedIDs holds that ids in parameters are those of sessions where each comes from one crawler, on many pages, and that
// they are none where crawlers or people share them, or where one page has them all.
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
				v := new(Visit).Of([]byte(url), len("https://a.example"), len(pathOf(url)))
				v.Spent, v.Others = Spend(v.Spent, i%test.crawlers, 1), int64(test.people)
				all[url] = v
			}
			s := Spaces{Year: 2026}
			urls := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(strings.Compare(pathOf(a), pathOf(b)), strings.Compare(a, b)) })
			look := func(visit func(*Visit)) {
				for _, url := range urls {
					visit(all[url])
				}
			}
			if look(s.AddURL); s.Begin() {
				look(s.TryURL)
			}
			if found := s.Rows(); len(found) != test.want {
				t.Errorf("%s: %s: %d spaces, want %d", name, form, len(found), test.want)
			}
		}
	}
}

// TestDatesThatEnd holds that one or two far days of each month are a list that ends, unless it is called a calendar, and that
// more of them are a calendar, but not where no page is there.
func TestDatesThatEnd(t *testing.T) {
	for name, test := range map[string]struct {
		form   string
		days   int // of each month
		failed int64
		want   int
	}{
		"bonds": {"/bonds/2006-01-02", 1, 0, 0}, "bonds by query": {"/bonds?maturity=2006-01-02", 2, 0, 0}, "months": {"/bonds/2006-01", 1, 0, 0}, "days": {"/bonds/2006-01-02", 3, 0, 1},
		"no pages": {"/bonds/2006-01-02", 3, 1, 0}, "months of events": {"/events/2006-01", 1, 0, 1}, "days of a query": {"/list?start=2006-01-02", 1, 0, 1},
	} {
		s := Spaces{Year: 2026}
		look := func(visit func(*Visit)) {
			for month := range 360 {
				for day := range test.days {
					url := "https://a.example" + time.Date(2028, time.Month(1+month), 1+9*day, 0, 0, 0, 0, time.UTC).Format(test.form)
					v := new(Visit).Of([]byte(url), len("https://a.example"), len(pathOf(url)))
					v.Spent, v.Failed = Spend(v.Spent, 1, 1), test.failed
					visit(v)
				}
			}
		}
		if look(s.AddURL); s.Begin() {
			look(s.TryURL)
		}
		if found := s.Rows(); len(found) != test.want {
			t.Errorf("%s: %d spaces, want %d", name, len(found), test.want)
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
	var got []string
	for _, one := range rows(&s, all) {
		got = append(got, fmt.Sprint(one.Kind, " ", one.Origin, " ", one.Requests, " ", one.URLs, " ", one.By, " ", one.Rules))
	}
	want := []string{
		"calendar https://f.example 2400 600 [{1 2400}] []", // the dates stand behind several paths
		"calendar https://b.example 1500 300 [{1 1500}] [Disallow: /y/203]",
		"calendar https://a.example 900 300 [{1 900}] [Disallow: /x/203]",
		"session ids https://b.example 600 300 [{1 600}] [Disallow: /*;jsessionid=]",
		"calendar https://b.example 300 300 [{1 300}] [Disallow: /z/203]",
		"repeated segments https://e.example 300 300 [{1 300}] [Disallow: /*/a/b/a/b/]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(s.all) > 4*shownSpaces {
		t.Errorf("%d spaces are kept", len(s.all))
	}
}

// TestLateYears holds that a calendar has all later years, as far as they have four digits, and rules that close them, and that
// numbers beside it are none.
func TestLateYears(t *testing.T) {
	all, urls := map[string]int64{}, int64(0)
	for day := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2300; day = day.AddDate(0, 0, 10) {
		all["https://a.example"+day.Format("/termine/2006/01/02")] = 2
		if day.Year() >= 2028 {
			urls++
		}
	}
	for i := range 900 {
		all[fmt.Sprintf("https://a.example/shop/%d/%d", 2200+i, 1+i%12)] = 1
		all[fmt.Sprintf("https://a.example/termine/9%03d-12", i)] = 2
	}
	urls += 900
	s := Spaces{Year: 2026}
	found := rows(&s, all)
	if len(found) != 1 || found[0].URLs != urls || found[0].Requests != 2*urls {
		t.Fatalf("%+v, want one of %d URLs", found, urls)
	}
	want := "2028 2029 203 204 205 206 207 208 209 21 22 9"
	if got := strings.ReplaceAll(strings.Join(found[0].Rules, " "), "Disallow: /termine/", ""); got != want || found[0].Others != 0 {
		t.Errorf("closed by %s, and %d others, want %s", got, found[0].Others, want)
	}
}

// TestRepeatsClose holds that only rules are given that close URLs, and those first that close most.
func TestRepeatsClose(t *testing.T) {
	all := map[string]int64{}
	for i := range 400 {
		all[fmt.Sprintf("https://a.example/docs/%s%d", strings.Repeat("x/y/", 3+i%3), i)] = 1
		if i < 300 {
			all[fmt.Sprintf("https://a.example/w/z/w/z/%d", i)] = 1
		}
		if i%2 == 0 {
			all[fmt.Sprintf("https://a.example/u/v/u/v/u/v/%d", i)] = 1
			all[fmt.Sprintf("https://a.example/u/v/u/v/u/v/%d/", i)] = 1
			all[fmt.Sprintf("https://a.example/docs/u/v/u/v/u/v/%d", i)] = 1
		}
	}
	s := Spaces{Year: 2026}
	found := rows(&s, all)
	want := []string{"Disallow: /*/u/v/u/v/", "Disallow: /*/x/y/x/y/", "Disallow: /w/z/w/z/"}
	if len(found) != 1 || !slices.Equal(found[0].Rules, want) {
		t.Errorf("%+v, want one with %q", found, want)
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
