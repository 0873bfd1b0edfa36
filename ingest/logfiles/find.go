package logfiles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/storage"
)

// Faults of names, wrapped in a [*NameError].
var (
	ErrNoMatch = errors.New("no file matches the pattern")
	ErrNoLogs  = errors.New("has no file with the name of a log")
	ErrNoList  = errors.New("is not a list of names")

	errEmptyPart  = errors.New("contains //, which is not allowed in prefixes and patterns of object storage")
	errStdinTwice = errors.New("can be read only once")
)

// A NameError means that a name cannot be used as given. It has the Name, the fault as Err, and advice as Remedy.
type NameError = fault.NameError

// A File is a log.
type File struct {
	Name string // opens it; "-" for standard input
	Path string // relative, with slashes and without leading ".."
	Size int64  // stored bytes; -1 if it is missing, or can be read only once
	Tag  string // identifies the content, see [storage.Info]
	Err  error  // why it cannot be read, a [*NameError]; nil if no reason is known

	archive string     // the zip archive that contains it; "" if there is none
	id      storage.ID // of the file or archive
}

// OnDisk returns the name of the file that stores the log: its own, or that of its archive.
func (f *File) OnDisk() string { return cmp.Or(f.archive, f.Name) }

// A List is the result of [Find].
type List struct {
	Files []File   // in the order of the names
	Dirs  []string // directories that were read, including those of patterns
	Lists []string // lists of names that were read

	// Unread are the first files of directories that are not named like logs, and links to directories. Others is their
	// total number.
	Unread []string
	Others int64

	// Repeats are the first files that are in Files more than once, under the same or a different name, or as a copy.
	// Repeated is their total number.
	Repeats  []Repeat
	Repeated int64
}

// maxShown is the maximum number of errors, Unread and Repeats.
const maxShown = 10

// Find finds the logs for names as in the package doc. It reads directories and lists, and opens only logs that may be
// copies. The error is one or more joined [*NameError], about names without logs. A missing file is an error of the
// [File] instead.
func Find(names []string, stdin io.Reader) (*List, error) {
	f := finder{list: &List{}, stdin: stdin}
	for _, name := range names {
		list, isList := strings.CutPrefix(name, "@")
		switch {
		case name == fault.Stdin:
			if f.useStdin() {
				f.list.Files = append(f.list.Files, File{Name: name, Path: "stdin", Size: -1})
			}
		case isList:
			f.addList(list)
		default:
			f.addName(name, stat(name))
		}
	}
	// Find repeated files.
	l := f.list
	var order []*File // equal files are adjacent
	for i := range l.Files {
		if l.Files[i].Err == nil {
			order = append(order, &l.Files[i])
		}
	}
	shareIDs(slices.Clone(order))
	slices.SortStableFunc(order, func(a, b *File) int {
		return cmp.Or(a.id.Compare(b.id), cmp.Compare(a.Size, b.Size), strings.Compare(a.memberName(), b.memberName()))
	})
	first := 0
	for i := 1; i < len(order); i++ {
		if a, b := order[first], order[i]; a.id != b.id || a.Size != b.Size || a.memberName() != b.memberName() {
			first = i
			continue
		}
		if l.Repeated++; len(l.Repeats) < maxShown {
			l.Repeats = append(l.Repeats, Repeat{order[first].Name, order[i].Name})
		}
	}
	if n := len(f.errs) - maxShown; n > 1 {
		f.errs = append(f.errs[:maxShown], fmt.Errorf("and %d more names with errors", n))
	}
	return f.list, errors.Join(f.errs...)
}

// leastCopied is the minimum size of a copy. Smaller files may be equal by chance.
const leastCopied = 4 << 10

// shareIDs gives files with the same content the same ID, if they have one. It sorts the files, compares each with the
// one before it by size and name, and opens only those of the same size. Files that cannot be read keep their IDs.
func shareIDs(files []*File) {
	slices.SortFunc(files, func(a, b *File) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), strings.Compare(a.Name, b.Name))
	})
	for i := 1; i < len(files); i++ {
		a, b := files[i-1], files[i]
		if a.id == b.id || a.Size != b.Size || a.Size < leastCopied || !bytes.Equal(unpack.Head(a.Name), unpack.Head(b.Name)) {
			continue
		}
		_, sum, err := storage.Sum(a.Name)
		if _, other, _ := storage.Sum(b.Name); err == nil && sum == other {
			b.id = a.id
		}
	}
}

// Names returns the names of the files.
func (l *List) Names() []string {
	names := make([]string, len(l.Files))
	for i := range l.Files {
		names[i] = l.Files[i].Name
	}
	return names
}

