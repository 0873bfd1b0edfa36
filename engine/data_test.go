package engine_test

import (
	"archive/tar"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/repcase"
	"github.com/robobatch/robobatch/robots"
)

// A dataset is real robots.txt and logs to try on them.
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

// shared returns all real data, or skips the test where that is not there. The third log has the
// lines of the first in random order.
func shared(tb testing.TB) dataset {
	tb.Helper()
	dir := filepath.Join(repcase.SharedDir(tb), "data")
	return dataset{readRules(tb, unpackRules(tb, filepath.Join(dir, "rules.tar.zst"))), []string{
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

// unpackRules unpacks an archive of robots.txt and returns the folder they are in.
func unpackRules(tb testing.TB, name string) string {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	dir := tb.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			tb.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), body, 0o600)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
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
