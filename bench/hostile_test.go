package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// The largest hostile input: as much of a robots.txt as is read, and a long URL.
const (
	hostileBody = 512_000
	hostilePath = 2 << 10
)

// A genome describes a robots.txt and a path. Its patterns have Segments pieces, which have Length letters of the first
// Letters of an alphabet.
type genome struct {
	Segments, Length, Letters int
	Anchor                    int // letters of the anchor, from the same alphabet
	Anchors                   int // tenths of the patterns whose anchor is a beginning of the path, of increasing length
	First                     int // tenths that start with a segment that the path lacks
	Same                      int // tenths that repeat the same piece
	Nested                    int // tenths whose last piece repeats one letter, with increasing length
	Shared                    int // tenths with the same last piece
	Absent                    int // tenths that end with a letter that the path lacks
	Apart                     int // tenths that end with different texts that the path lacks
	Ends                      int // tenths with an end anchor
	Chain                     int // letters of one more pattern, in which each letter is a segment, all the same
	Rules                     int // maximum number of rules; the size of the file is another limit
	Run                       int // length of the runs of equal letters in the path
	Period                    int // length after which the path repeats; 0 if it does not
}

// genes returns pointers to the numbers of g, and their maxima. The minimum is 0, or 1 where 0 makes no sense.
func (g *genome) genes() ([]*int, []int) {
	return []*int{
			&g.Segments, &g.Length, &g.Letters, &g.Anchor, &g.Anchors, &g.First, &g.Same, &g.Nested, &g.Shared, &g.Absent, &g.Apart, &g.Ends,
			&g.Chain, &g.Rules, &g.Run, &g.Period,
		},
		[]int{1024, 64, 60, 8, 10, 10, 10, 10, 10, 10, 10, 10, hostilePath, 40_000, 1000, 100}
}

// knownHostile are genomes that once were the slowest to match or to compile.
var knownHostile = []struct {
	name string
	genome
}{
	{"chain-waiting", genome{Letters: 1, First: 10, Nested: 10, Chain: 2048, Rules: 961, Run: 1}},
	{"chain-waiting-40k", genome{Letters: 1, First: 10, Nested: 10, Chain: 2048, Rules: 241, Run: 1}},
	{"keyed-misses", genome{Segments: 340, Length: 2, Letters: 2, Same: 10, Apart: 10, Rules: 319, Run: 1, Period: 6}},
	{"anchors-misses", genome{Segments: 340, Length: 2, Letters: 2, Anchors: 10, Same: 10, Absent: 10, Rules: 318, Run: 1, Period: 6}},
	{"chains", genome{Segments: 500, Length: 1, Letters: 2, Absent: 10, Rules: 40_000, Run: 1}},
	{"chains-tree", genome{Segments: 16, Length: 1, Letters: 2, Absent: 10, Rules: 40_000, Run: 1}},
	{"chains-mixed", genome{Segments: 351, Length: 1, Letters: 3, Anchor: 2, Nested: 1, Shared: 1, Absent: 2, Ends: 2, Chain: 1584, Rules: 22676, Run: 8, Period: 18}},
	{"long-segments", genome{Segments: 754, Length: 5, Letters: 40, Anchor: 6, First: 1, Nested: 3, Shared: 1, Absent: 1, Apart: 1, Ends: 8, Chain: 146, Rules: 121, Run: 117, Period: 4}},
}

// random draws a new value for gene i: small and large values are equally likely.
func (g *genome) random(rng *rand.Rand, i int) {
	values, most := g.genes()
	n := 1 + rng.IntN(most[i])
	for range rng.IntN(4) {
		n = 1 + rng.IntN(n)
	}
	*values[i] = n - rng.IntN(2)
}

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY0123456789"

// piece generates n letters.
func (g *genome) piece(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rng.IntN(max(1, g.Letters))]
	}
	return string(b)
}

// pattern generates pattern i.
func (g *genome) pattern(rng *rand.Rand, i int, path string) string {
	var p strings.Builder
	if rng.IntN(10) < g.Anchors {
		p.WriteString(path[:1+i%(len(path)/2)])
	} else {
		p.WriteString(path[:1+g.Anchor])
	}
	if rng.IntN(10) < g.First {
		p.WriteString("*Z")
	}
	if rng.IntN(10) < g.Same {
		p.WriteString(strings.Repeat("*"+"ba"[2-min(2, g.Length):]+strings.Repeat("a", max(0, g.Length-2)), g.Segments))
	} else {
		for range g.Segments {
			p.WriteString("*" + g.piece(rng, max(1, g.Length)))
		}
	}
	switch {
	case rng.IntN(10) < g.Nested:
		p.WriteString("*" + strings.Repeat("a", i%1000+1))
	case rng.IntN(10) < g.Shared:
		p.WriteString("*aa")
	}
	if rng.IntN(10) < g.Absent {
		p.WriteString("*Z")
	}
	if rng.IntN(10) < g.Apart {
		fmt.Fprintf(&p, "*Z%d", i)
	}
	if rng.IntN(10) < g.Ends {
		p.WriteString("$")
	}
	return p.String()
}

