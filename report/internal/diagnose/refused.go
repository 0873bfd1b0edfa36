package diagnose

import (
	"math"
	"slices"
)

// A refusal is a time range in which the site of a row refused a crawler.
type refusal struct {
	agent    uint16
	from, to int64
}

// isRefused reports whether a row says that a site refused a crawler at a time.
func (g *grid) isRefused(s *site, agent uint16, at int64) bool {
	return slices.ContainsFunc(g.rows, func(row Row) bool {
		return row.Origin == s.origin && slices.ContainsFunc(row.refused, func(r refusal) bool {
			return r.agent == agent && at >= r.from-g.step && at <= r.to+g.step
		})
	})
}

// findRefused finds the search crawlers that a site refuses. The proof: for three hours, or in 50 requests, most pages
// that a crawler requested returned a status that firewalls and rate limits send, while hardly any visitor got one, nor
// did the crawler at other times or outside some directories. Refusing other crawlers is normally intended.
func (g *grid) findRefused(s *site) {
	var rows []Row
	for _, a := range g.searches() {
		pages, refused := s.pages.hours(g.slots, of(a), isPage), s.pages.hours(g.slots, of(a), isRefusal)
		found := g.refusedIn(s, a, pages, refused, false)
		if len(found) == 0 { // refused a robots.txt, a crawler requests hardly any page
			for _, one := range s.txt {
				if one.agent == a {
					i := g.slotOf(one.at)
					if pages[i].add(one.count()); one.isRefusal() {
						refused[i].add(one.count())
					}
				}
			}
			found = g.refusedIn(s, a, pages, refused, true)
		}
		rows = append(rows, found...)
	}
	for i := range rows { // those of other crawlers with the same status in most of the time become one
		r := &rows[i]
		j := slices.IndexFunc(g.rows, func(o Row) bool {
			return o.Code == r.Code && o.Origin == r.Origin && o.Status == r.Status && common(&o, r) >= .8*float64(max(o.lasting(), r.lasting()))
		})
		if j < 0 {
			g.add(*r)
			continue
		}
		o := &g.rows[j]
		o.Agents, o.refused = append(o.Agents, r.Agents...), append(o.refused, r.refused...)
		o.Requests, o.Of, o.lost = o.Requests+r.Requests, o.Of+r.Of, o.lost+r.lost
		o.Ongoing, o.mixed = o.Ongoing || r.Ongoing, o.mixed || r.mixed
		o.From, o.To = at(min(o.From.Unix(), r.From.Unix())), at(max(o.To.Unix(), r.To.Unix()))
	}
	// A row that is too small to be shown explains nothing: other rows must count its requests.
	g.rows = slices.DeleteFunc(g.rows, func(r Row) bool { return !g.isShown(&r) })
}

// refusedIn returns the rows of a crawler. If its requests for robots.txt are among the counts, it must have got nearly
// nothing, and other crawlers the file.
func (g *grid) refusedIn(s *site, a uint16, pages, refused []count, atTxt bool) (rows []Row) {
	all, allBad, isSpread := total(pages), total(refused), len(s.refusals[a]) >= refusedSpread
	for _, in := range mostly(refused, pages, refusedWeight) {
		inside, bad := in.of(pages), in.of(refused)
		if bad.n < refusedLeast || bad.n < refusedShare*inside.n || bad.last-bad.first < refusedHours*hour && bad.n < refusedMany ||
			allBad.n-bad.n > refusedBefore*(all.n-inside.n) || all.n == inside.n && !isSpread && !atTxt {
			continue
		}
		served, turned, most := s.pages.sum(of(0), isPage, in.has).n, s.pages.sum(of(0), isRefusal, in.has).n, refusedPeople
		if atTxt {
			most = refusedScans
		}
		if turned > most*served || served < math.Floor(inside.n/10) {
			continue
		}
		_, statuses := s.pages.by(of(a), isRefusal, in.has)
		if atTxt {
			var answers, turned float64 // of other crawlers' requests for robots.txt
			for _, one := range s.txt {
				isTurned := float64(bit(one.isRefusal())) * one.n
				switch {
				case !in.contains(g.slotOf(one.at)):
				case one.agent == a:
					statuses[one.status] += isTurned
				case g.isCrawler(one.agent):
					answers, turned = answers+one.n, turned+isTurned
				}
			}
			if bad.n < (1-refusedBefore)*inside.n || answers < refusedLeast || turned > refusedBefore*answers {
				continue
			}
		}
		if status := mode(statuses); status >= 500 && status != 503 && !isSpread {
			continue // a failing section
		}
		if !atTxt {
			from, to := int64(math.MinInt64), int64(math.MaxInt64) // around it until a page was sent
			for k, n := range s.pages {
				switch {
				case k.agent != a || isRefusal(k) || !isPage(k):
				case n.last < bad.first:
					from = max(from, n.last)
				case n.first > bad.last:
					to = min(to, n.first)
				}
			}
			for _, one := range s.txt {
				if one.agent == a && one.at > from && one.at < to && one.isRefusal() {
					bad.add(one.count())
					inside.n += one.n
				}
			}
		}
		r := g.row(CrawlerRefused, s.origin, "/", bad, a)
		r.Of, r.Visitors, r.Ongoing = int64(inside.n), int64(served), total(pages[in.to:]).n == 0
		if atTxt && total(pages[:in.from]).n == 0 {
			r.From = at(g.from) // it was never seen otherwise
		}
		r.answered(statuses)
		r.refused = []refusal{{a, bad.first, bad.last}}
		if r.Ongoing {
			r.refused[0].to = g.to
		}
		_, expected := g.profileOf(a, in).sums(in)
		r.lost = max(0, expected-(inside.n-bad.n))
		rows = append(rows, r)
	}
	return rows
}
