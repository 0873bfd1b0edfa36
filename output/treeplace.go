package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// openTree makes the temporary directory that takes the place of a file's temporary file.
func (p *place) openTree() error {
	p.path = filepath.Clean(p.path)
	if target, err := filepath.EvalSymlinks(p.path); err == nil {
		p.path = target
	}
	if err := checkTrees(p.path, p.partial(p.path)); err != nil {
		return err
	}
	if p.path == "." || p.path == ".." || p.path == string(filepath.Separator) {
		return errors.New("is a directory that cannot be replaced: name one in it")
	}
	var err error
	for i := 0; ; i++ {
		p.temp = p.beside(".tmp", i)
		err = os.Mkdir(p.temp, 0o777)
		if !errors.Is(err, fs.ErrExist) || i == 1000 {
			break
		}
	}
	if err != nil {
		p.temp = ""
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoDirectory
	}
	return err
}

// beside returns the i-th name beside the output, hidden, with that end.
func (p *place) beside(end string, i int) string {
	dir, base := filepath.Split(p.path)
	return filepath.Join(dir, "."+base+"."+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i)+end)
}

// commitTree makes sure that the directory is on disk, and gives it its name. An output that had it is removed when it has another.
func (p *place) commitTree(path string) error {
	if p.temp == "" {
		return p.fault("finish", fs.ErrClosed)
	}
	if err := syncTree(p.temp); err != nil {
		return errors.Join(p.fault("finish", err), p.drop())
	}
	if err := checkTree(path); err != nil {
		return errors.Join(p.fault("replace", err), p.drop())
	}
	if err := p.replaceTree(path); err != nil {
		return errors.Join(p.fault("rename the temporary directory of", err), p.drop())
	}
	p.temp = ""
	return nil
}

// replaceTree gives the temporary directory that name. Where the system can exchange two directories, there is always one of the name.
func (p *place) replaceTree(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(p.temp, path)
	}
	old := p.temp
	if err := exchange(p.temp, path); err != nil {
		old = p.beside(".old", 0)
		if err := os.Rename(path, old); err != nil {
			return err
		}
		if err := os.Rename(p.temp, path); err != nil {
			return errors.Join(err, os.Rename(old, path))
		}
	}
	return os.RemoveAll(old)
}

// dropTree leaves nothing of the temporary directory.
func (p *place) dropTree() error {
	if p.temp == "" {
		return nil
	}
	err := os.RemoveAll(p.temp)
	p.temp = ""
	if err != nil {
		return p.fault("remove the temporary directory of", err)
	}
	return nil
}

// partial returns the name under which the rows before a fault are kept.
func (p *place) partial(name string) string {
	if p.tree {
		return filepath.Clean(name) + ".partial"
	}
	return PartialName(name)
}

// PartialName returns the name under which the rows before a fault are kept: that of the function, or, for a directory, "a.partial" for "a".
func (o Options) PartialName(name string) string {
	return (&place{tree: len(o.Partition) > 0}).partial(name)
}

// CheckTarget returns why a partitioned output cannot have that name, or the name of what is kept before a fault: [ErrForeign] and others.
func (o Options) CheckTarget(name string) error {
	return checkTrees(name, o.PartialName(name))
}

// checkTrees is checkTree for an output and the name of what is kept before a fault.
func checkTrees(name, partial string) error {
	err := checkTree(partial)
	if err != nil {
		err = fmt.Errorf("%s, for the rows before a fault: %w", partial, err)
	}
	return errors.Join(checkTree(name), err)
}
