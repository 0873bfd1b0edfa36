package diagnose

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

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

// Add counts a URL whose path begins at the given position.
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
			d.endFrom(i)
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

// endFrom completes directories of a depth, and those below.
func (d *Directories) endFrom(depth int) {
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
// vary much and far fewer pages have nearly that size. If most pages of a site have one size, it is an application whose pages are made in the browser.
func (d *Directories) endSizes(depth int) {
	at := &d.now[depth]
	bucket, n, all := commonest(&at.sizes.all)
	if depth == 0 {
		if _, listed, known := commonest(&at.sizes.listed); known > 0 { // many missing pages do not make an application
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

// commonest returns the bucket that has the most pages together with the next one, and the number of these pages and of
// all pages.
func commonest(of *[sizeBuckets]int32) (bucket int, most, all int64) {
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
	d.endFrom(0)
	return d.of, d.soft, d.many
}

// endShapes checks whether nearly all URLs of a directory with a shape are new. If a directory below has nearly all of
// them, it is reported instead.
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
	origin, path := split(at.text)
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

// shapeOf returns the index of the shape of a path; -1 if it has no shape.
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

// isAfter reports whether the last segments of a path are a numeric day or month after a given day.
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
