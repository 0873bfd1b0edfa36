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

// Stat describes an object. A name that ends in a slash is a directory, even if it is empty.
func (Objects) Stat(name string) (Info, error) {
	if strings.HasSuffix(name, "/") {
		return Info{Size: -1, Dir: true}, nil
	}
	info, err := s3.Stat(name)
	return objectInfo(info), err
}

// objectInfo converts the Info of an object.
func objectInfo(info s3.Info) Info {
	return Info{Size: info.Size, Tag: info.Tag, Changed: info.Changed}
}

// Walk finds objects in the order of the store. dir needs no final slash.
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

// Info describes the version of the object that was opened.
func (f objectFile) Info() (Info, error) { return objectInfo(f.Object.Info()), nil }

// Write stores an object.
func (Objects) Write(name string, text []byte) error {
	return wrapObject("write", name, s3.Write(name, text))
}

// Remove removes an object.
func (Objects) Remove(name string) error { return wrapObject("remove", name, s3.Remove(name)) }

// Sweep does nothing: parts of an interrupted upload have no name. A lifecycle rule of the bucket can remove them.
func (Objects) Sweep(string, func(name string) bool) error { return nil }

// wrapObject returns err as an error about an output; nil if err is nil.
func wrapObject(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	return &atomicfile.Error{Doing: doing, Name: name, Err: err}
}

// An upload is an object that is being written.
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

// CommitAs drops the object and returns an error: the name of an upload cannot be changed.
func (u upload) CommitAs(func(name string) string) (string, error) {
	return "", errors.Join(u.Wrap("keep a part of", errNoOther), u.Close())
}

var errNoOther = errors.New("an object appears only when it is complete")

// Close aborts the upload.
func (u upload) Close() error { return u.Wrap("drop", u.Upload.Close()) }

// Wrap returns err as an error about the object, unless it already is one.
func (u upload) Wrap(doing string, err error) error {
	if _, ok := err.(*atomicfile.Error); ok { //nolint:errorlint // only if it was returned by Wrap
		return err
	}
	return wrapObject(doing, u.name, err)
}

// Dir returns the system's directory for temporary files.
func (upload) Dir() string { return os.TempDir() }

// Probe returns an error if an object of that name cannot be written.
func Probe(name string) error { return wrapObject("create", name, s3.Probe(name)) }

// Maximum memory, in bytes, of an output in object storage, and of a file opened by OpenRandom.
const (
	OutputMemory = 2 * s3.PartSize
	RandomMemory = s3.BlocksMemory
)

// OpenRandom opens a remote file for random reads of a few bytes. It caches blocks.
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
