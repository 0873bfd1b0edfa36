package robots

import (
	"cmp"
	"slices"
)

// A Trial is what became of one rule on one path.
type Trial struct {
	Rule    int    // index of the rule
	Pattern string // that matched, or of the rule's patterns that which came nearest, see [Dialect.IndexPattern]
	Reach   int    // bytes of Pattern that a beginning of the path matches: all of them if it matches
}

// Matches reports whether the rule matches the path.
func (t Trial) Matches() bool { return t.Reach == len(t.Pattern) }

// Try tries all rules on a path. The path is one that [Dialect.Path] returned. Those that match come
// first, in their order of precedence: the first is the one that [Decide] returns. Then come those
// that do not, the nearest first: those of which most bytes match.
func Try(rules []Rule, path []byte, d Dialect) []Trial {
	trials := make([]Trial, len(rules))
	for i, r := range rules {
		trials[i] = r.try(path, d)
		trials[i].Rule = i
	}
	slices.SortStableFunc(trials, func(a, b Trial) int {
		switch {
		case a.Matches() != b.Matches():
			return cmp.Compare(b.Reach-len(b.Pattern), a.Reach-len(a.Pattern))
		case a.Reach != b.Reach:
			return cmp.Compare(b.Reach, a.Reach)
		case !a.Matches() || rules[a.Rule].Allow == rules[b.Rule].Allow:
			return 0
		case rules[a.Rule].Allow:
			return -1
		}
		return 1
	})
	return trials
}

// try tries the patterns of the rule, in the order of [Rule.priority].
func (r Rule) try(path []byte, d Dialect) Trial {
	t := Trial{Pattern: r.Pattern, Reach: reach(r.Pattern, path)}
	if index, ok := d.IndexPattern(r); ok && !t.Matches() {
		if n := reach(index, path); n == len(index) || n > t.Reach {
			t.Pattern, t.Reach = index, n
		}
	}
	return t
}
