package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// grace is how long a run may take to stop after a signal. What takes longer is blocked: it reads a pipe that nobody
// writes to, or writes one that nobody reads.
const grace = 500 * time.Millisecond

// An interruptError says that a signal ended the run.
type interruptError struct {
	Signal os.Signal
	Out    string // the output that is not there now
}

// Error says so.
func (e *interruptError) Error() string {
	if e.Out == stdName {
		return fmt.Sprintf("stopped by the signal %q: the output is not complete", e.Signal)
	}
	return fmt.Sprintf("stopped by the signal %q: %s was not written", e.Signal, display(e.Out))
}

// exitCode returns 128 and the signal's number, as shells do.
func (e *interruptError) exitCode() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return exitError
}

// A task is what a command does, under the eye of signals.
type task interface {
	run(ctx context.Context) error
	drop() (committed bool, err error) // drops its output, as [sink.drop] does
	targets() (out, last string)       // names of its output, and of what it writes when that is complete
}

// underSignals runs the task until it ends or SIGINT, SIGTERM or SIGHUP comes, and then drops its output. A signal that
// comes when the output is complete, or the task has failed, changes nothing; nor does a second signal.
func underSignals(t task) error {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as in the background of a shell script
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- t.run(ctx) }()
	var interrupt *interruptError
	select {
	case err := <-done:
		return err
	case s := <-signals:
		out, _ := t.targets()
		interrupt = &interruptError{s, out}
	}
	cancel()
	select {
	case err := <-done:
		if errors.Is(err, context.Canceled) {
			return interrupt // no more: what the cancelled parts say is its echo
		}
		return err
	case <-time.After(grace):
	}
	committed, err := t.drop()
	if !committed {
		return errors.Join(interrupt, err)
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace): // all that is left to write are the statistics
		_, last := t.targets()
		return &interruptError{interrupt.Signal, last}
	}
}
