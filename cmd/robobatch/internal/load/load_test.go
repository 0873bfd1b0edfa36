package load

import (
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestCounted holds that a file counts once it was read to its end.
func TestCounted(t *testing.T) {
	broken := errors.New("broken")
	var all iter.Seq2[robots.Response, error] = func(yield func(robots.Response, error) bool) {
		for _, name := range []string{"a", "a", "b", "c", "c"} {
			if !yield(robots.Response{Name: name}, nil) {
				return
			}
		}
		yield(robots.Response{Name: "c"}, broken)
	}
	var files atomic.Int64
	var got []int64
	var last error
	for _, err := range counted(t.Context(), all, &files) {
		got, last = append(got, files.Load()), err
	}
	if want := []int64{0, 0, 1, 2, 2, 2}; !slices.Equal(got, want) || !errors.Is(last, broken) || files.Load() != 3 {
		t.Errorf("counted %d, want %d, and %d at the end; error %v", got, want, files.Load(), last)
	}
}
