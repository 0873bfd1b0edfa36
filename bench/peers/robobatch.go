package main

import (
	"errors"
	"iter"
	"net/http"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/robots"
)

// decide reads the given number of lines and decides them.
func decide(store *engine.Store, path string, lines int) ([]verdict, error) {
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
			got = append(got, verdictOf(v))
		}
	}
	return got, errors.Join(src.Err(), src.Close())
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

// responses yields the bodies as fetched responses.
func (w workload) responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for origin, body := range w.bodies {
			if !yield(robots.Response{Origin: origin, Status: http.StatusOK, Body: body}, nil) {
				return
			}
		}
	}
}
