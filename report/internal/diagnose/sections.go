package diagnose

import (
	"math"
	"slices"
	"strings"
)

// An area is a directory of a site with its requests for pages.
type area struct {
	path string
	table
}

// A candidate is a row that a directory may get.
type candidate struct {
	Row
	bad, all float64
	in       segment

	// Of an outage: the time without partly failed slots at its ends, and for the whole site, how many first directories
	// failed in it or not.
	core         segment
	failed, fine float64

	logBad, logAll float64 // of server errors: for the whole log
}

// A survey examines the directories of a site, one after the other.
type survey struct {
	*grid
	site    *site
	now     [2]*area // the first and the second directory
	outages []candidate
	errors  []candidate
	missing []candidate
	rules   *ruleBook
	watched map[place]table  // requests of crawlers at places that facts are about
	named   map[string]table // by parameter
}

// surveyAll examines the directories of all sites, and adds their rows. The error is about the temporary file of the
// counts.
func (g *grid) surveyAll() error {
	by := map[string]*survey{}
	for _, s := range g.sites {
		v := &survey{grid: g, site: s, rules: g.ruleBookOf(s), watched: map[place]table{}, named: map[string]table{}}
		for _, p := range g.Parameters {
			if p.Origin == s.origin {
				v.named["/?"+p.Name] = table{}
			}
		}
		if len(g.Chain.Shapes) > 2 {
			v.watched[placeOf(g.Chain.Shapes[0])] = table{}
		}
		for _, h := range g.Hogs {
			if h.Origin == s.origin && h.Path != "" && h.Bytes >= hogBytes {
				v.watched[placeOf(h.Path)] = table{}
			}
		}
		for _, space := range g.Spaces {
			if space.Origin == s.origin {
				v.watched[placeOf(space.Path)] = table{}
			}
		}
		for _, soft := range g.Soft {
			if path, isHere := strings.CutPrefix(soft.Directory, s.origin); isHere {
				one := table{} // of both buckets
				v.watched[place{sizedName + path, uint32(soft.bucket)}], v.watched[place{sizedName + path, uint32(soft.bucket) + 1}] = one, one
			}
		}
		v.findOutages(&area{"/", s.pages})
		by[s.origin] = v
	}
	var now *survey
	err := g.counts.eachCell(func(r *record) {
		origin, path := splitText(r.text)
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
		v := by[s.origin]
		v.endOutages()
		v.endErrors()
		v.findMissing(&area{"/", s.pages})
		v.addCandidates(chooseDirectories(v.missing, missingShare))
		v.rules.addFindings()
		v.findWasted()
		v.findHog()
	}
	return err
}

// addCell adds a cell of the site. Cells must come in the order of Counts.eachCell.
func (v *survey) addCell(r *record, path string) {
	k, one := v.countOf(r)
	if v.isCrawler(k.agent) && isPage(k) {
		for at, pages := range v.watched {
			if at.bucket == r.key.size && strings.HasPrefix(path, at.path) && isDirectory(path) == isDirectory(at.path) {
				pages.addCount(k, one)
			}
		}
		if pages := v.named[path]; pages != nil {
			pages.addCount(cellKey{slot: k.slot, agent: k.agent}, one)
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
			v.now[i] = &area{dir, table{}}
		}
		if isPage(k) {
			v.now[i].addCount(k, one)
		}
	}
}

// closeAreas examines the complete directories of a depth and those below. A nil survey has none.
func (v *survey) closeAreas(depth int) {
	if v == nil {
		return
	}
	for i := len(v.now) - 1; i >= depth; i-- {
		a := v.now[i]
		if v.now[i] = nil; a == nil {
			continue
		}
		for j := range v.outages {
			if c := &v.outages[j]; i == 0 && c.Path == "/" {
				bad, all := a.sum(c.core.hasKey, isError).n, a.sum(c.core.hasKey).n
				switch {
				case all < outagePart:
				case bad >= outageSome*all:
					c.failed++
				default:
					c.fine++
				}
			}
		}
		if a.sum().n >= directoryLeast {
			v.findOutages(a)
			v.findErrors(a)
			v.findMissing(a)
		}
	}
}

// isUnrefused is a test that chooses all counts except those of crawlers that the site refused at that time.
func (v *survey) isUnrefused(k cellKey) bool {
	return !isRefusal(k) || !v.isRefused(v.site, k.agent, v.startOf(int(k.slot)))
}

// findOutages finds when a directory was down. The proof: for an hour, or 20 minutes with 200 requests, more than half
// of the requests for its pages failed with server errors, for several clients, while hardly any failed before or
// afterwards.
func (v *survey) findOutages(a *area) {
	bad := a.perSlot(v.slots, isError, v.isUnrefused)
	if total(bad).n < outageRequests/2 {
		return
	}
	all := a.perSlot(v.slots, isPage, v.isUnrefused)
	isPart := func(slot int) bool { return bad[slot].n > edgeShare*all[slot].n }
	for _, in := range mostlyBad(bad, all, 1) {
		wide := in // with partly failed slots at its ends
		if wide.from > 0 && isPart(wide.from-1) {
			wide.from--
		}
		if wide.to < v.slots && isPart(wide.to) {
			wide.to++
		}
		failed, asked := wide.sumOf(bad), in.sumOf(all)
		lasted := failed.last - failed.first
		isQuiet := func(s segment) bool { // a time range before or after it with few errors
			n := s.sumOf(all).n
			return n >= outageRequests && s.sumOf(bad).n <= outageBaseline*n
		}
		if asked.n < outageRequests || lasted < outageShort || lasted < outageLasts && asked.n < outageMany || !isQuiet(segment{0, wide.from}) && !isQuiet(segment{wide.to, v.slots}) {
			continue
		}
		by, statuses := a.requestsBy(isError, v.isUnrefused, wide.hasKey)
		if _, isSole := v.soleClient(a.table, v.isUnrefused, wide.hasKey); isSole || len(by) < outageClients {
			continue
		}
		r := v.newRow(Outage, v.site.origin, a.path, failed)
		r.Of, r.Ongoing = int64(max(failed.n, asked.n)), total(all[wide.to:]).n == 0
		r.setStatus(statuses)
		v.addFailures(&r, by)
		v.outages = append(v.outages, candidate{Row: r, bad: failed.n, all: asked.n, in: wide, core: in})
	}
}

// soleClient reports whether only one client has errors: it got nearly all errors of the pages that pass the tests,
// and other clients got hardly any. agent is that client if it is a crawler, otherwise 0. The result is also 0 and
// true if crawlers got hardly any errors, because then others provoked them.
func (v *survey) soleClient(pages table, tests ...test) (agent uint16, isSole bool) {
	tests = append(tests, isPage)
	asked, _ := pages.requestsBy(tests...)
	errors, parts := map[uint16]float64{}, map[uint8]float64{}
	sum, all, crawled, failed := 0., 0., 0., 0.
	pages.eachCount(func(k cellKey, n count) {
		sum, errors[k.agent] = sum+n.n, errors[k.agent]+n.n
		if k.agent == 0 { // a crawler has many addresses
			parts[k.client] += n.n
		}
	}, append(tests, isError))
	for a, n := range asked {
		if all += n; v.isCrawler(a) {
			crawled, failed = crawled+n, failed+errors[a]
		}
	}
	if due := crawled * sum / max(1, all); due >= outagePart && failed < provokedShare*due {
		return 0, true
	}
	errors[0] = 0
	for _, n := range parts {
		errors[0] = max(errors[0], n)
	}
	for a, n := range errors {
		if n < soleErrors*sum {
			continue
		}
		others := all - asked[a]
		if a == 0 {
			others = all - n
		}
		isSole = a == 0 && others == 0 || others >= outagePart && sum-n <= refusedPeople*others
		if !v.isCrawler(a) { // includes impostors
			a = 0
		}
		return a, isSole
	}
	return 0, false
}

// outsideOutages returns a test that chooses the counts outside refusals and outside the outages of a directory, of
// those above it and of those below it.
func (v *survey) outsideOutages(path string) test {
	var out []segment
	for _, c := range v.outages {
		if strings.HasPrefix(c.Path, path) || strings.HasPrefix(path, c.Path) {
			out = append(out, c.in)
		}
	}
	return func(k cellKey) bool { return !isIn(out, int(k.slot)) && v.isUnrefused(k) }
}

// findErrors finds a directory that fails in part. The proof: apart from outages, 2 % of the requests for its pages and
// 20 URLs failed with server errors for at least three days, be it in the whole log or since a change. If one crawler
// got nearly all errors, the row names it; errors that other single clients got or provoked prove nothing.
func (v *survey) findErrors(a *area) {
	wanted := v.outsideOutages(a.path)
	bad := a.perSlot(v.slots, isError, wanted)
	if total(bad).n < errorsLeast {
		return
	}
	all := a.perSlot(v.slots, isPage, wanted)
	in := v.findChange(bad, all)
	failed, asked, least := in.sumOf(bad), in.sumOf(all), errorsShare
	if a.path == "/" {
		least = errorsRoot
	}
	lasts, urls := int64(errorsLasts), v.Failing[v.site.origin+a.path].Failing
	if v.to-v.from < errorsLog {
		lasts = errorsShort
	}
	if failed.n/max(1, asked.n) < least || failed.n < errorsLeast || failed.last-failed.first < lasts-day/2 || urls < errorsURLs {
		return
	}
	by, statuses := a.requestsBy(isError, wanted, in.hasKey)
	agent, isSole := v.soleClient(a.table, wanted, in.hasKey)
	if isSole && agent == 0 {
		return
	}
	r := v.newRow(ServerErrors, v.site.origin, a.path, failed)
	r.Of, r.Evidence.URLs = int64(asked.n), urls
	r.setStatus(statuses)
	v.addFailures(&r, by)
	if isSole {
		r.Agents, r.Requests = []string{v.Agents[agent].Name}, int64(by[agent])
		r.Of = int64(a.sum(byAgent(agent), isPage, wanted, in.hasKey).n)
	}
	if in.from == 0 {
		r.From = timeOf(v.from)
	}
	if in.to == v.slots {
		r.To, r.Ongoing = timeOf(v.to), true
	}
	v.errors = append(v.errors, candidate{Row: r, bad: failed.n, all: asked.n, in: in, logBad: total(bad).n, logAll: total(all).n})
}

// findChange returns the consecutive days in which the share of bad requests is significantly higher than on all
// others; all slots if there are none.
func (v *survey) findChange(bad, all []count) segment {
	ends, k, m := []int{0}, []float64{0}, []float64{0} // ends of days, and sums up to them
	for i := range v.slots {
		if end := i + 1; end == v.slots || floorDiv(v.startOf(end), day) > floorDiv(v.startOf(i), day) {
			one, last := segment{ends[len(ends)-1], end}, len(ends)-1
			ends, k, m = append(ends, end), append(k, k[last]+float64(one.sumOf(bad).n)), append(m, m[last]+float64(one.sumOf(all).n))
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

// likelihood returns the maximum log-likelihood of k events among n: that of the probability k/n.
func likelihood(k, n float64) (l float64) {
	if k > 0 {
		l += k * math.Log(k/n)
	}
	if k < n {
		l += (n - k) * math.Log(1-k/n)
	}
	return l
}

// findMissing finds a directory whose pages are gone. The proof: four of five requests of search crawlers for its
// pages returned 404 or 410, at least 100 requests and 20 URLs. They are also a notable share of what one crawler
// requests.
func (v *survey) findMissing(a *area) {
	search := func(k cellKey) bool { return isPage(k) && v.isSearch(k.agent) && !isError(k) && v.isUnrefused(k) }
	gone := a.perSlot(v.slots, isMissing, search)
	urls := v.Failing[v.site.origin+a.path].Missing
	if total(gone).n < missingLeast || urls < missingURLs {
		return
	}
	all := a.perSlot(v.slots, search)
	for _, in := range mostlyBad(gone, all, missingShare/(1-missingShare)) {
		missing, asked := in.sumOf(gone), in.sumOf(all)
		by, _ := a.requestsBy(isMissing, search, in.hasKey)
		r := v.newWasteRow(NotFoundSection, a.path, by, missing)
		if missing.n < missingLeast || r.Evidence.Share < missingOwn {
			continue
		}
		r.Of, r.Evidence.URLs, r.Ongoing = int64(asked.n), urls, total(all[in.to:]).n == total(gone[in.to:]).n
		v.missing = append(v.missing, candidate{Row: r, bad: missing.n, all: asked.n, in: in})
	}
}

// addCandidates adds the rows of candidates to the grid.
func (v *survey) addCandidates(all []candidate) {
	for _, c := range all {
		v.addRow(c.Row)
	}
}

// chooseDirectories returns the candidates that become rows: a directory replaces its parent if hardly any other page
// of the parent fails; otherwise the parent replaces it. share is the threshold of failing pages for a row.
func chooseDirectories(all []candidate, share float64) []candidate {
	holds := func(o, c candidate) bool {
		return o.bad >= outageHolds*c.bad && c.bad-o.bad < share/2*max(1, c.all-o.all)
	}
	return slices.DeleteFunc(slices.Clone(all), func(c candidate) bool {
		return slices.ContainsFunc(all, func(o candidate) bool {
			return o.in.overlap(c.in) > 0 && (isBelow(o.Path, c.Path) && holds(o, c) || isBelow(c.Path, o.Path) && !holds(c, o))
		})
	})
}

// isBelow reports whether a directory is below another.
func isBelow(path, other string) bool { return path != other && strings.HasPrefix(path, other) }

// endOutages chooses the deepest directory with nearly all errors of an outage, or the whole site if most of the
// directories with enough requests failed. If at most one had enough, it chooses the site unless a directory has nearly
// all errors.
func (v *survey) endOutages() {
	var whole []candidate
	for _, c := range v.outages {
		isPart := slices.ContainsFunc(v.outages, func(o candidate) bool {
			return o.Path != "/" && o.in.overlap(c.core) > 0 && o.bad >= outageHolds*c.bad
		})
		if c.Path == "/" && (c.failed+c.fine < 2 && !isPart || c.failed > 1 && c.failed >= outageParts*(c.failed+c.fine)) {
			whole = append(whole, c)
		}
	}
	parts := slices.DeleteFunc(slices.Clone(v.outages), func(c candidate) bool {
		return c.Path == "/" || slices.ContainsFunc(whole, func(o candidate) bool { return 2*c.in.overlap(o.in) >= c.in.length() })
	})
	v.addCandidates(append(whole, chooseDirectories(parts, outageShare)...))
}

// endErrors adds the rows of directories with server errors that clearly exceed the rest of the site. It chooses a
// directory, or those below it if the rest of it hardly fails.
func (v *survey) endErrors() {
	v.findErrors(&area{"/", v.site.pages}) // after the outages of its directories
	wanted := v.outsideOutages("/")
	siteBad, siteAll := v.site.pages.sum(isError, wanted).n, v.site.pages.sum(isPage, wanted).n
	v.errors = slices.DeleteFunc(v.errors, func(c candidate) bool {
		rest := max(0, siteBad-c.logBad) / max(1, siteAll-c.logAll)
		if c.Path == "/" {
			rest = errorsRoot / errorsTimes
		}
		const z = 1.96 // the lower bound of the 95 % Wilson interval of the share
		m, p := c.all, c.bad/c.all
		return (p+z*z/2/m-z*math.Sqrt(p*(1-p)/m+z*z/4/m/m))/(1+z*z/m) < errorsTimes*rest
	})
	isLess := map[string]bool{}
	for _, c := range v.errors {
		bad, all, least := c.bad, c.all, errorsShare
		if c.Path == "/" {
			least = errorsRoot
		}
		var below []string
		for _, o := range v.errors {
			if isBelow(o.Path, c.Path) && (c.Path == "/") == (strings.Count(o.Path, "/") == 2) {
				bad, all, below = bad-o.bad, all-o.all, append(below, o.Path)
			}
		}
		if len(below) > 0 && bad < least/2*max(1, all) {
			below = []string{c.Path}
		}
		for _, path := range below {
			isLess[path] = true
		}
	}
	v.addCandidates(slices.DeleteFunc(v.errors, func(c candidate) bool { return isLess[c.Path] }))
}
