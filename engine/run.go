package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/panics"
)

// Options say how to run. The zero value uses all processors.
type Options struct {
	// Workers is the number of evaluating goroutines; one more reads and one writes. With 1, a single goroutine
	// does everything; 0 or less means GOMAXPROCS.
	Workers int

	// Old, unless it is nil, also decides each batch, and fills Batch.Old and Batch.Changes. It must have the
	// agents and the dialect of the store. Rows of an origin whose rules are the same in both stores are decided
	// once. The Stats do not count its decisions. Violations are the exception, because they follow the rules that
	// were in force rather than a draft: the rules of Old, unless the store knows the ruling in force for each row
	// (StoreOptions.RowTimes).
	Old *Store

	// MaxStrays is the maximum number of origins without rules that are counted exactly; each takes 43 bytes per
	// worker. Above it, Stats.Origins is an estimate, within 1% if the limit is at least 10,000. 0 means no limit.
	MaxStrays int

	twins *twins // of Old and the store; Run sets it
}

// newWorker returns a worker for the store and the old store, if there is one. Each store divides its memory limit by
// the number of goroutines and of batches.
func (opt *Options) newWorker(store *Store, goroutines, batches int) *worker {
	w := &worker{Evaluator: store.newEvaluator(goroutines, batches)}
	if opt.Old != nil {
		old := opt.Old.newEvaluator(goroutines, batches)
		w.before = &comparer{old: old, now: w.Evaluator, twins: opt.twins, ties: map[rulePair]bool{}}
		if old.budget == 0 && !old.store.opt.RowTimes {
			w.before.known = make([]oldSite, store.NumSites())
		}
		if store.namer != nil {
			w.clients = newClients(store.namer)
			w.clients.tokens = opt.twins.tokens
		}
	}
	return w
}

// storeError returns the error of the store or the old store, or nil.
func (opt *Options) storeError(store *Store) error {
	err := store.Err()
	if err == nil && opt.Old != nil {
		err = opt.Old.Err()
	}
	return err
}

// A worker decides batches by one store or by two.
type worker struct {
	*Evaluator
	before *comparer // nil without an old store
}

// Evaluate decides a batch, see [Evaluator.Evaluate]. With an old store, it also fills b.Old and b.Changes, and takes
// the violations from the verdicts of the old store, unless the store has RowTimes.
func (w *worker) Evaluate(b *Batch) {
	w.evaluateRules(b)
	var old *Evaluator
	if w.before != nil {
		w.before.compare(b)
		old = w.before.old
	}
	w.verify(b, old)
	w.findDisputes(b)
	if old != nil && !w.store.opt.RowTimes {
		if w.store.opt.LogAgents.judges() {
			old.findDisputes(b.Old)
		}
		old.findViolations(b, b.Old)
	} else {
		w.findViolations(b, b)
	}
	w.findEvidence(b)
	w.dropUnknown(b)
}

// A SourceError is the error of a run whose source failed. The sink has received all earlier rows. Err is the
// cause.
type SourceError struct{ cause }

// A SinkError is the error of a run whose sink failed. Err is the cause.
type SinkError struct{ cause }

// sinkError returns the error of a sink for a batch. A panic names these rows, although earlier ones may have
// caused it.
func sinkError(err error, src Source, b *Batch) error {
	if e, ok := errors.AsType[*panics.Error](err); ok {
		if e.Where == "" {
			e.Where = place(src, b)
		}
		return err
	}
	return &SinkError{cause{err}}
}

// A cause is the error that ended a run. Its text says where the error happened.
type cause struct{ Err error }

func (c *cause) Error() string { return c.Err.Error() }
func (c *cause) Unwrap() error { return c.Err }

// A job is a batch on its way through the run.
type job struct {
	batch Batch
	done  chan struct{} // gets a value when the batch is evaluated
}

// place returns where the rows of a job were read, for errors, such as a file and its lines; "" if unknown.
func (j *job) place(src Source) string {
	if j == nil {
		return ""
	}
	return place(src, &j.batch)
}

// A run is the state of Run.
type run struct {
	store   *Store
	opt     *Options
	free    chan *job // empty batches
	todo    chan *job // to be evaluated, by any worker
	ordered chan *job // the same jobs, in the order of the source
	busiest *busiest  // of the batches written so far
	src     Source
}

// An inputNamer is a [Source] that knows the name of an input by its Batch.Input. Errors of panics include the
// name.
type inputNamer interface{ InputName(input int) string }

