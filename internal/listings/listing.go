// Package listings inspects the robots.txt of many origins: the lines of each beyond its rules, and
// its faults. It hides that captures are read twice, and inspected in parallel and in
// order. Only the command imports it.
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

// A Listing has the known facts of the robots.txt of one origin at one moment.
type Listing struct {
	Origin   robots.Origin
	Outcome  robots.Outcome
	Response robots.Response // the one that decides, without its body; zero if none does
	Report   *robots.Report  // of its body; nil if it has none that is read
	Body     []byte          // with Options.Bodies
}

// Options choose the listings. The zero value is every origin in the dialect rfc9309.
type Options struct {
	Dialect robots.Dialect
	AsOf    time.Time     // the moment in question; zero means the newest capture's moment
	Origin  robots.Origin // list this one only; "" is all
	Workers int           // goroutines that inspect; 0 or less means GOMAXPROCS
	Bodies  bool          // list the bodies, too
}

// ErrChanged is the error of responses that were others when they were read again.
var ErrChanged = errors.New("the rules changed while they were read: run it again")

// List inspects the robots.txt of every origin, and calls yield for each, one after the other: in the order of the
// captures in force, then the origins without a capture at that moment. It reads the responses twice, first to find out
// which are in force, so that only a few bodies are in memory at a time. It ends with the first error of the responses
// or of yield, or when ctx ends. Two captures of unknown time for one origin are [captures.ErrTwoFiles]; other
// responses at the second reading are ErrChanged.
func List(ctx context.Context, responses iter.Seq2[robots.Response, error], opt Options, yield func(*Listing) error) error {
	l := &lister{opt: opt, decided: map[int][]Listing{}}
	// Read the responses and find out which of them are in force.
	var err error
	history, undated := robots.NewHistory(l.opt.Dialect), captures.Undated{}
	l.total, err = each(ctx, responses, func(_ int, r robots.Response) error {
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
	queue := make(chan chan inspected, workers) // in order; a worker sends to each
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

func yieldAll(all []Listing, yield func(*Listing) error) error {
	for i := range all {
		if err := yield(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// An inspected is what an inspection gives: listings, or why there are none.
type inspected struct {
	all []Listing
	err error
}

// A lister is the state of List.
type lister struct {
	opt     Options
	total   captures.Key      // of all responses, see mix
	decided map[int][]Listing // by the number of the capture in force
	unknown []Listing         // of origins without a capture in force
}

// each reads the responses, calls visit for each with its number, and returns the hash of all.
func each(ctx context.Context, responses iter.Seq2[robots.Response, error], visit func(n int, r robots.Response) error) (total captures.Key, err error) {
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

// inspectAll reads the responses again and starts a goroutine for each that is in force.
func (l *lister) inspectAll(ctx context.Context, responses iter.Seq2[robots.Response, error], queue chan<- chan inspected) error {
	total, err := each(ctx, responses, func(n int, r robots.Response) error {
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
		panics.Send(done, func() inspected { return inspected{all: l.inspect(r, listings)} }, func(err error) inspected {
			return inspected{err: fmt.Errorf("%s: the robots.txt of %s: %w", r.Name, r.Origin, err)}
		})
		return nil
	})
	if err == nil && total != l.total {
		err = fmt.Errorf("read rules: %w", ErrChanged)
	}
	return err
}

// inspect completes the listings that the response decides.
func (l *lister) inspect(r robots.Response, listings []Listing) []Listing {
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
	return listings
}

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
