// Package listing shows for each line of a robots.txt the requests of a log that it decided.
// Package report imports it.
package listing

import (
	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/robots"
)

// A File is a robots.txt with counts by rule.
type File struct {
	Origin   string   // the first requested origin that has it
	Origins  int      // number of origins that have it
	Same     []string // other origins with the same text; if there are many, only some
	Requests int64
	When     string         // the part of the log during which it was in force; "" means all of it
	Older    bool           // the origin had another one later
	Note     string         // which of several texts it is, and why the text is missing
	Text     []byte         // nil if missing
	Report   *robots.Report // of Text
	Uses     []Use          // by line; without lines that bind none of the crawlers
	Findings []Finding      // by line
}

// All returns the origins that have the file, as far as they are named.
func (f *File) All() []string { return append([]string{f.Origin}, f.Same...) }

// A Use counts the requests that a rule decided, or matched without deciding.
type Use struct {
	Line    int32
	Allow   bool
	Rule    string
	Decided Count
	Matched Count // matched, while another rule decided
	WonBy   int32 // line of the rule that decided most of the Matched requests; 0 if there are none
	Several bool  // other rules decided some of these

	// Asked are the requests of Decided by crawler, most first.
	Asked []aggregate.Asked
}

// A Count is a number of requests, of their distinct URLs, of those with 4xx or 5xx responses, and of response bytes.
type Count struct{ Requests, URLs, Failed, Bytes int64 }

// A Finding is a problem in a line of a robots.txt.
type Finding struct {
	Line     int32
	Severity string // error, warning or info
	Code     string
	Text     string // the error
	What     string // the meaning of the code
	Do       string // the remedy
}
