package report

import (
	"html/template"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A Run is what the page says of a run besides what a Counter counted.
type Run struct {
	Version   string // of the program
	RulesHash string
	Rules     string   // as they were named
	Inputs    []string // the logs, as they were named
	Flags     []Flag   // that say what was asked
	Stats     engine.Stats
	Refused   int64   // lines that gave no row
	Doubts    []Doubt // in the order in which they were seen

	Files []File // the robots.txt that decided most requests, the busiest first
	More  int    // others that decided some

	Texts map[engine.RulingID]*robots.Report // of those of Counter.MetTexts that are known

	Old     string                   // the rules before, as they were named
	Changes *aggregate.ChangesReport // from these rules to those of the run; nil without them

	Panels []Panel // that other packages make
}

// A Flag is a part of what was asked.
type Flag struct{ Name, Value string }

// A Doubt is something about the inputs that contradicts what the run took them for.
type Doubt struct {
	Code, Text string
	Count      int64
	Examples   []string
}

// A File is a robots.txt, and what it did.
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

// A Use is what the log did with a rule.
type Use struct {
	Line    int32
	Allow   bool
	Rule    string
	Decided Count
	Matched Count // while another rule decided
	WonBy   int32 // line of the rule that decided most of these; 0 if there are none
	Several bool  // other rules decided some of these, too

	// Asked are the requests of Decided by crawler, those with the most first.
	Asked []AgentRequests
}

// A Count is requests and distinct URLs.
type Count struct{ Requests, URLs int64 }

// A Finding is what is wrong with a line of a robots.txt.
type Finding struct {
	Line     int32
	Severity string // error, warning or info
	Code     string
	Text     string // what is wrong with the line
	What     string // what the code means
	Do       string // what to do about it
}

// A Panel is a part of the page that another package makes. Its HTML has no style attribute and no
// handler: the policy of the page would not let them work.
type Panel struct {
	ID    string        // of the section
	Title string        // for the table of contents
	HTML  template.HTML // a section with its heading
	CSS   string

	// Scripts run in their order, behind the page's own. None has "</script" in it.
	Scripts []string

	// Wasm has the policy allow WebAssembly.
	Wasm bool
}
