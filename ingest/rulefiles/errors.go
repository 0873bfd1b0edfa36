package rulefiles

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/robots"
)

// Faults in the caller's options. They come inside a [*NameError].
var (
	ErrNoOrigin   = errors.New("is a file, and nothing says whose robots.txt it is")
	errOrigin     = errors.New("not an origin")
	ErrOriginDir  = errors.New("is a directory, so one origin cannot be given for it")
	ErrOriginFile = errors.New("says itself whose robots.txt it holds, so no origin can be given for it")
	ErrNoRules    = errors.New("no file in it is named as a robots.txt")
	ErrPack       = errors.New("is a rule pack, which has no robots.txt as they are written")
	errPackName   = errors.New("is a rule pack, and its name does not say so")
	ErrNoRobots   = errors.New("none of its captures is of a robots.txt, whose URL ends in the path /robots.txt")
)

// A NameError says that a file or directory cannot be used as it was given: its Name, the fault
// as Err, which Unwrap returns, and the advice as Remedy, which may be empty.
type NameError = fault.NameError

// Problems are the broken records of captures, which were left out: the Total, and the First 100 as
// [*RecordError] values.
type Problems = capture.Problems

// A RecordError says which record of a capture file is broken: the Name of the file, the Offset of
// the record or of the gzip member or zstd frame that it starts in, where its Text begins in that,
// or its Line, and the fault as Err.
type RecordError = capture.RecordError

// A Damage is a fault in a file of captures behind which nothing of it is used: the file ends in the
// middle of a record, some of it cannot be unpacked, or nobody knows where a record ends. It says
// where as At, a [*RecordError], and how many bytes of the file are Unread, and are known to be
// Missing.
type Damage = capture.Damage

// A DamageError lists every file of captures that could not be read to its end, so that nobody
// knows which rules are missing.
type DamageError struct{ Damages []*Damage }

// Error lists all of them, one a line unless there is one.
func (e *DamageError) Error() string {
	if len(e.Damages) == 1 {
		return e.Damages[0].Error()
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "captures are damaged in %d places:", len(e.Damages))
	for _, d := range e.Damages {
		sb.WriteString("\n  ")
		sb.WriteString(d.Error())
	}
	return sb.String()
}

// Unwrap returns the damages.
func (e *DamageError) Unwrap() []error {
	errs := make([]error, len(e.Damages))
	for i, d := range e.Damages {
		errs[i] = d
	}
	return errs
}

// A ConflictError says that two files are the robots.txt of one origin, and equally specific.
type ConflictError struct {
	Origin robots.Origin
	Names  [2]string // in the order found
}

// Error names the origin, both files and the remedy.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("two files are the robots.txt of %s: %s and %s: remove one (names that differ only in case, IDN form, default port or trailing dot are the same host)",
		e.Origin, fault.Display(e.Names[0]), fault.Display(e.Names[1]))
}

// An UnreadableError lists every rules file or directory that could not be read.
type UnreadableError struct {
	Errs []error // one for each, by name; never empty
}

// Error lists all of them, one a line, after the remedy.
func (e *UnreadableError) Error() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%d of the rules cannot be read (make them readable, or take them out of the directory):", len(e.Errs))
	for _, err := range e.Errs {
		sb.WriteString("\n  ")
		sb.WriteString(err.Error())
	}
	return sb.String()
}

// Unwrap returns the faults.
func (e *UnreadableError) Unwrap() []error { return e.Errs }
