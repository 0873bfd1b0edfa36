package diagnose

import (
	"cmp"
	"math"
	"slices"
)

// A refusal is a time range in which the site of a row refused a crawler.
type refusal struct {
	agent    uint16
	from, to int64
}

// isRefusal reports whether a status refuses a page request. The catalogue has only 503 of the 5xx; but if visitors get
// pages, other errors refuse a crawler, too.
func isRefusal(status uint16) bool {
	switch status {
	case 401, 403, 406, 429, 500, 502, 503, 504:
		return true
	}
	return false
}

// isRefused reports whether a row says that a site refused a crawler at a time.
func (g *grid) isRefused(s *site, agent uint16, at int64) bool {
	return slices.ContainsFunc(g.rows, func(row Row) bool {
		return row.Origin == s.origin && slices.ContainsFunc(row.refused, func(r refusal) bool {
			return r.agent == agent && at >= r.from-g.step && at <= r.to+g.step
		})
	})
}

// findRefused finds the search crawlers that a site refuses while it serves other clients. Refusing other crawlers is
// normally intended.
func (g *grid) findRefused(s *site) {
	var rows []Row
	for _, a := range g.searches() {
		pages := s.pages.hours(g.slots, func(k cellKey) bool { return k.agent == a && isPage(k) })
		refused := s.pages.hours(g.slots, func(k cellKey) bool { return k.agent == a && isRefusal(k.status) })
		before := len(rows)
		for _, atTxt := range []bool{false, true} { // refused a robots.txt, a crawler requests hardly any page
			for _, one := range s.txt {
				if atTxt && one.agent == a {
					i := g.slotOf(one.at)
					pages[i].add(count{one.n, one.at, one.at})
					refused[i].add(count{one.n * int64(bit(isRefusal(one.status))), one.at, one.at})
				}
			}
			for _, in := range segments(g.slots, func(i int) float64 {
				return float64(refused[i].n) - refusedWeight*float64(pages[i].n-refused[i].n)
			}) {
				if row, ok := g.refusedIn(s, a, in, pages, refused, atTxt); ok {
					rows = append(rows, row)
				}
			}
			if len(rows) > before {
				break
			}
		}
	}
	for i := range rows {
		g.joinRefused(&rows[i])
	}
	// A row that is too small to be shown explains nothing: other rows must count its requests.
	g.rows = slices.DeleteFunc(g.rows, func(r Row) bool { return !g.isShown(&r) })
}

// refusedIn returns the row of a crawler that was refused in a segment. If its requests for robots.txt are among the
// counts, it must have got nearly nothing, and other crawlers the file.
func (g *grid) refusedIn(s *site, a uint16, in segment, pages, refused []count, atTxt bool) (r Row, ok bool) {
	inside, bad := in.of(pages), in.of(refused)
	all, allBad := total(pages), total(refused)
	lasted := bad.last - bad.first
	if bad.n < refusedLeast || float64(bad.n) < refusedShare*float64(inside.n) || lasted < refusedHours*hour && bad.n < refusedMany {
		return r, false
	}
	if float64(allBad.n-bad.n) > refusedBefore*float64(all.n-inside.n) || all.n == inside.n && len(s.refusals[a]) < refusedSpread && !atTxt {
		return r, false
	}
	others := func(k cellKey) bool {
		return k.agent == 0 && isPage(k) && in.has(k.slot)
	}
	served := s.pages.sum(others)
	turned := s.pages.sum(func(k cellKey) bool { return others(k) && isRefusal(k.status) })
	most := refusedPeople
	if atTxt {
		most = refusedScans
	}
	if float64(turned.n) > most*float64(served.n) || served.n < inside.n/10 {
		return r, false
	}
	_, statuses := s.pages.by(func(k cellKey) bool { return k.agent == a && isRefusal(k.status) && in.has(k.slot) })
	if atTxt {
		if answers, turned := g.txtOfOthers(s, a, in, statuses); float64(bad.n) < (1-refusedBefore)*float64(inside.n) || answers < refusedLeast || float64(turned) > refusedBefore*float64(answers) {
			return r, false
		}
	}
	status := int(mode(statuses))
	if status >= 500 && status != 503 && len(s.refusals[a]) < refusedSpread {
		return r, false // a failing section
	}
	if !atTxt {
		bad.add(s.refusedTxt(a, bad))
		inside.n += bad.n - in.of(refused).n
	}
	r = g.row(CrawlerRefused, s.origin, "/", bad, a)
	r.Of, r.Evidence.Visitors, r.Ongoing = inside.n, served.n, total(pages[in.to:]).n == 0
	if atTxt && total(pages[:in.from]).n == 0 {
		r.From = at(g.from) // it was never seen otherwise
	}
	r.answered(statuses)
	r.refused = []refusal{{a, bad.first, bad.last}}
	if r.Ongoing {
		r.refused[0].to = g.to
	}
	_, expected := g.profileOf(a, in).sums(in)
	r.lost = max(0, expected-float64(inside.n-bad.n))
	return r, true
}

