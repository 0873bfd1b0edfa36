package robots

import (
	"errors"
	"fmt"
	"strings"
)

// A Dialect is a way to read robots.txt: a set of flags, one for each point in which implementations differ.
// The zero value is the strict standard without percent-decoding; callers use one of the sums below.
type Dialect uint32

// The flags of a Dialect.
const (
	// TypoKeys takes a key by its beginning, common misspellings included: "useragent", "disalow", "allowed".
	// Without it a key is the exact name, in any case.
	TypoKeys Dialect = 1 << iota

	// MissingColon takes white space for the colon in a line of exactly two words: "disallow /x".
	MissingColon

	// LineLimit drops what follows the first 16,663 bytes of a line.
	LineLimit

	// IndexPage lets an Allow rule for an index page, "/d/index.html", hold for its directory "/d/" too.
	IndexPage

	// Fallbacks lets a crawler without a group of its own use the group of its family, see [NewAgent].
	Fallbacks

	// ImplicitRobotsTxt allows /robots.txt itself, whatever the rules (RFC 9309 section 2.2.2).
	ImplicitRobotsTxt

	// FullEscapes brings patterns and URLs into the normal form of RFC 9309 section 2.2.2: unreserved characters are
	// decoded, and bytes that no URL holds are encoded; "%2A" and "%24" in a pattern are a literal "*" and "$"
	// (section 2.2.3). Without it only bytes from 0x80 on are encoded, and hexadecimal digits made upper case.
	FullEscapes

	// WideTokens lets product tokens hold digits and dots, as the names of real crawlers do (MJ12bot). It is an
	// option for every dialect; the standard has letters, "_" and "-" only.
	WideTokens

	// URLAsIs leaves the URL as it is given, patterns being normalised all the same. It is an option for every
	// dialect, for input that is normalised already and for comparison with google/robotstxt.
	URLAsIs
)

// The named dialects.
const (
	// RFC9309 is the standard.
	RFC9309 = ImplicitRobotsTxt | FullEscapes

	// Google reads as github.com/google/robotstxt and Google's documentation of it since 2019.
	Google = TypoKeys | MissingColon | LineLimit | IndexPage | Fallbacks
)

// options are the flags that are no part of a named dialect.
const options = WideTokens | URLAsIs

// dialectNames lists the named dialects in the order in which messages show them.
var dialectNames = []struct {
	name string
	d    Dialect
}{
	{"rfc9309", RFC9309},
	{"google", Google},
}

// ErrDialect is the error of a name that is no dialect's.
var ErrDialect = errors.New("unknown dialect")

// ParseDialect returns the dialect of that name, "rfc9309" or "google". The error wraps [ErrDialect] and lists the
// names there are.
func ParseDialect(name string) (Dialect, error) {
	known := make([]string, 0, len(dialectNames))
	for _, n := range dialectNames {
		if n.name == name {
			return n.d, nil
		}
		known = append(known, n.name)
	}
	return 0, fmt.Errorf("%w %q: use one of %s", ErrDialect, name, strings.Join(known, ", "))
}

// String returns the name of the dialect, whatever its options, or its flags in hexadecimal if it has no name.
func (d Dialect) String() string {
	for _, n := range dialectNames {
		if n.d == d&^options {
			return n.name
		}
	}
	return fmt.Sprintf("dialect(%#x)", uint32(d))
}

// Has reports whether d has all the given flags.
func (d Dialect) Has(flags Dialect) bool { return d&flags == flags }

// AlwaysAllowed reports whether the dialect allows this path whatever the rules: /robots.txt itself, with or without
// a query (RFC 9309 section 2.2.2). The path is one that [Dialect.Path] returned.
func (d Dialect) AlwaysAllowed(path []byte) bool {
	const own = "/robots.txt"
	return d.Has(ImplicitRobotsTxt) && len(path) >= len(own) && string(path[:len(own)]) == own &&
		(len(path) == len(own) || path[len(own)] == '?')
}

// An Agent is a crawler in search of its rules: the names it answers to, in order. Groups of different names are
// never merged: the first name that has a group decides.
type Agent struct {
	Token       ProductToken   // its own name; "" is a crawler that only groups for "*" can name
	Fallbacks   []ProductToken // names tried after Token, before "*"; usually none
	IgnoresStar bool           // it does not heed groups for "*", as Google documents of AdsBot-Google
}

// family is the prefix of the crawlers that, without a group of their own, follow the one of the crawler before
// their last "-": Googlebot-Image follows Googlebot (Google's documentation, order of precedence of user agents).
const family = "googlebot-"

// NewAgent returns the crawler of that name. What follows the product token, such as a version, is cut off; "*" and
// every other name without a token give the crawler that only groups for "*" can name. With the flag [Fallbacks]
// a token that starts with "Googlebot-" falls back to the part before its last "-". The agent heeds "*"; a caller
// who knows better sets IgnoresStar.
func NewAgent(name string, d Dialect) Agent {
	a := Agent{Token: d.token(name)}
	if d.Has(Fallbacks) && hasPrefixFold(string(a.Token), family) {
		parent := a.Token[:strings.LastIndexByte(string(a.Token), '-')]
		a.Fallbacks = []ProductToken{parent}
	}
	return a
}
