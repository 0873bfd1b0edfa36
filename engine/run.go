package engine

import (
	"cmp"
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Options say how to run. The zero value uses all processors.
type Options struct {
	// Workers is the number of evaluating goroutines, beside one that reads and one that writes. 1
	// is one goroutine for all; 0 or less means GOMAXPROCS.
	Workers int
}

// A SourceError is the error of a run whose source ended early. The sink has all rows before that.
// Err is the cause.
type SourceError struct{ cause }

// A SinkError is the error of a run whose sink failed. Err is the cause.
type SinkError struct{ cause }

// A cause is what a run ended with. Its text says where it happened.
type cause struct{ Err error }

func (c *cause) Error() string { return c.Err.Error() }
func (c *cause) Unwrap() error { return c.Err }

// A job is a batch on its way through the run.
type job struct {
	batch Batch
	done  chan struct{} // gets a value when the batch is evaluated
}

// A run is the state of Run.
type run struct {
	store   *Store
	free    chan *job // empty batches
	todo    chan *job // to be evaluated, by whoever comes first
	ordered chan *job // the same, in the order of the source
	busiest *busiest  // of the batches that were written
}

// Run takes all rows of src through the store to dst, in order, and returns what it decided. It
// closes neither. The error is a [*SourceError], a [*SinkError], that of ctx, or [Store.Err]. The
// Stats then count what was evaluated; after a SourceError that is what dst has. It panics if the
// store, src or dst is nil.
func Run(ctx context.Context, store *Store, src Source, dst Sink, opt Options) (Stats, error) {
	workers := cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0))
	if workers == 1 {
		return runAlone(ctx, store, src, dst)
	}
	jobs := 2*workers + 2 // one each is read, decided and written; the others are to spare
	r := &run{store: store, free: make(chan *job, jobs), todo: make(chan *job, jobs), ordered: make(chan *job, jobs), busiest: newBusiest(store)}
	for range jobs {
		r.free <- &job{done: make(chan struct{}, 1)}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.read(ctx, src) })
	counters := make([]*counter, workers)
	for i := range counters {
		counters[i] = newCounter(store, jobs)
		group.Go(func() error {
			r.evaluate(store.newEvaluator(jobs, jobs), counters[i])
			return nil
		})
	}
	group.Go(func() error { return r.write(ctx, dst) })
	err := group.Wait()
	if err == nil {
		err = ended(store, src)
	}
	return total(counters, r.busiest), err
}

// ended returns why the store has failed, or why the source has ended early; nil if neither is so.
func ended(store *Store, src Source) error {
	if err := store.Err(); err != nil {
		return err
	}
	if err := src.Err(); err != nil {
		return &SourceError{cause{err}}
	}
	return nil
}

// runAlone is Run with one worker: one batch, no other goroutine.
func runAlone(ctx context.Context, store *Store, src Source, dst Sink) (Stats, error) {
	c := newCounter(store, 2)
	all := newBusiest(store)
	err := c.loop(ctx, all, src, dst)
	return total([]*counter{c}, all), err
}

func (c *counter) loop(ctx context.Context, all *busiest, src Source, dst Sink) error {
	var b Batch
	e := c.store.newEvaluator(2, 1)
	for ctx.Err() == nil && src.Next(&b) {
		e.Evaluate(&b)
		c.add(&b)
		all.add(&b)
		if err := cmp.Or(ctx.Err(), c.store.Err()); err != nil {
			return err
		}
		if err := dst.Write(&b); err != nil {
			return &SinkError{cause{err}}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ended(c.store, src)
}

// read fills batches until the source ends. Its error is that of ctx: ended returns the source's
// own when all rows before it are written.
func (r *run) read(ctx context.Context, src Source) error {
	defer close(r.todo)
	defer close(r.ordered)
	for {
		var j *job
		select {
		case j = <-r.free:
		case <-ctx.Done():
			return ctx.Err()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !src.Next(&j.batch) {
			return nil
		}
		r.todo <- j // never blocks: there is room for all jobs
		r.ordered <- j
	}
}

// evaluate decides batches until there are no more.
func (r *run) evaluate(e *Evaluator, c *counter) {
	for j := range r.todo {
		e.Evaluate(&j.batch)
		c.add(&j.batch)
		j.done <- struct{}{}
	}
}

// write hands the evaluated batches to the sink, in order.
func (r *run) write(ctx context.Context, dst Sink) error {
	for j := range r.ordered {
		<-j.done
		if err := cmp.Or(ctx.Err(), r.store.Err()); err != nil {
			return err
		}
		r.busiest.add(&j.batch)
		if err := dst.Write(&j.batch); err != nil {
			return &SinkError{cause{err}}
		}
		r.free <- j
	}
	return nil
}
