package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/internal/witness"
	"github.com/robobatch/robobatch/robots"
)

// A site is the robots.txt of an origin on both sides; nil if a side has no rules for it.
type site struct{ old, now *readRules }

// readRules is a robots.txt that was read.
type readRules struct {
	*robots.File
	said    *robots.Preferences
	dialect robots.Dialect
	hash    string // of its bytes
}

// kinds is the number of kinds of claims: Allow, Disallow, and the sources of preferences.
const kinds = 1 + int(robots.NumSources)

// A claims holds the rules and preferences that bind a crawler, by kind, sorted and without duplicates. If two
// robots.txt files have equal claims for a crawler, all their answers for it are equal.
type claims [kinds][]witness.Claim

// claims returns the rules and preferences that bind a crawler; none if r is nil. An Allow rule with an index pattern
// (see [robots.Dialect.IndexPattern]) gives two claims.
func (r *readRules) claims(a robots.Agent) (all claims) {
	if r == nil {
		return all
	}
	rules, _ := r.Select(a)
	for _, rule := range rules {
		if rule.Pattern != "" {
			all[0] = append(all[0], claimOf(rule))
			if index, ok := r.dialect.IndexPattern(rule); ok {
				all[0] = append(all[0], witness.Claim{Pattern: index, Says: all[0][len(all[0])-1].Says})
			}
		}
	}
	for s, statements := range r.said.Select(a) {
		for i := range statements {
			all[1+s] = append(all[1+s], statementClaim(&statements[i]))
		}
	}
	for k := range all {
		slices.SortFunc(all[k], witness.Compare)
		all[k] = slices.Compact(all[k])
	}
	return all
}

// claimOf returns a rule as a claim.
func claimOf(r robots.Rule) witness.Claim {
	return witness.Claim{Pattern: r.Pattern, Says: map[bool]string{true: "allow", false: "disallow"}[r.Allow]}
}

// statementClaim returns a statement as a claim.
func statementClaim(u *robots.Statement) witness.Claim {
	return witness.Claim{Pattern: u.Pattern, Says: fmt.Sprint(u.Uses, u.How)} // "" is shorter than "/"
}

// equal reports whether claims are the same.
func (c *claims) equal(o *claims) bool {
	for k := range c {
		if !slices.Equal(c[k], o[k]) {
			return false
		}
	}
	return true
}

// sides returns the old and new claims of each kind that differs for a crawler, with the patterns of other kinds on
// which the answer also depends. It leaves out crawlers with the same claims as an earlier one. The result is nil if
// nothing differs.
func (s *site) sides(agents []robots.Agent) (all []witness.Sides) {
	var known [][2]claims
	for _, a := range agents {
		old, now := s.old.claims(a), s.now.claims(a)
		if old.equal(&now) || slices.ContainsFunc(known, func(k [2]claims) bool { return k[0].equal(&old) && k[1].equal(&now) }) {
			continue
		}
		known = append(known, [2]claims{old, now})
		for k := range old {
			if side := (witness.Sides{Old: old[k], New: now[k]}); !slices.Equal(old[k], now[k]) {
				// All sources contribute to an answer about a use, and some sources count only for URLs that are
				// allowed.
				for _, c := range slices.Concat(old[1:], now[1:]) {
					side.With = append(side.With, patternsOf(c)...)
				}
				if k > 0 {
					side.With = append(side.With, patternsOf(slices.Concat(old[0], now[0]))...)
				}
				slices.Sort(side.With)
				side.With = slices.Compact(side.With)
				all = append(all, side)
			}
		}
	}
	return all
}

// patternsOf returns the patterns of claims.
func patternsOf(claims []witness.Claim) (patterns []string) {
	for _, c := range claims {
		patterns = append(patterns, c.Pattern)
	}
	return patterns
}

// noFile replaces the hash of a robots.txt that does not exist.
const noFile = "none"

// rulesHash returns a hash of the meaning of a robots.txt for these crawlers and those that it names; noFile if r is
// nil. Comments and the order of lines do not affect the hash.
func (r *readRules) rulesHash(agents []robots.Agent) string {
	if r == nil {
		return noFile
	}
	names := []string{"*"}
	add := func(g *robots.Group) {
		for _, token := range g.Agents {
			names = append(names, strings.ToLower(string(token)))
		}
	}
	for i := range r.Groups {
		add(&r.Groups[i])
	}
	for i := range r.said.Groups {
		add(&r.said.Groups[i].Group)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, a := range agents {
		fmt.Fprintf(sum, "%q %q\n", a.Token, r.claims(a))
	}
	for _, name := range slices.Compact(names) {
		fmt.Fprintf(sum, "%q %q\n", name, r.claims(robots.NewAgent(name, r.dialect)))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// bindingName returns the name in the User-agent line that binds a crawler; "" if no line binds it. far is the
// distance of that name from the crawler's own: 0 for the same name, 1 for the first fallback, and so on; it is
// larger for "*", and largest for "".
func (r *readRules) bindingName(a robots.Agent) (name string, far int) {
	tokens := append([]robots.ProductToken{a.Token}, a.Fallbacks...)
	groups := r.Binding(a)
	for i, t := range tokens {
		for _, g := range groups {
			if r.Groups[g].Names(t) {
				return string(t), i
			}
		}
	}
	if len(groups) > 0 {
		return "*", len(tokens)
	}
	return "", len(tokens) + 1
}
