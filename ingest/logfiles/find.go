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

// The faults of names. They come inside a [*NameError].
var (
	ErrNoMatch = errors.New("no file matches the pattern")
	ErrNoLogs  = errors.New("has no file with the name of a log")
	ErrNoList  = errors.New("is not a list of names")

	errEmptyPart  = errors.New("has an empty part, //, which a prefix and a pattern of a store may not have")
	errStdinTwice = errors.New("can be read only once")
)

// A NameError says that a name cannot be used as it was given: its Name, the fault as Err, and
// the advice as Remedy.
type NameError = fault.NameError

// A File is a log.
type File struct {
	Name string // that opens it; "-" for standard input
	Path string // slashes between its parts; it never leads out of where it begins
	Size int64  // as stored; -1 if it can be read only once, or is not there
	Tag  string // names these very bytes, see [storage.Info]
	Err  error  // why it cannot be read, a [*NameError]; nil as far as is known

	archive string     // the zip archive that it is in; "" if it is in none
	id      storage.ID // of the file that holds it
}

// OnDisk returns the name of the file that holds the log: its own, or its archive's.
func (f *File) OnDisk() string { return cmp.Or(f.archive, f.Name) }

// A List holds the logs that names stand for.
type List struct {
	Files []File   // in the order of the names
	Dirs  []string // that were read, patterns' included
	Lists []string // files of names that were read

	// Unread are the first files of directories that are not logs judging by their names, and links to directories. Others
	// is the number of further ones.
	Unread []string
	Others int64

	// Repeats are the first files that are already in Files, under the same name or a different one. Repeated is their
	// total number.
	Repeats  []Repeat
	Repeated int64
}

// shown is how many errors and files are shown, of many.
const shown = 10

