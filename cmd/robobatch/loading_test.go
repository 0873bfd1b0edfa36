package main

import (
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestCountFiles holds that a file counts once it was read to its end.
func TestCountFiles(t *testing.T) {
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

// TestFitWorkers holds that there are as many workers as were asked for, or fewer and a note if a limit of memory has no room.
func TestFitWorkers(t *testing.T) {
	for _, test := range []struct {
		limit       string
		asked, want int
	}{
		{"", 32, 32},
		{"", 0, 0},
		{"none", 32, 32},
		{"64MiB", 1, 1},
		{"64MiB", 32, 1},
		{"87MiB", 2, 1},
		{"88MiB", 2, 2},
		{"256MiB", 9, 9},
		{"256MiB", 10, 9},
		{"100000GiB", 1024, 1024},
		{"100000GiB", 0, 0},
		{"lots", 32, 32}, // told elsewhere
	} {
		p := &plan{}
		got := p.fitWorkers(test.asked, test.limit)
		noted := len(p.notes) == 1 && strings.HasPrefix(p.notes[0], "-max-memory "+test.limit+" has room for ")
		if got != test.want || noted != (test.want < test.asked) {
			t.Errorf("-max-memory %q: %d of %d workers, noted %q", test.limit, got, test.asked, p.notes)
		}
	}
	p := &plan{}
	if got := p.fitWorkers(0, "64MiB"); runtime.GOMAXPROCS(0) > 1 && (got != 1 || len(p.notes) != 1) || runtime.GOMAXPROCS(0) == 1 && got != 0 {
		t.Errorf("of %d processors %d workers, noted %q", runtime.GOMAXPROCS(0), got, p.notes)
	}
}
