package main

import (
	"sync/atomic"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
)

// A verdictSink is the [engine.Sink] of verdicts. It also counts what is rejected, and lists it if the list has a name.
type verdictSink struct {
	guard.Sink[*output.File]
	list     guard.Sink[*output.RejectFile]
	limit    rejectLimit
	rejected atomic.Int64 // lines
}

// open creates the output and the list.
func (s *verdictSink) open(inputs []string, create func() (*output.File, error)) error {
	if err := s.Create(create); err != nil || s.list.Name == "" {
		return err
	}
	return s.list.Create(func() (*output.RejectFile, error) { return output.CreateRejects(s.list.Name, inputs) })
}

// Write adds the rows of a batch. After that it returns a policyError if there are too many rejects.
func (s *verdictSink) Write(b *engine.Batch) error {
	if err := s.Use(func(f *output.File) error { return f.Write(b) }); err != nil {
		return err
	}
	if s.list.Name != "" {
		if err := s.list.Use(func(f *output.RejectFile) error { return f.Write(b) }); err != nil {
			return err
		}
	}
	return s.limit.check(s.rejected.Add(int64(output.CountRejects(b))), 0, false)
}

// commitList completes the list, if there is one.
func (s *verdictSink) commitList() error {
	if s.list.Name == "" {
		return nil
	}
	return s.list.Commit((*output.RejectFile).Commit)
}
