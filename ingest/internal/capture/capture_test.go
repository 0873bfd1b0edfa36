package capture

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/robots"
)

// readAll returns all responses and problems of the file at path, or of the files in that directory. Errors end the
// test.
func readAll(tb testing.TB, path string) ([]robots.Response, Problems) {
	tb.Helper()
	paths := []string{path}
	if entries, err := os.ReadDir(path); err == nil {
		paths = nil
		for _, e := range entries {
			paths = append(paths, filepath.Join(path, e.Name()))
		}
	}
	p := NewPass(new(atomic.Int64))
	defer p.Release()
	var got []robots.Response
	collect := func(r robots.Response) bool {
		got = append(got, r)
		return true
	}
	for _, path := range paths {
		content := unpack.Named(filepath.Base(path))
		if content == unpack.Text {
			continue
		}
		if _, err := p.Read(path, path, content, collect); err != nil {
			tb.Fatal(err)
		}
	}
	p.Finish(collect)
	for _, d := range p.Damages() { // a lost end counts as a corrupt record here
		p.problems.addProblem(d.At)
	}
	return got, p.Problems()
}
