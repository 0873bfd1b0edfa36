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
	// typoKeys compares only the beginning of a key, and accepts common misspellings: "useragent", "disalow",
	// "allowed". Without it a key is the exact name, in any case.
	typoKeys Dialect = 1 << iota

	// missingColon reads white space as the colon in a line of exactly two words: "disallow /x".
	missingColon

	// lineLimit reads only the first 16,663 bytes of a line.
	lineLimit

	// indexPage applies an Allow rule for an index page, "/d/index.html", also to its directory "/d/".
	indexPage

	// googleFamily lets a Google crawler without its own group use the group of its family, see [NewAgent].
	googleFamily

	// yandexFamily lets a Yandex crawler without its own group use the group "Yandex", see [NewAgent].
	yandexFamily

	// ImplicitRobotsTxt allows /robots.txt itself, whatever the rules (RFC 9309 section 2.2.2).
	ImplicitRobotsTxt

	// fullEscapes normalises patterns and URLs as RFC 9309 says (section 2.2.2): it decodes unreserved characters,
	// and encodes bytes that are not valid in URLs. "%2A" and "%24" in a pattern are a literal "*" and "$" (section
	// 2.2.3), and count 1. Without this flag, only bytes from 0x80 on are encoded, and hexadecimal digits become
	// upper case.
	fullEscapes

	// assumedSlash puts the "/" before a rule's value that starts with neither "/" nor "*".
	assumedSlash

	// rootedOnly drops rules whose value starts with neither "/" nor "*".
	rootedOnly

	// emptyRules gives a rule without a value the opposite effect of its key: "Disallow:" allows everything, and
	// "Allow:" disallows everything. Both have the pattern "/", of length 1. Without the flag they have no effect.
	emptyRules

	// delayInSection makes Crawl-delay a member of the section, so that it ends a run of user-agent
	// lines as a rule does. Without it the line is not a part of any group (RFC 9309 section 2.2.4).
	delayInSection

	// sectionLimits makes [Inspect] report what Yandex's documentation does not permit, although its crawler may
	// accept it: empty lines in a section, rules of more than 1,024 characters, and more than 2,048 rules.
	sectionLimits

	// openIfTooLarge allows everything if the body is larger than [MaxBytes]. Other dialects read the part that fits.
	openIfTooLarge

	// openUnlessOK allows everything unless the fetch, after redirects, returned 200; see [History.Outcome]. Without
	// it, every 2xx has rules, and server and network errors disallow everything.
	openUnlessOK

	// lapses ends the effect of server and network errors after 30 days, see [History.Outcome].
	lapses

	// WildcardsUndefined leaves the precedence of rules with a "*" undefined. If that changes the verdict, the rule
	// that other dialects prefer decides, with its own reason; see [Undefined].
	WildcardsUndefined

	// WideTokens permits digits and dots in product tokens, because real names have them (MJ12bot). It is an option
	// for every dialect; the standard permits only letters, "_" and "-".
	WideTokens

	// URLAsIs does not normalise URLs, only patterns. It is an option of every dialect, for input that is already
	// normalised and for comparison with google/robotstxt.
	URLAsIs

	// EmptyAllowIgnored restricts emptyRules to "Disallow:", as Yandex did later. It is an option for the dialect
	// yandex.
	EmptyAllowIgnored

	// habits follows what operators document for single crawlers: some ignore groups for "*", and some obey groups of
	// other crawlers; see [NewAgent].
	habits

	// trailingStarIgnored drops every "*" at the end of a pattern, also from its length: "/fish*" is "/fish", and
	// "/*" is "/".
	trailingStarIgnored

	// wholeNames ignores a user-agent line with white space inside its value. Without it the line names the crawler of
	// its first word.
	wholeNames

	// literalLength excludes every "*" and a final "$" from the length of a pattern, see [Dialect.Length].
	literalLength

	// prefixLength is another reading of literalLength: the length of a pattern is the number of bytes before the
	// first "*" or the final "$". It is only for [Dialect.Readings].
	prefixLength
)

