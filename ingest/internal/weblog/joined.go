package weblog

import (
	"bytes"
	"regexp"
)

// A Joiner is a Parser that can tell whether a line that it has refused is several records, whose line
// ends were lost.
type Joiner interface {
	Joined(line []byte) bool
}

// What records begin with, or have once, near their start.
var (
	combinedTime = regexp.MustCompile(`\[\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d`)
	albTarget    = regexp.MustCompile(`\dT\d\d:\d\d:\d\d\.\d+Z [a-z]+/`)
	w3cMoment    = regexp.MustCompile(`\d{4}-\d\d-\d\d[ \t]\d\d:\d\d:\d\d[ \t]`)
	jsonObject   = regexp.MustCompile(`(?:^|\})\s*\{\s*"`)
	cdxjMoment   = regexp.MustCompile(` \d{14} \{`)
)

// occursTwice reports whether a line has two matches of a pattern.
func occursTwice(pattern *regexp.Regexp, line []byte) bool {
	return len(pattern.FindAllIndex(line, 2)) == 2
}

// Joined reports whether a line has two times.
func (c *combined) Joined(line []byte) bool { return occursTwice(combinedTime, line) }

// Joined reports whether a line has two times with a load balancer.
func (a *alb) Joined(line []byte) bool { return occursTwice(albTarget, line) }

// Joined reports whether a line has two times.
func (w *w3c) Joined(line []byte) bool { return occursTwice(w3cMoment, line) }

// Joined reports whether a line has two objects.
func (j *jsonLog) Joined(line []byte) bool { return occursTwice(jsonObject, line) }

// Joined reports whether a line has two times in front of objects.
func (c cdxj) Joined(line []byte) bool { return occursTwice(cdxjMoment, line) }

// Joined reports whether a line has the fields of several records, the last of each one with the first
// of the next, and the URL of each at its place, or of a record and a header.
func (t *table) Joined(line []byte) bool {
	step := len(t.header) - 1
	if step < 1 || t.foreign || t.split(line) != IsRow || len(t.fields) <= len(t.header) || (len(t.fields)-1)%step != 0 {
		return false
	}
	if t.isGlued() {
		return true
	}
	mark := []byte{'/'}
	if isURL(trimBlank(t.fields[t.cols.url])) {
		mark = []byte("://")
	}
	for i := t.cols.url; i < len(t.fields); i += step {
		if i < len(t.fields)-1 && !bytes.Contains(t.fields[i], mark) {
			return false
		}
	}
	return true
}
