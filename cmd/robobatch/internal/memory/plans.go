package memory

// A Plan says which parts of a limit of memory a command needs, besides those that all need: rules, unpackers
// and batches. The zero value needs no other.
type Plan struct {
	Run     string // the command, and the flag that makes it another plan
	Page    int64  // sixteenths of the limit for the counts of a page
	Counts  int64  // sixteenths of the limit for the counts of coverage, or the journal of conduct, also that of a page
	Old     bool   // rows are decided by the previous rules, too
	Changes bool   // URLs that changed are counted
	Stream  bool   // text, messages or tables of cells are written as they come, which takes 32 MiB
	Says    string // after the error of a limit that is too small
}

// Plans is the table of all commands that keep to -max-memory. make memory runs each line of it: a test of bench/memory
// reads this file, and fails if a line has no shape.
var Plans = []Plan{
	{Run: "robobatch"},
	{Run: "robobatch -report", Page: 3, Counts: 1},
	{Run: "diff", Old: true, Changes: true},
	{Run: "diff -report", Page: 3, Counts: 1, Old: true, Changes: true},
	{Run: "coverage", Counts: 8},
	{Run: "conduct", Counts: 6, Stream: true},
	{Run: "report", Page: 7, Counts: 1, Stream: true, Says: ofReport},
	{Run: "report -old", Page: 7, Counts: 1, Old: true, Stream: true, Says: ofReport},
	{Run: "pipe", Stream: true},
}

// ofReport says where the limit of a report goes.
const ofReport = "; the command report may use half of it for its counts"

// PlanOf returns the line of Plans. It panics if there is none.
func PlanOf(run string) Plan {
	for _, p := range Plans {
		if p.Run == run {
			return p
		}
	}
	panic("memory: there is no plan of " + run)
}
