package replies

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/engine"
)

// The signs of an outage: errors of the server to a crawler, with few other answers among them.
const (
	pureFailures = 5  // at the beginning of an outage, without another answer
	endedBy      = 10 // other answers in a row
	mostOks      = 3  // of these at the end of the log, to all crawlers for which the place failed
	hourMicros   = int64(3600e6)

	mostOutages   = 1 << 9 // that are kept, or twice as many for a time
	outageDirsTop = 2      // directories of a path, beside the root
)

// Outages find the directories of origins that fail for crawlers from a moment on to the end of the log. Rows come in the order of their
// time, or there are none. The zero value has none. A row of a log without errors costs nothing.
type Outages struct {
	off    bool
	newest int64
	timed  bool // newest is set
	all    map[place]*outage
}

// A place is a directory, which ends with a slash, or a page of the root.
type place struct {
	site engine.SiteID
	dir  string
}

// An outage is the answers at a place by crawler, while it fails for one.
type outage struct {
	origin string
	by     []outageRun
	alive  int // of by
	oks    int // other answers to these in a row
}

// An outageRun is the answers to a crawler from an error on.
type outageRun struct {
	Failing
	before int64 // when the last answer before it came; NoTime is never
	served int64 // when the last other answer came; NoTime is never
	oks    int64 // of these in a row
}

// Failing is the answers to a crawler in an outage. Times are by the clock of the page.
type Failing struct {
	Crawler          int
	First, Last      int64 // errors
	Answered, Failed int64
	Statuses         map[int64]int64 // of Failed
	Hours            []Hour          // in their order
}

// An Hour is the answers of an hour that begins at a time, in seconds.
type Hour struct{ At, Answered, Failed int64 }

// An Outage is a place that fails for some crawlers.
type Outage struct {
	Origin, Path string
	From, To     int64
	By           []Failing // those with the most errors first
	Others       bool      // another crawler got a page there in that time
}

// AddAnswer counts an answer to a crawler for a URL of a site, at a time by the clock of the page.
func (o *Outages) AddAnswer(site engine.SiteID, url []byte, crawler uint16, status, at int64) {
	if !o.timed {
		o.newest, o.timed = at, true
	}
	if at < o.newest-hourMicros {
		o.off, o.all = true, nil
	}
	o.newest = max(o.newest, at)
	failed := status/100 == 5
	if o.off || !failed && len(o.all) == 0 {
		return
	}
	if _, stray := site.Stray(); stray {
		return
	}
	origin, path := splitPath(url)
	for n, end := 0, 1; n <= outageDirsTop && end > 0; n++ {
		if dir := path[:min(end, len(path))]; len(dir) > 0 && len(dir) <= samplePath {
			one := o.all[place{site, string(dir)}]
			if one == nil && failed {
				one = o.addPlace(place{site, string(dir)}, string(origin))
			}
			if one != nil && !one.addAnswer(crawler, status, at, failed) {
				delete(o.all, place{site, string(dir)})
			}
		}
		end = dirEnd(path, end, n)
	}
}

// splitPath returns the origin of a URL, and its path without a query.
func splitPath(url []byte) (origin, path []byte) {
	i := bytes.Index(url, []byte("://"))
	if i < 0 {
		return nil, nil
	}
	end := bytes.IndexByte(url[i+3:], '/')
	if end < 0 {
		return url, nil
	}
	origin, path = url[:i+3+end], url[i+3+end:]
	if end = bytes.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	return origin, path
}

// dirEnd returns where the next directory of a path ends, which begins at a place; for the first one also a page of the root. It is 0 if
// there is none.
func dirEnd(path []byte, from, n int) int {
	if from >= len(path) {
		return 0
	}
	if i := bytes.IndexByte(path[from:], '/'); i >= 0 {
		return from + i + 1
	}
	if n == 0 {
		return len(path)
	}
	return 0
}

// addPlace adds a place. If there are too many, those with the fewest errors go.
func (o *Outages) addPlace(at place, origin string) *outage {
	if o.all == nil {
		o.all = map[place]*outage{}
	}
	if len(o.all) >= 2*mostOutages {
		places := make([]place, 0, len(o.all))
		for one := range o.all {
			places = append(places, one)
		}
		slices.SortFunc(places, func(a, b place) int {
			return cmp.Or(cmp.Compare(o.all[b].failed(), o.all[a].failed()), cmp.Compare(a.site, b.site), cmp.Compare(a.dir, b.dir))
		})
		for _, one := range places[mostOutages:] {
			delete(o.all, one)
		}
	}
	o.all[at] = &outage{origin: origin}
	return o.all[at]
}

// failed returns the errors of an outage.
func (o *outage) failed() (n int64) {
	for i := range o.by {
		n += o.by[i].Failed
	}
	return n
}

