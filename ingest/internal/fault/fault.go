// Package fault has the error type that names a file, and formats names and bytes for messages. Only the packages below
// ingest use it, and they export it under their own names.
//
// No other package may import it.
package fault

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/robobatch/robobatch/internal/storage"
)

// Stdin is the name of standard input.
const Stdin = "-"

// A NameError means that a file, directory or pattern cannot be used as given.
type NameError struct {
	Name   string // as given, or relative to the rules directory
	Err    error  // the fault
	Remedy string // advice about it; may be empty
}

// Error names the file, the fault and the remedy.
func (e *NameError) Error() string {
	s := Display(e.Name) + ": " + e.Err.Error()
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

// Unwrap returns the fault.
func (e *NameError) Unwrap() error { return e.Err }

// OfFile returns the NameError for an error of package os or internal/storage. It omits the path in that error, which
// repeats the name. It omits the remedy if the error of a place has its own, which is so for names outside the file
// system unless the object does not exist.
func OfFile(name string, err error, remedy string) *NameError {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if errors.Is(err, syscall.EMFILE) {
		remedy = "allow more of them, for example: ulimit -n 1024"
	}
	if scheme := storage.Foreign(name); scheme != "" && errors.Is(err, fs.ErrNotExist) {
		err, remedy = &storage.ForeignError{Scheme: scheme}, ""
	}
	if storage.IsRemote(name) && !errors.Is(err, fs.ErrNotExist) {
		remedy = ""
	}
	return &NameError{Name: name, Err: err, Remedy: remedy}
}

// Display formats a name for messages. It quotes the name if a terminal would not show it correctly, or not show where
// it ends.
func Display(name string) string {
	switch {
	case name == Stdin:
		return "standard input"
	case name == "" || strings.TrimSpace(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.Quote(name)
	}
	return name
}

// Short truncates a text that is too long for a message.
func Short(b []byte) []byte { return b[:min(len(b), 80)] }
