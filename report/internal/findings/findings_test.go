package findings

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/report/internal/replies"
	"github.com/robobatch/robobatch/report/internal/timeline"
	"github.com/robobatch/robobatch/report/internal/violations"
	"github.com/robobatch/robobatch/robots"
)

// days returns the facts of a log of so many days, in which other clients come evenly.
func days(n int) *Facts {
	f := &Facts{From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Requests: 1_000_000, FromLog: true}
	f.To = f.From.AddDate(0, 0, n)
	for i := range n {
		f.Starts, f.All = append(f.Starts, f.From.AddDate(0, 0, i).Unix()), append(f.All, 10_000)
	}
	return f
}

// addCrawler adds a crawler by its requests of each day.
func (f *Facts) addCrawler(name string, requests func(day int) int64) {
	c := Crawler{Name: name, Search: true}
	for i := range f.Starts {
		n := max(0, requests(i))
		c.Points, c.Requests = append(c.Points, Point{Requests: n, Answers: timeline.Answers{Answered: n}}), c.Requests+n
	}
	f.Crawlers = append(f.Crawlers, c)
}

// TestResting holds which crawlers stopped or slowed, and that rhythms and logs that end are none of them.
func TestResting(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 7))
	for name, test := range map[string]struct {
		requests func(day int) int64
		all      func(day int) int64 // of other clients; nil is even
		want     string
	}{
		"even":             {func(int) int64 { return 100 }, nil, "[]"},
		"noisy":            {func(int) int64 { return 50 + rng.Int64N(100) }, nil, "[]"},
		"weekdays":         {func(day int) int64 { return map[bool]int64{true: 0, false: 200}[day%7 > 4] }, nil, "[]"},
		"once a week":      {func(day int) int64 { return map[bool]int64{true: 2000, false: 0}[day%7 == 0] }, nil, "[]"},
		"waves":            {func(day int) int64 { return []int64{1000, 500, 30, 20, 10, 400}[day/5%6] }, nil, "[]"},
		"few":              {func(day int) int64 { return map[bool]int64{true: 2, false: 0}[day < 40] }, nil, "[]"},
		"grows":            {func(day int) int64 { return int64(day * 20) }, nil, "[]"},
		"stops":            {func(day int) int64 { return map[bool]int64{true: 100, false: 0}[day < 40] }, nil, "[stopped]"},
		"stops and noise":  {func(day int) int64 { return map[bool]int64{true: rng.Int64N(200), false: 0}[day < 45] }, nil, "[stopped]"},
		"the log ends":     {func(day int) int64 { return map[bool]int64{true: 100, false: 0}[day < 40] }, func(day int) int64 { return map[bool]int64{true: 10_000, false: 10}[day < 40] }, "[]"},
		"came and went":    {func(day int) int64 { return map[bool]int64{true: 5000, false: 0}[day > 20 && day < 24] }, nil, "[]"},
		"slows":            {func(day int) int64 { return map[bool]int64{true: 100, false: 10}[day < 44] }, nil, "[slowed]"},
		"a little less":    {func(day int) int64 { return map[bool]int64{true: 100, false: 60}[day < 44] }, nil, "[]"},
		"was as slow once": {func(day int) int64 { return map[bool]int64{true: 100, false: 10}[day < 44 && (day < 5 || day > 20)] }, nil, "[]"},
	} {
		f := days(60)
		f.addCrawler("Googlebot", test.requests)
		if test.all != nil {
			for i := range f.All {
				f.All[i] = test.all(i)
			}
		}
		var kinds []string
		for _, one := range resting(f) {
			kinds = append(kinds, one.Kind.String())
		}
		if got := fmt.Sprint(kinds); got != test.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, test.want, resting(f))
		}
	}
}

// TestFell holds from which day on a crawler comes less, wherever in the log that day is, and that other courses are no fall.
func TestFell(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 9))
	fall := func(from, before, after int64) func(int) int64 {
		return func(day int) int64 { return map[bool]int64{true: before, false: after}[int64(day) < from] }
	}
	week := func(day int) bool { return day%7 < 5 }
	for name, test := range map[string]struct {
		days     int
		byHour   bool
		requests func(day int) int64
		want     int
	}{
		"day 5 of 14":     {14, false, fall(5, 1285, 60), 5},
		"day 6 of 14":     {14, false, fall(6, 1285, 60), 6},
		"day 7 of 14":     {14, false, fall(7, 1285, 60), 7},
		"day 8 of 14":     {14, false, fall(8, 1285, 60), 8},
		"day 10 of 14":    {14, false, fall(10, 1285, 60), 10},
		"day 11 of 14":    {14, false, fall(11, 1285, 60), -1}, // two whole days are too few to tell
		"no log so short": {5, false, fall(3, 1285, 60), -1},
		"noise":           {28, false, func(day int) int64 { return fall(13, 700, 20)(day) + rng.Int64N(300)*fall(13, 1, 0)(day) }, 13},
		"working days":    {56, false, func(day int) int64 { return map[bool]int64{true: fall(42, 900, 30)(day), false: 20}[week(day)] }, 40},
		"week":            {28, false, func(day int) int64 { return map[bool]int64{true: 900, false: 0}[week(day)] }, -1},
		"ends on Sunday":  {15, false, func(day int) int64 { return map[bool]int64{true: 900, false: 0}[week(day)] }, -1},
		"grows":           {14, false, func(day int) int64 { return int64(100 + day*day*10) }, -1},
		"burst":           {14, false, fall(3, 9000, 100), -1},
		"long burst":      {28, false, fall(7, 9000, 100), -1},
		"declines":        {28, false, func(day int) int64 { return 9000 >> (day / 2) }, -1},
		"one good day":    {14, false, func(day int) int64 { return fall(6, 900, 30)(day) + fall(1, 400, 0)((day-9)*(day-9)) }, 6},
		"half":            {14, false, fall(7, 1000, 500), -1},
		"hours":           {120, true, fall(60, 50, 2), 60},
		"nights":          {120, true, func(hour int) int64 { return map[bool]int64{true: 50, false: 2}[hour%24 > 8] }, -1},
		"twelve hours":    {120, true, fall(107, 50, 2), -1},
	} {
		f := days(test.days)
		f.ByHour = test.byHour
		f.addCrawler("bingbot", test.requests)
		if got, before, after := f.fell(f.Crawlers[0].Points[:test.days-1]); got != test.want {
			t.Errorf("%s: %d, want %d: %g before, %g after", name, got, test.want, before, after)
		}
	}
	f := days(14)
	f.addCrawler("bingbot", fall(8, 1285, 60))
	if found := resting(f); len(found) != 1 || found[0].Text != "bingbot came much less: 60 requests a day, where it made 1,285 before." || found[0].Number != 5*1225 || found[0].When != "since 2026-01-09, for 6 days" {
		t.Errorf("found are %+v", found)
	}
	body := []byte("User-agent: bingbot\nDisallow: /\n")
	f.Files = []File{{Origin: "https://0.example", Requests: f.Requests, Body: body, Report: robots.Inspect(body, robots.Google), First: f.From.AddDate(0, 0, 8), Last: f.To, Changing: true}}
	if found := resting(f); len(found) > 0 {
		t.Errorf("found beside the closing are %+v", found)
	}
	f.Files[0].First = f.From.AddDate(0, 0, 2)
	if found := resting(f); len(found) != 1 {
		t.Errorf("found with a closing of another day are %+v", found)
	}
}

// TestRank holds that there are at most seven findings, those that affect most first, and that faults that last weigh more.
func TestRank(t *testing.T) {
	f := days(30)
	f.Impostors = &Impostors{Requests: 900, Name: "Googlebot", Network: "192.0.2.0/24"}
	f.addCrawler("Googlebot", func(day int) int64 { return map[bool]int64{true: 900, false: 0}[day < 20] })
	f.addCrawler("bingbot", func(day int) int64 { return map[bool]int64{true: 500, false: 20}[day < 22] })
	f.Crawlers[0].Violations, f.Crawlers[0].Answered, f.Crawlers[0].Failed, f.Crawlers[0].Redirected = 30, 18_000, 4000, 9000
	text := []byte("User-agent: *\nDisallow: /\n")
	for i, last := range []int{30, 9} {
		f.Files = append(f.Files, File{
			Origin: fmt.Sprintf("https://%d.example", i), Requests: 5000, Body: text, Report: robots.Inspect(text, robots.Google),
			First: f.From, Last: f.From.AddDate(0, 0, last), Link: "rules",
		})
	}
	f.Parameters = []Parameter{{Name: "sort", Requests: 9000, URLs: 900, Paths: 2, Bare: 900, Sized: 900, Same: 900}}
	f.Changes = []Change{{Origin: "https://0.example", At: f.From.AddDate(0, 0, 3), Added: []string{"Disallow: /x"}, Requests: 5000}}
	f.Dialect = robots.Google
	found, more := Find(f)
	if len(found) != Most || more != 3 {
		t.Fatalf("%d findings, and %d more", len(found), more)
	}
	if !slices.IsSortedFunc(found, func(a, b Finding) int { return int(b.score - a.score) }) || found[0].Kind != Closed || found[1].Kind != Closed ||
		found[0].When != "in the whole log of 30 days" || found[1].When != "from 2026-01-01 to 2026-01-10, 9 days" {
		t.Errorf("the first are %+v and %+v", found[0], found[1])
	}
	for _, one := range found {
		if one.Text == "" || one.Do == "" || one.Link == "" || one.Title == "" || one.Number <= 0 || one.Unit == "" {
			t.Errorf("something is missing: %+v", one)
		}
	}
}

