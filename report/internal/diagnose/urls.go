package diagnose

import (
	"bytes"
	"math"
)

// Directories count the distinct URLs of directories that were answered by 4xx or 5xx, and the sizes of the pages of others. URLs come by
// origin and directory, each once. Directories are kept that have enough of them. The zero value has none.
type Directories struct {
	now  [3]levelOf // the site, its first and its second directory
	of   map[string]URLs
	soft []Soft // of all sites
	site int    // where those of the site begin
}

// A levelOf is the directory of a depth.
type levelOf struct {
	text []byte
	URLs
	sizes *sizes
}

// A Soft is the pages of a directory that have one size and no sitemap: they look like an error page.
type Soft struct {
	Directory string // with its origin
	URLs      int64
	Size      int64 // about

	bucket int
}

// sizes count pages by the logarithm of their size: a bucket is one percent wide.
type sizes struct{ all, listed [sizeBuckets]int32 }

const sizeBuckets = 2220 // until 4 GiB

// bucketOf returns the bucket of a size.
func bucketOf(size uint32) int { return int(math.Log(float64(max(1, size))) * 100) }

// A Page has the facts about a URL.
type Page struct {
	Missing, Failing bool   // some of its answers
	Size             uint32 // of the page that search crawlers got; 0 if unknown
	Listed           bool   // in a sitemap
}

// Add counts a URL whose path begins after so many bytes.
func (d *Directories) Add(url []byte, prefix int, page Page) {
	end := prefix + 1
	if len(url) < end {
		return
	}
	ends := [3]int{end}
	stop, _ := directoryOf(url[prefix:])
	for i := 1; i < len(ends) && ends[i-1] < prefix+stop; i++ {
		ends[i] = ends[i-1] + bytes.IndexByte(url[ends[i-1]:], '/') + 1
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
		at.Missing += int64(bit(page.Missing))
		at.Failing += int64(bit(page.Failing))
		if page.Size > 0 {
			if at.sizes == nil {
				at.sizes = new(sizes)
			}
			bucket := bucketOf(page.Size)
			at.sizes.all[bucket]++
			at.sizes.listed[bucket] += int32(bit(page.Listed))
		}
	}
}

// endFrom ends directories of a depth, and those below.
func (d *Directories) endFrom(depth int) {
	for i := len(d.now) - 1; i >= depth; i-- {
		at := &d.now[i]
		if at.Missing >= missingURLs || at.Failing >= errorsURLs {
			if d.of == nil {
				d.of = map[string]URLs{}
			}
			d.of[string(at.text)] = at.URLs
		}
		if at.sizes != nil && len(at.text) > 0 {
			d.endSizes(i)
			*at.sizes = sizes{}
		}
		at.text, at.URLs = at.text[:0], URLs{}
	}
}

// endSizes checks whether many pages of a directory have one size that no sitemap lists, while the others differ. A site most of whose pages
// have one size is an application whose pages are made in the browser.
func (d *Directories) endSizes(depth int) {
	at := &d.now[depth]
	bucket, n, all := at.sizes.commonest()
	if depth == 0 {
		if float64(n) >= softShell*float64(all) {
			d.soft = d.soft[:d.site]
		}
		d.site = len(d.soft)
		return
	}
	if n < softURLs || !at.sizes.standsOut(bucket, n, all) {
		return
	}
	for i := d.site; i < len(d.soft); i++ {
		if below := &d.soft[i]; bytes.HasPrefix([]byte(below.Directory), at.text) {
			if float64(below.URLs) >= outageHolds*float64(n) {
				return
			}
			*below = Soft{string(at.text), n, int64(math.Exp(float64(bucket+1) / 100)), bucket}
			return
		}
	}
	d.soft = append(d.soft, Soft{string(at.text), n, int64(math.Exp(float64(bucket+1) / 100)), bucket})
}

// commonest returns the bucket that has, with the next, the most pages, and how many these and all are.
func (s *sizes) commonest() (bucket int, most, all int64) {
	for i, n := range s.all {
		all += int64(n)
		if i+1 < len(s.all) && int64(n+s.all[i+1]) > most {
			bucket, most = i, int64(n+s.all[i+1])
		}
	}
	return bucket, most, all
}

// standsOut reports whether hardly a page of two buckets is in a sitemap, the others differ much, and far fewer have nearly that size.
func (s *sizes) standsOut(bucket int, n, all int64) bool {
	near, seen, low, high := int64(0), int64(0), -1, -1
	for i, m := range s.all {
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
	listed := s.listed[bucket] + s.listed[bucket+1]
	return all-n >= softOthers && high-low >= softSpread && softTimes*near <= n*softNear && 10*int64(listed) <= n
}

// End returns the directories with many such URLs, by origin and path, and those with pages that look like an error page.
func (d *Directories) End() (map[string]URLs, []Soft) {
	d.endFrom(0)
	return d.of, d.soft
}
