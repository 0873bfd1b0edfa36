package engine

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

func TestBuildStore(t *testing.T) {
	s := buildStore(t, StoreOptions{}, "https://a.com", "User-agent: *\nDisallow: /\n", "https://b.com", "")
	if got := s.Options().Agents; !slices.Equal(got, []string{"*"}) {
		t.Errorf("agents %q, want only *", got)
	}
	if look := s.NewLookup(); s.NumSites() != 2 || look.Origin(0) != "https://a.com" || look.Origin(1) != "https://b.com" {
		t.Errorf("%d sites: %s, %s", s.NumSites(), look.Origin(0), look.Origin(1))
	}
	names := []string{"Googlebot-Image/1.0", "*"}
	s = buildStore(t, StoreOptions{Dialect: robots.Google, Agents: names}, "https://a.com", "User-agent: googlebot\nDisallow: /\n")
	names[0] = "changed"
	if got := s.Options().Agents; got[0] != "Googlebot-Image/1.0" || s.Options().Dialect != robots.Google {
		t.Errorf("agents %q, dialect %s", got, s.Options().Dialect)
	}
	evaluateCases(t, s, [][2]string{{"https://a.com/", "https://a.com | deny rule 2 Disallow: / | allow no_group"}})
	empty := buildStore(t, StoreOptions{})
	evaluateCases(t, empty, [][2]string{{"https://a.com/", "stray https://a.com | allow no_robots"}})
}

// rulingOf returns the ruling in force for an origin.
func rulingOf(tb testing.TB, s *Store, origin string) *rules.Ruling {
	tb.Helper()
	_, id, ok := s.rules.Reader(1).Find([]byte(origin))
	if !ok {
		tb.Fatalf("%s is unknown", origin)
	}
	return s.rules.Reader(1).Ruling(id)
}

// TestBuildStoreShares checks that equal texts are compiled once.
func TestBuildStoreShares(t *testing.T) {
	const text = "User-agent: *\nDisallow: /a\nAllow: /b\n"
	s := buildStore(t, StoreOptions{Agents: []string{"*", "b"}},
		"https://a.com", text, "https://b.com", text+"#", "http://a.com", text, "https://c.com", text)
	for a := range 2 {
		set := func(origin string) *rules.Set { return rulingOf(t, s, origin).Sets[a] }
		if set("https://a.com") != set("http://a.com") || set("https://a.com") != set("https://c.com") {
			t.Errorf("agent %d: sites with the same text do not share a rule set", a)
		}
		if set("https://a.com") == set("https://b.com") {
			t.Errorf("agent %d: sites with different texts share a rule set", a)
		}
	}
	m := s.Memory()
	if m.Files != 2 || m.Rules != 2*2 || m.Tables == 0 || m.Refs == 0 || m.Text != 2*int64(len("/a/b")) {
		t.Errorf("memory %+v, want that of two files, each with one group", m)
	}
}

// TestBuildStoreTwoFiles checks the error of two files for one origin, even with equal texts.
func TestBuildStoreTwoFiles(t *testing.T) {
	_, err := BuildStore(responses("https://a.com", "x", "http://a.com", "x", "https://a.com", "x"), StoreOptions{})
	if !errors.Is(err, ErrTwoFiles) || !strings.Contains(err.Error(), "https://a.com from file2") {
		t.Errorf("error %v, want one that names the origin and the file", err)
	}
}

// TestBuildStoreError checks that an unreadable file ends BuildStore, and that nothing after it is read.
func TestBuildStoreError(t *testing.T) {
	var broken iter.Seq2[robots.Response, error] = func(yield func(robots.Response, error) bool) {
		for i := range 50 {
			if !yield(robots.Response{Status: 200, Origin: robots.Origin(fmt.Sprintf("https://%d.com", i)), Body: fmt.Appendf(nil, "User-agent: *\nDisallow: /%d", i)}, nil) {
				t.Error("stopped before the error")
			}
		}
		if yield(robots.Response{}, errFault) {
			t.Error("went on after the error")
		}
	}
	if s, err := BuildStore(broken, StoreOptions{}); s != nil || !errors.Is(err, errFault) {
		t.Errorf("store %v, error %v", s, err)
	}
}

