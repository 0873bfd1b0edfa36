package storage

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/s3"
)

// Files is the file system.
type Files struct{}

// invalidName is the Windows error for a name that no file can have, such as a pattern. Other systems report that the
// file does not exist.
const invalidName = syscall.Errno(123)

// Stat describes a file, following links. On Windows, a name that no file can have is a missing file.
func (Files) Stat(name string) (Info, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil && runtime.GOOS == "windows" && errors.Is(err, invalidName):
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	case err != nil:
		return Info{}, err
	}
	return infoOf(info), nil
}

// infoOf converts a FileInfo. For a directory only Dir is set, and for other irregular files only Size, to -1.
func infoOf(info fs.FileInfo) Info {
	switch {
	case info.IsDir():
		return Info{Dir: true}
	case !info.Mode().IsRegular():
		return Info{Size: -1}
	}
	return Info{Size: info.Size(), ID: idOf(info), Changed: info.ModTime()}
}

// Walk finds files in lexical order. It omits files that are removed in the meantime. If dir is a link to a directory,
// it follows the link.
func (f Files) Walk(dir string, found func(name string, info Info) error) error {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		dir += string(filepath.Separator) // otherwise WalkDir does not follow the link
	}
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case path == dir:
			return err
		case err != nil:
			return err
		case strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		info, err := f.Stat(path)
		switch {
		case err == nil:
			return found(path, info)
		case e.Type()&fs.ModeSymlink != 0: // a dangling link: opening it will return the error
			return found(path, Info{Size: -1})
		case errors.Is(err, fs.ErrNotExist):
			return nil
		}
		return err
	})
}

// Open opens a file.
func (Files) Open(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

// A file is an open file of the file system.
type file struct{ *os.File }

// Info calls Stat of the open file.
func (f file) Info() (Info, error) {
	info, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

// Write creates the directory, writes a temporary file, and renames it. The error is an [*atomicfile.Error].
func (Files) Write(name string, text []byte) error {
	if err := MakeParent(name); err != nil {
		return err
	}
	f, err := atomicfile.Create(name, nil)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Commit()
}

// Remove removes a file, and syncs its directory. The error is an [*atomicfile.Error].
func (Files) Remove(name string) error {
	err := os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = atomicfile.OS.SyncDir(filepath.Dir(name))
	}
	if err != nil {
		return &atomicfile.Error{Doing: "remove", Name: name, Err: atomicfile.WithoutPath(err)}
	}
	return nil
}

// Sweep removes temporary files; see [Backend]. A missing directory is not an error.
func (f Files) Sweep(dir string, ours func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &atomicfile.Error{Doing: "read the directory", Name: dir, Err: atomicfile.WithoutPath(err)}
	}
	for _, e := range entries {
		name, ok := atomicfile.OfTemp(e.Name())
		if !ok || !e.Type().IsRegular() || !ours(filepath.Join(dir, name)) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &atomicfile.Error{Doing: "remove", Name: filepath.Join(dir, e.Name()), Err: atomicfile.WithoutPath(err)}
		}
	}
	return nil
}

// Move moves a complete file of the file system durably to another name, possibly in object storage. It creates the
// directory. If it cannot write an object, it still removes the original.
func Move(from, to string) error {
	if IsRemote(to) {
		return errors.Join(copyTo(from, to), os.Remove(from))
	}
	if err := MakeParent(to); err != nil {
		return err
	}
	err := os.Rename(from, to)
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(to))
	}
	if err != nil {
		return &atomicfile.Error{Doing: "move a file to", Name: to, Err: atomicfile.WithoutPath(err)}
	}
	return nil
}

// copyTo copies a file to an output, which it commits. After an error, there is no output.
func copyTo(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := Create(to, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Commit()
}

// WithPrefix returns the names of regular files that begin with a prefix; nil if the directory does not exist. In the
// file system, they are all in the directory of the prefix; in object storage, they may also be below it.
func WithPrefix(prefix string) (names []string, err error) {
	if IsRemote(prefix) {
		return names, s3.List(prefix, func(name string, _ s3.Info) error {
			names = append(names, name)
			return nil
		})
	}
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base) && e.Type().IsRegular() {
			names = append(names, dir+e.Name())
		}
	}
	return names, err
}

// MakeParent creates the directory of a file durably, with those above it. It does nothing for a remote name. The error
// is an [*atomicfile.Error].
func MakeParent(name string) error {
	if IsRemote(name) { // object storage has no directories
		return nil
	}
	if err := makeDir(filepath.Dir(name)); err != nil {
		return &atomicfile.Error{Doing: "create the directory of", Name: name, Err: atomicfile.WithoutPath(err)}
	}
	return nil
}

// makeDir creates a directory durably, with those above it. It does nothing if the directory exists; if another kind of
// file has the name, the error is ENOTDIR.
func makeDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return syscall.ENOTDIR
	case err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir):
		return err
	}
	if err := makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) { // another process may have created it
		return err
	}
	return atomicfile.OS.SyncDir(filepath.Dir(dir))
}
