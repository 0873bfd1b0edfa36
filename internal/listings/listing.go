// Package listings inspects the robots.txt files of many origins and reports their non-rule lines and errors.
//
// It reads captures twice: once to find the current one for each origin, once to inspect it. Inspection runs in
// parallel; results are yielded in order. Only commands import it.
package listings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"time"

	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/robots"
)

// A Listing describes the robots.txt of one origin at one time.
type Listing struct {
	Origin   robots.Origin
	Outcome  robots.Outcome
	Response robots.Response // the capture in force, without its body; zero if there is none
	Report   *robots.Report  // about its body; nil if the dialect does not read the body
	Body     []byte          // only with Options.Bodies
}

// Options choose the listings. The zero value means all origins in the dialect rfc9309.
type Options struct {
	Dialect robots.Dialect
	AsOf    time.Time     // zero means the time of the newest capture
	Origin  robots.Origin // list only this origin; "" means all
	Workers int           // goroutines that inspect; 0 or less means GOMAXPROCS
	Bodies  bool          // include the bodies
}

// ErrChanged is the error of responses that differ when they are read again.
var ErrChanged = errors.New("the rules changed while they were read: run it again")

// List inspects the robots.txt of every origin, and calls yield for each, one after the other, but not always from this
// goroutine: first in the order of the captures in force, then for origins without a capture at that time. It reads the
// responses twice, first to find the captures in force, so that only a few bodies are in memory at a time. It returns
// the first error of the responses or of yield, or of ctx. Two captures of unknown time for one origin are an error,
// [captures.ErrTwoFiles], and so are different responses at the second reading, ErrChanged.
func List(ctx context.Context, responses iter.Seq2[robots.Response, error], opt Options, yield func(*Listing) error) error {
	l := &lister{opt: opt, decided: map[int][]Listing{}}
	var err error
	history, undated := robots.NewHistory(l.opt.Dialect), captures.Undated{}
	l.total, err = visitResponses(ctx, responses, func(_ int, r robots.Response) error {
		history.Add(r)
		return undated.Add(&r)
	})
	if err != nil {
		return err
	}
	for _, o := range history.Origins() {
		if l.opt.Origin != "" && o != l.opt.Origin {
			continue
		}
		listing := Listing{Origin: o, Outcome: history.Outcome(o, l.opt.AsOf)}
		if n := listing.Outcome.Capture; n < 0 {
			l.unknown = append(l.unknown, listing)
		} else {
			l.decided[n] = append(l.decided[n], listing)
		}
	}

	workers := cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0))
	group, ctx := panics.WithContext(ctx)
	queue := make(chan chan inspected, workers) // in the order of captures; an inspection sends its result to each channel
	group.Go(func() error {
		defer close(queue)
		return l.inspectAll(ctx, responses, queue)
	})
	group.Go(func() error {
		for done := range queue {
			one := <-done
			if err := one.err; err != nil {
				return err
			}
			if err := yieldAll(one.all, yield); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return yieldAll(l.unknown, yield)
}

// yieldAll calls yield for all listings until it returns an error.
func yieldAll(all []Listing, yield func(*Listing) error) error {
	for i := range all {
		if err := yield(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// An inspected is the result of an inspection.
type inspected struct {
	all []Listing
	err error
}

// A lister is the state of List.
type lister struct {
	opt     Options
	total   captures.Key      // hash of all responses
	decided map[int][]Listing // by the number of the capture in force
	unknown []Listing         // of origins without a capture in force
}

// visitResponses calls visit for each response with its number, from 0, and returns the hash of all responses. It stops
// at the first error of the responses, of visit or of ctx.
func visitResponses(ctx context.Context, responses iter.Seq2[robots.Response, error], visit func(n int, r robots.Response) error) (total captures.Key, err error) {
	n := 0
	for r, err := range responses {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return total, fmt.Errorf("read rules: %w", err)
		}
		body := captures.KeyOf(r.Body)
		text := append(total[:], body[:]...)
		text = fmt.Appendf(text, "%s\x00%s\x00%d\x00%s\x00%s\x00%d", r.Origin, r.URL, r.Status, r.Error, r.Location, r.Size)
		text = fmt.Appendf(text, "\x00%d.%d", r.FetchedAt.Unix(), r.FetchedAt.Nanosecond())
		total = captures.KeyOf(text)
		if err := visit(n, r); err != nil {
			return total, err
		}
		n++
	}
	return total, nil
}

// inspectAll reads the responses again, and starts a goroutine for each that is in force. It sends the channel of each
// result to queue, in the order of the responses. The error is ErrChanged if the responses differ from those of the
// first reading.
func (l *lister) inspectAll(ctx context.Context, responses iter.Seq2[robots.Response, error], queue chan<- chan inspected) error {
	total, err := visitResponses(ctx, responses, func(n int, r robots.Response) error {
		listings := l.decided[n]
		if len(listings) == 0 {
			return nil
		}
		done := make(chan inspected, 1)
		select {
		case queue <- done:
		case <-ctx.Done():
			return ctx.Err()
		}
		panics.Send(done, func() inspected {
			var report *robots.Report
			if l.opt.Dialect.HasRules(&r) || listings[0].Outcome.Cause == robots.CauseTooLarge {
				report = robots.Inspect(r.Body, l.opt.Dialect)
			}
			r.Size = cmp.Or(r.Size, int64(len(r.Body)))
			body := r.Body
			r.Body = nil
			for i := range listings {
				if l.opt.Bodies {
					listings[i].Body = body
				}
				listings[i].Response, listings[i].Report = r, report
			}
			return inspected{all: listings}
		}, func(err error) inspected {
			return inspected{err: fmt.Errorf("%s: the robots.txt of %s: %w", r.Name, r.Origin, err)}
		})
		return nil
	})
	if err == nil && total != l.total {
		err = fmt.Errorf("read rules: %w", ErrChanged)
	}
	return err
}

// A Copy is the robots.txt in force for one origin at one time, with its body.
type Copy struct {
	Outcome  robots.Outcome
	Response robots.Response   // the capture in force; zero if there is none
	Hops     []robots.Response // the redirects that led to it, in their order, without bodies
}

// A Moment is a time, and the dialects for which to find the copy in force.
type Moment struct {
	AsOf     time.Time // zero means the time of the newest response
	Dialects []robots.Dialect
}

// Copies returns, for each origin, the robots.txt in force in each of the dialects, in the order of q.Dialects. It
// reads the responses twice, and returns the errors of [List]. The bodies of all copies are in memory.
func Copies(ctx context.Context, responses iter.Seq2[robots.Response, error], origins []robots.Origin, q Moment) (map[robots.Origin][]Copy, error) {
	histories := make([]*robots.History, len(q.Dialects))
	for i, d := range q.Dialects {
		histories[i] = robots.NewHistory(d)
	}
	undated := captures.Undated{}
	total, err := visitResponses(ctx, responses, func(_ int, r robots.Response) error {
		for _, h := range histories {
			h.Add(r)
		}
		return undated.Add(&r)
	})
	if err != nil {
		return nil, err
	}
	all := make(map[robots.Origin][]Copy, len(origins))
	wanted := map[int][]func(r robots.Response){} // setters of copies, by the number of the response
	for _, origin := range origins {
		if _, done := all[origin]; done {
			continue
		}
		copies := make([]Copy, len(q.Dialects))
		for i, h := range histories {
			c := &copies[i]
			if c.Outcome = h.Outcome(origin, q.AsOf); c.Outcome.Capture >= 0 {
				wanted[c.Outcome.Capture] = append(wanted[c.Outcome.Capture], func(r robots.Response) { c.Response = r })
			}
			hops := h.Hops(origin, q.AsOf)
			c.Hops = make([]robots.Response, len(hops))
			for k, n := range hops {
				wanted[n] = append(wanted[n], func(r robots.Response) {
					r.Body = nil
					c.Hops[k] = r
				})
			}
		}
		all[origin] = copies
	}
	again, err := visitResponses(ctx, responses, func(n int, r robots.Response) error {
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