// TestPast holds that a text that is not in force any more is told of as past, and that a rule of a text that came and went is
// not said to have stood all the time.
func TestPast(t *testing.T) {
	f := days(30)
	f.addCrawler("Googlebot", func(int) int64 { return 100 })
	f.Dialect, f.Dated = robots.Google, true
	closing, one := []byte("User-agent: *\nDisallow: /\n"), []byte("User-agent: *\nDisallow: /news/\n")
	f.Files = []File{
		{Origin: "https://0.example", Requests: 700, Body: closing, Report: robots.Inspect(closing, robots.Google), First: f.From.AddDate(0, 0, 10), Last: f.From.AddDate(0, 0, 17), Link: "rules", Changing: true},
		{Origin: "https://0.example", Requests: 2300, Body: one, Report: robots.Inspect(one, robots.Google), First: f.From, Last: f.To, Link: "rules", Changing: true, AllAsked: 3000, Asked: []Asked{{"/news/", 900, 900}}, Prefixes: newsPrefixes},
	}
	found, _ := Find(f)
	if len(found) != 2 {
		t.Fatalf("%d findings: %+v", len(found), found)
	}
	if want := "The robots.txt of https://0.example shut out Googlebot for a time: its line 2 was Disallow: /, which closes the whole site."; found[0].Text != want || found[0].Unit != "requests of all clients came in that time" {
		t.Errorf("%+v, want %s", found[0], want)
	}
	page := []byte("<!DOCTYPE html><html><head><title>Sorry</title></head><body>Not here</body></html>")
	f.Files[0].Body, f.Files[0].Report = page, robots.Inspect(page, robots.Google)
	for past, last := range map[bool]time.Time{true: f.From.AddDate(0, 0, 17), false: f.To} {
		f.Files[0].Last = last
		met, _ := Find(f)
		if i := slices.IndexFunc(met, func(one Finding) bool { return one.Kind == Misplaced }); i < 0 || strings.HasSuffix(met[i].Text, " Another text is in force now.") != past ||
			strings.HasPrefix(met[i].Text, "For a time https://0.example sent an HTML page as robots.txt: crawlers found no rules in it, and could fetch everything.") != past {
			t.Errorf("past %t: %+v", past, met)
		}
	}
	if found[1].Kind != ClosedPath || found[1].Number != 900 || found[1].Unit != "requests of all clients" || found[1].When != "" {
		t.Errorf("%+v says when", found[1])
	}
}

// newsPrefixes are the directories of a site. 900 of its 3000 requests are for news.
var newsPrefixes = []Prefix{{Path: "/", Requests: 3000, Within: 3000}, {Path: "/news/", Requests: 900, Within: 900, Sample: []string{"/news/", "/news/1"}}}

// TestClosedPaths holds which directories are found that a text closes: the shortest ones, of many requests, and such as are not
// closed on purpose.
func TestClosedPaths(t *testing.T) {
	prefix := func(path string, requests, google, bing int64, sample ...string) Prefix {
		return Prefix{path, requests, requests, map[string]int64{"Googlebot": google, "bingbot": bing}, append(sample, path+"a", path+"b")}
	}
	root := prefix("/", 10_000, 4000, 1000, "/docs/api/x")
	docs := prefix("/docs/", 5000, 2000, 500)
	for _, c := range []struct {
		name, rules string
		prefixes    []Prefix
		spaces      []Space
		want        string // "" is nothing
		number      int64
	}{
		{"crawled", "Disallow: /docs/api/", []Prefix{docs, prefix("/docs/api/", 1100, 1000, 0)}, nil, "Googlebot and bingbot may not fetch /docs/api/, where Googlebot made 25.0% of its requests while it might: line 2, Disallow: /docs/api/.", 1000},
		{"crawled by both", "Disallow: /docs/api/", []Prefix{docs, prefix("/docs/api/", 1100, 1000, 100)}, nil, "Googlebot and bingbot may not fetch /docs/api/: line 2, Disallow: /docs/api/. While they might, they made 25.0% (Googlebot) and 10.0% (bingbot) of their requests there.", 1100},
		{"never crawled", "Disallow: /docs/api/", []Prefix{docs, prefix("/docs/api/", 4000, 0, 0)}, nil, "", 0},
		{"crawled a little", "Disallow: /docs/api/", []Prefix{docs, prefix("/docs/api/", 4000, 200, 50)}, nil, "", 0},
		{"on purpose", "Disallow: /search/", []Prefix{prefix("/search/", 4000, 2000, 500)}, nil, "", 0},
		{"a cart", "Disallow: /de/shoppingcart/", []Prefix{prefix("/de/", 9000, 2000, 900), prefix("/de/shoppingcart/", 1000, 1, 1)}, nil, "", 0},
		{"an installer", "Disallow: /installation/", []Prefix{prefix("/installation/", 4000, 0, 0)}, nil, "", 0},
		{"a name like one", "Disallow: /restaurants/", []Prefix{prefix("/restaurants/", 4000, 0, 0)}, nil, "Googlebot and bingbot may not fetch /restaurants/, the path of 40.0% of the site's requests: line 2, Disallow: /restaurants/.", 4000},
		{"without a sample", "Disallow: /docs/news/", []Prefix{docs, {Path: "/docs/news/", Requests: 3000}}, nil, "Googlebot and bingbot may not fetch /docs/news/, the path of 30.0% of the site's requests: line 2, Disallow: /docs/news/.", 3000},
		{"research", "Disallow: /research/", []Prefix{prefix("/research/", 1000, 0, 0)}, nil, "Googlebot and bingbot may not fetch /research/, the path of 10.0% of the site's requests: line 2, Disallow: /research/.", 1000},
		{"shortest", "Disallow: /docs/", []Prefix{docs, prefix("/docs/guide/", 4000, 1000, 0)}, nil, "Googlebot and bingbot may not fetch /docs/: line 2, Disallow: /docs/. While they might, they made 50.0% (Googlebot) and 50.0% (bingbot) of their requests there.", 2500},
		{"hardly closed", "Disallow: /docs/a", []Prefix{docs}, nil, "", 0},
		{"few ask", "Disallow: /docs/news/", []Prefix{docs, prefix("/docs/news/", 900, 300, 90)}, nil, "", 0},
		{"deep", "Disallow: /docs/de/news/", []Prefix{docs, prefix("/docs/de/", 1500, 300, 90), prefix("/docs/de/news/", 1200, 100, 10)}, nil, "Googlebot and bingbot may not fetch /docs/de/news/, the path of 12.0% of the site's requests: line 2, Disallow: /docs/de/news/.", 1200},
		{"a trap", "Disallow: /docs/filter/", []Prefix{docs, prefix("/docs/filter/", 900, 800, 0)}, []Space{{Origin: "https://0.example", Example: "/docs/filter/?a=1", By: []Part{{"Googlebot", 700, 4000}}}}, "", 0},
		{"a trap beside it", "Disallow: /docs/tags/", []Prefix{docs, prefix("/docs/tags/", 900, 800, 0)}, []Space{{Origin: "https://0.example", Example: "/docs/filter/?a=1", By: []Part{{"Googlebot", 700, 4000}}}}, "Googlebot and bingbot may not fetch /docs/tags/, where Googlebot made 20.0% of its requests while it might: line 2, Disallow: /docs/tags/.", 800},
	} {
		f := days(14)
		f.addCrawler("Googlebot", func(int) int64 { return 300 })
		f.addCrawler("bingbot", func(int) int64 { return 100 })
		f.Dialect, f.Spaces = robots.Google, c.spaces
		body := []byte("User-agent: *\n" + c.rules + "\n")
		f.Files = []File{{Origin: "https://0.example", Requests: 10_000, Body: body, Report: robots.Inspect(body, robots.Google), First: f.From.AddDate(0, 0, 9), Last: f.To, AllAsked: 10_000, Prefixes: append([]Prefix{root}, c.prefixes...), Asked: []Asked{{"/docs/news/1", 9, 0}}}}
		found := closedPaths(f)
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || strings.ReplaceAll(found[0].Text, " of https://0.example", "") != c.want || found[0].Number != c.number || found[0].When != "since 2026-01-10, for 5 days") {
			t.Errorf("%s: %+v, want %d, %s", c.name, found, c.number, c.want)
		}
	}
}

