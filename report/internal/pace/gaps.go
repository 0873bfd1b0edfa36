package pace

import (
	"math"
	"time"
)

// How gaps are counted.
const (
	tenth  = 100_000 // microseconds
	maxGap = 6000    // tenths of a second; longer gaps are counted together
)

// gaps are the times between successive requests.
type gaps struct {
	tenths []uint32 // by tenths of a second, rounded down
	long   int64    // of maxGap and more
}

// addGap adds a gap in microseconds.
func (g *gaps) addGap(gap int64) {
	if gap >= maxGap*tenth {
		g.long++
		return
	}
	n := int(gap / tenth)
	g.grow(n + 1)
	g.tenths[n]++
}

// grow makes room for so many tenths.
func (g *gaps) grow(n int) {
	if n > len(g.tenths) {
		g.tenths = append(g.tenths, make([]uint32, n-len(g.tenths))...)
	}
}

// addGaps adds other gaps.
func (g *gaps) addGaps(o *gaps) {
	g.grow(len(o.tenths))
	for i, n := range o.tenths {
		g.tenths[i] += n
	}
	g.long += o.long
}

// number returns how many gaps there are.
func (g *gaps) number() int64 {
	all := g.long
	for _, n := range g.tenths {
		all += int64(n)
	}
	return all
}

// median returns the median, rounded down to a tenth of a second; long is whether it is maxGap or more.
func (g *gaps) median() (gap time.Duration, long bool) {
	total, seen := g.number(), int64(0)
	for i, n := range g.tenths {
		if seen += int64(n); 2*seen >= total && seen > 0 {
			return time.Duration(i) * 100 * time.Millisecond, false
		}
	}
	return maxGap * 100 * time.Millisecond, true
}

// faster returns how many gaps are shorter, and how many there are.
func (g *gaps) faster(seconds float64) (fast, all int64) {
	for i, n := range g.tenths {
		if float64(i) < math.Round(seconds*1e7)/1e6 {
			fast += int64(n)
		}
	}
	if seconds > maxGap/10 {
		fast += g.long // at least some of them
	}
	return fast, g.number()
}
