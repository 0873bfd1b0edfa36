package flow

import (
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// A FaultError is a fault in the middle of the logs, or one of the run as a whole.
type FaultError struct {
	Err   error  // the fault, and its place
	AtEnd bool   // the run went to its end, and has all its rows
	Rows  int64  // of the output, before the fault
	Where string // which rows are written; "" is all
	Out   string // name of the output that was asked for
	Kept  string // name of the one that has the rows; "" if there are none
	Lost  error  // why the rows could not be kept; nil if they were

	Aborted bool // the output is an object, so no part of it can be kept

	Unverified string // the log, and its first line, whose rows nothing has verified from there on; "" if all are verified
}

// Error names the fault, and the place of the rows before it.
func (e *FaultError) Error() string {
	switch {
	case e.AtEnd:
		return e.Err.Error() + "\n" + e.whole()
	case e.Lost != nil:
		return fmt.Sprintf("%v\nthe rows before that could not be kept: %v", e.Err, e.Lost)
	case e.Aborted:
		return fmt.Sprintf("%v\n%s was not written: its upload was aborted; for the rows before that, name a file", e.Err, say.File(e.Out))
	case e.Kept == "" && e.Where != "":
		return fmt.Sprintf("%v\nno row that -where %s asks for comes before that, so nothing was written", e.Err, e.Where)
	case e.Kept == "":
		return fmt.Sprintf("%v\nno row comes before that, so nothing was written", e.Err)
	case e.Kept == e.Out && e.Rows == 0:
		return fmt.Sprintf("%v\nno row comes before that", e.Err)
	case e.Kept == e.Out:
		return fmt.Sprintf("%v\n%s complete in %s%s", e.Err, e.before(), say.File(e.Kept), e.unverified())
	}
	return fmt.Sprintf("%v\n%s complete in %s; %s was not written%s", e.Err, e.before(), say.File(e.Kept), say.File(e.Out), e.unverified())
}

// unverified says which rows may be wrong, on a line of its own.
func (e *FaultError) unverified() string {
	if e.Unverified == "" {
		return ""
	}
	return "\nnothing has verified rows from " + e.Unverified + " on, so they may be wrong: use only the rows before"
}

// before returns the rows before the fault, and their verb.
func (e *FaultError) before() string {
	if e.Rows == 1 {
		return "the row before that is"
	}
	return "the " + say.Count(e.Rows, "row") + " before that are"
}

// whole names the place of all rows.
func (e *FaultError) whole() string {
	switch rows := say.Count(e.Rows, "row"); {
	case e.Lost != nil:
		return fmt.Sprintf("its rows could not be kept: %v", e.Lost)
	case e.Aborted:
		return say.File(e.Out) + " was not written: its upload was aborted"
	case e.Kept == "" && e.Where != "":
		return fmt.Sprintf("no row is one that -where %s asks for, so nothing was written", e.Where)
	case e.Kept == "":
		return "nothing was written"
	case e.Kept == e.Out && e.Rows == 0:
		return "no row was written to " + say.File(e.Kept)
	case e.Kept == e.Out:
		return fmt.Sprintf("the output is complete in %s: %s", say.File(e.Kept), rows)
	default:
		return fmt.Sprintf("the output is kept as %s: %s; %s was not written", say.File(e.Kept), rows, say.File(e.Out))
	}
}

// Unwrap returns the fault.
func (e *FaultError) Unwrap() error { return e.Err }

// IsClosedPipe reports whether all that went wrong is that nobody reads standard output any more.
func IsClosedPipe(err error) bool {
	if _, ok := errors.AsType[*FaultError](err); ok {
		return false
	}
	fe, ok := errors.AsType[*atomicfile.Error](err)
	return ok && fe.Name == say.Std && atomicfile.IsClosedPipe(fe)
}
