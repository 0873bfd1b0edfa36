package atomicfile

import (
	"errors"
	"io/fs"
	"os"
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
var errStays = errors.New("the file system keeps no second name of the old file: the new one is in place and complete")

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
