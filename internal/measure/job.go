package measure

import (
	"context"
	"errors"
	"io"
	"iter"
	"strconv"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A Job holds the parts of a run of the command, which can be reopened for each measurement. Everything is measured in
// this process, one case after the other.
type Job struct {
	Rules   func() (iter.Seq2[robots.Response, error], error) // all rules, from the start
	Pack    string                                            // name of a rule pack instead of Rules; "" if there is none
	Logs    func() (engine.Source, error)                     // all logs, from the start; closed here
	Lines   func() (int64, error)                             // unpacks the logs and counts their lines; nil measures no unpacking
	Sink    func(*engine.Store) (Sink, error)                 // a new output; nil is none, so that verdicts go nowhere
	Store   engine.StoreOptions                               // Workers is set here
	Workers []int                                             // numbers of workers to run with; none is the default number
	Ran     func(*engine.Store, engine.Stats)                 // gets the figures of each whole run, while its store is open; nil is nobody
}

// ErrNoURLs means that the logs have no URL, so nothing can be measured.
var ErrNoURLs = errors.New("there is no URL to measure with")

// A Sink is an engine.Sink that Commit completes before Close, as
// [github.com/robobatch/robobatch/output.File] is.
type Sink interface {
	engine.Sink
	Commit() error
}

// Measure writes a header and then, in so many rounds, a line for each of
//
//	Parse               reading all rules and parsing them, on one goroutine
//	BuildStore/workers  reading, parsing and compiling them
//	Unpack              unpacking the logs and counting their lines, on one goroutine
//	Read                reading and unpacking them into batches, on one goroutine
//	Decide/workers      the same with the verdicts, which go nowhere, for the first number of workers
//	Run/workers         the whole run, from the logs to the complete output, rules loaded before
//
// or, with a pack,
//
//	OpenPack            opening it
//	Unpack, Read        as above
//	DecidePack/workers  as Decide, from opening the pack on, with loading the rules that it needs
//	RunPack/workers     the whole run, likewise
//
// At the end come, after a #, the least CPU times of the parts for a URL, as multiples of the first. It stops when ctx
// ends. Logs without a URL are ErrNoURLs, before anything is written.
func (j Job) Measure(ctx context.Context, w io.Writer, rounds int) error {
	if len(j.Workers) == 0 {
		j.Workers = []int{0}
	}
	if err := j.checkLogs(); err != nil {
		return err
	}
	if err := Header(w, "github.com/robobatch/robobatch/bench/measure"); err != nil { // a name that benchstat compares
		return err
	}
	cases, err := j.cases(ctx)
	if err != nil {
		return err
	}
	var l ladder
	for i := range cases {
		l.watch(&cases[i])
	}
	if err := Rounds(ctx, w, rounds, cases); err != nil {
		return err
	}
	return l.write(w)
}

// cases returns the cases to measure.
func (j Job) cases(ctx context.Context) ([]Case, error) {
	if j.Pack != "" {
		return j.packCases(ctx), nil
	}
	store, _, err := j.build(0)
	if err != nil {
		return nil, err
	}
	run := func(j Job, workers int) func() (Sample, error) {
		return Here(func() (Work, error) { return j.run(ctx, store, workers) })
	}
	cases := append([]Case{{"Parse", "rule", Here(j.parse)}}, j.logCases()...)
	if j.Sink != nil {
		cases = append(cases, Case{"Decide/workers=" + workersText(j.Workers[0]), "url", run(j.blind(), j.Workers[0])})
	}
	for _, n := range j.Workers {
		cases = append(cases,
			Case{"BuildStore/workers=" + workersText(n), "rule", Here(func() (Work, error) {
				_, work, err := j.build(n)
				return work, err
			})},
			Case{"Run/workers=" + workersText(n), "url", run(j, n)})
	}
	return cases, nil
}

// packCases returns the cases to measure of a pack.
func (j Job) packCases(ctx context.Context) []Case {
	inForce := func(s *engine.Store) (Work, error) { return Work{Units: int64(s.InForce())}, nil }
	run := func(j Job, workers int) func() (Sample, error) {
		return Here(j.withPack(workers, func(s *engine.Store) (Work, error) { return j.run(ctx, s, workers) }))
	}
	cases := append([]Case{{"OpenPack", "origin", Here(j.withPack(j.Store.Workers, inForce))}}, j.logCases()...)
	if j.Sink != nil {
		cases = append(cases, Case{"DecidePack/workers=" + workersText(j.Workers[0]), "url", run(j.blind(), j.Workers[0])})
	}
	for _, n := range j.Workers {
		cases = append(cases, Case{"RunPack/workers=" + workersText(n), "url", run(j, n)})
	}
	return cases
}

// logCases returns the cases that measure only the logs.
func (j Job) logCases() (cases []Case) {
	if j.Lines != nil {
		cases = append(cases, Case{"Unpack", "line", Here(func() (Work, error) {
			lines, err := j.Lines()
			return Work{Units: lines}, err
		})})
	}
	return append(cases, Case{"Read", "url", Here(j.read)})
}

// blind returns the job without an output.
func (j Job) blind() Job {
	j.Sink, j.Ran = nil, nil
	return j
}

// workersText names a number of workers.
func workersText(n int) string {
	if n <= 0 {
		return "default"
	}
	return strconv.Itoa(n)
}

// withPack returns the function that opens the pack and has do work with it.
func (j Job) withPack(workers int, do func(*engine.Store) (Work, error)) func() (Work, error) {
	return func() (work Work, err error) {
		opt := j.Store
		opt.Workers = workers
		store, err := engine.OpenPack(j.Pack, opt)
		if err != nil {
			return work, err
		}
		work, err = do(store)
		return work, errors.Join(err, store.Close())
	}
}

// checkLogs reads the logs up to the first URL.
func (j Job) checkLogs() error {
	src, err := j.Logs()
	if err != nil {
		return err
	}
	var b engine.Batch
	for src.Next(&b) {
		if b.Len() > 0 {
			return src.Close()
		}
	}
	if err = errors.Join(src.Err(), src.Close()); err == nil {
		err = ErrNoURLs
	}
	return err
}

// parse reads and parses all rules.
func (j Job) parse() (work Work, err error) {
	all, err := j.Rules()
	if err != nil {
		return work, err
	}
	for r, err := range all {
		if err != nil {
			return work, err
		}
		if !j.Store.Dialect.HasRules(&r) {
			continue
		}
		work.Bytes += int64(len(r.Body))
		for _, g := range robots.Parse(r.Body, j.Store.Dialect).Groups {
			work.Units += int64(len(g.Rules))
		}
	}
	return work, nil
}

// build builds the store. The rules are those in force, of equal texts once.
func (j Job) build(workers int) (*engine.Store, Work, error) {
	var work Work
	all, err := j.Rules()
	if err != nil {
		return nil, work, err
	}
	opt := j.Store
	opt.Workers = workers
	store, err := engine.BuildStore(counted(all, &work.Bytes), opt)
	if err != nil {
		return nil, work, err
	}
	work.Units = int64(store.Memory().Rules)
	return store, work, nil
}

// counted yields the same, and counts the bytes of the bodies.
func counted(all iter.Seq2[robots.Response, error], size *int64) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for r, err := range all {
			*size += int64(len(r.Body))
			if !yield(r, err) {
				return
			}
		}
	}
}

