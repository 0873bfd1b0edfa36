package diagnose

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Facts that other packages count. The zero values are empty.
type (
	// A Parameter counts the distinct URLs of a site with a query parameter that crawlers fetched and may fetch.
	Parameter struct {
		Name        string
		Origin      string
		URLs, Paths int64
		Bare        int64  // URLs whose path is also served without a query
		Sized, Same int64  // URLs whose size can be compared with others of their path, and those with equal size
		Pattern     string // of rules that close them, at any place of a query; "" if a rule cannot have the name
		Examples    []string
	}

	// A Space is an endless URL space.
	Space struct {
		Text     string // "an endless calendar"
		Origin   string
		Path     string // common directory
		URLs     int64
		Requests int64 // of crawlers
		By       map[int]int64
		Pattern  string // pattern of a rule that closes them and hardly any other URL; "" if there is none

		common []byte // common prefix of their paths
	}

	// A Conduct says how a crawler followed the rules that bind it.
	Conduct struct {
		Agent       int
		Requests    int64
		Knew        int64 // requests disallowed by the text that it had fetched
		First, Last int64 // of these, in microseconds
		Gaps, Short int64 // gaps between its requests, and those shorter than its Crawl-delay
	}

	// A Listing counts the distinct URLs of sitemaps.
	Listing struct {
		Listed, Missing int64            // Missing: not found by search crawlers, or redirected
		MissingIn       map[string]int64 // by first directory
		Requests        int64            // requests of search crawlers for missing URLs
	}

	// A Hog describes large transfers: the URL of which a crawler took the most bytes, all bytes of a crawler, or the
	// directory with nearly all of these.
	Hog struct {
		Agent    int
		Origin   string
		Path     string // "" for all URLs
		Requests int64
		Bytes    int64
	}

	// A Chain is a sequence of redirects, as shapes of paths.
	Chain struct {
		Shapes    []string
		Redirects int64
	}
)

// An Eater counts the bytes that a crawler took. URLs must come by origin and directory. The zero value is empty.
type Eater struct{ all, now, most Hog }

// Add adds requests of a crawler for a URL of an origin, with the bytes of their responses. It keeps neither origin
// nor path.
func (e *Eater) Add(agent int, origin, path []byte, requests, size int64) {
	end, _ := directoryOf(path)
	if i := strings.IndexByte(string(path[min(1, end):end]), '/'); i >= 0 {
		end = i + 2
	}
	if string(origin) != e.now.Origin || string(path[:end]) != e.now.Path {
		e.End()
		e.now = Hog{Agent: agent, Origin: string(origin), Path: string(path[:end])}
	}
	e.all.Agent = agent
	for _, h := range []*Hog{&e.all, &e.now} {
		h.Requests, h.Bytes = h.Requests+requests, h.Bytes+size
	}
}

// End returns what the crawler took: all of it, or the directory other than the root with nearly all of the bytes. The
// last call counts, so it may be called several times.
func (e *Eater) End() Hog {
	if e.now.Bytes > e.most.Bytes {
		e.most = e.now
	}
	if e.most.Path != "/" && float64(e.most.Bytes) >= hogHolds*float64(e.all.Bytes) {
		return e.most
	}
	return e.all
}

// IsOften reports whether that many requests for a file are more than about one per day of the log.
func (c *Counts) IsOften(requests int64) bool {
	return float64(requests*day) >= hogDaily*float64(c.dates[1]-c.dates[0])
}

// Directories counts the distinct URLs of directories with 4xx or 5xx responses, and the sizes of other pages. URLs
// must come once each, by origin and directory. Only directories with enough URLs are kept. The zero value is empty.
type Directories struct {
	After int        // the day, such as 20311231, after which a date in a URL belongs to an endless calendar
	now   [3]levelOf // the site, its first and its second directory
	of    map[string]URLs
	soft  []Soft // results for all sites
	site  int    // index of the first result of the current site
	many  []Space
	path  []byte // the last path with a size
	size  int    // the bucket of that size
}

