package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robobatch/robobatch/robots"
)

var errFault = errors.New("damaged frame")

// A memorySource yields URLs in batches of random sizes, some of them tiny, from several inputs.
type memorySource struct {
	inputs  [][]string
	most    int           // maximum number of rows of a batch
	err     error         // the error at the end of the rows
	endless bool          // start again after the last input
	pause   time.Duration // maximum duration of Next
	onNext  func()

	rng     *rand.Rand
	input   int
	row     int
	batches int
}

func newSource(most int, inputs ...[]string) *memorySource {
	return &memorySource{inputs: inputs, most: most, rng: rand.New(rand.NewPCG(uint64(most), 1))}
}

func (s *memorySource) Next(b *Batch) bool {
	b.Reset()
	if s.onNext != nil {
		s.onNext()
	}
	if s.pause > 0 {
		time.Sleep(time.Duration(s.rng.Int64N(int64(s.pause))))
	}
	for s.input < len(s.inputs) && s.row == len(s.inputs[s.input]) {
		s.input++
		s.row = 0
	}
	if s.input == len(s.inputs) {
		if !s.endless {
			return false
		}
		s.input = 0
	}
	b.Input = s.input
	for n := 1 + s.rng.IntN(s.most); n > 0 && s.row < len(s.inputs[s.input]); n-- {
		appendRow(b, s.inputs[s.input][s.row], int64(s.row+1))
		s.row++
	}
	s.batches++
	return true
}

func (s *memorySource) Err() error {
	if s.input == len(s.inputs) {
		return s.err
	}
	return nil
}

func (s *memorySource) Close() error { return nil }

// A memorySink writes the rows as text, one per line, and counts them.
type memorySink struct {
	store   *Store
	text    strings.Builder
	stats   Stats
	origins map[string]bool
	strays  map[string]int64 // rows by origin that the store does not know
	sites   map[string]int64 // rows by origin
	rules   map[BusyRule]int64
	writes  int
	failAt  int           // number of the write that fails, from 1; 0 means none
	pause   time.Duration // duration of each Write
	onWrite func()
}

func newSink(s *Store) *memorySink {
	sink := &memorySink{store: s, origins: map[string]bool{}, strays: map[string]int64{}, sites: map[string]int64{}, rules: map[BusyRule]int64{}}
	sink.stats.Agents = make([]AgentCount, len(s.Options().Agents))
	return sink
}

func (s *memorySink) Write(b *Batch) error {
	s.writes++
	time.Sleep(s.pause)
	if s.onWrite != nil {
		s.onWrite()
	}
	if s.writes == s.failAt {
		return fmt.Errorf("write 3: %w", errFault)
	}
	for i := range b.Len() {
		what := describe(s.store, b, i)
		fmt.Fprintf(&s.text, "%d:%d %s %s\n", b.Input, b.Lines[i], b.URL(i), what)
		if origin, _, _ := strings.Cut(what, " |"); origin != "-" {
			origin = strings.TrimPrefix(origin, "stray ")
			s.origins[origin] = true
			s.sites[origin]++
			if _, stray := b.Sites[i].Stray(); stray {
				s.strays[origin]++
			}
		}
		s.count(b, i)
	}
	s.stats.Origins = int64(len(s.origins))
	s.stats.Strays, s.stats.Busiest, s.stats.TopOrigins, s.stats.TopRules = 0, [Busy]BusyOrigin{}, [Top]BusyOrigin{}, [Top]BusyRule{}
	for _, n := range s.strays {
		s.stats.Strays += n
	}
	copy(s.stats.Busiest[:], busiestOf(s.strays))
	copy(s.stats.TopOrigins[:], busiestOf(s.sites))
	var rules []BusyRule
	for r, n := range s.rules {
		r.Rows = n
		rules = append(rules, r)
	}
	slices.SortFunc(rules, func(a, b BusyRule) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Rule.Line, b.Rule.Line))
	})
	copy(s.stats.TopRules[:], rules)
	return nil
}

// busiestOf returns all origins, those with the most rows first.
func busiestOf(rows map[string]int64) (all []BusyOrigin) {
	names := slices.Sorted(maps.Keys(rows))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rows[b], rows[a]) })
	for _, name := range names {
		all = append(all, BusyOrigin{name, rows[name]})
	}
	return all
}