// txtOfOthers returns the responses to other crawlers' requests for robots.txt in a segment, and how many refused them.
// It adds the statuses of those that refused a crawler.
func (g *grid) txtOfOthers(s *site, a uint16, in segment, statuses map[uint16]int64) (answers, turned int64) {
	for _, one := range s.txt {
		switch refused := one.n * int64(bit(isRefusal(one.status))); {
		case !in.has(int32(g.slotOf(one.at))):
		case one.agent == a:
			statuses[one.status] += refused
		case g.isCrawler(one.agent):
			answers, turned = answers+one.n, turned+refused
		}
	}
	return answers, turned
}

// refusedTxt returns the responses that refused a crawler's requests for robots.txt, in a time range and around it
// until a page was sent.
func (s *site) refusedTxt(a uint16, bad count) (sum count) {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	for k, n := range s.pages {
		if k.agent != a || isRefusal(k.status) || !isPage(k) {
			continue
		}
		if n.last < bad.first {
			from = max(from, n.last)
		}
		if n.first > bad.last {
			to = min(to, n.first)
		}
	}
	for _, one := range s.txt {
		if one.agent == a && one.at > from && one.at < to && isRefusal(one.status) {
			sum.add(count{one.n, one.at, one.at})
		}
	}
	return sum
}

// mode returns the most frequent value; of equally frequent ones the smallest.
func mode[K cmp.Ordered](by map[K]int64) (best K) {
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
		all[i] = float64(counts[i].n)
	}
	return all
}

// joinRefused adds a row, or merges it with the row of another crawler that got the same status in most of the time.
func (g *grid) joinRefused(r *Row) {
	for i := range g.rows {
		o := &g.rows[i]
		if o.Code != r.Code || o.Origin != r.Origin || o.Evidence.Status != r.Evidence.Status || common(o, r) < .8*float64(max(o.lasting(), r.lasting())) {
			continue
		}
		o.Agents, o.refused = append(o.Agents, r.Agents...), append(o.refused, r.refused...)
		o.Requests, o.Of, o.lost = o.Requests+r.Requests, o.Of+r.Of, o.lost+r.lost
		o.Ongoing, o.mixed = o.Ongoing || r.Ongoing, o.mixed || r.mixed
		if r.From.Before(o.From) {
			o.From = r.From
		}
		if r.To.After(o.To) {
			o.To = r.To
		}
		return
	}
	g.rows = append(g.rows, *r)
}

// lasting returns the duration of a row in seconds.
func (r *Row) lasting() int64 { return max(1, r.To.Unix()-r.From.Unix()) }

// common returns the number of seconds that two rows have in common.
func common(a, b *Row) float64 {
	return max(0, float64(min(a.To.Unix(), b.To.Unix())-max(a.From.Unix(), b.From.Unix())))
}
