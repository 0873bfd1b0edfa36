package robots

import (
	"strconv"
	"strings"
)

// maxPair is the largest product of the lengths of two patterns that are looked at together.
const maxPair = 1 << 16

// undefinedPairs returns a diagnostic for each rule with a "*" that leaves the verdict on some path
// undefined together with a rule that says the opposite, see [Undefined]. It names the first such
// rule and a path. A pair is only reported for a path that was tried with all rules, so there are
// no false ones; where the tried path is decided by a third rule, others may be undefined and the
// pair is missed.
func (d Dialect) undefinedPairs(rules []Rule, budget *int) []Diagnostic {
	if !d.Has(WildcardsUndefined) {
		return nil
	}
	var notes []Diagnostic
	for i := range rules {
		if r := &rules[i]; hasWildcard(r.Pattern) {
			if other, path := d.openPair(rules, r, budget); other != nil {
				notes = append(notes, Diagnostic{Line: r.Line, Code: codeUndefinedPair, Text: "this dialect defines no precedence between it and line " +
					strconv.Itoa(int(other.Line)) + ": " + quoted(other) + "; " + shortened(path) + " matches both"})
			}
		}
	}
	return notes
}

// openPair returns the first rule that with r leaves a path undefined, and that path; nil if none
// is found. Of two rules with a "*" the later one is reported.
func (d Dialect) openPair(rules []Rule, r *Rule, budget *int) (other *Rule, path string) {
	for i := range rules {
		o := &rules[i]
		if o.Allow == r.Allow || hasWildcard(o.Pattern) && o.Line > r.Line {
			continue
		}
		work := (len(o.Pattern) + 1) * (len(r.Pattern) + 1)
		if work > maxPair {
			continue
		}
		if *budget -= work; *budget < 0 {
			return nil, ""
		}
		path, ok := common(r.Pattern, o.Pattern)
		if !ok {
			continue
		}
		if *budget -= len(rules) * len(path); *budget < 0 {
			return nil, ""
		}
		if Undefined(rules, Decide(rules, []byte(path), d), []byte(path), d) {
			return o, path
		}
	}
	return nil, ""
}

// common returns a path that both patterns match, as short as can be where they have no "*" at the
// same place; ok is false if there is none. It takes time in proportion to the product of their
// lengths.
func common(a, b string) (path string, ok bool) { return commonPath(closed(a), closed(b)) }

// commonPath does the work of common for patterns of whole paths, which have no anchor.
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

// closed returns the pattern for whole paths: without its "$", or with a "*" for any text behind.
func closed(pattern string) string {
	if body, ok := strings.CutSuffix(pattern, "$"); ok {
		return body
	}
	return pattern + "*"
}
