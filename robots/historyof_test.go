package robots

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestNewHistoryOf compares histories that load responses on demand with complete ones, on random responses.
func TestNewHistoryOf(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	urls := []string{"https://a.com/robots.txt", "https://b.com/robots.txt", "https://b.com/x?y", "https://c.com/robots.txt"}
	for range 2000 {
		var (
			all   = NewHistory([]Dialect{Google, RFC9309, Yandex}[r.IntN(3)])
			parts = map[string][]Response{}
			ids   = map[string][]int{}
		)
		for range r.IntN(12) {
			url := urls[r.IntN(len(urls))]
			resp := Response{URL: url, Status: []int{200, 301, 301, 302, 404, 503, 0}[r.IntN(7)], Location: urls[r.IntN(len(urls))]}
			if r.IntN(8) > 0 {
				resp.FetchedAt = time.Unix(int64(r.IntN(60))*86400, 0).UTC()
			}
			if r.IntN(2) == 0 && url != urls[2] {
				resp.URL = ""
			}
			resp.Origin = Origin(url[:len("https://a.com")])
			if key, ok := KeyOf(&resp); !ok || key != url {
				t.Fatalf("key %q, %t of %q", key, ok, url)
			}
			parts[url] = append(parts[url], resp)
			ids[url] = append(ids[url], all.Add(resp))
		}
		var loaded []int
		some := NewHistoryOf(all.dialect, func(url string) []Response {
			loaded = append(loaded, ids[url]...)
			return parts[url]
		})
		for _, o := range []Origin{"https://a.com", "https://b.com", "https://c.com", "https://d.com"} {
			asOf := time.Unix(int64(r.IntN(100))*86400, 0).UTC()
			want := all.Outcome(o, asOf)
			if r.IntN(2) == 0 {
				some.Reset()
				loaded = loaded[:0]
			}
			got := some.Outcome(o, asOf)
			if got.Capture >= 0 {
				got.Capture = loaded[got.Capture]
			}
			if got != want {
				t.Fatalf("%s as of %v: %+v, want %+v of %v", o, asOf, got, want, parts)
			}
		}
	}
	if _, ok := KeyOf(&Response{URL: "no url"}); ok {
		t.Error("a key of what is no URL")
	}
}

// TestBinding checks that the groups of Binding are those whose rules Select merges.
func TestBinding(t *testing.T) {
	f := Parse([]byte("User-agent: a\nUser-agent: *\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: A\nDisallow: /3\n"), Google)
	for name, want := range map[string]string{"a": "[0 2]", "b": "[1]", "c": "[0]", "*": "[0]"} {
		if got := fmt.Sprint(f.Binding(NewAgent(name, Google))); got != want {
			t.Errorf("%s: groups %s, want %s", name, got, want)
		}
	}
	if got := f.Binding(Agent{Token: "c", IgnoresStar: true}); len(got) != 0 {
		t.Errorf("groups %v, want none", got)
	}
}
