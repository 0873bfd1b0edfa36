package robots

import (
	"cmp"
	"slices"
)

// A Trial is the result of matching one rule with one path.
type Trial struct {
	Rule    int    // index of the rule
	Pattern string // the pattern of the rule that matched, or that came nearest; see [Dialect.IndexPattern]
	Reach   int    // number of bytes of Pattern that match a beginning of the path: all of them if the rule matches
}

// Matches reports whether the rule matches the path.
func (t Trial) Matches() bool { return t.Reach == len(t.Pattern) }

// Try tries all rules on a path, which must be one that [Dialect.Path] returned. The result has one Trial for each
// rule. Matching rules come first, in order of precedence: the first is the one that [Decide] returns. Then come the
// others, those with most matching bytes first.
func Try(rules []Rule, path []byte, d Dialect) []Trial {
	trials := make([]Trial, len(rules))
	for i, r := range rules {
		trials[i] = r.tryPatterns(path, d)
		trials[i].Rule = i
	}
	slices.SortStableFunc(trials, func(a, b Trial) int {
		switch {
		case a.Matches() != b.Matches():
			return cmp.Compare(b.Reach-len(b.Pattern), a.Reach-len(a.Pattern))
		case !a.Matches() && a.Reach != b.Reach:
			return cmp.Compare(b.Reach, a.Reach)
		case d.Length(a.Pattern) != d.Length(b.Pattern) && a.Matches():
			return cmp.Compare(d.Length(b.Pattern), d.Length(a.Pattern))
		case !a.Matches() || rules[a.Rule].Allow == rules[b.Rule].Allow:
			return 0
		case rules[a.Rule].Allow:
			return -1
		}
		return 1
	})
	return trials
}

// tryPatterns tries the patterns of the rule in the order of [Rule.priority]. The result is about the first that
// matches, or else about the one with most matching bytes; its Rule is not set.
func (r Rule) tryPatterns(path []byte, d Dialect) Trial {
	t := Trial{Pattern: r.Pattern, Reach: reach(r.Pattern, path)}
	if index, ok := d.IndexPattern(r); ok && !t.Matches() {
		if n := reach(index, path); n == len(index) || n > t.Reach {
			t.Pattern, t.Reach = index, n
		}
	}
	return t
}

// A PreferenceTrial is the result of matching one Statement with one path.
type PreferenceTrial struct {
	Rule   int  // index of the line
	Reach  int  // number of bytes of its pattern that match a beginning of the path
	Counts bool // it decides at least one use
}

// Try tries all lines of a source on a path that may be fetched, see [Bound.Decide]. The result has one element for
// each line. Matching lines come first, the longest first, then the others, those with most matching bytes first.
func (b *Bound) Try(source Source, path []byte) []PreferenceTrial {
	rules, hides := b[source], Sources[source].Hides
	counts := map[int32]bool{} // by line
	for u := range NumUses {
		for _, r := range longestMatches(rules, path, func(r *Statement) bool { return hides || r.Uses[u] != Unstated }) {
			counts[r.Line] = true
		}
	}
	for _, r := range longestMatches(rules, path, func(r *Statement) bool { return r.How != "" }) {
		counts[r.Line] = true
	}
	trials := make([]PreferenceTrial, len(rules))
	missing := func(t PreferenceTrial) int { return len(rules[t.Rule].Pattern) - t.Reach } // bytes of the pattern that do not match
	for i := range trials {
		trials[i] = PreferenceTrial{Rule: i, Reach: reach(rules[i].Pattern, path)}
		trials[i].Counts = missing(trials[i]) == 0 && counts[rules[i].Line]
	}
	slices.SortStableFunc(trials, func(a, b PreferenceTrial) int {
		switch m, n := missing(a), missing(b); {
		case (m == 0) != (n == 0):
			return cmp.Compare(m, n)
		case m == 0:
			return cmp.Compare(rules[b.Rule].Length, rules[a.Rule].Length)
		}
		return cmp.Compare(b.Reach, a.Reach)
	})
	return trials
}
