package series

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
)

// finished makes the outputs of a run with two shards in out/, in which one input failed, and merges the shards.
func finished(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	all := items(t, "a.log", "b.log", "x/c.log", "x/d.log")
	made := Made{"v1", "rules", Flags{"sort": []byte(`"none"`)}, ""}
	write := func(name string, text []byte) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, text, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for index := range 2 {
		dir := Dir{Name: "out/", Shard: Shard{Index: index, Count: 2}}
		sum := NewSum(&summary.Report{Version: made.Version, RulesHash: made.RulesHash}, Series{Shard: dir.Shard, List: ListOf(all), Flags: made.Flags})
		for i := range all {
			item := &all[i]
			if i%2 != index {
				continue
			}
			if i == 3 {
				sum.Series.Failed = append(sum.Series.Failed, Failure{item.Name, item.Output, "is cut off"})
				continue
			}
			text := make([]byte, 2000)
			for i := range text {
				text[i] = byte(random.Uint32())
			}
			write(dir.Output(item), text)
			r := &Record{Made: made, Input: Source{Name: item.Name, Bytes: item.Size, XXH3: "of the input"}, File: summary.File{Bytes: 2000, XXH3: summary.Hash(text)}}
			if err := dir.Finish(item, r); err != nil {
				t.Fatal(err)
			}
			sum.Add(r, &Item{})
		}
		sum.End(dir.Name)
		if len(sum.Series.Failed) > 0 {
			if err := dir.WriteFailures(sum.Series.Failed); err != nil {
				t.Fatal(err)
			}
		}
		if err := sum.Write(dir.Stats()); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := Dir{Name: "out/"}.Merge(t.Context(), nil)
	if err == nil {
		err = Dir{Name: "out/"}.Succeed(sum)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// findings verifies out/.
func findings(t *testing.T) []string {
	t.Helper()
	v, err := Dir{Name: "out/"}.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range v.Findings {
		all = append(all, f.Kind+" "+filepath.ToSlash(f.Name))
	}
	return all
}

// TestVerifyBytes changes the files that a run leaves: it alters 1,000 bytes, one at a time, and truncates, extends
// and removes each file. Verify must find each change and name the file.
func TestVerifyBytes(t *testing.T) {
	finished(t)
	var files []string
	err := filepath.WalkDir("out", func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) != 10 {
		t.Fatalf("%q, %v", files, err)
	}
	if found := findings(t); len(found) > 0 {
		t.Fatalf("nothing is altered, and found: %q", found)
	}
	random := rand.New(rand.NewPCG(3, 4))
	const tries = 1000
	altered := 0
	try := func(name, what string, text []byte) {
		t.Helper()
		was, err := os.ReadFile(name)
		if err == nil && text != nil {
			err = os.WriteFile(name, text, 0o666)
		} else if err == nil {
			err = os.Remove(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		named := func(finding string) bool {
			_, file, _ := strings.Cut(strings.TrimPrefix(finding, OtherRun), " ")
			return strings.TrimPrefix(file, " ") == filepath.ToSlash(name)
		}
		if found := findings(t); !slices.ContainsFunc(found, named) && (text != nil || len(found) == 0) {
			t.Errorf("%s of %s: found %q", what, name, found)
		}
		if err := os.WriteFile(name, was, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range tries {
		name := files[i%len(files)]
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := random.IntN(len(text))
		text[at] ^= byte(1 + random.IntN(255))
		try(name, fmt.Sprintf("byte %d", at), text)
		altered++
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		try(name, "the end", text[:len(text)-1])
		try(name, "a byte more", append(slices.Clone(text), '\n'))
		if filepath.Base(name) != "_SUCCESS" { // without it, the shards are not merged yet, which is not a finding
			try(name, "all", nil)
		}
	}
	if found := findings(t); len(found) > 0 || altered != tries {
		t.Errorf("%d altered, and left: %q", altered, found)
	}
}

// TestVerifyOthers checks the findings about files from other runs.
func TestVerifyOthers(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func() error
	}{
		{"[other run out/more.csv]", func() error { return os.WriteFile("out/more.csv", nil, 0o666) }},
		{"[other run out/_failed.3-of-4.jsonl]", func() error { return os.WriteFile("out/_failed.3-of-4.jsonl", nil, 0o666) }},
		{"[other run out/_done/b.out.json]", func() error {
			r := &Record{}
			err := readSealed("out/_done/b.out.json", r)
			r.RulesHash = "others"
			return errors.Join(err, writeManifest("out/_done/b.out.json", r))
		}},
		{"[other run out/_done/b.out.json]", func() error { // of an earlier run, with other bytes
			r := &Record{}
			err := readSealed("out/_done/b.out.json", r)
			r.XXH3 = strings.Repeat("0", 32)
			return errors.Join(err, writeManifest("out/_done/b.out.json", r))
		}},
		{"[other run out/_done/b.out.json]", func() error { // of another input
			r := &Record{}
			err := readSealed("out/_done/b.out.json", r)
			r.Input.Name = "in/other.log"
			return errors.Join(err, writeManifest("out/_done/b.out.json", r))
		}},
		{"[other run out/_SUCCESS]", func() error { // of another list of inputs
			s := &Stats{}
			err := readSealed("out/_SUCCESS", s)
			s.Series.List.Hash = "another"
			return errors.Join(err, writeManifest("out/_SUCCESS", s))
		}},
		{"[other run out/_done/b.out.json]", func() error { return os.Rename("out/_done/a.out.json", "out/_done/b.out.json") }},
		{"[other run out/_SUCCESS]", func() error {
			s := &Stats{}
			err := readSealed("out/_SUCCESS", s)
			s.Version = "v2"
			return errors.Join(err, writeManifest("out/_SUCCESS", s))
		}},
		{"[other run out/_stats.1-of-2.json]", func() error {
			s := &Stats{}
			err := readSealed("out/_stats.1-of-2.json", s)
			s.Version = "v2"
			return errors.Join(err, writeManifest("out/_stats.1-of-2.json", s))
		}},
		{"[missing out/]", func() error { return os.Remove("out/_stats.1-of-2.json") }},
		{"[missing out/_stats.json]", func() error {
			return errors.Join(os.Remove("out/_stats.1-of-2.json"), os.Remove("out/_stats.0-of-2.json"))
		}},
	} {
		finished(t)
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		got := findings(t)
		if strings.Contains(c.want, "b.out.json") && len(got) == 2 && got[0] == "missing out/_done/a.out.json" {
			got = got[1:]
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("got %v, want %s", got, c.want)
		}
	}
	if _, err := (Dir{Name: "nowhere/"}).Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "neither _stats.json nor _done") {
		t.Error(err)
	}
}

// TestVerifyElsewhere checks that names in a file of -stats in the file system cannot refer to object storage,
// because the file is untrusted.
func TestVerifyElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, s := range []Stats{
		{Report: &summary.Report{Output: "s3://elsewhere/v.csv", File: &summary.File{Bytes: 1}}},
		{Report: &summary.Report{Output: "v.csv", Beside: []summary.NamedFile{{Name: "s3://elsewhere/r.jsonl"}}}},
		{Report: &summary.Report{Output: "s3://elsewhere/out/"}, Series: Series{List: List{Hash: "x"}}},
	} {
		if err := s.Write("stats.json"); err != nil {
			t.Fatal(err)
		}
		if _, err := VerifyFile(t.Context(), "stats.json"); err == nil || !strings.Contains(err.Error(), "which is read only if you name it") {
			t.Errorf("%s: %v", s.Output, err)
		}
	}
}
