package waste

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// A Kind is why a site has URLs without end.
type Kind uint8

// The kinds of spaces.
const (
	Calendar   Kind = iota // a page for each day or month, long after the log
	Sessions               // ids in URLs that each visitor gets anew
	Repeats                // paths whose segments come again and again
	Duplicates             // parameters that change nothing, as the site's Clean-param lines say
	Facets                 // filters that pages combine
	numKinds   = int(iota)
)

// String returns the kind in the words of the page.
func (k Kind) String() string {
	return [numKinds]string{"calendar", "session ids", "repeated segments", "duplicates by Clean-param", "combined filters"}[k]
}

// The signs that URLs are a space. They tell spaces from pages that are just many: a blog has dated articles, a paper has
// archives by day, a repository has files by hash.
const (
	leastURLs  = 100  // of a space
	leastDates = 100  // of a calendar
	perMonth   = 2    // the days of a calendar are more, on average: a list by month ends
	aheadYears = 2    // years after the last of the log; later days are of a calendar
	lastYear   = 2060 // the last one before these, of a log without times
	leastIDs   = 20   // of a parameter that has the name of a session
	mostShared = 10   // of so many ids of sessions one may come from several crawlers, or from others as well
	leastTimes = 3    // that segments come, one after the other
)

// The limits of the counts.
const (
	shownSpaces = 30
	mostNames   = 256 // of parameters, or of segments that come again
	mostSegs    = 32  // of a path that are looked at
)

// A Spent is the requests a crawler spent.
type Spent struct {
	Crawler  int
	Requests int64
}

// Spend adds requests of a crawler.
func Spend(all []Spent, crawler int, requests int64) []Spent {
	for i := range all {
		if all[i].Crawler == crawler {
			all[i].Requests += requests
			return all
		}
	}
	return append(all, Spent{crawler, requests})
}

// A Visit is a URL, and the requests of the crawlers that may fetch it.
type Visit struct {
	URL     []byte
	Origin  int // where the path begins
	PathEnd int
	Spent   []Spent
	Others  int64 // requests of clients that are no crawlers
	Failed  int64 // those of Spent that were answered by an error
	Cut     bool  // Clean-param lines take parameters away
}

// Of makes the visit that of a URL, without requests.
func (v *Visit) Of(url []byte, origin, pathEnd int) *Visit {
	*v = Visit{URL: url, Origin: origin, PathEnd: pathEnd, Spent: v.Spent[:0]}
	return v
}

// requests returns the requests of all crawlers.
func (v *Visit) requests() (n int64) {
	for i := range v.Spent {
		n += v.Spent[i].Requests
	}
	return n
}

// A Space is URLs of a site without end.
type Space struct {
	Kind     Kind
	Origin   string
	Requests int64
	URLs     int64
	By       []Spent  // the crawler with the most requests first
	Names    []string // of the parameters, or of the segments, that make it
	Examples []string // the part after the origin
	Rules    []string // that close it; nil if none does without closing other pages
	Others   int64    // URLs of other pages that they close, hardly any
	InQuery  bool     // Names are parameters

	dir     string // of a calendar: the first segment of its URLs, "" is all of the site
	late    bool   // it has dates from lateYear on
	session uint32 // of sessions: the bit of the number of their name
}

// A tally counts URLs of a space.
type tally struct {
	requests, urls int64
	by             []Spent
	examples       []string
}

// addVisit counts a URL.
func (t *tally) addVisit(v *Visit) {
	t.urls++
	if t.urls == 1 || t.urls == 10 || t.urls == leastURLs {
		t.examples = append(t.examples, string(v.URL[v.Origin:]))
	}
	for _, s := range v.Spent {
		t.requests += s.Requests
		t.by = Spend(t.by, s.Crawler, s.Requests)
	}
}

// space returns the space of a kind.
func (t *tally) space(kind Kind, names, rules []string) *Space {
	s := &Space{Kind: kind, Requests: t.requests, URLs: t.urls, By: slices.Clone(t.by), Examples: t.examples[:min(len(t.examples), 3)], Names: names, Rules: rules}
	slices.SortFunc(s.By, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Crawler, b.Crawler))
	})
	return s
}

// clear empties it.
func (t *tally) clear() { *t = tally{by: t.by[:0]} }

// Spaces find spaces. The zero value is empty. It is for one goroutine. Its memory does not grow with the log: URLs come
// in the order of aggregate.Requests, so that a site is complete when the next begins, and a directory, too. First all URLs
// are given to AddURL. Then, if Begin asks for it, all of them to TryURL.
type Spaces struct {
	Year    int     // of the last request; 0 is not known
	Cleaned Cleaned // parameters that Clean-param lines take away

	origin, dir []byte   // of the last URL; dir is the first segment
	site, below calendar // the calendars at the root, and in dir
	named       sessions
	repeats     repeats
	duplicates  duplicates
	ids         pathIDs
	query       queryFacets
	paths       pathFacets // of dir
	all         []*Space
	candidates  []*candidate
	found       []*foundSpace // whose rules are tested
	tests       []*ruleTest   // of candidates and found
	sessions    uint32        // the bits of the names of sessions of origin that were found

	candidatesHere []*candidate // of origin
	testsHere      []*ruleTest  // of origin

	parts  parts
	normal []byte
}

// A seg is a segment of a path: text[from:to].
type seg struct{ from, to int }

