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
}

// PerPath returns how many URLs a path has on average.
func (p *Parameter) PerPath() float64 { return float64(p.URLs) / float64(max(1, p.Paths)) }

// Rules returns the rules that close URLs with the parameter, and no others; none if its name has bytes that mean something
// else in a rule.
func (p *Parameter) Rules() []string {
	if p.Name == "" || !isPlain(p.Name) {
		return nil
	}
	return []string{"Disallow: /*?" + p.Name + "=", "Disallow: /*&" + p.Name + "="}
}

// splitQuery yields the parts of a query, which "&" separates: so Clean-param lines and the rules of [Parameter.Rules] see
// them, and a ";" is part of a value.
func splitQuery(query []byte) iter.Seq[[]byte] { return bytes.SplitSeq(query, []byte("&")) }

// A pair is a parameter. value is nil if there is no "=".
type pair struct{ name, value []byte }

// pairsOf yields the parameters of a query whose names have 1 to maxName bytes.
func pairsOf(query []byte) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for part := range splitQuery(query) {
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
	for one := range pairsOf(query) {
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
