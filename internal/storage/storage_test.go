package storage

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFiles tests the methods of Files: files are written atomically, with their directories.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a", "b", "x")
	p := Of(name)
	for _, text := range []string{"one", "two"} {
		if err := p.Write(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		r, err := p.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != text || errors.Join(err, r.Close()) != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if info, err := p.Stat(name); err != nil || info != (Info{Size: 3, ID: info.ID, Changed: info.Changed}) || info.Changed.IsZero() {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err := p.Stat(dir); err != nil || !info.Dir {
		t.Errorf("%+v, %v", info, err)
	}
	if err := p.Write(filepath.Join(name, "below"), nil); err == nil {
		t.Error("wrote below a file")
	}
	if err := errors.Join(os.Symlink("a", filepath.Join(dir, "link")), os.Symlink("none", filepath.Join(dir, "lost")), os.WriteFile(filepath.Join(dir, ".hidden"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	var found []string
	err := p.Walk(dir, func(name string, info Info) error {
		rel, _ := filepath.Rel(dir, name)
		if info.Dir {
			rel += "/"
		}
		found = append(found, rel)
		return nil
	})
	if want := []string{"a/b/x", "link/", "lost"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, want %q; %v", found, want, err)
	}
	if err := errors.Join(p.Remove(name), p.Remove(name)); err != nil {
		t.Error(err)
	}
	if _, err := p.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestNames tests Join, Rel and Clean.
func TestNames(t *testing.T) {
	for _, tt := range []struct{ dir, path, name, clean string }{
		{"out", "a/b", "out/a/b", "out"},
		{"out/", "a", "out/a", "out"},
		{".", "a/b", "a/b", "."},
		{"/", "a", "/a", "/"},
		{"s3://bucket", "a", "s3://bucket/a", "s3://bucket/"},
		{"s3://bucket/out/", "a/b", "s3://bucket/out/a/b", "s3://bucket/out/"},
		{"s3://bucket/out", "../b//c", "s3://bucket/out/../b//c", "s3://bucket/out/"},
	} {
		if got := filepath.ToSlash(Join(tt.dir, tt.path)); got != tt.name {
			t.Errorf("%s and %s: %s", tt.dir, tt.path, got)
		}
		if got := Rel(tt.dir, tt.name); got != tt.path {
			t.Errorf("%s in %s: %s", tt.name, tt.dir, got)
		}
		if got := filepath.ToSlash(Clean(tt.dir)); got != tt.clean {
			t.Errorf("%s: %s", tt.dir, got)
		}
	}
}

// TestTempDir tests that temporary files are in the directory of the output, so that they can be renamed, except for
// outputs that are not regular files.
func TestTempDir(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		filepath.Join(dir, "x.parquet"): dir, "x.parquet": ".", "-": os.TempDir(), "s3://bucket/x.parquet": os.TempDir(), "/dev/null": os.TempDir(), "/dev/fd/1": os.TempDir(),
	} {
		if got := TempDir(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestForeign tests which names refer to an unsupported kind of storage.
func TestForeign(t *testing.T) {
	for name, want := range map[string]string{
		"gs://b/x": "gs://", "https://a.example/x": "https://", "HTTP://a": "HTTP://", "s3://b/x": "", "x": "", "a/b": "", "c:/x": "", "://x": "", "1a://x": "", "x:/y": "",
	} {
		if got := Foreign(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
