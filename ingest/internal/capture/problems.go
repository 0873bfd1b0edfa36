package capture

import (
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/ingest/internal/fault"
)

// Faults in records. They come inside a [*RecordError], as those of package unpack and of HTTP
// messages do.
var (
	ErrNoRecord = errors.New("no WARC record starts here")
	ErrHeader   = errors.New("the header of the record is damaged")
	ErrLength   = errors.New("the length of the record is wrong")
	ErrDigest   = errors.New("the block of the record does not have its digest")
	ErrTarget   = errors.New("not a URL with a valid host")
	ErrCut      = errors.New("the answer is incomplete")
	ErrRevisit  = errors.New("what the record repeats is not in the input before it")
	ErrUndated  = errors.New("not the first response of this origin without a time, and nothing says which is newer: add fetched_at")
	ErrResponse = errors.New("not a response")
	ErrLongLine = errors.New("the line is longer than 16 MiB")
)

// Faults of a whole file.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrNoCapture  = errors.New("nothing in it could be read as a capture of a robots.txt or another record")
	ErrWARC       = errors.New("no WARC record could be read of it: is it another format?")
)

// maxProblems is how many problems of a pass are kept; the others are counted.
const maxProblems = 100

// Problems are the records of capture files (WARC and JSON Lines) that were left out of the
// responses because they are broken.
type Problems struct {
	Total int64          // how many there are
	First []*RecordError // the first 100 of them, in the order of the files
}

// A RecordError says that a record of a capture file is broken. The others were used.
type RecordError struct {
	Name   string // the file, as found
	Offset int64  // bytes of the file before the record, or before the gzip member or zstd frame that it starts in; -1 if Line says where
	Text   int64  // bytes of text before the record in that member or frame: 0 for one that has it to itself
	Line   int64  // 1-based line of a JSON Lines file, of those that could be read; 0 in a WARC file
	Err    error  // the fault, such as ErrLength
}

// Error names the file, the place and the fault.
func (e *RecordError) Error() string {
	return fmt.Sprintf("%s: %s: %v", fault.Display(e.Name), e.place(), e.Err)
}

// place says where in the file the record is.
func (e *RecordError) place() string {
	switch {
	case e.Line > 0 && e.Offset < 0:
		return fmt.Sprintf("line %d", e.Line)
	case e.Line > 0:
		return fmt.Sprintf("line %d, in the part at byte %d", e.Line, e.Offset)
	case e.Text > 0:
		return fmt.Sprintf("record at byte %d of the text of the part at byte %d", e.Text, e.Offset)
	}
	return fmt.Sprintf("record at byte %d", e.Offset)
}

// Unwrap returns the fault.
func (e *RecordError) Unwrap() error { return e.Err }

// addProblem counts a problem, and keeps it if it is one of the first.
func (p *Problems) addProblem(e *RecordError) {
	p.Total++
	if len(p.First) < maxProblems {
		p.First = append(p.First, e)
	}
}

// noCapture returns ErrNoCapture for a file that began when there were before problems, has more,
// and nothing else.
func (p *Problems) noCapture(before int64) error {
	switch {
	case p.Total == before:
		return nil
	case before < int64(len(p.First)):
		return fmt.Errorf("%w: %s: %w", ErrNoCapture, p.First[before].place(), p.First[before].Err)
	}
	return ErrNoCapture
}
