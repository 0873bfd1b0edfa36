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

// newProfile returns the profile of counts by slot from all slots outside a segment, and outside gaps. It is the daily
// mean multiplied by the share of the slot. The mean is by weekday and weekend if there are two of each, and for logs
// of at least three weeks by week. The share is one part uniform and three parts measured. The first and the last
// slot, and slots that the log covers only in part, are left out.
func (g *grid) newProfile(counts []float64, out segment, gaps ...segment) *profile {
	p := &profile{counts: counts, expected: make([]float64, len(counts)), out: out, step: g.step, gaps: append(append(gaps, g.gaps...), out)}
	perDay := g.slotsIn(day)
	perWeek := 7 * perDay
	parts := perDay
	if g.to-g.from >= 3*7*day {
		parts = perWeek
	}
	of := func(slot int) (cycle, part int) {
		week := int64(perWeek)
		inWeek := int((floorDiv(g.startOf(slot)-4*day, g.step)%week + week) % week) // from Monday; 1970 began on a Thursday
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

// profileOf returns the profile of a crawler, from slots outside a segment in which the site did not keep the crawler
// away.
func (g *grid) profileOf(agent uint16, out segment) *profile {
	return g.newProfile(numbers(g.traffic[agent]), out, g.awaySlots(agent)...)
}

// awaySlots returns the segments in which rows say that the site kept a crawler away; none for everyone.
func (g *grid) awaySlots(agent uint16) (all []segment) {
	for i := range g.rows {
		r := &g.rows[i]
		isCause := slices.Contains([]string{SiteClosed, RobotsFailed, CrawlerRefused}, r.Code) || r.Code == Outage && r.Path == "/"
		if isCause && agent != everyone && (len(r.Agents) == 0 || slices.Contains(r.Agents, g.Agents[agent].Name)) {
			all = append(all, g.slotsOf(r))
		}
	}
	return all
}

// slotsOf returns the slots of a row's time range.
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

// dispersion returns the variance of sums over length slots around the profile, divided by their mean; at least 1. It
// is 0 if there are too few blocks of that length. For windows of several days, a log has too few blocks. Then the
// longest possible blocks are used, and the dispersion grows with the length as if all slots varied together, which is
// an upper bound.
func (p *profile) dispersion(length int) float64 {
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
			return 1 + (max(1, squares/max(mean, 1e-9)*number/(number-1))-1)*float64(length)/float64(at)
		}
		if at <= int(max(1, 6*hour/p.step)) {
			return 0
		}
	}
}

// logChance returns the logarithm of the probability of so few (direction -1), or so many (1), requests in a segment,
// by a negative binomial distribution; 0 if it is about one half or more, or unknown. It accounts for the uncertainty
// of the expected number, which was measured outside the segment, maybe in few slots.
func (p *profile) logChance(in segment, direction float64) float64 {
	phi := p.dispersion(max(1, in.length()))
	k, mean := p.sums(in)
	if phi == 0 || mean <= 0 || (k-mean)*direction <= 0 {
		return 0
	}
	outside, _ := p.sumOutside()
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
	return min(0, first+math.Log(sum))
}

// sumOutside returns the number of requests from which the profile was calculated, and their number of slots.
func (p *profile) sumOutside() (requests, slots float64) {
	for i, n := range p.counts {
		if !p.isOut(i) {
			requests, slots = requests+n, slots+1
		}
	}
	return requests, slots
}

// mode returns the most frequent value; the smallest of equally frequent ones. It is the zero value if by is empty.
func mode[K cmp.Ordered, N int64 | float64](by map[K]N) (best K) {
	for k, n := range by {
		if n > by[best] || n == by[best] && k < best {
			best = k
		}
	}
	return best
}

// numbers returns the number of requests of each count.
func numbers(counts []count) []float64 {
	all := make([]float64, len(counts))
	for i := range counts {
		all[i] = counts[i].n
	}
	return all
}

// A pause is a time range in which a crawler stopped.
type pause struct {
	agent    uint16 // everyone means all crawlers together
	in       segment
	from, to int64
}

