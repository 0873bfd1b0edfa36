package engine_test

import (
	"iter"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// A dataset has real robots.txt files, and logs.
type dataset struct {
	responses []robots.Response
	logs      []string
}

// quickstart returns the data of testdata/quickstart.
func quickstart(tb testing.TB) dataset {
	tb.Helper()
	dir := filepath.Join(repcase.Dir(tb), "..", "quickstart")
	return dataset{readRules(tb, filepath.Join(dir, "rules")), []string{filepath.Join(dir, "urls.zst")}}
}

// shared returns all real data, or skips the test if they do not exist. The third log has the lines of the first in
// random order.
func shared(tb testing.TB) dataset {
	tb.Helper()
	dir := filepath.Join(repcase.SharedDir(tb), "data")
	return dataset{readRules(tb, repcase.Collection(tb)), []string{
		filepath.Join(dir, "urls_real_hostgrouped.urls.zst"),
		filepath.Join(dir, "synth_300k.urls.zst"),
		filepath.Join(dir, "urls_real_shuffled.urls.zst"),
	}}
}

func readRules(tb testing.TB, dir string) []robots.Response {
	tb.Helper()
	files, err := rulefiles.Find(dir, "")
	if err != nil {
		tb.Fatal(err)
	}
	var responses []robots.Response
	for r, err := range files.Responses() {
		if err != nil {
			tb.Fatal(err)
		}
		responses = append(responses, r)
	}
	return responses
}

func (s dataset) all() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for _, r := range s.responses {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s dataset) store(tb testing.TB, opt engine.StoreOptions) *engine.Store {
	tb.Helper()
	store, err := engine.BuildStore(s.all(), opt)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

// open opens logs.
func open(tb testing.TB, names []string, opt ingest.LogOptions) *ingest.Logs {
	tb.Helper()
	logs, err := ingest.OpenLogs(names, opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { logs.Close() })
	return logs
}
