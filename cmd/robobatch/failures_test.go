package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFailuresDoc compares docs/FAILURES.md with the scripts: each row of its tables names a script
// that has the exit code and every line of the message, and each script about a fault is named by a
// row.
func TestFailuresDoc(t *testing.T) {
	doc, err := os.ReadFile("../../docs/FAILURES.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	rows := 0
	for line := range strings.Lines(string(doc)) {
		cells := tableCells(line)
		if len(cells) < 4 || cells[1] == "exit" || strings.HasPrefix(cells[1], "--") {
			continue
		}
		rows++
		what, exit, message, name := cells[0], cells[1], cells[2], cells[len(cells)-1]
		named[name] = true
		script, err := os.ReadFile(filepath.Join("testdata/script", name+".txtar"))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		lines := strings.Split(string(script), "\n")
		if !slices.ContainsFunc(lines, regexp.MustCompile(`^(exits|closedpipe|interrupt|interruptUpload) `+exit+` `).MatchString) {
			t.Errorf("%s: %s has no exit code %s", what, name, exit)
		}
		if len(cells) < 5 || message == "none" {
			continue
		}
		for text := range strings.SplitSeq(message, "<br>") {
			if want := "robobatch: " + strings.Trim(text, "`"); !slices.Contains(lines, want) {
				t.Errorf("%s: %s has no line %q", what, name, want)
			}
		}
	}
	if rows < 20 {
		t.Errorf("only %d rows found", rows)
	}
	scripts, err := filepath.Glob("testdata/script/fault-*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		if name := strings.TrimSuffix(filepath.Base(path), ".txtar"); !named[name] {
			t.Errorf("no row is about %s", name)
		}
	}
}

// tableCells returns the cells of a row of a Markdown table, nil for another line.
func tableCells(line string) []string {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "| ")
	if !ok {
		return nil
	}
	const bar = "\x00"
	cells := strings.Split(strings.ReplaceAll(strings.TrimSuffix(line, "|"), `\|`, bar), "|")
	for i := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), bar, "|")
	}
	return cells
}
