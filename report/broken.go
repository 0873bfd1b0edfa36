package report

import (
	"bytes"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/report/internal/findings"
)

// brokenRules count the violations by rule of an origin. A rule that several versions of a text have is one.
type brokenRules struct {
	origin []byte // of the last URL: those of an origin are neighbours
	all    map[string]*findings.Broken
	top    findings.Broken
	off    bool // the rules of some violations are not told apart
}

// addBroken counts the violations of a URL.
func (c *Counter) addBroken(u *aggregate.URL) {
	b := &c.broken
	for i := range u.Requests {
		r := &u.Requests[i]
		k := &c.kinds.all[r.Kind]
		if r.Violations == 0 || k.denies == 0 {
			continue
		}
		by := c.denials.of(k)
		if len(by) != 1 || c.denials.rules[by[0].rule].line < 0 {
			b.off = true
			continue
		}
		rule := &c.denials.rules[by[0].rule]
		if rule.line == 0 {
			continue // no rule denied
		}
		if origin := u.Text[:u.Prefix]; b.all == nil || !bytes.Equal(b.origin, origin) {
			b.end()
			b.origin, b.all = append(b.origin[:0], origin...), map[string]*findings.Broken{}
		}
		one := b.all[rule.text]
		if one == nil {
			one = &findings.Broken{Origin: string(b.origin), Rule: rule.text, Line: rule.line}
			b.all[rule.text] = one
		}
		if one.Violations += r.Violations; one.Line != rule.line {
			one.Line = 0 // it moved
		}
	}
}

// end ends the count of an origin.
func (b *brokenRules) end() {
	for _, one := range b.all {
		if one.Violations > b.top.Violations || one.Violations == b.top.Violations && one.Origin == b.top.Origin && one.Rule < b.top.Rule {
			b.top = *one
		}
	}
}
