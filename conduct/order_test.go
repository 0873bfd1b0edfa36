package conduct

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/robobatch/robobatch/internal/extsort"
)

// watched is a joiner that records the maximum number of pieces in memory.
type watched struct {
	joiner
	most int
}

func (w *watched) Take(c *cursor) error {
	err := w.joiner.Take(c)
	w.most = max(w.most, len(w.pieces))
	return err
}

// toldDetails is a reader that stores the details of events.
type toldDetails struct {
	eventsOnly
	details []string
	last    event
	t       *testing.T
}

func (r *toldDetails) addEvent(e *event) error {
	if r.last.compare(e) > 0 {
		r.t.Errorf("%q comes before %q", r.last.detail, e.detail)
	}
	r.details = append(r.details, string(e.detail))
	r.last = *e
	r.last.detail = append([]byte{}, e.detail...)
	return nil
}

// TestOneMoment merges runs with many pieces at the same time. It checks that events are sent in order, and that at
// most one piece per run is in memory: a log whose times are only days needs no more memory or time than another.
func TestOneMoment(t *testing.T) {
	const runs, events = 3, 40_000
	rng := rand.New(rand.NewPCG(1, 2))
	spill := extsort.NewSpill(t.TempDir())
	defer spill.Close()
	for range runs {
		run, err := spill.Begin()
		if err != nil {
			t.Fatal(err)
		}
		w := &runWriter{run: run}
		err = w.beginOrigin(&origin{name: "https://a.example"})
		if err == nil {
			err = w.beginCrawler("GPTBot")
		}
		s := &sorter{}
		for range events {
			s.all = append(s.all, event{at: 7 * second, kind: forbidden, detail: fmt.Appendf(nil, "/%06d", rng.IntN(1_000_000)), delay: noDelay})
		}
		s.sort()
		for i := range s.all {
			if err == nil {
				err = w.addEvent(&s.all[i])
			}
		}
		none := newCounts()
		if err == nil {
			err = w.endCrawler(&none)
		}
		if err == nil {
			err = w.flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		run.End()
	}
	told := &toldDetails{t: t}
	w := &watched{joiner: joiner{to: told, details: true}}
	begin := func(*extsort.Run) extsort.Output[*cursor] { t.Fatal("runs are merged in between"); return nil }
	if err := extsort.Merge(spill, extsort.MaxFan, func() *cursor { return &cursor{details: true} }, begin, w); err != nil {
		t.Fatal(err)
	}
	if len(told.details) != runs*events {
		t.Errorf("%d events, want %d", len(told.details), runs*events)
	}
	if w.most > runs+1 {
		t.Errorf("%d pieces are in memory, for %d runs", w.most, runs)
	}
}
