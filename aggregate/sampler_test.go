package aggregate

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// A metGroup is a group of a test, and what it has.
type metGroup struct {
	sample Sample
	tally  Tally
	urls   map[uint64]bool
}

// A crowd takes URLs to groups.
type crowd struct {
	*Sampler
	groups []metGroup
	met    []Entry // that are added together
	looked int64
}

// meet takes a URL to a group.
func (c *crowd) meet(number int, url uint64) {
	g := &c.groups[number]
	g.urls[url] = true
	g.tally.Add(1, 0)
	if c.Take(&g.sample, url) == 0 {
		return
	}
	c.looked++
	if c.met = append(c.met, Entry{Sample: &g.sample, Group: uint32(number), URL: url}); len(c.met) == 70 {
		c.flush()
	}
}

// flush adds what was met.
func (c *crowd) flush() {
	c.Add(c.met)
	for i := range c.met {
		c.groups[c.met[i].Group].tally.Add(0, c.met[i].New)
	}
	c.met = c.met[:0]
}

// TestSampler holds that all is exact while it may be, that small groups stay exact beside large ones, that
// the others are within what they say, and that few URLs are looked at.
func TestSampler(t *testing.T) {
	for _, most := range []int64{1 << 30, 50_000} {
		rng, c, rows := rand.New(rand.NewPCG(7, 18)), crowd{Sampler: NewSampler(0, most), groups: make([]metGroup, 12)}, int64(0)
		c.groups[10].sample.Least = 1 << 16
		for i := range c.groups {
			c.groups[i].urls = map[uint64]bool{}
			for n := range 500 << i {
				url := binary.LittleEndian.AppendUint32([]byte{byte(i % 3)}, uint32(n-rng.IntN(2))) // some come twice, or in other groups as well
				c.meet(i, Hash(url))
				rows++
			}
		}
		c.flush()
		for i := range c.groups {
			g := &c.groups[i]
			got, want := g.tally.URLs(), int64(len(g.urls))
			if exact := most > rows || g.tally.Requests < leastSample; exact && (got.N != want || got.Error != 0) {
				t.Errorf("%d URLs are %+v beside others", want, got)
			}
			if off := math.Abs(float64(got.N)/float64(want) - 1); off > 4*got.Error || got.Error > 0.04 || i == 10 && got.Error > 0.006 {
				t.Errorf("%d URLs are %+v, %.4f off", want, got, off)
			}
		}
		if limit := most + rows/takenOf + 6*leastSample*int64(len(c.groups)) + 3<<16; c.looked > limit || most < rows && c.looked > rows/4 {
			t.Errorf("%d of %d URLs were looked at, want %d at most", c.looked, rows, limit)
		}
	}
}
