package targets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/internal/place"
)

// CheckSeries checks the directories of a run with one output per input: that they can be made, that no input
// lies in them, and that they do not lie in an input. Out and Rejects are directories.
func CheckSeries(w Outputs, rules string, files *logfiles.List) error {
	var errs []error
	for _, t := range []target{{"-out", w.Out}, {"-rejects", w.Rejects}} {
		if t.name != "" {
			errs = append(errs, t.checkSeries(rules, files))
		}
	}
	if w.Rejects != "" && (resolve(w.Rejects) == resolve(w.Out) || within(resolve(w.Out), resolve(w.Rejects))) {
		errs = append(errs, fmt.Errorf("-rejects: %s is written by -out, too: name another directory", say.File(w.Rejects)))
	}
	if w.Stats != "" {
		t := target{"-stats", w.Stats}
		errs = append(errs, t.checkDirectory(), t.checkRead(Inputs{Path: rules}))
	}
	return errors.Join(errs...)
}

// checkSeries checks a directory that gets a file for each input.
func (t target) checkSeries(rules string, files *logfiles.List) error {
	dir := place.Clean(t.name)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: %s is a file: name a directory, or leave out the / at its end", t.flag, say.File(dir))
	}
	probe := dir
	if place.IsRemote(dir) {
		probe = place.Join(dir, "_SUCCESS")
	}
	errs := []error{checkParent(probe)}
	out := resolve(dir)
	for _, read := range files.Dirs {
		if in := resolve(read); in == out || within(in, out) {
			errs = append(errs, fmt.Errorf("%s: %s lies in %s, which is read: name another directory", t.flag, say.File(t.name), say.File(read)))
		}
	}
	for _, read := range append([]string{rules}, files.Lists...) {
		if within(out, resolve(read)) {
			errs = append(errs, t.lies(read))
		}
	}
	given, err := filepath.Abs(dir)
	for i := range files.Files { // there may be a million: no links are followed
		if name, errName := filepath.Abs(files.Files[i].Name); err == nil && errName == nil && (within(out, name) || within(given, name)) {
			return errors.Join(append(errs, t.lies(files.Files[i].Name))...)
		}
	}
	return errors.Join(errs...)
}

// lies returns the error of an input that lies in the directory.
func (t target) lies(name string) error {
	return fmt.Errorf("%s: %s lies in %s, which is written: name another directory", t.flag, say.File(name), say.File(t.name))
}

// within reports whether a path lies in a directory. Both are absolute.
func within(dir, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
