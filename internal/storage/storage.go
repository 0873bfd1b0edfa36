// Package storage opens, lists and replaces named files, on the file system or, for names that start with s3://, in
// object storage. [Of] returns the [Backend] for a name; support for another kind of storage would be added there.
//
// Names are as users write them. The package does not interpret file contents. All packages may import it.
package storage

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/s3"
)

// An Info describes a file or directory.
type Info struct {
	Size int64  // in bytes; -1 if it is not a regular file, so that it can be read only once
	Tag  string // ETag, which identifies the content; "" if there is none
	Dir  bool   // whether it is a directory
	ID   ID     // identifies the file, regardless of the name by which it was found

	Changed time.Time // last modification
}

// An ID identifies a file of a file system independent of its names. The zero ID means unknown: then only names can be
// compared.
type ID struct{ device, file uint64 }

// Compare orders IDs.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.device, other.device), cmp.Compare(id.file, other.file))
}

// A File is an open file.
type File interface {
	io.ReadCloser
	io.ReaderAt

	// Info describes the file that is open, even if its name now belongs to another one.
	Info() (Info, error)
}

// An Output is written sequentially, and gets its name when complete. Commit, CommitAs or Close ends it; Close does
// nothing after another of them. Errors are an [*atomicfile.Error].
type Output interface {
	io.WriteCloser

	// Commit makes the output durable, and gives it its name. After an error, an existing file of that name is unchanged.
	Commit() error

	// CommitAs is like Commit, but uses and returns the name that other returns for the final name.
	CommitAs(other func(name string) string) (string, error)

	// Wrap returns err as an error about the output; nil if err is nil.
	Wrap(doing string, err error) error

	// Dir returns a directory for temporary files.
	Dir() string
}

// A Backend is a kind of storage. Its methods are safe for concurrent use.
type Backend interface {
	// Stat describes a file or directory. If it does not exist, the error is an [io/fs.ErrNotExist].
	Stat(name string) (Info, error)

	// Walk calls found for each file below a directory, with its full name, until found returns an error, which Walk
	// returns. It skips names that begin with a dot, with everything below them. It does not enter directories that are
	// links, but calls found for them.
	Walk(dir string, found func(name string, info Info) error) error

	// Open opens a file for reading.
	Open(name string) (File, error)

	// Write creates or replaces a small file. It creates missing directories, and replaces the file atomically and
	// durably.
	Write(name string, text []byte) error

	// Remove removes a file. It does nothing if the file does not exist.
	Remove(name string) error

	// Sweep removes temporary files of killed processes from a directory, if ours reports true for the final name of the
	// file. The caller must make sure that no process is writing such a file.
	Sweep(dir string, ours func(name string) bool) error
}

// Of returns the backend of a name.
func Of(name string) Backend {
	if IsRemote(name) {
		return Objects{}
	}
	return Files{}
}

// A ForeignError means that a name refers to an unsupported kind of storage.
type ForeignError struct{ Scheme string }

// Error names the scheme, and the supported kinds of storage.
func (e *ForeignError) Error() string {
	return e.Scheme + " cannot be read: name a file, or s3://; copy or download other files first"
}

// Open opens a file by its name. The caller must close it. For a missing file with an unsupported kind of storage, the
// error is a [*ForeignError].
func Open(name string) (File, error) {
	f, err := Of(name).Open(name)
	if scheme := Foreign(name); scheme != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, &ForeignError{scheme}
	}
	return f, err
}

