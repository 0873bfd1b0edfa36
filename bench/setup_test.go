package bench

import (
	"iter"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// dialect is the dialect of all benchmarks: the command's default.
const dialect = robots.Google

// A place is a location of a corpus.
type place struct {
	name   string
	corpus func(dir string) *corpus.Corpus
	dir    func(tb testing.TB) string // skips if it does not exist
}

// corpora are the data of the benchmarks.
var corpora = []place{
	{"quickstart", corpus.Quickstart, func(testing.TB) string { return filepath.Join("..", "testdata", "quickstart") }},
	{"collection", corpus.Collection, func(tb testing.TB) string {
		tb.Helper()
		return filepath.Join(repcase.SharedDir(tb), "data")
	}},
}

// open returns the corpus, or skips.
func (p place) open(tb testing.TB) *corpus.Corpus {
	tb.Helper()
	return p.corpus(p.dir(tb))
}

// An input is one log of a corpus.
type input struct {
	name string // "data=collection/log=real"
	open func(tb testing.TB) (*corpus.Corpus, corpus.Log)
}

// inputs returns all logs.
func inputs() (all []input) {
	for _, p := range corpora {
		for i, l := range p.corpus("").Logs {
			all = append(all, input{"data=" + p.name + "/log=" + l.Name, func(tb testing.TB) (*corpus.Corpus, corpus.Log) {
				tb.Helper()
				c := p.open(tb)
				return c, c.Logs[i]
			}})
		}
	}
	return all
}

// A meter measures a benchmark loop, b.Loop, which must follow at once.
type meter struct {
	b   *testing.B
	cpu time.Duration
}

// startMeter collects garbage and starts the clock.
func startMeter(b *testing.B) meter {
	b.Helper()
	b.ReportAllocs()
	runtime.GC()
	return meter{b, measure.CPU()}
}

// report reports the time per unit ("url" or "rule"). n and bytes are the numbers of units and bytes per iteration. CPU
// time is that of the whole process, including all workers and the garbage collector.
func (m meter) report(unit string, units int, bytes int64) {
	cpu := measure.CPU() - m.cpu
	turns := float64(m.b.N)
	all := turns * float64(units)
	m.b.SetBytes(bytes)
	m.b.ReportMetric(all/m.b.Elapsed().Seconds(), unit+"s/s")
	if cpu > 0 {
		m.b.ReportMetric(float64(cpu.Nanoseconds())/all, "cpu-ns/"+unit)
		m.b.ReportMetric(turns*float64(bytes)/1e6/cpu.Seconds(), "MB/cpu-s")
	}
}

// responses reads the rules of a corpus.
func responses(tb testing.TB, c *corpus.Corpus) []robots.Response {
	tb.Helper()
	all, err := c.Responses()
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// batches reads a log, and counts its URLs and their bytes.
func batches(tb testing.TB, l corpus.Log) (all []engine.Batch, urls int, size int64) {
	tb.Helper()
	all, err := l.Batches()
	if err != nil {
		tb.Fatal(err)
	}
	for i := range all {
		urls += all[i].Len()
		for _, u := range all[i].URLs {
			size += int64(u.Len)
		}
	}
	return all, urls, size
}

// buildStore compiles rules for the agent "*".
func buildStore(tb testing.TB, all []robots.Response, workers int) *engine.Store {
	tb.Helper()
	store, err := engine.BuildStore(withoutErrors(all), engine.StoreOptions{Dialect: dialect, Workers: workers})
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func withoutErrors(all []robots.Response) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}
