package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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

// meets reports whether some path may match both shapes. It spends the budget, and reports true when that
// is gone.
func (f *shape) meets(other *shape, budget *int) bool {
	a, b := f.start(), other.start()
	if !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) {
		return false
	}
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
