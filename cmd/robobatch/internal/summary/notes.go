package summary

import (
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// NoteNothing returns a note if nothing came of a log, so that its format, or the site of the
// rules, may be another; or "".
func (r *Report) NoteNothing() string {
	format := "The format was detected as " + r.Formats() + ": if that is wrong, use -format"
	if r.Format != ingest.Auto.String() {
		format = "The format is " + r.Formats() + ", as -format says: if that is wrong, use another"
	}
	if slices.ContainsFunc(r.Inputs, func(in Input) bool { return ingest.Format(in.Format).AnyField() }) {
		format += "; if the URL is in another field, use -url-field"
	}
	if r.Base == "" && r.Formats() == "urls" {
		format += "; if lines are paths, use -base"
	}
	bad, without := r.Counts.Reasons[engine.ReasonBadURL.String()], r.Counts.Reasons[engine.ReasonNoRobots.String()]
	switch {
	case r.Counts.URLs == 0 && Sum(r.Counts.Refused) > 0:
		return "every line was refused. " + format
	case bad > 0 && bad == r.Counts.Rows:
		return "no line is a URL with a scheme and a host. " + format
	case without > 0 && without+bad == r.Counts.Rows:
		return NoRobots
	}
	return ""
}

// NoRobots is the note where the rules are of other origins than the logs.
const NoRobots = "no URL has a robots.txt in -rules: the origins are others; http and https differ, as example.com and www.example.com do"

// NoteTimes returns a note if the captures are of another time than the log, or "".
func (r *Report) NoteTimes() string {
	c := &r.Counts
	switch {
	case c.Early > 0 && c.Reasons[engine.ReasonNoRobots.String()] == c.Rows:
		return "no row is as new as the first capture of its origin, so that -as-of log found no rules"
	case c.Undated > 0 && c.Undated == c.URLs:
		return "no row has a time that is understood, so that the newest captures decided: name the field of the time with -time-field"
	}
	return ""
}
