package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// repository returns a directory with a commit of 2026-02-03 04:05:06 UTC.
func repository(t *testing.T) (dir string, git func(arguments ...string)) {
	t.Helper()
	dir = t.TempDir()
	git = func(arguments ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.com"}, arguments...)...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-02-03T04:05:06Z", "GIT_COMMITTER_DATE=2026-02-03T04:05:06Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	return dir, git
}

func TestVersions(t *testing.T) {
	dir, git := repository(t)
	hash, err := exec.Command("git", "-C", dir, "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	first := string(hash[:12])
	check := func(version, debian, python string) {
		t.Helper()
		r, err := newRelease(dir)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.python()
		if err != nil {
			t.Fatal(err)
		}
		if r.Version != version || r.Debian() != debian || p != python {
			t.Errorf("%s, %s, %s; want %s, %s, %s", r.Version, r.Debian(), p, version, debian, python)
		}
		if want := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC); !r.Time.Equal(want) {
			t.Errorf("time %v, want %v", r.Time, want)
		}
	}
	check("v0.0.0-20260203040506-"+first, "0.0.0~20260203040506."+first+"-1", "0.0.0.dev20260203040506+g"+first)
	git("tag", "v1.2.0-rc.1")
	git("tag", "nightly")
	git("tag", "v2") // no version of a module
	check("v1.2.0-rc.1", "1.2.0~rc.1-1", "1.2.0rc1")
	git("tag", "-a", "-m", "annotated", "v1.2.0")
	check("v1.2.0", "1.2.0-1", "1.2.0")
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	check("v1.2.0+dirty", "1.2.0+dirty-1", "1.2.0+dirty")
	git("add", "new")
	git("commit", "-q", "-m", "two")
	hash, err = exec.Command("git", "-C", dir, "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	second := string(hash[:12])
	check("v1.2.1-0.20260203040506-"+second, "1.2.1~0.20260203040506."+second+"-1", "1.2.1.dev20260203040506+g"+second)
	git("tag", "-d", "v1.2.0")
	check("v1.2.0-rc.1.0.20260203040506-"+second, "1.2.0~rc.1.0.20260203040506."+second+"-1", "1.2.0rc1.post20260203040506+g"+second)
}

func TestOddVersions(t *testing.T) {
	for _, version := range []string{"v1.2.0-nightly", "v1.2.0-rc", "v1.2.0-rc.x", "v1.2.0-rc.1.2"} {
		r := release{Version: version}
		if got, err := r.python(); err == nil {
			t.Errorf("%s is %s in Python, want an error", version, got)
		}
	}
}
