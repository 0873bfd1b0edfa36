package memory

// A Plan says which parts of a memory limit a command needs besides rules, unpackers and batches. The zero value needs
// none.
type Plan struct {
	Run     string // the command, and the flag that selects this plan
	Page    int64  // sixteenths of the limit for page counts
	Counts  int64  // sixteenths of the limit for the counts of coverage, or the journal of conduct (also for a page)
	Old     bool   // rows are also evaluated with the previous rules
	Changes bool   // changed URLs are counted
	Stream  bool   // the output is text, messages or tables of cells; writing it takes 32 MiB
	Says    string // added to the error about a limit that is too small
}

// Plans lists the commands that support -max-memory. make memory measures each of them; a test of bench/memory reads
// this file, and fails if a plan is not measured.
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

// ofReport is a hint for errors about a memory limit that is too small for a report.
const ofReport = "; the command report may use half of it for its counts"

// PlanOf returns the plan of a command. It panics if Plans has no such command.
func PlanOf(run string) Plan {
	for _, p := range Plans {
		if p.Run == run {
			return p
		}
	}
	panic("memory: there is no plan of " + run)
}
