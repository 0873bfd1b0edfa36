package report

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/listing"
	"github.com/robobatch/robobatch/report/internal/revisions"
)

// A Run holds what the page shows in addition to the counts of a Counter.
type Run struct {
	Version   string // of the program
	RulesHash string
	Rules     string   // as named by the user
	Inputs    []string // the logs, as named by the user
	Flags     []Flag   // that say what was asked
	Stats     engine.Stats
	Refused   int64     // lines that gave no row
	Hints     []string  // signs that the rules are not meant for this log
	Warnings  []Warning // in the order they were seen

	Files []File // the robots.txt that decided most requests, the busiest first
	More  int64  // others that decided some

	Diagnosis Diagnosis // of Counter.Diagnose
	Periods   *Periods  // of Counter.Compare; nil if nothing is compared

	Revisions []Text // the texts that the origins of Files sent during the log, and the last one before it

	Old     string                   // the previous rules, as named by the user
	Changes *aggregate.ChangesReport // changes from the rules of Old to those of the run; nil without Old

	Panels []Panel // that other packages make
}

// Host returns the most requested host of those in Stats, and the number of others; "" if there is none.
func (r *Run) Host() (busiest string, others int) {
	rows := map[string]int64{}
	for _, o := range r.Stats.TopOrigins {
		if o.Rows > 0 {
			rows[hostOf(o.Origin)] += o.Rows
		}
	}
	if len(rows) == 0 {
		return "", 0
	}
	hosts := slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b)) })
	return hosts[0], len(hosts) - 1
}

// HostOrigin returns the busiest of the given origins that belong to the most requested host; "" if none does.
func (r *Run) HostOrigin(origins ...string) string {
	host, _ := r.Host()
	for _, o := range r.Stats.TopOrigins {
		if o.Rows > 0 && hostOf(o.Origin) == host && slices.Contains(origins, o.Origin) {
			return o.Origin
		}
	}
	return ""
}

// hostOf returns the host of an origin, with its port.
func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return cmp.Or(host, origin)
}

// A Flag is a command line flag that was set for the run.
type Flag struct{ Name, Value string }

// A Warning is an observation about the inputs that contradicts an assumption of the run.
type Warning struct {
	Code, Text string
	Examples   []string
	Minor      bool // it cannot change findings
}

// WarningsOf returns the warnings that can change findings or, if minor is true, those that cannot.
func (r *Run) WarningsOf(minor bool) []Warning {
	return slices.DeleteFunc(slices.Clone(r.Warnings), func(w Warning) bool { return w.Minor != minor })
}

// File is a robots.txt, shown with the requests that each line decided.
type File = listing.File

// Use is the requests of a rule.
type Use = listing.Use

// Count is requests and distinct URLs.
type Count = listing.Count

// Text is the text that an origin sent as its robots.txt from a given time on, in the time zone Options.Location.
type Text = revisions.Text

// Finding is a problem in a line of a robots.txt.
type Finding = listing.Finding

// A Panel is a section of the page that another package creates. Its HTML must not have style attributes or event
// handlers, because the policy of the page blocks them.
type Panel struct {
	ID    string                                // of the section
	Title string                                // for the table of contents
	HTML  func(room int) (template.HTML, error) // returns a section with its heading, of at most about room bytes
	CSS   string

	// Scripts run in this order, after the page's own. None may contain "</script".
	Scripts []string

	// Wasm has the policy allow WebAssembly.
	Wasm bool
}
