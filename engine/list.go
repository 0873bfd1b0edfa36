package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robobatch/robobatch/robots"
)

// A Listing is what is known of the robots.txt of one origin at one moment.
type Listing struct {
	Origin   robots.Origin
	Outcome  robots.Outcome
	Response robots.Response // the one that decides, see [robots.Outcome].Capture, without its body; zero if there is none
	Report   *robots.Report  // of its body; nil if it has none that is read
}

// ListOptions say what to list. The zero value is every origin in the dialect rfc9309.
type ListOptions struct {
	Dialect robots.Dialect
	AsOf    time.Time     // as in StoreOptions
	Origin  robots.Origin // list this one only; "" is all
	Workers int           // goroutines that inspect; 0 or less means GOMAXPROCS
}

// ErrChanged is the error of responses that were others when they were read again.
var ErrChanged = errors.New("the rules changed while they were read: run it again")

// List inspects the robots.txt of every origin, and hands them to yield one by one: in the order of the responses that
// decide, and at last those of origins without any at that moment. It goes through the responses twice, first to see which
// of them decide, so that no more than some bodies are in memory at a time. An error of the responses or of yield ends
// it, as does the end of ctx.
func List(ctx context.Context, responses iter.Seq2[robots.Response, error], opt ListOptions, yield func(*Listing) error) error {
	l := &lister{opt: opt, decided: map[int][]Listing{}}
	if err := l.settle(ctx, responses); err != nil {
		return err
	}
	workers := cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0))
	group, ctx := errgroup.WithContext(ctx)
	queue := make(chan chan []Listing, workers) // in order; each gets its value when a worker is done
	group.Go(func() error {
		defer close(queue)
		return l.inspectAll(ctx, responses, queue)
	})
	group.Go(func() error {
		for done := range queue {
			for _, listing := range <-done {
				if err := yield(&listing); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range l.unknown {
		if err := yield(&l.unknown[i]); err != nil {
			return err
		}
	}
	return nil
}

// A lister is the state of List.
type lister struct {
	opt     ListOptions
	total   textKey           // of all responses, see mix
	decided map[int][]Listing // by the number of the response that decides; Response and Report are missing
	unknown []Listing         // of origins that no response decides on
}

// settle goes through the responses and settles which of them decide.
func (l *lister) settle(ctx context.Context, responses iter.Seq2[robots.Response, error]) error {
	history := robots.NewHistory(l.opt.Dialect)
	undated := undatedOrigins{}
	for r, err := range responses {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		if err := undated.add(&r); err != nil {
			return err
		}
		history.Add(r)
		l.total = mix(l.total, &r)
	}
	for _, o := range history.Origins() {
		if l.opt.Origin != "" && o != l.opt.Origin {
			continue
		}
		outcome := history.Outcome(o, l.opt.AsOf)
		if outcome.Capture < 0 {
			l.unknown = append(l.unknown, Listing{Origin: o, Outcome: outcome})
			continue
		}
		l.decided[outcome.Capture] = append(l.decided[outcome.Capture], Listing{Origin: o, Outcome: outcome})
	}
	return nil
}

// inspectAll goes through the responses again and starts a goroutine for each that decides.
func (l *lister) inspectAll(ctx context.Context, responses iter.Seq2[robots.Response, error], queue chan<- chan []Listing) error {
	n := 0
	var total textKey
	for r, err := range responses {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		total = mix(total, &r)
		if listings := l.decided[n]; len(listings) > 0 {
			done := make(chan []Listing, 1)
			select {
			case queue <- done:
			case <-ctx.Done():
				return ctx.Err()
			}
			go func() { done <- l.inspect(r, listings) }()
		}
		n++
	}
	if total != l.total {
		return fmt.Errorf("read rules: %w", ErrChanged)
	}
	return nil
}

// mix returns a hash of the responses whose hash is given, and one more, in this order.
func mix(before textKey, r *robots.Response) textKey {
	body := keyOf(r.Body)
	text := append(before[:], body[:]...)
	text = fmt.Appendf(text, "%s\x00%s\x00%d\x00%s\x00%s\x00%d", r.Origin, r.URL, r.Status, r.Error, r.Location, r.Size)
	text = fmt.Appendf(text, "\x00%d.%d", r.FetchedAt.Unix(), r.FetchedAt.Nanosecond())
	return keyOf(text)
}

// inspect completes the listings that the response decides.
func (l *lister) inspect(r robots.Response, listings []Listing) []Listing {
	var report *robots.Report
	if l.opt.Dialect.HasRules(&r) || listings[0].Outcome.Cause == robots.CauseTooLarge {
		report = robots.Inspect(r.Body, l.opt.Dialect)
	}
	r.Size = cmp.Or(r.Size, int64(len(r.Body)))
	r.Body = nil
	for i := range listings {
		listings[i].Response, listings[i].Report = r, report
	}
	return listings
}
