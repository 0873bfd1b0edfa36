//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestJudge checks the judgement of the files that a disturbed run may leave.
func TestJudge(t *testing.T) {
	const made = "made"
	file := &victim{outs: []string{"out/x"}, want: map[string][sha256.Size]byte{"out/x": sha256.Sum256([]byte(made))}}
	tree := &victim{single: true, want: map[string][sha256.Size]byte{"out/t/a": sha256.Sum256([]byte(made)), "out/t/b": sha256.Sum256([]byte(made))}}
	for _, tt := range []struct {
		name        string
		victim      *victim
		files       map[string]string
		older, tidy bool
		code        int
		want        judgement
	}{
		{"complete", file, map[string]string{"out/x": made}, false, true, 0, whole},
		{"complete, and it says no", file, map[string]string{"out/x": made}, false, true, 2, refused},
		{"nothing", file, nil, false, true, 2, refused},
		{"nothing, and no word", file, nil, false, true, 0, wrong},
		{"a part", file, map[string]string{"out/x": "ma"}, false, true, 2, wrong},
		{"a part, as far as it goes", file, map[string]string{"out/x.partial": "ma"}, false, true, 2, refused},
		{"the older one", file, map[string]string{"out/x": oldText}, true, true, 2, refused},
		{"the older one, as if made", file, map[string]string{"out/x": oldText}, true, true, 0, wrong},
		{"the older one is gone", file, nil, true, true, 2, wrong},
		{"a temporary file", file, map[string]string{"out/.x.tmp": "ma"}, false, false, -1, refused},
		{"a temporary file of a run that could remove it", file, map[string]string{"out/.x.tmp": "ma"}, false, true, 143, wrong},
		{"another file", file, map[string]string{"out/x": made, "out/y": made}, false, false, 0, wrong},
		{"half a directory", tree, map[string]string{"out/t/a": made}, false, true, 2, wrong},
		{"a directory and its record", tree, map[string]string{"out/t/a": made, "out/t/b": made, "out/t/_record": "x"}, false, true, 0, whole},
	} {
		dir := t.TempDir()
		for name, text := range tt.files {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, reason := tt.victim.judge(dir, tt.older, tt.tidy, tt.code); got != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.name, got, tt.want, reason)
		}
	}
}

// TestCallsOf checks that calls are counted by thread, each once.
func TestCallsOf(t *testing.T) {
	got := callsOf("7 read(3, \"fsync(\", 9) = 9\n8 read(3, <unfinished ...>\n7 read(3, \"\", 9) = 0\n8 <... read resumed>\"x\", 9) = 1\n8 fsync(4) = 0\n8 +++ exited with 0 +++\n")
	if want := "map[fsync:[1] read:[1 1 2]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
