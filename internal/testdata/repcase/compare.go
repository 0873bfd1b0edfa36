package repcase

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CompareShared checks that testdata/rep/conformance has every case of the collection it was copied
// from. It is skipped where that is not there.
func CompareShared(t *testing.T) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(SharedDir(t), "conformance", "*.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for row := range bytes.Lines(Content(t, base)) {
			have[string(row)] = true
		}
		for row := range bytes.Lines(want) {
			if !have[string(row)] {
				t.Errorf("%s lacks the case %s", base, elide(row))
			}
		}
	}
}
