package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// allCases returns the cases of all workloads: reading the lines, robobatch, and the libraries. It writes each
// workload to a file in dir. Libraries that take longer than slowLine decide a sample of the lines.
func allCases(works []workload, dir string) (all []measure.Case, err error) {
	for _, w := range works {
		path := filepath.Join(dir, w.name)
		if err := os.WriteFile(path, []byte(w.text), 0o666); err != nil {
			return nil, err
		}
		reference, err := newAsker(libraries[0], w)
		if err != nil {
			return nil, err
		}
		right := reference.decideLines(w)
		add := func(name string, run func() (measure.Sample, error)) {
			all = append(all, measure.Case{Name: fmt.Sprintf("Peer/w=%s/lib=%s", w.name, name), Unit: "url", Run: run})
		}
		add("lines-alone", measure.Here(func() (measure.Work, error) {
			// Only read the lines, as a run of robobatch does.
			var work measure.Work
			var err error
			src, err := ingest.OpenLogs([]string{path}, ingest.LogOptions{})
			if err != nil {
				return work, err
			}
			var b engine.Batch
			for src.Next(&b) {
				work.Units += int64(b.Len())
				work.Bytes += int64(len(b.Data))
			}
			return work, errors.Join(src.Err(), src.Close())
		}))
		add("robobatch", func() (measure.Sample, error) {
			return measureLibrary(w, right, func() (func() ([]verdict, error), error) {
				store, err := engine.BuildStore(func(yield func(robots.Response, error) bool) {
					for origin, body := range w.bodies {
						if !yield(robots.Response{Origin: origin, Status: http.StatusOK, Body: body}, nil) {
							return
						}
					}
				}, engine.StoreOptions{Dialect: robots.Google, Workers: 1})
				return func() ([]verdict, error) { return decideByStore(store, path, len(right)) }, err
			})
		})
		for _, lib := range libraries {
			// Decide a sample of the lines if the library is slower than slowLine.
			part, probe := w, w.sample(max(1, w.lines()/2000))
			a, err := newAsker(lib, probe)
			if err != nil {
				return nil, err
			}
			cpu := measure.CPU()
			a.decideLines(probe)
			if line := (measure.CPU() - cpu) / time.Duration(max(1, probe.lines())); line >= slowLine {
				part = w.sample(max(1, w.lines()/int(slowTurn/line)))
			}
			answers := reference.decideLines(part)
			add(lib.name, func() (measure.Sample, error) {
				return measureLibrary(part, answers, func() (func() ([]verdict, error), error) {
					a, err := newAsker(lib, part)
					return func() ([]verdict, error) { return a.decideLines(part), nil }, err
				})
			})
		}
	}
	return all, nil
}

const (
	slowLine = 5 * time.Microsecond // per line
	slowTurn = time.Second / 2      // CPU time that a sample for a slower library should take
)

// agreement returns the percentage of equal verdicts among the lines with rules, and the number of these lines.
func agreement(got, want []verdict) []measure.Metric {
	equal, all := 0, 0
	for i := range want {
		if want[i] != noRules {
			all++
			if got[i] == want[i] {
				equal++
			}
		}
	}
	return []measure.Metric{{Value: 100 * float64(equal) / float64(max(1, all)), Unit: "agree-%"}, {Value: float64(len(want)), Unit: "lines"}}
}

// measureLibrary loads the files of a workload by load, and measures how long the function that it returns takes to
// decide all lines. The sample also has the agreement with want, and the time for loading.
func measureLibrary(w workload, want []verdict, load func() (answers func() ([]verdict, error), err error)) (measure.Sample, error) {
	cpu := measure.CPU()
	answers, err := load()
	if err != nil {
		return measure.Sample{}, err
	}
	loading := float64((measure.CPU() - cpu).Nanoseconds()) / float64(len(w.bodies))
	var got []verdict
	s, err := measure.Here(func() (work measure.Work, err error) {
		got, err = answers()
		return measure.Work{Units: int64(len(got)), Bytes: int64(len(w.text))}, err
	})()
	if err == nil && len(got) != len(want) {
		err = errors.New("the lines are counted otherwise")
	}
	if err == nil {
		s.Extra = append(agreement(got, want), measure.Metric{Value: loading, Unit: "load-cpu-ns/origin"})
	}
	return s, err
}

// decideByStore reads the lines of a file and decides them by a store with one agent. lines is their expected number.
func decideByStore(store *engine.Store, path string, lines int) ([]verdict, error) {
	got := make([]verdict, 0, lines)
	src, err := ingest.OpenLogs([]string{path}, ingest.LogOptions{})
	if err != nil {
		return nil, err
	}
	e := store.NewEvaluator()
	var b engine.Batch
	for src.Next(&b) {
		e.Evaluate(&b)
		for _, v := range b.Verdicts {
			says := denied
			switch {
			case v.Reason == engine.ReasonNoRobots || v.Access == engine.Unknown:
				says = noRules
			case v.Access == engine.Allowed:
				says = allowed
			}
			got = append(got, says)
		}
	}
	return got, errors.Join(src.Err(), src.Close())
}