// place returns where the rows of a batch were read, for errors, such as a file and its lines; "" if the source has
// no names.
func place(src Source, b *Batch) string {
	names, ok := src.(inputNamer)
	if !ok {
		return ""
	}
	text := names.InputName(b.Input)
	switch n := len(b.Lines); {
	case n == 1:
		text += fmt.Sprintf(": line %d", b.Lines[0])
	case n > 1:
		text += fmt.Sprintf(": lines %d to %d", b.Lines[0], b.Lines[n-1])
	}
	return text
}

// Run passes all rows of src through the store to dst, in order, and returns its counts. It closes neither src nor
// dst. The error is a [*SourceError], a [*SinkError], the error of ctx, [Store.Err], or a panic that names the
// rows. After an error, the Stats count the rows evaluated so far; after a SourceError, dst has received all of
// them. Run panics if the store, src or dst is nil.
func Run(ctx context.Context, store *Store, src Source, dst Sink, opt Options) (Stats, error) {
	if opt.Old != nil {
		opt.twins = newTwins(opt.Old, store)
	}
	workers := cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0))
	if workers == 1 {
		c, all := newCounter(store, 2), newBusiest(store, opt.Old)
		c.strays.most = opt.MaxStrays
		err := panics.Catch(func() error { return opt.runAlone(ctx, c, all, src, dst) })
		return sumCounts([]*counter{c}, all), err
	}
	jobs := 2*workers + 2 // each worker decides one; one is read, one is written, and the rest are spare
	r := &run{store: store, opt: &opt, free: make(chan *job, jobs), todo: make(chan *job, jobs), ordered: make(chan *job, jobs), busiest: newBusiest(store, opt.Old), src: src}
	for range jobs {
		r.free <- &job{done: make(chan struct{}, 1)}
	}
	group, ctx := panics.WithContext(ctx)
	group.Go(func() error { return r.read(ctx, src) })
	counters := make([]*counter, workers)
	for i := range counters {
		counters[i] = newCounter(store, jobs)
		counters[i].strays.most = opt.MaxStrays
		group.Go(func() error {
			r.evaluate(opt.newWorker(store, jobs, jobs), counters[i])
			return nil
		})
	}
	group.Go(func() error { return r.write(ctx, dst) })
	err := group.Wait()
	if err == nil {
		err = opt.endError(store, src)
	}
	return sumCounts(counters, r.busiest), err
}

// endError returns why a store failed, or why the source ended early, or nil.
func (opt *Options) endError(store *Store, src Source) error {
	if err := opt.storeError(store); err != nil {
		return err
	}
	if err := src.Err(); err != nil {
		if _, ok := errors.AsType[*panics.Error](err); ok { // earlier rows may be wrong, too
			return err
		}
		return &SourceError{cause{err}}
	}
	return nil
}

