package guard

import (
	"context"
	"io"
	"sync"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/place"
)

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

// Drop is Close for any goroutine, and reports whether it came too late: the output is complete. If a part
// of the output is left, it returns that error even if another goroutine has dropped the output before. It leaves
// alone outputs that are written in place, such as standard output and named pipes. Nothing can be removed there, and
// a write that blocks must not block Drop.
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
