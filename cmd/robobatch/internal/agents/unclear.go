package agents

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/robots"
)

// Named are the product tokens that groups of the rules name.
type Named struct {
	Tokens   []robots.ProductToken
	Complete bool // there are no others
}

// NeedNamed reports whether Unclear needs the product tokens of the rules: some name is of no known
// crawler.
func NeedNamed(asked []string, d robots.Dialect) bool { return len(unknown(asked, d)) > 0 }

// unknown returns the names that are of no known crawler.
func unknown(asked []string, d robots.Dialect) []string {
	return slices.DeleteFunc(slices.Clone(asked), func(name string) bool {
		return robots.NewAgent(name, d).Token == "" || isKnown(productOf(name))
	})
}

// Unclear returns a warning if names that were asked for may be misspelt: no crawler is known by such a
// name, no group of the rules names it, and a name that is known, or named there, is alike. A name
// of one's own crawler, which is like no other, is none.
func Unclear(asked []string, d robots.Dialect, named Named) []warning.Warning {
	table := crawlers.Set("all")
	known, inRules := make([]word, 0, len(table)), make([]word, 0, len(named.Tokens))
	for _, c := range table {
		known = append(known, newWord(c.Token))
	}
	for _, t := range named.Tokens {
		inRules = append(inRules, newWord(string(t)))
	}
	result := warning.Warning{Code: warning.UnclearAgent}
	for _, name := range unknown(asked, d) {
		token := robots.NewAgent(name, d).Token
		if slices.ContainsFunc(named.Tokens, token.Equal) {
			continue
		}
		near := closest(newWord(productOf(name)), known)
		if near == "" {
			near = closest(newWord(string(token)), inRules)
		}
		if near == "" {
			continue
		}
		if result.Count++; result.Count <= warning.Examples {
			result.Examples = append(result.Examples, fmt.Sprintf("%q: did you mean %s?", name, near))
		}
	}
	if result.Count == 0 {
		return nil
	}
	result.Text = "a name that is asked for may be misspelt: no crawler is known by it"
	if named.Complete {
		result.Text += ", and no robots.txt in -rules names it"
	}
	return []warning.Warning{result}
}

// productOf returns a name up to its first slash: "Googlebot/2.1" is "Googlebot".
func productOf(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}

// wellKnown are crawlers that package crawlers does not know, and whose names are like one that it
// knows. Of 2,561 real robots.txt, 8 and 21 name them.
var wellKnown = []string{"Roverbot", "spbot"}

// isKnown reports whether a crawler has that name.
func isKnown(name string) bool {
	_, token := crawlers.Lookup(name)
	_, header := crawlers.Identify([]byte(name))
	return token || header || slices.ContainsFunc(wellKnown, func(w string) bool { return strings.EqualFold(w, name) })
}

// A word is a name that is compared with others.
type word struct {
	name    string // as written
	plain   string // in lower case and without hyphens
	letters uint32 // bit set of those in plain
}

// newWord returns the word of a name.
func newWord(name string) word {
	w := word{name: name, plain: hyphens.Replace(strings.ToLower(name))}
	for _, b := range []byte(w.plain) {
		w.letters |= 1 << (b % 32)
	}
	return w
}

// hyphens separate the parts of a name.
var hyphens = strings.NewReplacer("-", "", "_", "", ".", "")

// closest returns the first of the known names that a name is like, "" if there is none.
func closest(w word, known []word) string {
	for i := range known {
		if alike(&w, &known[i]) {
			return known[i].name
		}
	}
	return ""
}

// kinds are how names of crawlers end. So many do that it makes none alike.
var kinds = []string{"bot", "spider", "crawler"}

// Names whose rest without the kind has so many letters are alike if they differ in one letter, or
// in two; shorter ones only if they have the same letters.
const (
	oneLetter  = 4
	twoLetters = 8
)

// alike reports whether a name may be meant as a known one. They differ in hyphens, in a letter that
// is doubled or exchanged with the one beside it, or in a few letters of a name that is long enough.
// Of 2,348 names in real robots.txt, ten are like one that package crawlers knows, and only those in
// wellKnown are crawlers of that name.
func alike(w, known *word) bool {
	const most = 2 // letters in which they differ
	a, b := w.plain, known.plain
	if len(a) < 3 || len(b) < 3 || max(len(a), len(b))-min(len(a), len(b)) > most || bits.OnesCount32(w.letters^known.letters) > 2*most {
		return false
	}
	rest := b
	for _, kind := range kinds {
		if cut, ok := strings.CutSuffix(b, kind); ok && cut != "" {
			rest = cut
			break
		}
	}
	switch d := cli.Distance(a, b); {
	case d == 0:
		return true // but for hyphens
	case len(rest) >= twoLetters:
		return d <= most
	case len(rest) >= oneLetter:
		return d == 1
	default:
		return d == 1 && w.letters == known.letters
	}
}
