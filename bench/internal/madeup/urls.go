package madeup

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
)

// An Order is the order of the URLs in a log.
type Order string

// The orders of the same URLs.
const (
	Grouped  Order = "grouped"  // the URLs of each origin are consecutive, as a crawler writes them
	Shuffled Order = "shuffled" // random
)

// The properties of web logs.
const (
	topOrigins = 100   // the number of origins with topShare
	topShare   = 0.80  // their share of the URLs
	withQuery  = 0.115 // share of the URLs
)

// readPaths reads the paths and queries of a log, in its order. It skips URLs without a path; a log without paths is
// an error.
func readPaths(l corpus.Log) (paths []string, err error) {
	urls, err := l.URLs()
	for _, url := range urls {
		_, rest, _ := bytes.Cut(url, []byte("://"))
		if slash := bytes.IndexByte(rest, '/'); slash >= 0 {
			paths = append(paths, string(rest[slash:]))
		}
	}
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s has no URLs", l.Path)
	}
	return paths, err
}

// firstURLs returns the number of the first URL of each origin, and at the end the number of URLs. Origins have equal
// numbers of URLs if s.Even is set; otherwise these follow Zipf's law over the origins in random order.
func firstURLs(s Spec) []int64 {
	starts := make([]int64, s.Origins+1)
	if s.Even {
		each, more := s.URLs/int64(s.Origins), s.URLs%int64(s.Origins)
		for i := range starts {
			starts[i] = each*int64(i) + min(more, int64(i))
		}
		return starts
	}
	ranks := rand.New(rand.NewPCG(s.Seed, seedRank)).Perm(s.Origins)
	counts := make([]int64, s.Origins) // by rank
	last, cumulated := int64(0), 0.0
	for i, share := range zipf(s.Origins, exponent(s.Origins)) {
		cumulated += share
		end := int64(math.Round(min(1, cumulated) * float64(s.URLs)))
		counts[i], last = end-last, end
	}
	counts[0] += s.URLs - last
	for i, rank := range ranks {
		starts[i+1] = starts[i] + counts[rank]
	}
	return starts
}

// zipf returns the shares of n ranks: the share of rank k, from 1, is proportional to 1 / k^s.
func zipf(n int, s float64) []float64 {
	shares := make([]float64, n)
	total := 0.0
	for k := range shares {
		shares[k] = math.Pow(float64(k+1), -s)
		total += shares[k]
	}
	for k := range shares {
		shares[k] /= total
	}
	return shares
}

// exponent returns the s of Zipf's law with which topOrigins of n origins have topShare.
func exponent(n int) float64 {
	low, high := 0.0, 4.0
	if n <= topOrigins {
		return 1
	}
	for high-low > 1e-4 {
		s := (low + high) / 2
		share := 0.0
		for _, x := range zipf(n, s)[:topOrigins] {
			share += x
		}
		if share < topShare {
			low = s
		} else {
			high = s
		}
	}
	return high
}

// URLs yields the URLs of the log in an order. Each is valid until the next one. Equal specs give equal URLs.
func (g *Generator) URLs(order Order) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		m := &urlMaker{g: g, origin: -1}
		m.rng = rand.New(&m.source)

		places := shuffle{uint64(g.spec.URLs), mix(g.spec.Seed, seedOrder)}
		origin := 0
		for i := range g.spec.URLs {
			n := i
			if order == Shuffled {
				n = int64(places.at(uint64(i)))
				i, _ := slices.BinarySearchFunc(g.starts, n+1, cmp.Compare[int64])
				origin = i - 1
			}
			for g.starts[origin+1] <= n {
				origin++
			}
			if origin != m.origin {
				m.origin, m.head = origin, append(m.head[:0], m.g.Origin(origin)...)
				m.seed = m.g.textSeed(origin)
				m.base = m.g.baseOf(m.seed)
			}
			h := mix(m.g.spec.Seed+uint64(n), seedPath)
			m.source.Seed(h, uint64(n))
			m.buf = append(m.buf[:0], m.head...)
			if m.rng.IntN(100) < m.g.spec.Aimed && len(m.base.own) > 0 {
				// Append a path that a rule of the origin matches. In one of three cases a real path follows, unless
				// the rule has an end anchor.
				i := m.rng.IntN(len(m.base.own))
				value := []byte(m.base.own[i])
				for _, s := range words(value) {
					m.g.words.replace(value[s.off:s.off+s.len], m.seed, m.base.all)
				}
				rule := string(value)
				path := newMatch(m.rng, rule)
				if !strings.HasPrefix(path, "/") {
					m.buf = append(m.buf, '/')
				}
				m.buf = append(m.buf, path...)
				if !strings.HasSuffix(rule, "$") && m.rng.IntN(3) == 0 {
					m.appendPath(n - m.g.starts[origin])
				}
			} else {
				m.appendPath(n - m.g.starts[origin])
			}
			if !yield(m.buf) {
				return
			}
		}
	}
}

// A urlMaker makes one URL after the other, and reuses its memory.
type urlMaker struct {
	g      *Generator
	source rand.PCG
	rng    *rand.Rand
	buf    []byte
	origin int    // the origin of head; -1 if there is none
	head   []byte // scheme and authority
	seed   uint64 // of the origin's text
	base   *base  // of that text
}

// appendPath appends the next real path for URL n of the origin to m.buf: consecutive URLs of one host are similar.
// After all paths have been used, words in them are replaced. Some paths get a query.
func (m *urlMaker) appendPath(n int64) {
	paths := m.g.paths
	first := mix(m.seed, seedPath) % uint64(len(paths))
	path := paths[(first+uint64(n))%uint64(len(paths))]
	from := len(m.buf)
	m.buf = append(m.buf, path...)
	if lap := uint64(n) / uint64(len(paths)); lap > 0 {
		for _, s := range words(m.buf[from:]) {
			m.g.words.replace(m.buf[from+s.off:from+s.off+s.len], m.seed+lap, false)
		}
	}
	if m.rng.Float64() < m.g.query && !strings.Contains(path, "?") {
		m.buf = fmt.Appendf(m.buf, "?%s=%s&%s=%d", pick(m.rng, params), pick(m.rng, sections), pick(m.rng, params), m.rng.IntN(1e6))
	}
}
