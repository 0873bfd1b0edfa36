package output

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A FileError is a fault in writing an output. It unwraps to the cause, so that errors.Is finds syscall.ENOSPC, or
// syscall.EPIPE for a standard output that nobody reads.
type FileError struct {
	Doing string // "create", "write", "finish", "rename"
	Name  string // the final name, "-" for standard output
	Err   error
}

// Error says what was being done to which output, and the cause.
func (e *FileError) Error() string {
	name := e.Name
	if name == "-" {
		name = "standard output"
	}
	return e.Doing + " " + name + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// ErrNoDirectory is the cause of a FileError when the output's directory does not exist.
var ErrNoDirectory = errors.New("directory does not exist: create it, or write elsewhere")

// A place is where an output is written: a temporary file or directory that takes the output's name when it is complete.
type place struct {
	name string   // as asked for; "-" is standard output, which is not touched here
	path string   // name, links resolved: what the rename replaces
	temp string   // "" if written in place
	file *os.File // nil once closed, or for standard output
	tree bool     // the output is a directory, and file is nil
}

// open opens what is written to: a temporary file, or the output itself if it is no regular file.
func (p *place) open() error {
	if p.tree {
		return p.openTree()
	}
	p.path = resolve(p.name)
	info, err := os.Stat(p.path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("is a directory: name a file in it")
	case err == nil && !info.Mode().IsRegular():
		p.file, err = os.OpenFile(p.path, os.O_WRONLY, 0)
		return err
	}
	for i := 0; ; i++ {
		p.temp = p.beside(".tmp", i)
		p.file, err = os.OpenFile(p.temp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
		if !errors.Is(err, fs.ErrExist) || i == 1000 {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoDirectory
	}
	return err
}

// maxLinks is how many links to links are followed; more is a circle.
const maxLinks = 40

// resolve returns what a name leads to by way of symbolic links, which need not exist. Of a circle it is the name itself.
func resolve(name string) string {
	path := name
	for range maxLinks {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		dir, base := filepath.Split(path) // not Dir, which takes the .. of what may be a link away
		dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
		if err != nil {
			return path
		}
		path = filepath.Join(dir, base)
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if path = target; !filepath.IsAbs(path) {
			path = dir + string(filepath.Separator) + target // uncleaned: what is above a link's target is not above the link
		}
	}
	return name
}

// fault returns err as a FileError. The names in the system's errors are dropped: they are of the temporary file.
func (p *place) fault(doing string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w: free some space, or write elsewhere", err)
	}
	return &FileError{Doing: doing, Name: p.name, Err: err}
}

// commit makes sure that what was written is on disk, and gives it its name, path. On an error nothing is left of it, and a
// file of that name is as before.
func (p *place) commit(path string) error {
	if p.tree {
		return p.commitTree(path)
	}
	switch {
	case p.name == "-":
		return nil
	case p.file == nil:
		return p.fault("finish", fs.ErrClosed)
	case p.temp != "":
		if err := p.file.Sync(); err != nil { // some file systems report a full disk only here
			return errors.Join(p.fault("finish", err), p.drop())
		}
	}
	err := p.file.Close()
	p.file = nil
	if err != nil {
		return errors.Join(p.fault("finish", err), p.drop())
	}
	if p.temp == "" {
		return nil
	}
	if err := os.Rename(p.temp, path); err != nil {
		return errors.Join(p.fault("rename the temporary file of", err), p.drop())
	}
	p.temp = ""
	return nil
}

// drop leaves nothing of what was written, and a file of the final name as it was. It does nothing after commit.
func (p *place) drop() error {
	if p.tree {
		return p.dropTree()
	}
	var err error
	if p.file != nil {
		err = p.file.Close()
		p.file = nil
	}
	if p.temp != "" {
		err = errors.Join(err, os.Remove(p.temp))
		p.temp = ""
	}
	if err != nil {
		return p.fault("remove the temporary file of", err)
	}
	return nil
}
