package report

import (
	"slices"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestAnswersOfTexts checks that a URL has one row per crawler with all its requests, whichever robots.txt text was
// in force for them.
func TestAnswersOfTexts(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 1, 5, hour, 0, 0, 0, time.UTC) }
	var responses []robots.Response
	for hour, text := range []string{"User-agent: *\nDisallow: /p\n", "User-agent: *\nDisallow: /p\n# 2\n", "User-agent: *\nDisallow: /*p\n", "User-agent: *\nDisallow: /q\n"} {
		responses = append(responses, robots.Response{Origin: "https://a.example", Status: 200, FetchedAt: at(hour), Body: []byte(text)})
	}
	opt := engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar, RowTimes: true}
	store, err := engine.BuildStore(func(yield func(robots.Response, error) bool) {
		for _, r := range responses {
			if !yield(r, nil) {
				return
			}
		}
	}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var all []fetch
	for hour, n := range []int{2, 3, 4, 5} {
		for range n {
			all = append(all, fetch{url: "https://a.example/p", userAgent: clients[1], at: at(hour).Add(time.Minute).UnixMicro(), status: 200})
		}
	}
	all = append(all, fetch{url: "https://a.example/p", userAgent: clients[0], at: at(0).UnixMicro(), status: 200})
	c := NewCounter(store, Options{Status: 1})
	stats, err := engine.Run(t.Context(), store, &source{all, 100}, c, engine.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, c)
	v := c.newView(&Run{Stats: stats})
	want := []listRow{
		{URL: "https://a.example/p", Crawler: "Googlebot", By: "line 2: Disallow: /*p; line 2: Disallow: /p", Requests: 9, Of: 14},
		{URL: "https://a.example/p", Crawler: "bingbot", By: "line 2: Disallow: /p", Requests: 1, Of: 1},
	}
	if !slices.Equal(v.Served.Rows, want) || v.Served.Listed != 10 {
		t.Errorf("%+v, want %+v", v.Served.Rows, want)
	}
}
