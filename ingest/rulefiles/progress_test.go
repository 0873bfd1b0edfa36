package rulefiles

import (
	"strings"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
)

// TestRulesProgress checks that the bytes of captures are counted as they are read, starting from 0 in each pass, but
// not those of a directory with a robots.txt.
func TestRulesProgress(t *testing.T) {
	dir := t.TempDir()
	line := `{"origin": "https://a.example", "status": 200, "fetched_at": 1780228800, "body": "` + strings.Repeat("x", 1000) + `"}` + "\n"
	testpack.WriteFile(t, dir, "a.jsonl", []byte(strings.Repeat(line, 2000)))
	b := testpack.WriteFile(t, dir, "b.jsonl", []byte(strings.Repeat(line, 1000)))
	size := int64(3000 * len(line))
	for _, path := range []string{dir, b} {
		if path == b {
			size /= 3
		}
		r, err := Find(path, "")
		if err != nil {
			t.Fatal(err)
		}
		if done, total := r.Progress(); done != 0 || total != size {
			t.Errorf("%s: %d of %d before, want 0 of %d", path, done, total, size)
		}
		for range 2 {
			last, seen := int64(-1), 0
			for _, err := range r.Responses() {
				if err != nil {
					t.Fatal(err)
				}
				done, total := r.Progress()
				if done < last || done > total || total != size {
					t.Fatalf("%s: %d of %d after %d", path, done, total, last)
				}
				if done > last {
					seen++
				}
				last = done
			}
			if done, _ := r.Progress(); done != size || seen < 3 {
				t.Errorf("%s: %d of %d at the end, in %d steps", path, done, size, seen)
			}
		}
	}
	testpack.WriteFile(t, dir, "example.com.txt", []byte("User-agent: *\n"))
	r, err := Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, total := r.Progress(); total != -1 {
		t.Errorf("a total of %d with a robots.txt", total)
	}
}