// count counts like Run in the simplest way.
func (s *memorySink) count(b *Batch, i int) {
	n := len(s.store.Options().Agents)
	s.stats.URLs++
	s.stats.URLBytes += int64(len(b.URL(i)))
	if b.Verdicts[i*n].Reason == ReasonBadURL {
		s.stats.BadBytes += int64(len(b.URL(i)))
	}
	for a, v := range b.Verdicts[i*n : (i+1)*n] {
		s.stats.Rows++
		*[...]*int64{&s.stats.Unknown, &s.stats.Denied, &s.stats.Allowed}[v.Access]++
		count := &s.stats.Agents[a]
		*[...]*int64{&count.Unknown, &count.Denied, &count.Allowed}[v.Access]++
		s.stats.Reasons[v.Reason]++
		if v.Rule != NoRule {
			look := s.store.NewLookup()
			look.Use(b)
			rule := look.Rule(b.Rulings[i], a, v.Rule)
			s.stats.RuleLines += int64(rule.Line)
			s.rules[BusyRule{Origin: look.Origin(b.Sites[i]), Rule: rule}]++
		}
	}
}

func (s *memorySink) Close() error { return nil }

// runStore returns a store of several origins and agents.
func runStore(tb testing.TB) *Store {
	tb.Helper()
	return buildStore(tb, StoreOptions{Dialect: robots.RFC9309, Agents: []string{"*", "GPTBot", "b"}, Missing: MissingUnknown},
		"https://a.com", "User-agent: *\nDisallow: /1\nAllow: /*3\nUser-agent: b\nDisallow: /\nAllow: /2",
		"https://b.com", "User-agent: b\nDisallow: /*1*2\n",
		"http://b.com", "User-agent: *\nDisallow: /*7\n"+manyFloating(60),
		"https://c.com", "")
}

// randomURLs returns URLs of known, unknown and bad origins, and lines that were too long.
func randomURLs(seed uint64, n int) []string {
	rng := rand.New(rand.NewPCG(seed, 2))
	prefixes := []string{
		"https://a.com", "https://b.com", "http://b.com", "https://c.com", "https://A.com", "https://b.com:443", "https://u@a.com",
		"https://stray.com", "https://STRAY.com", "http://x.org:81", "https://a.com:x", "bad", "",
	}
	urls := make([]string, n)
	for i := range urls {
		if i > 0 && rng.IntN(3) == 0 {
			urls[i] = urls[i-1]
			continue
		}
		if prefix := prefixes[rng.IntN(len(prefixes))]; prefix != "" {
			urls[i] = fmt.Sprintf("%s/%d/%d", prefix, rng.IntN(90), rng.IntN(90))
		}
		if rng.IntN(40) == 0 {
			urls[i] = "https://a.com/robots.txt"
		}
	}
	return urls
}

// TestRun checks that the sink receives the same rows in the same order for any number of workers, any batch sizes and
// delays, and that the counts are right.
func TestRun(t *testing.T) {
	s := runStore(t)
	inputs := [][]string{randomURLs(1, 3000), nil, randomURLs(2, 1), randomURLs(3, 2000)}
	var want *memorySink
	for _, workers := range []int{1, 2, 8, 0} {
		for _, most := range []int{1, 3, 300, 10_000} {
			for _, pause := range [][2]time.Duration{{0, 0}, {time.Microsecond, 0}, {0, time.Microsecond}, {time.Millisecond, time.Millisecond / 2}} {
				synctest.Test(t, func(t *testing.T) {
					src, dst := newSource(most, inputs...), newSink(s)
					src.pause, dst.pause = pause[0], pause[1]
					stats, err := Run(t.Context(), s, src, dst, Options{Workers: workers})
					if err != nil {
						t.Fatal(err)
					}
					if want == nil {
						want = dst
					}
					if dst.text.String() != want.text.String() {
						t.Errorf("%d workers, batches of up to %d rows: the sink got different rows", workers, most)
					}
					if !reflect.DeepEqual(stats, dst.stats) {
						t.Errorf("%d workers, batches of up to %d rows:\nstats   %+v\nrecount %+v", workers, most, stats, dst.stats)
					}
				})
			}
		}
	}
	if lines := strings.Count(want.text.String(), "\n"); lines != 5001 || want.stats.URLs != 5001 || want.stats.Rows != 3*5001 {
		t.Errorf("%d lines, %+v", lines, want.stats)
	}
	for _, r := range []Reason{ReasonRule, ReasonDefault, ReasonNoGroup, ReasonNoRobots, ReasonRobotsTxt, ReasonBadURL} {
		if want.stats.Reasons[r] == 0 {
			t.Errorf("no verdict for reason %s", r)
		}
	}
}

func TestRunEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runStore(t)
		dst := newSink(s)
		stats, err := Run(t.Context(), s, newSource(1), dst, Options{})
		if err != nil || !reflect.DeepEqual(stats, dst.stats) || dst.writes != 0 {
			t.Errorf("%+v, %v, %d writes", stats, err, dst.writes)
		}
	})
}

// TestRunSourceError checks that an error of the source comes after all rows before it.
func TestRunSourceError(t *testing.T) {
	s := runStore(t)
	for _, rows := range []int{0, 1, 500} {
		for _, workers := range []int{1, 2, 8} {
			synctest.Test(t, func(t *testing.T) {
				src, dst := newSource(7, randomURLs(5, rows)), newSink(s)
				src.err, dst.pause = errFault, time.Millisecond // so that the error occurs long before the last write
				stats, err := Run(t.Context(), s, src, dst, Options{Workers: workers})
				if se, ok := errors.AsType[*SourceError](err); !ok || !errors.Is(err, errFault) || se.Error() != errFault.Error() {
					t.Errorf("error %v, want a SourceError with the fault", err)
				}
				if dst.stats.URLs != int64(rows) || !reflect.DeepEqual(stats, dst.stats) {
					t.Errorf("%d rows before the fault: stats %+v, sink has %+v", rows, stats, dst.stats)
				}
			})
		}
	}
}

// TestRunSinkError checks that a run ends with the first error of the sink, whatever the source still has. A goroutine
// that remains, or a deadlock, fails the test.
func TestRunSinkError(t *testing.T) {
	s := runStore(t)
	for _, failAt := range []int{1, 2, 30} {
		for _, workers := range []int{1, 2, 8} {
			for _, endless := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					src, dst := newSource(5, randomURLs(6, 400)), newSink(s)
					src.endless, src.err, dst.failAt = endless, errors.New("at the end"), failAt
					_, err := Run(t.Context(), s, src, dst, Options{Workers: workers})
					if se, ok := errors.AsType[*SinkError](err); !ok || !errors.Is(err, errFault) || se.Error() != "write 3: damaged frame" {
						t.Errorf("error %v, want a SinkError of the fault", err)
					}
					if dst.writes != failAt {
						t.Errorf("%d writes, but write %d failed", dst.writes, failAt)
					}
					if most := failAt + 2*workers + 3; src.batches > most {
						t.Errorf("%d batches read, but at most %d can be in progress", src.batches, most)
					}
				})
			}
		}
	}
}

// TestRunCancel cancels the context at each end of the run.
func TestRunCancel(t *testing.T) {
	s := runStore(t)
	for _, at := range []int{0, 1, 20} {
		for _, workers := range []int{1, 2, 8} {
			for _, fromSink := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					src, dst := newSource(5, randomURLs(7, 400)), newSink(s)
					src.endless = true
					if at == 0 {
						cancel()
					}
					if fromSink {
						dst.onWrite = func() {
							if dst.writes == at {
								cancel()
							}
						}
					} else {
						src.onNext = func() {
							if src.batches == at {
								cancel()
							}
						}
					}
					stats, err := Run(ctx, s, src, dst, Options{Workers: workers})
					if !errors.Is(err, context.Canceled) {
						t.Errorf("error %v, want that of the context", err)
					}
					if stats.URLs < dst.stats.URLs {
						t.Errorf("%d URLs counted, %d written", stats.URLs, dst.stats.URLs)
					}
					if at == 0 && dst.writes+src.batches > 0 || fromSink && dst.writes > max(at, 1) {
						t.Errorf("cancelled at %d, %d batches read and %d written", at, src.batches, dst.writes)
					}
				})
			}
		}
	}
}

// TestRunBatches checks that a run has a fixed number of batches, which keep their memory.
func TestRunBatches(t *testing.T) {
	s := runStore(t)
	seen := map[*Batch]bool{}
	src, dst := newSource(5, randomURLs(8, 4000)), newSink(s)
	counted := countingSource{src, seen}
	if _, err := Run(t.Context(), s, counted, dst, Options{Workers: 3}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2*3+2 {
		t.Errorf("%d batches in use, want 8", len(seen))
	}
}

// A countingSource records the batches that it fills.
type countingSource struct {
	*memorySource
	seen map[*Batch]bool
}

func (s countingSource) Next(b *Batch) bool {
	s.seen[b] = true
	return s.memorySource.Next(b)
}
