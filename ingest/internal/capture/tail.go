package capture

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

// The faults of a whole file, or a part of it. Nobody knows how many records are lost.
var (
	// ErrEndsEarly is the error of a file that ends within a record, or that has nothing readable
	// from some place to its end.
	ErrEndsEarly = errors.New("ends too early")
	// ErrPart is the error of a file with gzip members or zstd frames of several records, some of
	// which cannot be unpacked. Their records before the fault are used, and not verified.
	ErrPart = errors.New("has a damaged part")
)

// A Damage is the end of a file of captures that was lost, or a part of it.
type Damage struct {
	Kind    error        // ErrEndsEarly or ErrPart
	At      *RecordError // the first record that is lost: where it begins, and the fault
	Parts   int64        // that are damaged, of an ErrPart
	Size    int64        // of the file
	Unread  int64        // bytes at its end, as stored, that gave no record; 0 of an ErrPart
	Missing int64        // bytes that are known to be missing behind its end; 0 if that is unknown
}

// Error names the file, the place and the fault.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s: %s", fault.Display(d.At.Name), d.Lost())
}

// Lost names the loss, without the name of the file and the remedy.
func (d *Damage) Lost() string {
	wrong := strings.TrimRight(strings.TrimSuffix(d.At.Err.Error(), unpack.Again), ":; ")
	kind := d.Kind.Error()
	if errors.Is(d.At.Err, unpack.ErrTrailing) {
		kind, wrong = "has bytes behind its end", strings.TrimSuffix(wrong, ": cut them off, or")
	}
	text := fmt.Sprintf("%s: %s: %s", kind, d.At.place(), wrong)
	if d.Parts > 1 {
		text += fmt.Sprintf("; %d parts are damaged", d.Parts)
	}
	if d.Unread > 0 {
		text += fmt.Sprintf("; the last %d of its %d bytes are not used", d.Unread, d.Size)
	}
	return text
}

// Unwrap returns the kind and the fault of the record.
func (d *Damage) Unwrap() []error { return []error{d.Kind, d.At.Err} }

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

// A tail is the possible lost end of a file: a record that cuts the file off, and the problems
// behind it, until an intact record shows that the file goes on. Its zero value is empty.
type tail struct {
	damage *Damage
	behind Problems
	parts  int64   // segments in it that could not be unpacked
	inside *Damage // such segments, with an intact record behind them
	size   int64   // of the file
}

// begin begins the tail with a record, unless it has begun.
func (t *tail) begin(at *RecordError, unread int64) {
	if t.damage != nil {
		return
	}
	t.damage = &Damage{Kind: ErrEndsEarly, At: at, Size: t.size, Unread: unread}
	if e, ok := errors.AsType[*shortError](at.Err); ok {
		t.damage.Missing = e.missing
	}
}

// reportProblem adds a problem, to the tail if it has begun, else to p.
func (t *tail) reportProblem(p *Problems, e *RecordError) {
	if t.damage != nil {
		p = &t.behind
	}
	p.addProblem(e)
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
	at, parts := t.damage.At, t.parts
	t.damage, t.behind, t.parts = nil, Problems{}, 0
	if parts > 0 {
		t.part(at, parts)
	}
}

// part notes that so many segments could not be unpacked, the first where that record is.
func (t *tail) part(at *RecordError, n int64) {
	if t.damage != nil {
		t.parts += n
		return
	}
	if t.inside == nil {
		t.inside = &Damage{Kind: ErrPart, At: at, Size: t.size}
	}
	t.inside.Parts += n
}
