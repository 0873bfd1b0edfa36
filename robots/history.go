package robots

import (
	"math"
	"slices"
	"sort"
	"time"
)

// A History holds the results of fetches of many robots.txt files and of the targets of their redirects, without the
// bodies. It must be used by one goroutine only. Use [NewHistory].
type History struct {
	dialect   Dialect
	timelines map[string]*timeline // by URL: origin, path and query
	origins   []Origin
	newest    time.Time
	captures  int
	load      func(key string) []Response // see NewHistoryOf; nil if the responses are not stored elsewhere
}

// A timeline is the captures of one URL.
type timeline struct {
	captures []capture
	complete bool // sorted, and since is set
}

// A capture is one fetch.
type capture struct {
	at     time.Time
	since  time.Time // at; for a failure, the time of the first of consecutive failures whose time is known
	target string    // where a redirect leads, in normal form; "" if nowhere
	result result
	number int
	file   bool // at is the modification time of a file
}

// NewHistory returns an empty History. The dialect determines the meaning of a response.
func NewHistory(d Dialect) *History {
	return &History{dialect: d, timelines: map[string]*timeline{}}
}

// NewHistoryOf returns a History of responses that are stored elsewhere, such as in a file. When [History.Outcome]
// first needs the responses of a URL, it calls load with the URL in normal form, which returns them in the order in
// which they would have been added. [History.Add] defines their numbers, and [KeyOf] the URL of a response. Add must
// not be called, and Origins and Newest return nothing.
func NewHistoryOf(d Dialect, load func(key string) []Response) *History {
	h := NewHistory(d)
	h.load = load
	return h
}

// Reset removes all responses, but keeps the memory.
func (h *History) Reset() {
	clear(h.timelines)
	h.origins, h.newest, h.captures = h.origins[:0], time.Time{}, 0
}

// KeyOf returns the normal form of the URL of a response: origin, path and query. ok is false if it is invalid.
func KeyOf(r *Response) (key string, ok bool) {
	if r.URL == "" {
		return string(r.Origin) + TxtPath, true
	}
	return urlKey(r.URL)
}

// Add adds a response and returns its number: how many were added before. Time and memory are constant, except for
// the bytes of its URL and Location. A response with an invalid URL gets a number, but never decides anything.
func (h *History) Add(r Response) int {
	key, ok := KeyOf(&r)
	if !ok {
		h.captures++
		return h.captures - 1
	}
	t := h.timelines[key]
	if t == nil {
		t = &timeline{}
		h.timelines[key] = t
		if key == string(r.Origin)+TxtPath {
			h.origins = append(h.origins, r.Origin)
		}
	}
	return h.addTo(t, key, &r)
}

// addTo adds a response to the timeline of its URL and returns its number. key is from [KeyOf].
func (h *History) addTo(t *timeline, key string, r *Response) int {
	c := capture{at: r.FetchedAt, result: h.dialect.classify(r), number: h.captures, file: r.File}
	h.captures++
	if c.result == redirect {
		c.target, _ = ResolveURL(key, r.Location)
	}
	t.captures = append(t.captures, c)
	t.complete = false
	if c.at.After(h.newest) {
		h.newest = c.at
	}
	return c.number
}

// timeline returns the captures of a URL, by its normal form; nil if there are none. The first call for a key loads
// them if they are stored elsewhere.
func (h *History) timeline(key string) *timeline {
	t, known := h.timelines[key]
	if known || h.load == nil {
		return t
	}
	if all := h.load(key); len(all) > 0 {
		t = &timeline{captures: make([]capture, 0, len(all))}
		for i := range all {
			h.addTo(t, key, &all[i])
		}
	}
	h.timelines[key] = t
	return t
}

// Origins returns the origins whose robots.txt was fetched, successfully or not, in the order of
// their first responses. The result must not be changed.
func (h *History) Origins() []Origin { return h.origins }

// Newest returns the time of the latest response, zero if no time is known.
func (h *History) Newest() time.Time { return h.newest }

// NewestOf returns the time of the latest response of an origin, or of the redirect chain that starts with it; zero if
// no time is known. Ages are measured from this time unless the caller passes another. Responses of other origins do
// not affect it.
func (h *History) NewestOf(o Origin) (newest time.Time) {
	key := string(o) + TxtPath
	for range 1 + maxRedirects {
		t := h.timeline(key)
		if t == nil {
			break
		}
		if !t.complete {
			t.finish()
		}
		last := &t.captures[len(t.captures)-1]
		if last.at.After(newest) {
			newest = last.at
		}
		if last.result != redirect {
			break
		}
		key = last.target
	}
	return newest
}