// runAlone reads, evaluates and writes one batch after another in this goroutine, until the source or ctx ends.
func (opt *Options) runAlone(ctx context.Context, c *counter, top *busiest, src Source, dst Sink) error {
	var b Batch
	defer panics.At(func() string { return place(src, &b) })
	e := opt.newWorker(c.store, 2, 1)
	for ctx.Err() == nil && src.Next(&b) {
		e.Evaluate(&b)
		c.countBatch(&b)
		top.countSites(&b)
		if err := cmp.Or(ctx.Err(), opt.storeError(c.store)); err != nil {
			return err
		}
		if err := dst.Write(&b); err != nil {
			return sinkError(err, src, &b)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return opt.endError(c.store, src)
}

// read fills batches until the source ends. It returns only the error of ctx: endError returns the source's error
// after all earlier rows are written.
func (r *run) read(ctx context.Context, src Source) error {
	defer close(r.todo)
	defer close(r.ordered)
	var j *job
	defer panics.At(func() string { return j.place(src) }) // used if the source does not know the line
	for {
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
		r.todo <- j // never blocks, because the channel has room for all jobs
		r.ordered <- j
	}
}

// evaluate decides and counts batches until there are no more.
func (r *run) evaluate(e *worker, c *counter) {
	var j *job
	defer panics.At(func() string { return j.place(r.src) })
	for j = range r.todo {
		e.Evaluate(&j.batch)
		c.countBatch(&j.batch)
		j.done <- struct{}{}
	}
}

// write counts the evaluated batches and passes them to the sink, in order, until there are no more. The error is that
// of ctx or a store, or that of sinkError.
func (r *run) write(ctx context.Context, dst Sink) error {
	var j *job
	defer panics.At(func() string { return j.place(r.src) })
	for j = range r.ordered {
		select {
		case <-j.done:
		case <-ctx.Done(): // a worker that panics does not finish its batch
			return ctx.Err()
		}
		if err := cmp.Or(ctx.Err(), r.opt.storeError(r.store)); err != nil {
			return err
		}
		r.busiest.countSites(&j.batch)
		if err := dst.Write(&j.batch); err != nil {
			return sinkError(err, r.src, &j.batch)
		}
		r.free <- j
	}
	return nil
}

// An ahead prefetches the data of many rows. With 100,000 origins in random order, each row needs a site, its
// origin, its ruling and its tables, and none of them are in a processor cache. Each of these reads waits for the
// one before, but reads for different rows can wait at the same time.
type ahead struct {
	reader rules.AheadReader // nil if the store has nothing to prefetch
	names  [][]byte
	found  [rules.AheadRows]rules.Found
	ids    [rules.AheadRows]RulingID
	missed int  // prefixes of the batch that the memo did not have
	useful bool // the memo missed many prefixes of the last batch
	sum    byte // depends on everything read, so that the compiler keeps the reads
}

// begin begins a batch of n rows. If the memo knows nearly all prefixes, prefetching only costs time.
func (a *ahead) begin(n int) {
	const share = 4
	a.useful = a.reader != nil && a.missed > n/share
	a.missed = 0
}

// sites adds the prefixes of at most rules.AheadRows rows to the memo, beginning with row first, if the memo does
// not have them. It finds the sites of normalised origins only.
func (a *ahead) sites(b *Batch, first int, memo *prefixMemo) {
	a.names = a.names[:0]
	for i := first; i < min(first+rules.AheadRows, b.Len()); i++ {
		url := b.URL(i)
		prefix := url[:prefixLen(url)]
		if len(prefix) == 0 {
			continue
		}
		if _, _, ok := memo.find(prefix); !ok {
			a.names = append(a.names, prefix)
		}
	}
	a.missed += len(a.names)
	a.reader.FindAll(a.names, a.found[:])
	for i, name := range a.names {
		if f := &a.found[i]; f.OK {
			memo.remember(name, SiteID(f.Site), f.ID)
		}
	}
}

// rules brings the rules for at most rules.AheadRows rows into the processor's caches.
func (a *ahead) rules(rows []rulingRow) {
	ids, last := a.ids[:0], rules.NoRuling
	for _, r := range rows {
		if r.id != last {
			ids, last = append(ids, r.id), r.id
		}
	}
	a.sum += a.reader.Fetch(ids)
}

// minStreak is the mean number of consecutive rows of one site from which a batch is decided in the order of its
// rows.
const minStreak = 4

// A rulingOrder sorts the rows of a batch by their rulings, so that rules are fetched from memory once for all of
// their rows. It reuses its memory.
type rulingOrder struct{ rows, spare []rulingRow }

// A rulingRow is a row of a batch with its ruling.
type rulingRow struct {
	id  RulingID
	row uint32
}

// digit is the number of bits per pass of the sort. The counts of one pass fit in the first-level cache.
const digit = 11

// sort returns the rows in the order of their rulings; rows of one ruling keep their order. The result is valid until
// the next call. It makes one pass for every 11 bits of the largest ruling.
func (o *rulingOrder) sort(rulings []RulingID) []rulingRow {
	n := len(rulings)
	if cap(o.rows) < n {
		o.rows, o.spare = make([]rulingRow, n), make([]rulingRow, n)
	}
	o.rows, o.spare = o.rows[:n], o.spare[:n]
	used := RulingID(0) // the bits set in any ruling
	for i, id := range rulings {
		o.rows[i] = rulingRow{id, uint32(i)}
		used |= id
	}
	for shift := 0; shift < bits.Len32(uint32(used)); shift += digit {
		o.sortByDigit(shift)
	}
	return o.rows
}

// sortByDigit sorts the rows by the digit of their rulings that begins at bit shift. Rows with the same digit keep
// their order.
func (o *rulingOrder) sortByDigit(shift int) {
	const mask = 1<<digit - 1
	var starts [mask + 1]uint32
	for _, r := range o.rows {
		starts[r.id>>shift&mask]++
	}
	next := uint32(0)
	for d, n := range starts {
		starts[d] = next
		next += n
	}
	for _, r := range o.rows {
		d := r.id >> shift & mask
		o.spare[starts[d]] = r
		starts[d]++
	}
	o.rows, o.spare = o.spare, o.rows
}
