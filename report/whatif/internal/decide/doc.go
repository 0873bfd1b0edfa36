// Package decide decides the requests of a log again by a robots.txt that someone edits.
//
// A [Log] is the most requested URLs of one origin, and how often each crawler asked for them. A [Text]
// is a robots.txt and its decisions for that log. [Log.Compare] returns the difference between two texts. The
// package hides how little is decided again when little was edited.
//
// It drives package automaton as the engine does; a test compares all its verdicts with those of the
// engine. It runs in the page of a report, compiled to WebAssembly, so it imports robots, automaton and
// packages without dependencies. Only report/whatif imports it.
package decide
