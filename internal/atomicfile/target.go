package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Stdout is the name that means standard output.
const Stdout = "-"

// A target is the name of an output, and the temporary one beside it.
type target struct {
	name string // as asked for
	path string // name, links resolved: the rename replaces it
	temp string // "" if there is none: written in place, renamed or removed
	sys  System
}

// Dir returns the directory of the output; "." for standard output.
func (t *target) Dir() string { return filepath.Dir(t.path) }

// Wrap returns err as an [*Error] about the output, nil as nil, and an error of a method here as it
// is.
func (t *target) Wrap(doing string, err error) error { return wrap(doing, t.name, err) }

// beside returns the i-th hidden name beside the output, with that end.
func (t *target) beside(end string, i int) string {
	dir, base := filepath.Split(t.path)
	return filepath.Join(dir, "."+base+"."+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i)+end)
}

// Leftovers returns the temporary names beside the output of that name which processes have left that
// do not run any more: after SIGKILL or a power failure. Names of processes that run may be theirs,
// and a number may have been given to another process since; so it may return too few.
func Leftovers(name string) []string {
	if InPlace(name) {
		return nil
	}
	dir, base := filepath.Split(Resolve(filepath.Clean(name)))
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	var left []string
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), "."+base+".")
		process, rest, found := strings.Cut(rest, "-")
		number, temp := strings.CutSuffix(rest, ".tmp")
		if !temp {
			number, temp = strings.CutSuffix(rest, ".old")
		}
		pid, err := strconv.Atoi(process)
		if _, errNumber := strconv.Atoi(number); ok && found && temp && err == nil && errNumber == nil && pid > 0 && !isRunning(pid) {
			left = append(left, filepath.Join(dir, entry.Name()))
		}
	}
	return left
}

// OfTemp returns the name of the output that a file was to become, by the name of the file without
// its directory; ok is false if it is no temporary file.
func OfTemp(base string) (name string, ok bool) {
	m := temps.FindStringSubmatch(base)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// temps are the names of temporary files.
var temps = regexp.MustCompile(`(?s)^\.(.+)\.[0-9]+-[0-9]+\.tmp$`)

// maxTemps is how many temporary names are tried: others are of outputs of the same name and
// process.
const maxTemps = 1000

// makeTemp calls create with temporary names until one is free.
func (t *target) makeTemp(create func(temp string) error) error {
	var err error
	for i := range maxTemps {
		t.temp = t.beside(".tmp", i)
		if err = create(t.temp); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		return nil
	}
	t.temp = "" // what has the name is not ours
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoDirectory
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: the directory must be writable, as the file is written beside its name first; write elsewhere, or change its permissions", Cause(err))
	}
	return err
}
