package storage

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/s3"
)

// Objects is object storage. A directory is a name prefix that ends in a slash.
type Objects struct{}

// Stat asks for an object. A name that ends in a slash is a directory, whether it is empty or not.
func (Objects) Stat(name string) (Info, error) {
	if strings.HasSuffix(name, "/") {
		return Info{Size: -1, Dir: true}, nil
	}
	info, err := s3.Stat(name)
	return objectInfo(info), err
}

func objectInfo(info s3.Info) Info {
	return Info{Size: info.Size, Tag: info.Tag, Changed: info.Changed}
}

// Walk lists objects.
func (Objects) Walk(dir string, found func(name string, info Info) error) error {
	dir = Clean(dir)
	return s3.List(dir, func(name string, info s3.Info) error {
		if path := name[len(dir):]; strings.HasPrefix(path, ".") || strings.Contains(path, "/.") {
			return nil
		}
		return found(name, objectInfo(info))
	})
}

// Open opens an object.
func (Objects) Open(name string) (File, error) {
	o, err := s3.Open(name)
	if err != nil {
		return nil, err
	}
	return objectFile{o}, nil
}

// An objectFile is an open object.
type objectFile struct{ *s3.Object }

// Info returns the facts known since it was opened.
func (f objectFile) Info() (Info, error) { return objectInfo(f.Object.Info()), nil }

// Write stores an object.
func (Objects) Write(name string, text []byte) error {
	return wrapObject("write", name, s3.Write(name, text))
}

// Remove removes an object.
func (Objects) Remove(name string) error { return wrapObject("remove", name, s3.Remove(name)) }

// Sweep does nothing: parts of an interrupted upload have no name. A rule of the bucket removes them.
func (Objects) Sweep(string, func(name string) bool) error { return nil }

// wrapObject returns an error as one about an object that is written.
func wrapObject(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	return &atomicfile.Error{Doing: doing, Name: name, Err: err}
}

// An upload is an object that is written.
type upload struct {
	*s3.Upload
	name string
}

// Write adds bytes.
func (u upload) Write(b []byte) (int, error) {
	n, err := u.Upload.Write(b)
	return n, u.Wrap("write", err)
}

// Commit completes the object.
func (u upload) Commit() error { return u.Wrap("finish", u.Upload.Commit()) }

// CommitAs drops the object: an upload has its name from the start, and no other.
func (u upload) CommitAs(func(name string) string) (string, error) {
	return "", errors.Join(u.Wrap("keep a part of", errNoOther), u.Close())
}

var errNoOther = errors.New("an object appears only when it is complete")

// Close aborts the upload.
func (u upload) Close() error { return u.Wrap("drop", u.Upload.Close()) }

// Wrap returns an error about the object.
func (u upload) Wrap(doing string, err error) error {
	if _, ok := err.(*atomicfile.Error); ok { //nolint:errorlint // as it came from here
		return err
	}
	return wrapObject(doing, u.name, err)
}

// Dir returns the directory of the system for temporary files.
func (upload) Dir() string { return os.TempDir() }

// Probe finds out whether an object of that name can be written.
func Probe(name string) error { return wrapObject("create", name, s3.Probe(name)) }

// Memory of things outside the file system, at its most: of an output, and of a file of OpenRandom.
const (
	OutputMemory = 2 * s3.PartSize
	RandomMemory = s3.BlocksMemory
)

// OpenRandom opens a remote file to be read at random, a few bytes at a time.
func OpenRandom(name string) (file interface {
	io.ReaderAt
	io.Closer
}, size int64, err error,
) {
	b, err := s3.OpenBlocks(name)
	if err != nil {
		return nil, 0, err
	}
	return b, b.Info().Size, nil
}
