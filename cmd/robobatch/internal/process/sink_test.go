package process

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/robobatch/robobatch/internal/s3"
	"github.com/robobatch/robobatch/internal/storage"
)

// TestDropBeforeCreate checks that an output that was dropped cannot be created afterwards.
func TestDropBeforeCreate(t *testing.T) {
	s := Sink[*os.File]{Name: "x.parquet"}
	if committed, err := s.Drop(); committed || err != nil {
		t.Fatal(err)
	}
	if err := s.Create(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("create returns %v", err)
	}
}

// A stuck is an upload that cannot be aborted, because the store refuses.
type stuck struct{ closed bool }

func (s *stuck) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return &s3.AbortError{Err: os.ErrPermission}
}

// TestDropAfterClose checks that Drop reports what is left of an output, even if the goroutine that writes the output
// dropped it first.
func TestDropAfterClose(t *testing.T) {
	for name, before := range map[string]func(s *Sink[*stuck]) error{
		"nobody":    func(*Sink[*stuck]) error { return nil },
		"its close": (*Sink[*stuck]).Close,
		"a write":   func(s *Sink[*stuck]) error { return s.Use((*stuck).Close) },
		"a commit":  func(s *Sink[*stuck]) error { return s.Commit((*stuck).Close) },
	} {
		s := &Sink[*stuck]{Name: "s3://bucket/x"}
		if err := s.Create(func() (*stuck, error) { return new(stuck), nil }); err != nil {
			t.Fatal(err)
		}
		if err := before(s); name != "nobody" && storage.Left(err) == nil {
			t.Errorf("%s: %v", name, err)
		}
		if committed, err := s.Drop(); committed || storage.Left(err) == nil {
			t.Errorf("after %s: committed %t, %v", name, committed, err)
		}
	}
}
