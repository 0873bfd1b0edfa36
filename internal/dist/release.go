package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// A release is the commit that is packed.
type release struct {
	root    string    // the repository
	version string    // as Go writes it: v1.2.3, or v1.2.4-0.20261122113720-02ab993abcde, perhaps with +dirty
	time    time.Time // of the commit, or of SOURCE_DATE_EPOCH
}

// newRelease returns the release that the files of a repository are. Its version is that which
// `go build` notes in a clone, and which `go install` of the tag has: the tag of the commit, or a
// pseudo-version behind the last tag. Files that differ from the commit add +dirty.
func newRelease(root string) (*release, error) {
	git := func(arguments ...string) (string, error) {
		cmd := exec.Command("git", arguments...)
		cmd.Dir = root
		out, err := output(cmd)
		return strings.TrimSpace(string(out)), err
	}
	commit, errCommit := git("show", "-s", "--format=%H %ct", "HEAD")
	here, errHere := git("tag", "--points-at", "HEAD")
	before, errBefore := git("tag", "--merged", "HEAD")
	changes, errChanges := git("status", "--porcelain")
	if err := errors.Join(errCommit, errHere, errBefore, errChanges); err != nil {
		return nil, err
	}
	hash, seconds, _ := strings.Cut(commit, " ")
	at, err := parseSeconds(seconds)
	if err != nil {
		return nil, err
	}
	r := &release{root: root, version: newest(here), time: at}
	if r.version == "" {
		r.version = module.PseudoVersion("", newest(before), at, hash[:12])
	}
	if changes != "" {
		r.version += "+dirty"
	}
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		if r.time, err = parseSeconds(epoch); err != nil {
			return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
	}
	return r, nil
}

// newest returns the newest version of a list of tags; "" if there is none.
func newest(tags string) string {
	best := ""
	for tag := range strings.FieldsSeq(tags) {
		if semver.IsValid(tag) && semver.Canonical(tag) == tag && semver.Compare(tag, best) > 0 {
			best = tag
		}
	}
	return best
}

// parseSeconds reads seconds since 1970.
func parseSeconds(text string) (time.Time, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(n, 0).UTC(), err
}

// plain returns the version without the v, as archives have it in their names.
func (r *release) plain() string { return strings.TrimPrefix(r.version, "v") }

// debian returns the version as Debian orders it: a version before a release has a tilde. The 1 is
// the revision of the package.
func (r *release) debian() string {
	version, build, dirty := strings.Cut(r.plain(), "+")
	version, before, is := strings.Cut(version, "-")
	if is {
		version += "~" + strings.ReplaceAll(before, "-", ".")
	}
	if dirty {
		version += "+" + build
	}
	return version + "-1"
}

// python returns the version by the rules of PEP 440.
func (r *release) python() (string, error) {
	version, build, _ := strings.Cut(r.plain(), "+")
	if module.IsPseudoVersion("v" + version) {
		return pythonBetween("v"+version, build)
	}
	version, err := pythonPre(version)
	return withLocal(version, build), err
}

// pythonBetween is python for a version between two tags.
func pythonBetween(version, build string) (string, error) {
	at, errTime := module.PseudoVersionTime(version)
	hash, errHash := module.PseudoVersionRev(version)
	last, errLast := module.PseudoVersionBase(version)
	if err := errors.Join(errTime, errHash, errLast); err != nil {
		return "", err
	}
	next, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	next += ".dev"
	if semver.Prerelease(last) != "" { // it comes behind that one
		pre, err := pythonPre(strings.TrimPrefix(last, "v"))
		if err != nil {
			return "", err
		}
		next = pre + ".post"
	}
	return withLocal(next+at.Format("20060102150405"), "g"+hash, build), nil
}

// withLocal returns the version with the labels that are not empty behind it.
func withLocal(version string, labels ...string) string {
	labels = slices.DeleteFunc(labels, func(label string) bool { return label == "" })
	if len(labels) == 0 {
		return version
	}
	return version + "+" + strings.Join(labels, ".")
}

// pythonPre returns a version before a release as Python writes it: 1.2.3rc1 for 1.2.3-rc.1.
func pythonPre(version string) (string, error) {
	version, before, is := strings.Cut(version, "-")
	if !is {
		return version, nil
	}
	for name, letter := range map[string]string{"alpha": "a", "beta": "b", "rc": "rc"} {
		digits, ok := strings.CutPrefix(before, name)
		if n, err := strconv.ParseUint(strings.TrimPrefix(digits, "."), 10, 32); ok && err == nil {
			return version + letter + strconv.FormatUint(n, 10), nil
		}
	}
	return "", fmt.Errorf("version %s-%s: Python knows alpha, beta and rc with a number, as in %[1]s-rc.1", version, before)
}
