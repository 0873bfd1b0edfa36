// Package sitemapfiles finds the files of sitemaps, and reads their URLs: of single files, packed or not, of a
// directory, and of an index, whose files it finds beside it by the names in their URLs, as it opens no connection.
// It names their oddities. Package sitemap reads each. Commands import it, and package ingest.
package sitemapfiles

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

// A Problem is a kind of oddity of sitemaps.
type Problem uint8

// The problems.
const (
	Missing Problem = iota // an index names a file that is not beside it
	Unnamed                // files of a directory that no index there names
	Odd                    // a file does not follow the protocol
	BadURL                 // URLs are relative or none, or entries have none
)

// A Note describes a problem: the number of affected files or URLs, and the first one in words.
type Note struct {
	Problem Problem
	Count   int64
	First   []string
}

// shown is the number that are named.
const shown = 3

// Sitemaps are the URLs of some sitemaps.
type Sitemaps struct {
	Set   *sitemap.Set // nil if Options.Most was passed
	Names []string     // of the files that have URLs of pages, in the order they were read
	Read  []string     // all files that were read, with indexes
	URLs  int64        // listed URLs, including duplicates
	Size  int64        // maximum size of the Set in bytes
	Hash  string       // of all URLs as they are written, in their order, in hexadecimal
	Notes []Note       // by Problem
}

// Options say how sitemaps are read.
type Options struct {
	Dialect robots.Dialect // whose normal form URLs get in Set
	Most    int64          // bytes of Set; 0 means no limit
	Window  int64          // the most of a window of zstd; 0 is as usual
}

// Read reads the sitemaps of these names: files, directories and indexes. The error is one or more [*NameError] about
// files that are not sitemaps or cannot be read to the end, or reports more than [sitemap.MostURLs] URLs.
func Read(names []string, opt Options) (*Sitemaps, error) {
	r := newReader(opt)
	defer r.texts.Release()
	for _, name := range names {
		if err := r.addName(name); err != nil {
			return nil, err
		}
	}
	// Read the files that are queued, and those that they name.
	for len(r.queue) > 0 {
		f := r.queue[0]
		r.queue = r.queue[1:]
		if err := r.readFile(f); err != nil {
			return nil, err
		}
	}

	for _, f := range r.loose {
		if f.dir != "" && r.indexes[f.dir] && !r.named[storage.Clean(f.name)] {
			r.note(Unnamed, 1, "%s", fault.Display(f.name))
		}
	}
	out := &r.out
	out.URLs, out.Size = r.builder.Count(), r.builder.Size()
	sum := r.hash.Sum128().Bytes()
	out.Hash = hex.EncodeToString(sum[:])
	out.Notes, out.Set = r.noted(), r.builder.Set()
	return out, nil
}

// A NameError says that a file cannot be used: its Name, the fault as Err, which Unwrap returns, and advice
// about it as Remedy, which may be empty.
type NameError = fault.NameError

// A file is one to read.
type file struct {
	name   string
	dir    string // that was named, where it was found; "" for a file that was named itself or by an index
	parent string // the index that names it
}

// A reader reads sitemaps, one after the other.
type reader struct {
	opt     Options
	texts   unpack.Texts
	total   atomic.Int64
	utf8    unpack.Decoder
	builder *sitemap.Builder
	hash    *xxh3.Hasher

	queue   []file
	seen    map[string]bool // names that were queued
	named   map[string]bool // that an index names
	indexes map[string]bool // directories that were named and have an index
	loose   []file          // files of directories that were read
	out     Sitemaps
	notes   [BadURL + 1]Note
	hosts   map[uint32]int64 // URLs of the current file by origin
}

func newReader(opt Options) *reader {
	r := &reader{opt: opt, builder: sitemap.NewBuilder(opt.Dialect, opt.Most), hash: xxh3.New(), seen: map[string]bool{}, named: map[string]bool{}, indexes: map[string]bool{}}
	r.texts = unpack.NewTexts(nil, 0, opt.Window, &r.total)
	return r
}

// note counts something odd.
func (r *reader) note(p Problem, count int64, format string, args ...any) {
	n := &r.notes[p]
	n.Count += count
	if len(n.First) < shown {
		n.First = append(n.First, fmt.Sprintf(format, args...))
	}
}

// addName queues the files that a name stands for.
func (r *reader) addName(name string) error {
	info, err := storage.Of(name).Stat(name)
	switch {
	case err != nil:
		return fault.OfFile(name, err, "check the name and the permissions")
	case !info.Dir:
		r.enqueue(file{name: name})
		return nil
	}
	before := len(r.queue)
	err = storage.Of(name).Walk(name, func(found string, info storage.Info) error {
		if !info.Dir && isSitemapName(path.Base(strings.ReplaceAll(found, "\\", "/"))) {
			r.enqueue(file{name: found, dir: name})
		}
		return nil
	})
	if err != nil {
		return fault.OfFile(name, err, "check the permissions")
	}
	if len(r.queue) == before {
		return &NameError{Name: name, Err: errors.New("no file in it is a sitemap by its name"), Remedy: "name the files, or let their names end in .xml or .xml.gz, or be such as sitemap.txt"}
	}
	return nil
}

