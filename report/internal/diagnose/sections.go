package diagnose

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// An area is a directory of a site with its requests.
type area struct {
	path  string
	pages table
	n     int64 // page requests
}

// A candidate is a directory that may get a row, with the row's counts.
type candidate struct {
	path     string
	bad, all int64
	row      Row
	in       segment
	core     segment // of an outage, without partly failed slots at its ends

	logBad, logAll int64 // for the whole log, for the error share
}

// A survey examines the directories of a site, one after the other.
type survey struct {
	*grid
	site    *site
	now     [2]*area // the first and the second directory
	outages []candidate
	errors  []candidate
	missing []candidate
	down    []segment        // time ranges in which the whole site may have failed
	parts   []map[bool]int64 // for each of down: number of first directories that failed or not
	rules   *ruleBook
	watched map[place]table
	named   map[string]table // by parameter
}

// surveyAll examines the directories of all sites.
func (g *grid) surveyAll() error {
	by := map[string]*survey{}
	for _, s := range g.sites {
		v := &survey{grid: g, site: s, rules: g.ruleBookOf(s), watched: g.watches(s), named: map[string]table{}}
		for _, p := range g.Parameters {
			if p.Origin == s.origin {
				v.named["/?"+p.Name] = table{}
			}
		}
		v.findOutages(&area{path: "/", pages: s.pages})
		for _, c := range v.outages {
			v.down = append(v.down, c.core)
			v.parts = append(v.parts, map[bool]int64{})
		}
		by[s.origin] = v
	}
	var now *survey
	err := g.counts.each(func(r *record) {
		origin, path := split(r.text)
		if now == nil || now.site.origin != string(origin) {
			now.closeAreas(0)
			now = by[string(origin)]
		}
		if now != nil && string(path) != txtName {
			now.addCell(r, string(path))
		}
	})
	now.closeAreas(0)
	for _, s := range g.sites {
		by[s.origin].end()
	}
	return err
}

// addCell adds a cell of a directory.
func (v *survey) addCell(r *record, path string) {
	k, one := v.countOf(r)
	if v.isCrawler(k.agent) && isPage(k) {
		for at, pages := range v.watched {
			if at.bucket == r.key.size && strings.HasPrefix(path, at.path) && isDirectory(path) == isDirectory(at.path) {
				pages.put(k, one)
			}
		}
		if pages := v.named[path]; pages != nil {
			pages.put(cellKey{slot: k.slot, agent: k.agent}, one)
		}
	}
	if !isDirectory(path) {
		return
	}
	v.rules.addCell(path, k, one)
	for i, dir := range [2]string{firstDirectory(path), path} {
		isNone := strings.Count(dir, "/") < 2+i // no directory of this depth
		if v.now[i] != nil && (isNone || v.now[i].path != dir) {
			v.closeAreas(i)
		}
		if isNone {
			return
		}
		if v.now[i] == nil {
			v.now[i] = &area{path: dir, pages: table{}}
		}
		if isPage(k) {
			v.now[i].n += one.n
			v.now[i].pages.put(k, one)
		}
	}
}

// closeAreas examines the complete directories of a depth and those below.
func (v *survey) closeAreas(depth int) {
	if v == nil {
		return
	}
	for i := len(v.now) - 1; i >= depth; i-- {
		a := v.now[i]
		if v.now[i] = nil; a == nil {
			continue
		}
		if i == 0 {
			for j, in := range v.down {
				all := a.pages.sum(func(k cellKey) bool { return in.has(k.slot) }).n
				bad := a.pages.sum(func(k cellKey) bool { return in.has(k.slot) && isError(k) }).n
				if all >= outagePart {
					v.parts[j][float64(bad) >= outageSome*float64(all)]++
				}
			}
		}
		if a.n >= directoryLeast {
			v.findOutages(a)
			v.findErrors(a)
			v.findMissing(a)
		}
	}
}

// own reports whether a count belongs to a crawler that the site refused at that time.
func (v *survey) own(k cellKey) bool {
	return isRefusal(k.status) && v.isRefused(v.site, k.agent, v.start(int(k.slot)))
}

