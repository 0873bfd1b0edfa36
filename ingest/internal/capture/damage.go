package capture

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

// A Damage is a fault in a capture file after which nothing of the file is used. The number of lost records is unknown.
type Damage struct {
	At      *RecordError // the first lost record: its position and fault
	Size    int64        // of the file
	Unread  int64        // stored bytes at the end without a readable record
	Missing int64        // bytes known to be missing after the end; 0 if unknown
}

// Error names the file, the place and the fault.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s: %s", fault.Display(d.At.Name), d.Lost())
}

// Lost describes the loss, without the file name and the remedy.
func (d *Damage) Lost() string {
	wrong := strings.TrimRight(strings.TrimSuffix(d.At.Err.Error(), unpack.Again), ":; ")
	wrong = strings.TrimSuffix(wrong, ": cut them off, or")
	text := fmt.Sprintf("%s: %s: %s", damageKind(d.At.Err), d.At.place(), wrong)
	if d.Unread > 0 {
		text += fmt.Sprintf("; the last %d of its %d bytes are not used", d.Unread, d.Size)
	}
	return text
}

// Unwrap returns the fault of the record.
func (d *Damage) Unwrap() error { return d.At.Err }

// damageKind describes a file in which a record has that fault.
func damageKind(err error) string {
	_, isShort := errors.AsType[*shortError](err)
	switch {
	case errors.Is(err, unpack.ErrTrailing):
		return "has bytes after its end"
	case isShort, errors.Is(err, unpack.ErrTruncated):
		return "ends too early"
	}
	return "is damaged"
}

// newDamage returns the damage of a file with that size.
func newDamage(at *RecordError, size, unread int64) *Damage {
	d := &Damage{At: at, Size: size, Unread: unread}
	if e, ok := errors.AsType[*shortError](at.Err); ok {
		d.Missing = e.missing
	}
	return d
}

// A shortError is the error of a record that the end of the file cuts off.
type shortError struct {
	err     error
	missing int64 // missing bytes of the record; 0 if unknown
}

func (e *shortError) Error() string { return e.err.Error() }
func (e *shortError) Unwrap() error { return e.err }

// short returns a shortError with that number of missing bytes.
func short(missing int64, format string, values ...any) error {
	return &shortError{fmt.Errorf(format, values...), missing}
}
