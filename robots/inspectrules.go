package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Limits of the search for rules without effect, so that it is linear even for hostile files. Real files are far
// below them.
const (
	maxMerged  = 1 << 18 // rules of all crawlers together, rules of crawlers with the same groups counted once
	maxCovered = 1 << 26 // bytes of patterns that are compared with each other
)

// rules searches for rules that never decide because of the other rules for the same crawler. A rule that decides for
// another crawler has an effect.
func (in *inspector) rules() {
	f := in.report.File
	found, useless := map[Diagnostic]bool{}, map[int32]bool{}
	budget, pairs := maxCovered, maxCovered
	sets, all := f.bindings(policyToken)
	idle, order := map[int32][]Diagnostic{}, []int32(nil) // by line, one for each set where it never decides
	for _, set := range sets {
		rules := f.merged(set.groups)
		for _, n := range in.dialect.uselessRules(rules, &budget) {
			if len(idle[n.Line]) == 0 {
				order = append(order, n.Line)
			}
			idle[n.Line] = append(idle[n.Line], n)
		}
		for _, n := range in.dialect.undefinedPairs(rules, &pairs) {
			if !found[n] && slices.ContainsFunc(set.agents, ProductToken.isCrawler) { // of rules for a use the longest always counts
				found[n] = true
				in.report.Diagnostics = append(in.report.Diagnostics, n)
			}
		}
	}
	bound := map[int32]int{} // by line of a rule: how many sets contain its group
	for _, set := range sets {
		for _, g := range set.groups {
			for i := range f.Groups[g].Rules {
				bound[f.Groups[g].Rules[i].Line]++
			}
		}
	}
	for _, line := range order {
		if notes := idle[line]; all && len(notes) == bound[line] {
			useless[line] = true
			gravest := max(0, slices.IndexFunc(notes, func(n Diagnostic) bool { return n.Code == codeShadowed })) // the opposite effect is worse
			in.report.Diagnostics = append(in.report.Diagnostics, notes[gravest])
		}
	}
	in.report.Diagnostics = append(in.report.Diagnostics, in.redundant(useless)...)
}

// merged returns the rules of some groups.
func (f *File) merged(groups []int) (rules []Rule) {
	for _, g := range groups {
		rules = append(rules, f.Groups[g].Rules...)
	}
	return rules
}

// A binding is a set of groups that apply to the same crawlers.
type binding struct {
	groups []int          // their indices
	agents []ProductToken // the crawlers, each as it is named first; "*" too
}

// bindings returns, once each, the sets of groups that name the same crawler, and whether the list is complete.
// Tokens for a use of pages count only if they are in uses.
func (f *File) bindings(uses ...ProductToken) (sets []binding, all bool) {
	named := map[string][]int{}
	var names []ProductToken // in order of appearance
	for i := range f.Groups {
		g := &f.Groups[i]
		all := g.Agents
		if g.Star {
			all = append([]ProductToken{"*"}, all...)
		}
		for _, a := range all {
			if a.IsPolicy() && !slices.ContainsFunc(uses, a.Equal) {
				continue
			}
			name := strings.ToLower(string(a))
			set := named[name]
			if set == nil {
				names = append(names, a)
			}
			if len(set) == 0 || set[len(set)-1] != i {
				named[name] = append(set, i)
			}
		}
	}
	seen, merged := map[string]int{}, 0 // index in sets
	for _, name := range names {
		groups := named[strings.ToLower(string(name))]
		key := fmt.Sprint(groups)
		if at, ok := seen[key]; ok {
			sets[at].agents = append(sets[at].agents, name)
			continue
		}
		seen[key] = len(sets)
		for _, g := range groups {
			merged += len(f.Groups[g].Rules)
		}
		if merged > maxMerged {
			return sets, false
		}
		sets = append(sets, binding{groups, []ProductToken{name}})
	}
	return sets, true
}

// A claimant is a rule with its patterns: the pattern of its text, then a shorter one for an index page, if it has
// one.
type claimant struct {
	*Rule
	kind   string // there is no precedence between rules of different kinds
	shapes []shape
}

// A shape is a pattern without the parts that change no match.
type shape struct {
	text   string // without an anchor; no two adjacent wildcards, and none at the end unless closed
	closed bool   // it has an anchor
	length int    // of the pattern, see [Dialect.Length]
}

// length returns the length of the pattern of the rule's text, which is its priority.
func (w *claimant) length() int { return w.shapes[0].length }

// shapeOf returns the shape of a pattern with its length in the dialect.
func (d Dialect) shapeOf(pattern string) shape {
	f := shapeOf(pattern)
	f.length = d.Length(pattern)
	return f
}

