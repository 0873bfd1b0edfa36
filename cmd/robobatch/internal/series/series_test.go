package series

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/ingest/logfiles"
)

// items returns inputs with these paths; the name of each input is its path.
func items(t *testing.T, paths ...string) []Item {
	t.Helper()
	all, err := pair(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func pair(paths ...string) ([]Item, error) {
	files := make([]logfiles.File, len(paths))
	for i, path := range paths {
		files[i] = logfiles.File{Name: "in/" + path, Path: path, Size: int64(len(path))}
	}
	return Pair(files, func(log string) string { return logfiles.Stem(log) + ".out" })
}

// TestPair checks the names of outputs, and the errors about inputs without an output of their own.
func TestPair(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  string // the outputs
		err   string
	}{
		{[]string{"a.log", "x/a.log", "x/y/b.txt.gz"}, "[a.out x/a.out x/y/b.out]", ""},
		{[]string{"a.log", "a.txt"}, "", "in/a.log and in/a.txt would have the same output, a.out"},
		{[]string{"x/a.out/b.log", "x/a.log"}, "", "the output of in/x/a.out/b.log would be in x/a.out, which is the output of in/x/a.log"},
		{[]string{"_done/a.log"}, "", "its output would be in _done"},
		{[]string{"x/_done/a.log"}, "[x/_done/a.out]", ""},
	} {
		all, err := pair(c.paths...)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v", c.paths, err)
			}
			continue
		}
		var outputs []string
		for _, item := range all {
			outputs = append(outputs, item.Output)
		}
		if got := fmt.Sprint(outputs); got != c.want || err != nil {
			t.Errorf("%q: %s, %v", c.paths, got, err)
		}
	}
	many := make([]string, 100)
	for i := range many {
		many[i] = "a.log"
	}
	if _, err := pair(many...); err == nil || strings.Count(err.Error(), "\n") != shown || !strings.HasSuffix(err.Error(), "and 89 more inputs have no separate output") {
		t.Error(err)
	}
}

// TestList checks that the hash of a list depends on names, sizes and order.
func TestList(t *testing.T) {
	base := items(t, "a.log", "bb.log")
	seen := map[string]bool{ListOf(base).Hash: true}
	for name, change := range map[string]func(all []Item){
		"name":  func(all []Item) { all[0].Name = "in/c.log" },
		"size":  func(all []Item) { all[0].Size++ },
		"part":  func(all []Item) { all[0].Part.To = 5 },
		"order": func(all []Item) { all[0], all[1] = all[1], all[0] },
	} {
		all := items(t, "a.log", "bb.log")
		change(all)
		if hash := ListOf(all).Hash; seen[hash] {
			t.Errorf("%s changes nothing", name)
		} else {
			seen[hash] = true
		}
	}
	if l := ListOf(base); l.Inputs != 2 || l.Bytes != 11 || l != ListOf(items(t, "a.log", "bb.log")) {
		t.Errorf("%+v", l)
	}
	divided, _, err := Divide(base, 2, nil)
	if got := len(ItemsOf(divided, Shard{Index: 0, Count: 2})) + len(ItemsOf(divided, Shard{Index: 1, Count: 2})); err != nil || got != 2 || len(ItemsOf(base, Shard{})) != 2 {
		t.Error(got, err)
	}
}

