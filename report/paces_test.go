package report

import (
	"slices"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// TestDelaysOfTexts holds that each request is judged by the Crawl-delay of its own text, and that it is said where
// one is not known.
func TestDelaysOfTexts(t *testing.T) {
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	texts := []string{"User-agent: *\nCrawl-delay: 60\n", "User-agent: *\nDisallow: /x\n", "User-agent: *\nCrawl-delay: 10\n", "User-agent: *\nCrawl-delay: 60\n"}
	store, err := engine.BuildStore(func(yield func(robots.Response, error) bool) {
		for hour, text := range texts {
			if !yield(robots.Response{Origin: "https://a.example", Status: 200, FetchedAt: start.Add(time.Duration(hour) * time.Hour), Body: []byte(text)}, nil) {
				return
			}
		}
	}, engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar, RowTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []fetch
	for at := time.Duration(0); at < 4*time.Hour; at += 30 * time.Second {
		all = append(all, fetch{url: "https://a.example/p", userAgent: clients[0], at: start.Add(at).UnixMicro()})
	}
	c := NewCounter(store, Options{})
	stats, err := engine.Run(t.Context(), store, &source{all, 100}, c, engine.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, c)
	for known, want := range map[int]struct {
		text                string
		fast, stated, other int64
	}{
		4: {"60 s, then none, then 10 s", 239, 359, 0}, // the fourth text is the first again
		2: {"60 s, then none", 239, 239, 120},
		0: {"not known", 0, 0, 479},
	} {
		run := &Run{Stats: stats, Texts: map[engine.RulingID]*robots.Report{}}
		for _, m := range c.MetTexts() {
			if n := slices.Index(texts, textOf(store, m)); n < known {
				run.Texts[m.Ruling] = robots.Inspect([]byte(texts[n]), robots.Google)
			}
		}
		p := c.newView(run).Paces.Rows[0]
		if p.DelayText() != want.text || p.Fast != want.fast || p.Gaps != want.stated || p.Unknown != want.other {
			t.Errorf("%d known: %s, %d of %d, %d not known; want %+v", known, p.DelayText(), p.Fast, p.Gaps, p.Unknown, want)
		}
	}
}

// textOf returns the text of those of the test by which a request was decided.
func textOf(store *engine.Store, m MetText) string {
	for _, text := range []string{"User-agent: *\nCrawl-delay: 60\n", "User-agent: *\nDisallow: /x\n", "User-agent: *\nCrawl-delay: 10\n"} {
		if key, _ := store.TextKey(m.Ruling); key == captures.KeyOf([]byte(text)) {
			return text
		}
	}
	return ""
}
