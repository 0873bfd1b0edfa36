package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// Doubt returns the doubts about what came of the logs, in all.
func (r *Report) Doubt() []doubt.Doubt {
	return slices.Concat(r.nothing(), r.timeless(), r.whiteSpace())
}

// nothing returns a doubt if nothing came of a log, so that its format, or the site of the rules,
// may be another.
func (r *Report) nothing() []doubt.Doubt {
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
		return []doubt.Doubt{{Code: doubt.NoURLs, Text: "every line was refused. " + format, Count: Sum(r.Counts.Refused)}}
	case bad > 0 && bad == r.Counts.Rows:
		return []doubt.Doubt{{Code: doubt.NoURLs, Text: "no line is a URL with a scheme and a host. " + format, Count: bad}}
	case without > 0 && without+bad == r.Counts.Rows:
		return []doubt.Doubt{{Code: doubt.NoRobots, Text: NoRobots, Count: without}}
	}
	return nil
}

// NoRobots is the text of the doubt where the rules are of other origins than the logs.
const NoRobots = "no URL has a robots.txt in -rules: the origins are others; http and https differ, as example.com and www.example.com do"

// timeless returns a doubt if the captures are of another time than the log.
func (r *Report) timeless() []doubt.Doubt {
	c := &r.Counts
	switch {
	case c.Early > 0 && c.Reasons[engine.ReasonNoRobots.String()] == c.Rows:
		text := "no row is as new as the first capture of its origin, so that -as-of log found no rules"
		return []doubt.Doubt{{Code: doubt.NoRulesThen, Text: text, Count: c.Early}}
	case c.Undated > 0 && c.Undated == c.URLs:
		text := "no row has a time that is understood, so that the newest captures decided: name the field of the time with -time-field"
		return []doubt.Doubt{{Code: doubt.NoTimes, Text: text, Count: c.Undated}}
	}
	return nil
}

// whiteSpace returns a doubt if URLs hold white space: they may be followed by other columns.
func (r *Report) whiteSpace() []doubt.Doubt {
	n := r.read.Blank
	if n == 0 {
		return nil
	}
	text := say.Count(n, "URL") + " with white space inside, decided as %20 and %09: if it separates columns, give them a header, and name the format with -format"
	d := doubt.Doubt{Code: doubt.WhiteSpace, Text: text, Count: n}
	for _, url := range r.read.FirstBlank {
		d.Examples = append(d.Examples, fmt.Sprintf("%s: line %d: %q", say.File(r.Inputs[url.Input].Name), url.Line, shorten(url.URL)))
	}
	return []doubt.Doubt{d}
}

// shorten returns the first hundred bytes of a long text.
func shorten(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "..."
	}
	return text
}