// Err returns the joined errors of the files: the first ones, and the number of the others; nil if there are none.
func (l *List) Err() error {
	var errs []error
	n := 0
	for i := range l.Files {
		if err := l.Files[i].Err; err != nil {
			if n++; n <= maxShown {
				errs = append(errs, err)
			}
		}
	}
	if n > maxShown {
		errs = append(errs, fmt.Errorf("and %d more files cannot be read", n-maxShown))
	}
	return errors.Join(errs...)
}

// A finder collects a List.
type finder struct {
	list   *List
	stdin  io.Reader
	stdins int // how often standard input was named
	errs   []error
}

// fail adds an error about a name.
func (f *finder) fail(name string, err error, remedy string) {
	f.errs = append(f.errs, &NameError{Name: name, Err: err, Remedy: remedy})
}

// useStdin reports whether standard input is named for the first time. The second time is an error.
func (f *finder) useStdin() bool {
	if f.stdins++; f.stdins == 2 {
		f.fail(fault.Stdin, errStdinTwice, "name - once")
	}
	return f.stdins == 1
}

// addName adds the logs of a name that is neither standard input nor a list. at is the status of the name. A missing
// file is added with its error.
func (f *finder) addName(name string, at status) {
	info, err := at.info, at.err
	switch {
	case storage.HasEmptyPart(name) && (err == nil && info.Dir || err != nil && IsPattern(name)):
		f.fail(name, errEmptyPart, "name its objects, for example in a list, or a prefix without //")
	case err == nil && info.Dir:
		f.addDir(name)
	case err == nil:
		f.list.Files = append(f.list.Files, File{Name: name, Path: pathOf(name), Size: info.Size, Tag: info.Tag, id: info.ID})
	case errors.Is(err, fs.ErrNotExist) && IsPattern(name):
		base, _ := splitPattern(name)
		matches, err := matchFiles(name)
		if err != nil {
			f.errs = append(f.errs, err)
		}
		if strings.Contains(name, "**") {
			f.list.Dirs = append(f.list.Dirs, storage.Clean(cmp.Or(base, ".")))
		}
		for _, m := range matches {
			m.Path = pathOf(storage.Rel(cmp.Or(base, "."), m.Name)) // base and names may differ in slashes and dots
			m.Name = unambiguous(m.Name)
			f.list.Files = append(f.list.Files, m)
		}
	default:
		f.list.Files = append(f.list.Files, member(name, err))
	}
}

// A status is what a file system says about a name.
type status struct {
	info storage.Info
	err  error
}

// stat returns the status of a name. The place does not cache it, so opening the file gets a new one.
func stat(name string) (s status) {
	defer storage.Forget(name)
	s.info, s.err = storage.Of(name).Stat(name)
	return s
}

// member returns the file for a name that cannot be opened itself: a file in a zip archive or, with its error, a
// missing file. err is why the name cannot be opened.
func member(name string, err error) File {
	lost := errors.Is(err, fs.ErrNotExist)
	// On Unix, a name below an archive has another error, so missing files need no further system calls.
	if !lost || storage.IsRemote(name) || filepath.Separator == '\\' {
		if archive, _, ok := unpack.SplitMember(name); ok {
			if info, err := storage.Of(archive).Stat(archive); err == nil {
				return File{Name: name, Path: pathOf(name), Size: info.Size, Tag: info.Tag, archive: archive, id: info.ID}
			}
		}
	}
	remedy := "check the name and the permissions"
	if lost && storage.IsRemote(name) {
		remedy = "check the name; the name of a directory ends in a slash"
	}
	return File{Name: name, Path: pathOf(name), Size: -1, Err: fault.OfFile(name, err, remedy)}
}

// addDir adds the logs below a directory, by path, and counts all other files. It ignores names that begin with "_".
func (f *finder) addDir(dir string) {
	f.list.Dirs = append(f.list.Dirs, storage.Clean(dir))
	first := len(f.list.Files)
	err := storage.Of(dir).Walk(dir, func(name string, info storage.Info) error {
		path := pathOf(storage.Rel(dir, name))
		switch {
		case strings.HasPrefix(path, "_") || strings.Contains(path, "/_"):
		case info.Dir || !IsLog(name):
			if f.list.Others++; len(f.list.Unread) < maxShown {
				f.list.Unread = append(f.list.Unread, name)
			}
		default:
			f.list.Files = append(f.list.Files, File{Name: unambiguous(name), Path: path, Size: info.Size, Tag: info.Tag, id: info.ID})
		}
		return nil
	})
	if err != nil {
		f.errs = append(f.errs, fault.OfFile(dir, err, "give permission to read all directories in it"))
		return
	}
	found := f.list.Files[first:]
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if len(found) == 0 {
		f.fail(dir, ErrNoLogs, "name the logs in it, as in "+fault.Display(storage.Join(dir, "*"))+"; files whose names begin with a dot or _ are ignored")
	}
}

// unambiguous returns the name of a file in a form that is not standard input or a list.
func unambiguous(name string) string {
	if name == fault.Stdin || strings.HasPrefix(name, "@") {
		return "./" + name
	}
	return name
}

