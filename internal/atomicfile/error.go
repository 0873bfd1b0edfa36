package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// An Error is a fault in writing an output. It unwraps to the cause, so that [IsFull] detects a full disk, and
// [IsClosedPipe] a standard output whose reader has closed it.
type Error struct {
	Doing string // "create", "write", "finish", "rename the temporary file of"
	Name  string // the final name, as asked for; "-" for standard output
	Err   error
}

// Error names the step that failed, its output, and the cause.
func (e *Error) Error() string {
	name := e.Name
	if name == Stdout {
		name = "standard output"
	}
	return e.Doing + " " + name + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Causes of an Error.
var (
	// ErrNoDirectory: the directory of the output does not exist. It is an fs.ErrNotExist.
	ErrNoDirectory error = &kindError{"directory does not exist: create it, or write elsewhere", fs.ErrNotExist}

	// ErrNotRegular: the output is written in several passes, but is a pipe, a device or standard output.
	ErrNotRegular = errors.New("is not a regular file, but this output is written in several passes: name a file")

	// ErrTaken: the temporary file disappeared before it was renamed.
	ErrTaken = errors.New("its temporary file is gone: another run with the same output, or another process, has removed it; run each output and each shard only once at a time")

	errIsDirectory = errors.New("is a directory: name a file in it")
)

// A kindError is an error with its own text that is also another error.
type kindError struct {
	text string
	kind error
}

func (e *kindError) Error() string { return e.text }
func (e *kindError) Unwrap() error { return e.kind }

// WithoutPath returns the cause in the fs.PathError or os.LinkError that err is or wraps. The text of the cause has no
// path, which may be that of a temporary file; text around the inner error is lost. Other errors, and nil, are returned
// unchanged.
func WithoutPath(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err
	}
	return err
}

// IsFull reports whether an error says that a disk or a quota is full.
func IsFull(err error) bool { return isOneOf(err, fullErrors) }

// IsClosedPipe reports whether an error says that the reader of a pipe has closed it.
func IsClosedPipe(err error) bool { return isOneOf(err, pipeErrors) }

// isOneOf reports whether an error is one of the kinds.
func isOneOf(err error, kinds []error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// wrapError returns err as an [*Error] about the named output, without its path, and adds a remedy for some causes.
// doing is as in Error. If err already is or wraps an Error, that one is returned, because it knows the failed step
// better; nil stays nil.
func wrapError(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch err = WithoutPath(err); {
	case IsFull(err):
		err = fmt.Errorf("%w: free some space, or write elsewhere", err)
	case doing == "create" && errors.Is(err, syscall.EROFS):
		err = fmt.Errorf("%w: write elsewhere", err)
	case doing != "create" && isOneOf(err, useErrors):
		err = fmt.Errorf("%w: if another program has the old file open, close it", err)
	}
	return &Error{Doing: doing, Name: name, Err: err}
}
