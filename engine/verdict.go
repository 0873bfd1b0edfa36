package engine

import (
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/preference"
	"github.com/robobatch/robobatch/robots"
)

// A SiteID identifies an origin: one that the Store knows, from 0 to [Store.NumSites]-1, or, if the stray bit is
// set, one without rules (the rest is an index of [Batch.Strays]).
type SiteID uint32

const (
	strayBit SiteID = 1 << 31
	// NoSite is the SiteID of a URL that has no valid origin.
	NoSite SiteID = 1<<32 - 1
)

// Stray reports whether the origin has no rules in the store, and returns its index in [Batch.Strays].
func (id SiteID) Stray() (int, bool) { return int(id &^ strayBit), id != NoSite && id&strayBit != 0 }

// A RulingID identifies the ruling in force for a row: rules, or the outcome of a fetch instead of rules. Sites
// with the same text have the same RulingID, and the RulingID of a site changes in the course of time. Use
// [Lookup.Rule] and [Lookup.FirstAgent] with it.
type RulingID = rules.RulingID

// An Access is the answer. The zero value is Unknown. String returns "unknown", "denied" or
// "allowed".
type Access = rules.Access

// The values of Access.
const (
	Unknown = rules.Unknown // no answer: a bad URL, or an origin without rules under MissingUnknown
	Denied  = rules.Denied  // the crawler may not fetch the URL
	Allowed = rules.Allowed // the crawler may fetch the URL
)

// A Verdict is the answer for one URL and one agent, and why.
type Verdict struct {
	Rule   int32 // number of the winning rule, for [Lookup.Rule]; NoRule if none won
	Reason Reason
	Access Access
}

// NoRule is the Rule of a verdict that was not decided by a rule.
const NoRule = rules.NoRule

// A Reason says how a verdict was decided. String returns it as the output column "reason" spells it.
type Reason = rules.Reason

// The values of Reason.
const (
	ReasonRule               = rules.ReasonRule               // a rule matched
	ReasonDefault            = rules.ReasonDefault            // no rule of the agent matched
	ReasonNoGroup            = rules.ReasonNoGroup            // no group binds the agent
	ReasonNoRobots           = rules.ReasonNoRobots           // the rules lack its robots.txt
	ReasonRobotsTxt          = rules.ReasonRobotsTxt          // the URL is /robots.txt (RFC 9309, 2.2.2)
	ReasonStatus4xx          = rules.ReasonStatus4xx          // fetching robots.txt: client error
	ReasonUnreachable        = rules.ReasonUnreachable        // the same: server or network error
	ReasonUnreachableExpired = rules.ReasonUnreachableExpired // the same, for over 30 days
	ReasonRedirectLimit      = rules.ReasonRedirectLimit      // too many redirects
	ReasonTooLarge           = rules.ReasonTooLarge           // robots.txt is too large for the dialect
	ReasonUndefined          = rules.ReasonUndefined          // the documentation leaves it undefined
	ReasonBadURL             = rules.ReasonBadURL             // the URL has no valid origin
	ReasonBadAgent           = rules.ReasonBadAgent           // with LogAgentsByName: the row names no agent
	NumReasons               = rules.NumReasons
)

// An Answer is the verdict on one URL for one agent, with the rule that won.
type Answer struct {
	Access Access
	Reason Reason
	Rule   robots.Rule // its Line, Value and Allow; zero if no rule won

	// Readings are the answers by other readings, if the URL is disallowed and one of them allows it, see
	// [Dispute].
	Readings [MaxReadings]ReadBy

	// Preferences are the uses of the page that are allowed; zero unless [StoreOptions].Directives contains
	// preference lines.
	Preferences robots.Answers
	License     robots.Note
}

// A Preference is the answer of a robots.txt about how an agent may use a page, by source. How is the number of a
// text for [Lookup.HowUsed]. A Preference never changes a verdict.
type Preference = preference.Answer
