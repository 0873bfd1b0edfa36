package waste

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAddURL compares with sets of URLs and paths.
func TestAddURL(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 5))
	requests := map[string]int64{}
	for range 20_000 {
		url := fmt.Sprintf("https://a%d.example/p%d", rng.IntN(3), rng.IntN(40))
		var pairs []string
		for range rng.IntN(4) {
			pairs = append(pairs, []string{"sort", "page", "q", "", "a*b", strings.Repeat("x", 70)}[rng.IntN(6)]+[]string{"=" + strconv.Itoa(rng.IntN(9)), "", "=x=y", "=1;page=2"}[rng.IntN(4)])
		}
		if len(pairs) > 0 {
			url += "?" + strings.Join(pairs, []string{"&", "&&"}[rng.IntN(2)])
		}
		if rng.IntN(5) == 0 {
			url += "#sort=1"
		}
		requests[url] += int64(rng.IntN(4))
	}
	type set struct {
		requests, bare int64
		urls, paths    map[string]bool
	}
	want, all := map[string]*set{}, int64(0)
	var c Counts
	order := slices.Sorted(maps.Keys(requests))
	slices.SortStableFunc(order, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
	for _, url := range order {
		n := requests[url]
		c.AddURL([]byte(url), len(pathOf(url)), Asked{Requests: n, Served: 1})
		_, rest, _ := strings.Cut(url, "?")
		query, _, _ := strings.Cut(rest, "#")
		if strings.Contains(pathOf(url), "#") || n == 0 || query == "" {
			continue
		}
		all += n
		names := map[string]bool{}
		sep := "&"
		if bySemicolon.MatchString(query) {
			sep = ";"
		}
		for _, pair := range strings.Split(query, sep) {
			if name, _, _ := strings.Cut(pair, "="); name != "" && len(name) <= maxName {
				names[name] = true
			}
		}
		for name := range names {
			if want[name] == nil {
				want[name] = &set{urls: map[string]bool{}, paths: map[string]bool{}}
			}
			want[name].requests += n
			if _, isAsked := requests[pathOf(url)]; isAsked {
				want[name].bare++
			}
			want[name].urls[url], want[name].paths[pathOf(url)] = true, true
		}
	}
	rows, more := c.Rows()
	if len(rows) != len(want) || more != 0 || c.Requests != all {
		t.Errorf("%d names, and %d; %d requests, want %d names and %d", len(rows), more, c.Requests, len(want), all)
	}
	for _, p := range rows {
		if w := want[p.Name]; w == nil || p.Requests != w.requests || p.Bare != w.bare || p.URLs != int64(len(w.urls)) || p.Paths != int64(len(w.paths)) {
			t.Errorf("%+v, want %+v", p, w)
		}
	}
}

// bySemicolon is a query whose parameters ";" separates.
var bySemicolon = regexp.MustCompile(`^[\w.\[\]-]+=[^&;]*(;[\w.\[\]-]+=[^&;]*)+$`)

