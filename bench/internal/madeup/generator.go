// Package madeup generates robots.txt files of any number of origins, and logs of any number of their URLs, for
// benchmarks. It hides how these resemble those of the web. Only the packages below bench import it.
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

// A Spec describes the data that a Generator makes. The same Spec and Corpus give the same bytes.
type Spec struct {
	Origins int   // number of distinct origins with a robots.txt; at least 1
	URLs    int64 // number of URLs in the log
	Seed    uint64
	Aimed   int  // percentage of the URLs that are made from a rule of their origin; the others are real paths or similar ones
	Even    bool // all origins have the same number of URLs, or one more
}

// AddFlags adds flags for the spec. urls is the default number of URLs.
func (s *Spec) AddFlags(flags *flag.FlagSet, urls int64) {
	flags.IntVar(&s.Origins, "origins", 30_000, "how many origins are made up")
	flags.Int64Var(&s.URLs, "urls", urls, "URLs of each log that is made up")
	flags.Uint64Var(&s.Seed, "seed", 1, "another seed gives other rules and URLs")
	flags.IntVar(&s.Aimed, "aimed", 25, "percent of the URLs that are made from a rule of their origin")
}

// A Generator makes robots.txt files of any number of origins, and a log of any number of their URLs, from real ones.
// It keeps the real texts and 8 bytes per origin: each text and URL is made from its number when it is needed, in any
// order. It is safe for concurrent use.
//
// Files have the distribution of bytes, rules, wildcards and duplicates of the web (webShares, distinctShare). URLs
// have 85 bytes on average, 11.5 % have a query, and the 100 most frequent origins have 80 % of them.
type Generator struct {
	spec   Spec
	bases  []base
	weight []float64 // of bases, cumulative
	words  vocabulary
	fresh  float64 // share of origins with a text of their own
	paths  []string
	query  float64 // share of paths to which a query is added
	starts []int64 // origin i has the URLs with the numbers starts[i] to starts[i+1]-1
}

// The seeds of independent choices.
const (
	seedText = iota + 1
	seedBase
	seedHost
	seedPath
	seedQuery
	seedRank
	seedOrder
)

// New reads the corpus, and prepares the texts of the spec. It returns an error if the corpus cannot be read or the
// spec has no origins.
func New(c *corpus.Corpus, s Spec) (*Generator, error) {
	if s.Origins < 1 || s.URLs < 0 {
		return nil, fmt.Errorf("%d origins, %d URLs: nothing to make up", s.Origins, s.URLs)
	}
	all, err := c.Responses()
	if err != nil {
		return nil, fmt.Errorf("read rules to start from: %w", err)
	}
	// Parse the distinct texts of the corpus, in the order of their origins.
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
			for _, c := range partition { // change the weights of the class to its share
				sum := 0.0
				for i := range bases {
					if c.has(&bases[i]) {
						sum += weights[i]
					}
				}
				for i := range bases {
					if c.has(&bases[i]) && sum > 0 {
						weights[i] *= c.share / sum
					}
				}
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
	// Collect the words of the bases in lower case.
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
	// Compute the share of origins that need a text of their own, so that the share of distinct texts is right. A text
	// without replaceable words is always the same.
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
	g.starts = firstURLs(s)
	return g, nil
}

// distinctShare is the share of distinct texts on the web: 21,153 among 36,046 origins. Origins without a text of their
// own draw one from a pool with one text per poolShare origins, in which the first texts are drawn far more often than
// the last.
const (
	distinctShare = 21153.0 / 36046
	poolShare     = 25
	poolDistinct  = 0.75 / poolShare // about three quarters of the pool are drawn
	poolExponent  = 1.1
	poolOffset    = 20
)

// textSeed returns the seed of an origin's text. Equal seeds give equal texts.
func (g *Generator) textSeed(origin int) uint64 {
	h := mix(g.spec.Seed+uint64(origin), seedText)
	if toUnit(h) < g.fresh {
		return h
	}
	rng := rand.New(rand.NewPCG(h, seedText))
	k := rand.NewZipf(rng, poolExponent, poolOffset, uint64(g.spec.Origins/poolShare)).Uint64()
	return mix(mix(g.spec.Seed, seedText), k)
}

// baseOf returns the base of a text.
func (g *Generator) baseOf(textSeed uint64) *base {
	return &g.bases[min(sort.SearchFloat64s(g.weight, toUnit(mix(textSeed, seedBase))), len(g.weight)-1)]
}

// Origin returns origin i, from 0 to Spec.Origins-1. Different origins have different hosts.
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

// Responses yields the robots.txt of all origins, without errors. The receiver owns the bodies.
func (g *Generator) Responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for i := range g.spec.Origins {
			origin, seed := g.Origin(i), g.textSeed(i)
			r := robots.Response{
				Origin: origin, Name: strings.Replace(string(origin), "://", "_", 1) + ".txt", Status: http.StatusOK,
				Body: g.baseOf(seed).text(&g.words, seed),
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// A class is a set of robots.txt files, with its share of all files on the web.
type class struct {
	share float64
	has   func(*base) bool
}

// webShares describe 36,046 robots.txt files of a web crawl, partitioned by bytes (median 271, 99th percentile 69,000),
// by rules (4 and 454), and by whether they have a wildcard.
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

// rakeRounds is enough to adjust the shares of 2,561 bases to within 0.1 %.
const rakeRounds = 200

// mix returns a pseudo-random number. Each bit of it depends on all bits of the arguments.
func mix(a, b uint64) uint64 {
	x := a ^ (b+0x9e3779b97f4a7c15)*0xbf58476d1ce4e5b9
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// toUnit returns h as a number in [0, 1).
func toUnit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// A shuffle is a random permutation of the numbers below n that needs no memory: a Feistel network over the bits of n,
// which is repeated while the result is not below n.
type shuffle struct{ n, seed uint64 }

// at returns the number at position i of the permutation. i must be below n.
func (s shuffle) at(i uint64) uint64 {
	half := (bits.Len64(s.n) + 1) / 2 // number of bits of each half
	mask := uint64(1)<<half - 1
	for {
		left, right := i>>half, i&mask
		for round := range uint64(4) {
			left, right = right, left^mix(right, s.seed+round)&mask
		}
		if i = left<<half | right; i < s.n {
			return i
		}
	}
}