// addAnswer counts an answer, and reports whether the place still fails for a crawler.
func (o *outage) addAnswer(crawler uint16, status, at int64, failed bool) bool {
	for len(o.by) <= int(crawler) {
		o.by = append(o.by, outageRun{before: engine.NoTime, served: engine.NoTime})
	}
	r := &o.by[crawler]
	if !failed && r.Failed == 0 {
		r.served = at
		return true
	}
	if r.Failed == 0 {
		r.First, r.Last, r.before, r.Crawler, r.Statuses = at, at, r.served, int(crawler), map[int64]int64{}
		o.alive++
	}
	start := at / hourMicros
	if at%hourMicros < 0 {
		start--
	}
	start *= hourMicros / 1e6
	if n := len(r.Hours); n == 0 || r.Hours[n-1].At != start {
		r.Hours = append(r.Hours, Hour{At: start})
	}
	hour := &r.Hours[len(r.Hours)-1]
	hour.Answered++
	if r.Answered++; failed {
		hour.Failed++
		r.Failed, r.Last, r.oks, o.oks = r.Failed+1, max(r.Last, at), 0, 0
		r.Statuses[status]++
		return true
	}
	r.served = at
	o.oks++
	if r.oks++; r.Failed < pureFailures || 2*r.Failed < r.Answered || r.oks >= endedBy {
		*r = outageRun{before: engine.NoTime, served: at}
		o.alive--
	}
	return o.alive > 0
}

// Places returns the places where so great a share of the answers to a crawler are errors, to the end, those with the most errors first. A
// place is left out if one above or below it has more of them, or nearly all and fewer other answers.
func (o *Outages) Places(share float64) (all []Outage) {
	for at, one := range o.all {
		if place := one.view(share); len(place.By) > 0 {
			place.Origin, place.Path = one.origin, at.dir
			all = append(all, place)
		}
	}
	slices.SortFunc(all, func(a, b Outage) int {
		failed, _ := a.sums()
		others, _ := b.sums()
		return cmp.Or(cmp.Compare(others, failed), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Path, b.Path))
	})
	var left []Outage
	for i := range all {
		one := &all[i]
		isTold := slices.ContainsFunc(left, func(o Outage) bool { return o.holds(one) || one.holds(&o) })
		isLess := slices.ContainsFunc(all, func(below Outage) bool { return one.holds(&below) && below.saysMore(one) })
		if !isTold && !isLess {
			left = append(left, *one)
		}
	}
	return left
}

// holds reports whether another place is below a place.
func (o *Outage) holds(other *Outage) bool {
	return o.Origin == other.Origin && len(o.Path) < len(other.Path) && o.Path[len(o.Path)-1] == '/' && other.Path[:len(o.Path)] == o.Path
}

// saysMore reports whether a place has nearly all errors of one above it, and fewer other answers.
func (o *Outage) saysMore(above *Outage) bool {
	failed, answered := o.sums()
	all, of := above.sums()
	return 50*failed >= 49*all && answered-failed <= of-all && answered < of || failed == all && answered == of
}

// sums returns the errors, and all answers to the crawlers that got them.
func (o *Outage) sums() (failed, answered int64) {
	for i := range o.By {
		failed, answered = failed+o.By[i].Failed, answered+o.By[i].Answered
	}
	return failed, answered
}

// view returns the crawlers for which an outage goes on, and its time: from the first error of one of them on, after which none of them
// got a page before its own errors. If several begin so, the one with the most errors counts, and of these the first.
func (o *outage) view(share float64) (v Outage) {
	if o.oks > mostOks {
		return v
	}
	most := int64(0)
	for i := range o.by {
		if r := &o.by[i]; r.Failed >= pureFailures && float64(r.Failed) >= share*float64(r.Answered) {
			one := o.viewFrom(r.First, share)
			if failed, _ := one.sums(); failed > most || failed == most && one.From < v.From {
				v, most = one, failed
			}
		}
	}
	slices.SortStableFunc(v.By, func(a, b Failing) int { return cmp.Compare(b.Failed, a.Failed) })
	return v
}

// viewFrom returns the outage that begins at a time. An earlier error of one of its crawlers is left out by whole hours.
func (o *outage) viewFrom(from int64, share float64) Outage {
	v := Outage{From: from, To: from}
	for i := range o.by {
		r := &o.by[i]
		if r.Failed == 0 || r.before > from || float64(r.Failed) < share*float64(r.Answered) {
			v.Others = v.Others || r.served > from
			continue
		}
		f := r.Failing
		for len(f.Hours) > 0 && (f.Hours[0].At+3600)*1e6 <= from {
			f.Answered, f.Failed, f.Hours = f.Answered-f.Hours[0].Answered, f.Failed-f.Hours[0].Failed, f.Hours[1:]
		}
		if f.Failed > 0 {
			v.By, v.To = append(v.By, f), max(v.To, f.Last)
		}
	}
	return v
}
