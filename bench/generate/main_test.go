package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/bench/internal/corpus"
)

// TestRun holds that the command writes the rules and the log that it is asked for.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	rules, log := filepath.Join(dir, "rules"), filepath.Join(dir, "log.zst")
	if err := run([]string{"-origins", "20", "-urls", "1000", "-frames", "3", "-order", "shuffled", "-rules", rules, "-out", log}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(rules)
	if err != nil || len(files) != 20 {
		t.Errorf("%d files: %v", len(files), err)
	}
	batches, err := corpus.Log{Path: log}.Batches()
	if err != nil {
		t.Fatal(err)
	}
	urls := 0
	for i := range batches {
		urls += batches[i].Len()
	}
	if urls != 1000 {
		t.Errorf("%d URLs", urls)
	}
}

// TestBadFlags holds that nothing is made of what makes no sense.
func TestBadFlags(t *testing.T) {
	for _, arguments := range [][]string{
		{}, {"-out", "x", "-order", "sorted"}, {"-out", "x", "-frames", "0"}, {"-out", "x", "-origins", "0"}, {"-out", "x", "y"},
	} {
		if err := run(arguments); err == nil {
			t.Errorf("no error for %q", arguments)
		}
	}
}
