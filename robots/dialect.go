package robots

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/crawlers"
)

// A Dialect is a way to read robots.txt: a set of flags, one for each point where
// implementations differ. The zero value is the strict standard without percent-decoding; callers
// use one of the sums below.
type Dialect uint32

// The flags of a Dialect.
const (
	// typoKeys takes a key by its beginning, common misspellings included: "useragent", "disalow",
	// "allowed". Without it a key is the exact name, in any case.
	typoKeys Dialect = 1 << iota

	// missingColon reads white space as the colon in a line of exactly two words: "disallow /x".
	missingColon

	// lineLimit drops all but the first 16,663 bytes of a line.
	lineLimit

	// indexPage lets an Allow rule for an index page, "/d/index.html", hold for its directory "/d/"
	// too.
	indexPage

	// googleFamily lets a Google crawler without its own group use the group of its family, see [NewAgent].
	googleFamily

	// yandexFamily lets a Yandex crawler without its own group use the group "Yandex", see [NewAgent].
	yandexFamily

	// ImplicitRobotsTxt allows /robots.txt itself, whatever the rules (RFC 9309 section 2.2.2).
	ImplicitRobotsTxt

	// fullEscapes normalises patterns and URLs as RFC 9309 says (section 2.2.2): it decodes unreserved
	// characters, and encodes bytes that no URL may hold. "%2A" and "%24" in a pattern are a literal
	// "*" and "$" (section 2.2.3), and count 1. Without this flag, only bytes from 0x80 on are encoded, and
	// hexadecimal digits become upper case.
	fullEscapes

	// assumedSlash puts the "/" before a rule's value that starts with neither "/" nor "*".
	assumedSlash

	// rootedOnly drops rules whose value starts with neither "/" nor "*".
	rootedOnly

	// emptyRules gives a rule without a value a meaning, the opposite of its key: "Disallow:" allows
	// everything, and "Allow:" nothing. Both are a pattern "/", of length 1. Without it they have no
	// effect.
	emptyRules

	// delayInSection makes Crawl-delay a member of the section, so that it ends a run of user-agent
	// lines as a rule does. Without it the line is not a part of any group (RFC 9309 section 2.2.4).
	delayInSection

	// sectionLimits has [Inspect] report the things that Yandex's documentation forbids and its robot is not
	// known to mind: empty lines in a section, rules of more than 1,024 characters, and more than
	// 2,048 rules.
	sectionLimits

	// openIfTooLarge allows everything if the body is over [MaxBytes], where others read the part that
	// fits.
	openIfTooLarge

	// openUnlessOK allows everything unless the fetch was answered by 200, redirects followed, see
	// [History.Outcome]. Without it every 2xx has rules, and server and network errors forbid
	// everything.
	openUnlessOK

	// lapses ends the restriction by server and network errors after 30 days, see [History.Outcome].
	lapses

	// WildcardsUndefined leaves the precedence of rules with a "*" undefined. If that changes the verdict, the rule
	// that other dialects prefer decides, with its own reason; see [Undefined].
	WildcardsUndefined

	// WideTokens lets product tokens hold digits and dots, as the names of real crawlers do (MJ12bot).
	// It is an option for every dialect; the standard has letters, "_" and "-" only.
	WideTokens

	// URLAsIs does not normalise URLs, only patterns. It is an option of every dialect, for input that is already
	// normalised and for comparison with google/robotstxt.
	URLAsIs

	// EmptyAllowIgnored takes from emptyRules the part about "Allow:", as Yandex has done later. It
	// is an option for the dialect yandex.
	EmptyAllowIgnored

	// habits follows the operators' documentation of single crawlers beyond the order of their names:
	// groups for "*" that do not bind them, and groups of other crawlers that do, see [NewAgent].
	habits

	// trailingStarIgnored drops every "*" at the end of a pattern, so that it does not count for the
	// length either: "/fish*" is "/fish", and "/*" is "/".
	trailingStarIgnored

	// wholeNames ignores a user-agent line with white space inside its value. Without it the line names the crawler of
	// its first word.
	wholeNames

	// literalLength leaves every "*" and the "$" at the end out of the length of a pattern, see
	// [Dialect.Length].
	literalLength

	// prefixLength is another reading of literalLength: the length of a pattern is that of its bytes before the first
	// "*", or the "$" at the end. It is only for [Dialect.Readings].
	prefixLength
)

// The named dialects.
const (
	// RFC9309 is the standard.
	RFC9309 = ImplicitRobotsTxt | fullEscapes | lapses

	// Google reads as github.com/google/robotstxt and Google's documentation of it since 2019.
	Google = typoKeys | missingColon | lineLimit | indexPage | googleFamily | habits | lapses

	// Google2010 reads as Google's documentation before 2019, when no source code was public.
	Google2010 = googleFamily | habits | assumedSlash | WildcardsUndefined | trailingStarIgnored

	// Yandex reads as Yandex's documentation, and where that is silent as Yandex's own tester of robots.txt
	// answered in July 2026: lengths, and names with white space.
	Yandex = yandexFamily | habits | rootedOnly | emptyRules | delayInSection | sectionLimits | openIfTooLarge | openUnlessOK |
		wholeNames | literalLength
)

// options are the flags that are not part of a named dialect.
const options = WideTokens | URLAsIs | EmptyAllowIgnored | prefixLength