// make generates the file and the path.
func (g *genome) make() (body, path []byte) {
	rng := rand.New(rand.NewPCG(9309, 11))
	path = g.path(rng)
	body = []byte("user-agent:*\n")
	if g.Chain > 0 {
		body = append(body, "allow:/"+strings.Repeat("*a", g.Chain)+"*Z\n"...)
	}
	for i := range g.Rules {
		line := "allow:" + g.pattern(rng, i, string(path)) + "\n"
		if len(body)+len(line) > hostileBody {
			break
		}
		body = append(body, line...)
	}
	return body, path
}

// path generates the path. Only the last letter of its period is the first letter of the alphabet, or the letters are
// random.
func (g *genome) path(rng *rand.Rand) []byte {
	path := []byte("/")
	if g.Period > 0 && g.Run <= 1 && g.Letters > 1 {
		return append(path, strings.Repeat(strings.Repeat("b", g.Period-1)+"a", hostilePath)[:hostilePath-1]...)
	}
	for len(path) < hostilePath {
		if g.Period > 0 && len(path) > g.Period {
			path = append(path, path[len(path)-g.Period])
			continue
		}
		path = append(path, strings.Repeat(g.piece(rng, 1), 1+rng.IntN(max(1, g.Run)))...)
	}
	return path[:hostilePath]
}

// A toll is the CPU time of this process for a genome's file and path.
type toll struct{ compile, match time.Duration }

// report reports the toll as metrics.
func (t toll) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(t.match.Microseconds()), "cpu-us/match")
	b.ReportMetric(float64(t.compile.Microseconds())/1e3, "cpu-ms/compile")
}

// measure returns the toll of a genome, the least of three attempts.
func (g *genome) measure(tb testing.TB, s *automaton.Scratch) toll {
	tb.Helper()
	body, path := g.make()
	in := automatonRules(robots.Parse(body, dialect))
	best := toll{time.Hour, time.Hour}
	for range 3 {
		before := measure.CPU()
		a, _, err := automaton.Compile(in)
		if err != nil {
			tb.Fatal(err)
		}
		best.compile = min(best.compile, measure.CPU()-before)
		const turns = 4
		a.Match(path, s)
		before = measure.CPU()
		for range turns {
			a.Match(path, s)
		}
		best.match = min(best.match, (measure.CPU()-before)/turns)
	}
	return best
}

// BenchmarkHostile searches for the file of 512,000 bytes that is slowest to match with a path of 2 KiB, and the one
// that is slowest to compile, by hill climbing with a seed: random genomes, and mutants of the slowest ones. It prints
// them, and reports their CPU time as the metrics cpu-us/match and cpu-ms/compile.
//
// Known hostile genomes are measured separately, as shape=.
func BenchmarkHostile(b *testing.B) {
	for _, known := range knownHostile {
		b.Run("shape="+known.name, func(b *testing.B) {
			known.least(b, new(automaton.Scratch)).report(b)
		})
	}
	for _, want := range []string{"match", "compile"} {
		b.Run("worst="+want, func(b *testing.B) {
			rng, s := rand.New(rand.NewPCG(1, 9309)), new(automaton.Scratch)
			cost := func(t toll) time.Duration {
				if want == "match" {
					return t.match
				}
				return t.compile
			}
			var worst genome
			var most toll
			tries := 0
			for b.Loop() {
				g := mutant(rng, worst, tries%3 == 0)
				if t := g.measure(b, s); cost(t) > cost(most) {
					t = g.measure(b, s) // again, because another process may have used the processor
					if cost(t) > cost(most) {
						worst, most = g, t
					}
				}
				tries++
				runtime.GC()
			}
			worst.least(b, s).report(b)
			b.Logf("%d files; slowest to %s: %s", tries, want, describe(&worst))
		})
	}
}

// least measures a genome three times, because other processes use the processor, and returns the least of each metric.
func (g *genome) least(tb testing.TB, s *automaton.Scratch) toll {
	tb.Helper()
	least := toll{time.Hour, time.Hour}
	for range 3 {
		t := g.measure(tb, s)
		least.match, least.compile = min(least.match, t.match), min(least.compile, t.compile)
	}
	return least
}

// mutant returns a genome in which some genes, or all, are drawn again.
func mutant(rng *rand.Rand, g genome, all bool) genome {
	values, _ := g.genes()
	for i := range values {
		if all || rng.IntN(4) == 0 {
			g.random(rng, i)
		}
	}
	return g
}

// describe returns the genome, and the start of the file and the path.
func describe(g *genome) string {
	body, path := g.make()
	lines := bytes.SplitN(body, []byte("\n"), 5)
	for i, line := range lines {
		lines[i] = line[:min(len(line), 100)]
	}
	return fmt.Sprintf("%+v\n%s\npath %.60s…", *g, bytes.Join(lines[:max(0, len(lines)-1)], []byte("\n")), path)
}