// everyone stands for all crawlers together.
const everyone = 0

// allStopped is the kind of a row about all of them.
const allStopped = "all crawlers"

// sumTraffic returns the requests of clients by slot, summed over the clients.
func (g *grid) sumTraffic(all [][]count) []count {
	sum := make([]count, g.slots)
	for _, counts := range all {
		for i, n := range counts {
			sum[i].add(n)
		}
	}
	return sum
}

// logThreshold returns the logarithm of the probability below which an event is significant. Each crawler and slot
// counts as a test.
func (g *grid) logThreshold() float64 {
	return math.Log(chance) - math.Log(float64(max(1, g.slots)*max(1, len(g.Agents))))
}

// secondsIn returns the length of some slots.
func (g *grid) secondsIn(slots int) int64 { return int64(slots) * g.step }

// slotsIn returns the number of slots in some seconds, at least 1.
func (g *grid) slotsIn(seconds int64) int { return int(max(1, seconds/g.step)) }

// findGaps finds the time ranges without any line in the log. The proof is a probability below one in a million, over
// all slots and crawlers, that a log with its usual number of lines has none in so long a time. Bursts of requests say
// little about the usual rate, and would hide any gap: a slot counts as at most burst times the median.
func (g *grid) findGaps() {
	all := g.sumTraffic(g.traffic)
	counts := numbers(all)
	most := max(1, burst*median(counts))
	for i := range counts {
		counts[i] = min(counts[i], most)
	}
	for _, in := range idleSegments(counts, 0) {
		if in.from == 0 || in.to == g.slots {
			continue
		}
		p := g.newProfile(counts, in)
		if _, expected := p.sums(in); p.logChance(in, -1) < g.logThreshold() {
			g.gaps = append(g.gaps, segment{in.from - 1, in.to + 1})
			g.limits = append(g.limits, Row{Code: LogGap, From: timeOf(all[in.from-1].last), To: timeOf(all[in.to].first), Evidence: Evidence{Expected: rounded(expected)}})
		}
	}
}

// idleSegments returns the segments with at most a given share of the mean requests; with share 0, those without
// requests.
func idleSegments(counts []float64, share float64) []segment {
	sum, slots := 0.0, float64(len(counts))
	for _, n := range counts {
		sum += n
	}
	return segments(len(counts), func(i int) float64 {
		if share == 0 {
			return float64(bit(counts[i] == 0)) - counts[i]*slots
		}
		return share*sum/slots - counts[i]
	})
}

// findStopped finds the crawlers that stopped, separately or together. The proof: a crawler that was active for at
// least three days before made hardly any request in half a day or more. By its usual rate, this is as improbable as a
// gap of the log. Neither the log nor the site explains it.
func (g *grid) findStopped() {
	requests := total(g.sumTraffic(g.traffic)).n
	var pauses []pause
	for _, a := range g.crawlers() {
		if g.Agents[a].Search || total(g.traffic[a]).n >= busyShare*requests {
			pauses = append(pauses, g.pausesOf(a, g.traffic[a])...)
		}
	}
	all := g.pausesOf(everyone, g.sumTraffic(g.traffic[1:len(g.Agents)]))
	for len(pauses) > 0 {
		first, together := pauses[0], []pause{}
		for _, p := range pauses {
			if near(p.from, first.from, stopWithin) && near(p.to, first.to, max(stopWithin, (first.to-first.from)/4)) {
				together = append(together, p)
			}
		}
		if len(together) < stopTogether {
			together = together[:1]
		}
		pauses = slices.DeleteFunc(pauses, func(p pause) bool { return slices.Contains(together, p) })
		if !slices.ContainsFunc(all, func(p pause) bool { return 2*p.in.overlap(first.in) > first.in.length() }) {
			agents := make([]uint16, 0, len(together))
			for _, p := range together {
				agents = append(agents, p.agent)
			}
			g.addStopped(first, agents)
		}
	}
	for _, p := range all {
		g.addStopped(p, slices.DeleteFunc(g.crawlers(), func(a uint16) bool { return total(g.traffic[a][:p.in.from]).n == 0 }))
	}
}