// TestSeparators holds which byte separates the parameters of a query, and the rules that follow from it.
func TestSeparators(t *testing.T) {
	for query, want := range map[string]string{
		"a=1": "& 0", "a=1&b=2": "& 1", "a=1;b=2": "; 2", "a=1;b=2;c[]=": "; 2", "q=red;blue": "& 0", "a=1;b=2&c": "& 1", "a=1;": "& 0", "a=1;=2": "& 0", "t=x;a b=1": "& 0", "topic=1.0;wap2": "& 0",
	} {
		sep, of := byteOf([]byte(query))
		if got := fmt.Sprintf("%c %d", sep, of); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for of, want := range []string{"[Disallow: /*?a= Disallow: /*&a=]", "[Disallow: /*?a= Disallow: /*&a=]", "[Disallow: /*?a= Disallow: /*;a=]", "[Disallow: /*?a= Disallow: /*&a= Disallow: /*;a=]"} {
		if got := fmt.Sprint((&Parameter{Name: "a", seps: seps(of)}).Rules()); got != want {
			t.Errorf("%d: %s, want %s", of, got, want)
		}
	}
}

// TestAspID holds which segments have ids of ASP.NET.
func TestAspID(t *testing.T) {
	for path, want := range map[string]string{
		"/(S(lit3py55t21z5v55vlm25s55))/a.aspx":          "(S( lit3py55t21z5v55vlm25s55",
		"/app/(X(1)S(lit3py55t21z5v55vlm25s55))/a.aspx":  "(X(1)S( lit3py55t21z5v55vlm25s55",
		"/(x)/(F(aB3dE5gH7jK9mN1pQ3s)S(lit3py55t21z5))/": "(F( aB3dE5gH7jK9mN1pQ3s",
		"/(S(n))/a": "", "/a(S(lit3py55t21z5v55vlm25s55))/a": "", "/(S(lit3py55t21z5v55vlm25s55)/a": "", "/(lit3py55t21z5v55vlm25s55)/a": "", "/((((((((": "", "/(S(": "", "/(A))/x": "", "/(A(": "",
	} {
		name, id := aspID([]byte(path))
		if got := strings.TrimSpace(string(name) + " " + string(id)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// pathOf returns the part of a URL before its query or fragment.
func pathOf(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		return url[:i]
	}
	return url
}

// TestNames holds that memory is bounded, and that a rule stands for no other URLs than those of its parameter.
func TestNames(t *testing.T) {
	var c Counts
	for i := range 2 * maxNames {
		c.AddURL(fmt.Appendf(nil, "/?n%d=1", i), 1, Asked{Requests: 1, Served: 1})
	}
	if rows, more := c.Rows(); len(rows)+int(more) != maxNames || c.Others != maxNames || c.Requests != 2*maxNames {
		t.Errorf("%d names, %d others", len(rows)+int(more), c.Others)
	}
	for name, want := range map[string]int{"sort": 2, "a*b": 0, "x$": 0, "%73ort": 0, "": 0, "é": 0, "f[]": 2} {
		if got := (&Parameter{Name: name}).Rules(); len(got) != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// TestOneSplitter holds that the counts by name, the spaces and the Clean-param lines see the same parameters.
func TestOneSplitter(t *testing.T) {
	const query = "a=1;b=2&c&d=&&=x&" + "e=1=2"
	var c Counts
	c.AddURL([]byte("https://a.example/?"+query), len("https://a.example/"), Asked{Requests: 1, Served: 1})
	rows, _ := c.Rows()
	names := map[string]bool{}
	for _, p := range rows {
		names[p.Name] = true
	}
	var u parts
	u.findPairs([]byte(query))
	if got, want := fmt.Sprintf("%q", u.pairs), `[{"a" "1;b=2"} {"d" ""} {"e" "1=2"}]`; got != want || !maps.Equal(names, map[string]bool{"a": true, "c": true, "d": true, "e": true}) {
		t.Errorf("%s, want %s; names %v", got, want, names)
	}
	var cleaned Cleaned
	cleaned.AddURL([]byte("https://a.example/?"+query), []byte("https://a.example/?c&d=&&=x&e=1=2"))
	if !maps.Equal(cleaned.names, map[string]bool{"a": true}) {
		t.Errorf("cleaned are %v", cleaned.names)
	}
}

// TestPages holds which parameters have pages as values: by how many URLs have the same value, by the requests for their paths
// without them, and by the parameters beside them.
func TestPages(t *testing.T) {
	for name, test := range map[string]struct {
		url    func(i int) string
		served int64 // requests for each path without a query
		want   string
	}{
		"topics, a scanner":   {func(i int) string { return fmt.Sprintf("/viewtopic.php?t=%d", i) }, 1, "t true"},
		"topics":              {func(i int) string { return fmt.Sprintf("/viewtopic.php?t=%d", i) }, 900, "t true"},
		"boards and topics":   {func(i int) string { return fmt.Sprintf("/index.php?board=%d&topic=%d", i%20, i) }, 900, "board true, topic true"},
		"lists":               {func(i int) string { return fmt.Sprintf("/c%d?page=%d", i%40, i/40) }, 900, "page true"},
		"forums, a scanner":   {func(i int) string { return fmt.Sprintf("/f?f=%d&from=%d", i%60, i/60) }, 1, "f true, from true"},
		"views":               {func(i int) string { return fmt.Sprintf("/c%d?view=%d", i%40, i/40) }, 90, "view false"},
		"views of a scanner":  {func(i int) string { return fmt.Sprintf("/c%d?view=%d", i%40, i/40) }, 0, "view true"},
		"two views of a path": {func(i int) string { return fmt.Sprintf("/c?tab=%d&view=%d", i%60, i/60) }, 90, "tab false, view false"},
		"few of each path":    {func(i int) string { return fmt.Sprintf("/c%d?t=%d", i/9, i) }, 0, "t false"},
		"campaigns":           {func(i int) string { return fmt.Sprintf("/c%d?gclid=%d", i%40, i) }, 90, "gclid false"},
		"many parameters": {func(i int) string {
			return "/c?a=" + strconv.Itoa(i%9) + strings.Repeat("&b=1&x"+strconv.Itoa(i)+"=1", 20)
		}, 90, ""},
	} {
		var urls []string
		for i := range 4000 {
			urls = append(urls, "https://a.example"+test.url(i))
		}
		slices.Sort(urls)
		var c Counts
		path := ""
		for _, url := range urls {
			if pathOf(url) != path {
				path = pathOf(url)
				c.AddURL([]byte(path), len(path), Asked{Served: test.served})
			}
			c.AddURL([]byte(url), len(path), Asked{Requests: 1, Served: 1})
		}
		rows, _ := c.Rows()
		var got []string
		for _, p := range rows {
			got = append(got, fmt.Sprint(p.Name, " ", p.Pages))
		}
		if test.want != "" && strings.Join(got, ", ") != test.want {
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
		var c Counts
		for n, sizes := range test.sizes {
			path := fmt.Sprintf("https://a.example/p%d", n)
			c.AddURL([]byte(path), len(path), Asked{Served: 1, Size: test.bare})
			for i, size := range sizes {
				c.AddURL(fmt.Appendf(nil, "%s?v=%d", path, i), len(path), Asked{Requests: 1, Served: 1, Size: size})
			}
		}
		if rows, _ := c.Rows(); len(rows) != 1 || rows[0].Sized != test.sized || rows[0].Same != test.one {
			t.Errorf("%s: %+v, want %d of %d", name, rows[0], test.one, test.sized)
		}
	}
}

// TestDistinct holds that the estimate of different texts is near their number, and that memory is bounded.
func TestDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 90, mostDistinct, 1000, 100_000} {
		var d distinct
		for i := range 2 * n {
			d.addText(strconv.AppendInt(nil, int64(i%n), 10))
		}
		if got := d.items(); got < int64(n)*2/3 || got > int64(n)*3/2 || n <= mostDistinct && got != int64(n) || len(d.all) > mostDistinct {
			t.Errorf("%d, want about %d", got, n)
		}
	}
}
