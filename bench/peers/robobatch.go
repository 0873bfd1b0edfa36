package main

import (
	"errors"
	"iter"
	"net/http"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// readLines reads the lines as a run of robobatch does, and nothing else.
func readLines(path string) (work measure.Work, err error) {
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
}

// askRobobatch compiles the rules and decides all lines, on one goroutine.
func askRobobatch(w workload, path string, want []verdict) (measure.Sample, error) {
	cpu := measure.CPU()
	store, err := engine.BuildStore(w.responses(), engine.StoreOptions{Dialect: robots.Google, Workers: 1})
	if err != nil {
		return measure.Sample{}, err
	}
	load := measure.CPU() - cpu
	var got []verdict
	s, err := measure.Here(func() (work measure.Work, err error) {
		got = make([]verdict, 0, len(want))
		src, err := ingest.OpenLogs([]string{path}, ingest.LogOptions{})
		if err != nil {
			return work, err
		}
		e := store.NewEvaluator()
		var b engine.Batch
		for src.Next(&b) {
			e.Evaluate(&b)
			for _, v := range b.Verdicts {
				got = append(got, verdictOf(v))
			}
		}
		return measure.Work{Units: int64(len(got)), Bytes: int64(len(w.text))}, errors.Join(src.Err(), src.Close())
	})()
	if err == nil && len(got) != len(want) {
		err = errors.New("the lines are counted otherwise")
	}
	if err != nil {
		return s, err
	}
	s.Extra = append(agreement(got, want), perOrigin(load, w))
	return s, nil
}

func verdictOf(v engine.Verdict) verdict {
	switch {
	case v.Reason == engine.ReasonNoRobots || v.Access == engine.Unknown:
		return noRules
	case v.Access == engine.Allowed:
		return allowed
	}
	return denied
}

// responses yields the bodies as they would be fetched.
func (w workload) responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for origin, body := range w.bodies {
			if !yield(robots.Response{Origin: origin, Status: http.StatusOK, Body: body}, nil) {
				return
			}
		}
	}
}
