package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A File is an output that takes its final name when it is complete. Commit, CommitAs or Close ends it; Close does
// nothing after the others, so it can be deferred. Only ReadAt is safe for concurrent use.
type File struct {
	target
	w    io.Writer // standard output, or file
	file *os.File  // nil once closed, or for standard output
}

// Create begins the named output. For "-", it writes to stdout, or to os.Stdout if stdout is nil. The error is an
// [*Error]. The caller must end the File, see there.
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

// CreateRegular is Create for an output that is not written sequentially. If the target is not a regular file, the
// cause of the error is [ErrNotRegular].
func CreateRegular(name string) (*File, error) {
	if InPlace(name) {
		return nil, wrapError("create", name, ErrNotRegular)
	}
	return Create(name, nil)
}

// InPlace reports whether an output of that name is written directly, without a temporary file: standard output, a
// descriptor of the process, or an existing name that is neither a regular file nor a directory.
func InPlace(name string) bool {
	if name == Stdout || Descriptor(name) >= 0 {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// open opens the file to write: a temporary file, or the output itself if it is a descriptor or not a regular file. A
// temporary file gets the permissions of the file that it replaces.
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
	if err == nil && replaces { // keep the permissions of the old file, regardless of the umask
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

// Commit syncs the output, renames it to its final name, and syncs the name. After an error, an [*Error], nothing is
// left of the output, and an existing file of that name is unchanged, unless the error says that the output is
// complete.
func (f *File) Commit() error { return f.commitTo(f.path) }

// CommitAs is like Commit, but uses and returns the name that other returns for the final name. An output that is
// written in place keeps its name.
func (f *File) CommitAs(other func(name string) string) (string, error) {
	if f.temp == "" {
		return f.name, f.Commit()
	}
	return other(f.name), f.commitTo(other(f.path))
}

// commitTo is Commit for another path. An output that is written in place keeps its name.
func (f *File) commitTo(path string) error {
	if err := f.finish(); err != nil || f.temp == "" {
		return err
	}
	if err := f.rename(path); err != nil {
		return err
	}
	return f.syncParent(path)
}

// finish syncs and closes the output, which keeps its temporary name. After an error, nothing is left of it. Standard
// output is neither synced nor closed.
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

// rename renames the temporary file to path. After an error, nothing is left of it. The error is ErrTaken if the
// temporary file is gone.
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

// Close drops the output, unless it was committed. An existing file with the final name is unchanged. Further calls do
// nothing. Bytes that were written in place remain.
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

// A Temp is a temporary file without a name, which disappears when it is closed or when the process ends for any
// reason. On systems that cannot remove open files, it has a name, which Remove removes.
type Temp struct {
	*os.File
	once  sync.Once
	named bool
}

// CreateTemp creates a file. The arguments are those of [os.CreateTemp].
func CreateTemp(dir, pattern string) (*Temp, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &Temp{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Wrap returns an error of writing to the file as an [*Error], with a remedy for a full disk; nil stays nil.
func (f *Temp) Wrap(err error) error { return wrapError("write", f.Name(), err) }

// Named reports whether the file has a name, so that it stays after a crash.
func (f *Temp) Named() bool { return f.named }

// Remove closes and removes the file. Further calls do nothing, and so does a call with a nil Temp. Concurrent reads
// and writes of the file fail.
func (f *Temp) Remove() (err error) {
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		f.Close() //nolint:errcheck // the file is no longer read, and may already be closed
		if f.named {
			err = os.Remove(f.Name())
		}
	})
	return err
}

// Stdout is the name that means standard output.
const Stdout = "-"

// A target has the names of an output.
type target struct {
	name string // as given by the user
	path string // name with links resolved; the rename replaces it
	temp string // temporary name; "" if there is none, because the output is written in place, renamed or removed
	sys  System
}

// Dir returns the directory of the output; "." for standard output.
func (t *target) Dir() string { return filepath.Dir(t.path) }

// Wrap returns err as an [*Error] about the output. It returns nil, and errors of this package, unchanged.
func (t *target) Wrap(doing string, err error) error { return wrapError(doing, t.name, err) }

// hiddenName returns the i-th hidden name of this process in the directory of the output. end is its extension, with
// the dot.
func (t *target) hiddenName(end string, i int) string {
	dir, base := filepath.Split(t.path)
	return filepath.Join(dir, "."+base+"."+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i)+end)
}

// Leftovers returns the temporary files of the output that were left behind by processes that are no longer running,
// after SIGKILL or a power failure; nil if there are none, or for an output that is written in place. It may miss some,
// because another process may have the same number now.
func Leftovers(name string) []string {
	if InPlace(name) {
		return nil
	}
	dir, base := filepath.Split(Resolve(filepath.Clean(name)))
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	var left []string
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), "."+base+".")
		process, rest, found := strings.Cut(rest, "-")
		number, temp := strings.CutSuffix(rest, ".tmp")
		if !temp {
			number, temp = strings.CutSuffix(rest, ".old")
		}
		pid, err := strconv.Atoi(process)
		if _, errNumber := strconv.Atoi(number); ok && found && temp && err == nil && errNumber == nil && pid > 0 && !isRunning(pid) {
			left = append(left, filepath.Join(dir, entry.Name()))
		}
	}
	return left
}

// OfTemp returns the name of the output, without directory, that belongs to a temporary file; ok is false if base, a
// file name without directory, is not that of a temporary file.
func OfTemp(base string) (name string, ok bool) {
	m := temps.FindStringSubmatch(base)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// temps matches the names of temporary files.
var temps = regexp.MustCompile(`(?s)^\.(.+)\.[0-9]+-[0-9]+\.tmp$`)

// maxTemps is the maximum number of simultaneous outputs of one process with the same name.
const maxTemps = 1000

// makeTemp calls create with temporary names until one is free, and sets temp to that name. create must return an
// fs.ErrExist if the name is taken. After an error, temp is "".
func (t *target) makeTemp(create func(temp string) error) error {
	var err error
	for i := range maxTemps {
		t.temp = t.hiddenName(".tmp", i)
		if err = create(t.temp); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		return nil
	}
	t.temp = "" // the file of this name belongs to another output
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoDirectory
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: the directory must be writable, because a temporary file is written there first; write elsewhere, or change its permissions", WithoutPath(err))
	}
	return err
}

// maxLinks is the maximum number of nested links; more are treated as a cycle.
const maxLinks = 40

// Resolve follows symbolic links in the directory and the name. The target need not exist. Resolve returns the name
// itself if its links form a cycle, and the name as far as it could be resolved if a directory does not exist.
func Resolve(name string) string {
	path := name
	for range maxLinks {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		dir, base := filepath.Split(path) // not Dir, which removes the .. after a possible link
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
			path = dir + string(filepath.Separator) + target // uncleaned: the parent of a link's target is not the link's
		}
	}
	return name
}
