package main

import (
	"fmt"

	"github.com/robobatch/robobatch/ingest"
)

// A voice is how a command speaks to its user, on standard error.
type voice struct {
	std      streams
	progress progressMode
	quiet    bool // say errors only
}

// note says what the user may not expect.
func (v *voice) note(format string, values ...any) {
	if !v.quiet {
		fmt.Fprint(v.std.err, printable("robobatch: note: "+fmt.Sprintf(format, values...)+"\n")) //nolint:errcheck // there is nowhere left to say it
	}
}

// problemsShown is how many broken records are told one by one.
const problemsShown = 5

// noteProblems tells of the broken records of captures, which are left out.
func (v *voice) noteProblems(p ingest.Problems) {
	if p.Total == 0 {
		return
	}
	for _, record := range p.First[:min(len(p.First), problemsShown)] {
		v.note("%v", record)
	}
	v.note("%s of captures; each is left out, or counts as a failed fetch where only its content is broken. All others are used", plural(p.Total, "broken record"))
}
