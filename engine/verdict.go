package engine

// A SiteID names an origin: one of the Store's (an index for [Store.Site]), or, with the stray bit set, an origin
// that has no rules (an index of [Batch.Strays]).
type SiteID uint32

const (
	strayBit SiteID = 1 << 31
	// NoSite is the SiteID of a URL that has no valid origin.
	NoSite SiteID = 1<<32 - 1
)

// Stray reports whether the origin has no rules in the store, and its index in [Batch.Strays] if so.
func (id SiteID) Stray() (int, bool) { return int(id &^ strayBit), id != NoSite && id&strayBit != 0 }

// An Access is the answer. The zero value is Unknown.
type Access uint8

// The values of Access.
const (
	Unknown Access = iota // no answer: a bad URL, or an origin without rules under MissingUnknown
	Denied                // the crawler may not fetch the URL
	Allowed               // the crawler may fetch the URL
)

// String returns "unknown", "denied" or "allowed".
func (a Access) String() string { return [...]string{"unknown", "denied", "allowed"}[a] }

// A Verdict is the answer for one URL and one agent, and why.
type Verdict struct {
	Rule   int32 // index of the winning rule in the site's Ruleset for that agent, see [Ruleset.Rule]; NoRule if none won
	Reason Reason
	Access Access
}

// NoRule is the Rule of a verdict that no rule decided.
const NoRule int32 = -1

// A Reason says what decided a verdict.
type Reason uint8

// The reasons, and no others.
const (
	ReasonRule               Reason = iota // a rule matched
	ReasonDefault                          // the agent has a group, but none of its rules matched
	ReasonNoGroup                          // neither the agent nor "*" has a group
	ReasonNoRobots                         // the origin has no robots.txt in the rules
	ReasonRobotsTxt                        // /robots.txt itself is always allowed (RFC 9309 section 2.2.2)
	ReasonStatus4xx                        // the fetch of robots.txt was answered by a client error
	ReasonUnreachable                      // robots.txt could not be fetched: server or network error
	ReasonUnreachableExpired               // the same, for so long that the restriction has lapsed
	ReasonRedirectLimit                    // too many redirects
	ReasonTooLarge                         // robots.txt is larger than the dialect reads
	ReasonUndefined                        // the specification leaves the case undefined
	ReasonBadURL                           // the URL has no valid origin
	NumReasons               = int(iota)
)

var reasonNames = [NumReasons]string{
	"rule", "default", "no_group", "no_robots", "robots_txt", "status_4xx", "unreachable", "unreachable_expired",
	"redirect_limit", "too_large", "undefined", "bad_url",
}

// String returns the reason as the output column "reason" spells it.
func (r Reason) String() string { return reasonNames[r] }
