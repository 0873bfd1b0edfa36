package process

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
)

// A task ends when it is told to, and has completed its output before or not.
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

// TestSignalNames holds that the error of a signal names the missing file: the output, or the one that is written after it.
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
