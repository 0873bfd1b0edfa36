package diagnose

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestOthers holds that facts which others count become rows from their thresholds on, with the crawlers, the dates and
// the requests that a plain count of the rows gives.
func TestOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var all []request
	counted := map[string]int64{}
	first, last := map[string]int64{}, map[string]int64{}
	note := func(what string, r *request) {
		if counted[what]++; counted[what] == 1 {
			first[what] = r.at
		}
		last[what] = r.at
	}
	months := 0
	for _, r := range faultless(rng) {
		if r.path != txtName && !within(&r, "/assets/") && r.agent == 1 {
			switch rng.IntN(6) {
			case 0:
				r.path = fmt.Sprintf("/blog/%d?color=%d", rng.IntN(100), rng.IntN(9))
				note(ParameterCrawl, &r)
			case 1:
				r.path, r.status = fmt.Sprintf("/old/%d", rng.IntN(99)), 301
				note(RedirectChain, &r)
			case 2:
				months++
				r.path = fmt.Sprintf("/calendar/%d/%d", 2020+months/12, months%12)
				note(EndlessURLs, &r)
			}
		}
		if r.agent == 3 && rng.IntN(10) == 0 && r.path != txtName {
			r.path = "/files/manual.pdf"
			note(BytesHog, &r)
		}
		if r.agent == 2 && rng.IntN(8) == 0 && r.path != txtName {
			r.agent |= Impostor
			note(Impostors, &r)
		}
		all = append(all, r)
	}
	text := []byte("User-agent: bingbot\nCrawl-delay: 5\n")
	for i := range all {
		if all[i].path == txtName {
			all[i].size = int64(len(text))
		}
	}
	log := func(part float64) *Log {
		n := func(of int64) int64 { return int64(part * float64(of)) }
		return &Log{
			Agents: agents, Statuses: true,
			Texts:      []Text{{Origin: origin, Body: text}},
			Parameters: []Parameter{{Name: "color", Origin: origin, URLs: n(390), Paths: 100, Bare: 390, Pattern: "/*?color="}, {Name: "other", Origin: origin, URLs: 900, Paths: 1}},
			Spaces:     []Space{{Text: "an endless calendar", Origin: origin, Path: "/calendar/", URLs: n(counted[EndlessURLs]), Requests: counted[EndlessURLs], By: map[int]int64{1: counted[EndlessURLs]}, Pattern: "/calendar/"}},
			Chain:      Chain{[]string{"/old/X", "/new/X", "/x/X"}[:int(3*part)], 2 * counted[RedirectChain]},
			Conducts:   []Conduct{{Agent: 2, Requests: 3000, Knew: n(39), First: begin * 1e6, Last: (begin + day) * 1e6, Gaps: 2000, Short: n(700)}},
			Listing:    Listing{Listed: 1000, Missing: n(19), MissingIn: map[string]int64{"/a/": 5, "/b/": n(14)}, Requests: 70},
			Networks:   map[int]string{2: "192.0.2.0/24"},
			Bytes:      10_000_000_000,
			Hogs:       []Hog{{Agent: 3, Origin: origin, Path: "/files/manual.pdf", Requests: counted[BytesHog], Bytes: n(3_900_000_000)}, {Agent: 3, Requests: 100, Bytes: n(4_900_000_000)}},
		}
	}
	find := func(log *Log) map[string]Row {
		c := New(1<<30, t.TempDir())
		defer c.Close()
		add(t, c, all)
		d, err := Find(c, log)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]Row{}
		for _, r := range d.Findings {
			if _, again := found[r.Code]; again {
				t.Errorf("two rows: %s", r.Code)
			}
			found[r.Code] = r
		}
		return found
	}
	found := find(log(1))
	for code, want := range map[string]struct {
		agent, path string
		words       []string
	}{
		ParameterCrawl: {"Googlebot", "", []string{"`color=`", "390 URLs", "100 pages"}},
		EndlessURLs:    {"Googlebot", "/calendar/", []string{"an endless calendar"}},
		RedirectChain:  {"Googlebot", "/old/", []string{"/old/X -> /new/X -> /x/X"}},
		BytesHog:       {"GPTBot", "/files/manual.pdf", []string{"3.9 GB of the 10.0 GB"}},
		Impostors:      {"bingbot", "", []string{"192.0.2.0/24"}},
		DelayIgnored:   {"bingbot", "", []string{"5 s: 700 of 2,000", "35.0%"}},
		RulesIgnored:   {"bingbot", "", []string{"39 requests", "1.3%"}},
		SitemapBad:     {"", "/b/", []string{"19 URLs", "14 of them below /b/", "70 requests"}},
	} {
		r, ok := found[code]
		if !ok || len(r.Agents) > 1 || len(r.Agents) == 1 && r.Agents[0] != want.agent || r.Path != want.path || r.Remedy.Action == "" {
			t.Errorf("%s: %+v", code, r)
			continue
		}
		n := counted[code]
		if code == RedirectChain {
			n *= 2 // each has two redirects
		}
		if n > 0 && (r.Requests != n || r.From.Unix() != first[code] || r.To.Unix() != last[code]) {
			t.Errorf("%s: %d requests from %s to %s, want %d from %s to %s", code, r.Requests, r.From, r.To, n, timeOf(first[code]), timeOf(last[code]))
		}
		if slices.ContainsFunc(want.words, func(word string) bool { return !strings.Contains(r.Sentence, word) }) {
			t.Errorf("%s says %q, want %q", code, r.Sentence, want.words)
		}
	}
	if len(found) != 8 {
		t.Errorf("%d codes: %v", len(found), found)
	}
	text = append(text, '#') // which is of another size than what was sent
	if other := find(log(1)); len(other) != 7 || other[RulesIgnored].Code != "" {
		t.Errorf("with another text: %v", other)
	}
	if half := find(log(.5)); len(half) != 1 || half[Impostors].Code == "" {
		t.Errorf("below the thresholds: %v", half)
	}
}

