package main

import (
	"runtime"
	"strings"
	"testing"
)

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