// dialectNames lists the named dialects in the order that messages show them.
var dialectNames = []struct {
	name string
	d    Dialect
}{
	{"rfc9309", RFC9309},
	{"google", Google},
	{"google-2010", Google2010},
	{"yandex", Yandex},
}

// errDialect is the error of a name that is not a dialect's.
var errDialect = errors.New("unknown dialect")

// ParseDialect returns the dialect of that name: "rfc9309", "google", "google-2010" or "yandex".
// The error wraps errDialect and lists the names there are.
func ParseDialect(name string) (Dialect, error) {
	known := make([]string, 0, len(dialectNames))
	for _, n := range dialectNames {
		if n.name == name {
			return n.d, nil
		}
		known = append(known, n.name)
	}
	return 0, fmt.Errorf("%w %q: use one of %s", errDialect, name, strings.Join(known, ", "))
}

// String returns the name of the dialect, whatever its options, or its flags in hexadecimal if it
// has no name.
func (d Dialect) String() string {
	for _, n := range dialectNames {
		if d &^= options; n.d == d || n.d|habits == d { // see Readings
			return n.name
		}
	}
	return fmt.Sprintf("dialect(%#x)", uint32(d))
}

// OpensUnlessOK reports whether a site is open to readers of the dialect unless its robots.txt is answered with 200.
func (d Dialect) OpensUnlessOK() bool { return d.Has(openUnlessOK) }

// Has reports whether d has all the given flags.
func (d Dialect) Has(flags Dialect) bool { return d&flags == flags }

// AlwaysAllowed reports whether the dialect allows this path regardless of the rules: /robots.txt itself, with or
// without a query (RFC 9309 section 2.2.2). The path is one that [Dialect.Path] returned.
func (d Dialect) AlwaysAllowed(path []byte) bool {
	return d.Has(ImplicitRobotsTxt) && IsTxt(path)
}

// IsTxt reports whether a path, in normal form or as it is written, names a robots.txt itself, with or without a query and a
// fragment.
func IsTxt(path []byte) bool {
	if len(path) < len(TxtPath) || string(path[:len(TxtPath)]) != TxtPath {
		return false
	}
	return len(path) == len(TxtPath) || path[len(TxtPath)] == '?' || path[len(TxtPath)] == '#'
}

// An Agent is a crawler in search of its rules: the names it answers to, in order. Groups of
// different names are never merged: the first name that has a group decides.
type Agent struct {
	Token       ProductToken   // its own name; "" is a crawler that only groups for "*" can name
	Fallbacks   []ProductToken // names tried after Token, before "*"; usually none
	IgnoresStar bool           // it does not heed groups for "*", as Google documents of AdsBot-Google
}

// googlePrefix is the prefix of the crawlers that, without a group of their own, follow the one of
// the crawler before their last "-": Googlebot-Image follows Googlebot (Google's documentation,
// order of precedence of user agents).
const googlePrefix = "googlebot-"

// yandexPrefix is the prefix of the crawlers that, without a group of their own, follow the one of
// that name: all of Yandex's (Yandex's documentation of User-agent).
const yandexPrefix = "yandex"

// NewAgent returns the crawler of that name. The text after the product token, such as a version, is cut off. "*" and
// every other name without a token give the crawler that only groups for "*" can name. With the flag googleFamily a
// token that starts with "Googlebot-" falls back to the part before its last "-". With yandexFamily one that starts
// with "Yandex" falls back to that. A token that is an alias by package crawlers falls back to the crawler that sends
// it. With habits the agent does as that package says: it ignores groups for "*", or falls back to the group of another
// crawler.
func NewAgent(name string, d Dialect) Agent {
	a := Agent{Token: d.token(name)}
	token := string(a.Token)
	switch {
	case d.Has(googleFamily) && hasPrefixFold(token, googlePrefix):
		a.Fallbacks = []ProductToken{a.Token[:strings.LastIndexByte(token, '-')]}
	case d.Has(yandexFamily) && hasPrefixFold(token, yandexPrefix) && len(token) > len(yandexPrefix):
		a.Fallbacks = []ProductToken{a.Token[:len(yandexPrefix)]}
	}
	token, _, _ = strings.Cut(name, "/")
	c, ok := crawlers.Lookup(token)
	if ok && c.AliasOf != "" {
		a.Fallbacks = append(a.Fallbacks, d.token(c.AliasOf))
	}
	if !ok || !d.Has(habits) {
		return a
	}
	a.IgnoresStar = c.IgnoresStar
	if c.Fallback != "" {
		a.Fallbacks = append(a.Fallbacks, d.token(c.Fallback))
	}
	return a
}

// documented are the dialects that operators document of their own crawlers, where these choose groups by the names of the operator.
var documented = map[string]Dialect{"Yandex": Yandex}

// DocumentedAgent returns the crawler of that name as [NewAgent] does in the dialect that its operator documents, with that
// dialect, which has the options of d. It is false if the operator documents none that is known here, or d is that dialect.
func DocumentedAgent(name string, d Dialect) (a Agent, own Dialect, ok bool) {
	token, _, _ := strings.Cut(name, "/")
	c, _ := crawlers.Lookup(token)
	own, ok = documented[c.Operator]
	if !ok || own == d&^options {
		return a, own, false
	}
	own |= d & (WideTokens | URLAsIs)
	return NewAgent(name, own), own, true
}
