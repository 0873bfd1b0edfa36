package pipe

import (
	"errors"
	"fmt"
)

// Kinds of faults that another choice of columns ends. They come inside a [*StreamError].
var (
	ErrNoColumn      = errors.New("no such column") // of URLs
	ErrNoAgentColumn = errors.New("no such column") // of agents
	ErrTaken         = errors.New("the name of a column is taken")
	ErrType          = errors.New("not a type of text")
)

// Other kinds of faults.
var (
	errNoSchema    = errors.New("there is no stream")
	errTruncated   = errors.New("the stream ends within a message")
	errDamaged     = errors.New("the stream is damaged")
	errUnsupported = errors.New("the stream has what is not supported")
)

// A StreamError is a fault of the stream that is read. All record batches before it are written.
type StreamError struct {
	Batch int64 // 1-based number of the record batch; 0 is the schema of the first stream
	Err   error // the fault
}

// Error says the place and the fault.
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

// Unwrap returns the fault.
func (e *StreamError) Unwrap() error { return e.Err }

// damaged returns an errDamaged that says where.
func damaged(format string, values ...any) error {
	return fmt.Errorf("%w (%s): look at what the program that sends it says", errDamaged, fmt.Sprintf(format, values...))
}

// guarded calls do and turns its panic into an error: the readers of FlatBuffers panic at damage.
func guarded(do func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = damaged("the parts of a header do not fit together")
		}
	}()
	return do()
}