// isSitemapName reports whether a file of a directory may be a sitemap, by its name.
func isSitemapName(base string) bool {
	base = strings.ToLower(base)
	for _, packed := range []string{".gz", ".zst", ".bz2"} {
		base = strings.TrimSuffix(base, packed)
	}
	return strings.HasSuffix(base, ".xml") || strings.HasSuffix(base, ".txt") && strings.Contains(base, "sitemap")
}

// enqueue queues a file, unless it is queued.
func (r *reader) enqueue(f file) {
	key := storage.Clean(f.name)
	if f.parent != "" {
		r.named[key] = true
	}
	if !r.seen[key] {
		r.seen[key] = true
		r.queue = append(r.queue, f)
	}
}

// readFile reads a file.
func (r *reader) readFile(f file) error {
	r.hosts = map[uint32]int64{}
	kind, entries, notes, err := r.each(f.name, func(kind sitemap.Kind, e sitemap.Entry) error {
		if kind == sitemap.Index {
			r.addChild(&f, e)
			return nil
		}
		// Add a URL of a page.
		r.hash.Write(e.URL)
		r.hash.Write([]byte{'\n'})
		origin, err := r.builder.AddURL(e.URL)
		if err != nil {
			r.note(BadURL, 1, "%s: line %d: %q: %v", fault.Display(f.name), e.Line, fault.Short(e.URL), err)
			return nil
		}
		r.hosts[origin]++
		if r.builder.Count() > sitemap.MostURLs {
			return &NameError{Name: f.name, Err: fmt.Errorf("line %d: this is URL %d of all sitemaps, and %[2]d is one too many", e.Line, r.builder.Count()), Remedy: "give the sitemaps of fewer sites at once"}
		}
		return nil
	})
	if err != nil {
		if f.dir != "" && !r.named[storage.Clean(f.name)] && (errors.Is(err, sitemap.ErrRoot) || errors.Is(err, sitemap.ErrNoList)) {
			r.note(Odd, 1, "%s is not read: %v", fault.Display(f.name), errors.Unwrap(err))
			return nil
		}
		return err
	}
	r.out.Read = append(r.out.Read, f.name)
	if kind == sitemap.Index {
		r.indexes[f.dir] = true
		if f.parent != "" {
			r.note(Odd, 1, "%s is an index, and the index %s names it: an index may name only sitemaps", fault.Display(f.name), fault.Display(f.parent))
		}
	} else {
		r.out.Names = append(r.out.Names, f.name)
		r.loose = append(r.loose, f)
	}
	r.look(&f, entries, &notes)
	return nil
}

// each reads a file, and gives its URLs to add.
func (r *reader) each(name string, add func(kind sitemap.Kind, e sitemap.Entry) error) (kind sitemap.Kind, entries int64, notes sitemap.Notes, err error) {
	if err := r.texts.Open(name, nil); err != nil {
		return kind, 0, notes, err
	}
	defer r.texts.Close()
	r.utf8.Reset(r.texts)
	rd := sitemap.NewReader(&r.utf8)
	for {
		e, err := rd.Next()
		if err == io.EOF {
			return rd.Kind(), entries, rd.Notes(), nil
		}
		if err == nil {
			entries++
			err = add(rd.Kind(), e)
		}
		if err != nil {
			if _, ok := errors.AsType[*NameError](err); !ok {
				err = &NameError{Name: name, Err: err, Remedy: Remedy(err)}
			}
			return kind, entries, notes, err
		}
	}
}

// Remedy gives advice for a fault of a sitemap; faults of packed data have said it.
func Remedy(err error) string {
	switch {
	case errors.Is(err, sitemap.ErrHTML):
		return "fetch it again; the server may have sent a page instead"
	case errors.Is(err, sitemap.ErrCutOff):
		return "copy or download it again"
	case errors.Is(err, sitemap.ErrXML), errors.Is(err, sitemap.ErrHuge), errors.Is(err, sitemap.ErrDeep):
		return "crawlers cannot read it either: regenerate it, or remove it"
	}
	return ""
}

