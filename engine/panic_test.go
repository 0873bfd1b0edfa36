package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/robobatch/robobatch/internal/panics"
)

// A namedSource is a source with names of inputs. It damages one of its batches so that a worker panics.
type namedSource struct {
	*memorySource
	breaks int // number of the batch, from 1; 0 means none
}

func (s *namedSource) InputName(input int) string { return fmt.Sprintf("%d.log", input) }

func (s *namedSource) Next(b *Batch) bool {
	ok := s.memorySource.Next(b)
	if ok && s.batches == s.breaks {
		b.URLs[0] = Span{1 << 30, 10}
	}
	return ok
}

// TestPanics checks that a panic of a source, a worker or a sink is an error that names the input and the lines, that
// it is not an error of the source or the sink, and that all goroutines end.
func TestPanics(t *testing.T) {
	s := runStore(t)
	for _, at := range []int{1, 2, 30} {
		for _, workers := range []int{1, 2, 8} {
			for _, where := range []string{"source", "worker", "sink"} {
				synctest.Test(t, func(t *testing.T) {
					src, dst := &namedSource{memorySource: newSource(5, randomURLs(6, 400))}, newSink(s)
					src.endless = true
					var nothing []int
					switch where {
					case "source":
						src.onNext = func() {
							if src.batches == at-1 {
								_ = nothing[0]
							}
						}
					case "worker":
						src.breaks = at
					default:
						dst.onWrite = func() {
							if dst.writes == at {
								_ = nothing[0]
							}
						}
					}
					_, err := Run(t.Context(), s, src, dst, Options{Workers: workers})
					e, ok := errors.AsType[*panics.Error](err)
					if !ok || !strings.Contains(e.Error(), "out of range") {
						t.Fatalf("%s, batch %d, %d workers: %v", where, at, workers, err)
					}
					if _, ok := errors.AsType[*SourceError](err); ok {
						t.Errorf("%s: the panic is a SourceError, so the rows before it would be kept", where)
					}
					if !strings.HasPrefix(e.Where, map[bool]string{true: "0.log", false: "0.log: line"}[where == "source"]) {
						t.Errorf("%s, batch %d, %d workers: the error names %q", where, at, workers, e.Where)
					}
					if dst.writes > at {
						t.Errorf("%s, batch %d: %d writes", where, at, dst.writes)
					}
				})
			}
		}
	}
}

// TestPanicOfPiece checks panics that a source returns as its error, and panics of a sink: the rows before them do
// not count as written.
func TestPanicOfPiece(t *testing.T) {
	s := runStore(t)
	for _, workers := range []int{1, 2} {
		src := newSource(5, randomURLs(6, 40))
		src.err = fmt.Errorf("a.zst: line 41: %w", &panics.Error{Value: "broken"})
		_, err := Run(t.Context(), s, src, newSink(s), Options{Workers: workers})
		if _, ok := errors.AsType[*SourceError](err); ok || !errors.Is(err, src.err) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}
