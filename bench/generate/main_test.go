package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/bench/internal/corpus"
)

// TestRun checks that the command writes the requested rules and log.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	rules, log := filepath.Join(dir, "rules"), filepath.Join(dir, "log.zst")
	if err := run(t.Context(), []string{"-origins", "20", "-urls", "1000", "-frames", "3", "-order", "shuffled", "-rules", rules, "-out", log}); err != nil {
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

// TestRequests checks that a log of crawlers has a row for each URL, with times in order, and that all files have the
// Crawl-delay.
func TestRequests(t *testing.T) {
	dir := t.TempDir()
	rules, log := filepath.Join(dir, "rules"), filepath.Join(dir, "log.csv")
	if err := run(t.Context(), []string{"-origins", "20", "-urls", "1000", "-crawlers", "7", "-crawl-delay", "10", "-rules", rules, "-out", log}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(rules)
	if err != nil || len(files) != 20 {
		t.Errorf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(filepath.Join(rules, f.Name())); err != nil || !strings.HasSuffix(string(text), "\nUser-agent: *\nCrawl-delay: 10\n") {
			t.Errorf("%s has no Crawl-delay at its end: %v", f.Name(), err)
		}
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 1001 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	agents, last, texts := map[string]bool{}, "", 0
	for _, row := range rows[1:] {
		if row[1] < last {
			t.Errorf("%s comes after %s", row[1], last)
		}
		last, agents[row[5]] = row[1], true
		if strings.HasSuffix(row[0], "/robots.txt") {
			texts++
		}
	}
	if len(agents) != 7 || texts < 5 || texts > 60 {
		t.Errorf("%d crawlers, %d requests of robots.txt", len(agents), texts)
	}
}

// TestBadFlags checks that invalid flags are rejected.
func TestBadFlags(t *testing.T) {
	for _, arguments := range [][]string{
		{}, {"-out", "x", "-order", "sorted"}, {"-out", "x", "-frames", "0"}, {"-out", "x", "-origins", "0"}, {"-out", "x", "y"}, {"-out", "x", "-crawlers", "-1"}, {"-out", "x", "-crawlers", "1000"},
	} {
		if err := run(t.Context(), arguments); err == nil {
			t.Errorf("no error for %q", arguments)
		}
	}
}
