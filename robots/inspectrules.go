package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Limits of the search for rules that have no effect, so that it is linear for hostile files too.
// No real file comes near them.
const (
	maxMerged  = 1 << 18 // rules of all crawlers together, those of crawlers with the same groups counted once
	maxCovered = 1 << 26 // bytes of patterns that are compared with each other
)

// rules looks for rules that have no effect beside the others that bind the same crawler.
func (in *inspector) rules() {
	f := in.report.File
	found := map[Diagnostic]bool{}
	budget, pairs := maxCovered, maxCovered
	for _, members := range f.bindings() {
		var rules []Rule
		for _, g := range members {
			rules = append(rules, f.Groups[g].Rules...)
		}
		for _, n := range append(in.dialect.uselessRules(rules, &budget), in.dialect.undefinedPairs(rules, &pairs)...) {
			if !found[n] {
				found[n] = true
				in.report.Diagnostics = append(in.report.Diagnostics, n)
			}
		}
	}
}

// bindings returns the sets of groups that bind a crawler together, each as indices of groups:
// those that name it. Each set occurs once.
func (f *File) bindings() [][]int {
	named := map[string][]int{}
	var names []string // in order of appearance
	for i := range f.Groups {
		g := &f.Groups[i]
		all := g.Agents
		if g.Star {
			all = append([]ProductToken{"*"}, all...)
		}
		for _, a := range all {
			name := strings.ToLower(string(a))
			set := named[name]
			if set == nil {
				names = append(names, name)
			}
			if len(set) == 0 || set[len(set)-1] != i {
				named[name] = append(set, i)
			}
		}
	}
	var sets [][]int
	seen, merged := map[string]bool{}, 0
	for _, name := range names {
		set := named[name]
		key := fmt.Sprint(set)
		if seen[key] {
			continue
		}
		seen[key] = true
		for _, g := range set {
			merged += len(f.Groups[g].Rules)
		}
		if merged > maxMerged {
			break
		}
		sets = append(sets, set)
	}
	return sets
}

// uselessRules returns a diagnostic for each rule that never decides anything, as far as that is
// told without much effort: because another one matches the same paths and wins, or because one
// with wildcards, which wins, matches all that it does. An Allow rule for an index page has a
// second pattern and is left alone. Where [WildcardsUndefined] gives rules with a "*" no order,
// only rules of a kind are compared: those with a "*" that say the same, and those without.
func (d Dialect) uselessRules(rules []Rule, budget *int) []Diagnostic {
	order := make([]*Rule, len(rules))
	for i := range rules {
		order[i] = &rules[i]
	}
	slices.SortStableFunc(order, func(a, b *Rule) int { // the winner first
		return cmp.Or(cmp.Compare(len(b.Pattern), len(a.Pattern)), cmp.Compare(allowFirst(a), allowFirst(b)))
	})
	var notes []Diagnostic
	winners := make(map[string]*Rule, len(rules))
	var wide []*Rule // winners with a wildcard and without an anchor, which may cover others
	for _, r := range order {
		if _, ok := d.IndexPattern(*r); ok {
			continue
		}
		paths := language(r.Pattern)
		if d.Has(WildcardsUndefined) && hasWildcard(r.Pattern) {
			paths += [...]string{" allow", " disallow"}[allowFirst(r)]
		} else if d.Has(WildcardsUndefined) {
			paths = r.Pattern
		}
		if winner := winners[paths]; winner != nil {
			notes = append(notes, useless(r, winner, "says the same"))
			continue
		}
		if winner := d.covering(wide, r, budget); winner != nil {
			notes = append(notes, useless(r, winner, "says the same of more URLs, and wins"))
			continue
		}
		winners[paths] = r
		if hasWildcard(r.Pattern) && r.Pattern[len(r.Pattern)-1] != '$' {
			wide = append(wide, r)
		}
	}
	return notes
}

// allowFirst sorts Allow before Disallow.
func allowFirst(r *Rule) int {
	if r.Allow {
		return 0
	}
	return 1
}

// useless returns the diagnostic of a rule over which another one always wins; same says how, if
// both say the same.
func useless(r, winner *Rule, same string) Diagnostic {
	if r.Allow == winner.Allow {
		return Diagnostic{r.Line, codeDuplicate, fmt.Sprintf("line %d %s: %s", winner.Line, same, quoted(winner))}
	}
	return Diagnostic{r.Line, codeShadowed, fmt.Sprintf("line %d always wins over it: %s", winner.Line, quoted(winner))}
}

// maxQuoted is how much of a rule a diagnostic quotes, since one rule can be the subject of many.
const maxQuoted = 100

// quoted returns the rule, cut short if it is long.
func quoted(r *Rule) string {
	short := *r
	short.Value = shortened(r.Value)
	return short.String()
}

// shortened returns the beginning of a long text.
func shortened(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return text[:maxQuoted] + "..."
}

// language returns the shortest pattern that matches the same paths: "**" is "*", and at the end it
// is nothing.
func language(pattern string) string {
	if !hasWildcard(pattern) {
		return pattern
	}
	if open, ok := strings.CutSuffix(pattern, "*$"); ok {
		pattern = open
	}
	pattern = strings.TrimRight(pattern, "*")
	for strings.Contains(pattern, "**") {
		pattern = strings.ReplaceAll(pattern, "**", "*")
	}
	return pattern
}

// covering returns a rule that matches all that r does, or nil if none is found. A pattern without
// an anchor covers another if it matches its text: where that has a "*", only a "*" can match it.
func (d Dialect) covering(wide []*Rule, r *Rule, budget *int) *Rule {
	text := strings.TrimSuffix(r.Pattern, "$")
	for _, w := range wide {
		if d.Has(WildcardsUndefined) && (w.Allow != r.Allow || !hasWildcard(r.Pattern)) {
			continue
		}
		if *budget -= len(text) + len(w.Pattern); *budget < 0 {
			return nil
		}
		if contains(text, w.Pattern) {
			return w
		}
	}
	return nil
}

// contains reports whether the text starts with what is in front of the pattern's first "*", and
// what is between the others follows in order: whether the pattern, which has no anchor, matches.
// It is matches without allocations.
func contains(text, pattern string) bool {
	anchor, rest, _ := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, anchor)
	for ok && rest != "" {
		var segment string
		segment, rest, _ = strings.Cut(rest, "*")
		_, text, ok = strings.Cut(text, segment)
	}
	return ok
}
