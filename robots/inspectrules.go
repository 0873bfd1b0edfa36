package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits that make the search for rules without effect linear even for hostile files. Real files are far below them.
const (
	maxMerged  = 1 << 18 // total number of rules of all sets of groups, see bindings
	maxCovered = 1 << 26 // bytes of patterns that are compared
)

// noteUselessRules notes three kinds of rules: those that never decide for any crawler that they bind, those whose
// precedence is undefined in the dialect, and redundant ones (see redundancy). The first and third are left out if the
// file has too many sets of groups.
func (in *inspector) noteUselessRules() {
	f := in.report.File
	found, useless := map[Diagnostic]bool{}, map[int32]bool{}
	budget, pairs := maxCovered, maxCovered
	sets, all := f.bindings(policyToken)
	idle, order := map[int32][]Diagnostic{}, []int32(nil) // by line, one for each set where it never decides
	for _, set := range sets {
		rules := f.rulesOf(set.groups)
		for _, n := range in.dialect.uselessRules(rules, &budget) {
			if len(idle[n.Line]) == 0 {
				order = append(order, n.Line)
			}
			idle[n.Line] = append(idle[n.Line], n)
		}
		for _, n := range in.dialect.undefinedPairs(rules, &pairs) {
			if !found[n] && slices.ContainsFunc(set.agents, ProductToken.isCrawler) { // precedence of policy rules is always defined
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
	in.report.Diagnostics = append(in.report.Diagnostics, in.redundantRules(useless)...)
}

// rulesOf returns the rules of the groups with these indices, in that order, as a new slice.
func (f *File) rulesOf(groups []int) (rules []Rule) {
	for _, g := range groups {
		rules = append(rules, f.Groups[g].Rules...)
	}
	return rules
}

// A binding is a set of groups that bind the same crawlers.
type binding struct {
	groups []int          // their indices
	agents []ProductToken // the crawlers, maybe with "*", as the file spells them first
}

// bindings returns the distinct sets of groups that bind the crawlers which the file names, in order of appearance. all
// is false if maxMerged cut the list. Tokens for a use of pages are ignored unless they are in uses.
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
	seen, merged := map[string]int{}, 0 // seen: by groups, the index in sets
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

// A candidate is a rule with the shapes of its patterns: of Rule.Pattern, then of its IndexPattern, if it has one.
type candidate struct {
	*Rule
	kind   string // there is no precedence between rules of different kinds
	shapes []shape
}

// A shape is a pattern without the parts that do not affect what it matches.
type shape struct {
	text   string // without an anchor; no two adjacent wildcards, and none at the end unless closed
	closed bool   // it has an anchor
	length int    // of the pattern, see [Dialect.Length]
}

// length returns the length of the pattern of the rule's text, which is its priority.
func (w *candidate) length() int { return w.shapes[0].length }

// shapeOf returns the shape of a pattern with its length in the dialect.
func (d Dialect) shapeOf(pattern string) shape {
	f := shapeOf(pattern)
	f.length = d.Length(pattern)
	return f
}

// shapeOf returns the shape of a pattern. Its length is 0: use [Dialect.shapeOf] if lengths are compared.
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

// candidates returns a candidate for each rule, in order of precedence; it points into rules. With
// [WildcardsUndefined], only rules of the same kind are ordered: rules with a "*" and the same effect, and rules
// without a "*".
func (d Dialect) candidates(rules []Rule) []candidate {
	all := make([]candidate, len(rules))
	for i := range rules {
		r := &rules[i]
		all[i] = candidate{Rule: r, shapes: []shape{d.shapeOf(r.Pattern)}}
		if index, ok := d.IndexPattern(*r); ok {
			all[i].shapes = append(all[i].shapes, d.shapeOf(index))
		}
		if d.Has(WildcardsUndefined) && hasWildcard(r.Pattern) {
			all[i].kind = [...]string{"allow ", "disallow "}[allowFirst(r)]
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { // the winner first
		return cmp.Or(cmp.Compare(b.length(), a.length()), cmp.Compare(allowFirst(a.Rule), allowFirst(b.Rule)))
	})
	return all
}

// uselessRules returns a diagnostic for each rule that never decides because one other rule matches all of its paths
// and takes precedence. It does not report rules that only several others together shadow. budget is the work that is
// left, in bytes compared; when it is used up, no more rules are reported.
func (d Dialect) uselessRules(rules []Rule, budget *int) []Diagnostic {
	var notes []Diagnostic
	winners := make(map[string]*candidate, len(rules)) // by kind and key of their shapes
	var wide []*candidate                              // those that may match all that another rule does
	all := d.candidates(rules)
	for i := range all {
		r := &all[i]
		if w := winners[r.kind+r.shapes[0].key()]; w != nil && w.covers(r, budget) {
			notes = append(notes, uselessDiagnostic(r.Rule, w.Rule, "says the same"))
			continue
		}
		var wider *candidate
		for i := 0; i < len(wide) && wider == nil && *budget >= 0; i++ {
			if *budget--; wide[i].covers(r, budget) { // there may be as many pairs as rules squared
				wider = wide[i]
			}
		}
		if wider != nil {
			notes = append(notes, uselessDiagnostic(r.Rule, wider.Rule, "has the same effect on more URLs, and takes precedence"))
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

// allowFirst returns 0 for Allow and 1 for Disallow, which is their order.
func allowFirst(r *Rule) int {
	if r.Allow {
		return 0
	}
	return 1
}

// uselessDiagnostic returns the diagnostic for a rule over which the winner always takes precedence. same is the text
// if both have the same effect.
func uselessDiagnostic(r, winner *Rule, same string) Diagnostic {
	if r.Allow == winner.Allow {
		return Diagnostic{Line: r.Line, Code: codeDuplicate, Text: fmt.Sprintf("line %d %s: %s", winner.Line, same, quoteRule(winner))}
	}
	return Diagnostic{Line: r.Line, Code: codeShadowed, Text: fmt.Sprintf("line %d always takes precedence: %s", winner.Line, quoteRule(winner))}
}

// maxQuoted is the number of bytes of a rule that a diagnostic quotes: many diagnostics may quote the same rule.
const maxQuoted = 100

// quoteRule returns the rule, cut short if it is long.
func quoteRule(r *Rule) string {
	short := *r
	short.Value = shorten(r.Value)
	return short.String()
}

// shorten returns a text, cut if it is longer than maxQuoted.
func shorten(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return text[:maxQuoted] + "..."
}

// covers reports whether w matches all paths of r and takes precedence for each. w must precede r in the order of
// candidates. It is false for rules of different kinds, and if the budget is exhausted.
func (w *candidate) covers(r *candidate, budget *int) bool {
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

// includes reports whether f matches all paths that the other shape matches; false if the budget is exhausted. The
// lengths of both texts are subtracted from the budget.
//
// A "*" of the other shape can match a byte that occurs in no pattern, and that only a "*" matches. So f includes the
// other shape if f matches the other's text with such a byte for "*". If f is closed, the other shape must be closed
// too, because otherwise its paths may continue. A "*" before the first "/" matches only the empty text, because a path
// begins with "/".
func (f *shape) includes(other *shape, budget *int) bool {
	if *budget -= len(other.text) + len(f.text); *budget < 0 || f.closed && !other.closed {
		return false
	}
	if rest, ok := strings.CutPrefix(other.text, "*"); ok {
		return f.matches(rest) && f.matches("/"+other.text)
	}
	return f.matches(other.text)
}

// matches reports whether the shape matches a text: all of it if it is closed, otherwise its beginning. A "*" in the
// text is an ordinary byte.
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

// A redundancy searches for rules that decide, but could be deleted without changing any verdict: a shorter rule of the
// same group has the same effect on all their paths, and no rule with the opposite effect comes between the two in
// precedence on any of these paths. Because the replacement is shorter, all such rules can be deleted at once, and no
// group becomes empty.
type redundancy struct {
	dialect  Dialect
	useless  map[int32]bool // the lines of rules that never decide
	group    []int32        // index of the group, by line of a rule
	bindings []int          // number of sets that contain a group
	proofs   map[int32]int  // number of sets in which a rule is redundant, by its line
	notes    []Diagnostic   // one for each rule in proofs
	budget   int
}

// maxRedundant limits the bytes of patterns, and the opposite rules, that are compared: it is enough for 2,561 real
// files, and hostile files take at most a third of a second.
const maxRedundant = 1 << 24

// redundantRules returns a diagnostic for each rule that decides and is redundant for all crawlers that it binds.
// useless has the lines of the rules that never decide. It returns nil for a file that is too large, or that has too
// many sets of groups.
func (in *inspector) redundantRules(useless map[int32]bool) (notes []Diagnostic) {
	f := in.report.File
	sets, all := f.bindings(policyToken)
	if !all || f.Truncated { // without a line, more of the rest would be read
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
		candidates := in.dialect.candidates(f.rulesOf(set.groups))
		var says [2][]*candidate // by effect
		for i := range candidates {
			effect := allowFirst(candidates[i].Rule)
			says[effect] = append(says[effect], &candidates[i])
		}
		for which, same := range says {
			// By group; then every rule follows those whose text is a prefix of its own.
			slices.SortFunc(same, func(a, b *candidate) int {
				return cmp.Or(cmp.Compare(n.group[a.Line], n.group[b.Line]), strings.Compare(a.shapes[0].literalPrefix(), b.shapes[0].literalPrefix()),
					cmp.Compare(a.length(), b.length()), cmp.Compare(a.Line, b.Line))
			})
			for from := 0; from < len(same); {
				to := from + 1
				for to < len(same) && n.group[same[to].Line] == n.group[same[from].Line] {
					to++
				}
				n.checkGroup(same[from:to], says[1-which])
				from = to
			}
		}
	}
	for _, note := range n.notes {
		if n.proofs[note.Line] == n.bindings[n.group[note.Line]] {
			notes = append(notes, note)
		}
	}
	return notes
}

// checkGroup records a proof for each redundant rule among the rules of a group with the same effect. same must be
// sorted by text, so that a rule follows those whose text is a prefix of its own. others are the rules of the set with
// the opposite effect.
func (n *redundancy) checkGroup(same, others []*candidate) {
	var wide []*candidate // those with wildcards, which may include any other rule
	for _, r := range same {
		if strings.Contains(r.shapes[0].text, "*") && !n.useless[r.Line] {
			wide = append(wide, r)
		}
	}
	slices.SortStableFunc(wide, func(a, b *candidate) int { return cmp.Compare(b.length(), a.length()) })
	var chain []*candidate // those without, whose text is a prefix of the current rule's text
	for _, r := range same {
		start := r.shapes[0].literalPrefix()
		for len(chain) > 0 && !strings.HasPrefix(start, chain[len(chain)-1].shapes[0].text) {
			chain = chain[:len(chain)-1]
		}
		if n.useless[r.Line] || n.budget < 0 {
			continue
		}
		if w := n.findProof(chain, wide, r, others); w != nil {
			if n.proofs[r.Line]++; n.proofs[r.Line] == 1 {
				n.notes = append(n.notes, Diagnostic{Line: r.Line, Code: codeRedundant, Text: fmt.Sprintf("without it, line %d would decide in the same way: %s", w.Line, quoteRule(w.Rule))})
			}
		}
		if s := &r.shapes[0]; !s.closed && start == s.text {
			chain = append(chain, r)
		}
	}
}

// findProof returns a rule that makes r redundant; nil if there is none, or if the budget is exhausted. It tries chain,
// from the longest, then wide.
func (n *redundancy) findProof(chain, wide []*candidate, r *candidate, others []*candidate) *candidate {
	for i := len(chain) - 1; i >= 0; i-- {
		if n.replaces(chain[i], r, others) {
			return chain[i]
		}
	}
	for _, w := range wide {
		if n.replaces(w, r, others) {
			return w
		}
		if n.budget < 0 {
			break
		}
	}
	return nil
}

// replaces reports whether no verdict would change without r, because w would decide instead. It is false if the budget
// is exhausted, and for rules whose precedence is undefined. others are the rules with the opposite effect.
func (n *redundancy) replaces(w, r *candidate, others []*candidate) bool {
	if n.budget--; n.budget < 0 || w.length() >= r.length() || w.kind != "" || r.kind != "" {
		return false
	}
	for i := range r.shapes {
		f := &r.shapes[i]
		at := slices.IndexFunc(w.shapes, func(g shape) bool { return g.includes(f, &n.budget) })
		if at < 0 || slices.ContainsFunc(others, func(o *candidate) bool { return n.separates(o, &w.shapes[at], r, f) }) {
			return false
		}
	}
	return true
}

// separates reports whether o, which has the opposite effect, may come between r and its replacement in precedence, on
// a path that r matches by its shape f: o loses to r there, and wins over g, the replacement's shape. It is true if the
// budget is exhausted.
func (n *redundancy) separates(o *candidate, g *shape, r *candidate, f *shape) bool {
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

// literalPrefix returns the text of the shape before its first wildcard.
func (f *shape) literalPrefix() string {
	start, _, _ := strings.Cut(f.text, "*")
	return start
}

// startsLike reports whether the texts of two shapes agree up to the first wildcard of either: if not, no path matches
// both.
func (f *shape) startsLike(other *shape) bool {
	a, b := f.literalPrefix(), other.literalPrefix()
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// meets reports whether some path may match both shapes. It may be true without such a path: if the budget is
// exhausted, or if the shapes are too long to compare (maxPair).
func (f *shape) meets(other *shape, budget *int) bool {
	if !f.startsLike(other) {
		return false
	}
	a, b := f.literalPrefix(), other.literalPrefix()
	if a == f.text && b == other.text { // neither has a wildcard
		return a == b || (len(a) >= len(b) || !f.closed) && (len(b) >= len(a) || !other.closed)
	}
	if work := (len(f.text) + 2) * (len(other.text) + 2); work <= maxPair {
		if *budget -= work; *budget >= 0 {
			_, ok := commonPath(f.wholePattern(), other.wholePattern())
			return ok
		}
	}
	return true
}

// wholePattern returns the shape as a pattern that must match all of a path, and where a "$" is an ordinary byte.
func (f *shape) wholePattern() string {
	if f.closed {
		return f.text
	}
	return f.text + "*"
}

// maxPair is the largest product of the lengths of two patterns that are compared.
const maxPair = 1 << 16

// undefinedPairs returns a diagnostic for each rule with a "*" whose precedence over a rule with the opposite effect is
// undefined on some path, see [Undefined]; nil in dialects that define it. The diagnostic names the first such rule and
// the path. Of two rules with a "*", it reports the later one. The path is tried with all rules, so the diagnostic is
// always right; but a pair may be missed if a third rule decides that path, or if the patterns are long. When the
// budget is exhausted, the rest is not searched.
func (d Dialect) undefinedPairs(rules []Rule, budget *int) []Diagnostic {
	if !d.Has(WildcardsUndefined) {
		return nil
	}
	var notes []Diagnostic
	for i := range rules {
		r := &rules[i]
		if !hasWildcard(r.Pattern) {
			continue
		}
		for k := range rules {
			o := &rules[k]
			work := (len(o.Pattern) + 1) * (len(r.Pattern) + 1)
			if o.Allow == r.Allow || hasWildcard(o.Pattern) && o.Line > r.Line || work > maxPair {
				continue // of two rules with a "*", the later one is reported
			}
			if *budget -= work; *budget < 0 {
				return notes
			}
			path, ok := commonPath(wholePath(r.Pattern), wholePath(o.Pattern))
			if !ok {
				continue
			}
			if *budget -= len(rules) * len(path); *budget < 0 {
				return notes
			}
			if Undefined(rules, Decide(rules, []byte(path), d), []byte(path), d) {
				notes = append(notes, Diagnostic{Line: r.Line, Code: codeUndefinedPair, Text: "this dialect defines no precedence between it and line " +
					strconv.Itoa(int(o.Line)) + ": " + quoteRule(o) + "; " + shorten(path) + " matches both"})
				break
			}
		}
	}
	return notes
}

// commonPath returns a path that both patterns match; ok is false if there is none. The patterns must be from
// wholePath, or like them. It is the shortest path if the patterns have no "*" at the same place. Time is proportional
// to the product of the lengths.
func commonPath(a, b string) (path string, ok bool) {
	// dead[i*(len(b)+1)+j]: no text matches both a[i:] and b[j:]
	dead := make([]bool, (len(a)+1)*(len(b)+1))
	var text []byte
	var walk func(i, j int) bool
	walk = func(i, j int) bool {
		at := i*(len(b)+1) + j
		switch {
		case i == len(a) && j == len(b):
			return true
		case dead[at]:
			return false
		case i < len(a) && a[i] == '*' && walk(i+1, j), j < len(b) && b[j] == '*' && walk(i, j+1):
			return true
		}
		if i < len(a) && j < len(b) && (a[i] == b[j]) != (a[i] == '*' || b[j] == '*') {
			c, nextI, nextJ := a[i], i+1, j+1
			if a[i] == '*' {
				c, nextI = b[j], i
			} else if b[j] == '*' {
				nextJ = j
			}
			text = append(text, c)
			if walk(nextI, nextJ) {
				return true
			}
			text = text[:len(text)-1]
		}
		dead[at] = true
		return false
	}
	if !walk(0, 0) {
		return "", false
	}
	if len(text) == 0 || text[0] != '/' {
		return "/" + string(text), true // both start with "*"
	}
	return string(text), true
}

// wholePath returns a pattern that matches the same paths without an anchor: all of a path must match it. It drops the
// "$", or appends a "*".
func wholePath(pattern string) string {
	if body, ok := strings.CutSuffix(pattern, "$"); ok {
		return body
	}
	return pattern + "*"
}
