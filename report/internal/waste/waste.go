// Package waste counts the requests of crawlers for URLs with parameters: by name, how many requests, URLs and paths. Many
// URLs of few paths are mostly the same pages in another order. And it finds spaces: URLs of a site without end, such as a
// calendar. Package report imports it.
package waste

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// The limits of the counts by parameter.
const (
	maxNames  = 4096 // names that are told apart; those that come later are counted together
	maxName   = 64   // bytes of a name; longer ones are none
	shownRows = 30

	mostDistinct = 128 // values of a parameter that are kept
	mostBeside   = 8   // parameters beside another one

	mostDiffer = 64 // bytes between sizes of one page
)

// A Parameter is the requests of crawlers for URLs that have it.
type Parameter struct {
	Name     string
	Requests int64
	URLs     int64
	Paths    int64 // of these URLs, with their origins
	Bare     int64 // those URLs whose path is served without a query, too: the others may be pages by number
	Sized    int64 // those URLs whose size is known, and that of another URL of their path
	Same     int64 // of Sized, those that are about as large: the values seem to give the same page
	Pages    bool  // it has many URLs of few paths, and its values seem to be pages, or those of a parameter beside it; Rows tells

	path   int64 // the number of the last one
	seps   seps
	last   int64 // the size of the last URL of that path; 0 is not known
	plain  int64 // requests for its paths without a query that were served
	values distinct
	beside []companion // at most mostBeside
}

// A companion is another parameter of the same URLs, and how many have both.
type companion struct {
	of   *Parameter
	urls int64
}

// addCompanion counts a URL that has another parameter, too.
func (p *Parameter) addCompanion(of *Parameter) {
	for i := range p.beside {
		if p.beside[i].of == of {
			p.beside[i].urls++
			return
		}
	}
	if len(p.beside) < mostBeside {
		p.beside = append(p.beside, companion{of, 1})
	}
}

// The signs that the values of a parameter are pages.
const (
	leastPerValue = 10  // URLs that have the same value, on average, or each may be one page
	mostPerPlain  = 100 // requests with the parameter for each of the same path without a query, or that is no page
)

// pagers are the names of parameters that number the pages of a list, or choose their language: no rule may close these.
var pagers = newNameSet("page", "paged", "pg", "p", "pagina", "seite", "start", "offset", "lang", "language", "locale", "hl")

// Values returns how many different values it has, about.
func (p *Parameter) Values() int64 { return p.values.items() }

// NamesPages reports whether its values seem to be pages, as in /index.php?id=7. A filter has its values on many paths, or
// beside those of others.
func (p *Parameter) NamesPages() bool {
	if p.IsCampaign() {
		return false
	} else if pagers.find([]byte(p.Name)) >= 0 {
		return true
	}
	return p.URLs < leastPerValue*p.values.items() || p.plain*mostPerPlain < p.Requests
}

// IsCampaign reports whether a parameter says where a visitor comes from, so that all its values give the same page.
func (p *Parameter) IsCampaign() bool {
	return strings.HasPrefix(p.Name, "utm_") || campaigns.find([]byte(p.Name)) >= 0
}

// addSize compares the size of a URL with those of its path without a query, and of the URL before it of that path. 0 is not known.
func (p *Parameter) addSize(size, bare int64) {
	if size == 0 {
		return
	}
	if bare > 0 || p.last > 0 {
		p.Sized++
		if isLike(size, bare) || isLike(size, p.last) {
			p.Same++
		}
	}
	p.last = size
}

// isLike reports whether two sizes are those of one page, which differ by a token or by their compression. Other pages of one template
// differ by hundreds of bytes, which may be 1 % of a large one.
func isLike(a, b int64) bool {
	differ := max(a-b, b-a)
	return b > 0 && differ <= mostDiffer && 100*differ <= max(a, b)
}

// besidePages reports whether most of its URLs have another parameter whose values are pages.
func (p *Parameter) besidePages() bool {
	return slices.ContainsFunc(p.beside, func(c companion) bool { return 2*c.urls >= p.URLs && c.of.NamesPages() })
}

// A distinct estimates how many different texts there are. Beyond mostDistinct it keeps those whose hash begins with some
// zeros. The zero value is empty.
type distinct struct {
	all   map[uint64]struct{}
	zeros int
}

// addText adds a text, which may come again.
func (d *distinct) addText(text []byte) {
	h := hashOf(text)
	if h>>(64-d.zeros) != 0 {
		return
	}
	if d.all == nil {
		d.all = map[uint64]struct{}{}
	}
	for d.all[h] = struct{}{}; len(d.all) > mostDistinct; {
		d.zeros++
		maps.DeleteFunc(d.all, func(h uint64, _ struct{}) bool { return h>>(64-d.zeros) != 0 })
	}
}

// items returns how many there are.
func (d *distinct) items() int64 { return int64(len(d.all)) << d.zeros }

// PerPath returns how many URLs a path has on average.
func (p *Parameter) PerPath() float64 { return float64(p.URLs) / float64(max(1, p.Paths)) }

// Rules returns the rules that close URLs with the parameter, and no others; none if its name has bytes that mean something
// else in a rule.
func (p *Parameter) Rules() []string {
	rules := patternsOf(p.Name, p.seps)
	for i := range rules {
		rules[i] = "Disallow: " + rules[i]
	}
	return rules
}

