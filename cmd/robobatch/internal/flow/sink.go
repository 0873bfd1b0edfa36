package flow

import (
	"sync/atomic"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
)

// A Sink is the [engine.Sink] of verdicts. It also counts rejected lines, and lists them if the
// list has a name.
type Sink struct {
	guard.Sink[*output.File]
	List     guard.Sink[*File]
	Limit    Limit
	Rejected atomic.Int64 // lines
}

// Open creates the output and the list.
func (s *Sink) Open(inputs []string, create func() (*output.File, error)) error {
	if err := s.Create(create); err != nil || s.List.Name == "" {
		return err
	}
	return s.List.Create(func() (*File, error) { return Create(s.List.Name, inputs) })
}

// Write adds the rows of a batch. After that it returns a PolicyError if there are too many
// rejects.
func (s *Sink) Write(b *engine.Batch) error {
	if err := s.Use(func(f *output.File) error { return f.Write(b) }); err != nil {
		return err
	}
	if s.List.Name != "" {
		if err := s.List.Use(func(f *File) error { return f.Write(b) }); err != nil {
			return err
		}
	}
	return s.Limit.Check(s.Rejected.Add(int64(Count(b))), 0, false)
}

// CommitList completes the list, if there is one.
func (s *Sink) CommitList() error {
	if s.List.Name == "" {
		return nil
	}
	return s.List.Commit((*File).Commit)
}
