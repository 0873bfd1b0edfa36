package robots

import (
	"math"
	"slices"
	"strings"
	"time"
)

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
	CauseExpired                    // errors for so long that the restriction has lapsed
	CauseRedirectLimit              // more than maxRedirects redirects
	CauseTooLarge                   // a body that is too large for the dialect
)

// String returns the cause as in the output column "reason".
func (c Cause) String() string {
	return [...]string{"none", "fetched", "status_4xx", "unreachable", "unreachable_expired", "redirect_limit", "too_large"}[c]
}

// maxRedirects is the number of redirects that are followed (RFC 9309 section 2.3.1.2: at least five).
const maxRedirects = 5

// Lapse is the longest time that server or network errors disallow everything with the flag lapses (RFC 9309 section
// 2.3.1.4: "a reasonably long period of time (for example, 30 days)").
const Lapse = 30 * 24 * time.Hour

// A result is the outcome of one fetch, before redirects are followed.
type result uint8

const (
	failed   result = iota // server or network error
	fetched                // there is a body to read
	tooLarge               // there is a body, but it is too large for the dialect
	absent                 // client error
	redirect
)

// The status codes that do not count as the others of their class. The constants of net/http would link 2 MB into
// programs that only parse robots.txt, such as the page of a report.
const (
	statusOK          = 200
	statusNotModified = 304
)

// classify returns the result of a response, before redirects are followed. The sources do not define 1xx, 304 and
// codes from 600: they count as network errors.
func (d Dialect) classify(r *Response) result {
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

// HasRules reports whether the rules in the body of the response may decide in the dialect.
func (d Dialect) HasRules(r *Response) bool { return d.classify(r) == fetched }

// effectOf returns the effect and cause of a result, before it lapses.
func (d Dialect) effectOf(res result) (Effect, Cause) {
	if res == failed && d.Has(openUnlessOK) {
		return AllowAll, CauseUnreachable
	}
	o := outcomes[res]
	return o.effect, o.cause
}

// outcomes are the effects of the results in most dialects, see [Dialect.effectOf].
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

// A Response is the outcome of one fetch of a robots.txt. [History] computes their combined effect.
type Response struct {
	Origin    Origin        // normalised: the origin of the URL fetched
	URL       string        // the URL fetched, such as the target of a redirect; "" is the robots.txt of Origin
	Name      string        // the path of the file where it was read, for messages
	Status    int           // HTTP status; 0 is a network failure; 200 for a body that was read from a file
	Error     string        // why the fetch failed; if not empty, it is a network failure, whatever the Status
	Location  string        // the header Location: absolute, or relative to the fetched URL
	FetchedAt time.Time     // the zero Time is unknown, and counts as earlier than all others
	File      bool          // it is a plain file, and FetchedAt is its modification time; see [History.Periods]
	HasMaxAge bool          // the response has a MaxAge
	MaxAge    time.Duration // of "Cache-Control: max-age"
	Body      []byte        // content; it may be cut after what the dialects read; owned by the receiver
	Size      int64         // bytes of the complete content; 0 means len(Body)
}

// A Redirect records that the capture in force for an origin redirects to the robots.txt of another origin, such as
// from http to https, directly or through others.
type Redirect struct {
	From, Until int64 // microseconds since 1970 UTC; Until is excluded
	To          Origin
}

// Redirects appends all redirects from an origin, in order of time. Consecutive redirects to the same origin are
// joined. Redirects that lead only to the origin itself, or to a file other than robots.txt, are left out.
func (h *History) Redirects(dst []Redirect, o Origin) []Redirect {
	key := string(o) + TxtPath
	t := h.timeline(key)
	if !t.hasRedirect() {
		return dst
	}
	if !t.complete {
		t.finish()
	}
	first := len(dst)
	for moment := t.captures[0].at; ; {
		_, until := h.outcomeAt(key, moment)
		end := int64(math.MaxInt64)
		if !until.IsZero() {
			end = Microseconds(until)
		}
		from, latest := Microseconds(moment), max(first, len(dst)-2*maxRedirects)
		for _, to := range h.redirectTargets(o, moment) {
			// An equal redirect in the next capture is the same redirect: most sites redirect permanently.
			i := slices.IndexFunc(dst[latest:], func(r Redirect) bool { return r.To == to && r.Until == from })
			if i >= 0 {
				dst[latest+i].Until = end
				continue
			}
			dst = append(dst, Redirect{from, end, to})
		}
		if until.IsZero() {
			return dst
		}
		moment = until
	}
}

// RedirectsAt appends the redirects from an origin that are in force at the time asOf, as if they were always in force.
// Zero means the same as in [History.Outcome].
func (h *History) RedirectsAt(dst []Redirect, o Origin, asOf time.Time) []Redirect {
	if !h.timeline(string(o) + TxtPath).hasRedirect() {
		return dst
	}
	if asOf.IsZero() {
		asOf = h.NewestOf(o)
	}
	for _, to := range h.redirectTargets(o, asOf) {
		dst = append(dst, Redirect{math.MinInt64, math.MaxInt64, to})
	}
	return dst
}

// hasRedirect reports whether a capture of the timeline, which may be nil, is a redirect.
func (t *timeline) hasRedirect() bool {
	if t != nil {
		for i := range t.captures {
			if t.captures[i].result == redirect {
				return true
			}
		}
	}
	return false
}

// redirectTargets returns the other origins whose robots.txt is a target in the redirect chain of an origin at a
// moment, in the order of the chain.
func (h *History) redirectTargets(o Origin, moment time.Time) (all []Origin) {
	key := string(o) + TxtPath
	for hop := range maxRedirects {
		c, _ := h.timeline(key).inForce(moment, hop > 0)
		if c == nil || c.result != redirect || c.target == "" {
			break
		}
		key = c.target
		start := strings.Index(key, "://") + len("://")
		slash := strings.IndexByte(key[start:], '/')
		if slash < 0 {
			break
		}
		if to := Origin(key[:start+slash]); to != o && IsTxt([]byte(key[start+slash:])) {
			all = append(all, to)
		}
	}
	return all
}
