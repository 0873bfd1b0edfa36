// Package console prints texts on standard output, and hints, warnings, reports and progress on standard error. It
// escapes characters that control a terminal, and fits the progress bar into the width of the terminal. Only
// cmd/robobatch and its packages import it.
package console

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// Streams are the standard streams.
type Streams struct{ In, Out, Err *os.File }

// PrintOut prints a requested text on standard output.
func (s Streams) PrintOut(text string) error {
	_, err := io.WriteString(s.Out, text)
	return OutError(err)
}

// OutError returns the [atomicfile.Error] for an error of writing to standard output, or nil.
func OutError(err error) error {
	if err == nil {
		return nil
	}
	return &atomicfile.Error{Doing: "write", Name: msg.Std, Err: atomicfile.WithoutPath(err)}
}

// A Writer writes to standard output, and remembers the first write error.
type Writer struct {
	w      io.Writer
	Failed chan struct{} // closed on the first error
	Err    error         // nil before that
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, Failed: make(chan struct{})} }

// Write writes p. Only one goroutine may call it.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil && w.Err == nil {
		w.Err = err
		close(w.Failed)
	}
	return n, err
}

// A Console holds the streams of a command and its verbosity.
type Console struct {
	Streams
	Progress Mode
	Quiet    bool              // print errors and warnings only
	Warnings []warning.Warning // printed so far
}

// SetProgress sets the progress mode by name. A quiet console shows no progress. An unknown name is an error.
func (c *Console) SetProgress(name string) (err error) {
	if c.Progress, err = Parse(name, c.Err); c.Quiet {
		c.Progress = Off
	}
	return err
}

// Print prints a text on standard error, unless the console is quiet.
func (c *Console) Print(text string) {
	if !c.Quiet {
		c.Tell(text)
	}
}

// Tell prints a text on standard error, even on a quiet console.
func (c *Console) Tell(text string) {
	io.WriteString(c.Err, msg.Printable(text)) //nolint:errcheck // there is nowhere left to say it
}

// Hint prints advice, unless the console is quiet or the advice is empty.
func (c *Console) Hint(text string) {
	if text != "" {
		c.Print(fmt.Sprintf("robobatch: hint: %s\n", text))
	}
}

// Warn prints a warning, even on a quiet console, and keeps it.
func (c *Console) Warn(d warning.Warning) {
	c.Warnings = append(c.Warnings, d)
	c.Tell(fmt.Sprintf("robobatch: warning: %v\n", d))
}

// WarnOnce prints warnings like Warn, except those with a code that was printed before.
func (c *Console) WarnOnce(warnings []warning.Warning) {
	for _, d := range warnings {
		if !slices.ContainsFunc(c.Warnings, func(seen warning.Warning) bool { return seen.Code == d.Code }) {
			c.Warn(d)
		}
	}
}

// WarnRest prints the warnings of a run that were not printed yet. all must begin with the warnings that were
// printed.
func (c *Console) WarnRest(all []warning.Warning) {
	for _, d := range all[len(c.Warnings):] {
		c.Warn(d)
	}
}

// Watch shows the progress of a part of the run until stop is called, see the function [Watch].
func (c *Console) Watch(what string, read func() Sample) (stop func()) {
	return Watch(c.Progress, c.Err, what, read)
}
