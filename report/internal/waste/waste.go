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
)

// The limits of the counts by parameter.
const (
	maxNames  = 4096 // names that are told apart; those that come later are counted together
	maxName   = 64   // bytes of a name; longer ones are none
	shownRows = 30
)

// A Parameter is the requests of crawlers for URLs that have it.
type Parameter struct {
	Name     string
	Requests int64
	URLs     int64
	Paths    int64 // of these URLs, with their origins
	Bare     int64 // those URLs whose path is asked for without a query, too: the others may be pages by number

	path int64 // the number of the last one
	seps seps
}

// PerPath returns how many URLs a path has on average.
func (p *Parameter) PerPath() float64 { return float64(p.URLs) / float64(max(1, p.Paths)) }

// Rules returns the rules that close URLs with the parameter, and no others; none if its name has bytes that mean something
// else in a rule.
func (p *Parameter) Rules() []string {
	if p.Name == "" || !isPlain(p.Name) {
		return nil
	}
	rules := []string{"Disallow: /*?" + p.Name + "="}
	for _, sep := range p.seps.all() {
		rules = append(rules, "Disallow: /*"+sep+p.Name+"=")
	}
	return rules
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
	bare  []byte       // the last URL without a query
	seen  []*Parameter // of the URL in hand
}

// AddURL counts the requests of crawlers, or 0, for a URL whose path ends at a place. Each URL comes once, and those of one
// path are neighbours, the one without a query first.
func (c *Counts) AddURL(url []byte, pathEnd int, requests int64) {
	if pathEnd == len(url) {
		c.bare = append(c.bare[:0], url...)
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
	isBare := bytes.Equal(c.bare, url[:pathEnd])
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
		c.seen = append(c.seen, p)
		p.seps |= of
		p.Requests += requests
		p.URLs++
		if isBare {
			p.Bare++
		}
		if p.path != c.paths {
			p.path = c.paths
			p.Paths++
		}
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
	return rows, more
}
