// Package flow has the two ends of a run. Its source counts the rows of logs, and rejects logs without a field that the
// flags need. Its sink counts, lists and limits rejected lines. It also describes where the rows before a fault are.
// Only cmd/robobatch imports it.
package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// A Source is logs whose rows are counted.
type Source struct {
	*ingest.Logs
	URLs        atomic.Int64 // read so far
	NeedsAgents bool         // rows without User-Agents are an error
	NoAgents    error        // replaces the usual error for missing User-Agents; nil keeps it
	NoTimes     error        // error for a log without times; nil if times are not needed
	Dated       bool         // a row had a time, if times are needed
	Late        int64        // rows whose time is over a year after the day of the table of crawlers
	fault       error        // error of rows that lack a field
}

// late is one year after the day of the table of crawlers, in microseconds since 1970.
var late = func() int64 {
	day, err := time.Parse(time.DateOnly, crawlers.Date())
	if err != nil {
		panic(err) // package crawlers checks its days
	}
	return day.AddDate(1, 0, 0).UnixMicro()
}()

// Next fills b with the next rows.
func (s *Source) Next(b *engine.Batch) bool {
	if s.fault != nil || !s.Logs.Next(b) {
		return false
	}
	if s.NeedsAgents && b.Len() > 0 && len(b.UserAgents) == 0 {
		s.fault = fmt.Errorf("%s: %w", s.Inputs()[b.Input].Name, cmp.Or(s.NoAgents, errNoUserAgents))
		return false
	}
	if s.NoTimes != nil && b.Len() > 0 && len(b.Times) == 0 {
		s.fault = fmt.Errorf("%s: %w", s.Inputs()[b.Input].Name, s.NoTimes)
		return false
	}
	if s.NoTimes != nil && !s.Dated {
		s.Dated = slices.ContainsFunc(b.Times, func(t int64) bool { return t != engine.NoTime })
	}
	if s.NeedsAgents {
		for _, t := range b.Times {
			if t > late {
				s.Late++
			}
		}
	}
	s.URLs.Add(int64(b.Len()))
	return true
}

// Err returns the error that ended the rows.
func (s *Source) Err() error {
	if s.fault != nil {
		return s.fault
	}
	return s.Logs.Err()
}

// Sample returns the progress of reading. Any goroutine may call it.
func (s *Source) Sample() console.Sample {
	done, total := s.Progress()
	return console.Sample{Done: done, Total: total, URLs: s.URLs.Load(), Bytes: true}
}

// Errors for logs without a field that a flag needs.
var (
	errNoUserAgents = errors.New("-agent-from-log: this log has no field user_agent, because it is read as a list of URLs: name crawlers with -agent, or the format with -format")
	ErrNoTimes      = errors.New("-as-of log: this log has no times, because it is read as a list of URLs: name a date, such as -as-of 2026-01-31, or the format with -format")
	ErrNoDates      = errors.New("-partition-by date: this log has no time field: name it with -field time=name, or leave out date")
)

// A FaultError is an error in the middle of the logs, or about a completed run.
type FaultError struct {
	Err   error  // the fault, and its place
	AtEnd bool   // the run was completed, with all rows
	Rows  int64  // rows of the output before the fault
	Where string // the rows selected by -where; "" means all
	Out   string // requested output
	Kept  string // output that has the rows; "" if none
	Lost  error  // why the rows could not be kept; nil if they were

	Aborted bool // the output is an object, so no part of it can be kept

	Unverified string // the log and the first line from which rows are unverified; "" if all are verified
}

// Error describes the fault, and where the rows before it are.
func (e *FaultError) Error() string {
	switch {
	case e.AtEnd:
		return e.Err.Error() + "\n" + e.whole()
	case e.Lost != nil:
		return fmt.Sprintf("%v\nthe rows before the fault could not be kept: %v", e.Err, e.Lost)
	case e.Aborted:
		return fmt.Sprintf("%v\n%s was not written: its upload was aborted; for the rows before that, name a file", e.Err, say.File(e.Out))
	case e.Kept == "" && e.Where != "":
		return fmt.Sprintf("%v\nno row before that matches -where %s, so nothing was written", e.Err, e.Where)
	case e.Kept == "":
		return fmt.Sprintf("%v\nthere are no rows before that, so nothing was written", e.Err)
	case e.Kept == e.Out && e.Rows == 0:
		return fmt.Sprintf("%v\nthere are no rows before that", e.Err)
	case e.Kept == e.Out:
		return fmt.Sprintf("%v\n%s complete in %s%s", e.Err, e.before(), say.File(e.Kept), e.unverified())
	}
	return fmt.Sprintf("%v\n%s complete in %s; %s was not written%s", e.Err, e.before(), say.File(e.Kept), say.File(e.Out), e.unverified())
}

// unverified names the rows that may be wrong, on a line of its own.
func (e *FaultError) unverified() string {
	if e.Unverified == "" {
		return ""
	}
	if log, ok := strings.CutPrefix(e.Unverified, "line 1 of "); ok {
		return "\nno checksum has verified the rows of " + log + ", so they may be wrong: do not use them"
	}
	return "\nno checksum has verified rows from " + e.Unverified + " on, so they may be wrong: use only the rows before"
}

// before describes the rows before the fault, with a verb.
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
		return fmt.Sprintf("its rows could not be stored: %v", e.Lost)
	case e.Aborted:
		return say.File(e.Out) + " was not written: its upload was aborted"
	case e.Kept == "" && e.Where != "":
		return fmt.Sprintf("no row matches -where %s, so nothing was written", e.Where)
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

// IsClosedPipe reports whether the only fault is that the reader closed standard output.
func IsClosedPipe(err error) bool {
	if _, ok := errors.AsType[*FaultError](err); ok {
		return false
	}
	fe, ok := errors.AsType[*atomicfile.Error](err)
	return ok && fe.Name == say.Std && atomicfile.IsClosedPipe(fe)
}
