package diagnose

import (
	"cmp"
	"math"
	"slices"
)

// A profile is the number of expected requests of a crawler by slot.
type profile struct {
	counts   []float64
	expected []float64
	out      segment
	gaps     []segment // excluded from the calculation, including out
	step     int64
}

// profile returns the profile of counts from all slots outside a segment. It is the daily mean multiplied by the share
// of the slot. The mean is by weekday and weekend if there are two of each, and for logs of at least three weeks by
// week. The share is one part uniform and three parts measured. The first and the last slot, and slots that the log
// covers only in part, are left out.
func (g *grid) profile(counts []float64, out segment, gaps ...segment) *profile {
	p := &profile{counts: counts, expected: make([]float64, len(counts)), out: out, step: g.step, gaps: append(append(gaps, g.gaps...), out)}
	perDay := g.slotsIn(day)
	perWeek := 7 * perDay
	parts := perDay
	if g.to-g.from >= 3*7*day {
		parts = perWeek
	}
	of := func(slot int) (cycle, part int) {
		week := int64(perWeek)
		inWeek := int((floor(g.start(slot)-4*day, g.step)%week + week) % week) // from Monday; 1970 began on a Thursday
		return bit(parts == perDay && inWeek/perDay >= 5), inWeek % parts
	}
	var sums, slots [2]float64
	seen, number := make([]float64, parts), make([]float64, parts)
	for i, n := range counts {
		if p.isOut(i) {
			continue
		}
		cycle, part := of(i)
		sums[cycle], slots[cycle] = sums[cycle]+n, slots[cycle]+1
		seen[part], number[part] = seen[part]+n, number[part]+1
	}
	if parts == perDay && (slots[0] < 2*float64(perDay) || slots[1] < 2*float64(perDay)) {
		sums[0], slots[0] = sums[0]+sums[1], slots[0]+slots[1]
		sums[1], slots[1] = sums[0], slots[0]
	}
	mean := (sums[0] + sums[1]) / max(1, slots[0]+slots[1])
	weight := make([]float64, parts) // relative to the mean of all slots
	for i := range weight {
		weight[i] = 1
		if number[i] > 0 && mean > 0 {
			weight[i] = .25 + .75*seen[i]/number[i]/mean
		}
	}
	for i := range p.expected {
		cycle, part := of(i)
		p.expected[i] = sums[cycle] / max(1, slots[cycle]) * weight[part]
	}
	return p
}

// profileOf returns the profile of a crawler, from slots in which the site did not keep it away.
func (g *grid) profileOf(agent uint16, out segment) *profile {
	return g.profile(numbers(g.traffic[agent]), out, g.kept(agent)...)
}

// kept returns the slots in which the site kept a crawler away.
func (g *grid) kept(agent uint16) (all []segment) {
	for i := range g.rows {
		r := &g.rows[i]
		isCause := slices.Contains([]string{SiteClosed, RobotsFailed, CrawlerRefused}, r.Code) || r.Code == Outage && r.Path == "/"
		if isCause && agent != everyone && (len(r.Agents) == 0 || slices.Contains(r.Agents, g.Agents[agent].Name)) {
			all = append(all, g.slotsOf(r))
		}
	}
	return all
}

// slotsOf returns the slots of a row.
func (g *grid) slotsOf(r *Row) segment {
	return segment{g.slotOf(r.From.Unix()), g.slotOf(r.To.Unix()) + 1}
}

// bit returns 1 if a condition holds, or 0.
func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}

// isOut reports whether a slot is excluded.
func (p *profile) isOut(slot int) bool {
	return slot == 0 || slot == len(p.counts)-1 || isIn(p.gaps, slot)
}

// sums returns the actual and the expected requests in a segment.
func (p *profile) sums(s segment) (counted, expected float64) {
	for i := s.from; i < s.to; i++ {
		counted, expected = counted+p.counts[i], expected+p.expected[i]
	}
	return counted, expected
}

// dispersion returns the dispersion of sums over length slots around the profile (variance divided by mean, at least 1);
// false if there are too few blocks of that length. For windows of several days, a log has too few blocks. Then the longest possible blocks are used, and the dispersion grows with the
// length as if all slots varied together, which is an upper bound.
func (p *profile) dispersion(length int) (float64, bool) {
	for at := length; ; at = at * 9 / 10 {
		squares, mean, number, block := 0.0, 0.0, 0.0, segment{}
		for i := range p.counts {
			if p.isOut(i) {
				block.from = i + 1
			}
			if block.to = i + 1; block.length() == at {
				n, e := p.sums(block)
				squares, mean, number, block.from = squares+(n-e)*(n-e), mean+e, number+1, i+1
			}
		}
		if number >= leastBlocks {
			return 1 + (max(1, squares/max(mean, 1e-9)*number/(number-1))-1)*float64(length)/float64(at), true
		}
		if at <= int(max(1, 6*hour/p.step)) {
			return 0, false
		}
	}
}

// chance returns the logarithm of the probability of so few (direction -1), or so many (1), requests in a segment, by a
// negative binomial distribution; false if unknown. It accounts for the uncertainty of the expected number, which was
// measured outside the segment, maybe in few slots.
func (p *profile) chance(in segment, direction float64) (float64, bool) {
	phi, ok := p.dispersion(max(1, in.length()))
	k, mean := p.sums(in)
	if !ok || mean <= 0 || (k-mean)*direction <= 0 {
		return 0, ok // about one half or more
	}
	outside, _ := p.outside()
	phi = max(phi*(1+mean/max(1, outside)), 1+1e-6)
	r, q := mean/(phi-1), 1-1/phi
	gamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	first := gamma(k+r) - gamma(r) - gamma(k+1) + r*math.Log(1/phi) + k*math.Log(q)
	sum, term := 1.0, 1.0
	for range 1_000_000 { // the more extreme numbers
		switch {
		case direction > 0:
			term *= (k + r) / (k + 1) * q
		case k < 1:
			term = 0
		default:
			term *= k / (k - 1 + r) / q
		}
		k += direction
		if sum += term; term < sum*1e-12 {
			break
		}
	}
	return min(0, first+math.Log(sum)), true
}

// outside returns the requests behind the profile, and their number of slots.
func (p *profile) outside() (requests, slots float64) {
	for i, n := range p.counts {
		if !p.isOut(i) {
			requests, slots = requests+n, slots+1
		}
	}
	return requests, slots
}

// mode returns the most frequent value; of equally frequent ones the smallest.
func mode[K cmp.Ordered, N int64 | float64](by map[K]N) (best K) {
	for k, n := range by {
		if n > by[best] || n == by[best] && k < best {
			best = k
		}
	}
	return best
}

// numbers returns counts as numbers.
func numbers(counts []count) []float64 {
	all := make([]float64, len(counts))
	for i := range counts {
		all[i] = counts[i].n
	}
	return all
}
