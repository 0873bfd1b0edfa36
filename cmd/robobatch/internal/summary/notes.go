package summary

import (
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// NoteNothing returns a note if nothing came of a log, so that its format, or the site of the
// rules, may be another; or "".
func (r *Report) NoteNothing() string {
	field := ""
	if slices.ContainsFunc(r.Inputs, func(in Input) bool { return ingest.Format(in.Format).AnyField() }) {
		field = ", or the field with the URL with -url-field"
	}
	how := "was guessed: name another with -format" + field
	if r.Format != ingest.Auto.String() {
		how = "-format says: name another" + field
	}
	if r.Base == "" && r.Formats() == "urls" {
		how += "; if lines are paths, name their site with -base"
	}
	bad, without := r.Counts.Reasons[engine.ReasonBadURL.String()], r.Counts.Reasons[engine.ReasonNoRobots.String()]
	switch {
	case r.Counts.URLs == 0 && Sum(r.Counts.Refused) > 0:
		return fmt.Sprintf("every line was refused: none is of the format %s, which %s", r.Formats(), how)
	case bad > 0 && bad == r.Counts.Rows:
		return fmt.Sprintf("no line is a URL with a scheme and a host, as the format %s wants, which %s", r.Formats(), how)
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