// Outcome returns the outcome in force for the origin at the time asOf; zero means [History.NewestOf].
//
// The latest response that is not later than asOf decides; if several have the same time, the one added last does. If
// it is a redirect, the latest response of its target decides, and so on, up to maxRedirects. Rules found there apply
// to the first origin. A redirect without a target, or whose target has no response, is treated as a client error. A
// target that was first fetched after the redirect is treated as if it had been fetched with it.
//
// A server or network error disallows everything. With the flag lapses, it does so for 30 days from the first of
// consecutive errors. Then the response before them is in force again if it has a body; otherwise everything is
// allowed. An error whose time is unknown does not lapse. With openUnlessOK errors allow everything from the start.
func (h *History) Outcome(o Origin, asOf time.Time) Outcome {
	if asOf.IsZero() {
		asOf = h.NewestOf(o)
	}
	out, _ := h.outcomeAt(string(o)+TxtPath, asOf)
	return out
}

// outcomeAt returns the outcome in force at the time asOf for the robots.txt with that key. The outcome does not change
// before the time until; zero means never.
func (h *History) outcomeAt(key string, asOf time.Time) (out Outcome, until time.Time) {
	now, ok := h.stateAt(key, asOf)
	if !ok {
		return Outcome{NoRecord, CauseNone, -1}, now.until
	}
	effect, cause := h.dialect.effectOf(now.result)
	if effect != DisallowAll || !h.dialect.Has(lapses) {
		return Outcome{effect, cause, now.number}, now.until
	}
	begin, last, reached := h.findFirstFailure(key, now)
	switch {
	case begin.IsZero():
		return Outcome{effect, cause, now.number}, now.until
	case asOf.Sub(begin) <= Lapse:
		return Outcome{effect, cause, now.number}, earlier(now.until, begin.Add(Lapse+1))
	case reached && last.result == fetched:
		return Outcome{UseRules, CauseFetched, last.number}, now.until
	}
	return Outcome{AllowAll, CauseExpired, now.number}, now.until
}

// IsCopy reports whether fetches fail at the time asOf in a dialect that then disallows everything. Rules that
// [History.Outcome] returns at that time are those of the last good copy. A zero asOf means [History.NewestOf].
func (h *History) IsCopy(o Origin, asOf time.Time) bool {
	if asOf.IsZero() {
		asOf = h.NewestOf(o)
	}
	now, ok := h.stateAt(string(o)+TxtPath, asOf)
	if !ok {
		return false
	}
	effect, _ := h.dialect.effectOf(now.result)
	return effect == DisallowAll
}

// Hops returns the numbers of the redirects, in order, from the robots.txt of the origin to the response that
// [History.Outcome] uses at the time asOf (zero means [History.NewestOf]); nil if no redirect was followed. It excludes
// that response, which may be a redirect without a target.
func (h *History) Hops(o Origin, asOf time.Time) (hops []int) {
	if asOf.IsZero() {
		asOf = h.NewestOf(o)
	}
	key := string(o) + TxtPath
	out, _ := h.outcomeAt(key, asOf)
	if out.Capture < 0 {
		return nil
	}
	now, ok := h.stateAt(key, asOf)
	for turns := 0; ok && now.number != out.Capture && turns <= maxTurns; turns++ { // failures have lapsed
		asOf = now.since.Add(-1)
		now, ok = h.stateAt(key, asOf)
	}
	for {
		c, _ := h.timeline(key).inForce(asOf, len(hops) > 0)
		if c == nil || c.number == out.Capture || len(hops) == maxRedirects {
			return hops
		}
		hops = append(hops, c.number)
		key = c.target
	}
}

// A state is the result at some time, after redirects.
type state struct {
	result result
	number int       // of the response that decides
	since  time.Time // the state holds at least since then; zero: unknown
	until  time.Time // the state holds at least until then; zero: forever
}

// findFirstFailure searches backwards from a failure (now), through at most maxTurns runs of failures. begin is the
// earliest known start of the consecutive failures; zero if none is known. last is the state before them; reached is
// false if there is none, or if it was not found.
func (h *History) findFirstFailure(key string, now state) (begin time.Time, last state, reached bool) {
	turns := 0
	for s, ok := now, true; ok; s, ok = h.stateAt(key, s.since.Add(-1)) {
		if s.result != failed {
			return begin, s, true
		}
		if turns++; s.since.IsZero() || turns > maxTurns {
			break
		}
		begin = s.since
	}
	return begin, state{}, false
}

