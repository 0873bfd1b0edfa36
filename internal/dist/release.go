package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// A release is the commit that is packed.
type release struct {
	root    string    // the repository
	Version string    // as Go writes it: v1.2.3, or v1.2.4-0.20261122113720-02ab993abcde, perhaps with +dirty
	Time    time.Time // of the commit
}

// newRelease returns the release that the files of a repository are. Its version is that which
// `go build` notes in a clone, and which `go install` of the tag has: the tag of the commit, or a
// pseudo-version behind the last tag. Files that differ from the commit add +dirty.
func newRelease(root string) (*release, error) {
	var errs []error
	git := func(arguments ...string) string {
		cmd := exec.Command("git", arguments...)
		cmd.Dir = root
		out, err := output(cmd)
		errs = append(errs, err)
		return strings.TrimSpace(string(out))
	}
	hash, seconds, _ := strings.Cut(git("show", "-s", "--format=%H %ct", "HEAD"), " ")
	here, before, changes := newest(git("tag", "--points-at", "HEAD")), newest(git("tag", "--merged", "HEAD")), git("status", "--porcelain")
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	at := time.Unix(unix, 0).UTC()
	r := &release{root: root, Version: here, Time: at}
	if here == "" {
		r.Version = module.PseudoVersion("", before, at, hash[:12])
	}
	if changes != "" {
		r.Version += "+dirty"
	}
	return r, err
}

// newest returns the newest version of a list of tags; "" if there is none.
func newest(tags string) (best string) {
	for tag := range strings.FieldsSeq(tags) {
		if semver.Canonical(tag) == tag && semver.Compare(tag, best) > 0 {
			best = tag
		}
	}
	return best
}

// Debian returns the version as Debian orders it: one before a release has a tilde. The 1 is the revision of the package.
func (r *release) Debian() string {
	version, build, _ := strings.Cut(r.Version[1:]+"+", "+")
	version, before, is := strings.Cut(version, "-")
	if is {
		version += "~" + strings.ReplaceAll(before, "-", ".")
	}
	return strings.TrimSuffix(version+"+"+build, "+") + "-1"
}

// pythonic is a version that Python knows: a number, perhaps of a version before a release, perhaps the time and hash of a
// commit behind it, perhaps a build.
var pythonic = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+))?(?:[-.](?:0\.)?(\d{14})-([0-9a-f]{12}))?(?:\+(\w+))?$`)

// python returns the version by the rules of PEP 440.
func (r *release) python() (string, error) {
	m := pythonic.FindStringSubmatch(r.Version)
	if m == nil {
		return "", fmt.Errorf("version %s: Python knows alpha, beta and rc with a number, as in v1.2.3-rc.1", r.Version)
	}
	version, local := m[1]+map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[2]]+m[3], m[6]
	if m[4] != "" {
		version += map[bool]string{true: ".dev", false: ".post"}[m[2] == ""] + m[4]
		local = strings.TrimSuffix("g"+m[5]+"."+local, ".")
	}
	return strings.TrimSuffix(version+"+"+local, "+"), nil
}

// A target is a system and a processor that a program is built for, by the names that Go has for them.
type target struct{ OS, Arch string }

func (t target) String() string { return t.OS + "/" + t.Arch }

// name returns the name of the program there.
func (t target) name() string { return "robobatch" + map[string]string{"windows": ".exe"}[t.OS] }

// hostTarget is this machine.
var hostTarget = target{runtime.GOOS, runtime.GOARCH}

// allTargets are the targets of a release.
var allTargets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// toolchain is the version of Go that builds a release: another one writes other bytes. Where it is not
// the one installed, Go fetches it.
const toolchain = "go1.26.8"

// golang runs Go for the target in the repository, in this process's environment without variables that would change
// the bytes, and returns its output.
func (t target) golang(root string, arguments ...string) ([]byte, error) {
	cmd := exec.Command("go", arguments...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOTOOLCHAIN="+toolchain, "GOOS="+t.OS, "GOARCH="+t.Arch, "CGO_ENABLED=0", "GOAMD64=v1",
		"GOARM64=v8.0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	return output(cmd)
}

// compile builds the command for the target, in a directory below temp, and returns its path.
func compile(r *release, temp string, t target) (string, error) {
	path := filepath.Join(temp, t.OS+"-"+t.Arch, t.name())
	const in = "-X github.com/robobatch/robobatch/cmd/robobatch/internal/process."
	set := in + "release=" + r.Version + " " + in + "releaseDay=" + r.Time.Format("2006-01-02")
	_, err := t.golang(r.root, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w "+set, "-o", path, "./cmd/robobatch")
	return path, err
}

// output runs a command and returns its output. Its messages become the error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, messages.Bytes())
	}
	return out, err
}