// findOutages finds the time ranges in which most requests for a directory failed.
func (v *survey) findOutages(a *area) {
	bad := a.pages.hours(v.slots, func(k cellKey) bool { return isError(k) && !v.own(k) })
	sum := total(bad)
	if sum.n < outageRequests/2 {
		return
	}
	all := a.pages.hours(v.slots, func(k cellKey) bool { return isPage(k) && !v.own(k) })
	for _, in := range segments(v.slots, func(i int) float64 { return float64(2*bad[i].n - all[i].n) }) {
		wide := in // with partly failed slots at its ends
		if wide.from > 0 && float64(bad[wide.from-1].n) > edgeShare*float64(all[wide.from-1].n) {
			wide.from--
		}
		if wide.to < v.slots && float64(bad[wide.to].n) > edgeShare*float64(all[wide.to].n) {
			wide.to++
		}
		failed, asked := wide.of(bad), in.of(all)
		lasted := failed.last - failed.first
		isQuiet := func(s segment) bool { // a time range before or after it with few errors
			n := s.of(all).n
			return n >= outageRequests && float64(s.of(bad).n) <= outageBaseline*float64(n)
		}
		if asked.n < outageRequests || lasted < outageShort || lasted < outageLasts && asked.n < outageMany || !isQuiet(segment{0, wide.from}) && !isQuiet(segment{wide.to, v.slots}) {
			continue
		}
		isOf := func(k cellKey) bool { return isPage(k) && !v.own(k) && wide.has(k.slot) }
		by, statuses := a.pages.by(func(k cellKey) bool { return isOf(k) && isError(k) })
		if _, isSole := v.sole(a.pages, isOf); isSole || len(by) < outageClients {
			continue
		}
		r := v.row(Outage, v.site.origin, a.path, failed)
		r.Of, r.Ongoing = max(failed.n, asked.n), total(all[wide.to:]).n == 0
		r.answered(statuses)
		v.blame(&r, by)
		v.outages = append(v.outages, candidate{path: a.path, bad: failed.n, all: asked.n, row: r, in: wide, core: in})
	}
}

// sole returns the only crawler with errors: it got nearly all errors of some pages, and other clients got hardly any.
// It returns 0 if that client is not a crawler, or if crawlers got hardly any errors, because then others provoked
// them. ok is false if the site fails for several.
func (v *survey) sole(pages table, isOf func(cellKey) bool) (agent uint16, is bool) {
	errors, asked, parts := map[uint16]int64{}, map[uint16]int64{}, map[uint8]int64{}
	sum, all := int64(0), int64(0)
	for k, n := range pages {
		if !isOf(k) {
			continue
		}
		all, asked[k.agent] = all+n.n, asked[k.agent]+n.n
		if isError(k) {
			sum, errors[k.agent] = sum+n.n, errors[k.agent]+n.n
			if k.agent == 0 { // a crawler has many addresses
				parts[k.client] += n.n
			}
		}
	}
	crawled, failed := int64(0), int64(0)
	for a, n := range asked {
		if v.isCrawler(a) {
			crawled, failed = crawled+n, failed+errors[a]
		}
	}
	if due := float64(crawled) * float64(sum) / float64(max(1, all)); due >= outagePart && float64(failed) < provokedShare*due {
		return 0, true
	}
	errors[0] = 0
	for _, n := range parts {
		errors[0] = max(errors[0], n)
	}
	for a, n := range errors {
		if float64(n) < soleErrors*float64(sum) {
			continue
		}
		others := all - asked[a]
		if a == 0 {
			others = all - n
		}
		is = a == 0 && others == 0 || others >= outagePart && float64(sum-n) <= refusedPeople*float64(others)
		if !v.isCrawler(a) { // includes impostors
			a = 0
		}
		return a, is
	}
	return 0, false
}

