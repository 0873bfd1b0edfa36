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
	Same     []string // other origins that have it, or some of them
	Requests int64
	When     string         // the part of the log in which it was in force; "" means all
	Older    bool           // the origin had another one later
	Note     string         // which text it is, and why the text is missing
	Text     []byte         // nil if missing
	Report   *robots.Report // of Text
	Uses     []Use          // by line; lines that bind none of the crawlers are absent
	Findings []Finding      // by line
}

// All returns the named origins that have the file.
func (f *File) All() []string { return append([]string{f.Origin}, f.Same...) }

// A Use counts the requests that a rule decided or matched.
type Use struct {
	Line    int32
	Allow   bool
	Rule    string
	Decided Count
	Matched Count // matched, while another rule decided
	WonBy   int32 // line of the rule that decided most of these; 0 if there are none
	Several bool  // other rules decided some of these

	// Asked are the requests of Decided by crawler, most first.
	Asked []aggregate.Asked
}

// A Count is the number of requests, of distinct URLs, of requests with 4xx or 5xx responses, and of the bytes of all
// responses.
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
