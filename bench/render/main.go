// Command render shows the medians of the newest results of the benchmarks, as benchstat writes
// them:
//
//	make bench-render
//
// It reads bench/results/medians.csv, writes the charts beside it, and writes tables into README.md
// and bench/README.md, between the lines <!-- bench:NAME --> and <!-- /bench:NAME -->.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	top := flag.String("C", ".", "the top of the source tree")
	flag.Parse()
	if err := run(*top); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(2)
	}
}

// run writes all files that differ.
func run(top string) error {
	files, err := rendered(top)
	for name, text := range files {
		if old, err := os.ReadFile(name); err == nil && string(old) == text {
			continue
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Println(name)
	}
	return err
}

// rendered returns all files that show results, by name, as they must be.
func rendered(top string) (map[string]string, error) {
	results := filepath.Join(top, "bench", "results")
	text, err := os.ReadFile(filepath.Join(results, "medians.csv"))
	if err != nil {
		return nil, err
	}
	m, err := parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		filepath.Join(results, "peers.svg"): m.peersChart().svg(),
		filepath.Join(results, "whole.svg"): m.wholeChart().svg(),
	}
	for _, name := range []string{filepath.Join(top, "README.md"), filepath.Join(top, "bench", "README.md")} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if files[name], err = fill(string(text), m.tables()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// fill puts each table between its marks, if the text has them.
func fill(text string, tables map[string]string) (string, error) {
	for name, table := range tables {
		begin, end := "<!-- bench:"+name+" -->\n", "<!-- /bench:"+name+" -->"
		head, rest, ok := strings.Cut(text, begin)
		if !ok {
			continue
		}
		_, tail, ok := strings.Cut(rest, end)
		if !ok {
			return "", fmt.Errorf("%s has no end %s", strings.TrimSpace(begin), end)
		}
		text = head + begin + "\n" + table + "\n" + end + tail
	}
	return text, nil
}