// Find finds the logs of names. It reads directories and lists, and opens no log. The error is one
// or more [*NameError], joined, about names that stand for nothing; that a file is not there is an
// error of the [File].
func Find(names []string, stdin io.Reader) (*List, error) {
	f := finder{list: &List{}, stdin: stdin}
	for _, name := range names {
		// Add the logs that a name of the caller stands for.
		list, isList := strings.CutPrefix(name, "@")
		switch {
		case name == fault.Stdin:
			if f.useStdin() {
				f.list.Files = append(f.list.Files, File{Name: name, Path: "stdin", Size: -1})
			}
		case isList:
			f.addList(list)
		default:
			f.addName(name, look(name))
		}
	}
	// Find the files that are there more than once.
	l := f.list
	var order []*File // so that names of the same bytes are beside each other
	for i := range l.Files {
		if l.Files[i].Err == nil {
			order = append(order, &l.Files[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *File) int {
		return cmp.Or(a.id.Compare(b.id), cmp.Compare(a.Size, b.Size), strings.Compare(a.member(), b.member()))
	})
	first := 0
	for i := 1; i < len(order); i++ {
		if a, b := order[first], order[i]; a.id != b.id || a.Size != b.Size || a.member() != b.member() {
			first = i
			continue
		}
		if l.Repeated++; len(l.Repeats) < shown {
			l.Repeats = append(l.Repeats, Repeat{order[first].Name, order[i].Name})
		}
	}
	if n := len(f.errs) - shown; n > 1 {
		f.errs = append(f.errs[:shown], fmt.Errorf("and %d more names are wrong", n))
	}
	return f.list, errors.Join(f.errs...)
}

// Names returns the names of the files.
func (l *List) Names() []string {
	names := make([]string, len(l.Files))
	for i := range l.Files {
		names[i] = l.Files[i].Name
	}
	return names
}

// Err returns the errors of the files, joined; of many, the first ones, and their number.
func (l *List) Err() error {
	var errs []error
	n := 0
	for i := range l.Files {
		if err := l.Files[i].Err; err != nil {
			if n++; n <= shown {
				errs = append(errs, err)
			}
		}
	}
	if n > shown {
		errs = append(errs, fmt.Errorf("and %d more files cannot be read", n-shown))
	}
	return errors.Join(errs...)
}

// A finder finds.
type finder struct {
	list   *List
	stdin  io.Reader
	stdins int // times that standard input is named
	errs   []error
}

// fail notes the fault of a name.
func (f *finder) fail(name string, err error, remedy string) {
	f.errs = append(f.errs, &NameError{Name: name, Err: err, Remedy: remedy})
}

// useStdin reports whether standard input is named for the first time.
func (f *finder) useStdin() bool {
	if f.stdins++; f.stdins == 2 {
		f.fail(fault.Stdin, errStdinTwice, "name - once")
	}
	return f.stdins == 1
}

// addName adds the logs of a name that is neither standard input nor a list.
func (f *finder) addName(name string, at looked) {
	info, err := at.info, at.err
	switch {
	case storage.HasEmptyPart(name) && (err == nil && info.Dir || err != nil && IsPattern(name)):
		f.fail(name, errEmptyPart, "name its objects, in a list for instance, or a prefix without //")
	case err == nil && info.Dir:
		f.addDir(name)
	case err == nil:
		f.list.Files = append(f.list.Files, File{Name: name, Path: pathOf(name), Size: info.Size, Tag: info.Tag, id: info.ID})
	case errors.Is(err, fs.ErrNotExist) && IsPattern(name):
		// Add the logs that a pattern matches.
		base, _ := splitPattern(name)
		matches, err := matches(name)
		if err != nil {
			f.errs = append(f.errs, err)
		}
		if strings.Contains(name, "**") {
			f.list.Dirs = append(f.list.Dirs, storage.Clean(cmp.Or(base, ".")))
		}
		for _, m := range matches {
			m.Path = pathOf(storage.Rel(cmp.Or(base, "."), m.Name)) // of shortened names, with the slashes of the system
			m.Name = unambiguous(m.Name)
			f.list.Files = append(f.list.Files, m)
		}
	default:
		f.list.Files = append(f.list.Files, member(name, err))
	}
}

// looked is the result of a look at a name.
type looked struct {
	info storage.Info
	err  error
}

// look looks at a name. It is looked at again when it is opened.
func look(name string) (l looked) {
	defer storage.Forget(name)
	l.info, l.err = storage.Of(name).Stat(name)
	return l
}

// member returns a file that is in a zip archive, or not there.
func member(name string, err error) File {
	lost := errors.Is(err, fs.ErrNotExist)
	// A name below a file gives another error on Unix, so a million lost names need no more looks.
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

// addDir adds the logs below a directory.
func (f *finder) addDir(dir string) {
	f.list.Dirs = append(f.list.Dirs, storage.Clean(dir))
	first := len(f.list.Files)
	err := storage.Of(dir).Walk(dir, func(name string, info storage.Info) error {
		path := pathOf(storage.Rel(dir, name))
		switch {
		case strings.HasPrefix(path, "_") || strings.Contains(path, "/_"):
		case info.Dir || !IsLog(name):
			if f.list.Others++; len(f.list.Unread) < shown {
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
		f.fail(dir, ErrNoLogs, "name the logs in it, as in "+fault.Display(storage.Join(dir, "*"))+"; files whose names begin with a dot or _ do not count")
	}
}

// unambiguous returns a name that was found, in a form that stands for nothing but the file.
func unambiguous(name string) string {
	if name == fault.Stdin || strings.HasPrefix(name, "@") {
		return "./" + name
	}
	return name
}

// pathOf returns the part of a name that an output keeps: without the part that leads above where it begins.
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

// This file reads lists: one name per line.

// A line is a line of a list that contains a name.
type line struct {
	number int
	name   string
}

// block is the number of names of a list that are checked before the first of them is added: a list may have a million
// names, and each check may take a request, or access a remote disk.
const block = 4096

// addList adds the logs that the lines of a list stand for.
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

// readList returns the text of a list; ok is false if the file is not a list.
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

// addLines adds the logs that some lines of a list stand for.
func (f *finder) addLines(list string, lines []line) {
	// Look at the names of lines, many at once.
	results := make([]looked, len(lines))
	var next atomic.Int64
	var all panics.Group
	for range min(lookers, len(lines)) {
		all.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(lines)); i = next.Add(1) - 1 {
				results[i] = look(lines[i].name)
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
			// Add to the error of a name the oddity of its line: it was not meant as a name, perhaps.
			e, ok := errors.AsType[*NameError](added[0].Err)
			if !ok || !errors.Is(added[0].Err, fs.ErrNotExist) {
				continue
			}
			var odd string
			switch first, last := l.name[0], l.name[len(l.name)-1]; {
			case strings.TrimSpace(l.name) != l.name:
				odd = "has white space around the name, which is taken as a part of it: remove it"
			case first == '#':
				odd = "begins with #, and lists have no comments: remove it"
			case len(l.name) > 1 && first == last && (first == '"' || first == '\''):
				odd = "has quotes around the name, which are taken as a part of it: remove them"
			default:
				continue
			}
			e.Remedy = fmt.Sprintf("line %d of %s %s", l.number, fault.Display(list), odd)
		}
	}
}

// lookers is how many names are looked at at once.
const lookers = 64

// A Repeat is a file that is in a list more than once, by two of its names, which may be the same.
type Repeat struct{ First, Again string }

// member returns what distinguishes inputs with the same file ID: the member of an archive, or the name if there is no
// ID.
func (f *File) member() string {
	switch {
	case f.id == (storage.ID{}):
		return f.Name
	case f.archive == "":
		return ""
	}
	return f.Name[len(f.archive):]
}
