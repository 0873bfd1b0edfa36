package engine

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// responses yields a response for each pair of an origin and a text.
func responses(pairs ...string) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for i := 0; i < len(pairs); i += 2 {
			r := robots.Response{Status: 200, Origin: robots.Origin(pairs[i]), Name: fmt.Sprintf("file%d", i/2), Body: []byte(pairs[i+1])}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func buildStore(tb testing.TB, opt StoreOptions, pairs ...string) *Store {
	tb.Helper()
	s, err := BuildStore(responses(pairs...), opt)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// appendRow appends a row to a batch. An empty URL stands for a line that was too long.
func appendRow(b *Batch, url string, line int64) {
	span := NoURL
	if url != "" {
		span = Span{uint32(len(b.Data)), uint32(len(url))}
	}
	b.Data = append(b.Data, url...)
	b.URLs = append(b.URLs, span)
	b.Lines = append(b.Lines, line)
}

func newBatch(urls ...string) *Batch {
	b := &Batch{}
	for i, url := range urls {
		appendRow(b, url, int64(i+1))
	}
	return b
}

// describe describes row i of a batch, in one line for each agent.
func describe(s *Store, b *Batch, i int) string {
	var w strings.Builder
	look := s.NewLookup()
	look.Use(b)
	stray, isStray := b.Sites[i].Stray()
	switch {
	case b.Sites[i] == NoSite:
		w.WriteString("-")
	case isStray:
		fmt.Fprintf(&w, "stray %s", b.Strays[stray])
	case b.Rulings[i] == rules.NoRobots: // not fetched yet at that time
		fmt.Fprintf(&w, "stray %s", look.Origin(b.Sites[i]))
	default:
		fmt.Fprintf(&w, "%s", look.Origin(b.Sites[i]))
	}
	n := len(s.Options().Agents)
	for a, v := range b.Verdicts[i*n : (i+1)*n] {
		rule := robots.Rule{}
		if v.Rule != NoRule {
			rule = look.Rule(b.Rulings[i], a, v.Rule)
		}
		w.WriteString(verdictText(v, rule))
	}
	return w.String()
}

// evaluateCases evaluates all URLs as one batch and compares the answers.
func evaluateCases(t *testing.T, s *Store, cases [][2]string) {
	t.Helper()
	b := &Batch{}
	for i, c := range cases {
		appendRow(b, c[0], int64(i+1))
	}
	s.NewEvaluator().Evaluate(b)
	for i, c := range cases {
		if got := describe(s, b, i); got != c[1] {
			t.Errorf("%q:\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

func TestEvaluate(t *testing.T) {
	const text = "User-agent: *\nDisallow: /private # not for all\nAllow: /dir/index.html\nDisallow: /dir/\n" +
		"User-agent: GPTBot\nDisallow: /\nAllow: /robots.txt$\n"
	names := []string{"*", "GPTBot/1.2"}
	pairs := []string{
		"https://a.com", text,
		"https://a.com:8443", "User-agent: GPTBot\nDisallow:\n",
		"http://a.com", "",
		"https://xn--bcher-kva.example", "User-agent: *\nDisallow: /\n",
	}
	t.Run("rfc9309", func(t *testing.T) {
		evaluateCases(t, buildStore(t, StoreOptions{Dialect: robots.RFC9309, Agents: names}, pairs...), [][2]string{
			{"https://a.com/private/x", "https://a.com | deny rule 2 Disallow: /private | deny rule 6 Disallow: /"},
			{"https://a.com/%70rivate", "https://a.com | deny rule 2 Disallow: /private | deny rule 6 Disallow: /"},
			{"https://a.com/public", "https://a.com | allow default | deny rule 6 Disallow: /"},
			{"https://a.com/robots.txt", "https://a.com | allow robots_txt | allow robots_txt"},
			{"https://a.com/robots.txt?x", "https://a.com | allow robots_txt | allow robots_txt"},
			{"https://a.com/robots.txt/x", "https://a.com | allow default | deny rule 6 Disallow: /"},
			{"https://a.com/dir/", "https://a.com | deny rule 4 Disallow: /dir/ | deny rule 6 Disallow: /"},
			{"https://a.com:8443/x", "https://a.com:8443 | allow no_group | allow default"},
			{"https://a.com:8443/robots.txt", "https://a.com:8443 | allow robots_txt | allow robots_txt"},
			{"http://a.com/private", "http://a.com | allow no_group | allow no_group"},
			{"https://b.com/robots.txt", "stray https://b.com | allow no_robots | allow no_robots"},
			{"https://bücher.example/", "https://xn--bcher-kva.example | deny rule 2 Disallow: / | deny rule 2 Disallow: /"},
		})
	})
	t.Run("google", func(t *testing.T) {
		evaluateCases(t, buildStore(t, StoreOptions{Dialect: robots.Google, Agents: names}, pairs...), [][2]string{
			{"https://a.com/%70rivate", "https://a.com | allow default | deny rule 6 Disallow: /"},
			{"https://a.com/robots.txt", "https://a.com | allow default | allow rule 7 Allow: /robots.txt$"},
			{"https://a.com/dir/", "https://a.com | allow rule 3 Allow: /dir/index.html | deny rule 6 Disallow: /"},
			{"https://a.com/dir/index.html", "https://a.com | allow rule 3 Allow: /dir/index.html | deny rule 6 Disallow: /"},
			{"https://a.com/dir/x", "https://a.com | deny rule 4 Disallow: /dir/ | deny rule 6 Disallow: /"},
		})
	})
}

// TestEvaluateOrigins has URLs with everything that can surround an origin, each after a URL with the same beginning.
func TestEvaluateOrigins(t *testing.T) {
	s := buildStore(t, StoreOptions{}, "https://a.com", "User-agent: *\nDisallow: /x\nDisallow: /?q\n", "https://a.community", "User-agent: *\nDisallow: /\n")
	const none, x = "https://a.com | allow default", "https://a.com | deny rule 2 Disallow: /x"
	evaluateCases(t, s, [][2]string{
		{"https://a.com", none},
		{"https://a.com/x", x},
		{"https://a.com:443/x", x},
		{"https://a.com:443", none},
		{"https://a.com:4430/x", "stray https://a.com:4430 | allow no_robots"},
		{"https://a.com/x#y", x},
		{"https://a.com#/x", none},
		{"https://a.com?q", "https://a.com | deny rule 3 Disallow: /?q"},
		{"https://a.com;x", none},
		{"https://a.com", none},
		{"https://a.community/", "https://a.community | deny rule 2 Disallow: /"},
		{"https://a.com/", none},
		{"https://a.com@b.com/x", "stray https://b.com | allow no_robots"},
		{"https://user:pw@a.com/x", x},
		{"https://user:pw@a.com", none},
		{"https://user:pw@a.com:1/x", "stray https://a.com:1 | allow no_robots"},
		{"HTTPS://A.COM/x", x},
		{"HTTPS://A.COM./x", x},
		{"HTTPS://A.COM", none},
		{"", "- | unknown bad_url"},
		{"https://A.COM/x", x},
		{"https:///x", "- | unknown bad_url"},
		{"https://a.com/x", x},
		{"https://a.com:x/x", "- | unknown bad_url"},
		{"https://a.com:0", "- | unknown bad_url"},
		{"https://a.com\\x/x", "- | unknown bad_url"},
		{"/x", "- | unknown bad_url"},
		{"https://a.com/x", x},
		{"https://[::1]/", "stray https://[::1] | allow no_robots"},
		{"https://[0:0::1]:443/", "stray https://[::1] | allow no_robots"},
		{"https://[::1", "- | unknown bad_url"},
	})
}

// TestEvaluateStrays checks that consecutive rows of an origin without rules share an entry, that the evaluator forgets
// it at the end of the batch, and that a batch can be reused.
func TestEvaluateStrays(t *testing.T) {
	s := buildStore(t, StoreOptions{}, "https://a.com", "User-agent: *\nDisallow: /\n")
	e := s.NewEvaluator()
	b := &Batch{}
	for round := range 3 {
		b.Reset()
		urls := []string{"https://c.com/1", "https://c.com/2", "https://b.com/", "https://c.com/3", "bad", "https://c.com/4"}
		for i, url := range urls[round:] {
			appendRow(b, url, int64(i+1))
		}
		e.Evaluate(b)
		for i, url := range urls[round:] {
			want := "stray " + url[:strings.LastIndexByte(url, '/')+1]
			want = strings.TrimSuffix(want, "/") + " | allow no_robots"
			if url == "bad" {
				want = "- | unknown bad_url"
			}
			if got := describe(s, b, i); got != want {
				t.Errorf("round %d: %s: %s, want %s", round, url, got, want)
			}
		}
		if want := []int{3, 3, 2}[round]; len(b.Strays) != want {
			t.Errorf("round %d: %d strays %q, want %d", round, len(b.Strays), b.Strays, want)
		}
	}
}

func TestEvaluateMissing(t *testing.T) {
	for missing, want := range []string{
		MissingAllow:    "stray https://b.com | allow no_robots | allow no_robots",
		MissingDisallow: "stray https://b.com | deny no_robots | deny no_robots",
		MissingUnknown:  "stray https://b.com | unknown no_robots | unknown no_robots",
	} {
		s := buildStore(t, StoreOptions{Agents: []string{"*", "a"}, Missing: Missing(missing)}, "https://a.com", "")
		evaluateCases(t, s, [][2]string{
			{"https://b.com/x", want},
			{"https://a.com/x", "https://a.com | allow no_group | allow no_group"},
			{"x", "- | unknown bad_url | unknown bad_url"},
		})
	}
}

// TestEvaluateAllocs checks that a batch needs no allocation once its slices have grown, whatever it contains.
func TestEvaluateAllocs(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, Agents: []string{"*", "GPTBot"}},
		"https://a.com", "User-agent: *\nDisallow: /*a*b$\nAllow: /dir/index.html\n",
		"https://b.com", "User-agent: *\nDisallow: /*a*b$\nDisallow: /*c\nAllow: /x*d*a\nAllow: /xx\nDisallow: /*aa\n"+manyFloating(40))
	urls := []string{
		"https://a.com/a/b", "https://b.com/xca/%c3%a9/d/17/a", "HTTPS://B.com:443?é", "https://a.com/dir/",
		"https://c.com/", "https://D.com/", "https://D.com:8/", "bad", "", "https:///", "https://a.com:x/",
	}
	b, e := newBatch(slices.Repeat(urls, 50)...), s.NewEvaluator()
	if n := testing.AllocsPerRun(20, func() {
		b.Sites, b.Rulings, b.Strays, b.Verdicts, b.strayNames = b.Sites[:0], b.Rulings[:0], b.Strays[:0], b.Verdicts[:0], b.strayNames[:0]
		e.Evaluate(b)
	}); n != 0 {
		t.Errorf("%v allocations for %d rows", n, b.Len())
	}
}

// manyFloating returns enough rules that package onepass finds their segments.
func manyFloating(n int) string {
	var w strings.Builder
	for i := range n {
		fmt.Fprintf(&w, "Disallow: /*/%d/\n", i)
	}
	return w.String()
}

// evaluateAlone evaluates a URL with a new evaluator.
func evaluateAlone(s *Store, url []byte) string {
	b := newBatch(string(url))
	s.NewEvaluator().Evaluate(b)
	return describe(s, b, 0)
}

// FuzzEvaluate uses lines as URLs. The answer for a URL does not depend on previous rows, and its path is that of
// robots.SplitURL. (TestEqualityShared and FuzzMatch check that rules are correct.)
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{
		"https://a.com\nhttps://a.com/x\nhttps://a.com:443/x\nhttps://a.community/x\nhttps://a.com?x\nhttps://a.com;x\nhttps://a.com#/x",
		"https://u:p@a.com/x\nhttps://u:p@a.com:1/x\nhttps://u:p@a.com\nhttps://a.com/\nhttps://a.com@b.com/\nhttps://a.com",
		"HTTPS://A.com/x\nHTTPS://A.com./x\nhttps://A.COM\nftp://a.com/\nhttps://é.com/\nhttps://é.com/x",
		"https://b.com/1\nhttps://b.com/2\nbad\nhttps://b.com/3\n\nhttps://a.com/x",
		"http://[::1]/x\nhttp://[::1]:80/x\nhttp://[::1]:8/x\nhttp://[::1\nhttp://[::1]x/",
		"https://a.com/x?\x00\xff%zz\r\nhttps://a.com/%78\nhttps://a.com\\x",
	} {
		f.Add(seed)
	}
	pairs := []string{
		"https://a.com", "User-agent: *\nDisallow: /x\nAllow: /x/index.html\nDisallow: /?x\nDisallow: /*#\n",
		"https://a.community", "User-agent: *\nDisallow: /*x$\n",
		"http://[::1]", "User-agent: b\nDisallow: /\n",
	}
	var stores []*Store
	for _, d := range []robots.Dialect{robots.RFC9309, robots.Google, robots.Google | robots.URLAsIs} {
		stores = append(stores, buildStore(f, StoreOptions{Dialect: d, Agents: []string{"*", "b"}}, pairs...))
	}
	f.Fuzz(func(t *testing.T, text string) {
		urls := strings.Split(text, "\n")
		for _, s := range stores {
			e, b := s.NewEvaluator(), newBatch(urls...)
			for range 2 { // the second time with the state of the first
				b.Sites, b.Rulings, b.Strays, b.Verdicts, b.strayNames = b.Sites[:0], b.Rulings[:0], b.Strays[:0], b.Verdicts[:0], b.strayNames[:0]
				e.Evaluate(b)
				for i := range b.Len() {
					if got, want := describe(s, b, i), evaluateAlone(s, b.URL(i)); got != want {
						t.Fatalf("%s: %q gives %s among others, but %s alone", s.Options().Dialect, b.URL(i), got, want)
					}
				}
			}
			checkPath(t, e, b)
		}
	})
}

// checkPath compares the paths that an evaluator finds in consecutive URLs with those of robots.SplitURL.
func checkPath(t *testing.T, e *Evaluator, b *Batch) {
	t.Helper()
	for i := range b.Len() {
		u, err := robots.SplitURL(b.URL(i))
		if err == nil {
			_, err = robots.AppendOrigin(nil, u)
		}
		if (err != nil) != (b.Sites[i] == NoSite) {
			t.Fatalf("%q: site %d; SplitURL says %v", b.URL(i), b.Sites[i], err)
		}
		if err != nil {
			continue
		}
		path, _, _ := bytes.Cut(b.Data[e.paths[i]:b.URLs[i].Off+b.URLs[i].Len], []byte("#"))
		if !bytes.Equal(path, u.Path) {
			t.Fatalf("%q: path %q; SplitURL says %q", b.URL(i), path, u.Path)
		}
	}
}
