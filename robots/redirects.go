package robots

import (
	"math"
	"slices"
	"strings"
	"time"
)

// A Redirect records that the capture in force for an origin redirects to the robots.txt of another origin, such as
// from http to https, directly or through others.
type Redirect struct {
	From, Until int64 // microseconds since 1970 UTC; not so any more at Until
	To          Origin
}

// Redirects appends the redirects from an origin at all times, in order of time.
func (h *History) Redirects(dst []Redirect, o Origin) []Redirect {
	key := string(o) + TxtPath
	t := h.timeline(key)
	if !t.redirects() {
		return dst
	}
	if !t.complete {
		t.finish()
	}
	first := len(dst)
	for moment := t.captures[0].at; ; {
		_, until := h.outcome(key, moment)
		end := int64(math.MaxInt64)
		if !until.IsZero() {
			end = Microseconds(until)
		}
		from, latest := Microseconds(moment), max(first, len(dst)-2*maxRedirects)
		for _, to := range h.targets(o, moment) {
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

// RedirectsAt appends the redirects from an origin at a moment, zero as in [History.Outcome], for all times.
func (h *History) RedirectsAt(dst []Redirect, o Origin, asOf time.Time) []Redirect {
	if !h.timeline(string(o) + TxtPath).redirects() {
		return dst
	}
	if asOf.IsZero() {
		asOf = h.NewestOf(o)
	}
	for _, to := range h.targets(o, asOf) {
		dst = append(dst, Redirect{math.MinInt64, math.MaxInt64, to})
	}
	return dst
}

// redirects reports whether a capture of the timeline is a redirect.
func (t *timeline) redirects() bool {
	if t != nil {
		for i := range t.captures {
			if t.captures[i].result == redirect {
				return true
			}
		}
	}
	return false
}

// targets returns the origins whose robots.txt the redirects in force for an origin lead to at a moment.
func (h *History) targets(o Origin, moment time.Time) (all []Origin) {
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