// TestClosedShare holds that the share of a directory is of the requests that a crawler made by the texts that left it open, if all
// texts are known.
func TestClosedShare(t *testing.T) {
	for closed, want := range map[int64]string{2000: "50.0%", 1000: "25.0%"} { // with 1000 the texts have too few requests
		f := days(14)
		f.addCrawler("Googlebot", func(int) int64 { return 300 })
		f.Dialect = robots.Google
		prefixes := []Prefix{{"/", 9000, 9000, map[string]int64{"Googlebot": 4000}, nil}, {"/docs/api/", 1100, 1100, map[string]int64{"Googlebot": 1000}, []string{"/docs/api/"}}}
		for i, c := range []struct {
			body string
			made int64
		}{{"User-agent: *\nDisallow: /docs/api\n", closed}, {"User-agent: *\nDisallow: /x\n", 2000}} {
			f.Files = append(f.Files, File{
				Origin: "https://0.example", Requests: 10_000, Body: []byte(c.body), Report: robots.Inspect([]byte(c.body), robots.Google), AllAsked: 9000, Prefixes: prefixes, Made: map[string]int64{"Googlebot": c.made},
				First: f.From.AddDate(0, 0, 7-7*i), Last: f.To.AddDate(0, 0, -7*i),
			})
		}
		if found := closedPaths(f); len(found) != 1 || !strings.Contains(found[0].Text, "where it made "+want+" of its requests while it might") {
			t.Errorf("found are %+v, want %s", found, want)
		}
	}
}

// TestForeign holds that a text with the sitemap of a test site stands below the path that it closes, and above where it closes
// the site.
func TestForeign(t *testing.T) {
	for body, want := range map[string]string{
		"User-agent: *\nDisallow: /news/\nSitemap: https://staging.0.example/sitemap.xml\n": "[closed-path foreign]",
		"User-agent: *\nDisallow: /\nSitemap: https://staging.0.example/sitemap.xml\n":      "[closed misplaced]",
	} {
		f := days(30)
		f.addCrawler("Googlebot", func(int) int64 { return 100 })
		f.Dialect = robots.Google
		f.Files = []File{{Origin: "https://0.example", Requests: 3000, Body: []byte(body), Report: robots.Inspect([]byte(body), robots.Google), First: f.From, Last: f.To, Link: "rules", AllAsked: 3000, Asked: []Asked{{"/news/", 300, 0}, {"/", 900, 0}}, Prefixes: newsPrefixes}}
		found, _ := Find(f)
		var kinds []string
		for _, one := range found {
			kinds = append(kinds, one.Kind.String())
		}
		if got := fmt.Sprint(kinds); got != want {
			t.Errorf("%s: %s, want %s: %+v", body, got, want, found)
		}
	}
}

// TestChanged holds that changes are told the newest first, those that stand before those that were undone, that changes
// which another finding tells are left out, and that all else ranks above them.
func TestChanged(t *testing.T) {
	f := days(14)
	at := func(day int) time.Time { return f.From.AddDate(0, 0, day) }
	page, rules := []string{"<!DOCTYPE html>", "<html>", "</html>"}, []string{"User-agent: *", "Disallow: /login"}
	site := func(day int, added, gone []string) Change {
		return Change{Origin: "https://0.example", At: at(day), Added: added, Gone: gone, Requests: 1_000_000}
	}
	html := []Change{site(3, page, rules), site(8, rules, page)}
	last := site(11, []string{"Disallow: /docs/api/"}, nil)
	for _, c := range []struct {
		changes []Change
		first   int // the day from which on another finding tells the text; 0 is none
		want    string
		number  int64
	}{
		{html, 0, "The robots.txt of https://0.example changed 2 times: from 2026-01-04 00:00 to 2026-01-09 00:00 “<!DOCTYPE html>” and 2 more lines were in it instead of “Disallow: /login” and 1 more line.", 2},
		{append(slices.Clone(html), last), 0, "The robots.txt of https://0.example changed 3 times: on 2026-01-12 00:00 “Disallow: /docs/api/” came; from 2026-01-04 00:00 to 2026-01-09 00:00 “<!DOCTYPE html>” and 2 more lines were in it instead of “Disallow: /login” and 1 more line.", 3},
		{append(slices.Clone(html), last), 3, "The robots.txt of https://0.example also changed: on 2026-01-12 00:00 “Disallow: /docs/api/” came.", 1},
		{html, 3, "", 0},
		{[]Change{last}, 11, "", 0},
		{[]Change{site(2, nil, nil), site(3, nil, nil), site(4, nil, rules)}, 0, "The robots.txt of https://0.example changed 3 times: on 2026-01-05 00:00 “Disallow: /login” and 1 more line went; on 2026-01-04 00:00 nothing but the order of its lines changed; and 1 more.", 3},
		{[]Change{site(2, page[:1], nil), site(3, rules[1:], nil), site(4, nil, rules[1:]), site(5, nil, page[:1]), {Origin: "https://1.example", At: at(6), Added: rules, Requests: 9}}, 0, "The robots.txt of https://0.example changed 4 times: from 2026-01-04 00:00 to 2026-01-05 00:00 “Disallow: /login” was in it; from 2026-01-03 00:00 to 2026-01-06 00:00 “<!DOCTYPE html>” was in it.", 4},
	} {
		f.Changes = c.changes
		var others []Finding
		if c.first > 0 {
			others = []Finding{{file: &File{Origin: "https://0.example", First: at(c.first).Add(time.Minute)}}}
		}
		got, number := "", int64(0)
		for _, one := range f.changed(others) {
			got, number = one.Text, one.Number
			if least := limits[Faked].weight * float64(limits[Faked].least); one.score >= least {
				t.Errorf("%g is not below %g", one.score, least)
			}
		}
		if got != c.want || number != c.number {
			t.Errorf("%d, %s, want %d, %s", number, got, c.number, c.want)
		}
	}
}

// TestFailing holds that the share of errors is of the time in which there were as many, and of the requests for pages alone.
func TestFailing(t *testing.T) {
	for from, want := range map[int]string{
		10: "10.0% of the requests of Googlebot in that time were answered by an error of the server (5xx).",
		0:  "10.0% of the requests of Googlebot were answered by an error of the server (5xx).",
	} {
		f := days(14)
		f.addCrawler("Googlebot", func(int) int64 { return 3000 })
		c := &f.Crawlers[0]
		c.Answered = c.Requests
		for i := from; i < 14; i++ {
			c.Points[i].Failed, c.Failed = 300, c.Failed+300
			c.Points[i].Requests += 3000 // of robots.txt
		}
		if found := failing(f); len(found) != 1 || found[0].Text != want || found[0].Number != c.Failed {
			t.Errorf("found are %+v, want %s", found, want)
		}
	}
}

// TestFailingSpan holds that number, share and date of errors are of one time, and that the commonest status and path are of it.
func TestFailingSpan(t *testing.T) {
	f := days(14)
	f.addCrawler("Googlebot", func(int) int64 { return 3000 })
	c := &f.Crawlers[0]
	c.Answered = c.Requests
	s := &c.Samples[2]
	for i := range 14 {
		n, status, path := int64(10), int64(500), fmt.Sprintf("/old/%d", i)
		if i > 4 && i < 9 {
			n, status, path = 300, 503, fmt.Sprintf("/shop/all/%d", i)
		}
		c.Points[i].Failed, c.Failed = n, c.Failed+n
		for range n / 10 {
			s.Rows = append(s.Rows, Answer{f.From.AddDate(0, 0, i), status, path})
		}
	}
	s.Of = c.Failed
	want := "10.0% of the requests of Googlebot in that time were answered by an error of the server (5xx), most often 503 and below /shop/all/."
	if found := failing(f); len(found) != 1 || found[0].Text != want || found[0].Number != 1200 || found[0].When != "from 2026-01-06 to 2026-01-10, 4 days" {
		t.Errorf("found are %+v, want %s", found, want)
	}
}