// A levelOf is the directory of a depth.
type levelOf struct {
	text []byte
	URLs
	sizes *sizes
	new   [len(shapes)]int64 // URLs of a shape that were fetched only by crawlers
	known int64              // other URLs of a shape
	twice int64              // the part of new that a crawler fetched again
	all   int64              // all URLs
	by    map[int]int64      // requests of crawlers for new URLs
}

// A Soft describes pages of a directory that have the same size and are not in a sitemap: they look like an error page.
type Soft struct {
	Directory string // including the origin
	URLs      int64
	Size      int64 // approximate

	bucket int
}

// sizes counts pages by the logarithm of their size: a bucket is one percent wide.
type sizes struct{ all, listed [sizeBuckets]int32 }

const sizeBuckets = 2220 // up to 4 GiB

// bucketOf returns the bucket of a size.
func bucketOf(size uint32) int { return int(math.Log(float64(max(1, size))) * 100) }

// A Page holds facts about a URL.
type Page struct {
	Missing, Failing bool   // some of its responses
	Size             uint32 // size of the page that search crawlers got; 0 if unknown
	Listed           bool   // in a sitemap
	By               []int  // the crawlers that fetched it and may, without duplicates
	Again            bool   // another client fetched it
	Twice            bool   // one of the crawlers fetched it again
}

// Add counts a URL. url includes the origin; prefix is the position of its path. It keeps neither url nor page.By.
func (d *Directories) Add(url []byte, prefix int, page Page) {
	end := prefix + 1
	if len(url) < end {
		return
	}
	ends := [3]int{end}
	stop, _ := directoryOf(url[prefix:])
	shape := shapeOf(url[prefix:], d.After)
	for i := 1; i < len(ends) && ends[i-1] < prefix+stop; i++ {
		ends[i] = ends[i-1] + bytes.IndexByte(url[ends[i-1]:], '/') + 1
	}
	isVersion := false // a version of a page, by its query
	if page.Size > 0 {
		size := bucketOf(page.Size)
		isVersion = bytes.Equal(d.path, url) && near(int64(size), int64(d.size), 1)
		d.path, d.size = append(d.path[:0], url...), size
	}
	for i := range d.now {
		at := &d.now[i]
		if ends[i] == 0 || !bytes.Equal(at.text, url[:ends[i]]) {
			d.endDirectories(i)
			if ends[i] == 0 {
				break
			}
			at.text = append(at.text[:0], url[:ends[i]]...)
		}
		at.all++
		at.Missing += int64(bit(page.Missing))
		at.Failing += int64(bit(page.Failing))
		at.Listed += int64(bit(page.Listed))
		if shape >= 0 && (page.Again || page.Listed || len(page.By) == 0) {
			at.known++
		} else if shape >= 0 {
			at.twice += int64(bit(page.Twice))
			if at.new[shape]++; at.by == nil {
				at.by = map[int]int64{}
			}
			for _, a := range page.By {
				at.by[a]++
			}
		}
		if page.Size > 0 && !isVersion {
			if at.sizes == nil {
				at.sizes = new(sizes)
			}
			bucket := bucketOf(page.Size)
			at.sizes.all[bucket]++
			at.sizes.listed[bucket] += int32(bit(page.Listed))
		}
	}
}

// endDirectories completes the current directories of a depth and those below it: 0 for the site, 1 or 2 for
// directories.
func (d *Directories) endDirectories(depth int) {
	for i := len(d.now) - 1; i >= depth; i-- {
		at := &d.now[i]
		if at.Missing >= missingURLs || at.Failing >= errorsURLs || at.Listed >= sectionListed {
			if d.of == nil {
				d.of = map[string]URLs{}
			}
			d.of[string(at.text)] = at.URLs
		}
		if at.sizes != nil && len(at.text) > 0 {
			d.endSizes(i)
			*at.sizes = sizes{}
		}
		d.endShapes(i)
		*at = levelOf{text: at.text[:0], sizes: at.sizes}
	}
}

