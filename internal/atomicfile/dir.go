package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A Dir is an output that is a directory of files. It takes its name when it is complete, as a
// [File] does.
type Dir struct {
	target
	check func(path string) error
}

// errFixedDirectory is the cause of an Error about a directory that nothing can replace.
var errFixedDirectory = errors.New("is a directory that cannot be replaced: name one in it")

// CreateDir begins the output of that name. Commit calls check before it replaces what has the name
// by then: check returns an error if that has to stay. The error of CreateDir is an [*Error].
func CreateDir(name string, check func(path string) error) (*Dir, error) {
	d := &Dir{target: target{name: name, path: Resolve(filepath.Clean(name))}, check: check}
	err := errFixedDirectory
	if d.path != "." && d.path != ".." && d.path != string(filepath.Separator) {
		err = d.makeTemp(func(temp string) error { return os.Mkdir(temp, 0o777) })
	}
	if err != nil {
		return nil, d.Wrap("create", err)
	}
	return d, nil
}

// Path returns the temporary directory, in which the files are written; "" after the end.
func (d *Dir) Path() string { return d.temp }

// Commit makes sure that the files are on disk, and gives the directory its name. On an error, an
// [*Error], nothing is left of it, unless it is there already and what it replaces could not be
// removed.
func (d *Dir) Commit() error { return d.commit(d.path) }

// CommitAs is Commit under the name that other returns for the output's, and returns that.
func (d *Dir) CommitAs(other func(name string) string) (string, error) {
	return other(d.name), d.commit(other(d.path))
}

// commit is Commit under that name.
func (d *Dir) commit(path string) error {
	if d.temp == "" {
		return d.Wrap("finish", fs.ErrClosed)
	}
	if err := syncFiles(d.temp); err != nil {
		return errors.Join(d.Wrap("finish", err), d.Close())
	}
	if err := d.check(path); err != nil {
		return errors.Join(d.Wrap("replace", err), d.Close())
	}
	if err := d.replace(path); err != nil {
		return errors.Join(d.Wrap("rename the temporary directory of", err), d.Close())
	}
	d.temp = ""
	return nil
}

// replace gives the temporary directory that name, and removes the one that had it. Where the
// system can exchange two directories, there is always one of the name.
func (d *Dir) replace(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(d.temp, path)
	}
	old := d.temp
	if err := exchange(d.temp, path); err != nil {
		old = d.beside(".old", 0)
		if err := os.Rename(path, old); err != nil {
			return err
		}
		if err := os.Rename(d.temp, path); err != nil {
			return errors.Join(err, os.Rename(old, path))
		}
	}
	return os.RemoveAll(old)
}

// Close drops the directory, unless it was committed.
func (d *Dir) Close() error {
	if d.temp == "" {
		return nil
	}
	err := os.RemoveAll(d.temp)
	d.temp = ""
	return d.Wrap("remove the temporary directory of", err)
}
