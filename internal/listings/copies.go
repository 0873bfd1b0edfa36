package listings

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// A Copy is the robots.txt in force for one origin at one moment, with the body that decides.
type Copy struct {
	Outcome  robots.Outcome
	Response robots.Response   // the one that decides; zero if none does
	Hops     []robots.Response // the redirects that led to it, in their order, without their bodies
}

// A Moment is a time and the dialects that decide which copy is in force.
type Moment struct {
	AsOf     time.Time // zero means the newest response's moment
	Dialects []robots.Dialect
}

// Copies returns the robots.txt in force for each of the origins, in each of the dialects and in their
// order. It reads the responses twice, and has the errors of [List].
func Copies(ctx context.Context, responses iter.Seq2[robots.Response, error], origins []robots.Origin, q Moment) (map[robots.Origin][]Copy, error) {
	histories := make([]*robots.History, len(q.Dialects))
	for i, d := range q.Dialects {
		histories[i] = robots.NewHistory(d)
	}
	undated := captures.Undated{}
	total, err := each(ctx, responses, func(_ int, r robots.Response) error {
		for _, h := range histories {
			h.Add(r)
		}
		return undated.Add(&r)
	})
	if err != nil {
		return nil, err
	}
	all := make(map[robots.Origin][]Copy, len(origins))
	wanted := map[int][]func(r robots.Response){} // the uses of a response, by its number
	for _, origin := range origins {
		if _, done := all[origin]; done {
			continue
		}
		copies := make([]Copy, len(q.Dialects))
		for i, h := range histories {
			copies[i].Outcome = h.Outcome(origin, q.AsOf)
			copies[i].want(h.Hops(origin, q.AsOf), wanted)
		}
		all[origin] = copies
	}
	again, err := each(ctx, responses, func(n int, r robots.Response) error {
		for _, take := range wanted[n] {
			take(r)
		}
		return nil
	})
	if err == nil && again != total {
		err = fmt.Errorf("read rules: %w", ErrChanged)
	}
	return all, err
}

// want has the responses of a copy put into it, when they are read again. hops are the numbers of the
// redirects.
func (c *Copy) want(hops []int, wanted map[int][]func(r robots.Response)) {
	if n := c.Outcome.Capture; n >= 0 {
		wanted[n] = append(wanted[n], func(r robots.Response) { c.Response = r })
	}
	c.Hops = make([]robots.Response, len(hops))
	for i, n := range hops {
		wanted[n] = append(wanted[n], func(r robots.Response) {
			r.Body = nil
			c.Hops[i] = r
		})
	}
}
