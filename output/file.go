package output

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/robobatch/robobatch/engine"
)

// A File is a Writer to a named file that appears under its name only when it is complete. Exactly one of Commit,
// Fault and Abort ends it; Close is Abort, unless one of them has been called.
type File struct {
	*Writer
	place
}

// Create begins the output of that name: a temporary file in the same directory, whose name starts with a dot. A name
// that exists and is no regular file, such as a named pipe or /dev/null, is written in place. For "-", stdout is
// written: all formats are written from front to back. Errors are a [FileError], or those of [New].
//
// With opt.Partition the output is a directory, in the layout of Hive: dir/agent=Googlebot/allowed=true/part-0.parquet. Its temporary directory
// lies beside it. A directory of that name is replaced if it is empty, or such an output; see [ErrForeign].
//
// A process that wants a closed pipe on standard output as the error syscall.EPIPE must handle or ignore SIGPIPE.
func Create(name string, stdout io.Writer, store *engine.Store, opt Options) (*File, error) {
	return create(name, stdout, opt, func(w io.Writer, opt Options) (*Writer, error) { return New(w, store, opt) })
}

// create is Create over any Writer.
func create(name string, stdout io.Writer, opt Options, open func(io.Writer, Options) (*Writer, error)) (*File, error) {
	f := &File{place: place{name: name, path: name, tree: len(opt.Partition) > 0}}
	w := stdout
	if name != "-" || f.tree {
		if err := f.open(); err != nil {
			return nil, f.fault("create", err)
		}
		if w = nil; !f.tree {
			w = f.file
		}
		if opt.TempDir == "" {
			opt.TempDir = filepath.Dir(f.path)
		}
		opt.tree = f.temp
	}
	var err error
	if f.Writer, err = open(w, opt); err != nil {
		return nil, errors.Join(err, f.Abort())
	}
	return f, nil
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

// Fault ends an output whose input broke off: the rows so far are completed under the name that [Options.PartialName] gives, and
// a file of the final name is as before. It returns the partial name; for an output written in place, its own.
func (f *File) Fault() (string, error) {
	if f.temp == "" {
		return f.name, f.finish("")
	}
	return f.partial(f.name), f.finish(f.partial(f.path))
}

// finish completes the output, and gives it that name.
func (f *File) finish(path string) error {
	if err := f.Writer.Close(); err != nil {
		return errors.Join(f.fault("write", err), f.Abort())
	}
	return f.commit(path)
}

// Abort drops the output: nothing is left of it, and a file of the final name is as before.
func (f *File) Abort() error {
	if f.Writer != nil {
		f.abort()
	}
	return f.drop()
}

// Close is Abort, and does nothing after Commit, Fault or Abort: it can be deferred.
func (f *File) Close() error { return f.Abort() }
