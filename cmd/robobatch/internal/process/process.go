// Package process runs a command so that a signal can end it at any moment without leaving a half-written output. It
// decides whether a signal comes too late to stop the run, and lets one goroutine drop an output that another
// goroutine writes. It also returns the version of the program, and checks that the address space is large enough.
// Only cmd/robobatch and its packages import it.
package process

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

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/storage"
)

// Grace is the time that a run has to stop after a signal. After that, the process exits anyway: the run is blocked,
// for example on a pipe whose other end is idle.
const Grace = 500 * time.Millisecond

// An SignalError means that a signal ended the run.
type SignalError struct {
	Signal os.Signal
	Out    string // the output that was dropped
	Left   error  // why a part of the output could not be removed; nil if nothing is left
}

// Error names the signal and the dropped output.
func (e *SignalError) Error() string {
	if e.Out == msg.Std {
		return fmt.Sprintf("stopped by the signal %q: the output is incomplete", e.Signal)
	}
	aborted := ""
	switch {
	case e.Left != nil:
		aborted = "\n" + e.Left.Error()
	case storage.IsRemote(e.Out):
		aborted = ", and its upload was aborted"
	}
	return fmt.Sprintf("stopped by the signal %q: %s was not written%s", e.Signal, msg.File(e.Out), aborted)
}

// ExitCode returns 128 and the signal's number, as shells do.
func (e *SignalError) ExitCode() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 2 // not a signal: an error of the system
}

// A Task is a run of a command with checked flags. Its other methods may be called while Run runs.
type Task interface {
	Run(ctx context.Context) error
	Drop() (committed bool, err error) // drops the output, see [Sink.Drop]
	Targets() (out, last string)       // names of the output, and of the file that is written last
}

// Printed implements the methods Targets and Drop of a [Task] that writes only to standard output and has nothing to
// drop.
type Printed struct{}

// Drop drops nothing.
func (Printed) Drop() (committed bool, err error) { return false, nil }

// Targets returns the name of standard output twice.
func (Printed) Targets() (out, last string) { return msg.Std, msg.Std }

// Run runs the task until it ends or SIGINT, SIGTERM, SIGHUP or SIGQUIT arrives. After a signal, it drops the output,
// and returns a [*SignalError]. A panic of the task becomes an error, and also drops the output. A signal is ignored
// if the output is complete, the task has failed, or another signal came before.
func Run(t Task) error {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // ignored in the background of a shell script
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := panics.Run(func() error {
		err := panics.Catch(func() error { return t.Run(ctx) })
		if _, ok := errors.AsType[*panics.Error](err); ok { // a panic may have interrupted Run
			_, errDrop := t.Drop()
			err = errors.Join(err, errDrop)
		}
		return err
	})
	var interrupt *SignalError
	select {
	case err := <-done:
		return err
	case s := <-signals:
		out, _ := t.Targets()
		interrupt = &SignalError{Signal: s, Out: out}
	}
	cancel()
	storage.Interrupt()
	select {
	case err := <-done:
		if errors.Is(err, context.Canceled) {
			interrupt.Left = storage.Left(err)
			if committed, _ := t.Drop(); committed {
				_, interrupt.Out = t.Targets()
			}
			return interrupt // the errors of cancelled parts add nothing
		}
		return err
	case <-time.After(Grace):
	}
	committed, err := t.Drop()
	if !committed {
		if interrupt.Left = storage.Left(err); interrupt.Left != nil {
			err = nil
		}
		return errors.Join(interrupt, err)
	}
	select {
	case err := <-done:
		return err
	case <-time.After(Grace): // only the statistics are still unwritten
		_, last := t.Targets()
		return &SignalError{Signal: interrupt.Signal, Out: last}
	}
}

// A File is the file of a [Sink]. Another goroutine may drop it during a write.
type File struct{ *Sink[*atomicfile.File] }

// useFile calls do with the file, and returns the results of do. After the sink is dropped, it returns
// [context.Canceled] instead.
func (l File) useFile(do func(f *atomicfile.File) (int, error)) (n int, err error) {
	err = l.Use(func(f *atomicfile.File) (err error) {
		n, err = do(f)
		return err
	})
	return n, err
}

// Write appends bytes to the file.
func (l File) Write(b []byte) (int, error) {
	return l.useFile(func(f *atomicfile.File) (int, error) { return f.Write(b) })
}

// WriteAt overwrites bytes at an offset in the file.
func (l File) WriteAt(b []byte, off int64) (int, error) {
	return l.useFile(func(f *atomicfile.File) (int, error) { return f.WriteAt(b, off) })
}

// ReadAt reads bytes back from an offset in the file.
func (l File) ReadAt(b []byte, off int64) (int, error) {
	return l.useFile(func(f *atomicfile.File) (int, error) { return f.ReadAt(b, off) })
}

// A Sink is an output that a goroutine other than its writer can drop. The zero value has no file yet; set its name
// first. Without a name, Drop and Close do nothing.
type Sink[F io.Closer] struct {
	Name string // of the output, "-" for standard output

	mu        sync.Mutex
	file      F
	created   bool // the file exists
	dropped   bool
	committed bool  // whether all data is written, under the final or the partial name
	left      error // error that says what dropping the output left, see [storage.Left]; nil if nothing is left
}

// Use calls do with exclusive access to the file. After the sink is dropped, it returns [context.Canceled] instead.
func (s *Sink[F]) Use(do func(f F) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped {
		return context.Canceled
	}
	return s.keepLeft(do(s.file))
}

// keepLeft returns its argument. It keeps an error that says what is left of the output, because only the first call
// that drops the output returns it. The caller holds the lock.
func (s *Sink[F]) keepLeft(err error) error {
	if left := storage.Left(err); left != nil {
		s.left = left
	}
	return err
}

// Create opens the file. Call it once. After the sink is dropped, it returns [context.Canceled] instead.
func (s *Sink[F]) Create(open func() (F, error)) error {
	return s.Use(func(F) (err error) {
		s.file, err = open()
		s.created = err == nil
		return err
	})
}

// Commit is Use for the last step, which completes the output. Once do has succeeded, the output can no longer be
// dropped.
func (s *Sink[F]) Commit(do func(f F) error) error {
	return s.Use(func(f F) error {
		err := do(f)
		s.committed = err == nil
		return err
	})
}

// Close drops the output unless it is complete. It may be called repeatedly. If no file was created, it only prevents
// that.
func (s *Sink[F]) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = true
	if !s.created {
		return nil
	}
	return s.keepLeft(s.file.Close())
}

// Targets returns the name of the output twice, because nothing is written after it, see [Task].
func (s *Sink[F]) Targets() (out, last string) { return s.Name, s.Name }

// Drop is Close for any goroutine. It reports whether the output was already complete. If a part of the output is left,
// it returns that error even if another goroutine dropped the output. It does not touch outputs that are written in
// place, such as standard output and named pipes: nothing can be removed there, and a blocked write must not block
// Drop.
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
