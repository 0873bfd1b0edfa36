package aggregate

import (
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestRulesSize checks that the counts take no more memory than Size returns, with one outcome per file and with
// many.
func TestRulesSize(t *testing.T) {
	for _, test := range []struct{ files, outcomes int }{{20_000, 1}, {20_000, 3}, {2_000, 40}, {200, 400}} {
		bodies := map[robots.Origin]string{}
		for n := range test.files {
			body := fmt.Appendf(nil, "# %d\nUser-agent: *\n", n)
			for rule := range test.outcomes {
				body = fmt.Appendf(body, "Disallow: /%d/\n", rule)
			}
			bodies[robots.Origin(fmt.Sprintf("https://%d.com", n))] = string(body)
		}
		store, err := engine.BuildStore(responses(bodies), engine.StoreOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b, e, c := new(engine.Batch), store.NewEvaluator(), NewRules(store, RulesOptions{})
		evaluate := func(outcome int) {
			for n := range test.files {
				if b.AddURL(fmt.Appendf(nil, "https://%d.com/%d/", n, outcome), 1); b.Len() == 1000 || n == test.files-1 {
					e.Evaluate(b)
					countRules(c, b)
					b.Reset()
				}
			}
		}
		before := heap()
		for outcome := range test.outcomes {
			evaluate(outcome)
		}
		c.dropMatchers()
		got := heap() - before
		t.Logf("%d files with %d outcomes take %d bytes, but Size is %d", test.files, test.outcomes, got, c.size)
		if got > c.size || 2*got < c.size {
			t.Errorf("%d files with %d outcomes take %d bytes, but Size is %d", test.files, test.outcomes, got, c.size)
		}
		runtime.KeepAlive(c)
	}
}

// countRules counts the rows of a batch for one agent. All rows must have a known site.
func countRules(c *Rules, b *engine.Batch) {
	c.Use(b)
	for i, v := range b.Verdicts {
		f := c.File(b.Rulings[i], b.Sites[i])
		if f == nil {
			continue
		}
		f.Requests++
		if s, _ := c.Set(f, 0, v); s != nil {
			u, _ := robots.SplitURL(b.URL(i))
			c.Outcome(b.URL(i), len(u.Prefix), f, s, v.Rule).AddURL(1, int64(i))
		}
	}
}

// heap returns the number of bytes in use on the heap.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func responses(bodies map[robots.Origin]string) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for _, o := range slices.Sorted(maps.Keys(bodies)) {
			if !yield(robots.Response{Origin: o, Status: 200, Body: []byte(bodies[o]), Name: string(o)}, nil) {
				return
			}
		}
	}
}

// TestSitesOfTexts checks that a text counts all sites at which it was in force in the course of a log, and a site
// counts all its texts, in any order of rows.
func TestSitesOfTexts(t *testing.T) {
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	texts := map[robots.Origin][2]string{"https://a.example": {"x", "y"}, "https://b.example": {"y", "x"}, "https://c.example": {"z", "x"}}
	captures := func(yield func(robots.Response, error) bool) {
		for _, origin := range slices.Sorted(maps.Keys(texts)) {
			for i, path := range texts[origin] {
				r := robots.Response{Origin: origin, Status: 200, FetchedAt: start.Add(time.Duration(i) * time.Hour), Body: []byte("User-agent: *\nDisallow: /" + path + "\n")}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	store, err := engine.BuildStore(captures, engine.StoreOptions{Dialect: robots.Google, RowTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	b, c := new(engine.Batch), NewRules(store, RulesOptions{})
	for hour := range 2 {
		for _, origin := range []string{"https://c.example", "https://b.example", "https://a.example"} {
			b.AddURL([]byte(origin+"/"), 1)
			b.Times = append(b.Times, start.Add(time.Duration(hour)*time.Hour).UnixMicro())
		}
	}
	store.NewEvaluator().Evaluate(b)
	countRules(c, b)
	if files, origins := c.NumFiles(); files != 3 || origins != 3 {
		t.Errorf("%d files of %d origins, want 3 of 3", files, origins)
	}
	files, _ := c.Busiest(10)
	got := map[string]string{}
	for _, f := range files {
		got[f.Rules[0].Rule] = fmt.Sprintf("%s %d %d", f.Origin, len(f.Sites), f.Versions)
	}
	want := map[string]string{"Disallow: /x": "https://a.example 3 2", "Disallow: /y": "https://a.example 2 2", "Disallow: /z": "https://c.example 1 2"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