// read reads the logs.
func (j Job) read() (work Work, err error) {
	src, err := j.Logs()
	if err != nil {
		return work, err
	}
	var b engine.Batch
	for src.Next(&b) {
		work.Units += int64(b.Len())
		for _, u := range b.URLs {
			work.Bytes += int64(u.Len)
		}
	}
	return work, errors.Join(src.Err(), src.Close())
}

// run takes the logs through the store.
func (j Job) run(ctx context.Context, store *engine.Store, workers int) (work Work, err error) {
	src, err := j.Logs()
	if err != nil {
		return work, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	var dst Sink = nowhere{}
	if j.Sink != nil {
		if dst, err = j.Sink(store); err != nil {
			return work, err
		}
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	stats, err := engine.Run(ctx, store, src, dst, engine.Options{Workers: workers})
	if err != nil {
		return work, err
	}
	if j.Ran != nil {
		j.Ran(store, stats)
	}
	return Work{stats.URLs, stats.URLBytes}, dst.Commit()
}

// nowhere is a Sink that keeps nothing.
type nowhere struct{}

// Write does nothing.
func (nowhere) Write(*engine.Batch) error { return nil }

// Commit does nothing.
func (nowhere) Commit() error { return nil }

// Close does nothing.
func (nowhere) Close() error { return nil }
