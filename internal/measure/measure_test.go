package measure_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// job returns the job of the quick start.
func job(t *testing.T) measure.Job {
	t.Helper()
	data := filepath.Join("..", "..", "testdata", "quickstart")
	out := filepath.Join(t.TempDir(), "out.parquet")
	return measure.Job{
		Rules: func() (iter.Seq2[robots.Response, error], error) {
			files, err := rulefiles.Find(filepath.Join(data, "rules"), "")
			if err != nil {
				return nil, err
			}
			return files.Responses(), nil
		},
		Logs: func() (engine.Source, error) {
			return ingest.OpenLogs([]string{filepath.Join(data, "urls.zst")}, ingest.LogOptions{})
		},
		Lines: func() (int64, error) {
			return ingest.CountLines([]string{filepath.Join(data, "urls.zst")}, ingest.LogOptions{})
		},
		Sink: func(s *engine.Store) (measure.Sink, error) {
			return output.Create(out, nil, s, output.Options{Inputs: []string{"urls.zst"}})
		},
		Store:   engine.StoreOptions{Dialect: robots.Google},
		Workers: []int{1, 2},
	}
}

// benchmarkLine matches results as benchstat reads them: a name, a count, and pairs of a number and a unit.
var benchmarkLine = regexp.MustCompile(`^Benchmark([A-Z]\S*)\t1(\t[0-9.e+]+ \S+)+$`)

// TestJob tests that each round has one line per case, in order, with all units.
func TestJob(t *testing.T) {
	for _, sink := range []bool{true, false} {
		j := job(t)
		if !sink {
			j.Sink, j.Lines = nil, nil
		}
		var out bytes.Buffer
		var told []engine.Stats
		j.Ran = func(_ *engine.Store, s engine.Stats) { told = append(told, s) }
		if err := j.Measure(t.Context(), &out, 2); err != nil {
			t.Fatal(err)
		}
		if len(told) != 4 || told[3].URLs == 0 || !reflect.DeepEqual(told[3], told[0]) {
			t.Errorf("told of the runs %+v", told)
		}
		var names []string
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, "Benchmark") {
				continue
			}
			m := benchmarkLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				t.Fatalf("no result: %q", line)
			}
			names = append(names, m[1])
			for _, unit := range []string{"ns/op", "MB/s", "s/s", "allocs/op"} {
				if !strings.Contains(line, unit) && (unit != "MB/s" || m[1] != "Unpack") {
					t.Errorf("no %s in %q", unit, line)
				}
			}
		}
		round := "Parse Read BuildStore/workers=1 Run/workers=1 BuildStore/workers=2 Run/workers=2"
		if sink {
			round = "Parse Unpack Read Decide/workers=1 BuildStore/workers=1 Run/workers=1 BuildStore/workers=2 Run/workers=2"
		}
		if got := strings.Join(names, " "); got != round+" "+round {
			t.Errorf("cases are %s", got)
		}
		for _, key := range []string{"goos: ", "cpu: ", "# go: ", "# date: ", "# load: "} {
			if !strings.Contains(out.String(), "\n"+key) && !strings.HasPrefix(out.String(), key) {
				t.Errorf("no %q in the header", key)
			}
		}
	}
}

