package process

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
)

// A task is a Task that ends when the test tells it to, with or without a complete output.
type task struct{ committed bool }

func (t *task) Run(ctx context.Context) error {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Signal(os.Interrupt)
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (t *task) Drop() (committed bool, err error) { return t.committed, nil }
func (t *task) Targets() (out, last string)       { return "rows.parquet", "page.html" }

// TestSignalNames checks that the error about a signal names the file that is missing: the output, or the file that
// is written after it.
func TestSignalNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send itself an interrupt on Windows")
	}
	for committed, want := range map[bool]string{false: "rows.parquet", true: "page.html"} {
		err := Run(&task{committed})
		if e, ok := errors.AsType[*SignalError](err); !ok || e.Out != want || e.Signal != os.Interrupt {
			t.Errorf("output complete: %v: %v, want that %s was not written", committed, err, want)
		}
	}
}
