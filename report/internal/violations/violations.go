// Package violations counts the violations by rule of an origin, and finds the rule that was broken most. Packages report and findings import it.
package violations

import "bytes"

// Rules count the violations by rule. A rule that several versions of a text have is one. The zero value is none.
type Rules struct {
	Off bool // the rules of some violations are not told apart

	origin []byte // of the last violation: those of an origin are neighbours
	all    map[string]*Broken
	most   Broken
}

// A Broken is a rule that crawlers broke.
type Broken struct {
	Origin, Rule string
	Line         int32 // 0 if versions of the text have it in several
	Violations   int64
}

// AddViolations counts violations of a rule.
func (r *Rules) AddViolations(origin []byte, rule string, line int32, violations int64) {
	if r.all == nil || !bytes.Equal(r.origin, origin) {
		r.endOrigin()
		r.origin, r.all = append(r.origin[:0], origin...), map[string]*Broken{}
	}
	one := r.all[rule]
	if one == nil {
		one = &Broken{Origin: string(r.origin), Rule: rule, Line: line}
		r.all[rule] = one
	}
	if one.Violations += violations; one.Line != line {
		one.Line = 0 // it moved
	}
}

// Most returns the rule with the most violations, after the last; the zero value if there is none, or if rules are not told apart.
func (r *Rules) Most() Broken {
	if r.endOrigin(); r.Off {
		return Broken{}
	}
	return r.most
}

// endOrigin ends the count of an origin.
func (r *Rules) endOrigin() {
	for _, one := range r.all {
		if one.Violations > r.most.Violations || one.Violations == r.most.Violations && one.Origin == r.most.Origin && one.Rule < r.most.Rule {
			r.most = *one
		}
	}
}