// look notes the oddities of a file that was read.
func (r *reader) look(f *file, entries int64, n *sitemap.Notes) {
	name := fault.Display(f.name)
	if entries+n.NoURL > sitemap.MaxURLs {
		r.note(Odd, 1, "%s has %d URLs, and a sitemap %d at most: crawlers may read none", name, entries+n.NoURL, sitemap.MaxURLs)
	}
	if n.Bytes > sitemap.MaxBytes {
		r.note(Odd, 1, "%s has %d bytes, unpacked, and a sitemap %d at most: crawlers may read none", name, n.Bytes, sitemap.MaxBytes)
	}
	switch {
	case n.Space != "":
		r.note(Odd, 1, "%s: the namespace is %q, and not %q", name, n.Space, sitemap.Namespace)
	case n.NoSpace:
		r.note(Odd, 1, "%s has no namespace: it is %q", name, sitemap.Namespace)
	}
	if n.Encoding != "" {
		r.note(Odd, 1, "%s is written in %s, and sitemaps are UTF-8", name, n.Encoding)
	}
	if entries == 0 {
		r.note(Odd, 1, "%s has no URL", name)
	}
	if n.NoURL > 0 {
		r.note(BadURL, n.NoURL, "%s: line %d: an entry without a URL, or with one of more than %d bytes", name, n.FirstLine, sitemap.MaxURL)
	}
	if len(r.hosts) > 1 && !r.builder.Full() {
		// Record that a file has URLs of several origins: crawlers ignore other origins, unless their robots.txt names the
		// file.
		main, most, all := uint32(0), int64(0), int64(0)
		for number, n := range r.hosts {
			if all += n; n > most || n == most && number < main {
				main, most = number, n
			}
		}
		r.note(Odd, 1, "%s has %d of %d URLs that are not of %s, as most are", name, all-most, all, r.builder.Origin(main))
	}
}

// addChild queues the file that an entry of an index names.
func (r *reader) addChild(f *file, e sitemap.Entry) {
	found, ok := Beside(f.name, e.URL)
	if !ok {
		r.note(Missing, 1, "%s: line %d names %s, but there is no such file next to it", fault.Display(f.name), e.Line, fault.Short(e.URL))
		return
	}
	r.enqueue(file{name: found, parent: f.name})
}

// dirOf returns the directory of a file.
func dirOf(name string) string {
	if storage.IsRemote(name) {
		return name[:strings.LastIndexByte(name, '/')+1]
	}
	return filepath.Dir(name)
}

// mostParts is the most directories of a URL that are looked for beside an index.
const mostParts = 8

// Beside returns the file next to an index that corresponds to a URL: with as many of the URL's directories as exist,
// with or without its query, and compressed by gzip or not. ok is false if there is none.
func Beside(index string, rawURL []byte) (name string, ok bool) {
	u, err := url.Parse(string(bytes.TrimSpace(rawURL)))
	if err != nil || u.Path == "" {
		return "", false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00:") {
			return "", false
		}
	}
	parts = parts[max(0, len(parts)-mostParts):]
	dir := dirOf(index)
	for ; len(parts) > 0; parts = parts[1:] {
		base := strings.Join(parts, "/")
		for _, candidate := range candidates(base, u.RawQuery) {
			full := storage.Join(dir, candidate)
			if info, err := storage.Of(full).Stat(full); err == nil && !info.Dir {
				return full, true
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				continue // a name that is too long, for instance
			}
		}
	}
	return "", false
}

// candidates returns the names that a file may have, by the path and the query of its URL.
func candidates(base, query string) (names []string) {
	if query != "" && !strings.ContainsAny(query, "/\\\x00") {
		names = append(names, base+"?"+query, base+"@"+query) // as wget writes it
	}
	if unpacked, packed := strings.CutSuffix(base, ".gz"); packed {
		return append(names, base, unpacked)
	}
	return append(names, base, base+".gz")
}

// noted returns the oddities of the files, by Problem.
func (r *reader) noted() (all []Note) {
	for p, n := range r.notes {
		if n.Count > 0 {
			n.Problem = Problem(p)
			all = append(all, n)
		}
	}
	return all
}

// EachURL gives all URLs of pages to add once more, with the file and the line of each, until add returns an error.
func (s *Sitemaps) EachURL(add func(text []byte, name string, line int64) error) error {
	r := newReader(Options{})
	defer r.texts.Release()
	for _, name := range s.Names {
		_, _, _, err := r.each(name, func(_ sitemap.Kind, e sitemap.Entry) error { return add(e.URL, name, e.Line) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Expand returns the files that a log of the format sitemap stands for: an index's files, and their oddities;
// else, and of one that cannot be read, its own name.
func Expand(name string, window int64) (names []string, notes []Note) {
	r := newReader(Options{Window: window})
	defer r.texts.Release()
	r.enqueue(file{name: name})
	for len(r.queue) > 0 {
		f := r.queue[0]
		r.queue = r.queue[1:]
		kind, _, _, err := r.each(f.name, func(kind sitemap.Kind, e sitemap.Entry) error {
			if kind != sitemap.Index {
				return errStop
			}
			r.addChild(&f, e)
			return nil
		})
		switch {
		case errors.Is(err, errStop), err == nil && kind != sitemap.Index:
			names = append(names, f.name)
		case err != nil && f.parent == "": // whoever reads it says so
			return []string{name}, nil
		case err != nil:
			names = append(names, f.name)
		}
	}
	return names, r.noted()
}

// errStop ends a look at a file that is not an index.
var errStop = errors.New("enough was read")
