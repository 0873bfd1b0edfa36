package guard

import (
	"context"
	"errors"
	"os"
	"testing"
)

// TestDropBeforeCreate holds that no output comes to be after it was dropped.
func TestDropBeforeCreate(t *testing.T) {
	s := Sink[*os.File]{Name: "x.parquet"}
	if committed, err := s.Drop(); committed || err != nil {
		t.Fatal(err)
	}
	if err := s.Create(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("create returns %v", err)
	}
}