// pathOf returns a name as a relative path with slashes, without a leading "..".
func pathOf(name string) string {
	if storage.IsRemote(name) {
		_, name, _ = strings.Cut(name, "://")
	}
	path := filepath.ToSlash(filepath.Clean(name[len(filepath.VolumeName(name)):]))
	for {
		short := strings.TrimPrefix(strings.TrimPrefix(path, "/"), "../")
		if short == path {
			return path
		}
		path = short
	}
}

// A line is a non-blank line of a list.
type line struct {
	number int
	name   string
}

// block is the number of names of a list whose status is requested in parallel: a list may have a million names, and
// each status may take a request, or access a remote disk.
const block = 4096

// addList adds the logs that a list names, one per line; blank lines are skipped. A list without any log is an error.
func (f *finder) addList(name string) {
	text, ok := f.readList(name)
	if !ok {
		return
	}
	before, faults, n, most := len(f.list.Files), len(f.errs), 0, 1+strings.Count(text, "\n")
	f.list.Files = slices.Grow(f.list.Files, most)
	lines := make([]line, 0, min(block, most))
	for text := range strings.Lines(text) {
		n++
		if text = strings.TrimRight(text, "\r\n"); strings.TrimSpace(text) == "" {
			continue
		}
		if lines = append(lines, line{n, text}); len(lines) == block {
			f.addLines(name, lines)
			lines = lines[:0]
		}
	}
	f.addLines(name, lines)
	if before == len(f.list.Files) && faults == len(f.errs) {
		f.fail(name, ErrNoLogs, "write one name per line into it")
	}
}

// readList returns the text of a list, without a byte order mark; ok is false after an error, which it has added.
func (f *finder) readList(name string) (list string, ok bool) {
	var text []byte
	var err error
	switch {
	case name == "":
		f.fail("@", ErrNoList, "write @ and the name of a file with one name per line")
		return "", false
	case name == fault.Stdin && !f.useStdin():
		return "", false
	case name == fault.Stdin:
		text, err = io.ReadAll(f.stdin)
	default:
		f.list.Lists = append(f.list.Lists, name)
		text, err = storage.ReadAll(name)
	}
	if err != nil {
		f.errs = append(f.errs, fault.OfFile(name, err, "check the name and the permissions of the list"))
		return "", false
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if i := bytes.IndexByte(text, 0); i >= 0 {
		f.fail(name, ErrNoList, fmt.Sprintf("line %d has a NUL byte: save it as UTF-8 with one name per line", 1+bytes.Count(text[:i], []byte("\n"))))
		return "", false
	}
	return string(text), true
}

// addLines adds the logs of at most block lines of a list. It requests the status of all names in parallel, and adds
// them in order. list is the name of the list.
func (f *finder) addLines(list string, lines []line) {
	results := make([]status, len(lines))
	var next atomic.Int64
	var all panics.Group
	for range min(statWorkers, len(lines)) {
		all.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(lines)); i = next.Add(1) - 1 {
				results[i] = stat(lines[i].name)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		panic(err)
	}

	for i, l := range lines {
		if l.name == fault.Stdin || strings.HasPrefix(l.name, "@") {
			f.fail(list, ErrNoList, fmt.Sprintf("line %d names standard input or another list: name a file, as in %s", l.number, fault.Display("./"+l.name)))
			continue
		}
		before := len(f.list.Files)
		f.addName(l.name, results[i])
		if added := f.list.Files[before:]; len(added) == 1 {
			// If the file is missing, an odd line may not have been meant as a name.
			e, ok := errors.AsType[*NameError](added[0].Err)
			if !ok || !errors.Is(added[0].Err, fs.ErrNotExist) {
				continue
			}
			var odd string
			switch first, last := l.name[0], l.name[len(l.name)-1]; {
			case strings.TrimSpace(l.name) != l.name:
				odd = "has white space around the name, which counts as part of it: remove it"
			case first == '#':
				odd = "begins with #, and lists have no comments: remove it"
			case len(l.name) > 1 && first == last && (first == '"' || first == '\''):
				odd = "has quotes around the name, which count as part of it: remove them"
			default:
				continue
			}
			e.Remedy = fmt.Sprintf("line %d of %s %s", l.number, fault.Display(list), odd)
		}
	}
}

// statWorkers is the number of names whose status is requested at once.
const statWorkers = 64

// A Repeat is a file that is in a List twice, with both names, which may be equal.
type Repeat struct{ First, Again string }

// memberName returns what distinguishes inputs with the same file ID: the member of an archive, "" for a whole file, or
// the name if there is no ID.
func (f *File) memberName() string {
	switch {
	case f.id == (storage.ID{}):
		return f.Name
	case f.archive == "":
		return ""
	}
	return f.Name[len(f.archive):]
}