// AddURL counts a URL. Each comes once, and those of one origin are neighbours, and those of one directory.
func (s *Spaces) AddURL(v *Visit) {
	if len(v.Spent) == 0 || v.PathEnd <= v.Origin || v.URL[v.Origin] != '/' {
		return
	}
	path := v.URL[v.Origin:v.PathEnd]
	if string(v.URL[:v.Origin]) != string(s.origin) {
		s.endSite()
		s.origin = append(s.origin, v.URL[:v.Origin]...)
	}
	if dir := dirOf(path); string(dir) != string(s.dir) {
		s.endDir()
		s.dir = append(s.dir[:0], dir...)
	}
	s.count(v, s.partsOf(v))
}

// dirOf returns the first segment of a path, with its slashes.
func dirOf(path []byte) []byte {
	if i := bytes.IndexByte(path[1:], '/'); i >= 0 {
		return path[:i+2]
	}
	return path
}

// partsOf returns the parts of a URL, which are valid until the next call.
func (s *Spaces) partsOf(v *Visit) *parts {
	s.parts.path = v.URL[v.Origin:v.PathEnd]
	s.parts.split()
	s.parts.pairs, s.parts.seps = s.parts.pairs[:0], 0
	if v.PathEnd < len(v.URL) && v.URL[v.PathEnd] == '?' {
		query, _, _ := bytes.Cut(v.URL[v.PathEnd+1:], []byte("#"))
		s.parts.findPairs(query)
	}
	return &s.parts
}

// count counts a URL as one of the first kind that it is of.
func (s *Spaces) count(v *Visit, u *parts) {
	switch {
	case s.named.take(v, u):
	case v.Cut:
		s.duplicates.addDuplicate(v, &s.Cleaned, u.pairs)
	case s.takeDate(v, u):
	case s.repeats.take(v, u.path, u.segs):
	default:
		s.ids.take(v, u.path, u.segs, s.endIDs)
		s.query.take(u)
		s.paths.take(u.path, u.segs)
	}
}

// takeDate counts a URL of a day or month long after the log, and reports whether it is one.
func (s *Spaces) takeDate(v *Visit, u *parts) bool {
	d, ok := u.date()
	if !ok || d.year < s.farFrom() {
		return false
	}
	c := &s.below
	if d.seg == 0 {
		c = &s.site
	}
	if d.year >= lateYear && !c.isOne() { // URLs with earlier years come first
		return false
	}
	c.addDate(v, u, d)
	return true
}

// split finds the segments of a path.
func (p *parts) split() {
	path := p.path
	p.segs = p.segs[:0]
	for at := 1; at < len(path) && len(p.segs) < mostSegs; {
		end := len(path)
		if i := bytes.IndexByte(path[at:], '/'); i >= 0 {
			end = at + i
		}
		if end > at {
			p.segs = append(p.segs, seg{at, end})
		}
		at = end + 1
	}
}

// findPairs finds the parameters of a query that have values.
func (p *parts) findPairs(query []byte) {
	sep, of := byteOf(query)
	p.seps = of
	for one := range pairsOf(query, sep) {
		if len(p.pairs) == mostSegs {
			return
		}
		if one.value != nil {
			p.pairs = append(p.pairs, one)
		}
	}
}

// endDir ends the count of a directory.
func (s *Spaces) endDir() {
	s.keep(s.below.end(s.farFrom(), string(s.dir)))
	s.try(s.paths.end(s.dir))
}

// endIDs ends the count of a directory that has ids.
func (s *Spaces) endIDs(d *idDir) {
	s.try(d.candidate())
	d.clear()
}

// endSite ends the count of a site.
func (s *Spaces) endSite() {
	s.endDir()
	s.keep(s.site.end(s.farFrom(), ""))
	s.keep(slices.Concat(s.named.end(), s.repeats.end(), s.duplicates.end()))
	for i := range s.ids {
		s.endIDs(&s.ids[i])
	}
	s.try(s.query.end())
	s.origin, s.dir = s.origin[:0], s.dir[:0]
}

// keep keeps spaces that were found.
func (s *Spaces) keep(found []*Space) {
	for _, one := range found {
		one.Origin = string(s.origin)
		s.all = append(s.all, one)
	}
	if len(s.all) > 4*shownSpaces {
		s.all = largest(s.all)
	}
}

// Rows returns the spaces with the most requests. It ends the count.
func (s *Spaces) Rows() []*Space {
	s.settle()
	s.all = largest(s.all)
	return s.all
}

// largest returns the spaces with the most requests.
func largest(all []*Space) []*Space {
	slices.SortStableFunc(all, func(a, b *Space) int { return cmp.Compare(b.Requests, a.Requests) })
	return all[:min(len(all), shownSpaces)]
}

// isPlain reports whether a text has no byte that means something else in a rule.
func isPlain(text string) bool {
	for i := range len(text) {
		if b := text[i]; b <= ' ' || b > '~' || b == '*' || b == '$' || b == '#' || b == '%' {
			return false
		}
	}
	return true
}

// countName counts requests by name, of as many names as are kept.
func countName(all *map[string]int64, name string, requests int64) {
	if *all == nil {
		*all = map[string]int64{}
	}
	if _, known := (*all)[name]; known || len(*all) < mostNames {
		(*all)[name] += requests
	}
}

// frequent returns the names with the most requests, at most so many, but for those that hardly any has.
func frequent(all map[string]int64, most int) []string {
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		if i == most || 20*all[name] < all[names[0]] {
			return names[:i]
		}
	}
	return names
}