// TestSoft holds that pages of one size that no sitemap lists are found in their directory, with the requests of
// crawlers for them, unless they are few, listed, or the whole site.
func TestSoft(t *testing.T) {
	for n, want := range []struct {
		pages, usual, size int
		listed, versions   bool // of a page
		directory          string
	}{
		{80, 300, 7310, false, false, origin + "/blog/"},
		{40, 300, 7310, false, false, ""},
		{80, 300, 7310, true, false, ""},
		{80, 5, 7310, false, false, ""},
		{1000, 300, 7310, false, false, origin + "/blog/"},
		{1000, 300, 7310, true, false, ""},
		{80, 300, 7310, false, true, ""},
	} {
		rng := rand.New(rand.NewPCG(uint64(n), 4))
		c := New(1<<30, t.TempDir())
		all := faultless(rng)
		add(t, c, all)
		var d Directories
		var requests int64
		page := func(path string, size int, listed bool) {
			for _, agent := range []uint16{1, 2} {
				if err := c.AddPage(&Request{Origin: []byte(origin), Path: []byte(path), Agent: agent, Status: 200, Size: uint32(size), At: int64(begin+rng.IntN(days*day)) * 1e6}); err != nil {
					t.Fatal(err)
				}
				requests += int64(bit(size == want.size))
			}
			d.Add([]byte(origin+path), len(origin), Page{Size: uint32(size), Listed: listed})
		}
		for i := range want.pages {
			page(fmt.Sprintf("/blog/%04d", i*bit(!want.versions)), want.size, want.listed)
		}
		for i := range want.usual {
			page(fmt.Sprintf("/blog/x%04d", i), 9000+rng.IntN(60_000), true)
		}
		for i := range 200 {
			page(fmt.Sprintf("/help/%04d", i), 9000+rng.IntN(60_000), true)
		}
		_, soft, _ := d.End()
		if want.directory == "" {
			if len(soft) > 0 {
				t.Errorf("%+v: %+v", want, soft)
			}
			continue
		}
		if len(soft) != 1 || soft[0].Directory != want.directory || soft[0].URLs != int64(want.pages) {
			t.Fatalf("%+v: %+v", want, soft)
		}
		found, err := Find(c, &Log{Agents: agents, Statuses: true, Soft: soft})
		if err != nil || len(found.Findings) != 1 || found.Findings[0].Code != SoftNotFound || found.Findings[0].Requests != requests || found.Findings[0].Path != "/blog/" {
			t.Errorf("%d requests: %+v, %v", requests, found, err)
		}
		c.Close()
	}
}

// TestEater holds which bytes are told of: those of a crawler, or of the directory that has nearly all of them, and no
// file that is fetched once a day.
func TestEater(t *testing.T) {
	for _, want := range []struct {
		films int64 // bytes of another directory
		path  string
		bytes int64
	}{{100, "/files/", 1800}, {300, "", 2100}} {
		var e Eater
		for _, path := range []string{"/films/1.mp4", "/files/a/1.zip", "/files/b/2.zip"} {
			e.Add(7, []byte(origin), []byte(path), 3, map[bool]int64{true: want.films, false: 900}[path == "/films/1.mp4"])
		}
		if h := e.End(); h.Path != want.path || h.Bytes != want.bytes || h.Agent != 7 {
			t.Errorf("%+v: %+v", want, h)
		}
	}
	c := &Counts{dates: [2]int64{begin, begin + 10*day}}
	if c.IsOften(11) || !c.IsOften(20) {
		t.Error("11 requests in ten days are one a day, 20 are not")
	}
}

// TestShapes holds what the paths of URLs without end look like, and that of those only new ones count, in the
// directory that has them.
func TestShapes(t *testing.T) {
	for path, want := range map[string]int{
		"/calendar/2031/02/14": 0, "/calendar/2031-02": 0, "/events/20310214.html": 0, "/blog/2020/02/14": -1, "/blog/2031/02/a-story": -1, "/2020/11/3/": -1,
		"/s/0123456789abcdef/blog/": 1, "/a;jsessionid=0123456789ABCDEF": 1, "/u/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f": 1, "/blog/a-long-story-of-facades-2020": -1,
		"/list/4711/815": 2, "/list/4711/a/815": -1, "/wiki/a/b/a/b/c": 3, "/a/b/a/c/a/": 3, "/en/shop/en": -1, "/": -1,
	} {
		if got := shapeOf([]byte(path), 20300101); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	for _, c := range []struct{ known, twice int }{{0, 0}, {0, 60}, {40, 0}, {0, 80}} { // URLs that people fetch, too, and those that a crawler fetches again
		var d Directories
		for i := range 640 {
			path := fmt.Sprintf("%s/list/%03d/%d/", origin, i/2, i)
			d.Add([]byte(path), len(origin), Page{By: []int{1 + i%2}, Again: i < c.known, Twice: i < c.twice})
		}
		_, _, many := d.End()
		if isMany := c.known == 0 && c.twice <= 60; !isMany && len(many) > 0 || isMany && (len(many) != 1 || many[0].Path != "/list/" || many[0].URLs != 640 || many[0].By[2] != 320 || many[0].Text != shapes[2]) {
			t.Errorf("%+v: %+v", c, many)
		}
	}
}