// endSizes checks whether many pages of a directory have one size that hardly any sitemap page has, while other sizes
// vary much and far fewer pages have nearly that size. Depth 0 is the whole site: if most of its pages have one size,
// it is an application whose pages are made in the browser, and its results are dropped.
func (d *Directories) endSizes(depth int) {
	at := &d.now[depth]
	bucket, n, all := commonestSize(&at.sizes.all)
	if depth == 0 {
		if _, listed, known := commonestSize(&at.sizes.listed); known > 0 { // many missing pages do not make an application
			n, all = listed, known
		}
		if float64(n) >= softShell*float64(all) {
			d.soft = d.soft[:d.site]
		}
		d.site = len(d.soft)
		return
	}
	if n < softURLs {
		return
	}
	near, seen, low, high := int64(0), int64(0), -1, -1 // pages of nearly that size, and quartiles of the others
	for i, m := range at.sizes.all {
		if i == bucket || i == bucket+1 {
			continue
		}
		if i >= bucket-softNear && i <= bucket+1+softNear {
			near += int64(m)
		}
		if seen += int64(m); low < 0 && 4*seen >= all-n {
			low = i
		}
		if high < 0 && 4*seen >= 3*(all-n) {
			high = i
		}
	}
	listed := int64(at.sizes.listed[bucket] + at.sizes.listed[bucket+1])
	if all-n < softOthers || high-low < softSpread || softTimes*near > n*softNear || 10*listed > n {
		return
	}
	one := Soft{string(at.text), n, int64(math.Exp(float64(bucket+1) / 100)), bucket}
	for i := d.site; i < len(d.soft); i++ {
		if below := &d.soft[i]; strings.HasPrefix(below.Directory, one.Directory) {
			if float64(below.URLs) < outageHolds*float64(n) {
				*below = one
			}
			return
		}
	}
	d.soft = append(d.soft, one)
}

// commonestSize returns the bucket that has the most pages together with the next one, the number of these pages, and
// the number of all pages.
func commonestSize(of *[sizeBuckets]int32) (bucket int, most, all int64) {
	for i, n := range of {
		all += int64(n)
		if i+1 < len(of) && int64(n+of[i+1]) > most {
			bucket, most = i, int64(n+of[i+1])
		}
	}
	return bucket, most, all
}

// End returns the directories with many such URLs, by origin and path, those with pages that look like an error page,
// and those with endless URL spaces.
func (d *Directories) End() (map[string]URLs, []Soft, []Space) {
	d.endDirectories(0)
	return d.of, d.soft, d.many
}

// endShapes keeps a directory as an endless URL space if nearly all of its URLs with a shape are new: only crawlers
// fetched them. If one directory below it has nearly all of them, only that one is kept.
func (d *Directories) endShapes(depth int) {
	at, n, shape := &d.now[depth], int64(0), 0
	for i, m := range at.new {
		if n += m; m > at.new[shape] {
			shape = i
		}
	}
	if n < endlessURLs || float64(n) < endlessOnce*float64(n+at.known) || float64(at.twice) > endlessTwice*float64(n) {
		return
	}
	origin, path := splitText(at.text)
	one := Space{Text: shapes[shape], Origin: string(origin), Path: string(path), URLs: n, By: at.by}
	if depth > 0 && mostOthers*(at.all-n) <= at.all && isPlain(one.Path) {
		one.Pattern = one.Path
	}
	held, others := int64(0), slices.DeleteFunc(slices.Clone(d.many), func(s Space) bool { return s.Origin == one.Origin && strings.HasPrefix(s.Path, one.Path) })
	for _, s := range d.many[len(others):] { // directories come after those below them
		held += s.URLs
	}
	if number := len(d.many) - len(others); float64(held) >= outageHolds*float64(n) && (number == 1 || depth == 0) {
		return
	}
	d.many = others
	for _, m := range one.By {
		one.Requests += m
	}
	d.many = append(d.many, one)
}

