// Package fault has the error that names a file, and the way that messages show names and
// bytes. It is for the packages below ingest only, which show both to others under their own names.
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

	"github.com/robobatch/robobatch/internal/place"
)

// Stdin is the name of an input that stands for standard input.
const Stdin = "-"

// A NameError says that a file, directory or pattern cannot be used as it was given.
type NameError struct {
	Name   string // as given, or below the rules directory
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

// OfFile returns the NameError for an error of package os, or of internal/place. It omits the path in that error, which
// repeats the name, and the remedy where errors of a place say their own: those of names that lead out of the file
// system, unless nothing is there.
func OfFile(name string, err error, remedy string) *NameError {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if errors.Is(err, syscall.EMFILE) {
		remedy = "allow more of them, for example: ulimit -n 1024"
	}
	if scheme := place.Foreign(name); scheme != "" && errors.Is(err, fs.ErrNotExist) {
		err, remedy = &place.ForeignError{Scheme: scheme}, ""
	}
	if place.IsRemote(name) && !errors.Is(err, fs.ErrNotExist) {
		remedy = ""
	}
	return &NameError{Name: name, Err: err, Remedy: remedy}
}

// Display returns a name as messages show it: in quotes if a terminal would not show it as it is, or show where it ends.
func Display(name string) string {
	switch {
	case name == Stdin:
		return "standard input"
	case name == "" || strings.TrimSpace(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.Quote(name)
	}
	return name
}

// Short cuts off a text that is too long for a message.
func Short(b []byte) []byte { return b[:min(len(b), 80)] }
