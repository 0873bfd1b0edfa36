// Package guard runs a command's work so that a signal can end it at any moment and leave no
// half-written output. It hides when a signal comes too late, and how an output is dropped by
// another goroutine than the one that writes it. Only cmd/robobatch imports it.
package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/place"
)

// Grace is how long a run may take to stop after a signal. A run that takes longer is blocked: it reads a
// pipe that nobody writes to, or writes one that nobody reads.
const Grace = 500 * time.Millisecond

// An Error says that a signal ended the run.
type Error struct {
	Signal os.Signal
	Out    string // the output that is not there now
	Left   error  // why a part of it could not be removed; nil if nothing is left
}

// Error says so.
func (e *Error) Error() string {
	if e.Out == say.Std {
		return fmt.Sprintf("stopped by the signal %q: the output is not complete", e.Signal)
	}
	aborted := ""
	switch {
	case e.Left != nil:
		aborted = "\n" + e.Left.Error()
	case place.IsRemote(e.Out):
		aborted = ", and its upload was aborted"
	}
	return fmt.Sprintf("stopped by the signal %q: %s was not written%s", e.Signal, say.File(e.Out), aborted)
}

// ExitCode returns 128 and the signal's number, as shells do.
func (e *Error) ExitCode() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 2 // an error of the system, as far as anybody knows
}

// A Task is the run of a command once its flags are checked. Its methods but Run may be called while
// Run runs.
type Task interface {
	Run(ctx context.Context) error
	Drop() (committed bool, err error) // drops its output, as [Sink.Drop] does
	Targets() (out, last string)       // its output, and the file that it writes once that is complete
}

// Printed is the part of a [Task] that writes to standard output only: there is nothing to drop.
type Printed struct{}

// Drop drops nothing.
func (Printed) Drop() (committed bool, err error) { return false, nil }

// Targets returns the names of standard output.
func (Printed) Targets() (out, last string) { return say.Std, say.Std }

// Run runs the task until it ends or SIGINT, SIGTERM, SIGHUP or SIGQUIT comes, and then drops its output. A
// panic of the task is an error, and drops its output, too. A
// signal that comes when the output is complete, or the task has failed, changes nothing; nor does
// a second signal.
func Run(t Task) error {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // as in the background of a shell script
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := panics.Run(func() error {
		err := panics.Catch(func() error { return t.Run(ctx) })
		if _, ok := errors.AsType[*panics.Error](err); ok { // Run may have been left in the middle
			_, errDrop := t.Drop()
			err = errors.Join(err, errDrop)
		}
		return err
	})
	var interrupt *Error
	select {
	case err := <-done:
		return err
	case s := <-signals:
		out, _ := t.Targets()
		interrupt = &Error{Signal: s, Out: out}
	}
	cancel()
	place.Interrupt()
	select {
	case err := <-done:
		if errors.Is(err, context.Canceled) {
			interrupt.Left = place.Left(err)
			if committed, _ := t.Drop(); committed {
				_, interrupt.Out = t.Targets()
			}
			return interrupt // the errors of the cancelled parts say nothing more
		}
		return err
	case <-time.After(Grace):
	}
	committed, err := t.Drop()
	if !committed {
		if interrupt.Left = place.Left(err); interrupt.Left != nil {
			err = nil
		}
		return errors.Join(interrupt, err)
	}
	select {
	case err := <-done:
		return err
	case <-time.After(Grace): // all that is left to write are the statistics
		_, last := t.Targets()
		return &Error{Signal: interrupt.Signal, Out: last}
	}
}
