package robots

import (
	"cmp"
	"slices"
)

// A Trial is the fate of one rule on one path.
type Trial struct {
	Rule    int    // index of the rule
	Pattern string // that matched, or of the rule's patterns that which came nearest, see [Dialect.IndexPattern]
	Reach   int    // bytes of Pattern that a beginning of the path matches: all of them if it matches
}

// Matches reports whether the rule matches the path.
func (t Trial) Matches() bool { return t.Reach == len(t.Pattern) }

// Try tries all rules on a path. The path is one that [Dialect.Path] returned. Those that match come
// first, in their order of precedence: the first is the one that [Decide] returns. Then come those
// that do not, the nearest first: the ones with most matching bytes.
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

// A PreferenceTrial is the fate of one line of Content-Usage or Content-Signal on one path.
type PreferenceTrial struct {
	Rule   int  // index of the line
	Reach  int  // bytes of its pattern that a beginning of the path matches: all of them if it matches
	Counts bool // it is one of those that decide: of Content-Usage all of the longest, of Content-Signal at least one key
}

// TryUsage tries all lines on a path that may be fetched, see [DecideUsage]: those that match come first,
// the longest first, and then the others, the nearest first.
func TryUsage(rules []UsageRule, path []byte) []PreferenceTrial {
	line := func(i int) (string, int) { return rules[i].Pattern, rules[i].Length }
	return tryPreferences(len(rules), path, line, func(i, longest int) bool { return rules[i].Length == longest })
}

// TrySignals tries all lines on a path as TryUsage does, see [DecideSignal].
func TrySignals(rules []SignalRule, path []byte) []PreferenceTrial {
	counts := map[int32]bool{} // by line
	for _, has := range []func(r *SignalRule) bool{
		func(r *SignalRule) bool { return r.Search != Unstated },
		func(r *SignalRule) bool { return r.AIInput != Unstated },
		func(r *SignalRule) bool { return r.AITrain != Unstated },
		func(r *SignalRule) bool { return r.Use != "" },
	} {
		for _, r := range longestSignals(rules, path, has) {
			counts[r.Line] = true
		}
	}
	line := func(i int) (string, int) { return rules[i].Pattern, rules[i].Length }
	return tryPreferences(len(rules), path, line, func(i, _ int) bool { return counts[rules[i].Line] })
}

// tryPreferences tries n patterns, of which line returns text and length, on a path. counts reports whether one that
// matches decides, where the longest of those that match has that length.
func tryPreferences(n int, path []byte, line func(i int) (pattern string, length int), counts func(i, longest int) bool) []PreferenceTrial {
	trials, longest := make([]PreferenceTrial, n), -1
	missing := func(t PreferenceTrial) int { // bytes of the pattern that do not match
		pattern, _ := line(t.Rule)
		return len(pattern) - t.Reach
	}
	for i := range trials {
		pattern, length := line(i)
		trials[i] = PreferenceTrial{Rule: i, Reach: reach(pattern, path)}
		if missing(trials[i]) == 0 {
			longest = max(longest, length)
		}
	}
	for i := range trials {
		trials[i].Counts = missing(trials[i]) == 0 && counts(i, longest)
	}
	slices.SortStableFunc(trials, func(a, b PreferenceTrial) int {
		_, x := line(a.Rule)
		_, y := line(b.Rule)
		switch m, n := missing(a), missing(b); {
		case (m == 0) != (n == 0):
			return cmp.Compare(m, n)
		case m == 0:
			return cmp.Compare(y, x)
		}
		return cmp.Compare(b.Reach, a.Reach)
	})
	return trials
}
