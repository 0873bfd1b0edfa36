// Package listing shows for each line of a robots.txt the requests of a log that it decided.
// Package report imports it.
package listing

import (
	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/robots"
)

// A File is a robots.txt, and counts by its rules.
type File struct {
	Origin   string   // the first that has it, of those that were requested
	Origins  int      // how many have it
	Same     []string // others that have it, or some of them
	Requests int64
	When     string         // in which part of the log it was in force; "" if it always was
	Older    bool           // another one was in force at the origin later
	Note     string         // which text it is, and why there is none
	Text     []byte         // nil if there is none
	Report   *robots.Report // of Text
	Uses     []Use          // by line; lines that bind none of the crawlers have none
	Findings []Finding      // by line
}

// All returns the origins that have the file, as far as they are named.
func (f *File) All() []string { return append([]string{f.Origin}, f.Same...) }

// A Use is the requests that a rule decided or matched.
type Use struct {
	Line    int32
	Allow   bool
	Rule    string
	Decided Count
	Matched Count // while another rule decided
	WonBy   int32 // line of the rule that decided most of these; 0 if there are none
	Several bool  // other rules decided some of these, too

	// Asked are the requests of Decided by crawler, those with the most first.
	Asked []aggregate.Asked
}

// A Count is requests, distinct URLs, and of the requests those answered by 4xx or 5xx, and the bytes of all answers.
type Count struct{ Requests, URLs, Failed, Bytes int64 }

// A Finding is a fault in a line of a robots.txt.
type Finding struct {
	Line     int32
	Severity string // error, warning or info
	Code     string
	Text     string // the error in the line
	What     string // the meaning of the code
	Do       string // the remedy
}
