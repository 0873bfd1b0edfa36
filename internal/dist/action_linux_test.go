package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestAction runs the script of the GitHub action as a runner does, with releases of the test.
func TestAction(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "tar", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	b := builtHere(t)
	good := b.find(t, "-linux-"+hostTarget.Arch+".tar.gz")
	bad := file{name: good.name, body: append(bytes.Clone(good.body), 0)}
	files := map[string][]byte{}
	for path, packages := range map[string][]file{"/latest/download/": {*good, checksums([]file{*good})}, "/download/v0.1.0/": {bad, checksums([]file{*good})}, "/download/v0.2.0/": {*good, checksums(nil)}} {
		for _, p := range packages {
			files[path+p.name] = p.body
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, ok := strings.CutPrefix(r.URL.Path, "/download/v0.4.0"); ok { // to where anyone may answer
			http.Redirect(w, r, "http://"+r.Host+"/latest/download"+path, http.StatusFound)
			return
		}
		body, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(body)
	}))
	defer server.Close()
	runner := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
	for _, test := range []struct{ version, os, arch, want string }{
		{"latest", "Linux", runner, "robobatch " + b.Version},
		{"v0.1.0", "Linux", runner, "did NOT match"},
		{"v0.2.0", "Linux", runner, "has no robobatch-linux-"},
		{"v0.3.0", "Linux", runner, "404"},
		{"v0.4.0", "Linux", runner, "disabled"},
		{"main", "Linux", runner, "name a tag"},
		{"v0.1.0/../v0.2.0", "Linux", runner, "name a tag"},
		{"latest", "Plan9", runner, "no robobatch for Plan9"},
		{"latest", "Linux", "X86", "no robobatch for X86"},
	} {
		dir := t.TempDir()
		cmd := exec.Command("bash", "../../.github/actions/install/install.sh")
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "VERSION=" + test.version, "RUNNER_OS=" + test.os, "RUNNER_ARCH=" + test.arch,
			"RUNNER_TEMP=" + filepath.Join(dir, "temp"), "GITHUB_PATH=" + filepath.Join(dir, "path"), "ROBOBATCH_RELEASES=" + server.URL,
		}
		out, err := cmd.CombinedOutput()
		path, _ := os.ReadFile(filepath.Join(dir, "path"))
		works := test.want == "robobatch "+b.Version
		if (err == nil) != works || (len(path) > 0) != works || !strings.Contains(string(out), test.want) {
			t.Errorf("%s on %s %s: %v, path %q, %s; want %q", test.version, test.os, test.arch, err, path, out, test.want)
		}
		if works {
			b.checkVersion(t, filepath.Join(strings.TrimSpace(string(path)), "robobatch"))
		}
	}
}

// TestScript runs the script of docs/CI.md for services of CI, with a release of the test: on a site that it fits, and on a change
// of its rules.
func TestScript(t *testing.T) {
	page, err := os.ReadFile("../../docs/CI.md")
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile("(?s)`robots-ci.sh`.*?\n   ```sh\n(.*?)```").FindSubmatch(page)
	if script == nil {
		t.Fatal("docs/CI.md has no script")
	}
	if hostTarget.Arch != "amd64" {
		t.Skip("the script is for amd64")
	}
	good := builtHere(t).find(t, "-linux-amd64.tar.gz")
	releases := t.TempDir()
	latest := filepath.Join(releases, "latest", "download")
	if err := os.MkdirAll(latest, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, p := range []file{*good, checksums([]file{*good, {name: "robobatch_amd64.deb"}})} {
		if err := os.WriteFile(filepath.Join(latest, p.name), p.body, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	old := t.TempDir() // the branch that changes go to
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", old, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(dir string, files map[string]string) {
		for name, text := range files {
			name = filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
	}
	files := map[string]string{
		"robots-ci.sh": regexp.MustCompile("(?m)^   ").ReplaceAllString(string(script[1]), ""), "robots.expect": "allow Googlebot https://a.example/blog/\n",
		"robots/https_a.example.txt": "User-agent: *\nDisallow: /cart/\n",
	}
	write(old, files)
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "robots.txt")
	clone := func(args ...string) (dir string) {
		dir = filepath.Join(t.TempDir(), "clone")
		if out, err := exec.Command("git", slices.Concat([]string{"clone", "-q"}, args, []string{"file://" + old, dir})...).CombinedOutput(); err != nil {
			t.Fatalf("git clone: %v\n%s", err, out)
		}
		return dir
	}
	run := func(what, dir string, fails bool, args ...string) {
		t.Helper()
		cmd := exec.Command("sh", append([]string{"robots-ci.sh", "main"}, args...)...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "ROBOBATCH_RELEASES=file://" + releases}
		if out, err := cmd.CombinedOutput(); (err != nil) != fails {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	changed := map[string]string{"robots/https_a.example.txt": "User-agent: *\nDisallow: /Cart/\n"}
	for rules, fails := range map[string]bool{"# Comment\nUser-agent: *\nDisallow: /cart/\n": false, changed["robots/https_a.example.txt"]: true} {
		dir := clone()
		write(dir, map[string]string{"robots/https_a.example.txt": rules})
		run(rules, dir, fails)
		text, err := os.ReadFile(filepath.Join(dir, "comment.md"))
		if err != nil || strings.Count(string(text), "### robots.txt: ") != 3 || bytes.Contains(text, []byte("**Failed**")) != fails {
			t.Errorf("%q: %v\n%s", rules, err, text)
		}
		run(rules, dir, false, "approve")
		run(rules+", approved", dir, false)
	}
	// A branch that is older than main, in a clone without its history; and what is left of another run.
	git("checkout", "-q", "-b", "topic")
	git("commit", "-q", "--allow-empty", "-m", "topic")
	git("checkout", "-q", "main")
	write(old, changed)
	git("commit", "-q", "-a", "-m", "later")
	dir := clone("--depth", "1", "--branch", "topic")
	write(dir, map[string]string{"old/robots/https_left.example.txt": "User-agent: *\nDisallow: /\n"})
	run("older than main", dir, false)
	// The pull request that adds the gate.
	git("rm", "-q", "-r", "robots")
	git("commit", "-q", "-m", "none")
	dir = clone()
	write(dir, files)
	run("the first", dir, false)
}

// TestPins holds that workflows and actions use those of others by commit only, and the Go of a release.
func TestPins(t *testing.T) {
	names, err := filepath.Glob("../../.github/*/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	uses, versions := 0, 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)uses: (.*)$`).FindAllStringSubmatch(string(text), -1) {
			uses++
			if !regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9.]+$`).MatchString(m[1]) {
				t.Errorf("%s: %s is not pinned to a commit", name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`go-version: (\S+)`).FindAllStringSubmatch(string(text), -1) {
			versions++
			if "go"+m[1] != toolchain {
				t.Errorf("%s uses Go %s, a release is built by %s", name, m[1], toolchain)
			}
		}
	}
	if uses < 2 || versions < 1 {
		t.Errorf("%d actions and %d versions of Go in %v", uses, versions, names)
	}
}