// ReadAll reads a small file into memory. Errors can be those of [Open].
func ReadAll(name string) ([]byte, error) {
	r, err := Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

// IsRemote reports whether a name refers to object storage. There, files have no links and no directories, are written
// sequentially and as a whole, and need a network.
func IsRemote(name string) bool { return s3.Is(name) }

// Foreign returns the scheme of a name that refers to an unsupported kind of storage, such as "gs://" or "https://"; ""
// for other names.
func Foreign(name string) string {
	n := 0
	for n < len(name) && ('a' <= name[n]|0x20 && name[n]|0x20 <= 'z' || n > 0 && '0' <= name[n] && name[n] <= '9') {
		n++
	}
	if n < 2 || !strings.HasPrefix(name[n:], "://") || IsRemote(name) {
		return ""
	}
	return name[:n+len("://")]
}

// HasEmptyPart reports whether a remote name has two consecutive slashes. In object storage they are significant; in a
// file system they are equivalent to one.
func HasEmptyPart(name string) bool {
	return IsRemote(name) && strings.Contains(strings.TrimPrefix(name, s3.Scheme), "//")
}

// ReadRemedy returns the remedy for an error of reading an open file, after a colon; "" if the error contains a remedy.
func ReadRemedy(err error) string {
	if _, ok := errors.AsType[*s3.ReadError](err); ok {
		return ""
	}
	return ": check the disk and copy or download the file again"
}

// Left returns the error in err which says that parts of a dropped output remain stored; nil if there is none.
func Left(err error) error {
	if left, ok := errors.AsType[*s3.AbortError](err); ok {
		return left
	}
	return nil
}

// IsDown reports whether an error affects all of object storage: it cannot be reached, or denies access.
func IsDown(err error) bool { return s3.IsDown(err) }

// IsTemporary reports whether an error of the network or of object storage persisted through all retries, but may go
// away later.
func IsTemporary(err error) bool { return s3.IsTemporary(err) }

// Create begins an output of that name. For "-", it writes to stdout, or to os.Stdout if stdout is nil. The error is an
// [*atomicfile.Error].
func Create(name string, stdout io.Writer) (Output, error) {
	if IsRemote(name) {
		u, err := s3.Create(name)
		if err != nil {
			return nil, wrapObject("create", name, err)
		}
		return upload{u, name}, nil
	}
	f, err := atomicfile.Create(name, stdout)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// CommitAll commits several outputs, and ends all of them. Either all files get their names, or none does. Objects are
// committed before the files, one by one, because object storage cannot do better; an error names the objects that are
// complete.
func CommitAll(outs ...Output) error {
	var files []*atomicfile.File
	var done error
	for n, out := range outs {
		if f, ok := out.(*atomicfile.File); ok {
			files = append(files, f)
			continue
		}
		if err := out.Commit(); err != nil {
			for _, other := range outs[n+1:] {
				err = errors.Join(err, other.Close())
			}
			for _, f := range files {
				err = errors.Join(err, f.Close())
			}
			return errors.Join(err, done)
		}
		done = errors.Join(done, out.Wrap("undo", errComplete))
	}
	if err := atomicfile.CommitAll(files...); err != nil {
		return errors.Join(err, done)
	}
	return nil
}

// errComplete is the error about a complete object when another output failed.
var errComplete = errors.New("it is complete, and the previous one is gone")

// Interrupt ends calls that wait for object storage, with context.Canceled, except calls that complete or drop an
// output. It is for a process that is about to end.
func Interrupt() { s3.Interrupt() }

// Forget permits reading another version of a remote file. Otherwise, a process reads only the version that it saw
// first, and returns an error if the file has changed.
func Forget(name string) {
	if IsRemote(name) {
		s3.Forget(name)
	}
}

// Join returns the name of a file in a directory. The path has slashes on all systems.
func Join(dir, path string) string {
	if IsRemote(dir) {
		return strings.TrimRight(dir, "/") + "/" + path
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// Rel returns the path of a file in a directory, with slashes, from a name that [Backend].Walk found for that
// directory. It is the inverse of Join.
func Rel(dir, name string) string {
	if IsRemote(dir) {
		return strings.TrimPrefix(name, strings.TrimRight(dir, "/")+"/")
	}
	dir, name = filepath.ToSlash(filepath.Clean(dir)), filepath.ToSlash(filepath.Clean(name))
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// Clean returns the canonical name of a directory. In object storage, it ends in one slash.
func Clean(dir string) string {
	if IsRemote(dir) {
		return strings.TrimRight(dir, "/") + "/"
	}
	return filepath.Clean(dir)
}

// TempDir returns the directory for temporary files of an output of that name.
func TempDir(out string) string {
	if IsRemote(out) || atomicfile.InPlace(out) {
		return os.TempDir()
	}
	return filepath.Dir(out)
}

// A Digest counts and hashes bytes while they are written to an output.
type Digest struct {
	w     io.Writer
	hash  *xxh3.Hasher
	bytes int64
}

// NewDigest returns a Digest that writes to w.
func NewDigest(w io.Writer) *Digest { return &Digest{w: w, hash: xxh3.New()} }

// Write writes bytes, and hashes those that were written.
func (d *Digest) Write(b []byte) (int, error) {
	n, err := d.w.Write(b)
	d.hash.Write(b[:n])
	d.bytes += int64(n)
	return n, err
}

// Sum returns the size so far, and the hash (XXH3, 128 bits, as text).
func (d *Digest) Sum() (size int64, hash string) {
	sum := d.hash.Sum128().Bytes()
	return d.bytes, hex.EncodeToString(sum[:])
}

// Sum reads a file to its end, and returns its size in bytes and its hash (XXH3, 128 bits, in hexadecimal). After an
// error, they are those of the part that was read.
func Sum(name string) (size int64, hash string, err error) {
	r, err := Open(name)
	if err != nil {
		return 0, "", err
	}
	d := NewDigest(io.Discard)
	_, err = io.CopyBuffer(struct{ io.Writer }{d}, struct{ io.Reader }{r}, make([]byte, 256<<10))
	if errClose := r.Close(); err == nil {
		err = errClose
	}
	size, hash = d.Sum()
	return size, hash, err
}
