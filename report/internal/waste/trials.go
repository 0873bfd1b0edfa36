package waste

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// A trial is a space that may be one, or whose rules may close other URLs: a second look at all URLs of the site tells.
type trial struct {
	tally
	kind    Kind
	origin  string
	names   []string
	inQuery bool
	rules   []string
	size    int64             // about how many URLs it has, to keep the largest
	has     func(*parts) bool // whether a URL is one of the space; nil where space is
	took    func(*parts)      // sees each of these; nil is nothing to see
	see     func(*parts)      // sees each URL of the site; the same
	is      func() bool       // whether it is a space after all, and rules are those that close it alone
	space   *Space            // that was found before; nil if it was not

	bound          []robots.Rule // of rules
	closed, others int64         // URLs that rules close, and those of these that are of no space
	by             []int64       // of closed, by rule of rules
}

// mostTrials is how many trials are kept, or twice as many for a time.
const mostTrials = 1 << 6

// parts are those of a URL.
type parts struct {
	path  []byte
	segs  []seg
	pairs []pair
	seps  seps // of pairs
}

// closesNoOther reports whether its rules close URLs, and hardly any that is of no space.
func (t *trial) closesNoOther() bool { return t.closed > 0 && t.others*mostOthers <= t.closed }

// mostOthers is of how many URLs that rules close one may be of no space.
const mostOthers = 100

// try keeps a trial.
func (s *Spaces) try(t *trial) {
	if t == nil {
		return
	}
	t.origin = string(s.origin)
	if s.trials = append(s.trials, t); len(s.trials) > 2*mostTrials {
		slices.SortStableFunc(s.trials, func(a, b *trial) int { return cmp.Compare(b.size, a.size) })
		clear(s.trials[mostTrials:])
		s.trials = s.trials[:mostTrials]
	}
}

// Begin ends the count, and reports whether TryURL must see all URLs that there are, in the same order, before Rows.
func (s *Spaces) Begin() bool {
	s.endSite()
	for _, one := range largest(s.all) {
		if len(one.Rules) > 0 {
			s.trials = append(s.trials, &trial{origin: one.Origin, rules: one.Rules, space: one})
		}
	}
	for _, t := range s.trials {
		text := robots.Inspect([]byte("User-agent: *\n"+strings.Join(t.rules, "\n")+"\n"), robots.RFC9309)
		t.bound, _ = text.File.Select(robots.NewAgent("*", robots.RFC9309))
		t.by = make([]int64, len(t.rules))
	}
	return len(s.trials) > 0
}

// TryURL looks at a URL again, or at one that no crawler spent a request on.
func (s *Spaces) TryURL(v *Visit) {
	if v.PathEnd <= v.Origin || v.URL[v.Origin] != '/' {
		return
	}
	if string(v.URL[:v.Origin]) != string(s.origin) {
		s.origin = append(s.origin[:0], v.URL[:v.Origin]...)
		s.tried, s.sessions = s.tried[:0], 0
		for _, one := range s.all {
			if one.Origin == string(s.origin) {
				s.sessions |= one.session
			}
		}
		for _, t := range s.trials {
			if t.origin == string(s.origin) {
				s.tried = append(s.tried, t)
			}
		}
	}
	if len(s.tried) == 0 {
		return
	}
	u := s.partsOf(v)
	isOf := s.isKnown(v, u)
	for _, t := range s.tried {
		if !isOf && t.has != nil && t.has(u) {
			isOf = true
			if t.took != nil {
				t.took(u)
			}
			if len(v.Spent) > 0 {
				t.addVisit(v)
			}
		}
		if t.see != nil {
			t.see(u)
		}
	}
	normal, buf := robots.RFC9309.Path(v.URL[v.Origin:], s.normal)
	s.normal = buf
	for _, t := range s.tried {
		if len(t.rules) == 0 {
			continue
		}
		if i := robots.Decide(t.bound, normal, robots.RFC9309); i >= 0 {
			t.by[t.bound[i].Line-2]++ // the first line is no rule
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
	return slices.ContainsFunc(s.tried, func(t *trial) bool { return t.space != nil && t.space.late && t.space.dir == dir })
}

// settle ends the trials: spaces that are some are kept with the rules that close them alone.
func (s *Spaces) settle() {
	for _, t := range s.trials {
		switch one := t.space; {
		case one == nil:
			if isOne := t.is(); isOne && t.urls >= leastURLs {
				one = t.tally.space(t.kind, t.names, t.rules)
				one.Origin, one.InQuery, one.Others = t.origin, t.inQuery, t.others
				s.all = append(s.all, one)
			}
		case t.closesNoOther():
			one.Others = t.others
			if one.Kind == Repeats {
				one.Rules = t.closing()
			}
		default:
			one.Rules = nil
		}
	}
	s.trials, s.tried = nil, nil
}

// closing returns the rules that close some URLs, those that close most first.
func (t *trial) closing() (rules []string) {
	closed := map[string]int64{}
	for i, rule := range t.rules {
		if closed[rule] += t.by[i]; t.by[i] > 0 {
			rules = append(rules, rule)
		}
	}
	slices.SortStableFunc(rules, func(a, b string) int { return cmp.Compare(closed[b], closed[a]) })
	return rules
}