// findErrors finds a directory with many failing requests, in the whole log or on some days.
func (v *survey) findErrors(a *area) {
	out := slices.Clone(v.down)
	for _, c := range v.outages {
		if strings.HasPrefix(c.path, a.path) || strings.HasPrefix(a.path, c.path) {
			out = append(out, c.in)
		}
	}
	wanted := func(k cellKey) bool { return isPage(k) && !v.own(k) && !isIn(out, k.slot) }
	bad := a.pages.hours(v.slots, func(k cellKey) bool { return wanted(k) && isError(k) })
	if total(bad).n < errorsLeast {
		return
	}
	all := a.pages.hours(v.slots, wanted)
	in := v.changeOf(bad, all)
	failed, asked := in.of(bad), in.of(all)
	share, least := float64(failed.n)/float64(max(1, asked.n)), errorsShare
	if a.path == "/" {
		least = errorsRoot
	}
	lasts, urls := int64(errorsLasts), v.Failing[v.site.origin+a.path].Failing
	if v.to-v.from < errorsLog {
		lasts = errorsShort
	}
	if share < least || failed.n < errorsLeast || failed.last-failed.first < lasts-day/2 || urls < errorsURLs {
		return
	}
	isOf := func(k cellKey) bool { return wanted(k) && in.has(k.slot) }
	by, statuses := a.pages.by(func(k cellKey) bool { return isOf(k) && isError(k) })
	agent, isSole := v.sole(a.pages, isOf)
	if isSole && agent == 0 {
		return
	}
	r := v.row(ServerErrors, v.site.origin, a.path, failed)
	r.Of, r.Evidence.URLs = asked.n, urls
	r.answered(statuses)
	v.blame(&r, by)
	if isSole {
		own := func(k cellKey) bool { return isOf(k) && k.agent == agent }
		r.Agents, r.Of = []string{v.Agents[agent].Name}, a.pages.sum(own).n
		r.Requests = a.pages.sum(func(k cellKey) bool { return own(k) && isError(k) }).n
	}
	if in.from == 0 {
		r.From = at(v.from)
	}
	if in.to == v.slots {
		r.To, r.Ongoing = at(v.to), true
	}
	v.errors = append(v.errors, candidate{path: a.path, bad: failed.n, all: asked.n, row: r, in: in, logBad: total(bad).n, logAll: total(all).n})
}

// changeOf returns the days in which a share differs most from all others; all slots if it hardly differs.
func (v *survey) changeOf(bad, all []count) segment {
	ends, k, m := []int{0}, []float64{0}, []float64{0} // ends of days, and sums up to them
	for i := range v.slots {
		if end := i + 1; end == v.slots || floor(v.start(end), day) > floor(v.start(i), day) {
			one, last := segment{ends[len(ends)-1], end}, len(ends)-1
			ends, k, m = append(ends, end), append(k, k[last]+float64(one.of(bad).n)), append(m, m[last]+float64(one.of(all).n))
		}
	}
	n := len(ends)
	best, gain := segment{0, v.slots}, changeGain
	whole := likelihood(k[n-1], m[n-1])
	for a := range n - 1 {
		for b := a + 1; b < n; b++ {
			in, of := k[b]-k[a], m[b]-m[a]
			out, rest := k[n-1]-in, m[n-1]-of
			if of == 0 || rest == 0 || in/of <= out/rest {
				continue
			}
			if g := likelihood(in, of) + likelihood(out, rest) - whole; g > gain {
				best, gain = segment{ends[a], ends[b]}, g
			}
		}
	}
	return best
}

// likelihood returns the maximum log-likelihood of k of n.
func likelihood(k, n float64) (l float64) {
	if k > 0 {
		l += k * math.Log(k/n)
	}
	if k < n {
		l += (n - k) * math.Log(1-k/n)
	}
	return l
}

// findMissing finds a directory with missing pages that search crawlers request.
func (v *survey) findMissing(a *area) {
	search := func(k cellKey) bool { return isPage(k) && v.isSearch(k.agent) && !v.own(k) && !isError(k) }
	gone := a.pages.hours(v.slots, func(k cellKey) bool { return search(k) && isMissing(k) })
	urls := v.Failing[v.site.origin+a.path].Missing
	if total(gone).n < missingLeast || urls < missingURLs {
		return
	}
	all := a.pages.hours(v.slots, search)
	for _, in := range segments(v.slots, func(i int) float64 {
		return float64(gone[i].n) - missingShare/(1-missingShare)*float64(all[i].n-gone[i].n)
	}) {
		missing, asked := in.of(gone), in.of(all)
		by, _ := a.pages.by(func(k cellKey) bool { return search(k) && isMissing(k) && in.has(k.slot) })
		r := v.wasted(NotFoundSection, a.path, by, missing)
		if missing.n < missingLeast || r.Evidence.Share < missingOwn {
			continue
		}
		r.Of, r.Evidence.URLs, r.Ongoing = asked.n, urls, total(all[in.to:]).n == total(gone[in.to:]).n
		v.missing = append(v.missing, candidate{path: a.path, bad: missing.n, all: asked.n, row: r, in: in})
	}
}

