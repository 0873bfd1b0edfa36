package pipeline

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestCounted checks that a file is counted only after it was read to its end.
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
	for _, err := range countFiles(t.Context(), all, &files) {
		got, last = append(got, files.Load()), err
	}
	if want := []int64{0, 0, 1, 2, 2, 2}; !slices.Equal(got, want) || !errors.Is(last, broken) || files.Load() != 3 {
		t.Errorf("counted %d, want %d, and %d at the end; error %v", got, want, files.Load(), last)
	}
}

// TestLimitError checks that captures are rejected before they are read if, and only if, the memory limit may be too
// low to compile them.
func TestLimitError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "captures.jsonl")
	line := []byte(`{"url":"https://a.example/robots.txt","status":200,"body":"Disallow: /"}` + "\n")
	if err := os.WriteFile(path, line, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limit, size int64 // in MiB
		refused     bool
	}{{64, 0, false}, {64, 17, true}, {128, 17, false}, {128, 33, true}, {256, 65, false}} {
		size := max(c.size<<20, int64(len(line)))
		if err := os.WriteFile(path, append(line, make([]byte, size-int64(len(line)))...), 0o600); err != nil {
			t.Fatal(err)
		}
		var r Rules
		if err := r.Find(path, ""); err != nil {
			t.Fatal(err)
		}
		store, err := r.Store(t.Context(), engine.StoreOptions{MaxMemory: c.limit << 20, Dialect: robots.Google}, t.TempDir(), &console.Console{Quiet: true})
		if _, ok := errors.AsType[*LimitError](err); ok != c.refused {
			t.Errorf("%d MiB for %d MiB of captures: %v", c.limit, c.size, err)
		}
		if store != nil {
			store.Close()
		}
		r.Close()
	}
}
