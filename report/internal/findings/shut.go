package findings

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// A shut is what a text closes of a directory, to the crawlers that some of its groups bind. The zero value is nothing.
type shut struct {
	by    robots.Rule // that denies the most requests
	path  string      // that is closed: the directory, or what all its denied paths begin with; "" if they begin with nothing that is
	least int64       // requests of all clients that it denied are at least as many
	exact bool        // and no more
}

// name names what is closed.
func (c *closing) name() string {
	if c.path == "" || len(c.made) > 0 && c.path != c.dir { // these are requests for the directory
		return "nearly all of " + brief(c.dir)
	}
	return brief(c.path)
}

// addTo adds the crawlers to which a directory is closed alike. The number of requests is the least of theirs.
func (c *closing) addTo(f *Facts, p *Prefix) {
	for _, one := range f.searchers() {
		s := f.closesTo(one, c.File, p)
		if s.by.Line == 0 || s.path != c.path {
			continue
		}
		if c.to = append(c.to, one.Name); s.least < c.least {
			c.least, c.exact = s.least, s.exact
		}
	}
}

// while returns the requests for a directory while a file was in force.
func (p *Prefix) while(file *File) int64 {
	if file.Changing {
		return p.Within
	}
	return p.Requests
}

// prefixAt returns a directory by its path; nil if it is not there.
func (file *File) prefixAt(path string) *Prefix {
	if i, is := slices.BinarySearchFunc(file.Prefixes, path, func(p Prefix, path string) int { return cmp.Compare(p.Path, path) }); is {
		return &file.Prefixes[i]
	}
	return nil
}

// shutOf returns what some rules of a file close of a directory, if they deny nearly all of its sample, and of the requests for
// those of its paths that are asked for most. Otherwise it returns nothing. Small directories may have no sample.
func (f *Facts) shutOf(rules []robots.Rule, file *File, p *Prefix) (s shut) {
	sampled, weights := 0, map[robots.Rule]int64{}
	var denied []string
	for _, path := range p.Sample {
		if rule, is := f.deniedBy(rules, path); is {
			sampled, denied, weights[rule] = sampled+1, append(denied, path), weights[rule]+1
		}
	}
	requests, within, of, asked := int64(0), int64(0), int64(0), map[robots.Rule]int64{}
	for _, a := range file.Asked {
		if !strings.HasPrefix(a.Path, p.Path) {
			continue
		}
		of += a.Requests
		if rule, is := f.deniedBy(rules, a.Path); is {
			requests, within = requests+a.Requests, within+a.Within
			denied, asked[rule] = append(denied, a.Path), asked[rule]+a.Requests
		}
	}
	if len(denied) == 0 || float64(sampled) < nearlyAll*float64(len(p.Sample)) || float64(requests) < nearlyAll*float64(of) {
		return shut{}
	}
	if len(asked) > 0 {
		weights = asked
	}
	for rule, n := range weights {
		if m := weights[s.by]; n > m || n == m && rule.Line < s.by.Line {
			s.by = rule
		}
	}
	switch common := commonPrefix(denied); {
	case f.closesAt(rules, p.Path):
		s.path = p.Path
	case f.closesAt(rules, common):
		s.path = common
	}
	s.least, s.exact = requests, of == p.Requests
	if file.Changing {
		s.least = within
	}
	if f.closesBelow(rules, p.Path) {
		s.least, s.exact = p.while(file), true
	}
	return s
}

// closesAt reports whether a path is denied.
func (f *Facts) closesAt(rules []robots.Rule, path string) bool {
	_, denied := f.deniedBy(rules, path)
	return denied
}

// closesBelow reports whether all paths that begin with a directory are surely denied: it is denied by a rule that matches all of
// them, and no other rule allows any.
func (f *Facts) closesBelow(rules []robots.Rule, dir string) bool {
	by, denied := f.deniedBy(rules, dir)
	if !denied || strings.HasSuffix(by.Pattern, "$") {
		return false
	}
	path, _ := f.Dialect.Path([]byte(dir), nil)
	return !slices.ContainsFunc(rules, func(r robots.Rule) bool {
		literal := r.Pattern
		if end := strings.IndexAny(literal, "*$"); end >= 0 {
			literal = literal[:end]
		}
		return r.Allow && (strings.HasPrefix(string(path), literal) && f.Dialect.Length(r.Pattern) >= f.Dialect.Length(by.Pattern) || strings.HasPrefix(literal, string(path)))
	})
}

// commonPrefix returns the text with which all of some paths begin.
func commonPrefix(paths []string) string {
	common := paths[0]
	for _, path := range paths[1:] {
		n := 0
		for n < min(len(common), len(path)) && common[n] == path[n] {
			n++
		}
		common = common[:n]
	}
	return common
}
