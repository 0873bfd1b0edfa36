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
// [*Error].
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

// A Temp is a file without a name: it is gone when it is closed or the process ends, however it
// ends. Where the system does not remove open files it has a name, which Remove removes.
type Temp struct {
	*os.File
	once  sync.Once
	named bool
}

// CreateTemp creates a file in dir; "" is the usual directory. The pattern is as for
// [os.CreateTemp].
func CreateTemp(dir, pattern string) (*Temp, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &Temp{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Wrap returns an error of writing to the file as an [*Error], with a remedy for a full disk; nil stays nil.
func (f *Temp) Wrap(err error) error { return wrap("write", f.Name(), err) }

// Named reports whether the file has a name, so that something is left of it unless it is removed.
func (f *Temp) Named() bool { return f.named }

// Remove closes the file and removes its name, if it has one. Further calls, and calls of a nil
// Temp, do nothing. Another goroutine may use the file meanwhile; that fails then.
func (f *Temp) Remove() (err error) {
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		f.Close() //nolint:errcheck // nobody reads it any more, and it may be closed already
		if f.named {
			err = os.Remove(f.Name())
		}
	})
	return err
}

// Stdout is the name that means standard output.
const Stdout = "-"

// A target is the name of an output, and the temporary one beside it.
type target struct {
	name string // as asked for
	path string // name, links resolved: the rename replaces it
	temp string // "" if there is none: written in place, renamed or removed
	sys  System
}

// Dir returns the directory of the output; "." for standard output.
func (t *target) Dir() string { return filepath.Dir(t.path) }

// Wrap returns err as an [*Error] about the output, nil as nil, and an error of a method here as it
// is.
func (t *target) Wrap(doing string, err error) error { return wrap(doing, t.name, err) }

// beside returns the i-th hidden name beside the output, with that end.
func (t *target) beside(end string, i int) string {
	dir, base := filepath.Split(t.path)
	return filepath.Join(dir, "."+base+"."+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i)+end)
}

// Leftovers returns the temporary names beside the output of that name which processes have left that
// do not run any more: after SIGKILL or a power failure. Names of processes that run may be theirs,
// and a number may have been given to another process since; so it may return too few.
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

// OfTemp returns the name of the output that a file was to become, by the name of the file without
// its directory; ok is false if it is not a temporary file.
func OfTemp(base string) (name string, ok bool) {
	m := temps.FindStringSubmatch(base)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// temps are the names of temporary files.
var temps = regexp.MustCompile(`(?s)^\.(.+)\.[0-9]+-[0-9]+\.tmp$`)

// maxTemps is the number of temporary names that are tried: others are of outputs of the same name and process.
const maxTemps = 1000

// makeTemp calls create with temporary names until one is free.
func (t *target) makeTemp(create func(temp string) error) error {
	var err error
	for i := range maxTemps {
		t.temp = t.beside(".tmp", i)
		if err = create(t.temp); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		return nil
	}
	t.temp = "" // what has the name is not ours
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoDirectory
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: the directory must be writable, because a temporary file is written there first; write elsewhere, or change its permissions", Cause(err))
	}
	return err
}

// maxLinks is the number of links to links that are followed; more is a circle.
const maxLinks = 40

// Resolve returns the name that a name leads to through symbolic links, which need not exist. For a circle
// it returns the name.
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