// maxTurns limits the number of runs of failures that are followed backwards, so that time is linear in the number of
// origins. Each further run needs a redirect to another failing URL.
const maxTurns = 1000

// stateAt returns the state at a moment, after at most maxRedirects redirects. ok is false if nothing was fetched until
// then.
func (h *History) stateAt(key string, moment time.Time) (s state, ok bool) {
	for hop := 0; ; hop++ {
		c, until := h.timeline(key).inForce(moment, hop > 0)
		s.until = earlier(s.until, until)
		if c == nil { // the target is not in the input
			s.result = absent
			return s, hop > 0
		}
		s.result, s.number = c.result, c.number
		if c.since.After(s.since) && !c.at.After(moment) {
			s.since = c.since
		}
		if c.result != redirect || hop == maxRedirects {
			return s, true
		}
		key = c.target
	}
}

// finish sorts the captures by time, those with the same time in the order of adding, and sets since of each.
func (t *timeline) finish() {
	slices.SortStableFunc(t.captures, func(a, b capture) int { return a.at.Compare(b.at) })
	t.complete = true
	for i := range t.captures {
		c := &t.captures[i]
		c.since = c.at
		if i > 0 && c.result == failed && t.captures[i-1].result == failed && !t.captures[i-1].since.IsZero() {
			c.since = t.captures[i-1].since
		}
	}
}

// inForce returns the latest capture that is not later than the moment. If there is none, it returns the first later
// one with orLater, otherwise nil. until is the time of the next capture; zero if there is none. t may be nil.
func (t *timeline) inForce(moment time.Time, orLater bool) (c *capture, until time.Time) {
	if t == nil {
		return nil, time.Time{}
	}
	if !t.complete {
		t.finish()
	}
	n := sort.Search(len(t.captures), func(i int) bool { return t.captures[i].at.After(moment) })
	if n < len(t.captures) {
		until = t.captures[n].at
	}
	switch {
	case n > 0:
		return &t.captures[n-1], until
	case orLater:
		return &t.captures[0], until
	}
	return nil, until
}

// A Period is an interval with the same outcome for an origin. It ends where the next Period begins.
type Period struct {
	From int64 // microseconds since 1970 UTC; math.MinInt64 in the first Period
	Outcome
}

// Periods returns the results of [History.Outcome] for every whole microsecond, as at least one Period, in order of
// time; neighbours differ in their outcome. The first Period is the time before the first response, with the outcome
// NoRecord, unless the time of that response is unknown, or the response is a file. The effective date of a file is
// unknown: if nothing older is known, the file also applies before its modification time, unlike in Outcome.
//
// Time is linear in the number of responses of the origin and of the targets of its redirects.
func (h *History) Periods(o Origin) []Period {
	key := string(o) + TxtPath
	t := h.timeline(key)
	if t == nil {
		return []Period{{math.MinInt64, Outcome{NoRecord, CauseNone, -1}}}
	}
	if !t.complete {
		t.finish()
	}
	moment := t.captures[0].at
	var periods []Period
	if first, _ := t.inForce(moment, false); !first.file && !first.at.IsZero() {
		periods = append(periods, Period{math.MinInt64, Outcome{NoRecord, CauseNone, -1}})
	}
	for {
		out, until := h.outcomeAt(key, moment)
		from := Microseconds(moment)
		if n := len(periods); n > 0 && periods[n-1].From == from { // only the last state of a microsecond counts
			periods = periods[:n-1]
		}
		if n := len(periods); n == 0 || periods[n-1].Outcome != out {
			periods = append(periods, Period{from, out})
		}
		if until.IsZero() {
			break
		}
		moment = until
	}
	periods[0].From = math.MinInt64
	return periods
}

// Microseconds returns the first whole microsecond since 1970 UTC that is not before t. Times out of range become
// math.MinInt64+1 or math.MaxInt64.
func Microseconds(t time.Time) int64 {
	const most = math.MaxInt64/1_000_000 - 1
	switch seconds := t.Unix(); {
	case seconds < -most:
		return math.MinInt64 + 1
	case seconds > most:
		return math.MaxInt64
	default:
		return seconds*1_000_000 + int64(t.Nanosecond()+999)/1000
	}
}

// earlier returns the earlier of two times; the zero Time is later than all.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
