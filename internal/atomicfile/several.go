package atomicfile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CommitAll is [File.Commit] of several files: after an error nothing is left of any of them, and files of their names are
// as before, as far as the error says nothing else. All are on disk before the first gets its name. A process that is killed
// between two names leaves some of them. Those that are written in place are as they were written.
func CommitAll(files ...*File) (err error) {
	for _, f := range files {
		if err = f.finish(); err != nil {
			return errors.Join(err, closeAll(files))
		}
	}
	named := make([]renamed, 0, len(files))
	for _, f := range files {
		if f.temp == "" {
			continue
		}
		r := keepOld(f)
		if err = f.rename(f.path); err != nil {
			errs := []error{err, r.forget()}
			for _, r := range named {
				errs = append(errs, r.undo())
			}
			return errors.Join(append(errs, closeAll(files))...)
		}
		named = append(named, r)
	}
	for _, r := range named {
		err = errors.Join(err, r.forget(), r.file.syncParent(r.file.path))
	}
	return err
}

// closeAll drops the files without a name yet.
func closeAll(files []*File) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// A renamed is a file that gets its name, and the old file of the name.
type renamed struct {
	file  *File
	old   string // another name of the old file; "" if there is none
	isNew bool   // nothing had the name
}

// keepOld gives the old file of a name another name, where the file system can.
func keepOld(f *File) renamed {
	r := renamed{file: f}
	if _, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
		r.isNew = true
		return r
	}
	old := strings.TrimSuffix(f.temp, ".tmp") + ".old"
	if f.sys.Link(f.path, old) == nil {
		r.old = old
	}
	return r
}

// forget removes the other name.
func (r *renamed) forget() error {
	if r.old == "" {
		return nil
	}
	return r.file.Wrap("remove the old file of", r.file.sys.Remove(r.old))
}

// errStays is the error of a file that cannot be undone.
var errStays = errors.New("the file system does not support a second name for the old file: the new file is in place and complete")

// undo gives the name back to the old file.
func (r *renamed) undo() error {
	f := r.file
	switch {
	case r.isNew:
		return f.Wrap("remove", f.sys.Remove(f.path))
	case r.old == "":
		return f.Wrap("undo", errStays)
	}
	return f.Wrap("undo", f.sys.Rename(r.old, f.path))
}

// A note of a set is a file in the directory of the outputs: .robobatch.<process>.set, with their names as JSON. No
// system renames several files at once, so a process that is killed between two names leaves files of two runs. The
// note, and the temporary file of each output without its final name, identify them.
const (
	noteStart = ".robobatch."
	noteEnd   = ".set"
	maxNote   = 1 << 20 // bytes
)

// NoteSet notes that outputs of one run are about to get their names, in each of their directories. The function that it
// returns removes the notes, and those of killed runs about any of these outputs, which are replaced now; call it when all
// outputs have their names, or will not get them. Names that are "", or are written in place, do not count, and fewer than
// two need no note.
func NoteSet(names ...string) (end func() error, err error) {
	var paths []string
	for _, name := range names {
		if name != "" && !InPlace(name) {
			path := Resolve(filepath.Clean(name))
			if abs, err := filepath.Abs(path); err == nil {
				path = abs
			}
			paths = append(paths, path)
		}
	}
	var notes []string
	for _, m := range deadSets(dirsOf(paths)) {
		if slices.ContainsFunc(slices.Concat(m.New, m.Old), func(path string) bool { return slices.Contains(paths, path) }) {
			notes = append(notes, m.note)
		}
	}
	for _, dir := range dirsOf(paths) {
		if len(paths) < 2 {
			break
		}
		note := filepath.Join(dir, noteStart+strconv.Itoa(os.Getpid())+noteEnd)
		var text []byte
		if text, err = json.Marshal(paths); err == nil {
			err = os.WriteFile(note, text, 0o666)
		}
		if err != nil {
			err = wrap("note the names of the outputs in", note, err)
			break
		}
		notes = append(notes, note)
	}
	end = func() (err error) {
		for _, note := range notes {
			if errNote := os.Remove(note); !errors.Is(errNote, fs.ErrNotExist) { // another run may have removed a dead one's
				err = errors.Join(err, errNote)
			}
		}
		return err
	}
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}

// A MixedSet is outputs of one run that was killed when it had given some of them their names, by their absolute paths.
type MixedSet struct {
	New []string // are of that run
	Old []string // are of a run before, or not there

	note string
}

// MixedSets returns the sets in directories that runs have left which do not run any more.
func MixedSets(dirs ...string) []MixedSet {
	return slices.DeleteFunc(deadSets(dirs), func(m MixedSet) bool { return len(m.New) == 0 || len(m.Old) == 0 })
}

// deadSets returns the sets that processes have noted which do not run any more.
func deadSets(dirs []string) (all []MixedSet) {
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			process, isNote := strings.CutSuffix(strings.TrimPrefix(entry.Name(), noteStart), noteEnd)
			pid, err := strconv.Atoi(process)
			if !isNote || err != nil || entry.Name() == process || isRunning(pid) {
				continue
			}
			if info, err := entry.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > maxNote {
				continue // another process's: a pipe would be waited for
			}
			m := MixedSet{note: filepath.Join(dir, entry.Name())}
			text, err := os.ReadFile(m.note)
			var paths []string
			if err != nil || json.Unmarshal(text, &paths) != nil {
				continue
			}
			for _, path := range paths {
				// Add an output of a process.
				dir, base := filepath.Split(path)
				temps, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "."+escapeGlob(base)+"."+process+"-*.tmp"))
				if len(temps) > 0 {
					m.Old = append(m.Old, path)
				} else {
					m.New = append(m.New, path)
				}
			}
			all = append(all, m)
		}
	}
	return all
}

// escapeGlob returns a pattern that matches a name only.
func escapeGlob(name string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(name)
}

// dirsOf returns the directories of paths, each once.
func dirsOf(paths []string) (dirs []string) {
	for _, path := range paths {
		dirs = append(dirs, filepath.Dir(path))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
