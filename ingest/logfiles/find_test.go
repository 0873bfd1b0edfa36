package logfiles

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree creates files whose content is their name, in a new working directory.
func tree(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(name), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFind compares the files and output paths for names of all kinds.
func TestFind(t *testing.T) {
	tree(t, "a.zst", "logs/b.log", "logs/2026/01/access.log.1.gz", "logs/2026/c.txt", "logs/README.md", "logs/.git/x.log", "logs/_done/x.log",
		"logs/.x.log", "logs/-", "logs/@x.log", "logs/a-b.log", "logs/a/b.log", "odd[1].log", "-", "@y")
	if err := errors.Join(os.Symlink("2026", "logs/link"), os.Symlink("../a.zst", "logs/link.zst"), os.Symlink("none", "logs/none.log")); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("a.zst")
	if err != nil {
		t.Fatal(err)
	}
	dir := []string{
		"logs/2026/01/access.log.1.gz 2026/01/access.log.1.gz", "logs/2026/c.txt 2026/c.txt", "logs/@x.log @x.log", "logs/a-b.log a-b.log",
		"logs/a/b.log a/b.log", "logs/b.log b.log", "logs/link.zst link.zst", "logs/none.log none.log",
	}
	for _, c := range []struct {
		name  string
		list  string // content of the file list, for the name @list
		want  []string
		other int64
	}{
		{"a.zst", "", []string{"a.zst a.zst"}, 0},
		{"./a.zst", "", []string{"./a.zst a.zst"}, 0},
		{"logs/../a.zst", "", []string{"logs/../a.zst a.zst"}, 0},
		{"../" + filepath.Base(filepath.Dir(abs)) + "/a.zst", "", []string{"../" + filepath.Base(filepath.Dir(abs)) + "/a.zst " + filepath.Base(filepath.Dir(abs)) + "/a.zst"}, 0},
		{abs, "", []string{abs + " " + abs[1:]}, 0},
		{"odd[1].log", "", []string{"odd[1].log odd[1].log"}, 0},
		{"-", "", []string{"- stdin"}, 0},
		{"./-", "", []string{"./- -"}, 0},
		{"logs", "", dir, 3},
		{"logs//", "", dir, 3},
		{"logs/*.log", "", []string{"logs/.x.log .x.log", "logs/@x.log @x.log", "logs/a-b.log a-b.log", "logs/b.log b.log", "logs/none.log none.log"}, 0},
		{"./logs//2026/c.*", "", []string{"logs/2026/c.txt c.txt"}, 0},
		{"../" + filepath.Base(filepath.Dir(abs)) + "/./a.*", "", []string{"../" + filepath.Base(filepath.Dir(abs)) + "/a.zst a.zst"}, 0},
		{"*/*.log", "", []string{"logs/.x.log logs/.x.log", "logs/@x.log logs/@x.log", "logs/a-b.log logs/a-b.log", "logs/b.log logs/b.log", "logs/none.log logs/none.log"}, 0},
		{"logs/**/*.log", "", []string{"logs/@x.log @x.log", "logs/_done/x.log _done/x.log", "logs/a-b.log a-b.log", "logs/a/b.log a/b.log", "logs/b.log b.log", "logs/none.log none.log"}, 0},
		{"**/01/**", "", []string{"logs/2026/01/access.log.1.gz logs/2026/01/access.log.1.gz"}, 0},
		{"logs/**/?.txt", "", []string{"logs/2026/c.txt 2026/c.txt"}, 0},
		{"@list", "\xef\xbb\xbfa.zst\r\n\nlogs/*6/*.txt\nlogs/a\n \t\n", []string{"a.zst a.zst", "logs/2026/c.txt 2026/c.txt", "logs/a/b.log b.log"}, 0},
		{"?y", "", []string{"./@y @y"}, 0},
	} {
		if c.list != "" {
			if err := os.WriteFile("list", []byte(c.list), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		list, err := Find([]string{c.name}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, f := range list.Files {
			got = append(got, f.Name+" "+f.Path)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || list.Others != c.other {
			t.Errorf("%s:\n got %q, %d others (%q)\nwant %q, %d", c.name, got, list.Others, list.Unread, c.want, c.other)
		}
	}
	list, err := Find([]string{".", "@-"}, strings.NewReader("a.zst\nlost.log\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Files[0]; got.Name != "a.zst" || got.Size != 5 || got.Path != "a.zst" {
		t.Errorf("%+v", got)
	}
	if last := list.Files[len(list.Files)-1]; !errors.Is(last.Err, fs.ErrNotExist) || !errors.Is(list.Err(), fs.ErrNotExist) {
		t.Errorf("%+v", last)
	}
}

// TestFindErrors compares the errors for names without logs.
func TestFindErrors(t *testing.T) {
	tree(t, "none/README.md", "utf16", "nested", "blank")
	for name, text := range map[string]string{"utf16": "a\x00.\x00", "nested": "@nested\n-\n", "blank": "\n\r\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, want string }{
		{"none", "none: has no file with the name of a log: name the logs in it, as in none/*; files whose names begin with a dot or _ are ignored"},
		{"*.zst", "*.zst: no file matches the pattern: check the directory and the pattern; directories are ignored"},
		{"x/**/*.zst", "x/**/*.zst: no file matches the pattern: check the directory and the pattern; directories are ignored"},
		{"**/[a", `**/[a: syntax error in pattern: quote the pattern's special characters with \`},
		{"@", "@: is not a list of names: write @ and the name of a file with one name per line"},
		{"@gone", "gone: no such file or directory: check the name and the permissions of the list"},
		{"@utf16", "utf16: is not a list of names: line 1 has a NUL byte: save it as UTF-8 with one name per line"},
		{"@nested", "nested: is not a list of names: line 1 names standard input or another list: name a file, as in ./@nested\n" +
			"nested: is not a list of names: line 2 names standard input or another list: name a file, as in ./-"},
		{"@blank", "blank: has no file with the name of a log: write one name per line into it"},
	} {
		if _, err := Find([]string{c.name}, nil); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
	if err := os.WriteFile("odd", []byte("# logs of May\r\n none/README.md\r\n'none/README.md'\nlost "), 0o666); err != nil {
		t.Fatal(err)
	}
	odd, err := Find([]string{"@odd"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const lost = "no such file or directory: line "
	if got, want := fmt.Sprint(odd.Err()), "# logs of May: "+lost+"1 of odd begins with #, and lists have no comments: remove it\n"+
		`" none/README.md": `+lost+"2 of odd has white space around the name, which counts as part of it: remove it\n"+
		`'none/README.md': `+lost+"3 of odd has quotes around the name, which count as part of it: remove them\n"+
		`"lost ": `+lost+"4 of odd has white space around the name, which counts as part of it: remove it"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for _, name := range []string{"# logs of May", " x ", "'y'"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := Find([]string{"@-"}, strings.NewReader("# logs of May\n x \n'y'\n")); errors.Join(err, list.Err()) != nil || len(list.Files) != 3 {
		t.Errorf("files of odd names: %v, %v", list.Files, errors.Join(err, list.Err()))
	}
	if _, err := Find([]string{"-", "@-"}, strings.NewReader("x")); !errors.Is(err, errStdinTwice) {
		t.Error(err)
	}
	if err := os.WriteFile("many", []byte(strings.Repeat("lost\n", 50)), 0o666); err != nil {
		t.Fatal(err)
	}
	list, err := Find([]string{"@many"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(list.Err().Error(), "\n"); len(lines) != 11 || lines[10] != "and 40 more files cannot be read" {
		t.Errorf("%q", lines)
	}
}

// TestLongList checks that the files of a list of several blocks are in order.
func TestLongList(t *testing.T) {
	tree(t, "logs/a.log", "logs/b.log")
	var text, want strings.Builder
	for i := range 3*block + 1 {
		name := []string{"logs/a.log", "logs/b.log", "lost"}[i*i%7%3]
		fmt.Fprintln(&text, name)
		fmt.Fprintln(&want, name)
	}
	list, err := Find([]string{"@-"}, strings.NewReader(text.String()))
	if got := strings.Join(list.Names(), "\n") + "\n"; err != nil || got != want.String() {
		t.Errorf("%d names, %v", len(list.Files), err)
	}
}

// TestRepeats checks which files are repeated, under any name.
func TestRepeats(t *testing.T) {
	tree(t, "logs/a.log", "logs/b.log", "c.log")
	if err := errors.Join(os.Symlink("a.log", "logs/link.log"), os.Symlink("logs", "more"), os.Link("c.log", "hard.log"), zipped("x.zip", "m", "n")); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("c.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"logs/a.log", "logs/b.log", "c.log"}, "[] 0"},
		{[]string{"lost", "lost"}, "[] 0"},
		{[]string{"c.log", "c.log", "./c.log", abs, "hard.log"}, "[{c.log c.log} {c.log ./c.log} {c.log " + abs + "} {c.log hard.log}] 4"},
		{[]string{"more/b.log", "logs/*b*"}, "[{more/b.log logs/b.log}] 1"},
		{[]string{"logs"}, "[{logs/a.log logs/link.log}] 1"},
		{[]string{"x.zip/m", "x.zip/n"}, "[] 0"},
		{[]string{"x.zip/m", "./x.zip/m"}, "[{x.zip/m ./x.zip/m}] 1"},
	} {
		list, err := Find(c.names, nil)
		if got := fmt.Sprint(list.Repeats, list.Repeated); err != nil || got != c.want {
			t.Errorf("%q: %s, want %s, %v", c.names, got, c.want, err)
		}
	}
}

// TestCopies checks that files with the same content are repeats, in any order of the names, but not small ones.
func TestCopies(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("https://www.example.com/a\n", 6000)
	for name, text := range map[string]string{
		"a.log": long, "b.log": long, "c.log": long[:70_000] + "X" + long[70_001:], "d.log": long + "/", "e.log": long[:5000], "f.log": long[:5000], "small": "/a", "tiny": "/a",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a.log", "b.log", "c.log", "d.log", "e.log", "f.log", "small", "tiny"}
	for range 2 {
		list, err := Find(names, nil)
		for i, r := range list.Repeats {
			list.Repeats[i] = Repeat{min(r.First, r.Again), max(r.First, r.Again)}
		}
		slices.SortFunc(list.Repeats, func(a, b Repeat) int { return strings.Compare(a.First, b.First) })
		if got := fmt.Sprint(list.Repeats, list.Repeated); err != nil || got != "[{a.log b.log} {e.log f.log}] 2" {
			t.Errorf("%q: %s, %v", names, got, err)
		}
		slices.Reverse(names)
	}
}

// zipped writes an archive of empty files.
func zipped(name string, members ...string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	for _, m := range members {
		if _, err := w.Create(m); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), f.Close())
}

func TestMatchParts(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"**", "a", true},
		{"**/a", "a", true},
		{"**/a", "b/c/a", true},
		{"**/a", "b/a/c", false},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b/**", "a/b/x/b", true},
		{"a/**/b/*", "a/b/x/b/c", true},
		{"a/*/b", "a/b", false},
		{"**/*.gz/**/x", "a.gz/b.gz/c/x", true},
		{strings.Repeat("**/a/", 200) + "b", strings.Repeat("a/", 2000) + "c", false}, // must not take exponential time
	} {
		if got := matchParts(strings.Split(c.pattern, "/"), strings.Split(c.path, "/")); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.path, got)
		}
	}
}

func TestIsLog(t *testing.T) {
	for name, want := range map[string]bool{
		"access.log": true, "access.log.1": true, "access.log-20260101.gz": true, "access_log": true, "access_log.2": true, "a.txt": true, "a.txt.12": true,
		"U.ZST": true, "x.parquet": true, "part-0.snappy.parquet": true, "data.csv.2026-01-31": true, "x.xz": true,
		"README": false, "README.md": false, "log": false, "_SUCCESS": false, "x.crc": false, "index.html": false, "1": false, "a.sh": false,
	} {
		if IsLog(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	for name, want := range map[string]string{"logs/urls.zst": "urls", "a.urls.txt.gz": "a", "access.log.1.gz": "access.log.1", ".log": ".log"} {
		if got := Stem(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