// TestJump holds from when on redirects and missing pages are told, which jump on a day, and that those that come all the time, on
// some days fewer than a finding takes, are of all the log.
func TestJump(t *testing.T) {
	for _, test := range []struct {
		name  string
		share func(day int) int64 // of 100 requests
		want  string
	}{
		{"jumps", func(day int) int64 { return map[bool]int64{true: 80, false: 3}[day >= 8] }, "80.0% of the requests of Googlebot in that time %s. 24000 since 2026-01-09, for 6 days"},
		{"for a time", func(day int) int64 { return map[bool]int64{true: 90, false: 10}[day >= 3 && day < 8] }, "90.0% of the requests of Googlebot in that time %s. 22500 from 2026-01-04 to 2026-01-09, 5 days"},
		{"steady", func(day int) int64 { return 31 + int64(day%3)*2 - 2 }, "30.9% of the requests of Googlebot %s. 21600 in the whole log of 14 days"},
		{"steady at last", func(day int) int64 { return 38 - int64(day) }, "31.5% of the requests of Googlebot %s. 22050 in the whole log of 14 days"},
		{"few", func(int) int64 { return 12 }, ""},
	} {
		f := days(14)
		f.addCrawler("Googlebot", func(int) int64 { return 5000 })
		c := &f.Crawlers[0]
		c.Answered = c.Requests
		for day := range c.Points {
			n := 50 * test.share(day)
			c.Points[day].Missed, c.Missed = n, c.Missed+n
			c.Points[day].Redirected, c.Redirected = n, c.Redirected+n
		}
		for verb, look := range map[string]func(*Facts) []Finding{"were answered by a redirect (3xx)": redirected, "found no page, or were refused (4xx)": missing} {
			got, want := "", test.want
			for _, one := range look(f) {
				got = fmt.Sprint(one.Text, " ", one.Number, " ", one.When)
			}
			if want != "" {
				want = strings.Replace(want, "%s", verb, 1)
			}
			if got != want {
				t.Errorf("%s: found is %q, want %q", test.name, got, want)
			}
		}
	}
	f := days(14) // without times
	f.From, f.To, f.Starts, f.All = time.Time{}, time.Time{}, nil, nil
	f.addCrawler("Googlebot", nil)
	f.Crawlers[0].Answers = timeline.Answers{Answered: 5000, Missed: 2500}
	if found := missing(f); len(found) != 1 || found[0].When != "" || found[0].Number != 2500 {
		t.Errorf("without times: %+v", found)
	}
}

// TestStray holds that few answers long before others, or long after them, do not take away from when on the others are, and that answers
// in many stretches do, as do those without a gap, of a crawler that comes seldom, or ever less.
func TestStray(t *testing.T) {
	const whole, jump = "in the whole log of 30 days", "since 2026-01-20, for 11 days"
	for name, test := range map[string]struct {
		requests func(day int) int64
		hit      func(day int) bool
		want     string
	}{
		"none":         {func(int) int64 { return 100 }, func(day int) bool { return day >= 19 }, jump},
		"before":       {func(day int) int64 { return map[bool]int64{true: 1, false: 100}[day == 0] }, func(day int) bool { return day == 0 || day >= 19 }, jump},
		"two before":   {func(day int) int64 { return map[bool]int64{true: 20, false: 100}[day < 6] }, func(day int) bool { return day == 0 || day == 5 || day >= 19 }, jump},
		"after":        {func(day int) int64 { return map[bool]int64{true: 1, false: 100}[day == 29] }, func(day int) bool { return day < 11 || day == 29 }, "from 2026-01-01 to 2026-01-12, 11 days"},
		"many before":  {func(int) int64 { return 100 }, func(day int) bool { return day == 0 || day >= 19 }, whole},
		"from the eve": {func(day int) int64 { return map[bool]int64{true: 10, false: 100}[day == 0] }, func(int) bool { return true }, whole},
		"first slowly": {func(day int) int64 { return map[bool]int64{true: 5, false: 100}[day < 20] }, func(day int) bool { return day >= 12 }, "since 2026-01-13, for 18 days"},
		"seldom":       {func(day int) int64 { return map[bool]int64{true: 120}[day%3 == 0] }, func(day int) bool { return day >= 12 }, "from 2026-01-13 to 2026-01-29, 16 days"},
		"ever less":    {func(day int) int64 { return map[bool]int64{true: 60, false: 70}[day >= 19] }, func(day int) bool { return day >= 19 }, jump},
	} {
		f := days(30)
		f.addCrawler("Googlebot", test.requests)
		c := &f.Crawlers[0]
		c.Answers = timeline.Answers{}
		for day := range c.Points {
			n := test.requests(day)
			of := timeline.Answers{Answered: n}
			if test.hit(day) {
				of.Redirected, of.Missed, of.Failed = n, n, n
			}
			c.Points[day].Answers, c.Answers = of, c.Plus(of)
		}
		for kind, look := range map[Kind]func(*Facts) []Finding{Redirected: redirected, Missing: missing, Failing: failing} {
			if found := look(f); len(found) != 1 || found[0].When != test.want {
				t.Errorf("%s, %s: found is %+v, want %s", name, kind, found, test.want)
			}
		}
	}
}

// TestOutage holds that errors in which a crawler got little else are found in a log of any length, for each crawler, and that
// few errors a day, also for a crawler that seldom comes, are none.
func TestOutage(t *testing.T) {
	for _, test := range []struct {
		name   string
		perDay int64
		failed func(crawler, day int) int64
		want   string
	}{
		{
			"a day", 200, func(_, day int) int64 { return map[int]int64{200: 200}[day] },
			"100% of the requests of Googlebot in that time and 100% of those of bingbot were answered by an error of the server (5xx). 400 from 2026-07-20 00:00 to 2026-07-21 00:00, 24 hours",
		},
		{
			"now", 200, func(_, day int) int64 { return map[int]int64{364: 150}[day] },
			"75.0% of the requests of Googlebot in that time and 75.0% of those of bingbot were answered by an error of the server (5xx). 300 since 2026-12-31 00:00, for 24 hours",
		},
		{"beside one that often fails", 200, func(crawler, day int) int64 {
			return map[bool]int64{true: 20, false: map[int]int64{200: 200}[day]}[crawler == 0]
		}, "10.0% of the requests of Googlebot were answered by an error of the server (5xx). 7300 in the whole log of 365 days\n" +
			"100% of the requests of bingbot in that time were answered by an error of the server (5xx). 200 from 2026-07-20 00:00 to 2026-07-21 00:00, 24 hours"},
		{"few in all", 10, func(_, day int) int64 { return map[bool]int64{true: 10}[day%90 == 7] }, ""},
		{"few of many", 200, func(_, day int) int64 { return map[bool]int64{true: 90}[day%30 == 7] }, ""},
	} {
		f := days(365)
		for n, name := range []string{"Googlebot", "bingbot"} {
			f.addCrawler(name, func(int) int64 { return test.perDay })
			c := &f.Crawlers[n]
			c.Answered = c.Requests
			for day := range c.Points {
				c.Points[day].Failed = test.failed(n, day)
				c.Failed += c.Points[day].Failed
			}
		}
		var got []string
		for _, one := range failing(f) {
			got = append(got, fmt.Sprint(one.Text, " ", one.Number, " ", one.When))
		}
		if text := strings.Join(got, "\n"); text != test.want {
			t.Errorf("%s: found is %q, want %q", test.name, text, test.want)
		}
	}
}

