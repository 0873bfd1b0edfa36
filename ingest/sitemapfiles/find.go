// Package sitemapfiles finds sitemap files, and reads their URLs and oddities. It reads single files, packed or not,
// the files of a directory, and indexes. As it makes no network connections, it expects the sitemaps of an index next
// to it, named as in their URLs. Package sitemap reads each file. Commands and package ingest import this package.
package sitemapfiles

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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

// A Problem is a kind of oddity in sitemaps.
type Problem uint8

// The problems.
const (
	Missing Problem = iota // an index names a file that is not next to it
	Unnamed                // a file of a directory is not named by its index
	Odd                    // a file does not follow the protocol
	BadURL                 // a URL is relative, invalid or missing
)

// A Note describes a problem: the number of affected files or URLs, and texts about the first ones.
type Note struct {
	Problem Problem
	Count   int64
	First   []string
}

// maxShown is the maximum length of Note.First.
const maxShown = 3

// Sitemaps are the URLs of some sitemaps.
type Sitemaps struct {
	Set   *sitemap.Set // nil if Options.Most was exceeded
	Names []string     // the sitemaps, without indexes, in the order they were read
	Read  []string     // all files, in the order they were read
	URLs  int64        // listed URLs, including duplicates
	Size  int64        // maximum size of the Set in bytes
	Hash  string       // of all URLs as written, in order, in hexadecimal
	Notes []Note       // by Problem
}

// Options control how sitemaps are read.
type Options struct {
	Dialect robots.Dialect // determines how Set normalises URLs
	Most    int64          // maximum size of Set in bytes; 0 means no limit
	Window  int64          // maximum zstd window in bytes; 0 means 128 MiB
}

// Read reads sitemaps, whose names may be files, directories and indexes. The error is one or more [*NameError] about
// files that are not sitemaps or cannot be read to the end, or reports more than [sitemap.MostURLs] URLs.
func Read(names []string, opt Options) (*Sitemaps, error) {
	r := newReader(opt)
	defer r.texts.Release()
	for _, name := range names {
		if err := r.addName(name); err != nil {
			return nil, err
		}
	}
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
	out.Notes, out.Set = r.allNotes(), r.builder.Set()
	return out, nil
}

// A NameError means that a file cannot be used. It has the Name, the fault as Err, which Unwrap returns, and advice as
// Remedy, which may be empty.
type NameError = fault.NameError

// A file is a sitemap or an index.
type file struct {
	name   string
	dir    string // the caller's directory in which it was found; "" if the caller or an index named the file
	parent string // the index that named it; "" if there is none
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
	seen    map[string]bool // files that were queued
	named   map[string]bool // files that an index names
	indexes map[string]bool // the caller's directories with an index
	loose   []file          // sitemaps, which may lack in the index of their directory
	out     Sitemaps
	notes   [BadURL + 1]Note
	hosts   map[uint32]int64 // URLs of the current file by origin
}

func newReader(opt Options) *reader {
	r := &reader{opt: opt, builder: sitemap.NewBuilder(opt.Dialect, opt.Most), hash: xxh3.New(), seen: map[string]bool{}, named: map[string]bool{}, indexes: map[string]bool{}}
	r.texts = unpack.NewTexts(nil, 0, opt.Window, &r.total)
	return r
}

// note adds count to a problem, and adds a text to its note if there are few texts.
func (r *reader) note(p Problem, count int64, format string, args ...any) {
	n := &r.notes[p]
	n.Count += count
	if len(n.First) < maxShown {
		n.First = append(n.First, fmt.Sprintf(format, args...))
	}
}

