package engine

import (
	"reflect"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// Counting by streaks of equal verdicts gives the same as counting by row, for one agent.
func TestCountRuns(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, Missing: MissingUnknown},
		"https://a.com", "User-agent: *\nDisallow: /1\nAllow: /*3\nDisallow: /4",
		"https://b.com", "\n\nUser-agent: *\nDisallow: /1\nDisallow: /*7\n",
		"http://b.com", "User-agent: b\nDisallow: /\n")
	e := s.NewEvaluator()
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		src, sink, c := newSource(200, randomURLs(seed, 1000)), newSink(s), newCounter(s, 1)
		all := newBusiest(s, nil)
		for b := new(Batch); src.Next(b); {
			e.Evaluate(b)
			c.countBatch(b)
			all.countSites(b)
			if err := sink.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		if got := sumCounts([]*counter{c}, all); !reflect.DeepEqual(got, sink.stats) {
			t.Fatalf("seed %d:\ncounted %+v\nby row  %+v", seed, got, sink.stats)
		}
	}
}
