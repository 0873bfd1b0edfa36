package robots

import (
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/crawlers"
)

// An inheritance finds groups whose authors may assume that the rules for "*" also apply to their crawlers.
type inheritance struct {
	dialect Dialect
	file    *File
	lines   map[string]int32 // see inspector
	star    []Rule           // the rules for "*"
	read    bool             // closing and forbid are set
	closing *Rule            // the rule for "*" that disallows everything; nil if there is none
	forbid  []forbidding     // the other rules for "*" that disallow something
	budget  int
}

// A forbidding is a Disallow rule, with paths that it disallows.
type forbidding struct {
	rule  *Rule
	key   string // of its shape
	paths [][]byte
}

// inherit reports groups for named crawlers that allow paths which the rules for "*" disallow, unless that seems
// intended: the group allows everything, has only an empty Disallow, repeats rules for "*", or has its own rules at a
// site that is closed to others.
func (in *inspector) inherit() {
	f := in.report.File
	h := inheritance{dialect: in.dialect, file: f, lines: in.lines, budget: maxCovered}
	for i := range f.Groups {
		if f.Groups[i].Star {
			h.star = append(h.star, f.Groups[i].Rules...)
		}
	}
	if len(h.star) == 0 {
		return
	}
	sets, _ := f.bindings()
	for _, set := range sets {
		names := h.heirs(set)
		if len(names) == 0 {
			continue
		}
		if lost := h.lost(f.merged(set.groups)); len(lost) > 0 {
			in.note(h.lines[strings.ToLower(string(names[0]))], codeNotInherited, "the rules for * do not bind %s: %s", namesText(names), rulesText(lost))
		}
	}
}

// heirs returns the names of a set to which the rules for "*" would apply without these groups.
func (h *inheritance) heirs(set binding) (names []ProductToken) {
	for _, g := range set.groups {
		if h.file.Groups[g].Star {
			return nil
		}
	}
	for _, name := range set.agents {
		c, _ := crawlers.Lookup(string(name))
		a := NewAgent(string(name), h.dialect)
		if c.Unbound || a.IgnoresStar || a.Token == "" {
			continue
		}
		for _, other := range a.Fallbacks {
			if h.lines[strings.ToLower(string(other))] > 0 {
				a.IgnoresStar = true // it would obey that group
			}
		}
		if !a.IgnoresStar {
			names = append(names, name)
		}
	}
	return names
}

// lost returns the rules for "*" that do not apply to the crawlers of a group; none if that seems intended.
func (h *inheritance) lost(rules []Rule) (lost []*Rule) {
	own := map[string]bool{} // the patterns of its Disallow rules
	for i := range rules {
		s := shapeOf(rules[i].Pattern)
		if rules[i].Allow && s.text == "/" && !s.closed {
			return nil
		}
		if !rules[i].Allow {
			own[s.key()] = true
		}
	}
	if len(rules) == 0 {
		return nil
	}
	if !h.read {
		h.read = true
		h.closing, _ = h.dialect.closing(h.star, &h.budget)
		starWork := workOf(h.star)
		for i := range h.star {
			r := &h.star[i]
			paths, shape := examples(r.Pattern), shapeOf(r.Pattern)
			if h.closing == nil && !r.Allow && h.decideAll(h.star, starWork, paths, false) {
				h.forbid = append(h.forbid, forbidding{r, shape.key(), paths})
			}
		}
	}
	switch {
	case h.closing != nil && len(own) > 0:
		return nil
	case h.closing != nil:
		return []*Rule{h.closing}
	}
	work := workOf(rules)
	for _, s := range h.forbid {
		if own[s.key] {
			return nil
		}
		if h.decideAll(rules, work, s.paths, true) {
			lost = append(lost, s.rule)
		}
	}
	return lost
}

// decideAll reports whether rules allow all paths, or forbid all of them; false if the budget is gone.
func (h *inheritance) decideAll(rules []Rule, work int, paths [][]byte, allow bool) bool {
	for _, path := range paths {
		if h.budget -= work * len(path); h.budget < 0 {
			return false
		}
		i := Decide(rules, path, h.dialect)
		if (i < 0 || rules[i].Allow) != allow || Undefined(rules, i, path, h.dialect) {
			return false
		}
	}
	return len(paths) > 0
}

// workOf returns the cost of [Decide] for these rules, per byte of a path.
func workOf(rules []Rule) (work int) {
	for i := range rules {
		if work++; hasWildcard(rules[i].Pattern) {
			work += len(rules[i].Pattern)
		}
	}
	return work
}

// maxExample is the longest pattern that [examples] are made of.
const maxExample = 1024

// examples returns paths that a pattern matches: the shortest and, if there is one, a longer one. Each "*" is an x in
// them. There is none for a pattern that no path matches, or one that is very long.
func examples(pattern string) (paths [][]byte) {
	text, closed := strings.CutSuffix(pattern, "$")
	if len(text) > maxExample || text == "" {
		return nil
	}
	text = strings.ReplaceAll(text, "*", "x")
	if text[0] != '/' {
		text = "/" + text
	}
	paths = [][]byte{[]byte(text)}
	if !closed {
		paths = append(paths, []byte(text+"x"))
	}
	if !matches(pattern, paths[0]) {
		return nil
	}
	return paths
}

// maxNamedRules is the number of rules a text names.
const maxNamedRules = 3

// rulesText returns the first of some rules, and the number of the others.
func rulesText(rules []*Rule) string {
	named := rules[:min(len(rules), maxNamedRules)]
	parts := make([]string, 0, maxNamedRules)
	for _, r := range named {
		parts = append(parts, "line "+strconv.Itoa(int(r.Line))+" "+quoted(r))
	}
	text := strings.Join(parts, ", ")
	switch n := len(rules) - maxNamedRules; {
	case n == 1:
		text += " and another"
	case n > 1:
		text += " and " + strconv.Itoa(n) + " more"
	}
	return text
}
