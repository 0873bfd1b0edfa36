package capture

import (
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

// ErrEndsEarly is the error of a file that ends within a record, or of which nothing can be read
// from some place to its end. What was in the rest is unknown.
var ErrEndsEarly = errors.New("ends too early")

// A Damage is the end of a file of captures that was lost.
type Damage struct {
	At      *RecordError // the first record that is lost: where it begins, and what is wrong
	Size    int64        // of the file
	Unread  int64        // bytes at its end, as stored, that gave no record
	Missing int64        // bytes that are known to be missing behind its end; 0 if that is unknown
}

// Error names the file, the place and the fault.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s: %s", fault.Display(d.At.Name), d.Lost())
}

// Lost says what is lost, without the name of the file.
func (d *Damage) Lost() string {
	text := fmt.Sprintf("%v: %s: %v", ErrEndsEarly, d.At.place(), d.At.Err)
	if d.Unread > 0 {
		text += fmt.Sprintf("; the last %d of its %d bytes are not used", d.Unread, d.Size)
	}
	return text
}

// Unwrap returns ErrEndsEarly and the fault of the record.
func (d *Damage) Unwrap() []error { return []error{ErrEndsEarly, d.At.Err} }

// A shortError is the error of a record that the file ends in.
type shortError struct {
	err     error
	missing int64 // bytes that the record lacks; 0 if that is unknown
}

func (e *shortError) Error() string { return e.err.Error() }
func (e *shortError) Unwrap() error { return e.err }

// short returns a shortError that lacks so many bytes.
func short(missing int64, format string, values ...any) error {
	return &shortError{fmt.Errorf(format, values...), missing}
}

// cutsOff reports whether behind a record with that error there may be nothing that can be read:
// the file ended in it, or its segment cannot be unpacked. It is not so where a segment with one
// record was unpacked to its end, and only has the wrong checksum.
func cutsOff(err error, alone bool) bool {
	if _, ok := errors.AsType[*shortError](err); ok {
		return true
	}
	_, ok := errors.AsType[*unpack.SegmentError](err)
	return ok && (!alone || !errors.Is(err, unpack.ErrChecksum))
}

// A tail is what may be the lost end of a file: a record that cuts the file off, and the problems
// behind it, until an intact record shows that the file goes on. Its zero value is empty.
type tail struct {
	damage *Damage
	behind Problems
}

// begin begins the tail with a record, unless it has begun.
func (t *tail) begin(at *RecordError, size, unread int64) {
	if t.damage != nil {
		return
	}
	t.damage = &Damage{At: at, Size: size, Unread: unread}
	if e, ok := errors.AsType[*shortError](at.Err); ok {
		t.damage.Missing = e.missing
	}
}

// add adds a problem, to the tail if it has begun, else to p. Where cutsOff, it begins the tail.
func (t *tail) add(p *Problems, e *RecordError) {
	if t.damage != nil {
		p = &t.behind
	}
	p.add(e)
}

// goesOn gives the problems of the tail to p, as an intact record follows them.
func (t *tail) goesOn(p *Problems) {
	if t.damage == nil {
		return
	}
	p.Total += t.behind.Total
	for _, e := range t.behind.First {
		if len(p.First) < maxProblems {
			p.First = append(p.First, e)
		}
	}
	*t = tail{}
}
