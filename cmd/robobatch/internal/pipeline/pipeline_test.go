package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
)

// A trial is a directory with rules and logs.
type trial struct {
	*testing.T
	dir string
}

// newTrial writes files into a directory.
func newTrial(t *testing.T, files map[string]string) trial {
	t.Helper()
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return trial{t, dir}
}

// plan returns a pipeline for the flags, in which $ stands for the directory.
func (t trial) plan(text string) (*Pipeline, error) {
	t.Helper()
	f, old, faults := new(Flags), new(flags.Old), cli.Faults{}
	c := cli.Command{Flags: flags.Sections{
		Input: append(f.InputFlags(), old.Flag()), Question: f.Question.LogFlags(flags.DecideFor), Run: f.Work.MemoryFlags(""),
	}.All()}
	p := &cli.Program{Name: "test", Commands: []cli.Command{c}}
	if err := p.Parse(&p.Commands[0], strings.Fields(strings.ReplaceAll(text, "$", t.dir))); err != nil {
		t.Fatal(err)
	}
	messages, err := os.Create(filepath.Join(t.dir, "messages"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { messages.Close() })
	r := new(Pipeline)
	r.Choose(f, console.Streams{Err: messages}, &faults, &faults)
	r.Memory.Plan = memory.PlanOf("coverage")
	if old.IsGiven() {
		r.Old = r.Now.PreviousSide(old)
	}
	r.ChooseWork(f, &output.Options{}, &faults)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return r, r.Find(f)
}

// takeLogs evaluates the logs, and returns the verdicts as one letter per row.
func (t trial) takeLogs(r *Pipeline) (verdicts string, err error) {
	t.Helper()
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.Load(t.Context(), t.dir); err != nil {
		return "", err
	}
	var sink letters
	err = r.Take(t.Context(), r.Source(), &sink)
	return sink.text, err
}

// letters is a sink that records each verdict as a letter: a for allowed, d for disallowed, ? for null.
type letters struct{ text string }

// Write adds the letters of a batch.
func (l *letters) Write(b *engine.Batch) error {
	for _, v := range b.Verdicts {
		l.text += map[engine.Access]string{engine.Allowed: "a", engine.Denied: "d", engine.Unknown: "?"}[v.Access]
	}
	return nil
}

// Close does nothing.
func (*letters) Close() error { return nil }

const site = " -base https://a.example -progress off"

// TestTake evaluates a log with rules in memory, with a memory limit, and with previous rules.
func TestTake(t *testing.T) {
	all := newTrial(t, map[string]string{"new": "User-agent: *\nDisallow: /x\n", "old": "User-agent: *\n", "log": "/x\n/y\n/x/y\n"})
	for text, want := range map[string]string{
		"-rules $/new -in $/log":                           "dad",
		"-rules $/new -in $/log -max-memory 128MiB":        "dad",
		"-rules $/new -in $/log -agent *,GPTBot -limit 2":  "ddaa",
		"-rules $/new -in $/log -old $/old":                "dad",
		"-rules $/old -in $/log -in $/log -missing null":   "aaaaaa",
		"-rules $/new -in $/log -workers 1 -as-of 2020-01": "",
	} {
		r, err := all.plan(text + site)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "invalid time") {
				t.Errorf("%s: error %v", text, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := all.takeLogs(r)
		if err != nil || got != want || r.Stats.Rows != int64(len(want)) {
			t.Errorf("%s: %q, %d rows, want %q; error %v", text, got, r.Stats.Rows, want, err)
		}
		if twice := strings.Count(text, "-in") > 1; twice != slices.ContainsFunc(r.Warnings, func(d warning.Warning) bool { return d.Code == warning.RepeatedInput }) {
			t.Errorf("%s: warnings %v", text, r.Warnings)
		}
	}
	if left, err := filepath.Glob(filepath.Join(all.dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// TestFaults checks that one error reports all invalid values, and, once the values are valid, one error reports all
// faults of files.
func TestFaults(t *testing.T) {
	all := newTrial(t, map[string]string{"new": "User-agent: *\n", "log": "/x\n"})
	for text, wants := range map[string][]string{
		"-rules $/new -in $/log -limit -1 -workers -1 -max-memory x": {"-workers: ", "-limit: ", "-max-memory: "},

		"-rules $/no -in $/none": {"none: ", "no: "},
	} {
		_, err := all.plan(text + site)
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
	}
}

// TestSides checks that previous rules for other sites are an error.
func TestSides(t *testing.T) {
	all := newTrial(t, map[string]string{"b/https_b.example.txt": "User-agent: *\n", "a/https_a.example.txt": "User-agent: *\n", "log": "https://a.example/x\n"})
	r, err := all.plan("-rules $/a -old $/b -in $/log -progress off")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.takeLogs(r); err == nil || !strings.Contains(err.Error(), "have no origin in common") {
		t.Errorf("error %v", err)
	}
}

// TestKeepAnswers checks that a status is read if all logs can have it and at least one does, and for conduct, if all
// logs can have it.
func TestKeepAnswers(t *testing.T) {
	all := newTrial(t, map[string]string{
		"new": "User-agent: *\n", "has.csv": "url,status\n/x,200\n", "lacks.csv": "url\n/x\n", "blank.csv": "url,status\n/x,\n", "empty.csv": "url,status\n",
		"late.jsonl": strings.Repeat(`{"url":"/x"}`+"\n", 100) + `{"url":"/x","status":200}` + "\n",
	})
	for text, want := range map[string][2]int{
		"-in $/has.csv": {1, 1}, "-in $/has.csv -in $/lacks.csv": {0, 0}, "-in $/has.csv -in $/blank.csv": {1, 1}, "-in $/empty.csv -in $/has.csv": {1, 1},
		"-in $/blank.csv": {0, 1}, "-in $/late.jsonl": {0, 1},
	} {
		for i, keep := range []func(*Pipeline) error{(*Pipeline).KeepAnswers, func(p *Pipeline) error { return p.KeepRequests(false) }} {
			r, err := all.plan("-rules $/new " + text + site)
			if err == nil {
				err = keep(r)
			}
			if err != nil || r.Status != want[i] {
				t.Errorf("%s: the status is column %d, want %d; %v", text, r.Status, want[i], err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestCause checks that Cause removes the position that the engine adds to errors of the source and of the sink.
func TestCause(t *testing.T) {
	ended, source, sink := errors.New("ended"), new(engine.SourceError), new(engine.SinkError)
	source.Err, sink.Err = ended, ended
	for _, err := range []error{source, sink, ended} {
		if got := Cause(err); got != ended { //nolint:errorlint // the error itself, not one around it
			t.Errorf("%v becomes %v", err, got)
		}
	}
}
