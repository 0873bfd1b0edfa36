package aggregate

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A rowSource yields its rows in batches of a given size, with times and statuses.
type rowSource struct {
	urls  []string
	next  int
	batch int
}

func (s *rowSource) Next(b *engine.Batch) bool {
	b.Reset()
	if len(b.Kept) == 0 {
		b.Kept = []engine.Kept{{Kind: engine.KeptInt}}
	}
	status := &b.Kept[0]
	status.Present, status.Ints = status.Present[:0], status.Ints[:0]
	for ; s.next < len(s.urls) && b.Len() < s.batch; s.next++ {
		b.AddURL([]byte(s.urls[s.next]), int64(s.next+1))
		b.Times = append(b.Times, int64(s.next)*1e9) // 86 rows a day
		status.Present, status.Ints = append(status.Present, s.next%3 > 0), append(status.Ints, int64(200+s.next%7))
	}
	return b.Len() > 0
}

func (s *rowSource) Err() error   { return nil }
func (s *rowSource) Close() error { return nil }

// storeOf returns a store with the given number of origins, each with a robots.txt.
func storeOf(t *testing.T, origins int, body func(n int) string) *engine.Store {
	t.Helper()
	var all iter.Seq2[robots.Response, error] = func(yield func(robots.Response, error) bool) {
		for n := range origins {
			r := robots.Response{Origin: robots.Origin(fmt.Sprintf("https://%d.com", n)), Status: 200, Body: []byte(body(n)), Name: "x"}
			if !yield(r, nil) {
				return
			}
		}
	}
	store, err := engine.BuildStore(all, engine.StoreOptions{Agents: []string{"*", "Googlebot"}})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestChangesAlike checks that the report does not depend on the workers and the batch size, even if URLs go to disk
// and keys are counted together because memory is short. The numbers of URLs must equal those counted in memory.
func TestChangesAlike(t *testing.T) {
	old := storeOf(t, 300, func(n int) string { return fmt.Sprintf("User-agent: *\nDisallow: /a/%d\n", n%10) })
	now := storeOf(t, 310, func(n int) string {
		return fmt.Sprintf("User-agent: *\nDisallow: /a\nAllow: /a/%d\n\nUser-agent: Googlebot\nDisallow: /*%d\n", n%7, n)
	})
	rng := rand.New(rand.NewPCG(1, 7))
	var urls []string
	for range 100_000 {
		urls = append(urls, fmt.Sprintf("https://%d.com/%c/%d/%d", rng.IntN(320), 'a'+rune(rng.IntN(3)), rng.IntN(40), rng.IntN(1000)))
	}
	var before [engine.NumChanges]ChangeCount
	for _, memory := range []int64{1 << 17, 0} {
		var want *ChangesReport
		for _, way := range []struct{ workers, batch int }{{1, 5000}, {2, 777}, {5, 4096}} {
			changes := NewChanges(now, old, ChangesOptions{Memory: memory, Status: 1, TempDir: t.TempDir()})
			defer changes.CloseTemp()
			opt := engine.Options{Workers: way.workers, Old: old}
			if _, err := engine.Run(t.Context(), now, &rowSource{urls: urls, batch: way.batch}, changes, opt); err != nil {
				t.Fatal(err)
			}
			if err := changes.Finish(); err != nil || changes.urls.Spilled() != (memory > 0) {
				t.Fatalf("spilled %t: %v", changes.urls.Spilled(), err)
			}
			got := changes.Report(20)
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d bytes, %d workers and batches of %d: %+v\nwant %+v", memory, way.workers, way.batch, got, want)
			}
		}
		closed := want.Agents[0].Of[engine.Closed]
		days := int64(0)
		for _, day := range closed.Days {
			days += day.Requests
		}
		switch n := want.Agents[0].Counts[engine.Closed]; {
		case n.Requests < 10_000, n.URLs < 1000, memory == 0 && want.Agents[0].Counts != before:
			t.Errorf("%d bytes: %+v", memory, want.Agents[0].Counts)
		case closed.MoreRules == 0, closed.MoreDays == 0, days == 0:
			t.Errorf("%d bytes: %+v", memory, closed)
		}
		before = want.Agents[0].Counts
	}
}
