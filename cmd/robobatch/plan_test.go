package main

import (
	"os"
	"testing"

	"github.com/robobatch/robobatch/internal/cli"
)

// TestFlagsDoc checks that docs/FLAGS.md is the page generated from the table of flags. With -update it writes the
// file.
func TestFlagsDoc(t *testing.T) {
	const name = "../../docs/FLAGS.md"
	page := commandLine().Markdown()
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if doc, err := os.ReadFile(name); err != nil || string(doc) != page {
		t.Errorf("%s is not up to date: run go generate ./cmd/robobatch; %v", name, err)
	}
}

// commandLine returns the command line.
func commandLine() *cli.Program {
	p, _ := newProgram()
	return p
}