// near reports whether two times differ by at most a given amount.
func near(a, b, most int64) bool { return max(a-b, b-a) <= most }

// pausesOf returns the time ranges in which a crawler made significantly few or no requests. traffic has its requests
// by slot; agent may be everyone.
func (g *grid) pausesOf(agent uint16, traffic []count) (pauses []pause) {
	counts, kept, all := numbers(traffic), g.awaySlots(agent), g.sumTraffic(g.traffic)
	rests := idleSegments(counts, stopShare)
	for i, in := range rests {
		missing, empty := 0, 0 // slots in gaps of the log, and those without any line
		for _, gap := range g.gaps {
			missing += in.overlap(gap)
		}
		for _, one := range all[in.from:in.to] {
			empty += bit(one.n == 0)
		}
		if in.from < 1 || g.secondsIn(in.length()) < stopLasts || 10*missing > in.length() || 2*empty > in.length() {
			continue
		}
		p := g.newProfile(counts, in, kept...)
		made, expected := p.sums(in)
		if expected/float64(in.length())*day/float64(g.step) < stopDaily || made > stopShare*expected || !g.wasActive(counts[:in.from]) {
			continue
		}
		if in.to < g.slots { // it must come back for a day
			if made, expected := p.sums(segment{in.to, min(g.slots, in.to+g.slotsIn(day))}); made < stopBack*expected {
				continue
			}
		}
		longest := 0
		for _, rest := range rests[:i] {
			if !slices.ContainsFunc(kept, func(s segment) bool { return 2*s.overlap(rest) > rest.length() }) {
				longest = max(longest, rest.length())
			}
		}
		if in.length() < stopRests*longest || p.logChance(in, -1) > g.logThreshold() {
			continue
		}
		one := pause{agent, in, total(traffic[:in.from]).last, g.to} // the crawler was active before
		if in.to < g.slots {
			one.to = traffic[in.to].first
		}
		pauses = append(pauses, one)
	}
	return pauses
}

// wasActive reports whether a crawler was active for at least stopPresent, and in most parts of that time, given its
// requests in the slots up to a time.
func (g *grid) wasActive(counts []float64) bool {
	size, present, slots := g.slotsIn(stopSlot), 0, 0
	for end := len(counts); end-size >= 0; end -= size {
		slots++
		present += bit(slices.Max(counts[end-size:end]) > 0)
	}
	return g.secondsIn(slots*size) >= stopPresent && float64(present) >= stopSlots*float64(slots)
}

// addStopped adds the row of crawlers that stopped at the same time. Its requests are those that are missing.
func (g *grid) addStopped(p pause, agents []uint16) {
	r := g.newRow(CrawlerStopped, "", "", count{0, p.from, p.to})
	by := map[uint16]float64{}
	for _, a := range agents {
		by[a] = total(g.traffic[a]).n
		made, expected := g.profileOf(a, p.in).sums(p.in)
		r.Evidence.Expected += expected
		r.Evidence.Made += int64(made)
		if g.isSearch(a) {
			r.lost += max(0, expected-made)
		}
	}
	r.Ongoing, r.Agents, r.Evidence.Expected = p.in.to == g.slots, g.agentsOf(by), rounded(r.Evidence.Expected)
	r.Requests = int64(math.Round(max(0, r.Evidence.Expected-float64(r.Evidence.Made))))
	if p.agent == everyone {
		r.Evidence.Kind = allStopped
	}
	r.Evidence.Visitors = int64(p.in.sumOf(g.traffic[0]).n)
	g.addRow(r)
}