// TestRulesHash checks what the hash depends on.
func TestRulesHash(t *testing.T) {
	hash := func(opt StoreOptions, pairs ...string) string { return buildStore(t, opt, pairs...).RulesHash() }
	base := hash(StoreOptions{}, "https://a.com", "x", "https://b.com", "y", "https://c.com", "x")
	if len(base) != 64 {
		t.Errorf("hash %q", base)
	}
	for name, same := range map[string]string{
		"another order":   hash(StoreOptions{}, "https://c.com", "x", "https://b.com", "y", "https://a.com", "x"),
		"one worker":      hash(StoreOptions{Workers: 1}, "https://a.com", "x", "https://b.com", "y", "https://c.com", "x"),
		"another dialect": hash(StoreOptions{Dialect: robots.Google, Agents: []string{"a", "b"}}, "https://b.com", "y", "https://c.com", "x", "https://a.com", "x"),
	} {
		if same != base {
			t.Errorf("%s: hash %s, want %s", name, same, base)
		}
	}
	for name, other := range map[string]string{
		"another text":     hash(StoreOptions{}, "https://a.com", "x", "https://b.com", "z", "https://c.com", "x"),
		"another origin":   hash(StoreOptions{}, "https://a.com", "x", "http://b.com", "y", "https://c.com", "x"),
		"texts exchanged":  hash(StoreOptions{}, "https://a.com", "y", "https://b.com", "x", "https://c.com", "x"),
		"one site missing": hash(StoreOptions{}, "https://a.com", "x", "https://b.com", "y"),
		"none":             hash(StoreOptions{}),
	} {
		if other == base {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

// TestBuildStoreWorkers checks that many workers build the same store, in whatever order they finish.
func TestBuildStoreWorkers(t *testing.T) {
	var pairs []string
	for i := range 300 {
		text := fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i%100)
		pairs = append(pairs, fmt.Sprintf("https://%d.com", i), text)
	}
	for _, workers := range []int{1, 2, 8} {
		s := buildStore(t, StoreOptions{Workers: workers}, pairs...)
		if s.NumSites() != 300 || s.Memory().Files != 100 {
			t.Fatalf("%d workers: %d sites, %+v", workers, s.NumSites(), s.Memory())
		}
		for i := range 300 {
			id := SiteID(i)
			want := fmt.Sprintf("https://%d.com", i)
			if got := s.NewLookup().Origin(id); string(got) != want {
				t.Fatalf("site %d is %s", i, got)
			}
			if got := rulingOf(t, s, want).Sets[0].Rule(0).Value; got != fmt.Sprintf("/%d", i%100) {
				t.Fatalf("%d workers: site %d has the rule %q", workers, i, got)
			}
		}
	}
}

// TestRulesetKeepsNothing checks that a rule set does not keep the memory of the text.
func TestRulesetKeepsNothing(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /aaa\nAllow: /*bbb*c$\n")
	r := robots.Response{Status: 200, Origin: "https://a.com", Body: body}
	s, err := BuildStore(func(yield func(robots.Response, error) bool) { yield(r, nil) }, StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	copy(body, bytes.Repeat([]byte("z"), len(body)))
	evaluateCases(t, s, [][2]string{
		{"https://a.com/aaa", "https://a.com | deny rule 2 Disallow: /aaa"},
		{"https://a.com/aaa/bbb/c", "https://a.com | allow rule 3 Allow: /*bbb*c$"},
	})
}

func TestReasonString(t *testing.T) {
	seen := map[string]bool{}
	for r := range Reason(NumReasons) {
		if r.String() == "" || seen[r.String()] {
			t.Errorf("reason %d is %q", r, r)
		}
		seen[r.String()] = true
	}
}

func TestSiteIDStray(t *testing.T) {
	for id, want := range map[SiteID]bool{0: false, strayBit - 1: false, strayBit: true, strayBit | 7: true, NoSite: false} {
		i, stray := id.Stray()
		if stray != want || stray && i != int(id-strayBit) {
			t.Errorf("%#x: %d, %t", uint32(id), i, stray)
		}
	}
}