// TestJobPack tests that a pack is opened, and gives the same results as the rules that it was compiled from.
func TestJobPack(t *testing.T) {
	j := job(t)
	all, err := j.Rules()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "x.rbp"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := engine.WritePack(t.Context(), f, all, engine.PackOptions{Dialect: robots.Google}); err != nil {
		t.Fatal(err)
	}
	var told []engine.Stats
	j.Ran = func(_ *engine.Store, s engine.Stats) { told = append(told, s) }
	var out bytes.Buffer
	if err := j.Measure(t.Context(), new(bytes.Buffer), 1); err != nil {
		t.Fatal(err)
	}
	j.Pack, j.Rules = f.Name(), nil
	if err := j.Measure(t.Context(), &out, 1); err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(out.String()) {
		if m := benchmarkLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			names = append(names, m[1])
		}
	}
	if got := strings.Join(names, " "); got != "OpenPack Unpack Read DecidePack/workers=1 RunPack/workers=1 RunPack/workers=2" {
		t.Errorf("cases are %s", got)
	}
	if len(told) != 4 || !reflect.DeepEqual(told[2], told[0]) || !reflect.DeepEqual(told[3], told[0]) {
		t.Errorf("the runs came to %+v", told)
	}
	j.Store.Dialect = robots.Yandex
	if _, ok := errors.AsType[*engine.PackDialectError](j.Measure(t.Context(), &out, 1)); !ok {
		t.Error("a pack for another dialect is measured")
	}
}

// TestJobFails tests that errors of each part, and of the context, are returned.
func TestJobFails(t *testing.T) {
	broken := errors.New("broken")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, change := range map[string]func(*measure.Job) context.Context{
		"rules": func(j *measure.Job) context.Context {
			j.Rules = func() (iter.Seq2[robots.Response, error], error) { return nil, broken }
			return t.Context()
		},
		"a response": func(j *measure.Job) context.Context {
			j.Rules = func() (iter.Seq2[robots.Response, error], error) {
				return func(yield func(robots.Response, error) bool) { yield(robots.Response{}, broken) }, nil
			}
			return t.Context()
		},
		"logs": func(j *measure.Job) context.Context {
			j.Logs = func() (engine.Source, error) { return nil, broken }
			return t.Context()
		},
		"sink": func(j *measure.Job) context.Context {
			j.Sink = func(*engine.Store) (measure.Sink, error) { return nil, broken }
			return t.Context()
		},
		"lines": func(j *measure.Job) context.Context {
			j.Lines = func() (int64, error) { return 0, broken }
			return t.Context()
		},
		"context": func(*measure.Job) context.Context { return ended },
		"no URLs": func(j *measure.Job) context.Context {
			empty := filepath.Join(t.TempDir(), "empty.txt")
			if err := os.WriteFile(empty, []byte("\n\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			j.Logs = func() (engine.Source, error) { return ingest.OpenLogs([]string{empty}, ingest.LogOptions{}) }
			return t.Context()
		},
	} {
		j := job(t)
		ctx := change(&j)
		want := broken
		switch name {
		case "context":
			want = context.Canceled
		case "no URLs":
			want = measure.ErrNoURLs
		}
		var out bytes.Buffer
		if err := j.Measure(ctx, &out, 1); !errors.Is(err, want) {
			t.Errorf("%s: error %v", name, err)
		}
		if name == "no URLs" && out.Len() > 0 {
			t.Errorf("without URLs it writes %q", &out)
		}
	}
}

// TestSample tests that the work of a run is reported.
func TestSample(t *testing.T) {
	s, err := measure.Here(func() (measure.Work, error) {
		for started := measure.CPU(); measure.CPU()-started < 10*time.Millisecond; {
			if measure.CPU() == 0 {
				t.Skip("processor time is not known here")
			}
		}
		return measure.Work{Units: 5, Bytes: 7}, nil
	})()
	if err != nil || s.Units != 5 || s.Bytes != 7 {
		t.Fatalf("%+v: %v", s, err)
	}
	if s.CPU < 10*time.Millisecond || s.Wall <= 0 {
		t.Errorf("took %v, processor time %v", s.Wall, s.CPU)
	}
}

// TestExec tests that another process is measured, and that the error of a failed one contains its output.
func TestExec(t *testing.T) {
	s, err := measure.Exec(exec.Command("go", "version"))
	if err != nil {
		t.Fatal(err)
	}
	if s.CPU <= 0 || s.Wall <= 0 {
		t.Errorf("%+v", s)
	}
	if _, err := measure.Exec(exec.Command("go", "no-such-command")); err == nil || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("error %v", err)
	}
}
