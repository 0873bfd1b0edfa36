package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
)

// TestExamplePage makes the example report of docs and compares it with the file; -update writes the file. The report
// omits the editor for robots.txt, which would make it five times as large.
func TestExamplePage(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	out := filepath.Join(t.TempDir(), "report.html")
	arguments := []string{
		"report", "-rules", "testdata/cookbook/robots-new.txt", "-old", "testdata/cookbook/robots.txt", "-base", "https://www.semicomplete.com",
		"-in", "testdata/cookbook/access.log.zst", "-in-sitemap", "testdata/cookbook/sitemap.xml", "-agent-from-log",
		"-what-if", "off", "-quiet", "-out", out,
	}
	if code := run(arguments, console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	made, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("docs", "example-report.html")
	if *update {
		if err := os.WriteFile(name, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, made) {
		t.Errorf("%s is not what the command writes now: make example", name)
	}
}
