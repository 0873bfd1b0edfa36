package diagnose

import (
	"maps"
	"math"
	"slices"
)

// A refusal is a time range in which the site of a row refused a crawler.
type refusal struct {
	agent    uint16
	from, to int64
}

// isRefused reports whether a row says that a site refused a crawler at a time, or at most a slot before or after it.
func (g *grid) isRefused(s *site, agent uint16, at int64) bool {
	return slices.ContainsFunc(g.rows, func(row Row) bool {
		return row.Origin == s.origin && slices.ContainsFunc(row.refused, func(r refusal) bool {
			return r.agent == agent && at >= r.from-g.step && at <= r.to+g.step
		})
	})
}

// findRefused finds the search crawlers that a site refuses. The proof: for three hours, or in 50 requests, most pages
// that a crawler requested returned a status that firewalls and rate limits send, while hardly any visitor got one, nor
// the crawler at other times; if there are no other times, three directories must have refused it. Refusing other
// crawlers is normally intended.
func (g *grid) findRefused(s *site) {
	var rows []Row
	for _, a := range g.searches() {
		pages, refused := s.pages.perSlot(g.slots, byAgent(a), isPage), s.pages.perSlot(g.slots, byAgent(a), isRefusal)
		found := g.refusalRows(s, a, pages, refused, false)
		if len(found) == 0 { // refused a robots.txt, a crawler requests hardly any page
			for _, one := range s.txt {
				if one.agent == a {
					i := g.slotOf(one.at)
					if pages[i].add(one.count()); one.isRefusal() {
						refused[i].add(one.count())
					}
				}
			}
			found = g.refusalRows(s, a, pages, refused, true)
		}
		rows = append(rows, found...)
	}
	for i := range rows { // those of other crawlers with the same status in most of the time become one
		r := &rows[i]
		j := slices.IndexFunc(g.rows, func(o Row) bool {
			return o.Code == r.Code && o.Origin == r.Origin && o.Evidence.Status == r.Evidence.Status && sharedSeconds(&o, r) >= .8*float64(max(o.duration(), r.duration()))
		})
		if j < 0 {
			g.addRow(*r)
			continue
		}
		o := &g.rows[j]
		o.Agents, o.refused = append(o.Agents, r.Agents...), append(o.refused, r.refused...)
		o.Requests, o.Of, o.lost = o.Requests+r.Requests, o.Of+r.Of, o.lost+r.lost
		o.Ongoing, o.mixed = o.Ongoing || r.Ongoing, o.mixed || r.mixed
		o.From, o.To = timeOf(min(o.From.Unix(), r.From.Unix())), timeOf(max(o.To.Unix(), r.To.Unix()))
	}
	// A row that is too small to be shown explains nothing: other rows must count its requests.
	g.rows = slices.DeleteFunc(g.rows, func(r Row) bool { return !g.isShown(&r) })
}

// refusalRows returns the rows of a crawler that a site refuses. pages and refused are its requests for pages by
// slot, and those of them that were refused. With atTxt, both also count its requests for robots.txt; then it must
// have got nearly nothing, and other crawlers the file.
func (g *grid) refusalRows(s *site, agent uint16, pages, refused []count, atTxt bool) (rows []Row) {
	all, allBad, isSpread := total(pages), total(refused), len(s.refusals[agent]) >= refusedSpread
	for _, in := range mostlyBad(refused, pages, refusedWeight) {
		inside, bad := in.sumOf(pages), in.sumOf(refused)
		if bad.n < refusedLeast || bad.n < refusedShare*inside.n || bad.last-bad.first < refusedHours*hour && bad.n < refusedMany ||
			allBad.n-bad.n > refusedBefore*(all.n-inside.n) || all.n == inside.n && !isSpread && !atTxt {
			continue
		}
		served, turned, most := s.pages.sum(byAgent(0), isPage, in.hasKey).n, s.pages.sum(byAgent(0), isRefusal, in.hasKey).n, refusedPeople
		if atTxt {
			most = refusedScans
		}
		if turned > most*served || served < math.Floor(inside.n/10) {
			continue
		}
		_, statuses := s.pages.requestsBy(byAgent(agent), isRefusal, in.hasKey)
		if atTxt {
			var answers, turned float64 // of other crawlers' requests for robots.txt
			for _, one := range s.txt {
				isTurned := float64(bit(one.isRefusal())) * one.n
				switch {
				case !in.contains(g.slotOf(one.at)):
				case one.agent == agent:
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
				case k.agent != agent || isRefusal(k) || !isPage(k):
				case n.last < bad.first:
					from = max(from, n.last)
				case n.first > bad.last:
					to = min(to, n.first)
				}
			}
			for _, one := range s.txt {
				if one.agent == agent && one.at > from && one.at < to && one.isRefusal() {
					bad.add(one.count())
					inside.n += one.n
				}
			}
		}
		r := g.newRow(CrawlerRefused, s.origin, "/", bad, agent)
		r.Of, r.Evidence.Visitors, r.Ongoing = int64(inside.n), int64(served), total(pages[in.to:]).n == 0
		if atTxt && total(pages[:in.from]).n == 0 {
			r.From = timeOf(g.from) // it was never seen otherwise
		}
		r.setStatus(statuses)
		r.refused = []refusal{{agent, bad.first, bad.last}}
		if r.Ongoing {
			r.refused[0].to = g.to
		}
		_, expected := g.profileOf(agent, in).sums(in)
		r.lost = max(0, expected-(inside.n-bad.n))
		rows = append(rows, r)
	}
	return rows
}

