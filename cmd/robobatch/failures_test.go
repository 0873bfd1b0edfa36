package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:generate go test -count 1 -run TestFailuresDoc -update .

// TestFailuresDoc holds that the table of docs/FAILURES.md equals the one made from the scripts about faults: a
// row for each that ends the run, with its first exit code and the beginning of the message that it expects then. With -update it
// writes the table.
func TestFailuresDoc(t *testing.T) {
	const name = "../../docs/FAILURES.md"
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| fault | exit | message |\n|---|---|---|\n"
	front, _, ok := strings.Cut(string(doc), head)
	if !ok {
		t.Fatalf("%s has no table", name)
	}
	scripts, err := filepath.Glob("testdata/script/fault-*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString(front + head)
	messages := 0
	for _, path := range scripts {
		row := readFault(t, path)
		if row.exit != "0" { // other pages describe input that is no fault
			page.WriteString(row.String())
		}
		if row.message != "" {
			messages++
		}
	}
	if len(scripts) < 30 || messages < 20 {
		t.Errorf("%d scripts with %d messages", len(scripts), messages)
	}
	if *update {
		if err := os.WriteFile(name, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(doc) != page.String() {
		t.Errorf("%s is not what the scripts make: run go generate ./cmd/robobatch", name)
	}
}

// shownWords is the number of words of a message that the page shows: the place and the fault. The message itself has the remedy.
const shownWords = 12

// A fault is a row of docs/FAILURES.md.
type fault struct {
	what    string // the first sentence of the script
	exit    string
	message string // the beginning of standard error, without the name of the program
}

// String returns the row in Markdown.
func (f fault) String() string {
	if f.message == "" {
		f.message = "none"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", f.what, f.exit, f.message)
}

// readFault reads a script: its first sentence, and the first command with an exit code for which it
// has the message, or, if it has none, the first exit code.
func readFault(t *testing.T, path string) fault {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(archive.Comment), "\n")
	what, _, _ := strings.Cut(strings.TrimPrefix(lines[0], "# "), ". ")
	f := fault{what: strings.TrimSuffix(what, ".")}
	for i, line := range lines {
		words := strings.Fields(line)
		for len(words) > 0 && strings.HasPrefix(words[0], "[") {
			words = words[1:] // a condition
		}
		if len(words) < 2 || words[0] != "exits" && words[0] != "closedpipe" && words[0] != "interrupt" && words[0] != "interruptUpload" {
			continue
		}
		if f.exit == "" {
			f.exit = words[1]
		}
		_, wants, ok := strings.Cut(lines[i+1], "cmp stderr ")
		if !ok {
			continue
		}
		for _, file := range archive.Files {
			if file.Name == filepath.Base(wants) && words[1] != "0" {
				text := strings.ReplaceAll(strings.TrimSpace(string(file.Data)), "|", `\|`)
				first, _, _ := strings.Cut(strings.ReplaceAll(text, "robobatch: ", ""), "\n")
				if said := strings.Fields(first); len(said) > shownWords {
					first = strings.Join(said[:shownWords], " ") + " …"
				}
				f.exit, f.message = words[1], "`"+first+"`"
				return f
			}
		}
	}
	if f.what == "" || f.exit == "" {
		t.Errorf("%s: no sentence at its beginning, or no exit code", path)
	}
	return f
}
