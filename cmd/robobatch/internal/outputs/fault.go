package outputs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// A FaultError is an error in the middle of the logs, or an error of a completed run, such as an exceeded limit.
type FaultError struct {
	Err   error  // the fault, and its place
	AtEnd bool   // the run was completed, with all rows
	Rows  int64  // rows of the output before the fault
	Where string // the rows selected by -where; "" means all
	Out   string // requested output
	Kept  string // output that has the rows; "" if none
	Lost  error  // why the rows could not be kept; nil if they were

	Aborted bool // the output is an object, so no part of it can be kept

	Unverified string // the log, and its line from which on no checksum has verified the rows; "" if all are verified
}

// Error describes the fault, and where the rows before it are.
func (e *FaultError) Error() string {
	switch {
	case e.AtEnd:
		return e.Err.Error() + "\n" + e.completeText()
	case e.Lost != nil:
		return fmt.Sprintf("%v\nthe rows before the fault could not be kept: %v", e.Err, e.Lost)
	case e.Aborted:
		return fmt.Sprintf("%v\n%s was not written: its upload was aborted; for the rows before that, name a file", e.Err, msg.File(e.Out))
	case e.Kept == "" && e.Where != "":
		return fmt.Sprintf("%v\nno row before that matches -where %s, so nothing was written", e.Err, e.Where)
	case e.Kept == "":
		return fmt.Sprintf("%v\nthere are no rows before that, so nothing was written", e.Err)
	case e.Kept == e.Out && e.Rows == 0:
		return fmt.Sprintf("%v\nthere are no rows before that", e.Err)
	case e.Kept == e.Out:
		return fmt.Sprintf("%v\n%s complete in %s%s", e.Err, e.rowsText(), msg.File(e.Kept), e.unverifiedText())
	}
	return fmt.Sprintf("%v\n%s complete in %s; %s was not written%s", e.Err, e.rowsText(), msg.File(e.Kept), msg.File(e.Out), e.unverifiedText())
}

// unverifiedText names the rows that may be wrong, on a line of its own; "" if all are verified.
func (e *FaultError) unverifiedText() string {
	if e.Unverified == "" {
		return ""
	}
	if log, ok := strings.CutPrefix(e.Unverified, "line 1 of "); ok {
		return "\nno checksum has verified the rows of " + log + ", so they may be wrong: do not use them"
	}
	return "\nno checksum has verified rows from " + e.Unverified + " on, so they may be wrong: use only the rows before"
}

// rowsText returns the beginning of a clause about the rows before the fault, such as "the 3 rows before that are".
func (e *FaultError) rowsText() string {
	if e.Rows == 1 {
		return "the row before that is"
	}
	return "the " + msg.Count(e.Rows, "row") + " before that are"
}

// completeText returns a clause about the output of a complete run: where it is, or why it was not written.
func (e *FaultError) completeText() string {
	switch rows := msg.Count(e.Rows, "row"); {
	case e.Lost != nil:
		return fmt.Sprintf("its rows could not be stored: %v", e.Lost)
	case e.Aborted:
		return msg.File(e.Out) + " was not written: its upload was aborted"
	case e.Kept == "" && e.Where != "":
		return fmt.Sprintf("no row matches -where %s, so nothing was written", e.Where)
	case e.Kept == "":
		return "nothing was written"
	case e.Kept == e.Out && e.Rows == 0:
		return "no row was written to " + msg.File(e.Kept)
	case e.Kept == e.Out:
		return fmt.Sprintf("the output is complete in %s: %s", msg.File(e.Kept), rows)
	default:
		return fmt.Sprintf("the output is kept as %s: %s; %s was not written", msg.File(e.Kept), rows, msg.File(e.Out))
	}
}

// Unwrap returns the fault.
func (e *FaultError) Unwrap() error { return e.Err }

// IsClosedPipe reports whether the only fault is that the reader closed standard output. It is false for a
// [*FaultError].
func IsClosedPipe(err error) bool {
	if _, ok := errors.AsType[*FaultError](err); ok {
		return false
	}
	fe, ok := errors.AsType[*atomicfile.Error](err)
	return ok && fe.Name == msg.Std && atomicfile.IsClosedPipe(fe)
}
