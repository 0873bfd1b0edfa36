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
	Lines   func() (int64, error)                             // decompresses the logs and counts their lines; nil omits the case Unpack
	Sink    func(*engine.Store) (Sink, error)                 // creates an output; nil means that verdicts are discarded
	Store   engine.StoreOptions                               // except Workers, which Measure sets
	Workers []int                                             // numbers of workers to run with; empty means only the default
	Ran     func(*engine.Store, engine.Stats)                 // called after each complete run, while its store is open; may be nil
}

// ErrNoURLs means that the logs have no URL, so nothing can be measured.
var ErrNoURLs = errors.New("there is no URL to measure with")

// A Sink is an engine.Sink that Commit completes before Close, as
// [github.com/robobatch/robobatch/output.File] is.
type Sink interface {
	engine.Sink
	Commit() error
}

// Measure writes a header and then, in each round, a line for each of
//
//	Parse               read and parse all rules, on one goroutine
//	BuildStore/workers  read, parse and compile them
//	Unpack              decompress the logs and count their lines, on one goroutine
//	Read                read the logs into batches, on one goroutine
//	Decide/workers      the same, and decide, for the first number of workers
//	Run/workers         the complete run, from the logs to the output, without loading the rules
//
// or, with a pack,
//
//	OpenPack            open it
//	Unpack, Read        as above
//	DecidePack/workers  like Decide, including opening the pack and loading the rules that are needed
//	RunPack/workers     the complete run, including the same
//
// At the end it writes, after #, the minimum CPU time per URL of each part, also as a multiple of that of the first. It
// stops when ctx ends. If the logs have no URL, it returns ErrNoURLs before it writes anything.
func (j Job) Measure(ctx context.Context, w io.Writer, rounds int) error {
	if len(j.Workers) == 0 {
		j.Workers = []int{0}
	}
	// Check that the logs have a URL.
	src, err := j.Logs()
	if err != nil {
		return err
	}
	var b engine.Batch
	hasURL := false
	for !hasURL && src.Next(&b) {
		hasURL = b.Len() > 0
	}
	if err := errors.Join(src.Err(), src.Close()); err != nil {
		return err
	}
	if !hasURL {
		return ErrNoURLs
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

// cases returns the cases to measure, in the order of Measure. Without a pack, it builds the store, which all runs use.
func (j Job) cases(ctx context.Context) (cases []Case, err error) {
	run := func(j Job, workers int) func() (Sample, error) {
		return Here(j.withPack(workers, func(s *engine.Store) (Work, error) { return j.run(ctx, s, workers) }))
	}
	suffix := ""
	if j.Pack != "" {
		suffix = "Pack"
		inForce := func(s *engine.Store) (Work, error) { return Work{Units: int64(s.InForce())}, nil }
		cases = append(cases, Case{"OpenPack", "origin", Here(j.withPack(j.Store.Workers, inForce))})
	} else {
		store, _, err := j.build(0)
		if err != nil {
			return nil, err
		}
		run = func(j Job, workers int) func() (Sample, error) {
			return Here(func() (Work, error) { return j.run(ctx, store, workers) })
		}
		cases = append(cases, Case{"Parse", "rule", Here(j.parse)})
	}
	if j.Lines != nil {
		cases = append(cases, Case{"Unpack", "line", Here(func() (Work, error) {
			lines, err := j.Lines()
			return Work{Units: lines}, err
		})})
	}
	cases = append(cases, Case{"Read", "url", Here(j.read)})
	if j.Sink != nil { // the same without an output
		blind := j
		blind.Sink, blind.Ran = nil, nil
		cases = append(cases, Case{"Decide" + suffix + "/workers=" + workersText(j.Workers[0]), "url", run(blind, j.Workers[0])})
	}
	for _, n := range j.Workers {
		if j.Pack == "" {
			cases = append(cases, Case{"BuildStore/workers=" + workersText(n), "rule", Here(func() (Work, error) {
				_, work, err := j.build(n)
				return work, err
			})})
		}
		cases = append(cases, Case{"Run" + suffix + "/workers=" + workersText(n), "url", run(j, n)})
	}
	return cases, nil
}

// workersText returns a number of workers for the name of a case.
func workersText(n int) string {
	if n <= 0 {
		return "default"
	}
	return strconv.Itoa(n)
}

// withPack returns a function that opens the pack, calls do with the store, and closes it. workers is the number for
// the store.
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

// parse reads and parses all rules on one goroutine. The units of work are rules. Responses whose bodies do not count
// in the dialect are skipped.
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

// build reads all rules and builds the store. The units of work are the rules in force; those of equal texts count
// once.
func (j Job) build(workers int) (*engine.Store, Work, error) {
	var work Work
	all, err := j.Rules()
	if err != nil {
		return nil, work, err
	}
	opt := j.Store
	opt.Workers = workers
	counted := func(yield func(robots.Response, error) bool) {
		for r, err := range all {
			work.Bytes += int64(len(r.Body))
			if !yield(r, err) {
				return
			}
		}
	}
	store, err := engine.BuildStore(counted, opt)
	if err != nil {
		return nil, work, err
	}
	work.Units = int64(store.Memory().Rules)
	return store, work, nil
}

// read reads the logs on one goroutine. The units of work are URLs.
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

// run decides the URLs of the logs, and writes and commits the output; without j.Sink, it discards the verdicts. The
// units of work are URLs.
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

// nowhere is a Sink that discards everything.
type nowhere struct{}

// Write does nothing.
func (nowhere) Write(*engine.Batch) error { return nil }

// Commit does nothing.
func (nowhere) Commit() error { return nil }

// Close does nothing.
func (nowhere) Close() error { return nil }