// shapeOf returns the shape of a pattern without its length.
func shapeOf(pattern string) (f shape) {
	f.text, f.closed = strings.CutSuffix(pattern, "$")
	if strings.HasSuffix(f.text, "*") && f.closed { // anything may follow
		f.closed = false
	}
	if !f.closed {
		f.text = strings.TrimRight(f.text, "*")
	}
	for strings.Contains(f.text, "**") {
		f.text = strings.ReplaceAll(f.text, "**", "*")
	}
	if rest, ok := strings.CutPrefix(f.text, "*"); ok && !strings.HasPrefix(rest, "/") || f.text == "" && !f.closed {
		f.text = "/" + f.text // a path begins so
	}
	return f
}

// key is equal for the shapes of patterns that match the same paths.
func (f *shape) key() string {
	if f.closed {
		return f.text + "$"
	}
	return f.text + "*"
}

// claimants returns the rules in order of precedence. With [WildcardsUndefined], only rules of the same kind are
// ordered: rules with a "*" and the same effect, and rules without a "*".
func (d Dialect) claimants(rules []Rule) []claimant {
	all := make([]claimant, len(rules))
	for i := range rules {
		r := &rules[i]
		all[i] = claimant{Rule: r, shapes: []shape{d.shapeOf(r.Pattern)}}
		if index, ok := d.IndexPattern(*r); ok {
			all[i].shapes = append(all[i].shapes, d.shapeOf(index))
		}
		if d.Has(WildcardsUndefined) && hasWildcard(r.Pattern) {
			all[i].kind = [...]string{"allow ", "disallow "}[allowFirst(r)]
		}
	}
	slices.SortStableFunc(all, func(a, b claimant) int { // the winner first
		return cmp.Or(cmp.Compare(b.length(), a.length()), cmp.Compare(allowFirst(a.Rule), allowFirst(b.Rule)))
	})
	return all
}

