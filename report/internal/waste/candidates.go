package waste

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// A ruleTest is rules that may close other URLs than those of a space: a second look at all URLs of the site tells.
type ruleTest struct {
	origin string
	rules  []string

	bound          []robots.Rule // of rules
	closed, others int64         // URLs that rules close, and those of these that are of no space
	closedBy       []int64       // of closed, by rule of rules
}

// A foundSpace is a space that is known to be one, and the test of its rules.
type foundSpace struct {
	ruleTest
	*Space
}

// A candidate is a space that may be one, as the second look tells, and the test of its rules.
type candidate struct {
	ruleTest
	tally
	kind    Kind
	names   []string
	inQuery bool
	size    int64             // about how many URLs it has, to keep the largest
	has     func(*parts) bool // whether a URL is one of the space
	took    func(*parts)      // sees each of these; nil is nothing to see
	see     func(*parts)      // sees each URL of the site; the same
	is      func() bool       // whether it is a space after all, and rules are those that close it alone
}

// mostCandidates is how many candidates are kept, or twice as many for a time.
const mostCandidates = 1 << 6

// parts are those of a URL.
type parts struct {
	path  []byte
	segs  []seg
	pairs []pair
	seps  seps // of pairs
}

// closesNoOther reports whether its rules close URLs, and hardly any that is of no space.
func (t *ruleTest) closesNoOther() bool { return t.closed > 0 && t.others*mostOthers <= t.closed }

// mostOthers is of how many URLs that rules close one may be of no space.
const mostOthers = 100

// try keeps a candidate.
func (s *Spaces) try(c *candidate) {
	if c == nil {
		return
	}
	c.origin = string(s.origin)
	if s.candidates = append(s.candidates, c); len(s.candidates) > 2*mostCandidates {
		slices.SortStableFunc(s.candidates, func(a, b *candidate) int { return cmp.Compare(b.size, a.size) })
		clear(s.candidates[mostCandidates:])
		s.candidates = s.candidates[:mostCandidates]
	}
}

// Begin ends the count, and reports whether TryURL must see all URLs that there are, in the same order, before Rows.
func (s *Spaces) Begin() bool {
	s.endSite()
	for _, c := range s.candidates {
		s.tests = append(s.tests, &c.ruleTest)
	}
	for _, one := range largest(s.all) {
		if len(one.Rules) > 0 {
			f := &foundSpace{ruleTest{origin: one.Origin, rules: one.Rules}, one}
			s.found, s.tests = append(s.found, f), append(s.tests, &f.ruleTest)
		}
	}
	for _, t := range s.tests {
		text := robots.Inspect([]byte("User-agent: *\n"+strings.Join(t.rules, "\n")+"\n"), robots.RFC9309)
		t.bound, _ = text.File.Select(robots.NewAgent("*", robots.RFC9309))
		t.closedBy = make([]int64, len(t.rules))
	}
	return len(s.tests) > 0
}

// TryURL looks at a URL again, or at one that no crawler spent a request on.
func (s *Spaces) TryURL(v *Visit) {
	if v.PathEnd <= v.Origin || v.URL[v.Origin] != '/' {
		return
	}
	if string(v.URL[:v.Origin]) != string(s.origin) {
		s.origin = append(s.origin[:0], v.URL[:v.Origin]...)
		s.candidatesHere, s.testsHere, s.sessions = s.candidatesHere[:0], s.testsHere[:0], 0
		for _, one := range s.all {
			if one.Origin == string(s.origin) {
				s.sessions |= one.session
			}
		}
		for _, c := range s.candidates {
			if c.origin == string(s.origin) {
				s.candidatesHere = append(s.candidatesHere, c)
			}
		}
		for _, t := range s.tests {
			if t.origin == string(s.origin) {
				s.testsHere = append(s.testsHere, t)
			}
		}
	}
	if len(s.testsHere) == 0 {
		return
	}
	u := s.partsOf(v)
	isOf := s.isKnown(v, u)
	for _, c := range s.candidatesHere {
		if !isOf && c.has(u) {
			isOf = true
			if c.took != nil {
				c.took(u)
			}
			if len(v.Spent) > 0 {
				c.addVisit(v)
			}
		}
		if c.see != nil {
			c.see(u)
		}
	}
	normal, buf := robots.RFC9309.Path(v.URL[v.Origin:], s.normal)
	s.normal = buf
	for _, t := range s.testsHere {
		if len(t.rules) == 0 {
			continue
		}
		if i := robots.Decide(t.bound, normal, robots.RFC9309); i >= 0 {
			t.closedBy[t.bound[i].Line-2]++ // the first line is no rule
			if t.closed++; !isOf {
				t.others++
			}
		}
	}
}

// isKnown reports whether the URL and the spaces of its site tell which kind it is of.
func (s *Spaces) isKnown(v *Visit, u *parts) bool {
	if v.Cut {
		return true
	}
	if n, _, _ := sessionOf(u.path, u.pairs); n >= 0 && s.sessions>>n&1 == 1 {
		return true
	}
	if d, ok := u.date(); ok && d.year >= s.farFrom() && (d.year < lateYear || s.isLate(u.path, d)) {
		return true
	}
	block, _ := blockOf(u.path, u.segs)
	return block != nil
}

// isLate reports whether a late date is of a calendar that was found.
func (s *Spaces) isLate(path []byte, d date) bool {
	dir := ""
	if d.seg > 0 {
		dir = string(dirOf(path))
	}
	return slices.ContainsFunc(s.found, func(f *foundSpace) bool { return f.origin == string(s.origin) && f.late && f.dir == dir })
}

// settle ends the second look: candidates that are spaces are kept, and of all rules those that close a space alone.
func (s *Spaces) settle() {
	for _, c := range s.candidates {
		if c.is() && c.urls >= leastURLs {
			one := c.space(c.kind, c.names, c.rules)
			one.Origin, one.InQuery, one.Others = c.origin, c.inQuery, c.others
			s.all = append(s.all, one)
		}
	}
	for _, f := range s.found {
		if !f.closesNoOther() {
			f.Rules = nil
			continue
		}
		if f.Others = f.others; f.Kind == Repeats {
			f.Rules = f.closing()
		}
	}
	s.candidates, s.candidatesHere, s.found, s.tests, s.testsHere = nil, nil, nil, nil, nil
}

// closing returns the rules that close some URLs, those that close most first.
func (t *ruleTest) closing() (rules []string) {
	closed := map[string]int64{}
	for i, rule := range t.rules {
		if closed[rule] += t.closedBy[i]; t.closedBy[i] > 0 {
			rules = append(rules, rule)
		}
	}
	slices.SortStableFunc(rules, func(a, b string) int { return cmp.Compare(closed[b], closed[a]) })
	return rules
}