// TestMeantPaths holds which names of directories say that a site closed them on purpose.
func TestMeantPaths(t *testing.T) {
	for names, want := range map[string]bool{
		"cart carts shopping-cart addtocart panier koszyk carrito search site-search searchresults Suche account my-account login log-out wp-admin api rest tmp tags print order orders": true,
		"restaurants real-estate capital printers border reorder hotels research courtage heritage ordination cartoons contact kassandra products news":                                  false,
	} {
		for name := range strings.FieldsSeq(names) {
			if got := meantPaths.MatchString(name); got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
}

// TestCommonPath holds which path the requests of a sample have in common.
func TestCommonPath(t *testing.T) {
	for want, paths := range map[string]map[string]float64{
		"/":           {"/a": 5, "/b": 5, "/c": 5},
		"/a":          {"/a": 5, "/b": 3},
		"/a/":         {"/a/1": 5, "/a/2": 5, "/b": 3},
		"/a/b/c.html": {"/a/b/c.html": 9, "/a/b/d.html": 3, "/x": 5},
	} {
		if got := commonPath(paths); got != want {
			t.Errorf("%v: %s, want %s", paths, got, want)
		}
	}
}

// TestClosedToOne holds that the number of a closing of one crawler alone is of this crawler: the requests that it does not make
// any more or, if the site was closed all the time, those that it made.
func TestClosedToOne(t *testing.T) {
	body := []byte("User-agent: bingbot\nDisallow: /\n")
	for from, want := range map[int]string{6: "6860 requests fewer than at its pace before", 0: "6160 requests of it"} {
		f := days(14)
		f.Dialect = robots.Google
		f.addCrawler("Googlebot", func(int) int64 { return 3000 })
		f.addCrawler("bingbot", func(day int) int64 { return map[bool]int64{true: 1000, false: 20}[day < 6] })
		f.Files = []File{{Origin: "https://0.example", Requests: f.Requests, Body: body, Report: robots.Inspect(body, robots.Google), First: f.From.AddDate(0, 0, from).Add(8 * time.Hour), Last: f.To, Link: "rules", Changing: from > 0}}
		if from == 0 {
			f.Files[0].First = f.From
		}
		found, _ := Find(f)
		if i := slices.IndexFunc(found, func(one Finding) bool { return one.Kind == Closed }); i != 0 || fmt.Sprint(found[i].Number, " ", found[i].Unit) != want {
			t.Errorf("found are %+v, want %s", found, want)
		}
	}
}

// TestKnew holds the sentences about the knowledge of a crawler that broke rules.
func TestKnew(t *testing.T) {
	for want, c := range map[string]Crawler{
		"": {},
		" It knew of all 9: its copy of robots.txt disallowed them.":              {Judged: true, Knew: 9},
		" It knew of 3: its copy of robots.txt disallowed them.":                  {Judged: true, Knew: 3, NeverAsked: 6},
		" It never asked for robots.txt in this log.":                             {Judged: true, NeverAsked: 7},
		" It had no answer to a request for robots.txt before.":                   {Judged: true, NeverAsked: 9, Asked: 1},
		" It had no answer to a request for robots.txt before 2 of its requests.": {Judged: true, NeverAsked: 2, Asked: 1},
		" Nothing shows that its copy of robots.txt disallowed them.":             {Judged: true},
	} {
		c.Violations = 9
		if got := c.knew(false, false); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c := Crawler{Name: "GPTBot", Judged: true, Violations: 9}
	if got, want := c.knew(true, false), " Nothing shows that the copy of robots.txt that GPTBot had disallowed its requests."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWarning holds the reasons why violations may have come from others, and that lists are asked for only where there are some.
func TestWarning(t *testing.T) {
	for want, c := range map[string]Crawler{
		"":                              {},
		"lists are of another time":     {Unsure: 3, Stale: true, Published: true},
		"-ranges has no list of GPTBot": {Unsure: 3, Unlisted: true, Published: true},
		"no list of GPTBot is known":    {Unsure: 3, Unlisted: true},
		"their addresses tell nothing":  {Unsure: 3, Published: true},
	} {
		f := days(14)
		f.addCrawler("GPTBot", func(int) int64 { return 100 })
		c.Name, c.Violations, c.Points, c.Judged, c.NeverAsked = "GPTBot", 30, f.Crawlers[0].Points, true, 30
		f.Crawlers[0], f.Addresses = c, true
		one := violated(f)[0]
		if knew := " If it was GPTBot, it never asked for robots.txt in this log."; strings.HasSuffix(one.Text, knew) != (want != "") || strings.Contains(one.Text, " It never asked") != (want == "") {
			t.Errorf("%q does not say whether it was GPTBot that knew", one.Text)
		}
		if got := strings.Contains(one.Text, " 3 may have come from others: "); got != (want != "") || !strings.Contains(one.Text, want) {
			t.Errorf("%q, want %q", one.Text, want)
		}
		if got := strings.HasPrefix(one.Do, "Take lists"); got != (c.Unsure > 0 && c.Published && (c.Stale || c.Unlisted)) {
			t.Errorf("%s: %s", want, one.Do)
		}
	}
}

// TestLooks holds the notes beside the things that were looked for.
func TestLooks(t *testing.T) {
	f := days(14)
	text := []byte("User-agent: *\nDisallow: /a\n")
	f.Files = []File{
		{Origin: "https://a.example", Body: text, Rules: 9, Never: 9, Last: f.From},
		{Origin: "https://a.example", Body: text, Rules: 4, Never: 2, Last: f.To},
		{Origin: "https://b.example", Body: text, Rules: 3, Never: 1},
	}
	for _, dated := range []bool{false, true} {
		f.Dated = dated
		looks := Looks(f)
		if first := looks[0]; first.Not != "" || (first.Note == "by the text of today alone, as no older ones were given") == dated {
			t.Errorf("%+v, dated: %t", first, dated)
		}
		if last := looks[len(looks)-1]; last.Not != "" || last.Note != "3 of 7 rules matched nothing, see Rules" {
			t.Errorf("%+v", last)
		}
	}
}

// TestSizesOfParameters holds that a parameter is waste if two of three known sizes are those of the same page, and that the page says
// that it did not look where too few are known.
func TestSizesOfParameters(t *testing.T) {
	for _, c := range []struct {
		parameter    Parameter
		found, noted bool
	}{
		{Parameter{Sized: 900, Same: 900}, true, false},
		{Parameter{Sized: 900, Same: 600}, true, false},
		{Parameter{Sized: 900, Same: 599}, false, false},
		{Parameter{Sized: 225, Same: 225}, true, false},
		{Parameter{Sized: 225}, false, false},
		{Parameter{Sized: 224, Same: 224}, false, true},
		{Parameter{}, false, true},
		{Parameter{IsCampaign: true}, true, false},
		{Parameter{Paths: 100}, false, false}, // it is no waste, whatever the sizes
		{Parameter{Requests: 499}, false, false},
	} {
		f := days(14)
		f.addCrawler("Googlebot", func(int) int64 { return 1000 })
		p := c.parameter
		p.Name, p.URLs, p.Bare, p.Requests, p.Paths = "hue", 900, 900, cmp.Or(p.Requests, 9000), cmp.Or(p.Paths, 2)
		f.Parameters = []Parameter{p}
		looks := Looks(f)
		i := slices.IndexFunc(looks, func(l Look) bool { return strings.HasPrefix(l.What, "requests spent on parameters") })
		noted := looks[i].Note == "not on the parameter “hue”, as the log has too few sizes of its pages to tell whether they are the same"
		if found := len(wasted(f)) > 0; found != c.found || noted != c.noted || (looks[i].Note != "") != noted {
			t.Errorf("%+v: found %t, and %+v", p, found, looks[i])
		}
	}
}

// TestLooksForImpostors holds that the page does not say that it looked for impostors where hardly an address could be compared.
func TestLooksForImpostors(t *testing.T) {
	for _, c := range []struct {
		facts     Facts
		not, note string
	}{
		{Facts{}, "there are no lists of addresses, with -ranges", ""},
		{Facts{Addresses: true}, "", ""},
		{Facts{Addresses: true, Compared: 3, Unlisted: 900}, "", ""},
		{Facts{Addresses: true, Unlisted: 9}, "-ranges has no list of these crawlers, or their addresses tell nothing", ""},
		{Facts{Addresses: true, Stale: 1, Unlisted: 9}, "the lists of -ranges are of another time than 1 of 1 request", "not in 1 request, as the lists of -ranges are of another time"},
		{Facts{Addresses: true, Stale: 1000, Compared: 1}, "the lists of -ranges are of another time than 1,000 of 1,001 requests", "not in 1,000 requests, as the lists of -ranges are of another time"},
		{Facts{Addresses: true, Stale: 9, Compared: 1}, "", "not in 9 requests, as the lists of -ranges are of another time"},
	} {
		f := c.facts
		f.FromLog = true
		looks := Looks(&f)
		i := slices.IndexFunc(looks, func(l Look) bool { return l.What == "impostors" })
		if got := looks[i]; got.Not != c.not || got.Note != c.note {
			t.Errorf("%+v: got %+v", c.facts, got)
		}
	}
}

// TestUnlike holds that operators are not accused by a robots.txt that the answers in the log contradict.
func TestUnlike(t *testing.T) {
	for _, unlike := range []bool{false, true} {
		f := days(14)
		f.addCrawler("GPTBot", func(int) int64 { return 100 })
		f.Crawlers[0].Violations, f.Unlike = 30, unlike
		one := violated(f)[0]
		if accuses := strings.Contains(one.Do, "tell the operators"); accuses == unlike || strings.Contains(one.Text, "contradict") != unlike {
			t.Errorf("%t: %+v", unlike, one)
		}
		if knew := Looks(f)[3]; (knew.Note != "") != unlike {
			t.Errorf("%t: %+v", unlike, knew)
		}
	}
}

// TestFallsSeen holds that the page says in which part of a log a crawler that stopped is found, and that it is found from the first
// of these days to the last, and that neither a stop nor a fall is found on others.
func TestFallsSeen(t *testing.T) {
	const why = ", as the log has too few days before or after to compare"
	for n, want := range map[int][2]string{1: {}, 7: {}, 14: {"2026-01-05", "2026-01-12"}, 28: {"2026-01-10", "2026-01-25"}, 60: {"2026-01-19", "2026-02-26"}} {
		if look := Looks(days(n))[7]; look.Note != "" && look.Note != "only if that began from "+want[0]+" to "+want[1]+why || (look.Not == "the log has less than 8 days, and less than 48 hours") != (want[0] == "") {
			t.Errorf("%d days: %+v, want %s", n, look, want)
		}
		for fall := range n {
			for _, after := range []int64{0, 60} {
				f := days(n)
				f.addCrawler("bingbot", func(day int) int64 { return map[bool]int64{true: 1285, false: after}[day < fall] })
				at := f.start(fall).Format(time.DateOnly)
				if found := resting(f); len(found) > 0 && (at < want[0] || at > want[1]) || after == 0 && len(found) == 0 && at >= want[0] && at <= want[1] {
					t.Errorf("%d days, from %s on %d a day: %+v", n, at, after, found)
				}
			}
		}
	}
}

// TestOneOrigin holds that a page of one site does not name it, and that a URL that is cut off has no stop behind it.
func TestOneOrigin(t *testing.T) {
	for _, one := range []bool{false, true} {
		f := days(14)
		f.OneOrigin = one
		f.addCrawler("GPTBot", func(int) int64 { return 100 })
		f.Crawlers[0].Violations, f.Broken = 30, violations.Broken{Origin: "https://a.example", Rule: "Disallow: /a", Line: 2, Violations: 30}
		f.Spaces = []Space{{On: "filters", Origin: "https://a.example", Names: []string{"x"}, Requests: 900, URLs: 800, Example: strings.Repeat("/long", 20), By: []Part{{"GPTBot", 900, 1000}}}}
		f.Changes = []Change{{Origin: "https://a.example", At: f.From, Added: []string{"x"}, Requests: 9}}
		found, _ := Find(f)
		if len(found) != 3 {
			t.Fatalf("%+v", found)
		}
		for _, one := range found {
			if strings.Contains(one.Text, "https://a.example") == f.OneOrigin || strings.Contains(one.Text, "….") || strings.Contains(one.Text, ",,") {
				t.Errorf("of one origin %t: %s", f.OneOrigin, one.Text)
			}
		}
	}
}

// TestFewViolations holds that violations are told of that are too few for a finding.
func TestFewViolations(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1: "The log has 1 violation: from 20 on they are a finding.", 19: "The log has 19 violations: from 20 on they are a finding.", 20: ""} {
		if got := FewViolations(nil, n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := FewViolations([]Finding{{}}, 3); got != "" {
		t.Errorf("beside a finding: %q", got)
	}
}

// TestNothing holds that facts of nothing are no finding, and that all is said to be not looked for.
func TestNothing(t *testing.T) {
	if found, more := Find(&Facts{}); len(found)+more > 0 {
		t.Errorf("found are %+v", found)
	}
	for _, look := range Looks(&Facts{}) {
		if look.Not == "" {
			t.Errorf("looked for %s", look.What)
		}
	}
}

// TestIdle holds how many requests a text needs for a finding about its rules.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		file File
		want bool
	}{
		{File{Requests: 0, Beaten: []Beaten{{2, "line 3 always wins over it: Allow: /x"}}}, false},
		{File{Requests: 1, Beaten: []Beaten{{2, "line 3 always wins over it: Allow: /x"}}}, true},
		{File{Requests: leastTried - 1, Rules: leastRules, Never: leastRules}, false},
		{File{Requests: leastTried, Rules: leastRules, Never: leastRules}, true},
		{File{Requests: leastTried, Rules: leastRules, Never: 1}, false},
		{File{Requests: leastTried, Rules: leastRules, Never: leastRules, Kept: leastRules}, false},
		{File{Requests: leastTried, Rules: leastRules, Never: leastRules, Kept: 1}, true},
		{File{Requests: leastTried, Rules: leastRules - 1, Never: leastRules - 1}, false},
	} {
		c.file.Origin = "https://a.example"
		if got := len(idle(&Facts{Files: []File{c.file}})) == 1; got != c.want {
			t.Errorf("%+v: found is %t", c.file, got)
		}
	}
}

// TestBeaten holds that the remedy names the rules that win.
func TestBeaten(t *testing.T) {
	for n, want := range map[int]string{
		1: "Line 3 always wins over it: Allow: /x1. Take out the one that is not meant.",
		2: "Line 3 always wins over line 1: Allow: /x1; line 3 always wins over line 2: Allow: /x2. Of each two, take out the one that is not meant.",
		4: "Line 3 always wins over line 1: Allow: /x1; line 3 always wins over line 2: Allow: /x2; line 3 always wins over line 3: Allow: /x3. The others stand beside their lines. Of each two, take out the one that is not meant.",
	} {
		file := File{Origin: "https://a.example", Requests: 9}
		for i := range n {
			file.Beaten = append(file.Beaten, Beaten{int32(i + 1), fmt.Sprintf("line 3 always wins over it: Allow: /x%d", i+1)})
		}
		if found := idle(&Facts{Files: []File{file}}); len(found) != 1 || found[0].Do != want {
			t.Errorf("%d: %+v, want %s", n, found, want)
		}
	}
}

// TestBeside holds that a space takes the requests of the parameters that make it, and of no others.
func TestBeside(t *testing.T) {
	space := Space{Names: []string{"sid"}, InQuery: true, Requests: 900, Example: "/a?view=1&sid=2", By: []Part{{"Googlebot", 900, 1000}}}
	for name, want := range map[string]int64{"sid": 100, "view": 1000, "id": 1000} {
		f := &Facts{Spaces: []Space{space}}
		if got := f.beside(&Parameter{Name: name, Requests: 1000}); got != want {
			t.Errorf("%s: %d requests beside the space, want %d", name, got, want)
		}
	}
	segments := space
	segments.InQuery = false
	small := space
	small.By = nil
	f := &Facts{Spaces: []Space{segments, small}}
	if got := f.beside(&Parameter{Name: "sid", Requests: 1000}); got != 1000 {
		t.Errorf("%d requests beside a space of segments, and one that is not found", got)
	}
}

// TestShut holds which path, rule and number of requests a closing names: a path that is closed itself, the rule that denies most
// requests, and a number that is exact or a lower bound.
func TestShut(t *testing.T) {
	libs := []Asked{{"/libs/a.php", 625, 0}, {"/libs/a.js", 104, 0}, {"/libs/a.png", 3, 0}}
	talks := []Asked{{"/talks/logs-1/a", 1100, 0}, {"/talks/logs-2/b", 986, 0}, {"/talks/logs-3/c", 100, 0}, {"/talks/", 22, 0}}
	images := []Asked{{"/images/a.png", 700, 0}, {"/images/b.png", 291, 0}, {"/images/b.png?x", 40, 0}, {"/images/c.jpg", 9, 0}}
	for _, c := range []struct {
		name, rules string
		asked       []Asked
		dir         string
		requests    int64 // for dir
		want        string
	}{
		{"the busiest rule", "Disallow: /*.png\nDisallow: /*.js\nDisallow: /libs", libs, "/libs/", 732, "/libs/, the path of 14.6% of the site's requests: line 4, Disallow: /libs. 732 requests of all clients"},
		{"not all are known", "Disallow: /libs\nAllow: /libs/b", libs, "/libs/", 1732, "/libs/, the path of at least 14.6% of the site's requests: line 2, Disallow: /libs. 732 requests of all clients, at least"},
		{"all are known", "Disallow: /libs\nAllow: /libs/*.png", libs, "/libs/", 732, "/libs/, the path of 14.6% of the site's requests: line 2, Disallow: /libs. 729 requests of all clients"},
		{"an Allow that loses", "Disallow: /libs\nAllow: /*.x", libs, "/libs/", 1732, "/libs/, the path of 34.6% of the site's requests: line 2, Disallow: /libs. 1732 requests of all clients"},
		{"what begins alike", "Disallow: /talks/logs", talks, "/talks/", 2208, "/talks/logs-, the path of 43.7% of the site's requests: line 2, Disallow: /talks/logs. 2186 requests of all clients"},
		{"others beside it", "Disallow: /talks/logs", talks, "/talks/", 2304, "/talks/logs-, the path of at least 43.7% of the site's requests: line 2, Disallow: /talks/logs. 2186 requests of all clients, at least"},
		{"by their ends", "Disallow: /*.png$", images, "/images/", 1040, "nearly all of /images/, the path of 19.8% of the site's requests: line 2, Disallow: /*.png$. 991 requests of all clients"},
		{"few by their ends", "Disallow: /*.jpg$", images, "/images/", 1040, ""},
	} {
		f := days(14)
		f.addCrawler("Googlebot", func(int) int64 { return 300 })
		f.Dialect, f.OneOrigin = robots.Google, true
		body := []byte("User-agent: *\n" + c.rules + "\n")
		f.Files = []File{{
			Origin: "https://0.example", Requests: 5000, Body: body, Report: robots.Inspect(body, robots.Google), AllAsked: 5000, Asked: c.asked,
			Prefixes: []Prefix{{Path: "/", Requests: 5000}, {Path: c.dir, Requests: c.requests, Sample: []string{c.asked[0].Path}}},
		}}
		var all []string
		for _, one := range closedPaths(f) {
			all = append(all, fmt.Sprint(strings.TrimPrefix(one.Text, "Googlebot may not fetch "), " ", one.Number, " ", one.Unit))
		}
		if got := strings.Join(all, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestShutAgain holds that a path that texts close one after the other is one finding, by the last of them and with the requests of
// both, if that closes it to no more crawlers, and that a finding counts no requests of another text.
func TestShutAgain(t *testing.T) {
	const past = "For a time Googlebot might not fetch /news/, the path of 20.0% of the site's requests: line 2 was Disallow: /news/. 400 requests of all clients, from 2026-01-04 to 2026-01-16, 12 days"
	for rules, want := range map[string]string{
		"User-agent: *\nDisallow: /n\n":           "Googlebot may not fetch /news/, the path of 30.0% of the site's requests: line 2, Disallow: /n. 900 requests of all clients, since 2026-01-04, for 27 days",
		"User-agent: *\nDisallow: /x\n":           past,
		"User-agent: *\nDisallow: /news/.*.htm\n": past,
		"User-agent: *\nDisallow: /*s/*.htm\n":    "Googlebot may not fetch nearly all of /news/, the path of at least 48.0% of the site's requests: line 2, Disallow: /*s/*.htm. 480 requests of all clients, at least, since 2026-01-16, for 15 days",
	} {
		f := days(30)
		f.addCrawler("Googlebot", func(int) int64 { return 100 })
		f.Dialect, f.Dated, f.OneOrigin = robots.Google, true, true
		for i, body := range []string{"User-agent: *\nDisallow: /news/\n", rules} {
			within := []int64{400, 500}[i]
			f.Files = append(f.Files, File{
				Origin: "https://0.example", Requests: 1000, Body: []byte(body), Report: robots.Inspect([]byte(body), robots.Google), First: f.From.AddDate(0, 0, 3+12*i), Last: f.From.AddDate(0, 0, 15*i+15),
				Changing: true, AllAsked: 3000, Asked: []Asked{{"/news/1.htm", 800, within - 20}, {"/news/2.htm", 20, 0}},
				Prefixes: []Prefix{{Path: "/", Requests: 3000, Within: 2000 - 1000*int64(i)}, {Path: "/news/", Requests: 900, Within: within, Sample: []string{"/news/1.htm"}}},
			})
		}
		var all []string
		for _, one := range closedPaths(f) {
			all = append(all, fmt.Sprint(one.Text, " ", one.Number, " ", one.Unit, ", ", one.When))
		}
		if got := strings.Join(all, "; "); got != want {
			t.Errorf("%s: %q, want %q", rules, got, want)
		}
	}
}

// TestPassing holds that a closing that ended is told of only if it came in the time of the log, and a text that is meant for the site
// opened the path.
func TestPassing(t *testing.T) {
	const opens = "User-agent: *\nDisallow: /x\n"
	for _, c := range []struct {
		name  string
		from  int    // the day on which the closing came; 0 is the first of the log
		after string // the text that followed; "" is not known
		again string // that which followed on it
		want  bool
	}{
		{"came and went", 3, opens, opens, true},
		{"opened to one", 3, "User-agent: *\nDisallow: /\nUser-agent: bingbot\nDisallow: /x\n", "User-agent: *\nDisallow: /\nUser-agent: bingbot\nDisallow: /x\n", true},
		{"opened after an HTML page", 3, "<!DOCTYPE html><html><body>Sorry</body></html>", opens, true},
		{"always there", 0, opens, opens, false},
		{"lost to an HTML page", 3, "<!DOCTYPE html><html><body>Sorry</body></html>", "", false},
		{"lost to an error", 3, "", "", false},
		{"lost to a test site's", 3, opens + "Sitemap: https://staging.0.example/sitemap.xml\n", "", false},
		{"the site was closed", 3, "User-agent: *\nDisallow: /\n", "", false},
	} {
		f := days(30)
		f.addCrawler("Googlebot", func(int) int64 { return 100 })
		f.addCrawler("bingbot", func(int) int64 { return 100 })
		f.Dialect, f.Dated, f.OneOrigin = robots.Google, true, true
		for i, body := range []string{"User-agent: *\nDisallow: /news/\n", c.after, c.again} {
			file := File{
				Origin: "https://0.example", Requests: 1000, First: f.From.AddDate(0, 0, max(c.from, 10*i)), Last: f.From.AddDate(0, 0, 10*i+10), Changing: true, AllAsked: 3000,
				Asked: []Asked{{"/news/1", 900, 300}}, Prefixes: []Prefix{{Path: "/", Requests: 3000, Within: 1000}, {Path: "/news/", Requests: 900, Within: 300, Sample: []string{"/news/1"}}},
			}
			if body != "" {
				file.Body, file.Report = []byte(body), robots.Inspect([]byte(body), robots.Google)
			}
			f.Files = append(f.Files, file)
		}
		found, _ := Find(f)
		got := slices.ContainsFunc(found, func(one Finding) bool {
			return one.Text == "For a time Googlebot and bingbot might not fetch /news/, the path of 30.0% of the site's requests: line 2 was Disallow: /news/."
		})
		if got != c.want || got != slices.ContainsFunc(found, func(one Finding) bool { return one.Kind == ClosedPath }) {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

// TestEveryone holds that the rules for crawlers that no group names are findings where no search crawler is judged: of a whole site
// whoever is judged, and of paths if these crawlers are.
func TestEveryone(t *testing.T) {
	const (
		all   = "Crawlers that no group names may fetch nothing: line 2 of robots.txt, Disallow: /, closes the whole site."
		news  = "Crawlers that no group names may not fetch /news/, the path of 30.0% of the site's requests: line 2, Disallow: /news/."
		lets  = "User-agent: *\nDisallow: /\nUser-agent: Googlebot\nDisallow:\n"
		shuts = "User-agent: *\nDisallow: /\n"
		path  = "User-agent: *\nDisallow: /news/\n"
		looks = "search crawlers that are shut out of a site or of its busiest paths"
		paths = "sites and their busiest paths that are closed to crawlers that no group names"
		sites = "sites that are closed to crawlers that no group names, and to search crawlers"
	)
	for _, c := range []struct{ name, crawlers, origin, text, want, looks string }{
		{"all", "*", "https://0.example", shuts, all, paths},
		{"all but Googlebot", "*", "https://0.example", lets, all, paths},
		{"open", "*", "https://0.example", "User-agent: *\nDisallow:\n", "", paths},
		{"a test site", "*", "https://staging.example", shuts, "", paths},
		{"for another", "GPTBot", "https://0.example", shuts, all, sites},
		{"for another, all but Googlebot", "GPTBot", "https://0.example", lets, "", sites},
		{"for nobody", "", "https://0.example", shuts, all, sites},
		{"for Googlebot", "Googlebot *", "https://0.example", lets, "", looks},
		{"a path", "* GPTBot", "https://0.example", path, news, paths},
		{"a path on purpose", "*", "https://0.example", "User-agent: *\nDisallow: /search/\n", "", paths},
		{"a path of another group", "*", "https://0.example", "User-agent: Googlebot\nDisallow: /news/\n", "", paths},
		{"a path, for another", "GPTBot", "https://0.example", path, "", sites},
	} {
		f := days(30)
		for _, name := range strings.Fields(c.crawlers) {
			f.addCrawler(name, func(int) int64 { return 100 })
			f.Crawlers[len(f.Crawlers)-1].Search = name == "Googlebot"
		}
		f.FromLog, f.Dialect, f.OneOrigin = false, robots.Google, true
		made := map[string]int64{"*": 900}
		f.Files = []File{{
			Origin: c.origin, Requests: 3000, Body: []byte(c.text), Report: robots.Inspect([]byte(c.text), robots.Google), Link: "rules", AllAsked: 3000, Asked: []Asked{{"/news/1", 900, 900}, {"/search/1", 900, 900}},
			Prefixes: []Prefix{{"/", 3000, 3000, made, nil}, {"/news/", 900, 900, made, []string{"/news/1"}}, {"/search/", 900, 900, made, []string{"/search/1"}}},
		}}
		var texts []string
		found, _ := Find(f)
		for _, one := range found {
			texts = append(texts, one.Text)
			if strings.HasSuffix(one.Text, "closes the whole site.") && (one.Number != 3000 || one.Unit != "requests of all clients" || !strings.HasPrefix(one.Do, "Unless these crawlers shall stay away, ")) {
				t.Errorf("%s: %+v", c.name, one)
			}
		}
		if got := strings.Join(texts, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := Looks(f)[0].What; got != c.looks {
			t.Errorf("%s: looked for %s, want %s", c.name, got, c.looks)
		}
	}
}

// TestShares holds the sentence about the requests that several crawlers made where they may fetch nothing.
func TestShares(t *testing.T) {
	all := []Part{{"a", 40, 100}, {"b", 30, 100}, {"c", 12, 100}, {"d", 20, 100}}
	for n, want := range []string{
		"", "",
		" While they might, they made 40.0% (a) and 30.0% (b) of their requests there.",
		" While they might, they made 40.0% (a), 30.0% (b) and 12.0% (c) of their requests there.",
		" While they might, they made 40.0% (a), 30.0% (b) and at least 12.0% (2 others) of their requests there.",
	} {
		if got := (&closing{made: all[:n]}).shares(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNamed holds that a crawler that a text does not name any more did not stop, as its requests go on without its name, and that
// one that all texts name did.
func TestNamed(t *testing.T) {
	const named, other = "User-agent: tiny\nDisallow: /x\n", "User-agent: *\nDisallow: /x\n"
	for _, c := range []struct {
		isNamed bool // only by texts
		first   string
		last    string
		want    string
	}{
		{true, named, other, "[]"}, {true, other, named, "[]"}, {true, named, named, "[stopped]"}, {false, named, other, "[stopped]"}, {true, named, "", "[]"},
	} {
		f := days(60)
		f.Dialect = robots.Google
		f.addCrawler("tiny", func(day int) int64 { return map[bool]int64{true: 100, false: 0}[day < 40] })
		f.Crawlers[0].Named = c.isNamed
		for _, body := range []string{c.first, c.last} {
			file := File{Origin: "https://0.example", Body: []byte(body), Report: robots.Inspect([]byte(body), robots.Google), Changing: true}
			if body == "" {
				file.Body, file.Report = nil, nil // it is not known
			}
			f.Files = append(f.Files, file)
		}
		kinds := []string{}
		for _, one := range resting(f) {
			kinds = append(kinds, one.Kind.String())
		}
		if got := fmt.Sprint(kinds); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestDraft holds that violations of a draft's page are told of as those of the rules before.
func TestDraft(t *testing.T) {
	for draft, want := range map[bool]string{true: "GPTBot fetched what the rules before disallow to it: 30 times.", false: "GPTBot fetched what robots.txt disallows to it: 30 times."} {
		f := days(14)
		f.Draft = draft
		f.addCrawler("GPTBot", func(int) int64 { return 100 })
		f.Crawlers[0].Violations = 30
		if found := violated(f); len(found) != 1 || found[0].Text != want {
			t.Errorf("%+v, want %s", found, want)
		}
		if note := Looks(f)[0].Note; (note == "by the draft, which no crawler was sent") != draft {
			t.Errorf("draft %t: %s", draft, note)
		}
	}
}

// TestFailingPath holds the sentence about a path that fails, that a robots.txt that is lost ranks below it unless it fails for no search
// crawler, that its answers are in no other finding, and that those of a path that was repaired, or of a small one, are.
func TestFailingPath(t *testing.T) {
	const (
		path   = "/docs/ answers 502 to %s since 2026-01-11 04:10: 700 of 700 requests of Googlebot, 300 of 300 of bingbot and 100 of 100 of GPTBot."
		page   = "What the site sends as robots.txt is an HTML page, so crawlers find no rules in it and may fetch everything."
		usual  = "23.3% of the requests of Googlebot in that time and 10.0% of those of bingbot were answered by an error of the server (5xx)."
		beside = "80.0% of the requests of Googlebot in that time were answered by an error of the server (5xx)."
	)
	for _, c := range []struct {
		name   string
		change func(o *Outage, f *Facts)
		want   []string
	}{
		{"for all", func(*Outage, *Facts) {}, []string{strings.Replace(path, "%s", "every crawler", 1), page}},
		{"for three", func(o *Outage, _ *Facts) { o.Every = false }, []string{strings.Replace(path, "%s", "Googlebot, bingbot and GPTBot", 1), page}},
		{"for one", func(o *Outage, f *Facts) {
			o.By, o.Path, f.Crawlers, o.By[0].Of = o.By[:1], "/", f.Crawlers[:1], 800
		}, []string{"Nearly all pages answer 502 to Googlebot since 2026-01-11 04:10: 700 of 800 requests.", page}},
		{"for no search crawler", func(_ *Outage, f *Facts) {
			for i := range f.Crawlers {
				f.Crawlers[i].Search = false
			}
		}, []string{page, strings.Replace(path, "%s", "every crawler", 1)}},
		{"repaired", func(o *Outage, f *Facts) { o.To = f.To.AddDate(0, 0, -2) }, []string{page, usual}},
		{"others beside it", func(_ *Outage, f *Facts) {
			for day := range f.Crawlers[0].Points[10:] {
				f.Crawlers[0].Points[10+day].Failed += 460
				f.Crawlers[0].Failed += 460
			}
		}, []string{beside, strings.Replace(path, "%s", "every crawler", 1), page}},
	} {
		f := days(14)
		f.OneOrigin, f.Dialect = true, robots.Google
		o := Outage{Origin: "https://0.example", Path: "/docs/", From: f.From.AddDate(0, 0, 10).Add(4*time.Hour + 10*time.Minute), To: f.To, Every: true}
		for i, name := range []string{"Googlebot", "bingbot", "GPTBot"} {
			f.addCrawler(name, func(int) int64 { return 750 })
			one := &f.Crawlers[i]
			one.Answered = one.Requests
			failed := Failed{Part: Part{name, []int64{700, 300, 100}[i], []int64{700, 300, 100}[i]}, Statuses: map[int64]int64{502: []int64{700, 300, 100}[i]}}
			for day := 10; day < 14; day++ {
				n := failed.Of / 4
				one.Points[day].Failed, one.Failed = n, one.Failed+n
				failed.Hours = append(failed.Hours, replies.Hour{At: f.Starts[day] + 7200, Answered: n, Failed: n})
			}
			o.By = append(o.By, failed)
		}
		html := []byte("<!DOCTYPE html><html><head><title>Sorry</title></head><body>Not here</body></html>")
		f.Files = []File{{Origin: o.Origin, Requests: 900_000, Body: html, Report: robots.Inspect(html, robots.Google), First: f.From.AddDate(0, 0, 5), Last: f.To, Link: "rules"}}
		c.change(&o, f)
		f.Outages = []Outage{o}
		found, _ := Find(f)
		var got []string
		for _, one := range found {
			got = append(got, one.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found are\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestCenturies holds how long something lasted where a time.Duration would end, after 292 years.
func TestCenturies(t *testing.T) {
	date := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	f := &Facts{From: date(1), To: date(9999)}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{1, 9999, "in the whole log of 3,651,694 days"},
		{1000, 9999, "since 1000-01-01, for 3,286,817 days"},
		{1000, 2000, "from 1000-01-01 to 2000-01-01, 365,242 days"},
	} {
		if got := f.when(date(c.from), date(c.to)); got != c.want {
			t.Errorf("%d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}
