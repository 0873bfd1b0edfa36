package main

import (
	"sync/atomic"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
)

// A rejectSink is the [engine.Sink] of verdicts that also lists and counts what is rejected.
type rejectSink struct {
	*verdictSink
	file  sink[*output.RejectFile]
	limit rejectLimit
	count atomic.Int64 // lines that were rejected
}

// Write adds the rows of a batch. After that it returns a policyError if there are too many rejects.
func (s *rejectSink) Write(b *engine.Batch) error {
	if err := s.verdictSink.Write(b); err != nil {
		return err
	}
	if s.file.name != "" {
		if err := s.file.use(func() error { return s.file.file.Write(b) }); err != nil {
			return err
		}
	}
	return s.limit.check(s.count.Add(int64(output.CountRejects(b))), 0, false)
}

// open creates the list of rejects, if there is to be one.
func (s *rejectSink) open(inputs []string) error {
	if s.file.name == "" {
		return nil
	}
	return s.file.create(func() (*output.RejectFile, error) { return output.CreateRejects(s.file.name, inputs) })
}

// commit completes the list of rejects, if there is one.
func (s *rejectSink) commit() error {
	if s.file.name == "" {
		return nil
	}
	return s.file.use(func() error {
		err := s.file.file.Commit()
		s.file.committed = err == nil
		return err
	})
}