// findSurges finds the time ranges in which a crawler made far more requests than usual. The proof: for at least three
// hours, but at most a third of the log, it made over four times as many as at the same hours of other days, and a
// twentieth of the requests of all clients. Chance does not explain this.
func (g *grid) findSurges() {
	everybody := g.sumTraffic(g.traffic)
	for _, a := range g.crawlers() {
		counts := numbers(g.traffic[a])
		usual := g.profileOf(a, segment{})
		for range 2 { // the first profile includes the surge
			outside, slots := usual.sumOutside()
			best, most := segment{}, 0.0
			for _, one := range segments(g.slots, func(i int) float64 { // with the mean, because the same hour of a few other weeks has few requests
				return counts[i] - surgeEdge*max((usual.expected[i]+outside/max(1, slots))/2, 1e-9)
			}) {
				if n, e := usual.sums(one); n-e > most {
					best, most = one, n-e
				}
			}
			usual = g.profileOf(a, best)
		}
		in := usual.out
		before := counts[:in.from]
		if g.secondsIn(in.from) < stopSlot && g.secondsIn(in.length()) < slowDays*day { // begun before the log
			in.from, before = 0, counts[in.to:]
			usual = g.profileOf(a, in)
		}
		made, expected := usual.sums(in)
		outside, slots := usual.sumOutside()
		if g.secondsIn(in.length()) >= day { // otherwise the few other days of its kind may have been unusually quiet
			expected = max(expected, outside/max(1, slots)*float64(in.length()))
		}
		if float64(in.length()) > surgeLog*float64(g.slots) || g.secondsIn(in.length()) < surgeLasts || made < surgeTimes*expected || made < surgeShare*in.sumOf(everybody).n || usual.logChance(in, 1) > g.logThreshold() || !g.wasActive(before) {
			continue
		}
		r := g.newRow(CrawlerSurge, "", "", in.sumOf(g.traffic[a]), a)
		if in.from == 0 {
			r.From = timeOf(g.from)
		}
		r.Evidence.Expected = rounded(expected)
		g.addRow(r)
	}
}

// findSlowed finds the search crawlers whose requests dropped from some day on, until the end or for some days. The
// proof: the median day has at most half of the requests of the median day before, most of these days are far below
// it, and the drop is many standard errors of how much days vary, see lowestDays. All clients together did not drop,
// and no surge ended.
func (g *grid) findSlowed() {
	perDay := g.slotsIn(day)
	days := g.slots / perDay
	least := slowDays
	if g.to-g.from < slowLog {
		least = slowHours / 24
	}
	all := dailySums(numbers(g.sumTraffic(g.traffic)), perDay)
	for _, a := range g.searches() {
		counts, usual := numbers(g.traffic[a]), g.profileOf(a, segment{})
		for i := range counts { // what is expected in gaps of the log and where the site kept it away
			if isIn(usual.gaps, i) {
				counts[i] = usual.expected[i]
			}
		}
		totals := dailySums(counts, perDay)
		low, shift := lowestDays(totals, least)
		if low.from == 0 {
			continue
		}
		before, after := median(totals[:low.from]), median(totals[low.from:low.to])
		below := 0
		for _, n := range totals[low.from:low.to] {
			below += bit(n < slowBelow*before)
		}
		depth := slowDepth + math.Log(before/max(after, 1))
		in := segment{low.from * perDay, low.to * perDay}
		least := slowWithin
		if low.to == days {
			in.to, least = g.slots, slowShift
		}
		if before < stopDaily || after > slowShare*before || float64(below) < slowAfter*float64(low.length()) || shift*math.Sqrt(depth) < least || !g.wasActive(counts[:in.from]) ||
			median(all[low.from:low.to]) < .7*median(all[:low.from]) || slices.ContainsFunc(g.rows, func(r Row) bool {
			return r.Code == CrawlerSurge && r.Agents[0] == g.Agents[a].Name && g.slotOf(r.To.Unix()) >= in.from-perDay && g.slotOf(r.From.Unix()) < in.from
		}) {
			continue
		}
		// A crawler that comes in bursts has days far above its median, and few days say nothing about a longer log.
		was, is := mean(totals[:low.from]), mean(totals[low.from:low.to])
		if _, base := g.profileOf(a, in).sumOutside(); int64(base+2)*g.step < min(slowBase, (g.to-g.from)/4) || is > slowShare*min(before, was) {
			continue
		}
		// The day is known. Choose the most likely slot between the two levels.
		p, ratio := g.newProfile(counts, in), max(after, 1)/before
		edge := func(day int, direction float64) int {
			best, most, sum := day, math.Inf(-1), 0.0
			for i := max(0, day-perDay); i <= min(g.slots-1, day+perDay); i++ {
				if sum > most {
					best, most = i, sum
				}
				sum += direction * (p.expected[i]*(ratio-1) - counts[i]*math.Log(ratio))
			}
			return best
		}
		if in.from = edge(in.from, 1); in.to < g.slots {
			in.to = edge(in.to, -1)
		}
		made, expected := g.newProfile(counts, in).sums(in)
		g.addRow(Row{
			Code: CrawlerSlowed, Agents: []string{g.Agents[a].Name}, From: timeOf(g.startOf(in.from)), To: timeOf(min(g.to, g.startOf(in.to))), Ongoing: in.to == g.slots,
			Requests: int64(math.Round(max(0, expected-made))), Evidence: Evidence{Expected: rounded(expected), Made: int64(made), Before: was, After: is}, lost: max(0, expected-made),
		})
	}
}