// TestLook checks when an output is complete, and the reason if it is not.
func TestLook(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	flags := func(sort string) Flags {
		f, err := FlagsOf(struct {
			Sort string   `json:"sort"`
			Keep []string `json:"keep"`
		}{sort, []string{"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	made := Made{"v1", "rules", flags("none"), ""}
	dir := Dir{Name: "out/"}
	begin := func() *Item {
		write("in/x/a.log", "text")
		item := &items(t, "x/a.log")[0]
		if err := dir.Begin([]Item{*item}, ""); err != nil {
			t.Fatal(err)
		}
		write(dir.Output(item), "verdicts")
		source, err := SourceOf(item, item.Name)
		if err == nil {
			err = dir.Finish(item, &Record{Made: made, Input: source, File: summary.File{Bytes: 8, XXH3: summary.Hash([]byte("verdicts"))}, Warnings: []warning.Warning{{Code: warning.NoRows, Count: 3}}})
		}
		if err != nil {
			t.Fatal(err)
		}
		return item
	}
	if state, err := dir.Look(begin(), "in/x/a.log", &made); err != nil || state.Done == nil || state.Done.Warnings[0].Count != 3 || state.Why != "" {
		t.Errorf("%+v, %v", state, err)
	}
	for _, c := range []struct {
		want   string
		made   Made
		change func(item *Item)
	}{
		{"another version", Made{"v2", "rules", flags("none"), ""}, nil},
		{"other rules", Made{"v1", "others", flags("none"), ""}, nil},
		{"another -sort", Made{"v1", "rules", flags("origin"), ""}, nil},
		{"another -keep, -sort", Made{"v1", "rules", nil, ""}, nil},
		{"another input", made, func(*Item) { write("in/x/a.log", "TEXT") }},
		{"another input", made, func(*Item) { write("in/x/a.log", "text and more") }},
		{"the output has changed since", made, func(item *Item) { write(dir.Output(item), "verdict") }},
		{"the output has changed since", made, func(item *Item) { write(dir.Output(item), "Verdicts") }},
		{"the output has changed since", made, func(item *Item) { os.Remove(dir.Output(item)) }},
		{"the record was altered, or comes from an older version", made, func(*Item) { write("out/_done/x/a.out.json", "{") }},
		{"the record was altered, or comes from an older version", made, func(*Item) { write("out/_done/x/a.out.json", "{}") }},
		{"", made, func(*Item) { os.Remove("out/_done/x/a.out.json") }},
	} {
		item := begin()
		if c.change != nil {
			c.change(item)
		}
		state, err := dir.Look(item, "in/x/a.log", &c.made)
		if err != nil || state.Done != nil || state.Why != c.want || state.Source.XXH3 == "" {
			t.Errorf("%s: %+v, %v", c.want, state, err)
		}
	}
	item := begin()
	os.Remove("in/x/a.log")
	if state, err := dir.Look(item, "in/x/a.log", &made); !errors.Is(err, os.ErrNotExist) || state.Done != nil {
		t.Errorf("%+v, %v", state, err)
	}
	if err := errors.Join(dir.Clear(item), dir.Clear(item)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir.Output(item)); err == nil {
		t.Error("the output is there")
	}
}

// TestBegin checks which files are removed before a run: those that record how an earlier run ended, and temporary
// files next to the outputs of this run.
func TestBegin(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := Dir{Name: "out", Shard: Shard{Index: 1, Count: 2}}
	all := items(t, "a.log", "x/b.log")
	gone := []string{
		"out/_SUCCESS", "out/_stats.1-of-2.json", "out/_failed.1-of-2.jsonl", "out/.a.out.12-0.tmp", "out/x/.b.out.12-3.tmp",
		"out/_done/x/.b.out.json.7-0.tmp", "out/._stats.1-of-2.json.7-0.tmp", "rejects/x/.b.out.rejects.jsonl.5-0.tmp",
	}
	stay := []string{"out/_stats.0-of-2.json", "out/a.out", "out/.b.out.12-0.tmp", "out/.a.out.tmp", "out/x/b.out", "out/_done/x/b.out.json"}
	for _, name := range append(gone, stay...) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.Begin(all, "rejects"); err != nil {
		t.Fatal(err)
	}
	for _, name := range gone {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range stay {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// TestSweepElsewhere checks that temporary lists of rejected lines are removed from their directory, even if the
// outputs are in object storage or another directory.
func TestSweepElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := Dir{Name: "s3://bucket/out/"}
	const left, others = "rejects/x/.b.out.rejects.jsonl.5-0.tmp", "rejects/x/.c.out.rejects.jsonl.5-0.tmp"
	for _, name := range []string{left, others} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.sweep(items(t, "x/b.log"), "rejects/"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(others); err != nil {
		t.Error(err)
	}
}
