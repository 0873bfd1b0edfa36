package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

var warcMagic = []byte(unpack.WARCMagic)

// records reads the records of a WARC file (ISO 28500:2017; WARC 1.0 and 1.1) in order.
type records struct {
	src  *unpack.Segments
	name string
	head Header
	http Reader

	start  int64   // of this record in the text
	block  block   // of this record
	intact int     // records without a fault so far
	shared bool    // a segment had two records
	damage *Damage // of the last record that could not be read
}

func newRecords() records { return records{src: unpack.NewSegments(unpack.WARCMagic)} }

// reset starts to read a file.
func (r *records) reset(name string, file io.ReaderAt, size int64) error {
	r.name, r.intact, r.shared, r.damage = name, 0, false, nil
	return r.src.Reset(name, file, size)
}

// next moves to the next record, over extra line ends, and reports whether there is one, or a
// fault.
func (r *records) next() bool {
	for {
		b, err := r.src.Text.Peek(1)
		if err != nil {
			r.start = r.src.Pos()
			return err != io.EOF && r.src.IOErr() == nil
		}
		if b[0] != '\r' && b[0] != '\n' {
			break
		}
		r.src.Text.Discard(1) //nolint:errcheck // it is buffered
	}
	r.start = r.src.Pos()
	r.src.Prune(r.start)
	return true
}

// count counts the record as one whose borders are right. If it has no fault, it is intact.
func (r *records) count(isIntact bool) {
	if isIntact {
		r.intact++
	}
	r.shared = r.shared || r.location().text > 0
}

// isLossy reports whether resume left out a gzip member or zstd frame, and later ones have several
// records: then nobody knows how many were in that one.
func (r *records) isLossy() bool { return r.shared && r.damage != nil }

// resume moves from a record with that error to the next one that can be read, and reports whether
// there is one. It looks for one only where each record has a gzip member or zstd frame of its own.
func (r *records) resume(err error) bool {
	at := r.problem(err)
	unread := r.src.Rest()
	if !r.src.IsPacked() {
		unread = r.src.Size() - r.start
	}
	r.damage = newDamage(at, r.src.Size(), unread)
	return r.src.IsPacked() && !r.shared && at.Text == 0 && r.src.Resume(r.start)
}

// A location is where a record is.
type location struct {
	offset int64 // of the record, or the segment that it starts in, in the file
	text   int64 // of the record in that segment
}

// location returns where the record is.
func (r *records) location() location {
	offset, text := r.src.Place(r.start)
	return location{offset, text}
}

// problem returns the error of the record.
func (r *records) problem(err error) *RecordError {
	loc := r.location()
	return &RecordError{Name: r.name, Offset: loc.offset, Text: loc.text, Err: err}
}

// readFields reads the header of the record and returns its type and the length of its block.
func (r *records) readFields() (kind []byte, length int64, err error) {
	if head, err := r.src.Text.Peek(len(warcMagic)); !bytes.Equal(head, warcMagic) {
		switch {
		case err != nil && err != io.EOF:
			return nil, 0, err
		case err == io.EOF && bytes.HasPrefix(warcMagic, head):
			return nil, 0, short(0, "%w: %w", ErrHeader, io.ErrUnexpectedEOF)
		}
		return nil, 0, fmt.Errorf("%w: it begins %q", ErrNoRecord, head)
	}
	if err = r.head.Read(r.src.Text, r.checkLine); err != nil {
		return nil, 0, damagedHeader(err)
	}
	if length, err = strconv.ParseInt(string(r.head.Get("Content-Length")), 10, 64); err != nil || length < 0 {
		return nil, 0, fmt.Errorf("%w: Content-Length is %q", ErrLength, fault.Short(r.head.Get("Content-Length")))
	}
	return r.head.Get("WARC-Type"), length, nil
}

// checkLine returns io.ErrUnexpectedEOF if the header was cut off: the line is, or ends with, the
// first line of the next record.
func (r *records) checkLine(line []byte) error {
	n := len(line) - len("WARC/1.0\r\n")
	isNext := n >= 0 && bytes.HasPrefix(line[n:], warcMagic) && isFirstLine(line[n:]) && !r.head.IsEmpty()
	if isNext || r.src.Crossed(r.start) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// isFirstLine reports whether b starts with a line like "WARC/1.0", apart from the text before the
// number.
func isFirstLine(b []byte) bool {
	n := len(warcMagic)
	return len(b) >= n+3 && '0' <= b[n] && b[n] <= '9' && b[n+1] == '\r' && b[n+2] == '\n'
}

// damagedHeader returns the fault that an error of Header.Read means for a record.
func damagedHeader(err error) error {
	switch {
	case errors.Is(err, ErrLongHeader):
		return fmt.Errorf("%w: %w", ErrHeader, err)
	case err == io.ErrUnexpectedEOF:
		return short(0, "%w: %w", ErrHeader, err)
	}
	return err
}

// release gives back the memory that closing alone frees.
func (r *records) release() {
	r.src.Release()
	r.http.Release()
}