// findTxt finds when the robots.txt of a site failed, was missing, or was a different text. The proof: for an hour
// (half an hour if it failed), at least two clients got three bad responses, and hardly any client got the file. It is
// missing only if it existed before. It is different only if no text in force has its size, and the size is rare at
// other times. Redirects except 304 are ignored: most sites redirect http to https, or to www, and the final response
// is a separate line.
func (g *grid) findTxt(s *site) {
	var all []answer
	for _, a := range s.txt {
		if g.isCrawler(a.agent) && (a.status/100 != 3 || a.status == 304) && a.status != 499 && a.status != NoStatus && !g.isRefused(s, a.agent, a.at) {
			all = append(all, a)
		}
	}
	all = withoutRefused(all)
	failed := func(a answer) bool { return a.status >= 500 || a.status == 429 || a.status == 408 }
	missing := func(a answer) bool { return a.status/100 == 4 && !failed(a) }
	for _, run := range g.findTxtRuns(all, failed, txtFailing) {
		g.addTxt(s, RobotsFailed, all, run, failed)
	}
	texts := g.textsOf(s.origin)
	for _, run := range g.findTxtRuns(all, missing, txtLasting) {
		if slices.ContainsFunc(texts, func(t Text) bool { return len(t.Body) > 0 }) || slices.ContainsFunc(all[:run.from], isGood) {
			g.addTxt(s, RobotsMissing, all, run, missing)
		}
	}
	sized := slices.DeleteFunc(slices.Clone(all), func(a answer) bool { return a.status != 200 })
	other := func(a answer) bool { // its size is not that of a text in force within a day before or after
		for i, t := range texts {
			ended := i+1 < len(texts) && texts[i+1].At.Unix() < a.at-textSlack
			if begun := i == 0 || t.At.Unix() <= a.at+textSlack; begun && !ended && uint32(len(t.Body)) == a.size {
				return false
			}
		}
		return true
	}
	known := 0
	for _, a := range sized {
		known += bit(!other(a))
	}
	if len(texts) == 0 || texts[0].At.IsZero() || known == 0 || float64(known) < textKnown*float64(len(sized)) {
		return
	}
	for _, run := range g.findTxtRuns(sized, other, txtLasting) {
		size, outside := commonSize(sized[run.from:run.to]), 0
		for i, a := range sized {
			outside += bit(a.size == size && !run.contains(i))
		}
		if float64(outside) <= textElse*float64(len(sized)-run.length()) {
			g.addTxt(s, RobotsOther, sized, run, other)
		}
	}
}

// isGood reports whether a response shows that the file exists.
func isGood(a answer) bool { return a.status == 200 || a.status == 304 }

// withoutRefused drops bad responses to clients that are themselves refused: those between two good responses to the
// client, if others got more good than bad responses in that time. It returns a new slice, in the same order.
func withoutRefused(all []answer) (kept []answer) {
	good := make([]float64, len(all)+1) // good responses so far
	for i, a := range all {
		good[i+1] = good[i] + a.n*float64(bit(isGood(a)))
	}
	type run struct{ from, to, n int }
	open := map[uint64]*run{} // by client: its current bad responses
	of := make([]*run, len(all))
	for i, a := range all {
		client := uint64(a.agent)<<32 | uint64(a.client)
		if isGood(a) {
			delete(open, client)
			continue
		}
		r := open[client]
		if r == nil || all[r.to].status != a.status { // two failures of the site are no refusal
			r = &run{from: i}
			open[client] = r
		}
		r.to, r.n, of[i] = i, r.n+1, r
	}
	for i, a := range all {
		if r := of[i]; r != nil {
			if n := good[r.to+1] - good[r.from]; n >= txtAnswers && 2*n > float64(r.to-r.from+1-r.n) {
				continue
			}
		}
		kept = append(kept, a)
	}
	return kept
}

