package pipe

import (
	"errors"
	"fmt"
)

// The kinds of faults of a stream. They come inside a [*StreamError], with the remedy.
var (
	ErrNoSchema    = errors.New("there is no stream")
	ErrTruncated   = errors.New("the stream ends within a message")
	ErrDamaged     = errors.New("the stream is damaged")
	ErrUnsupported = errors.New("the stream has what is not supported")
	ErrNoColumn    = errors.New("no such column")
	ErrTaken       = errors.New("the name of a column is taken")
	ErrType        = errors.New("not a type of text")
)

// A StreamError is a fault of the stream that is read. All record batches before it are written.
type StreamError struct {
	Batch int64 // 1-based number of the record batch that it concerns; 0 is the schema of the first stream
	Err   error // what is wrong, and the remedy
}

// Error says where and what.
func (e *StreamError) Error() string {
	switch e.Batch {
	case 0:
		return fmt.Sprintf("schema: %v", e.Err)
	case 1:
		return fmt.Sprintf("record batch 1: %v", e.Err)
	case 2:
		return fmt.Sprintf("record batch 2: %v; the one before it is written", e.Err)
	}
	return fmt.Sprintf("record batch %d: %v; the %d before it are written", e.Batch, e.Err, e.Batch-1)
}

// Unwrap returns what is wrong.
func (e *StreamError) Unwrap() error { return e.Err }

// damaged returns an [ErrDamaged] that says where.
func damaged(format string, values ...any) error {
	return fmt.Errorf("%w (%s): look at what the program that sends it says", ErrDamaged, fmt.Sprintf(format, values...))
}
