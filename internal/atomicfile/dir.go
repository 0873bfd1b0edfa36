package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Dir is an output that is a directory of files. It takes its final name when it is complete, as a [File] does.
type Dir struct {
	target
	check func(path string) error
}

// errFixedDirectory is the cause of an Error about a directory that cannot be replaced.
var errFixedDirectory = errors.New("is a directory that cannot be replaced: name a directory in it")

// CreateDir begins an output with a name. Before Commit replaces what then has the name, it calls check with the path,
// which returns an error if that must not be replaced. The error of CreateDir is an [*Error].
func CreateDir(name string, check func(path string) error) (*Dir, error) {
	d := &Dir{target: target{name: name, path: Resolve(filepath.Clean(name)), sys: OS}, check: check}
	err := errFixedDirectory
	if d.path != "." && d.path != ".." && d.path != string(filepath.Separator) {
		err = d.makeTemp(func(temp string) error { return os.Mkdir(temp, 0o777) })
		if info, errStat := os.Stat(d.path); err == nil && errStat == nil && info.IsDir() {
			err = os.Chmod(d.temp, info.Mode().Perm()|0o700)
		}
	}
	if err != nil {
		return nil, d.Wrap("create", err)
	}
	return d, nil
}

// Use makes d change names through sys instead of [OS].
func (d *Dir) Use(sys System) { d.sys = sys }

// Sys returns the System in use.
func (d *Dir) Sys() System { return d.sys }

// Target returns the name of the output with its links resolved.
func (d *Dir) Target() string { return d.path }

// Keep leaves the temporary directory to the caller; Close then does nothing.
func (d *Dir) Keep() { d.temp = "" }

// Path returns the temporary directory, in which the files are written; "" after the end.
func (d *Dir) Path() string { return d.temp }

// Commit syncs the files, renames the directory to its final name, and syncs the name. After an error, an [*Error],
// nothing is left of the directory, unless the error says that the output is complete.
func (d *Dir) Commit() error { return d.commitTo(d.path) }

// CommitNew is like Commit, but only if the name is free or belongs to an empty directory; check is not called.
// Otherwise nothing is replaced, the error is an [fs.ErrExist], and the directory can be committed again.
func (d *Dir) CommitNew() error {
	if d.temp == "" {
		return d.Wrap("finish", fs.ErrClosed)
	}
	if err := d.sys.SyncTree(d.temp); err != nil {
		return errors.Join(d.Wrap("finish", err), d.Close())
	}
	var err error
	if info, errStat := os.Lstat(d.path); errStat == nil && info.IsDir() {
		err = d.sys.Remove(d.path) // succeeds only if it is empty
	}
	if err == nil {
		err = d.sys.Rename(d.temp, d.path)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return d.Wrap("rename the temporary directory of", err)
	case err != nil:
		return errors.Join(d.Wrap("rename the temporary directory of", err), d.Close())
	}
	d.temp = ""
	return d.syncParent(d.path)
}

// CommitAs is like Commit, under the name that other returns for the output's name. It returns that name.
func (d *Dir) CommitAs(other func(name string) string) (string, error) {
	return other(d.name), d.commitTo(other(d.path))
}

// commitTo is Commit under the given path. A second call returns an fs.ErrClosed.
func (d *Dir) commitTo(path string) error {
	if d.temp == "" {
		return d.Wrap("finish", fs.ErrClosed)
	}
	if err := d.sys.SyncTree(d.temp); err != nil {
		return errors.Join(d.Wrap("finish", err), d.Close())
	}
	if err := d.check(path); err != nil {
		return errors.Join(d.Wrap("replace", err), d.Close())
	}
	old, err := d.replace(path)
	if err != nil {
		return errors.Join(d.Wrap("rename the temporary directory of", err), d.Close())
	}
	d.temp = ""
	if err := d.syncParent(path); err != nil || old == "" {
		return err
	}
	if err := d.sys.RemoveAll(old); err != nil {
		return d.Wrap("replace", fmt.Errorf("%w: the new output is complete; remove %s, the old one", WithoutPath(err), old))
	}
	return nil
}

// replace renames the temporary directory to path, and returns the new name of the directory that had this name before;
// "" if there was none. If the system can exchange two directories, the name exists at every moment.
func (d *Dir) replace(path string) (old string, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", d.sys.Rename(d.temp, path)
	}
	if err := d.sys.Exchange(d.temp, path); !errors.Is(err, errors.ErrUnsupported) {
		return d.temp, err
	}
	old = d.hiddenName(".old", 0)
	if err := d.sys.Rename(path, old); err != nil {
		return "", err
	}
	if err := d.sys.Rename(d.temp, path); err != nil {
		return "", errors.Join(err, d.sys.Rename(old, path))
	}
	return old, nil
}

// Close drops the directory with its files, unless it was committed or kept. Further calls do nothing.
func (d *Dir) Close() error {
	if d.temp == "" {
		return nil
	}
	err := d.sys.RemoveAll(d.temp)
	d.temp = ""
	return d.Wrap("remove the temporary directory of", err)
}