// uselessRules returns a diagnostic for each rule that never decides because one other rule matches all of its paths
// and takes precedence. Rules that are shadowed only by several others together are not reported.
func (d Dialect) uselessRules(rules []Rule, budget *int) []Diagnostic {
	var notes []Diagnostic
	winners := make(map[string]*claimant, len(rules)) // by kind and key of their shapes
	var wide []*claimant                              // those that may match all that another rule does
	all := d.claimants(rules)
	for i := range all {
		r := &all[i]
		if w := winners[r.kind+r.shapes[0].key()]; w != nil && w.covers(r, budget) {
			notes = append(notes, useless(r.Rule, w.Rule, "says the same"))
			continue
		}
		var wider *claimant
		for i := 0; i < len(wide) && wider == nil && *budget >= 0; i++ {
			if *budget--; wide[i].covers(r, budget) { // there may be as many pairs as rules squared
				wider = wide[i]
			}
		}
		if wider != nil {
			notes = append(notes, useless(r.Rule, wider.Rule, "has the same effect on more URLs, and takes precedence"))
			continue
		}
		for _, f := range r.shapes {
			if key := r.kind + f.key(); winners[key] == nil {
				winners[key] = r
			}
		}
		if hasWildcard(r.Pattern) {
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

// useless returns the diagnostic for a rule over which another always takes precedence; same is the text if both have
// the same effect.
func useless(r, winner *Rule, same string) Diagnostic {
	if r.Allow == winner.Allow {
		return Diagnostic{Line: r.Line, Code: codeDuplicate, Text: fmt.Sprintf("line %d %s: %s", winner.Line, same, quoted(winner))}
	}
	return Diagnostic{Line: r.Line, Code: codeShadowed, Text: fmt.Sprintf("line %d always takes precedence: %s", winner.Line, quoted(winner))}
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

// covers reports whether a rule that precedes r in the order of claimants matches all paths of r, and takes
// precedence for each.
func (w *claimant) covers(r *claimant, budget *int) bool {
	if w.kind != r.kind {
		return false
	}
	for _, f := range r.shapes {
		if !slices.ContainsFunc(w.shapes, func(wider shape) bool {
			tie := w.Allow && !r.Allow || w.Allow == r.Allow && w.Line < r.Line
			return (wider.length > f.length || wider.length == f.length && tie) && wider.includes(&f, budget)
		}) {
			return false
		}
	}
	return true
}

// includes reports whether the shape matches all paths that another one does. It spends the budget, and
// reports false when that is gone.
//
// A "*" of the other shape can match a byte that occurs in no pattern, and that only a "*" matches. So f includes the
// other if it matches its text with such a byte for "*". Only a shape that is not closed matches the text after
// another that is not closed. A "*" before the first "/" matches only the empty text, because a path begins with "/".
func (f *shape) includes(other *shape, budget *int) bool {
	if *budget -= len(other.text) + len(f.text); *budget < 0 || f.closed && !other.closed {
		return false
	}
	if rest, ok := strings.CutPrefix(other.text, "*"); ok {
		return f.matches(rest) && f.matches("/"+other.text)
	}
	return f.matches(other.text)
}

// matches reports whether the shape matches a text: all of it if it is closed, and otherwise its
// beginning. A "*" in the text is a byte like any other.
func (f *shape) matches(text string) bool {
	anchor, rest, wild := strings.Cut(f.text, "*")
	text, ok := strings.CutPrefix(text, anchor)
	if !wild {
		return ok && (text == "" || !f.closed)
	}
	for ok {
		segment, more, again := strings.Cut(rest, "*")
		if !again && f.closed {
			return strings.HasSuffix(text, segment)
		}
		_, text, ok = strings.Cut(text, segment)
		if !again {
			return ok
		}
		rest = more
	}
	return false
}

// A redundancy finds the rules that decide, and without which no verdict would change: another rule of
// the same group says the same of all their paths, and on none of these wins a rule that says the
// opposite over that one. It is shorter, and decides where it is alone, so all such rules can be deleted at
// once, and no group gets empty.
type redundancy struct {
	dialect  Dialect
	useless  map[int32]bool // the lines of rules that never decide
	group    []int32        // by line of a rule
	bindings []int          // by group: how many sets of groups it is in
	proofs   map[int32]int  // by line of a rule: for how many of them it is redundant
	notes    []Diagnostic   // one for each first proof
	budget   int
}

// maxRedundant bounds the bytes of patterns, and the opposite rules, that are compared: enough for 2,561 real files.
// Hostile files take a third of a second then.
const maxRedundant = 1 << 24

// redundant returns a diagnostic for each rule that decides and is redundant for all crawlers that it binds.
func (in *inspector) redundant(useless map[int32]bool) (notes []Diagnostic) {
	f := in.report.File
	sets, all := f.bindings(policyToken)
	if !all || f.Truncated { // without a line more of the file would be read
		return nil
	}
	n := redundancy{dialect: in.dialect, useless: useless, proofs: map[int32]int{}, bindings: make([]int, len(f.Groups)), budget: maxRedundant}
	for g := range f.Groups {
		for _, r := range f.Groups[g].Rules {
			n.group = append(n.group, make([]int32, int(r.Line)+1-len(n.group))...)
			n.group[r.Line] = int32(g)
		}
	}
	for _, set := range sets {
		for _, g := range set.groups {
			n.bindings[g]++
		}
		n.bind(in.dialect.claimants(f.merged(set.groups)))
	}
	for _, note := range n.notes {
		if n.proofs[note.Line] == n.bindings[n.group[note.Line]] {
			notes = append(notes, note)
		}
	}
	return notes
}

// bind looks at the rules that bind a crawler together.
func (n *redundancy) bind(all []claimant) {
	var says [2][]*claimant
	for i := range all {
		r := &all[i]
		says[allowFirst(r.Rule)] = append(says[allowFirst(r.Rule)], r)
	}
	for which, same := range says {
		// In each group, after the rules whose text theirs begins with.
		slices.SortFunc(same, func(a, b *claimant) int {
			return cmp.Or(cmp.Compare(n.group[a.Line], n.group[b.Line]), strings.Compare(a.shapes[0].start(), b.shapes[0].start()),
				cmp.Compare(a.length(), b.length()), cmp.Compare(a.Line, b.Line))
		})
		for from := 0; from < len(same); {
			to := from + 1
			for to < len(same) && n.group[same[to].Line] == n.group[same[from].Line] {
				to++
			}
			n.among(same[from:to], says[1-which])
			from = to
		}
	}
}

// among looks at the rules of a group that say the same. others are those that say the opposite, also of
// other groups that bind the same crawler.
func (n *redundancy) among(same, others []*claimant) {
	var wide []*claimant // those with wildcards, which may match all that any other rule does
	for _, r := range same {
		if strings.Contains(r.shapes[0].text, "*") && !n.useless[r.Line] {
			wide = append(wide, r)
		}
	}
	slices.SortStableFunc(wide, func(a, b *claimant) int { return cmp.Compare(b.length(), a.length()) })
	var chain []*claimant // those without, whose text starts the text of the rule in hand
	for _, r := range same {
		start := r.shapes[0].start()
		for len(chain) > 0 && !strings.HasPrefix(start, chain[len(chain)-1].shapes[0].text) {
			chain = chain[:len(chain)-1]
		}
		if n.useless[r.Line] || n.budget < 0 {
			continue
		}
		if w := n.proof(chain, wide, r, others); w != nil {
			if n.proofs[r.Line]++; n.proofs[r.Line] == 1 {
				n.notes = append(n.notes, Diagnostic{Line: r.Line, Code: codeRedundant, Text: fmt.Sprintf("without it, line %d would decide in the same way: %s", w.Line, quoted(w.Rule))})
			}
		}
		if s := &r.shapes[0]; !s.closed && start == s.text {
			chain = append(chain, r)
		}
	}
}

// proof returns a rule that makes r redundant, nil if none is found.
func (n *redundancy) proof(chain, wide []*claimant, r *claimant, others []*claimant) *claimant {
	for i := len(chain) - 1; i >= 0; i-- {
		if n.stands(chain[i], r, others) {
			return chain[i]
		}
	}
	for _, w := range wide {
		if n.stands(w, r, others) {
			return w
		}
		if n.budget < 0 {
			break
		}
	}
	return nil
}

// stands reports whether no verdict would change without r, because w gives the same answer.
func (n *redundancy) stands(w, r *claimant, others []*claimant) bool {
	if n.budget--; n.budget < 0 || w.length() >= r.length() || w.kind != "" || r.kind != "" {
		return false
	}
	for i := range r.shapes {
		f := &r.shapes[i]
		at := slices.IndexFunc(w.shapes, func(g shape) bool { return g.includes(f, &n.budget) })
		if at < 0 || slices.ContainsFunc(others, func(o *claimant) bool { return n.parts(o, &w.shapes[at], r, f) }) {
			return false
		}
	}
	return true
}

// parts reports whether a rule that says the opposite of r may win over another one, of the shape g, where
// r wins over it: on a path that r matches by its shape f.
func (n *redundancy) parts(o *claimant, g *shape, r *claimant, f *shape) bool {
	for i := range o.shapes {
		h := &o.shapes[i]
		if n.budget--; n.budget < 0 {
			return true
		}
		won := h.length > g.length || h.length == g.length && o.Allow
		lost := f.length > h.length || f.length == h.length && r.Allow
		if (won && lost || o.kind != "") && f.meets(h, &n.budget) {
			return true
		}
	}
	return false
}

// start returns the text of the shape before its first wildcard.
func (f *shape) start() string {
	start, _, _ := strings.Cut(f.text, "*")
	return start
}

// startsLike reports whether the texts of two shapes agree up to the first wildcard of either: if not, no path matches
// both.
func (f *shape) startsLike(other *shape) bool {
	a, b := f.start(), other.start()
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// meets reports whether some path may match both shapes. It spends the budget, and reports true when that
// is gone.
func (f *shape) meets(other *shape, budget *int) bool {
	if !f.startsLike(other) {
		return false
	}
	a, b := f.start(), other.start()
	if a == f.text && b == other.text { // neither has a wildcard
		return a == b || (len(a) >= len(b) || !f.closed) && (len(b) >= len(a) || !other.closed)
	}
	if work := (len(f.text) + 2) * (len(other.text) + 2); work <= maxPair {
		if *budget -= work; *budget >= 0 {
			_, ok := commonPath(f.whole(), other.whole())
			return ok
		}
	}
	return true
}

// whole returns the shape as a pattern for whole paths, where a "$" is a byte like any other.
func (f *shape) whole() string {
	if f.closed {
		return f.text
	}
	return f.text + "*"
}

// A Trial is the result of matching one rule with one path.
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

// A PreferenceTrial is the result of matching one Statement with one path.
type PreferenceTrial struct {
	Rule   int  // index of the line
	Reach  int  // bytes of its pattern that a beginning of the path matches: all of them if it matches
	Counts bool // it is one of those that decide, at least one use
}

// Try tries all lines of a source on a path that may be fetched, see [Bound.Decide]: those that match come
// first, the longest first, and then the others, the nearest first.
func (b *Bound) Try(source Source, path []byte) []PreferenceTrial {
	rules, hides := b[source], Sources[source].Hides
	counts := map[int32]bool{} // by line
	for u := range NumUses {
		for _, r := range longest(rules, path, func(r *Statement) bool { return hides || r.Uses[u] != Unstated }) {
			counts[r.Line] = true
		}
	}
	for _, r := range longest(rules, path, func(r *Statement) bool { return r.How != "" }) {
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
