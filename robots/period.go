package robots

import (
	"math"
	"time"
)

// A Period is the state in force for an origin from a moment on, until the next Period begins.
type Period struct {
	From int64 // microseconds since 1970 UTC; math.MinInt64 of the first one, which nothing precedes
	Outcome
}

// Periods returns the state in force for the origin at any time that is a whole number of
// microseconds: [History.Outcome] of all of them, one after the other. There is at least one, that
// before the first response: NoRecord, unless that response is of unknown time or from a file. A
// file has an unknown effective date, so that where nothing older is known it holds for
// the time before its last change, too; Outcome, which is asked about one moment, does without
// that.
//
// Time is linear in the responses of the origin, and of where they redirect to while they do.
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
		out, until := h.outcome(key, moment)
		periods = appendPeriod(periods, Period{Microseconds(moment), out})
		if until.IsZero() {
			break
		}
		moment = until
	}
	periods[0].From = math.MinInt64
	return periods
}

// appendPeriod appends a period, unless it says the same as the one before it, or takes the place of
// one that begins in the same microsecond.
func appendPeriod(periods []Period, p Period) []Period {
	if n := len(periods); n > 0 && periods[n-1].From == p.From {
		periods = periods[:n-1]
	}
	if n := len(periods); n > 0 && periods[n-1].Outcome == p.Outcome {
		return periods
	}
	return append(periods, p)
}

// Microseconds returns the first whole microsecond since 1970 UTC that is not before the moment.
// A time out of range becomes the nearest in range; math.MinInt64 is not in range.
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

// earlier returns the earlier one of two moments; zero is later than all.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
