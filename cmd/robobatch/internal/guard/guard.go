// Package guard runs a command's work so that a signal can end it at any moment and leave no
// half-written output. It hides when a signal comes too late, and how an output is dropped by
// another goroutine than the one that writes it. Only cmd/robobatch imports it.
package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/place"
)

// Grace is how long a run may take to stop after a signal. A run that takes longer is blocked: it reads from or writes
// to a pipe whose other end does nothing.
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
		return fmt.Sprintf("stopped by the signal %q: the output is incomplete", e.Signal)
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
	return 2 // an error of the system, as far as anyone knows
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

// A File is the file of a sink, which may be dropped while it is written.
type File struct{ *Sink[*atomicfile.File] }

// use calls do with the file, unless that was dropped.
func (l File) use(do func(f *atomicfile.File) (int, error)) (n int, err error) {
	err = l.Use(func(f *atomicfile.File) (err error) {
		n, err = do(f)
		return err
	})
	return n, err
}

// Write appends bytes.
func (l File) Write(b []byte) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.Write(b) })
}

// WriteAt overwrites bytes.
func (l File) WriteAt(b []byte, off int64) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.WriteAt(b, off) })
}

// ReadAt reads back.
func (l File) ReadAt(b []byte, off int64) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.ReadAt(b, off) })
}

// A Sink is an output that another goroutine than the one that writes it can drop. Its zero value
// has a name to be set and no file yet; one that keeps no name is of nothing, and Drop and Close do nothing.
type Sink[F io.Closer] struct {
	Name string // of the output, "-" for standard output

	mu        sync.Mutex
	file      F
	created   bool // there is a file
	dropped   bool
	committed bool  // all that there is to write is complete, under its name or the partial one
	left      error // of the output, whoever dropped it, see [place.Left]; nil if nothing is
}

// Use calls do with the file while nobody else uses it. Once the sink is dropped, it returns
// [context.Canceled] instead.
func (s *Sink[F]) Use(do func(f F) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped {
		return context.Canceled
	}
	return s.note(do(s.file))
}

// note returns the error, and remembers it if it says that something is left: only the first who drops
// an output is told.
func (s *Sink[F]) note(err error) error {
	if left := place.Left(err); left != nil {
		s.left = left
	}
	return err
}

// Create opens the file.
func (s *Sink[F]) Create(open func() (F, error)) error {
	return s.Use(func(F) (err error) {
		s.file, err = open()
		s.created = err == nil
		return err
	})
}

// Commit is Use for the last step, which completes the output. Once do has succeeded, dropping comes too late.
func (s *Sink[F]) Commit(do func(f F) error) error {
	return s.Use(func(f F) error {
		err := do(f)
		s.committed = err == nil
		return err
	})
}

// Close drops the output, unless it is complete.
func (s *Sink[F]) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = true
	if !s.created {
		return nil
	}
	return s.note(s.file.Close())
}

// Targets returns the name of the output twice, as nothing is written when it is complete, see
// [Task].
func (s *Sink[F]) Targets() (out, last string) { return s.Name, s.Name }

// Drop is Close for any goroutine, and reports whether it came too late: the output is complete. If a part of the
// output is left, it returns that error even if another goroutine has dropped the output before. It does not touch
// outputs that are written in place, such as standard output and named pipes. Nothing can be removed there, and a write
// that blocks must not block Drop.
func (s *Sink[F]) Drop() (committed bool, err error) {
	if atomicfile.InPlace(s.Name) {
		return false, nil
	}
	err = s.Close()
	if s.left != nil {
		err = s.left
	}
	return s.committed, err
}
