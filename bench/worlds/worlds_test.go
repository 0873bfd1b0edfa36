package worlds

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// makeWorld generates a world in a new directory, compares it with its truth, and returns the directory.
func makeWorld(t *testing.T, o order) string {
	t.Helper()
	dir := t.TempDir()
	if err := o.make(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read1(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTruth checks that a small world for each code has such a fault that its log shows, and that check notices a wrong
// number.
func TestTruth(t *testing.T) {
	for _, code := range codes() {
		t.Run(code, func(t *testing.T) {
			dir := makeWorld(t, order{seed: 3, codes: []string{code}, days: 16, requests: 11_000, alone: true})
			truth := read1(t, dir, "truth.json")
			if !bytes.Contains(truth, []byte(`"code": "`+code+`"`)) {
				t.Fatalf("truth.json has no such fault: %s", truth)
			}
			wrong := bytes.Replace(truth, []byte(`"lines": `), []byte(`"lines": 1`), 2) // also the number of lines of the log
			if err := os.WriteFile(filepath.Join(dir, "truth.json"), wrong, 0o644); err != nil {
				t.Fatal(err)
			}
			problems, err := check(dir)
			if err != nil || len(problems) != 2 || !strings.Contains(problems[1], code) {
				t.Errorf("wrong numbers of lines: %q, %v", problems, err)
			}
		})
	}
}

// TestRepeats checks that equal seeds give equal bytes, and different seeds different bytes.
func TestRepeats(t *testing.T) {
	o := order{seed: 5, codes: []string{"outage", "crawler_impostors"}, days: 12, requests: 8000}
	first, second := makeWorld(t, o), makeWorld(t, o)
	o.seed++
	other := makeWorld(t, o)
	err := filepath.WalkDir(first, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(first, path)
		if !bytes.Equal(read1(t, first, name), read1(t, second, name)) {
			t.Errorf("the same seed gives two of %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(read1(t, first, "access.log.zst"), read1(t, other, "access.log.zst")) {
		t.Error("two seeds give the same log")
	}
}

// TestFaultless checks that a world without faults has crawlers and noise, but lists no fault.
func TestFaultless(t *testing.T) {
	truth := read1(t, makeWorld(t, order{seed: 2, faultless: true, days: 12, requests: 8000}), "truth.json")
	for _, want := range []string{`"faults": []`, `"Googlebot": `, `"restarts": [`} {
		if !bytes.Contains(truth, []byte(want)) {
			t.Errorf("truth.json lacks %s: %s", want, truth)
		}
	}
}
