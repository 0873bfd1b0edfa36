package robots

import "time"

// An Outcome is the effect of all fetches of the robots.txt of one origin at one moment, see
// [History.Outcome].
type Outcome struct {
	Effect  Effect
	Cause   Cause
	Capture int // number of the deciding fetch from [History.Add]; for UseRules, of the one with the body; -1 if none
}

// An Effect is the effect of an Outcome on the URLs of the origin.
type Effect uint8

// The values of Effect.
const (
	NoRecord    Effect = iota // nothing was fetched so far: there is no robots.txt as far as is known
	UseRules                  // the rules of the body decide
	AllowAll                  // every URL may be fetched
	DisallowAll               // no URL may be fetched
)

// String returns the effect in words.
func (e Effect) String() string {
	return [...]string{"no record", "use rules", "allow all", "disallow all"}[e]
}

// A Cause is the reason of an Outcome.
type Cause uint8

// The values of Cause.
const (
	CauseNone          Cause = iota // NoRecord
	CauseFetched                    // there is a body: UseRules
	CauseStatus4xx                  // client error, or a response treated as it: a redirect that leads nowhere
	CauseUnreachable                // server or network error
	CauseExpired                    // the same for so long that the restriction has lapsed
	CauseRedirectLimit              // more than maxRedirects redirects
	CauseTooLarge                   // a body that the dialect does not read for its size
)

// String returns the cause as the output column "reason" spells it, where it is one.
func (c Cause) String() string {
	return [...]string{"none", "fetched", "status_4xx", "unreachable", "unreachable_expired", "redirect_limit", "too_large"}[c]
}

// maxRedirects is the number of redirects that are followed (RFC 9309 section 2.3.1.2: at least five).
const maxRedirects = 5

// Lapse is how long a restriction by server or network errors holds at most with the flag lapses
// (RFC 9309 section 2.3.1.4: "a reasonably long period of time (for example, 30 days)").
const Lapse = 30 * 24 * time.Hour

// A result is the outcome of one fetch, before redirects are followed.
type result uint8

const (
	failed   result = iota // server or network error
	fetched                // there is a body to read
	tooLarge               // there is one, but the dialect does not read it
	absent                 // client error
	redirect
)

// The statuses that count apart from their class. They are not the constants of net/http, which would link
// 2 MB into programs that only parse robots.txt, such as the page of a report.
const (
	statusOK          = 200
	statusNotModified = 304
)

// result returns the fetch's answer in the dialect. The sources are silent on 1xx, 304 and codes
// from 600 on: they count as a network error.
func (d Dialect) result(r *Response) result {
	s := r.Status
	switch {
	case r.Error != "":
		return failed
	case 300 <= s && s < 400 && s != statusNotModified:
		return redirect
	case s == statusOK, 200 <= s && s < 300 && !d.Has(openUnlessOK):
		if d.Has(openIfTooLarge) && max(r.Size, int64(len(r.Body))) > MaxBytes {
			return tooLarge
		}
		return fetched
	case 200 <= s && s < 300, 400 <= s && s < 500:
		return absent
	}
	return failed
}

// HasRules reports whether the body of the response can be the one whose rules decide, in this
// dialect.
func (d Dialect) HasRules(r *Response) bool { return d.result(r) == fetched }

// outcome returns the effect of the result, unless the dialect lets it depend on how long it has
// lasted.
func (d Dialect) outcome(res result) (Effect, Cause) {
	if res == failed && d.Has(openUnlessOK) {
		return AllowAll, CauseUnreachable
	}
	o := outcomes[res]
	return o.effect, o.cause
}

// outcomes are the effects of the results, if no dialect says otherwise.
var outcomes = [...]struct {
	effect Effect
	cause  Cause
}{
	failed:   {DisallowAll, CauseUnreachable},
	fetched:  {UseRules, CauseFetched},
	tooLarge: {AllowAll, CauseTooLarge},
	absent:   {AllowAll, CauseStatus4xx},
	redirect: {AllowAll, CauseRedirectLimit}, // there were too many
}
