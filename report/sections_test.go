package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestTxtFetches checks that a crawler's consecutive requests for the robots.txt of an origin are combined while the
// response is the same, that the latest are kept and all are counted, and that status codes are counted by class and
// time.
func TestTxtFetches(t *testing.T) {
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	var all []fetch
	for i, status := range []int64{200, 200, 503, 200, 200, 301} {
		for _, host := range []string{"a", "b"} {
			at := start.Add(time.Duration(i) * time.Minute)
			all = append(all, fetch{url: "https://" + host + ".example/robots.txt", userAgent: clients[0], at: at.UnixMicro(), status: status})
		}
	}
	all = append(all, fetch{url: "https://a.example/robots.txt", userAgent: "curl/8", at: start.UnixMicro(), status: 404})
	q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1}
	c, stats := counted(t, map[robots.Origin]string{"https://a.example": "User-agent: *\nDisallow: /p\n"}, all, q)
	v := c.newView(&Run{Stats: stats})
	if len(v.Each) != 1 || v.Each[0].Fetched != 12 {
		t.Fatalf("%+v", v.Each)
	}
	var got []string
	for _, f := range v.Each[0].Fetches {
		got = append(got, fmt.Sprintf("%s %d %d %d+%d %d", f.Origin[8:9], f.Requests, f.Status, (f.From-start.Unix())/60, (f.To-f.From)/60, f.Bytes))
	}
	want := []string{"a 2 200 0+1 -1", "b 2 200 0+1 -1", "a 1 503 2+0 -1", "b 1 503 2+0 -1", "a 2 200 3+1 -1", "b 2 200 3+1 -1", "a 1 301 5+0 -1", "b 1 301 5+0 -1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if line := v.Time.Chart.Lines[0]; line.Values[0] != 13 || line.Errors[0] != 3 || line.Server[0] != 2 || line.Moved[0] != 2 {
		t.Errorf("%+v", line)
	}
	all = nil
	for i := range int64(shownFetches + 3) {
		all = append(all, fetch{url: "https://a.example/robots.txt", userAgent: clients[0], at: start.UnixMicro(), status: 200 + i})
	}
	c, stats = counted(t, nil, all, q)
	one := c.newView(&Run{Stats: stats}).Each[0]
	if n := len(one.Fetches); n != shownFetches || one.Fetched != shownFetches+3 || one.Fetches[n-1].Status != 200+shownFetches+2 {
		t.Error("of " + strconv.Itoa(n) + " responses, the latest are not kept")
	}
}

// TestRotated checks that the page of a rotated log does not depend on which file is read first. There are more
// requests for robots.txt than are kept, some of them in the same second with different responses, and runs of equal
// responses cross from one file to the other.
func TestRotated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 55))
	all := fetches(rng, 12_000)
	for i := range all {
		if i%3 == 0 {
			all[i].url, all[i].status = []string{"https://a.example", "https://b.example"}[rng.IntN(2)]+"/robots.txt", []int64{200, 200, 200, 503}[rng.IntN(4)]
		}
	}
	slices.SortStableFunc(all, func(a, b fetch) int { return int(a.at - b.at) })
	pageOf := func(all []fetch) string {
		c, stats := counted(t, sites, all, question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1})
		run := Run{Version: "v", Stats: stats}
		diagnosis, err := c.Diagnose(&run)
		if err != nil {
			t.Fatal(err)
		}
		run.Diagnosis = diagnosis
		if each := c.newView(&run).Each[0]; each.Fetched <= keptFetches*5/4 || len(each.Fetches) != shownFetches {
			t.Fatalf("%d fetches in %d runs", each.Fetched, len(each.Fetches))
		}
		var page bytes.Buffer
		if err := Write(&page, c, &run); err != nil {
			t.Fatal(err)
		}
		return page.String()
	}
	older, newer := all[:6500], all[6500:]
	if pageOf(slices.Concat(older, newer)) != pageOf(slices.Concat(newer, older)) {
		t.Error("the page depends on the order of the files")
	}
}

// TestRuns checks that runs consist of the latest requests, in any order of the rows.
func TestRuns(t *testing.T) {
	for _, n := range []int{1, keptFetches - 1, keptFetches, keptFetches + 1, keptFetches * 5 / 4} {
		var of crawlerCounts
		for i := range n {
			of.fetches = append(of.fetches, txtAnswer{"https://a.example", int64(i), int64(i), 1, 200, 7})
		}
		rand.New(rand.NewPCG(7, uint64(n))).Shuffle(n, func(i, k int) { of.fetches[i], of.fetches[k] = of.fetches[k], of.fetches[i] })
		kept := min(n, keptFetches)
		want := []txtAnswer{{"https://a.example", int64(n - kept), int64(n - 1), int64(kept), 200, 7}}
		if got := of.runs(); !slices.Equal(got, want) {
			t.Errorf("%d requests: got %v, want %v", n, got, want)
		}
	}
}