// lowestDays returns the days with the lowest logarithms of totals, up to the end or with other days after them, so
// that the two levels explain the most. There are at least least days before, in and after them; without such days,
// low is empty. shift is the number of standard errors between the levels. It depends on the spread around both levels
// and on how similar consecutive days are. Few days may vary little by chance: the spread counts days of a usual
// crawler, too, unless its own is larger. A profile of only the previous days underestimates the spread: with block
// sums and a negative binomial distribution, it reported one steady crawler in 200 months as slowed.
func lowestDays(totals []float64, least int) (low segment, shift float64) {
	days := len(totals)
	logs, sums := make([]float64, days), make([]float64, days+1)
	for i, n := range totals {
		logs[i] = math.Log(n + 1)
		sums[i+1] = sums[i] + logs[i]
	}
	levels := func(s segment) (inside, outside float64) {
		sum := sums[s.to] - sums[s.from]
		return sum / float64(s.length()), (sums[days] - sum) / float64(days-s.length())
	}
	most := 0.0
	for from := least; from+least <= days; from++ {
		for to := from + least; to <= days; to++ {
			one := segment{from, to}
			inside, outside := levels(one)
			gain := float64(one.length()) * float64(days-one.length()) * (outside - inside) * (outside - inside)
			if inside < outside && (to == days || to+least <= days) && gain > most {
				low, most = one, gain
			}
		}
	}
	if most == 0 {
		return low, 0
	}
	inside, outside := levels(low)
	squares, products, last := 0.0, 0.0, 0.0
	for i, l := range logs {
		level := outside
		if low.contains(i) {
			level = inside
		}
		if squares += (l - level) * (l - level); i != low.from && i != low.to {
			products += (l - level) * last
		}
		last = l - level
	}
	n, k := float64(days), float64(low.length())
	memory := min(.8, max(0, products/max(squares, 1e-9))+1/n) // underestimated with so few days
	variance := max(squares/(n-2), (squares+spreadDays*spread*spread)/(n-2+spreadDays))
	sigma := math.Sqrt(variance * (1 + memory) / (1 - memory) * (1/k + 1/(n-k)))
	return low, (outside - inside) / sigma
}

// dailySums returns the sums of whole days of perDay slots, from the first slot. It ignores the slots after the last
// whole day.
func dailySums(counts []float64, perDay int) []float64 {
	days := make([]float64, len(counts)/perDay)
	for i, n := range counts[:len(days)*perDay] {
		days[i/perDay] += n
	}
	return days
}

// median returns the median of some numbers, at least one.
func median(numbers []float64) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// mean returns the mean of some numbers.
func mean(numbers []float64) (sum float64) {
	for _, n := range numbers {
		sum += n
	}
	return sum / float64(len(numbers))
}