// The named dialects.
const (
	// RFC9309 is the standard.
	RFC9309 = ImplicitRobotsTxt | fullEscapes | lapses

	// Google follows github.com/google/robotstxt and its documentation since 2019.
	Google = typoKeys | missingColon | lineLimit | indexPage | googleFamily | habits | lapses

	// Google2010 follows Google's documentation before 2019, when no source code was public.
	Google2010 = googleFamily | habits | assumedSlash | WildcardsUndefined | trailingStarIgnored

	// Yandex follows Yandex's documentation. For lengths and names with white space, which it does not define, it
	// follows the answers of Yandex's own robots.txt tester in July 2026.
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

// errDialect is the error for an unknown dialect.
var errDialect = errors.New("unknown dialect")

// ParseDialect returns the dialect of that name: "rfc9309", "google", "google-2010" or "yandex". The error wraps
// errDialect and lists the known names.
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

// String returns the name of the dialect without its options. A dialect without a name is dialect(0x…), with its flags
// in hexadecimal.
func (d Dialect) String() string {
	for _, n := range dialectNames {
		if d &^= options; n.d == d || n.d|habits == d { // see Readings
			return n.name
		}
	}
	return fmt.Sprintf("dialect(%#x)", uint32(d))
}

// OpensUnlessOK reports whether everything is allowed in the dialect unless the response to robots.txt is 200.
func (d Dialect) OpensUnlessOK() bool { return d.Has(openUnlessOK) }

// Has reports whether d has all the given flags.
func (d Dialect) Has(flags Dialect) bool { return d&flags == flags }

// AlwaysAllowed reports whether the dialect allows this path regardless of the rules: /robots.txt itself, with or
// without a query (RFC 9309 section 2.2.2). The path is one that [Dialect.Path] returned.
func (d Dialect) AlwaysAllowed(path []byte) bool {
	return d.Has(ImplicitRobotsTxt) && IsTxt(path)
}

// IsTxt reports whether a path, in normal form or as it is written, names a robots.txt itself, with or without a query
// and a fragment.
func IsTxt(path []byte) bool {
	if len(path) < len(TxtPath) || string(path[:len(TxtPath)]) != TxtPath {
		return false
	}
	return len(path) == len(TxtPath) || path[len(TxtPath)] == '?' || path[len(TxtPath)] == '#'
}

// An Agent is the ordered list of names by which a crawler finds its group. The first name that has a group decides;
// groups of different names are never merged.
type Agent struct {
	Token       ProductToken   // its own name; "" if only groups for "*" can apply
	Fallbacks   []ProductToken // names tried after Token, before "*"; usually none
	IgnoresStar bool           // it ignores groups for "*", as Google documents for AdsBot-Google
}

// googlePrefix is the prefix of crawlers that fall back to the name before their last "-" if they have no group:
// Googlebot-Image falls back to Googlebot (Google's documentation, order of precedence of user agents).
const googlePrefix = "googlebot-"

// yandexPrefix is the prefix of crawlers that fall back to this name if they have no group: all of Yandex's crawlers
// (Yandex's documentation of User-agent).
const yandexPrefix = "yandex"

// NewAgent returns the crawler of that name. It ignores text after the product token, such as a version. For "*" and
// other names without a token, only groups for "*" apply to the crawler. With the flag googleFamily, a token that
// starts with "Googlebot-" falls back to the part before its last "-". With yandexFamily one that starts with
// "Yandex" falls back to that. A token that is an alias by package crawlers falls back to the crawler that sends it.
// With habits, the agent may ignore groups for "*", or fall back to the group of another crawler, as listed in that
// package.
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

// documented lists the dialects that operators document for their own crawlers, if this affects the choice of the
// group.
var documented = map[string]Dialect{"Yandex": Yandex}

// DocumentedAgent returns the agent of that name in the dialect that its operator documents, and that dialect with
// WideTokens and URLAsIs as in d. ok is false if no such dialect is known, or if d is that dialect; the other results
// are then meaningless.
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

// Dialects returns the names that [ParseDialect] accepts, in the order that messages and help show them. The caller
// owns the list.
func Dialects() []string {
	names := make([]string, len(dialectNames))
	for i, n := range dialectNames {
		names[i] = n.name
	}
	return names
}
