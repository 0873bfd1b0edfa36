package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// A File is an output that takes its name when it is complete. Commit, CommitAs or Close ends it;
// Close does nothing after another, so it can be deferred. It is not safe for concurrent use, but
// for ReadAt.
type File struct {
	target
	w    io.Writer // standard output, or file
	file *os.File  // nil once closed, or for standard output
}

// Create begins the output of that name; for "-", stdout is written, or os.Stdout if that is nil.
// The error is an [*Error].
func Create(name string, stdout io.Writer) (*File, error) {
	f := &File{target: target{name: name, path: name, sys: OS}, w: stdout}
	if name == Stdout {
		if stdout == nil {
			f.w = os.Stdout
		}
		return f, nil
	}
	if err := f.open(); err != nil {
		return nil, f.Wrap("create", err)
	}
	f.w = f.file
	return f, nil
}

// CreateRegular is Create for a file that is not written from front to back. Where that cannot be,
// the cause of the error is [ErrNotRegular].
func CreateRegular(name string) (*File, error) {
	if InPlace(name) {
		return nil, wrap("create", name, ErrNotRegular)
	}
	return Create(name, nil)
}

// InPlace reports whether an output of that name is written in place: standard output, a descriptor
// of the process, or the name of a thing that is neither a regular file nor a directory.
func InPlace(name string) bool {
	if name == Stdout || Descriptor(name) >= 0 {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// open opens the file to write: a temporary file, or the output itself if it is a descriptor or no
// regular file.
func (f *File) open() (err error) {
	if fd := Descriptor(f.name); fd >= 0 {
		f.file, err = openDescriptor(fd, f.name)
		return err
	}
	f.path = Resolve(f.name)
	info, err := os.Stat(f.path)
	switch {
	case err == nil && info.IsDir():
		return errIsDirectory
	case err == nil && !info.Mode().IsRegular():
		f.file, err = os.OpenFile(f.path, os.O_WRONLY, 0)
		return err
	}
	mode, replaces := fs.FileMode(0o666), err == nil
	if replaces {
		mode = info.Mode().Perm()
	}
	err = f.makeTemp(func(temp string) (err error) {
		f.file, err = os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
		return err
	})
	if err == nil && replaces { // who could not read the file before cannot read the new one, whatever the umask is
		err = f.file.Chmod(mode)
	}
	return err
}

// Write appends bytes. The error is an [*Error].
func (f *File) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	return n, f.Wrap("write", err)
}

// WriteAt overwrites bytes of a regular file. The error is an [*Error].
func (f *File) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.file.WriteAt(b, off)
	return n, f.Wrap("write", err)
}

// ReadAt reads a regular file back.
func (f *File) ReadAt(b []byte, off int64) (int, error) { return f.file.ReadAt(b, off) }

// Commit makes sure that the output is on disk, gives it its name, and makes sure of that. On
// an error, an [*Error], nothing is left of it, and a file of that name is as before, unless only
// the last of these steps failed, as the error says then.
func (f *File) Commit() error { return f.commit(f.path) }

// CommitAs is Commit under the name that other returns for the output's, and returns that. An
// output that is written in place keeps its own.
func (f *File) CommitAs(other func(name string) string) (string, error) {
	if f.temp == "" {
		return f.name, f.Commit()
	}
	return other(f.name), f.commit(other(f.path))
}

// commit is Commit under that name.
func (f *File) commit(path string) error {
	if err := f.finish(); err != nil || f.temp == "" {
		return err
	}
	if err := f.rename(path); err != nil {
		return err
	}
	return f.syncParent(path)
}

// finish makes sure that the output is on disk. After an error nothing is left of it.
func (f *File) finish() error {
	switch {
	case f.name == Stdout:
		return nil
	case f.file == nil:
		return f.Wrap("finish", fs.ErrClosed)
	case f.temp != "":
		if err := f.file.Sync(); err != nil { // some file systems report a full disk only here
			return errors.Join(f.Wrap("finish", err), f.Close())
		}
	}
	err := f.file.Close()
	f.file = nil
	if err != nil {
		return errors.Join(f.Wrap("finish", err), f.Close())
	}
	return nil
}

// rename gives the temporary file a name. After an error nothing is left of it.
func (f *File) rename(path string) error {
	err := f.sys.Rename(f.temp, path)
	if _, lost := os.Lstat(f.temp); errors.Is(err, fs.ErrNotExist) && errors.Is(lost, fs.ErrNotExist) {
		f.temp = ""
		return f.Wrap("finish", ErrTaken)
	}
	if err != nil {
		return errors.Join(f.Wrap("rename the temporary file of", err), f.Close())
	}
	f.temp = ""
	return nil
}

// Close drops the output, unless it was committed: a file of the final name is as it was.
func (f *File) Close() error {
	var err error
	if f.file != nil {
		err = f.file.Close()
		f.file = nil
	}
	if f.temp != "" {
		err = errors.Join(err, os.Remove(f.temp))
		f.temp = ""
	}
	return f.Wrap("remove the temporary file of", err)
}
