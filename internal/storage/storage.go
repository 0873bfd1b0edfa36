// Package storage opens, lists and replaces named files, on the file system or, for names that start with s3://, in
// object storage. [Of] returns the [Backend] for a name; another kind of storage would become another [Backend] there.
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

// An Info holds the facts known about a name without reading its file.
type Info struct {
	Size int64  // of the file in bytes; -1 if it is not a regular file, so that it can be read only once
	Tag  string // identifies the content, such as an ETag; "" if only the bytes do
	Dir  bool   // it is a directory
	ID   ID     // the same by whatever name it is found

	Changed time.Time // last
}

// An ID identifies a file of a file system independent of its names. The zero ID means unknown: then only names can be
// compared.
type ID struct{ device, file uint64 }

// Compare orders IDs.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.device, other.device), cmp.Compare(id.file, other.file))
}

// A File is a file that is open.
type File interface {
	io.ReadCloser
	io.ReaderAt

	// Info returns the facts known of the file that is open.
	Info() (Info, error)
}

// An Output is written sequentially, and gets its name when complete. Commit, CommitAs or Close ends it; Close does
// nothing after another of them. Errors are an [*atomicfile.Error].
type Output interface {
	io.WriteCloser

	// Commit makes sure of the bytes written, and gives the output its name. After an error there is nothing
	// new of that name.
	Commit() error

	// CommitAs is Commit under the name that other returns for the output's, and returns that.
	CommitAs(other func(name string) string) (string, error)

	// Wrap returns an error as one about the output, nil as nil.
	Wrap(doing string, err error) error

	// Dir returns a directory for temporary files.
	Dir() string
}

// A Backend keeps files by name. Its methods may be called from several goroutines.
type Backend interface {
	// Stat returns the facts known of a name. The error is an [io/fs.ErrNotExist] if it leads to
	// nothing.
	Stat(name string) (Info, error)

	// Walk calls found for each file below a directory, with the whole name, until found returns an error, which Walk
	// returns. Names that begin with a dot, and names below them, are omitted. Directories that are links are not
	// entered: they are found, as Dir.
	Walk(dir string, found func(name string, info Info) error) error

	// Open opens a file to be read from its beginning.
	Open(name string) (File, error)

	// Write makes a small file, or replaces it. It appears whole, with the directories that it
	// needs, and is safe from a power failure when Write returns.
	Write(name string, text []byte) error

	// Remove removes a file. One that is not there is removed already.
	Remove(name string) error

	// Sweep removes the files that a killed process has left in a directory of files that it wrote,
	// where ours reports true for the name of the file. It must not be called while another process
	// writes such a file: that fails then.
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

// Error says so, and which places there are.
func (e *ForeignError) Error() string {
	return e.Scheme + " cannot be read: name a file, or s3://; copy or download other files first"
}

// Open opens a file by its name. For a missing file with an unsupported kind of storage, the error is a
// [*ForeignError].
func Open(name string) (File, error) {
	f, err := Of(name).Open(name)
	if scheme := Foreign(name); scheme != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, &ForeignError{scheme}
	}
	return f, err
}

// ReadAll reads a small file. Its errors are [Open]'s, too.
func ReadAll(name string) ([]byte, error) {
	r, err := Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

// IsRemote reports whether a name leads out of the file system. Its target has no links and no
// directories, is written as a whole and from front to back, and may be reached by a network only.
func IsRemote(name string) bool { return s3.Is(name) }

// Foreign returns the scheme of a name that leads to a place which nobody here knows, as "gs://" and
// "https://" do; "" for all others.
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

// HasEmptyPart reports whether a name that leads out of the file system has two slashes one after the other. They are
// part of the name there, and mean nothing in a file system.
func HasEmptyPart(name string) bool {
	return IsRemote(name) && strings.Contains(strings.TrimPrefix(name, s3.Scheme), "//")
}

// ReadRemedy returns the remedy for an error of reading a file that is open: a text that begins with
// a colon, or "" where the error says that itself.
func ReadRemedy(err error) string {
	if _, ok := errors.AsType[*s3.ReadError](err); ok {
		return ""
	}
	return ": check the disk and copy or download the file again"
}

// Left returns the error in err that something is left of an output that was dropped; nil if there is
// none.
func Left(err error) error {
	if left, ok := errors.AsType[*s3.AbortError](err); ok {
		return left
	}
	return nil
}

// IsDown reports whether an error affects a place as a whole: it cannot be reached, or denies access. As far as known,
// its content is unchanged.
func IsDown(err error) bool { return s3.IsDown(err) }

// IsTemporary reports whether an error is one of the network or of a store in trouble, after retries: the same may
// succeed later.
func IsTemporary(err error) bool { return s3.IsTemporary(err) }

// Create begins an output of that name; for "-", stdout is written.
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

// CommitAll commits several outputs. Either all files get their names, or none does. Objects are committed before them,
// one by one, because object storage has no alternative; an error names the complete ones.
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

// errComplete is the error of an object when an output beside it is not complete.
var errComplete = errors.New("it is complete, and the previous one is gone")

// Interrupt ends calls that wait for a place that is not the file system, with a context.Canceled, except calls that
// complete or drop an output. It is for a process that is about to end.
func Interrupt() { s3.Interrupt() }

// Forget lets another version of a file be read: of one that is not in the file system, a process
// otherwise reads the version that it saw first, or an error.
func Forget(name string) {
	if IsRemote(name) {
		s3.Forget(name)
	}
}

// Join returns the name of a file in a directory, by its path with slashes.
func Join(dir, path string) string {
	if IsRemote(dir) {
		return strings.TrimRight(dir, "/") + "/" + path
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// Rel returns the path of a file in a directory, with slashes, by the name that [Backend].Walk found.
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

// Clean returns the name of a directory as short as it can be.
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

// A Digest counts and hashes the bytes written to an output.
type Digest struct {
	w     io.Writer
	hash  *xxh3.Hasher
	bytes int64
}

// NewDigest returns a Digest of the bytes it writes to w.
func NewDigest(w io.Writer) *Digest { return &Digest{w: w, hash: xxh3.New()} }

// Write writes bytes, and takes those in that were written.
func (d *Digest) Write(b []byte) (int, error) {
	n, err := d.w.Write(b)
	d.hash.Write(b[:n])
	d.bytes += int64(n)
	return n, err
}

// Sum returns the size so far, and XXH3 of 128 bits as text.
func (d *Digest) Sum() (size int64, hash string) {
	sum := d.hash.Sum128().Bytes()
	return d.bytes, hex.EncodeToString(sum[:])
}

// Sum reads a file, and returns its size and XXH3 of 128 bits as text.
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
