package bench

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// BenchmarkParse measures robots.Parse on each distinct text. It counts all rules, for any crawler.
func BenchmarkParse(b *testing.B) {
	for _, p := range corpora {
		b.Run("data="+p.name, func(b *testing.B) {
			c := p.open(b)
			bodies, size := corpus.Distinct(responses(b, c))
			rules := 0
			m := startMeter(b)
			for b.Loop() {
				rules = 0
				for _, body := range bodies {
					for _, g := range robots.Parse(body, dialect).Groups {
						rules += len(g.Rules)
					}
				}
			}
			m.report("rule", rules, size)
		})
	}
}

// BenchmarkCompile measures automaton.Compile on the rules for "*" in each distinct text. The bytes are those of the
// patterns.
func BenchmarkCompile(b *testing.B) {
	for _, p := range corpora {
		b.Run("data="+p.name, func(b *testing.B) {
			c := p.open(b)
			bodies, _ := corpus.Distinct(responses(b, c))
			sets := make([][]automaton.Rule, 0, len(bodies))
			rules, size := 0, int64(0)
			for _, body := range bodies {
				in := automatonRules(robots.Parse(body, dialect))
				sets = append(sets, in)
				rules += len(in)
				for _, r := range in {
					size += int64(len(r.Pattern))
				}
			}
			m := startMeter(b)
			for b.Loop() {
				for _, in := range sets {
					if _, _, err := automaton.Compile(in); err != nil {
						b.Fatal(err)
					}
				}
			}
			m.report("rule", rules, size)
		})
	}
}

// BenchmarkParseCompile measures parsing and compiling each distinct text, and only parsing, in turns. The metric
// both/parse is the median of their ratio over the files with rules for "*".
func BenchmarkParseCompile(b *testing.B) {
	for _, p := range corpora {
		b.Run("data="+p.name, func(b *testing.B) {
			bodies, size := corpus.Distinct(responses(b, p.open(b)))
			ratios := make([]float64, 0, len(bodies))
			rules := 0
			m := startMeter(b)
			for b.Loop() {
				ratios, rules = ratios[:0], 0
				for _, body := range bodies {
					f := robots.Parse(body, dialect)
					if in := automatonRules(f); len(in) > 0 {
						rules += len(in)
						ratios = append(ratios, parseCompileRatio(b, body))
					}
				}
			}
			m.report("rule", rules, size)
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "both/parse")
		})
	}
}

// parseCompileRatio returns the ratio of the time for parsing and compiling to that for parsing: the median of rounds
// that measure both in turns. A single thread does both, so wall time can be used: interruptions do not affect the
// median.
func parseCompileRatio(b *testing.B, body []byte) float64 {
	b.Helper()
	const rounds, turns = 5, 8
	var (
		ratios [rounds]float64
		in     []automaton.Rule // reused, as in package engine
	)
	for i := range ratios {
		start := time.Now()
		for range turns {
			robots.Parse(body, dialect)
		}
		parsed := time.Now()
		for range turns {
			in = appendRules(in[:0], robots.Parse(body, dialect))
			if _, _, err := automaton.Compile(in); err != nil {
				b.Fatal(err)
			}
			clear(in)
		}
		ratios[i] = float64(time.Since(parsed)) / float64(parsed.Sub(start))
	}
	slices.Sort(ratios[:])
	return ratios[rounds/2]
}

// BenchmarkBuildStore measures engine.BuildStore with one worker, from bodies in memory. The bytes are those of all
// bodies. The rules are those in force for "*", counted once for equal texts, and so are the metrics of memory:
//
//	tables-B/rule-B   bytes of the automata for each byte of rule text
//	refs-B/rule-B     the same with what the columns rule_line and rule need beside that text
//	heap-B/rule-B     all that the store holds on the heap, its rules' text and its map of origins included
func BenchmarkBuildStore(b *testing.B) {
	for _, p := range corpora {
		b.Run("data="+p.name, func(b *testing.B) {
			c := p.open(b)
			all := responses(b, c)
			mem, used := storeMemory(b, all)
			m := startMeter(b)
			for b.Loop() {
				buildStore(b, all, 1)
			}
			m.report("rule", mem.Rules, bodyBytes(all))
			text := float64(mem.Text)
			b.ReportMetric(float64(mem.Tables)/text, "tables-B/rule-B")
			b.ReportMetric(float64(mem.Tables+mem.Refs)/text, "refs-B/rule-B")
			b.ReportMetric(float64(used)/text, "heap-B/rule-B")
			runtime.KeepAlive(all)
		})
	}
}

// TestTables checks that the automata of all rules take at most 1.3 bytes per byte of rule text. BenchmarkBuildStore
// prints this figure as tables-B/rule-B.
func TestTables(t *testing.T) {
	for _, p := range corpora {
		t.Run("data="+p.name, func(t *testing.T) {
			mem := buildStore(t, responses(t, p.open(t)), 1).Memory()
			ratio := float64(mem.Tables) / float64(mem.Text)
			t.Logf("%d bytes of tables for %d of rules: %.3f", mem.Tables, mem.Text, ratio)
			if mem.Rules == 0 || ratio > 1.3 {
				t.Errorf("%d rules take %.3f bytes of tables for each of their own", mem.Rules, ratio)
			}
		})
	}
}

// storeMemory returns the memory that a store of the rules reports, and the increase of the heap.
func storeMemory(b *testing.B, all []robots.Response) (mem engine.Memory, used int64) {
	b.Helper()
	before := heap()
	store := buildStore(b, all, 1)
	used = heap() - before
	mem = store.Memory()
	runtime.KeepAlive(store)
	return mem, used
}

func bodyBytes(all []robots.Response) (n int64) {
	for _, r := range all {
		n += int64(len(r.Body))
	}
	return n
}

// heap returns the number of bytes of the heap in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
