package main

import (
	"context"
	"io"
	"sync"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output"
)

// A sink is an output that another goroutine than the one that writes it can drop.
type sink[F io.Closer] struct {
	name    string // of the output, "-" for standard output
	mu      sync.Mutex
	file    F
	created bool // there is a file
	dropped bool

	committed bool // what there is to write is complete, under its name or the partial one
}

// use calls do while nobody else uses the file. Once the sink is dropped, it returns context.Canceled instead.
func (s *sink[F]) use(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped {
		return context.Canceled
	}
	return do()
}

// create opens the file.
func (s *sink[F]) create(open func() (F, error)) error {
	return s.use(func() (err error) {
		s.file, err = open()
		s.created = err == nil
		return err
	})
}

// Close drops the output, unless it was finished.
func (s *sink[F]) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = true
	if !s.created {
		return nil
	}
	return s.file.Close()
}

// drop is Close from whichever goroutine, and reports whether it came too late: the output is complete. It leaves alone
// what is written in place, such as standard output and named pipes, of which nothing can be removed: a write that blocks
// there does not block drop.
func (s *sink[F]) drop() (committed bool, err error) {
	if atomicfile.InPlace(s.name) {
		return false, nil
	}
	err = s.Close()
	return s.committed, err
}

// A verdictSink is the [engine.Sink] that the verdicts go to.
type verdictSink struct{ sink[*output.File] }

// Write adds the rows of a batch.
func (s *verdictSink) Write(b *engine.Batch) error {
	return s.use(func() error { return s.file.Write(b) })
}
