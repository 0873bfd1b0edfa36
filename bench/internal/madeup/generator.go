// Package madeup makes up robots.txt of any number of origins, and logs of any number of their
// URLs, for benchmarks. It hides how they come to be like the web's. Only the packages below
// bench import it.
package madeup

import (
	"cmp"
	"flag"
	"fmt"
	"iter"
	"math/bits"
	"math/rand/v2"
	"net/http"
	"slices"
	"sort"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/robots"
)

// A Spec says which texts a Generator makes up. The same Spec and Corpus give the same bytes.
type Spec struct {
	Origins int   // distinct ones, each with a robots.txt; at least 1
	URLs    int64 // of the log
	Seed    uint64
	Aimed   int  // percent of the URLs that are made from a rule of their origin; the others are real paths, or nearly
	Even    bool // all origins have equally many URLs, give or take one
}

// AddFlags adds flags that set the spec, with so many URLs if they are not given.
func (s *Spec) AddFlags(flags *flag.FlagSet, urls int64) {
	flags.IntVar(&s.Origins, "origins", 30_000, "how many origins are made up")
	flags.Int64Var(&s.URLs, "urls", urls, "URLs of each log that is made up")
	flags.Uint64Var(&s.Seed, "seed", 1, "another seed gives other rules and URLs")
	flags.IntVar(&s.Aimed, "aimed", 25, "percent of the URLs that are made from a rule of their origin")
}

// A Generator makes up the robots.txt of any number of origins and a log of any number of their
// URLs, from real ones. It keeps the real texts and 8 bytes for each origin: texts and URLs are made
// when asked for, each from its number, so that they may be had in any order. It is safe for
// concurrent use.
//
// Rules have the bytes, rules, wildcards and repetitions of the web's (webShares, distinctShare).
// URLs have an average of 85 bytes, 11.5 % of them a query; the 100 most frequent origins have 80 %
// of them.
type Generator struct {
	spec   Spec
	bases  []base
	weight []float64 // of bases, cumulated
	words  vocabulary
	fresh  float64 // share of origins whose text is of their own number
	paths  []string
	query  float64 // share of paths that are given a query
	starts []int64 // origin i has the URLs of number starts[i] to starts[i+1]
}

// The seeds of choices independent of each other.
const (
	seedText = iota + 1
	seedBase
	seedHost
	seedPath
	seedQuery
	seedRank
	seedOrder
)

// New reads the corpus and plans the texts of the spec.
func New(c *corpus.Corpus, s Spec) (*Generator, error) {
	if s.Origins < 1 || s.URLs < 0 {
		return nil, fmt.Errorf("%d origins, %d URLs: nothing to make up", s.Origins, s.URLs)
	}
	all, err := c.Responses()
	if err != nil {
		return nil, fmt.Errorf("read rules to start from: %w", err)
	}
	// Take the distinct texts of a corpus apart, in the order of their origins.
	slices.SortFunc(all, func(a, b robots.Response) int { return cmp.Compare(a.Origin, b.Origin) })
	bodies, _ := corpus.Distinct(all)
	bases := make([]base, 0, len(bodies))
	for _, body := range bodies {
		bases = append(bases, newBase(body))
	}
	g := &Generator{spec: s, bases: bases}
	weights := make([]float64, len(g.bases))
	for i := range weights {
		weights[i] = 1 / float64(len(g.bases))
	}
	for range rakeRounds {
		for _, partition := range webShares {
			for _, c := range partition {
				scale(g.bases, weights, c)
			}
		}
	}
	total := 0.0
	for i, w := range weights {
		total += w
		weights[i] = total
	}
	for i := range weights {
		weights[i] /= total
	}
	g.weight = weights
	// Collect the words in lower case of the bases.
	var v vocabulary
	for _, b := range g.bases {
		for _, s := range b.spots {
			v[s.len] = append(v[s.len], strings.ToLower(string(b.body[s.off:s.off+s.len])))
		}
	}
	for i := range v {
		slices.Sort(v[i])
		v[i] = slices.Compact(v[i])
	}
	g.words = v
	// So many origins need a text of their own for the share of distinct texts to
	// be as wanted. Text without words to be replaced is always the same.
	mutable, last := 0.0, 0.0
	for i, w := range g.weight {
		if len(g.bases[i].spots) > 0 {
			mutable += w - last
		}
		last = w
	}
	g.fresh = min(1, (distinctShare/mutable - poolDistinct))
	if g.paths, err = readPaths(c.Logs[0]); err != nil {
		return nil, fmt.Errorf("read paths to start from: %w", err)
	}
	n := 0
	for _, p := range g.paths {
		if strings.Contains(p, "?") {
			n++
		}
	}
	has := float64(n) / float64(len(g.paths))
	g.query = max(0, (withQuery-has)/(1-has))
	g.starts = spread(s)
	return g, nil
}