// textsOf returns the known texts of an origin, the oldest first.
func (g *grid) textsOf(origin string) (all []Text) {
	for _, t := range g.Texts {
		if t.Origin == origin && t.Body != nil {
			all = append(all, t)
		}
	}
	return all
}

// wasSent reports whether the server sent a text without a time to crawlers: nearly all responses of a time range have
// its size. It is false if sizes are unknown: an older text may have been in force then.
func (g *grid) wasSent(t *Text, from, to int64) bool {
	same, all := 0., 0.
	for _, s := range g.sites {
		for _, a := range s.txt {
			if s.origin == t.Origin && a.status == 200 && a.at >= from && a.at <= to && g.isCrawler(a.agent) {
				if all += a.n; a.size == uint32(len(t.Body)) {
					same += a.n
				}
			}
		}
	}
	return all > 0 && same >= textSent*all
}

// commonSize returns the most frequent size of responses, by number of requests.
func commonSize(all []answer) uint32 {
	by := map[uint32]float64{}
	for _, a := range all {
		by[a.size] += a.n
	}
	return mode(by)
}

// findTxtRuns returns the runs of bad responses, as ranges of indices of all. They went to at least txtClients clients
// over at least lasts seconds. A run may contain some other responses.
func (g *grid) findTxtRuns(all []answer, isBad func(answer) bool, lasts int64) (runs []segment) {
	for _, run := range segments(len(all), func(i int) float64 {
		if isBad(all[i]) {
			return all[i].n
		}
		return -(1 - txtOthers) / txtOthers * all[i].n
	}) {
		clients, well, number := map[uint32]bool{}, map[uint32]float64{}, 0.
		for _, a := range all[run.from:run.to] {
			if client := uint32(a.agent)<<16 ^ a.client; isBad(a) {
				clients[client] = true
				number += a.n
			} else {
				well[client] += a.n
			}
		}
		served := 0. // responses to clients that got nothing else
		for client, n := range well {
			if !clients[client] {
				served += n
			}
		}
		isWell := served >= txtAnswers && len(well) > 1
		if !isWell && number >= txtAnswers && len(clients) >= txtClients && all[run.to-1].at-all[run.from].at >= lasts && (len(well) == 0 || number >= txtBridged) {
			runs = append(runs, run)
		}
	}
	return runs
}

// addTxt adds the row of a run of responses to requests for robots.txt, of which isBad chooses the bad ones. Except
// for RobotsOther, it adds none if fewer than txtAgents crawlers and no search crawler got them.
func (g *grid) addTxt(s *site, code string, all []answer, run segment, isBad func(answer) bool) {
	r := Row{Code: code, Origin: s.origin, Path: txtName, From: timeOf(all[run.from].at), To: timeOf(g.to), Ongoing: run.to == len(all)}
	by, statuses, answers := map[uint16]float64{}, map[uint16]float64{}, all[run.from:run.to]
	for _, a := range answers {
		r.Of += int64(a.n)
		if isBad(a) {
			by[a.agent] += a.n
			statuses[a.status] += a.n
			r.Requests += int64(a.n)
		}
	}
	if r.Agents = g.agentsOf(by); code != RobotsOther && !slices.ContainsFunc(slices.Collect(maps.Keys(by)), g.isSearch) && len(by) < txtAgents {
		return // two crawlers that the site may refuse
	}
	r.Evidence.Fetches = r.Of
	r.setStatus(statuses)
	if !r.Ongoing {
		r.To = timeOf(all[run.to].at)
		for _, a := range s.txt { // others may have requested it earlier, or were not sent the text because they had it
			if a.at > all[run.to-1].at && a.at < r.To.Unix() && (a.status == 304 || a.status == 200 && !isBad(a)) {
				r.To = timeOf(a.at)
				break
			}
		}
	}
	switch code {
	case RobotsFailed:
		in := g.slotsOf(&r)
		for _, a := range g.searches() {
			usual := g.profileOf(a, in)
			made, expected := usual.sums(in)
			if came, before := usual.sums(segment{max(0, in.from-g.slotsIn(stopLasts)), in.from}); before >= leftLeast && came < stopBack*before {
				continue // had left earlier
			}
			r.lost += max(0, expected-made)
			if expected > r.Evidence.Expected {
				r.Evidence.Expected, r.Evidence.Made, r.Evidence.Crawler = rounded(expected), int64(made), g.Agents[a].Name
			}
		}
		if r.duration() > longFailing {
			r.lost = max(r.lost, leastFailing)
		}
	case RobotsOther:
		r.Evidence.Size = int64(commonSize(answers))
		for _, t := range g.textsOf(s.origin) {
			if !t.At.After(r.From) {
				r.Evidence.TextSize = int64(len(t.Body))
			}
		}
	}
	g.addRow(r)
}
