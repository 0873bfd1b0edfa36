package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robobatch/robobatch/robots"
)

// Faults in the data of a log. They come inside a [*LineError].
var (
	ErrTruncated = errors.New("the compressed data ends too early")
	ErrDamaged   = errors.New("the compressed data is damaged")
	ErrChecksum  = errors.New("the checksum is wrong")
	ErrTrailing  = errors.New("after the compressed data come bytes that are not part of it")
	ErrWindow    = errors.New("the frame needs a window of more than 128 MiB, or is damaged")
	ErrFormat    = errors.New("not a format that is read")
)

// Faults in the records of capture files. They come inside a [*RecordError], as those of compressed data do.
var (
	ErrNoRecord   = errors.New("no WARC record starts here")
	ErrHeader     = errors.New("the header of the record is damaged")
	ErrLength     = errors.New("the length of the record is wrong")
	ErrDigest     = errors.New("the block of the record does not have its digest")
	ErrHTTP       = errors.New("the record holds no valid HTTP response")
	ErrEncoding   = errors.New("the body cannot be decoded")
	ErrBomb       = errors.New("the body becomes longer than 64 MiB when decoded")
	ErrTarget     = errors.New("not a URL with a valid host")
	ErrRevisit    = errors.New("what the record repeats is not in the input before it")
	ErrDictionary = errors.New("the dictionary that the frame needs is missing or damaged")
	ErrUndated    = errors.New("not the first response of this origin without a time, and nothing says which is newer: add fetched_at")
	ErrTooDamaged = errors.New("damaged in too many places to go on behind all of them: copy or download it again, or unpack it")
	ErrResponse   = errors.New("not a response")
	ErrLongLine   = errors.New("the line is longer than 16 MiB")
)

// Faults in what was asked for. They come inside a [*NameError].
var (
	ErrNoInput    = errors.New("no input: name a log, or - for standard input")
	ErrStdinTwice = errors.New("can be read only once")
	ErrDirectory  = errors.New("is a directory")
	ErrNoMatch    = errors.New("no file matches the pattern")
	ErrNoOrigin   = errors.New("is a file, and nothing says whose robots.txt it is")
	ErrOrigin     = errors.New("not an origin")
	ErrOriginDir  = errors.New("is a directory, so one origin cannot be given for it")
	ErrNotRegular = errors.New("not a regular file")
	ErrNoRules    = errors.New("no file in it is named as a robots.txt")
	ErrPack       = errors.New("is a rule pack, which has no robots.txt as they are written")
	ErrPackName   = errors.New("is a rule pack, and its name does not say so")
	ErrOriginFile = errors.New("says itself whose robots.txt it holds, so no origin can be given for it")
	ErrNoRobots   = errors.New("none of its captures is of a robots.txt, whose URL ends in the path /robots.txt")
	ErrNoCapture  = errors.New("nothing in it could be read as a capture of a robots.txt or another record")
)

// A LineError is a fault in the middle of a log. The rows before it were yielded.
type LineError struct {
	Name   string // the log, "-" for standard input
	Line   int64  // 1-based line, after decompression, that the fault cut off or kept from starting
	Offset int64  // bytes of decompressed text before the fault
	Err    error  // ErrTruncated and kin or an error of the operating system, with the remedy
}

// Error names the log, the place, the fault and the remedy.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s: line %d (byte %d of the text): %v", display(e.Name), e.Line, e.Offset, e.Err)
}

// Unwrap returns the fault.
func (e *LineError) Unwrap() error { return e.Err }

// A NameError says that a file, directory or pattern cannot be used as it was given.
type NameError struct {
	Name   string // as given, or below the rules directory
	Err    error  // what is wrong
	Remedy string // what to do about it; may be empty
}

// Error names the file, the fault and the remedy.
func (e *NameError) Error() string {
	s := display(e.Name) + ": " + e.Err.Error()
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

// Unwrap returns the fault.
func (e *NameError) Unwrap() error { return e.Err }

// fileError is the NameError for an error of package os, whose path would say the name twice.
func fileError(name string, err error, remedy string) *NameError {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &NameError{Name: name, Err: err, Remedy: remedy}
}

// A ConflictError says that two files are the robots.txt of one origin, and equally specific.
type ConflictError struct {
	Origin robots.Origin
	Names  [2]string // in the order found
}

// Error names the origin, both files and the remedy.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("two files are the robots.txt of %s: %s and %s: remove one (case, IDN, default port and trailing dot make no other host)",
		e.Origin, display(e.Names[0]), display(e.Names[1]))
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

// display returns a name as messages show it: quoted if a terminal would not show it as it is.
func display(name string) string {
	switch {
	case name == stdinName:
		return "standard input"
	case name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.Quote(name)
	}
	return name
}