// addName queues a file, or the files of a directory that are named like sitemaps. The error is a [*NameError].
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
		base := strings.ToLower(path.Base(strings.ReplaceAll(found, "\\", "/")))
		for _, packed := range []string{".gz", ".zst", ".bz2"} {
			base = strings.TrimSuffix(base, packed)
		}
		if !info.Dir && (strings.HasSuffix(base, ".xml") || strings.HasSuffix(base, ".txt") && strings.Contains(base, "sitemap")) {
			r.enqueue(file{name: found, dir: name})
		}
		return nil
	})
	if err != nil {
		return fault.OfFile(name, err, "check the permissions")
	}
	if len(r.queue) == before {
		return &NameError{Name: name, Err: errors.New("contains no file that is named like a sitemap"), Remedy: "name the files, or rename them to end in .xml or .xml.gz, or like sitemap.txt"}
	}
	return nil
}

// enqueue queues a file, unless it was queued before. If an index names it, that is recorded in any case.
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

// readFile reads a file. It queues the files of an index, adds the URLs of a sitemap, and notes oddities. A file that
// was only found in a directory, and is not a sitemap, is an oddity instead of an error.
func (r *reader) readFile(f file) error {
	r.hosts = map[uint32]int64{}
	kind, entries, notes, err := r.eachEntry(f.name, func(kind sitemap.Kind, e sitemap.Entry) error {
		if kind == sitemap.Index {
			r.addChild(&f, e)
			return nil
		}
		r.hash.Write(e.URL)
		r.hash.Write([]byte{'\n'})
		origin, err := r.builder.AddURL(e.URL)
		if err != nil {
			r.note(BadURL, 1, "%s: line %d: %q: %v", fault.Display(f.name), e.Line, fault.Short(e.URL), err)
			return nil
		}
		r.hosts[origin]++
		if r.builder.Count() > sitemap.MostURLs {
			return &NameError{Name: f.name, Err: fmt.Errorf("line %d: this is URL %d of all sitemaps, one more than the limit", e.Line, r.builder.Count()), Remedy: "name the sitemaps of fewer sites"}
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
			r.note(Odd, 1, "%s is an index that is listed in the index %s: an index may list only sitemaps", fault.Display(f.name), fault.Display(f.parent))
		}
	} else {
		r.out.Names = append(r.out.Names, f.name)
		r.loose = append(r.loose, f)
	}
	r.noteOddities(&f, entries, &notes)
	return nil
}

// eachEntry reads a file and calls add for each entry, until add returns an error. entries is the number of these
// calls. The error is that of add or of reading, as a [*NameError].
func (r *reader) eachEntry(name string, add func(kind sitemap.Kind, e sitemap.Entry) error) (kind sitemap.Kind, entries int64, notes sitemap.Notes, err error) {
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

// Remedy returns advice for a fault of a sitemap, or "". Faults of packed data already have advice.
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

// noteOddities notes the oddities of a file after it was read. entries is the number of its entries with a URL, and n
// has the notes of its reader. r.hosts must have its URLs by origin.
func (r *reader) noteOddities(f *file, entries int64, n *sitemap.Notes) {
	name := fault.Display(f.name)
	if entries+n.NoURL > sitemap.MaxURLs {
		r.note(Odd, 1, "%s has %d URLs; the limit of a sitemap is %d: crawlers may ignore all of them", name, entries+n.NoURL, sitemap.MaxURLs)
	}
	if n.Bytes > sitemap.MaxBytes {
		r.note(Odd, 1, "%s has %d bytes (unpacked); the limit of a sitemap is %d: crawlers may ignore it", name, n.Bytes, sitemap.MaxBytes)
	}
	switch {
	case n.Space != "":
		r.note(Odd, 1, "%s: the namespace is %q instead of %q", name, n.Space, sitemap.Namespace)
	case n.NoSpace:
		r.note(Odd, 1, "%s has no namespace; it should be %q", name, sitemap.Namespace)
	}
	if n.Encoding != "" {
		r.note(Odd, 1, "%s is encoded in %s, but sitemaps must be UTF-8", name, n.Encoding)
	}
	if entries == 0 {
		r.note(Odd, 1, "%s has no URL", name)
	}
	if n.NoURL > 0 {
		r.note(BadURL, n.NoURL, "%s: line %d: the entry has no URL, or a URL of more than %d bytes", name, n.FirstLine, sitemap.MaxURL)
	}
	if len(r.hosts) > 1 && !r.builder.Full() {
		// Crawlers ignore URLs of other origins, unless their robots.txt names the file.
		main, most, all := uint32(0), int64(0), int64(0)
		for number, n := range r.hosts {
			if all += n; n > most || n == most && number < main {
				main, most = number, n
			}
		}
		r.note(Odd, 1, "%s: %d of %d URLs do not belong to %s, the origin of most", name, all-most, all, r.builder.Origin(main))
	}
}

// addChild queues the file that an entry of the index f names, or notes that there is no such file.
func (r *reader) addChild(f *file, e sitemap.Entry) {
	found, ok := Beside(f.name, e.URL)
	if !ok {
		r.note(Missing, 1, "%s: line %d names %s, but there is no such file next to it", fault.Display(f.name), e.Line, fault.Short(e.URL))
		return
	}
	r.enqueue(file{name: found, parent: f.name})
}

// maxParts is the maximum number of parts of a URL's path that Beside uses.
const maxParts = 8

// Beside returns the file next to an index that corresponds to a URL: with as many of the URL's directories as exist,
// with or without its query, and compressed by gzip or not. ok is false if there is none, or if the URL is not usable
// as a name.
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
	parts = parts[max(0, len(parts)-maxParts):]
	dir := filepath.Dir(index)
	if storage.IsRemote(index) {
		dir = index[:strings.LastIndexByte(index, '/')+1]
	}
	for ; len(parts) > 0; parts = parts[1:] {
		base := strings.Join(parts, "/")
		var candidates []string
		if query := u.RawQuery; query != "" && !strings.ContainsAny(query, "/\\\x00") {
			candidates = append(candidates, base+"?"+query, base+"@"+query) // wget writes either
		}
		candidates = append(candidates, base)
		if unpacked, isPacked := strings.CutSuffix(base, ".gz"); isPacked {
			candidates = append(candidates, unpacked)
		} else {
			candidates = append(candidates, base+".gz")
		}
		for _, candidate := range candidates {
			full := storage.Join(dir, candidate)
			if info, err := storage.Of(full).Stat(full); err == nil && !info.Dir {
				return full, true
			}
		}
	}
	return "", false
}

// allNotes returns the notes, by Problem.
func (r *reader) allNotes() (all []Note) {
	for p, n := range r.notes {
		if n.Count > 0 {
			n.Problem = Problem(p)
			all = append(all, n)
		}
	}
	return all
}

// EachURL reads the sitemaps again, and calls add for each URL, with its file and line, until add returns an error.
func (s *Sitemaps) EachURL(add func(text []byte, name string, line int64) error) error {
	r := newReader(Options{})
	defer r.texts.Release()
	for _, name := range s.Names {
		_, _, _, err := r.eachEntry(name, func(_ sitemap.Kind, e sitemap.Entry) error { return add(e.URL, name, e.Line) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Expand returns the sitemaps of an index, and the notes about it. For other files, and for unreadable ones, it returns
// name. window is the maximum zstd window in bytes; 0 means 128 MiB.
func Expand(name string, window int64) (names []string, notes []Note) {
	r := newReader(Options{Window: window})
	defer r.texts.Release()
	r.enqueue(file{name: name})
	for len(r.queue) > 0 {
		f := r.queue[0]
		r.queue = r.queue[1:]
		kind, _, _, err := r.eachEntry(f.name, func(kind sitemap.Kind, e sitemap.Entry) error {
			if kind != sitemap.Index {
				return errStop
			}
			r.addChild(&f, e)
			return nil
		})
		switch {
		case errors.Is(err, errStop), err == nil && kind != sitemap.Index:
			names = append(names, f.name)
		case err != nil && f.parent == "": // reading it returns the error
			return []string{name}, nil
		case err != nil:
			names = append(names, f.name)
		}
	}
	return names, r.allNotes()
}

// errStop ends reading a file that is not an index.
var errStop = errors.New("enough was read")
