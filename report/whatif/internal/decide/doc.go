// Package decide evaluates the requests of a log again for an edited robots.txt.
//
// A [Log] holds the most requested URLs of one origin, and the number of requests by crawler. A [Text] is a
// robots.txt with its verdicts for that log. [Log.Compare] returns the difference between two texts. After a small
// edit, only the crawlers whose rules changed are evaluated again; callers need not know.
//
// The package uses package automaton in the same way as the engine; a test compares all its verdicts with those of
// the engine. It runs in the page of a report, compiled to WebAssembly, so it imports only robots, automaton and
// packages without dependencies. Only report/whatif imports it.
package decide
