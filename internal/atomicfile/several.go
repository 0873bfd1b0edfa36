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

// CommitAll commits several files, like [File.Commit], and ends all of them. After an error, none of them is left, and
// existing files with their names are unchanged, unless the error says otherwise. All files are on disk before the
// first is renamed. If the process is killed between two renames, some files have their new content. Outputs that are
// written in place cannot be undone.
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
		r := renamed{file: f}
		if _, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
			r.isNew = true
		} else if old := strings.TrimSuffix(f.temp, ".tmp") + ".old"; f.sys.Link(f.path, old) == nil {
			r.old = old
		}
		if err = f.rename(f.path); err != nil {
			errs := []error{err, r.removeOld()}
			for _, r := range named { // restore the old files
				switch f := r.file; {
				case r.isNew:
					err = f.Wrap("remove", f.sys.Remove(f.path))
				case r.old == "":
					err = f.Wrap("undo", errStays)
				default:
					err = f.Wrap("undo", f.sys.Rename(r.old, f.path))
				}
				errs = append(errs, err)
			}
			return errors.Join(append(errs, closeAll(files))...)
		}
		named = append(named, r)
	}
	for _, r := range named {
		err = errors.Join(err, r.removeOld(), r.file.syncParent(r.file.path))
	}
	return err
}

// closeAll drops the files that are not renamed yet.
func closeAll(files []*File) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// A renamed is a file that was renamed to its final name, and the old file of that name.
type renamed struct {
	file  *File
	old   string // a second name of the old file; "" if there is none
	isNew bool   // there was no old file
}

// removeOld removes the second name of the old file, if there is one.
func (r *renamed) removeOld() error {
	if r.old == "" {
		return nil
	}
	return r.file.Wrap("remove the old file of", r.file.sys.Remove(r.old))
}

// errStays is the error of undo without a second name.
var errStays = errors.New("the file system does not support a second name for the old file: the new file stays, and is complete")

// No system renames several files at once, so a process that is killed between two renames leaves files of two runs. A
// note identifies them: the file .robobatch.<process>.set in the directory of the outputs, with their paths as JSON. An
// output that was not renamed still has a temporary file.
const (
	noteStart = ".robobatch."
	noteEnd   = ".set"
	maxNote   = 1 << 20 // bytes
)

// NoteSet writes a note about the outputs of one run to each of their directories, before they are renamed. Call the
// returned function when all outputs are renamed or dropped: it removes the notes, and those of killed runs about any
// of the same outputs, which are replaced now. NoteSet ignores names that are "" or are written in place, and writes no
// note for fewer than two outputs. After an error, it has removed its notes, and end is nil.
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
			err = wrapError("note the names of the outputs in", note, err)
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

// A MixedSet has the absolute paths of the outputs of a run that was killed after it had renamed some of them.
type MixedSet struct {
	New []string // files of that run
	Old []string // files of an earlier run, or missing

	note string
}

// MixedSets returns the mixed sets in these directories. It ignores runs that are still running.
func MixedSets(dirs ...string) []MixedSet {
	return slices.DeleteFunc(deadSets(dirs), func(m MixedSet) bool { return len(m.New) == 0 || len(m.Old) == 0 })
}

// deadSets returns the sets in the notes of processes that are no longer running, by whether their temporary files
// still exist. It skips files that cannot be read.
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
				continue // not a note; reading a pipe would block
			}
			m := MixedSet{note: filepath.Join(dir, entry.Name())}
			text, err := os.ReadFile(m.note)
			var paths []string
			if err != nil || json.Unmarshal(text, &paths) != nil {
				continue
			}
			for _, path := range paths {
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

// escapeGlob returns a pattern that matches only this name.
func escapeGlob(name string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(name)
}

// dirsOf returns the directories of paths, sorted and without duplicates.
func dirsOf(paths []string) (dirs []string) {
	for _, path := range paths {
		dirs = append(dirs, filepath.Dir(path))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