// patternsOf returns the patterns that match URLs with a parameter, whose queries have some separators; nil if its name is not plain.
func patternsOf(name string, seps seps) []string {
	if name == "" || !isPlain(name) {
		return nil
	}
	patterns := []string{"/*?" + name + "="}
	for _, sep := range seps.all() {
		patterns = append(patterns, "/*"+sep+name+"=")
	}
	return patterns
}

// seps are the bytes that separate the parameters of some queries: 1 is "&", 2 is ";".
type seps uint8

// all returns them; "&" if none was seen.
func (s seps) all() []string { return [][]string{{"&"}, {"&"}, {";"}, {"&", ";"}}[s] }

// byteOf returns the byte that separates the parameters of a query; with seps, if there are several. That is "&", as for
// Clean-param lines, but ";" if there is no "&", and each part between two has a name and a value.
func byteOf(query []byte) (sep byte, of seps) {
	if bytes.IndexByte(query, '&') >= 0 {
		return '&', 1
	}
	if bytes.IndexByte(query, ';') < 0 {
		return '&', 0
	}
	for part := range bytes.SplitSeq(query, []byte(";")) {
		end := bytes.IndexByte(part, '=')
		if end <= 0 || bytes.IndexFunc(part[:end], isNoName) >= 0 {
			return '&', 0
		}
	}
	return ';', 2
}

// isNoName reports whether a rune is of no plain name.
func isNoName(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.', r == '[', r == ']':
		return false
	}
	return true
}

// A pair is a parameter. value is nil if there is no "=".
type pair struct{ name, value []byte }

// pairsOf yields the parameters of a query, which a byte separates, whose names have 1 to maxName bytes.
func pairsOf(query []byte, sep byte) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for part := range bytes.SplitSeq(query, []byte{sep}) {
			name, value, _ := bytes.Cut(part, []byte("="))
			if len(name) > 0 && len(name) <= maxName && !yield(pair{name, value}) {
				return
			}
		}
	}
}

// Counts count. The zero value is empty. It is for one goroutine.
type Counts struct {
	Requests int64 // of URLs that have parameters
	Others   int64 // of names that are not told apart, each request once for each

	all   map[string]*Parameter
	path  []byte // of the last URL
	paths int64
	bare  []byte       // the last URL without a query that was served
	plain int64        // how often
	size  int64        // its size; 0 is not known
	seen  []*Parameter // of the URL in hand
}

// Asked is the requests for a URL.
type Asked struct {
	Requests int64 // of crawlers
	Served   int64 // of anybody that were served
	Size     int64 // bytes of the page; 0 is not known
}

// AddURL counts the requests for a URL whose path ends at a place. Each URL comes once, and those of one path are neighbours, the
// one without a query first.
func (c *Counts) AddURL(url []byte, pathEnd int, asked Asked) {
	requests := asked.Requests
	if pathEnd == len(url) && asked.Served > 0 {
		c.bare, c.plain, c.size = append(c.bare[:0], url...), asked.Served, asked.Size
	}
	if requests == 0 || pathEnd == len(url) || url[pathEnd] != '?' {
		return
	}
	query, _, _ := bytes.Cut(url[pathEnd+1:], []byte("#"))
	if c.seen = c.seen[:0]; len(query) == 0 {
		return
	}
	c.Requests += requests
	if path := url[:pathEnd]; c.paths == 0 || !bytes.Equal(path, c.path) {
		c.path, c.paths = append(c.path[:0], path...), c.paths+1
	}
	isBare, bare := bytes.Equal(c.bare, url[:pathEnd]), int64(0)
	if isBare {
		bare = c.size
	}
	sep, of := byteOf(query)
	for one := range pairsOf(query, sep) {
		p := c.all[string(one.name)]
		if p == nil {
			if len(c.all) >= maxNames {
				c.Others += requests
				continue
			}
			if c.all == nil {
				c.all = map[string]*Parameter{}
			}
			p = &Parameter{Name: string(one.name)}
			c.all[p.Name] = p
		}
		if slices.Contains(c.seen, p) {
			continue
		}
		for _, other := range c.seen[:min(len(c.seen), mostBeside)] {
			p.addCompanion(other)
			other.addCompanion(p)
		}
		c.seen = append(c.seen, p)
		p.values.addText(one.value)
		p.seps |= of
		p.Requests += requests
		p.URLs++
		if isBare {
			p.Bare++
		}
		if p.path != c.paths {
			p.path, p.last = c.paths, 0
			p.Paths++
			if isBare {
				p.plain += c.plain
			}
		}
		p.addSize(asked.Size, bare)
	}
}

// Rows returns the parameters with the most requests, and how many others there are.
func (c *Counts) Rows() (rows []*Parameter, more int64) {
	rows = slices.SortedFunc(maps.Values(c.all), func(a, b *Parameter) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	if len(rows) > shownRows {
		rows, more = rows[:shownRows], int64(len(rows)-shownRows)
	}
	for _, p := range rows {
		p.Pages = p.URLs >= leastPerValue*p.Paths && (p.NamesPages() || p.besidePages())
	}
	return rows, more
}
