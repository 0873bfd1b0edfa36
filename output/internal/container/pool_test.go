package container

import (
	"errors"
	"io"
	"testing"

	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/parquet"
)

// TestPoolPanics tests that a panic of an encoder becomes an error for each caller that waits for it, and that no
// caller waits forever.
func TestPoolPanics(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := newPool(workers, func() (int, error) { return 0, nil })
		failed := 0
		for range 20 {
			err := panics.Catch(func() error {
				w, err := p.takeWorker()
				if err != nil {
					return err
				}
				defer p.giveBack(w)
				p.run(w, &columnar.Chunk{Names: &columnar.Numbering{}}, func() { panic("broken") })
				return nil
			})
			if _, ok := errors.AsType[*panics.Error](err); ok {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if failed < 20-workers {
			t.Errorf("%d workers: %d errors", workers, failed)
		}
		for range 2 {
			if err := p.wait(func(int) {}); workers > 1 && err == nil {
				t.Errorf("%d workers: no error at the end", workers)
			}
		}
	}
}

// TestLinePanics tests that an encoder of lines that panics lets the next one write, but only after the previous ones.
func TestLinePanics(t *testing.T) {
	before, after := make(chan struct{}, 1), make(chan struct{}, 1)
	e := &lineEncoder{before: before, after: after, columns: []lineCells{{Cells: columnar.Cells{Kind: parquet.Dictionary}}}}
	f := &LineFile{sink: NewSink(io.Discard)}
	done := panics.Run(func() error { e.encode(f, 1); return nil })
	select {
	case <-after:
		t.Error("the next one may write before those before it have written")
	case err := <-done:
		t.Error(err)
	default:
	}
	before <- struct{}{}
	<-after
	if _, ok := errors.AsType[*panics.Error](<-done); !ok {
		t.Error("no panic")
	}
}
