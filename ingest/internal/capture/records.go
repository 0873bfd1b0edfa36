package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/httpmsg"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

var warcMagic = []byte(unpack.WARCMagic)

// records reads the records of a WARC file (ISO 28500:2017; WARC 1.0 and 1.1) in order, and goes on
// behind damage.
type records struct {
	src  *unpack.Segments
	name string
	head httpmsg.Header
	http httpmsg.Reader

	start  int64 // of this record in the text
	block  block // of this record
	intact int   // records without a fault so far
	shared bool  // a segment had two records
	tail   tail  // the possible lost end of the file
	faults int   // of the source, as far as they are in tail
}

func newRecords() records { return records{src: unpack.NewSegments(unpack.WARCMagic)} }

// reset starts to read a file.
func (r *records) reset(name string, file io.ReaderAt, size int64) error {
	r.name, r.intact, r.shared, r.tail, r.faults = name, 0, false, tail{size: size}, 0
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

// count counts the record as one without a fault.
func (r *records) count() {
	r.intact++
	r.shared = r.shared || r.location().text > 0
}

// cut begins the tail if nothing may follow the record, which has that error. It is to be called
// before resync.
func (r *records) cut(err error) {
	if !cutsOff(err, r.alone()) {
		return
	}
	unread := r.src.Rest()
	if !r.src.IsPacked() {
		unread = r.src.Size() - r.start
	}
	r.tail.begin(r.problem(err), unread)
}

// alone reports whether each record so far had a segment of its own, and this one begins its
// segment.
func (r *records) alone() bool {
	return r.src.IsPacked() && r.intact > 0 && !r.shared && r.location().text == 0
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
	if kind = r.head.Get("WARC-Type"); len(kind) == 0 {
		return nil, 0, fmt.Errorf("%w: it has no WARC-Type", ErrHeader)
	}
	return kind, length, nil
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

// damagedHeader returns the fault that an error of Header.Read means for a record.
func damagedHeader(err error) error {
	switch {
	case errors.Is(err, httpmsg.ErrLongHeader):
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
