package main

import (
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// noteNothing tells where nothing came of a log, so that its format, or the site of the rules, may be another.
func noteNothing(v *voice, r *summary.Report) {
	field := ""
	if slices.ContainsFunc(r.Inputs, func(in summary.Input) bool { return ingest.Format(in.Format).AnyField() }) {
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
	case r.Counts.URLs == 0 && summary.Sum(r.Counts.Refused) > 0:
		v.note("every line was refused: none is of the format %s, which %s", r.Formats(), how)
	case bad > 0 && bad == r.Counts.Rows:
		v.note("no line is a URL with a scheme and a host, as the format %s wants, which %s", r.Formats(), how)
	case without > 0 && without+bad == r.Counts.Rows:
		v.note("%s", noRobotsText)
	}
}

// noRobotsText is the note where the rules are of other origins than the logs.
const noRobotsText = "no URL has a robots.txt in -rules: the origins are others; http and https differ, as example.com and www.example.com do"

// noteTimes tells where the captures are of another time than the log.
func noteTimes(v *voice, r *summary.Report) {
	c := &r.Counts
	switch {
	case c.Early > 0 && c.Reasons[engine.ReasonNoRobots.String()] == c.Rows:
		v.note("no row is as new as the first capture of its origin, so that -as-of log found no rules")
	case c.Undated > 0 && c.Undated == c.URLs:
		v.note("no row has a time that is understood, so that the newest captures decided: name the field of the time with -time-field")
	}
}