// shapes are the patterns of endless URLs.
var shapes = [...]string{"an endless calendar", "URLs with session ids", "endless pairs of numbers", "paths with repeating segments"}

// shapeOf returns the index in shapes of the shape of a path; -1 if it has none. after is the day after which a date
// is that of a calendar, such as 20311231.
func shapeOf(path []byte, after int) int {
	var some [16]string
	segments := slices.AppendSeq(some[:0], strings.SplitSeq(strings.Trim(string(path), "/"), "/"))
	if isAfter(segments, after) {
		return 0
	}
	last := "" // a number
	for i, s := range segments {
		digits, letters, hex := 0, 0, 0
		for _, b := range []byte(s) {
			switch {
			case b >= '0' && b <= '9':
				digits, hex = digits+1, hex+1
			case b|32 >= 'a' && b|32 <= 'f':
				letters, hex = letters+1, hex+1
			case b|32 >= 'g' && b|32 <= 'z':
				letters++
			}
		}
		_, id, isParameter := strings.Cut(s, ";")
		switch {
		case isParameter && len(id) >= 16, digits > 0 && letters > 0 && hex >= 16 && hex+strings.Count(s, "-") == len(s), digits >= 4 && letters >= 4 && len(s) >= 20 && digits+letters == len(s):
			return 1
		case digits < len(s) || s == "":
			last = ""
		case last != "" && isAfter([]string{last, s}, 0):
			last = ""
		case last != "":
			return 2
		default:
			last = s
		}
		times, pairs := 0, 0
		for j := range i {
			if segments[j] == s {
				times++
				pairs += bit(j > 0 && segments[j-1] == segments[i-1])
			}
		}
		if s != "" && (times >= 2 || pairs > 0) {
			return 3
		}
	}
	return -1
}

// isAfter reports whether the last segments of a path are a numeric day or month after a given day, such as 20311231.
func isAfter(segments []string, after int) bool {
	text := strings.TrimSuffix(segments[len(segments)-1], ".html")
	if text == "" || text[len(text)-1] < '0' || text[len(text)-1] > '9' {
		return false // most URLs
	}
	for i := len(segments) - 2; i >= 0 && i >= len(segments)-3 && len(text) <= 5; i-- {
		text = segments[i] + "-" + text
	}
	d := dateOf(text)
	return d.isValid() && 100*(100*d.year+d.month)+d.day > after
}

// Limits of chains.
const (
	mostSteps   = 1 << 16        // remembered steps
	chainWithin = 30 * 1_000_000 // microseconds between a redirect and the next request
	mostChain   = 8              // paths
	longChain   = 128            // bytes of a path without its last segment
	chainName   = "X"
	manyShapes  = "/…/X"
)

// Chains finds where redirects lead, and sequences of redirects. The log does not contain the target of a redirect, so
// a request is attributed to it if the same crawler soon requests another path with the same last segment. The result
// does not depend on the order of rows. In large logs, only the requests of some last segments, chosen by a hash, are
// remembered; the numbers are estimates then. The zero value is empty.
type Chains struct {
	steps []step
	zeros int // leading zeros of the hashes of remembered last segments
	hops  map[hop]int64
}

// A step is a request of a crawler.
type step struct {
	name       uint64 // hash of the site and the last segment
	crawler    uint16
	at         int64 // microseconds
	shape      string
	redirected bool
}

// A hop leads from paths of one shape to paths of another.
type hop struct{ from, to string }

// AddAnswer counts a response to a crawler for a URL. redirected is true if it was a redirect. The time is in
// microseconds. It ignores paths without a last segment and very long ones. In large logs, it drops some last
// segments, chosen by their hashes.
func (c *Chains) AddAnswer(url []byte, crawler uint16, redirected bool, at int64) {
	origin, path := splitText(url)
	if i := bytes.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	to := len(bytes.TrimSuffix(path, []byte("/")))
	from := bytes.LastIndexByte(path[:to], '/') + 1
	name := xxh3.HashSeed(path[from:to], xxh3.Hash(origin))
	if from == to || len(path)-(to-from) > longChain || name>>(64-c.zeros) != 0 {
		return
	}
	c.steps = append(c.steps, step{name, crawler, at, string(path[:from]) + chainName + string(path[to:]), redirected})
	for len(c.steps) > mostSteps {
		c.zeros++
		c.steps = slices.DeleteFunc(c.steps, func(s step) bool { return s.name>>(64-c.zeros) != 0 })
	}
}

