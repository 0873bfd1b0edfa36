package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/fakestore"
)

// networkCall matches a line of strace about a system call that could reach a network.
var networkCall = regexp.MustCompile(`(?m)^.*\b(socket|socketpair|connect|bind|listen|accept4?|send(to|msg|mmsg)|recv(from|msg|mmsg))\(.*$`)

// TestNoNetwork runs all commands under strace: none may open a connection unless a name begins with s3://, whatever
// the environment variables for object storage are.
func TestNoNetwork(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace")
	}
	quickstart, err := filepath.Abs("../../testdata/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	store := fakestore.New()
	defer store.Close()
	dir := t.TempDir()
	environment, err := store.Environment(dir)
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("robobatch")
	if err != nil {
		t.Fatal(err)
	}
	robots := filepath.Join(dir, "robots.txt")
	writeFile(t, robots, "User-agent: *\nDisallow: /x\n")
	rules, in := filepath.Join(quickstart, "rules"), filepath.Join(quickstart, "urls.zst")
	store.Put("a.txt", []byte("https://example.com/x\n"))
	for _, tt := range []struct {
		reaches bool
		args    []string
	}{
		{false, []string{"-rules", rules, "-in", in, "-out", "a.parquet", "-stats", "stats.json", "-max-memory", "128MiB"}},
		{false, []string{"-rules", rules, "-in", in, "-out", "out/"}},
		{false, []string{"merge", "-out", "out/"}},
		{false, []string{"compile", "-rules", rules, "-out", "rules.rbp"}},
		{false, []string{"rules", "-rules", rules, "-out", "rules.parquet"}},
		{false, []string{"explain", "-rules", robots, "-origin", "https://example.com", "https://example.com/x"}},
		{false, []string{"diff", "-rules", robots, "-old", robots, "-origin", "https://example.com", "-in", in}},
		{false, []string{"coverage", "-rules", rules, "-in", in}},
		{false, []string{"lint", "-rules", rules}},
		{true, []string{"-rules", robots, "-origin", "https://example.com", "-in", "s3://bucket/a.txt", "-out", "a.csv"}},
	} {
		log := filepath.Join(dir, "trace")
		cmd := exec.Command(strace, slices.Concat([]string{"-f", "--seccomp-bpf", "-qq", "-e", "trace=%network", "-o", log, program}, tt.args)...)
		cmd.Dir = dir
		cmd.Env = os.Environ()
		for name, value := range environment {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		out, err := cmd.CombinedOutput()
		text, errLog := os.ReadFile(log)
		if errLog != nil || bytes.Contains(out, []byte("ptrace")) {
			t.Skipf("strace cannot trace here: %v\n%s", errLog, out)
		}
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
			t.Errorf("%q: %v\n%s", tt.args, err, out)
		}
		if calls := networkCall.FindAll(text, 3); (len(calls) > 0) != tt.reaches {
			t.Errorf("%q: %d calls: %q", tt.args, len(calls), calls)
		}
	}
}
