package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/robobatch/robobatch/engine"
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

// A File is a Writer to a named file that appears under its name only when it is complete. Exactly one of Commit,
// Fault and Abort ends it; Close is Abort, unless one of them has been called.
type File struct {
	*Writer
	name string   // as asked for
	path string   // name, links resolved: what the rename replaces
	temp string   // "" if written in place
	file *os.File // nil once closed, or for standard output
}

// Create begins the output of that name: a temporary file in the same directory, whose name starts with a dot. A name
// that exists and is no regular file, such as a named pipe or /dev/null, is written in place. For "-", stdout is
// written, and opt.Format must be ArrowStream. Errors are a [FileError], or those of [New].
//
// A process that wants a closed pipe on standard output as the error syscall.EPIPE must handle or ignore SIGPIPE.
func Create(name string, stdout io.Writer, store *engine.Store, opt Options) (*File, error) {
	return create(name, stdout, func(w io.Writer) (*Writer, error) { return New(w, store, opt) })
}

// create is Create over any Writer.
func create(name string, stdout io.Writer, open func(io.Writer) (*Writer, error)) (*File, error) {
	f := &File{name: name, path: name}
	w := stdout
	if name != "-" {
		if err := f.open(); err != nil {
			return nil, f.fault("create", err)
		}
		w = f.file
	}
	var err error
	if f.Writer, err = open(w); err != nil {
		return nil, errors.Join(err, f.Abort())
	}
	return f, nil
}

// open opens what is written to: a temporary file, or the output itself if it is no regular file.
func (f *File) open() error {
	if target, err := filepath.EvalSymlinks(f.name); err == nil {
		f.path = target
	}
	info, err := os.Stat(f.path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("is a directory: name a file in it")
	case err == nil && !info.Mode().IsRegular():
		f.file, err = os.OpenFile(f.path, os.O_WRONLY, 0)
		return err
	}
	dir, base := filepath.Split(f.path)
	for i := 0; ; i++ {
		f.temp = filepath.Join(dir, "."+base+"."+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i)+".tmp")
		f.file, err = os.OpenFile(f.temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if !errors.Is(err, fs.ErrExist) || i == 1000 {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoDirectory
	}
	return err
}

// fault returns err as a FileError. The names in the system's errors are dropped: they are of the temporary file.
func (f *File) fault(doing string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w: free some space, or write elsewhere", err)
	}
	return &FileError{Doing: doing, Name: f.name, Err: err}
}

// Write adds the rows of an evaluated batch. Errors are a [FileError].
func (f *File) Write(b *engine.Batch) error {
	if err := f.Writer.Write(b); err != nil {
		return f.fault("write", err)
	}
	return nil
}

// Commit completes the output and gives it its name, in place of a file that had it. On an error there is no output,
// and a file of that name is as before.
func (f *File) Commit() error { return f.finish(f.path) }

// Fault ends an output whose input broke off: the rows so far are completed under the name that PartialName gives, and
// a file of the final name is as before. It returns the partial name; for an output written in place, its own.
func (f *File) Fault() (string, error) {
	if f.temp == "" {
		return f.name, f.finish("")
	}
	return PartialName(f.name), f.finish(PartialName(f.path))
}

// finish completes the output, makes sure that it is on disk, and renames it.
func (f *File) finish(path string) error {
	if err := f.Writer.Close(); err != nil {
		return errors.Join(f.fault("write", err), f.Abort())
	}
	switch {
	case f.name == "-":
		return nil
	case f.file == nil:
		return f.fault("finish", fs.ErrClosed)
	case f.temp != "":
		if err := f.file.Sync(); err != nil { // some file systems report a full disk only here
			return errors.Join(f.fault("finish", err), f.Abort())
		}
	}
	err := f.file.Close()
	f.file = nil
	if err != nil {
		return errors.Join(f.fault("finish", err), f.Abort())
	}
	if f.temp == "" {
		return nil
	}
	if err := os.Rename(f.temp, path); err != nil {
		return errors.Join(f.fault("rename the temporary file of", err), f.Abort())
	}
	f.temp = ""
	return nil
}

// Abort drops the output: nothing is left of it, and a file of the final name is as before.
func (f *File) Abort() error {
	var err error
	if f.file != nil {
		err = f.file.Close()
		f.file = nil
	}
	if f.temp != "" {
		err = errors.Join(err, os.Remove(f.temp))
		f.temp = ""
	}
	if f.Writer != nil {
		f.abort()
	}
	if err != nil {
		return f.fault("remove the temporary file of", err)
	}
	return nil
}

// Close is Abort, and does nothing after Commit, Fault or Abort: it can be deferred.
func (f *File) Close() error { return f.Abort() }