// end chooses the directories with rows.
func (v *survey) end() {
	v.endOutages()
	v.endErrors()
	v.findMissing(&area{path: "/", pages: v.site.pages})
	for _, c := range chosen(v.missing, missingShare) {
		v.rows = append(v.rows, c.row)
	}
	v.rules.end()
	v.findWasted()
}

// chosen returns the directories with rows: a directory replaces its parent if hardly any other page of the parent
// fails; otherwise the parent replaces it. The share is relative to the failing pages.
func chosen(all []candidate, share float64) (some []candidate) {
	holds := func(o, c candidate) bool {
		return float64(o.bad) >= outageHolds*float64(c.bad) && float64(c.bad-o.bad) < share/2*float64(max(1, c.all-o.all))
	}
	for _, c := range all {
		isOther := func(o candidate) bool {
			return o.in.overlap(c.in) > 0 && (isBelow(o.path, c.path) && holds(o, c) || isBelow(c.path, o.path) && !holds(c, o))
		}
		if !slices.ContainsFunc(all, isOther) {
			some = append(some, c)
		}
	}
	return some
}

// isBelow reports whether a directory is below another.
func isBelow(path, other string) bool { return path != other && strings.HasPrefix(path, other) }

// endOutages chooses the deepest directory with nearly all errors of an outage, or the whole site if most of the
// directories with enough requests failed. If at most one had enough, it chooses the site unless a directory has nearly
// all errors.
func (v *survey) endOutages() {
	slices.SortStableFunc(v.outages, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.bad, a.bad), cmp.Compare(a.path, b.path)) })
	var whole []candidate
	for i, in := range v.down {
		failed, not := v.parts[i][true], v.parts[i][false]
		for _, c := range v.outages {
			isOne := failed+not < 2 && !slices.ContainsFunc(v.outages, func(o candidate) bool {
				return o.path != "/" && o.in.overlap(in) > 0 && float64(o.bad) >= outageHolds*float64(c.bad)
			})
			if c.path == "/" && c.core == in && (isOne || failed > 1 && float64(failed) >= outageParts*float64(failed+not)) {
				whole = append(whole, c)
			}
		}
	}
	parts := slices.DeleteFunc(slices.Clone(v.outages), func(c candidate) bool {
		return c.path == "/" || slices.ContainsFunc(whole, func(o candidate) bool { return 2*c.in.overlap(o.in) >= c.in.length() })
	})
	for _, c := range append(whole, chosen(parts, outageShare)...) {
		v.rows = append(v.rows, c.row)
	}
}

// endErrors chooses a directory, or those below it if the rest of it hardly fails.
func (v *survey) endErrors() {
	out := make([]segment, 0, len(v.outages))
	for _, c := range v.outages {
		out = append(out, c.in)
	}
	v.findErrors(&area{path: "/", pages: v.site.pages}) // after the outages of its directories
	isOf := func(k cellKey) bool { return isPage(k) && !v.own(k) && !isIn(out, k.slot) }
	siteBad, siteAll := v.site.pages.sum(func(k cellKey) bool { return isOf(k) && isError(k) }).n, v.site.pages.sum(isOf).n
	v.errors = slices.DeleteFunc(v.errors, func(c candidate) bool {
		rest := float64(max(0, siteBad-c.logBad)) / float64(max(1, siteAll-c.logAll))
		if c.path == "/" {
			rest = errorsRoot / errorsTimes
		}
		const z = 1.96 // the lower bound of the 95 % Wilson interval of the share
		m := float64(c.all)
		p := float64(c.bad) / m
		return (p+z*z/2/m-z*math.Sqrt(p*(1-p)/m+z*z/4/m/m))/(1+z*z/m) < errorsTimes*rest
	})
	isLess := map[string]bool{}
	for _, c := range v.errors {
		bad, all, least := c.bad, c.all, errorsShare
		if c.path == "/" {
			least = errorsRoot
		}
		var below []string
		for _, o := range v.errors {
			if isBelow(o.path, c.path) && (c.path == "/") == (strings.Count(o.path, "/") == 2) {
				bad, all, below = bad-o.bad, all-o.all, append(below, o.path)
			}
		}
		if len(below) == 0 {
			continue
		}
		if float64(bad) < least/2*float64(max(1, all)) {
			isLess[c.path] = true
			continue
		}
		for _, path := range below {
			isLess[path] = true
		}
	}
	for _, c := range v.errors {
		if !isLess[c.path] {
			v.rows = append(v.rows, c.row)
		}
	}
}
