package e2e

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the outputs of queries into the documents")

// fence is a fenced block of a document, with its language.
var fence = regexp.MustCompile("(?s)```(sh|sql|text)\n(.*?)```\n")

// TestDocs runs the commands (sh) and queries (sql) of each document, in order and in one
// directory, and compares the block after a query (text) with its output. -update updates
// these blocks.
func TestDocs(t *testing.T) {
	for _, doc := range []struct {
		name    string
		before  string // a command that the document expects to have run
		queries int    // at least
	}{
		{"docs/COOKBOOK.md", "", 4},
	} {
		t.Run(filepath.Base(doc.name), func(t *testing.T) {
			name, err := filepath.Abs(filepath.Join("..", doc.name))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			enterDocs(t)
			if doc.before != "" {
				shell(t, doc.before)
			}
			got, queries := runBlocks(t, text)
			if queries < doc.queries {
				t.Errorf("%d queries, want at least %d", queries, doc.queries)
			}
			if *update {
				if err := os.WriteFile(name, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// enterDocs changes to a directory with testdata, as the cookbook tells readers to do,
// and puts the command into PATH.
func enterDocs(t *testing.T) {
	t.Helper()
	testdata, err := filepath.Abs(filepath.Join("..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(testdata, "testdata"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(command)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// runBlocks runs the blocks of a document. It returns the document with the current outputs, and the number of
// queries. Each query must have an output after it.
func runBlocks(t *testing.T, text []byte) (now []byte, queries int) {
	t.Helper()
	d := openDuck(t)
	d.db.SetMaxOpenConns(1)
	var out *string // of a query whose output block comes next
	at := 0
	for _, m := range fence.FindAllSubmatchIndex(text, -1) {
		language, body := string(text[m[2]:m[3]]), string(text[m[4]:m[5]])
		if out != nil && language != "text" {
			t.Fatalf("no output after the query before %q", body)
		}
		switch language {
		case "sh":
			shell(t, body)
		case "sql":
			result, err := d.table(body)
			if err != nil {
				t.Fatalf("%s\n%v", body, err)
			}
			drawn := result.String()
			out, queries = &drawn, queries+1
		case "text":
			if out == nil {
				continue // the output of something else
			}
			if body != *out && !*update {
				t.Errorf("the output is\n%s\nnot\n%s\nrun go test -run TestDocs -update if that is right", *out, body)
			}
			now = append(append(now, text[at:m[4]]...), *out...)
			at, out = m[5], nil
		}
	}
	if out != nil {
		t.Fatal("no output after the last query")
	}
	return append(now, text[at:]...), queries
}

// shell runs commands as if a reader pasted them. They must succeed, and print nothing but warnings.
func shell(t *testing.T, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	out, err := cmd.CombinedOutput()
	if said := warnings.ReplaceAll(out, nil); err != nil || len(bytes.TrimSpace(said)) > 0 {
		t.Fatalf("%s\n%v\n%s", strings.TrimSpace(script), err, out)
	}
}

// warnings may be printed, because the samples are real.
var warnings = regexp.MustCompile(`(?m)^robobatch: warning: .*\n(  .*\n)*`)
