package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
)

// TestPageBefore checks that no output gets its name if the page in addition to it cannot be made, in this test
// because the rules are removed during the run.
func TestPageBefore(t *testing.T) {
	for _, line := range []string{"-out x.csv -rules rules -in - -report y.html -stats s.json", "diff -out x.csv -old old -rules rules -in - -report y.html"} {
		t.Chdir(t.TempDir())
		for _, dir := range []string{"rules", "old"} {
			writeFile(t, filepath.Join(dir, "https_a.example.txt"), "User-agent: *\nDisallow: /"+dir+"\n")
		}
		in, logs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		messages, err := os.Create(filepath.Join(t.TempDir(), "err"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan int)
		go func() { done <- run(strings.Fields(line), console.Streams{In: in, Out: messages, Err: messages}) }()
		if _, err := logs.WriteString("https://a.example/rules\n"); err != nil {
			t.Fatal(err)
		}
		loaded := func() bool { // it opens the output once the rules are there
			found, err := filepath.Glob(".x.csv*")
			return err == nil && len(found) > 0
		}
		for deadline := time.Now().Add(time.Minute); !loaded(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("no output is begun")
			}
		}
		for _, dir := range []string{"rules", "old"} {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		logs.Close()
		code := <-done
		said := readText(t, messages.Name())
		if code != 2 || !strings.Contains(said, "robobatch: -report: read rules: ") {
			t.Errorf("%s: exit code %d, %q", line, code, said)
		}
		files, err := os.ReadDir(".")
		if err != nil || len(files) > 0 {
			t.Errorf("%s: %v, %v are there", line, err, files)
		}
		messages.Close()
		in.Close()
	}
}
