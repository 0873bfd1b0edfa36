package output

import (
	"errors"
	"io"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/internal/partition"
)

// errRemoteParts is the error for a partitioned output in object storage.
var errRemoteParts = errors.New("is in object storage, which cannot replace directories: write partitions to a directory, and copy them")

// A File is a Writer to a named file that appears under its name only when it is complete. End it with exactly one of
// Commit, Fault and Abort. Close aborts it unless one of these was called.
type File struct {
	*Writer
	target  target
	digest  *storage.Digest          // nil for a directory
	partial func(name string) string // Options.PartialName

	completed bool // the end is written
}

// A target is the file or directory that an output is written to. Its methods are those of [storage.Output].
type target interface {
	Commit() error
	CommitAs(other func(name string) string) (string, error)
	Close() error
	Wrap(doing string, err error) error
	Dir() string
}

// Create begins the named output: a temporary file in the same directory, whose name starts with a dot. If the name
// exists and is not a regular file, such as a named pipe or /dev/null, Create writes to it directly; the same
// applies to names of descriptors of the process, such as /dev/fd/3. For "-", it writes to stdout. All formats are
// written from front to back. [Parquet] and [ArrowFile] require a file of their own: Create returns an error if the
// file or stream already has bytes. Errors come from [NewWriter], or from the system, such as syscall.ENOSPC, with
// the name and the current step.
//
// A name that begins with s3:// names an object, which becomes visible when it is complete. It has no partial name:
// Fault drops the object and returns an error. It cannot be partitioned.
//
// With opt.Partition, the output is a directory in Hive layout: dir/agent=Googlebot/allowed=true/part-0.parquet.
// Its temporary directory is beside it. opt.Mode says what happens to an existing output; by default Create returns
// [ErrOutput]. If the directory has other files, it stays unchanged, and Create or Commit returns an error. With
// [PartitionByParts] and [PartitionAppend], Commit puts one partition after the other in place, each at once;
// docs/OUTPUT.md describes what readers see meanwhile, and the state after a crash.
//
// If a process wants the error syscall.EPIPE when standard output is a closed pipe, it must handle or ignore
// SIGPIPE.
func Create(name string, stdout io.Writer, store *engine.Store, opt Options) (*File, error) {
	return create(name, stdout, opt, func(w io.Writer, opt Options) (*Writer, error) { return NewWriter(w, store, opt) })
}

// create is like Create, but open makes the Writer. open gets the stream, or nil for a partitioned output, and the
// completed options.
func create(name string, stdout io.Writer, opt Options, open func(io.Writer, Options) (*Writer, error)) (*File, error) {
	f := &File{partial: opt.PartialName}
	w, err := f.open(name, stdout, &opt)
	if err != nil {
		return nil, err
	}
	if opt.TempDir == "" && !atomicfile.InPlace(name) {
		opt.TempDir = f.target.Dir()
	}
	if f.Writer, err = open(w, opt); err != nil {
		if errors.Is(err, ErrOther) {
			err = f.target.Wrap("write into", err)
		}
		return nil, errors.Join(err, f.Abort())
	}
	return f, nil
}

// open begins the file or directory. It returns the stream that a file is written to; nil for a directory, whose paths
// it sets in opt.
func (f *File) open(name string, stdout io.Writer, opt *Options) (io.Writer, error) {
	if len(opt.Partition) == 0 {
		file, err := storage.Create(name, stdout)
		if err != nil {
			return nil, err
		}
		if at, ok := file.(interface{ Offset() int64 }); ok && opt.Format.Whole() && at.Offset() > 0 {
			err = errors.Join(file.Wrap("write "+opt.Format.Name()+" to", container.ErrNotWhole), file.Close())
		}
		f.target, f.digest = file, storage.NewDigest(file)
		return f.digest, err
	}
	if storage.IsRemote(name) {
		return nil, &atomicfile.Error{Doing: "create", Name: name, Err: errRemoteParts}
	}
	if err := opt.CheckTarget(atomicfile.Resolve(name)); err != nil {
		return nil, &atomicfile.Error{Doing: "create", Name: name, Err: err}
	}
	opt.written = new(partition.Parts)
	tree, err := partition.NewTree(name, opt.partitionOptions())
	if err != nil {
		return nil, err
	}
	f.target, opt.tree, opt.into = tree, tree.Path(), tree.Target()
	return nil, nil
}

// Finished returns the earlier runs that were stopped, and that Commit has completed: for each its inputs, as a JSON
// array. It returns nil if there are none, or if the output is a file.
func (f *File) Finished() []string {
	if tree, ok := f.target.(*partition.Tree); ok {
		return tree.Finished
	}
	return nil
}

// Parts returns the files of a partitioned output, by their names below the directory, once Commit or Fault has
// returned. They include the marker except with [PartitionByParts] and [PartitionAppend]. It returns none if there are
// more than 10,000 files, or if the output is a file.
func (f *File) Parts() []Part {
	if tree, ok := f.target.(*partition.Tree); ok {
		return tree.Written()
	}
	return nil
}

// Sum returns the size and the hash (XXH3, 128 bits, as text) of the output, once Commit or Fault has returned. For
// a directory they are 0 and "".
func (f *File) Sum() (size int64, hash string) {
	if f.digest == nil {
		return 0, ""
	}
	return f.digest.Sum()
}

// Write adds the rows of an evaluated batch.
func (f *File) Write(b *engine.Batch) error { return f.target.Wrap("write", f.Writer.Write(b)) }

// Commit completes the output and renames it to its final name, replacing an existing file. After an error there is
// no output, and an existing file is unchanged.
func (f *File) Commit() error {
	if err := f.Complete(); err != nil {
		return err
	}
	return f.target.Commit()
}

// Fault ends an output whose input failed. It keeps the rows so far under the name from [Options.PartialName], and
// leaves an existing file with the final name unchanged. It returns the partial name, or the final name if the
// output is written directly.
func (f *File) Fault() (string, error) {
	if err := f.Complete(); err != nil {
		return "", err
	}
	return f.target.CommitAs(f.partial)
}

// Complete writes the end of the output after the last row. Commit and Fault call it if necessary. After an error,
// nothing is left of the output.
func (f *File) Complete() error {
	if f.completed {
		return nil
	}
	f.completed = true
	if err := f.Writer.Close(); err != nil {
		return errors.Join(f.target.Wrap("write", err), f.Abort())
	}
	return nil
}

// Abort removes the output, and leaves an existing file with the final name unchanged. It does nothing after Commit or
// Fault.
func (f *File) Abort() error {
	if f.Writer != nil {
		f.abort()
	}
	return f.target.Close()
}

// Close calls Abort, but does nothing after Commit, Fault or Abort, so it can be deferred.
func (f *File) Close() error { return f.Abort() }