// distinctShare is the share of distinct texts on the web: 21,153 among 36,046 origins. The texts of several origins
// are drawn from a pool with one text for each poolShare origins, in which the first texts are drawn far more often
// than the last.
const (
	distinctShare = 21153.0 / 36046
	poolShare     = 25
	poolDistinct  = 0.75 / poolShare // of the pool, about three quarters are drawn at all
	poolExponent  = 1.1
	poolOffset    = 20
)

// textSeed returns the seed of the text of an origin: equal seeds, equal texts.
func (g *Generator) textSeed(origin int) uint64 {
	h := mix(g.spec.Seed+uint64(origin), seedText)
	if unit(h) < g.fresh {
		return h
	}
	rng := rand.New(rand.NewPCG(h, seedText))
	k := rand.NewZipf(rng, poolExponent, poolOffset, uint64(g.spec.Origins/poolShare)).Uint64()
	return mix(mix(g.spec.Seed, seedText), k)
}

// baseOf returns the base of a text.
func (g *Generator) baseOf(textSeed uint64) *base {
	return &g.bases[min(sort.SearchFloat64s(g.weight, unit(mix(textSeed, seedBase))), len(g.weight)-1)]
}

// Origin returns the origin of number i, from 0 up to Spec.Origins.
func (g *Generator) Origin(i int) robots.Origin {
	h := mix(g.spec.Seed+uint64(i), seedHost)
	var sb strings.Builder
	sb.WriteString("https://")
	if h%4 == 0 {
		sb.WriteString("www.")
	}
	word := "site"
	if others := g.words[3+h>>8%4]; len(others) > 0 {
		word = others[(h>>16)%uint64(len(others))]
	}
	fmt.Fprintf(&sb, "%s%d.%s", word, i, tlds[(h>>4)%uint64(len(tlds))])
	return robots.Origin(sb.String())
}

var tlds = strings.Fields("test test test example") // reserved names (RFC 2606)

// Responses yields the robots.txt of all origins. The receiver owns the bodies. There are no
// errors.
func (g *Generator) Responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for i := range g.spec.Origins {
			if !yield(g.response(i), nil) {
				return
			}
		}
	}
}

func (g *Generator) response(i int) robots.Response {
	seed := g.textSeed(i)
	origin := g.Origin(i)
	return robots.Response{
		Origin: origin, Name: strings.Replace(string(origin), "://", "_", 1) + ".txt", Status: http.StatusOK,
		Body: g.baseOf(seed).text(&g.words, seed),
	}
}

// A class is a part of the robots.txt files of the web, with its share.
type class struct {
	share float64
	has   func(*base) bool
}

// webShares describe 36,046 robots.txt of a crawl of the web, in partitions of them:
// median and 99th percentile of the bytes (271 and 69,000) and of the rules (4 and 454), and those
// with a wildcard.
var webShares = [][]class{
	{
		{0.50, func(b *base) bool { return len(b.body) < 271 }},
		{0.4895, func(b *base) bool { return len(b.body) >= 271 && len(b.body) < 69_000 }},
		{0.0105, func(b *base) bool { return len(b.body) >= 69_000 }},
	},
	{
		{0.48, func(b *base) bool { return b.rules < 4 }},
		{0.04, func(b *base) bool { return b.rules == 4 }},
		{0.47, func(b *base) bool { return b.rules > 4 && b.rules < 454 }},
		{0.01, func(b *base) bool { return b.rules >= 454 }},
	},
	{
		{0.32, func(b *base) bool { return b.wild }},
		{0.68, func(b *base) bool { return !b.wild }},
	},
}

// rakeRounds is enough for the shares of 2,561 bases to be within 0.1 % of those wanted.
const rakeRounds = 200

// scale gives a class its share.
func scale(bases []base, weights []float64, c class) {
	sum := 0.0
	for i := range bases {
		if c.has(&bases[i]) {
			sum += weights[i]
		}
	}
	if sum == 0 {
		return
	}
	for i := range bases {
		if c.has(&bases[i]) {
			weights[i] *= c.share / sum
		}
	}
}

// mix returns a number that depends on all bits of its arguments and looks random.
func mix(a, b uint64) uint64 {
	x := a ^ (b+0x9e3779b97f4a7c15)*0xbf58476d1ce4e5b9
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit returns h as a number from 0 up to 1.
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// A shuffle is a random order of the numbers below n that takes no memory: a Feistel network over
// as many bits as n has, applied again while the result is not below n.
type shuffle struct {
	n, seed uint64
	half    uint // bits of each half
}

func newShuffle(n, seed uint64) shuffle {
	return shuffle{n, seed, uint(bits.Len64(n)+1) / 2}
}

// at returns the number at place i < n.
func (s shuffle) at(i uint64) uint64 {
	mask := uint64(1)<<s.half - 1
	for {
		left, right := i>>s.half, i&mask
		for round := range uint64(4) {
			left, right = right, left^mix(right, s.seed+round)&mask
		}
		if i = left<<s.half | right; i < s.n {
			return i
		}
	}
}