// count sorts the steps, and counts the hops. Most logs cannot order steps within one second: these take the order
// that such steps have elsewhere, or else redirects come first.
func (c *Chains) count() {
	before := map[hop]int{}
	for range 2 {
		slices.SortFunc(c.steps, func(a, b step) int {
			return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.crawler, b.crawler), cmp.Compare(a.at, b.at), before[hop{b.shape, a.shape}]-before[hop{a.shape, b.shape}], bit(b.redirected)-bit(a.redirected), cmp.Compare(a.shape, b.shape))
		})
		c.hops = map[hop]int64{}
		for i := 1; i < len(c.steps); i++ {
			if a, b := &c.steps[i-1], &c.steps[i]; a.name == b.name && a.crawler == b.crawler && a.redirected && a.shape != b.shape && b.at-a.at <= chainWithin {
				one := hop{a.shape, b.shape}
				c.hops[one]++
				before[one] += bit(b.at > a.at)
			}
		}
	}
}

// Longest returns the most frequent chain of at least two redirects, as shapes of paths in the order of the redirects,
// and its number of redirects; nil if there is none. A redirect that occurs less than half as often as the most
// frequent one is not included.
func (c *Chains) Longest() (shapes []string, redirects int64) {
	c.count()
	seeds := slices.SortedFunc(maps.Keys(c.hops), func(a, b hop) int {
		return cmp.Or(cmp.Compare(c.hops[b], c.hops[a]), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for _, seed := range seeds {
		if shapes, redirects = c.chainAround(seed); len(shapes) > 2 {
			return shapes, redirects << c.zeros
		}
	}
	return nil, 0
}

// chainAround returns the chain around a hop, extended in both directions by hops that are at least half as frequent.
// It returns none if the chain may consist of redirects from a path to the same path with or without a slash.
func (c *Chains) chainAround(seed hop) (shapes []string, redirects int64) {
	least := c.hops[seed]
	shapes, redirects, least = []string{seed.from, seed.to}, least, (least+1)/2
	for _, isAhead := range []bool{true, false} { // forwards from its last shape, then backwards from its first one
		for len(shapes) < mostChain {
			near, next, came := shapes[0], "", int64(0)
			if isAhead {
				near = shapes[len(shapes)-1]
			}
			for one, n := range c.hops {
				from, to := one.from, one.to
				if !isAhead {
					from, to = to, from
				}
				if from == near && !slices.Contains(shapes, to) && n >= least && (n > came || n == came && to < next) {
					next, came = to, n
				}
			}
			if came == 0 {
				break
			}
			if redirects += came; isAhead {
				shapes = append(shapes, next)
			} else {
				shapes = append([]string{next}, shapes...)
			}
		}
	}
	for i, early := range shapes { // after /de/X and /en/X, a crawler requests /de/X/: each may just redirect to itself with a slash
		variant, hasSlash := strings.CutSuffix(early, "/")
		if !hasSlash {
			variant += "/"
		}
		if slices.ContainsFunc(shapes[i+1:], func(later string) bool { return 2*c.hops[hop{later, variant}] >= least }) {
			return nil, 0
		}
	}
	onward := int64(0) // from the last shape to pages of many shapes
	for one, n := range c.hops {
		if one.from == shapes[len(shapes)-1] && !slices.Contains(shapes, one.to) {
			onward += n
		}
	}
	if onward >= least {
		shapes, redirects = append(shapes, manyShapes), redirects+onward
	}
	return shapes, redirects
}
