package rulefiles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
)

// MaxBody is the number of bytes of a robots.txt that are read: the parser's limit plus one byte, to detect longer
// files.
const MaxBody = robots.MaxBytes + 1

// Files are the robots.txt files and capture files that [Find] found. They are safe for concurrent use.
type Files struct {
	files   []ruleFile // each with the origins that assign gave it
	pack    string     // the name of a rule pack instead of files; "" if there is none
	skipped []string
	left    []string // the skipped files with the name of a robots.txt
	single  bool     // the only file is a robots.txt that the caller named
	wide    bool     // which may be UTF-16

	done  atomic.Int64 // bytes of captures that the last use of Responses has read
	once  sync.Once
	total int64 // bytes of all captures, once computed; -1 if unknown

	// AcceptDamage makes Responses use damaged capture files up to the fault. Otherwise Responses ends in a
	// [*DamageError] for them. Set it before the first use.
	AcceptDamage bool

	mu       sync.Mutex
	odd      robots.Oddity // of the single robots.txt when it was last read
	problems Problems      // of the last completed use of Responses
	damages  []*Damage
}

// Find finds robots.txt files. path is a directory as described in the package doc, a capture file according to its
// name, a rule pack, or, if origin is not empty, the robots.txt of that origin. Find only reads names, except that it
// checks the content of a single robots.txt. A regular file under /dev/fd/ has no name of its own: without an origin,
// it is treated as captures in JSON Lines.
//
// Symbolic links that stay inside the directory are followed. Two files that are equally specific for one origin are a
// [*ConflictError], unless one is a link to the other. Directories that cannot be read are an [*UnreadableError]. Other
// faults of path or origin are a [*NameError]. All conflicts and unreadable directories are reported at once, joined.
func Find(path, origin string) (*Files, error) { return findRules(path, origin, false) }

// FindToInspect is Find for callers that report faults of files: a single robots.txt in UTF-16 is not an error, because
// [robots.Inspect] has a diagnostic for it.
func FindToInspect(path, origin string) (*Files, error) { return findRules(path, origin, true) }

// findRules is like Find. wide says whether a single robots.txt may be UTF-16.
func findRules(path, origin string, wide bool) (*Files, error) {
	info, err := storage.Of(path).Stat(path)
	switch {
	case err != nil && strings.HasSuffix(path, packSuffix):
		return nil, fault.OfFile(path, err, "check the name, or make the pack with robobatch compile")
	case err != nil:
		return nil, fault.OfFile(path, err, "name a directory of robots.txt files, one robots.txt and its origin, or a pack of robobatch compile")
	case !info.Dir:
		return findFile(path, info, origin, wide)
	case origin != "":
		return nil, &NameError{Name: path, Err: ErrOriginDir}
	}
	w, err := walk(path)
	if err != nil {
		return nil, err
	}
	var errs []error
	if len(w.errs) > 0 {
		errs = append(errs, &UnreadableError{Errs: w.errs})
	}
	files, conflicts := assignOrigins(w.files)
	if errs = append(errs, conflicts...); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if len(files) > 0 {
		return &Files{files: files, skipped: w.skipped, left: w.left}, nil
	}
	remedy := "name the files like https_example.com.txt, example.com.txt or example.com/robots.txt"
	if top := filepath.Join(path, "robots.txt"); slices.Contains(w.skipped, fault.Display(top)+": "+errNoHostDir.Error()) {
		remedy += ", or name " + fault.Display(top) + " itself, with its site"
	}
	if len(w.packs) > 0 {
		remedy = "name the pack itself: " + fault.Display(w.packs[0])
	}
	err = ErrNoRules
	if len(w.skipped) > 0 { // name the first, those called robots.txt first
		const most, robotsTxt = 3, "/robots.txt: "
		skipped := slices.SortedStableFunc(slices.Values(w.skipped), func(a, b string) int {
			return cmp.Compare(strings.Count("/"+b, robotsTxt), strings.Count("/"+a, robotsTxt))
		})
		more := ""
		if len(skipped) > most {
			more = fmt.Sprintf(" and %d more", len(skipped)-most)
			skipped = skipped[:most]
		}
		err = fmt.Errorf("%w (not used: %s%s)", ErrNoRules, strings.Join(skipped, "; "), more)
	}
	return nil, &NameError{Name: path, Err: err, Remedy: remedy}
}

// findFile is like findRules, for a path that is not a directory. info is its status.
func findFile(path string, info storage.Info, origin string, wide bool) (*Files, error) {
	hasPackName, content := strings.HasSuffix(path, packSuffix), unpack.Named(filepath.Base(path))
	if origin == "" && strings.HasPrefix(path, "/dev/fd/") && info.Size >= 0 {
		content = unpack.JSONL
	}
	fail := func(name string, err error, remedy string) (*Files, error) {
		return nil, &NameError{Name: name, Err: err, Remedy: remedy}
	}
	if hasPackName && origin == "" {
		return &Files{pack: path}, nil
	}
	if !hasPackName && info.Size >= 0 {
		if file, err := storage.Of(path).Open(path); err == nil { // otherwise reading it returns the error
			isPack := pack.Is(file)
			if file.Close(); isPack {
				return fail(path, errPackName, "rename it to end in "+packSuffix)
			}
		}
	}
	if origin != "" && (hasPackName || content != unpack.Text) {
		return fail(path, ErrOriginFile, "")
	}
	if content != unpack.Text {
		if info.Size < 0 { // captures need random access
			return fail(path, capture.ErrNotRegular, "copy it to a file first")
		}
		return &Files{files: []ruleFile{{name: path, path: path, claim: claim{content: content}}}}, nil
	}
	file := ruleFile{name: path, path: path}
	if info.Size < 0 {
		file.pipe = new(pipe)
	} else if r, err := file.readContent(); err == nil { // the error is the same for any origin
		if _, err = checkText(path, r.Body, wide); err != nil {
			return nil, err
		}
	}
	if origin == "" {
		return fail(path, ErrNoOrigin, "")
	}
	o, err := robots.ParseOrigin(origin)
	if err != nil {
		if oe, ok := errors.AsType[*robots.OriginError](err); ok {
			err = oe.Err
		}
		return fail(origin, fmt.Errorf("%w: %w", errOrigin, err), "write it like https://www.example.com")
	}
	file.claim = claim{origins: []robots.Origin{o}, exact: true}
	return &Files{files: []ruleFile{file}, single: true, wide: wide}, nil
}

// NameOf returns the name of the robots.txt file of an origin; "" if there is none, as for captures and packs.
func (r *Files) NameOf(origin robots.Origin) string {
	for i := range r.files {
		if file := &r.files[i]; file.content == unpack.Text && slices.Contains(file.origins, origin) {
			return file.name
		}
	}
	return ""
}

// Single returns the name of the only robots.txt; "" if there are several files, captures or a pack.
func (r *Files) Single() string {
	if len(r.files) == 1 && r.files[0].content == unpack.Text {
		return r.files[0].name
	}
	return ""
}

// Odd returns the oddities of a single robots.txt, after it was read. For directories and captures it is
// [robots.NotOdd]: the compiler of these files determines them.
func (r *Files) Odd() robots.Oddity {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.odd
}

// packSuffix is the end of the name of a rule pack.
const packSuffix = ".rbp"

// assignOrigins leaves each origin only in the most specific file that names it, and changes the origins of files in
// place. It returns the files that still have origins, and each capture file once. Two different files that are equally
// specific for an origin are a conflict; two links to one file are not.
func assignOrigins(files []ruleFile) (assigned []ruleFile, conflicts []error) {
	type key struct {
		origin robots.Origin
		exact  bool
	}
	owners := make(map[key]int, len(files))
	for i, f := range files {
		for _, o := range f.origins {
			k := key{o, f.exact}
			owner, taken := owners[k]
			switch {
			case !taken:
				owners[k] = i
			case f.path == "" || f.path != files[owner].path:
				conflicts = append(conflicts, &ConflictError{Origin: o, Names: [2]string{files[owner].name, f.name}})
			}
		}
	}
	captures := make(map[string]bool)
	for i, f := range files {
		if f.content != unpack.Text {
			if f.path == "" || !captures[f.path] {
				assigned = append(assigned, f)
			}
			captures[f.path] = true
			continue
		}
		f.origins = slices.DeleteFunc(f.origins, func(o robots.Origin) bool {
			_, beaten := owners[key{o, true}]
			return owners[key{o, f.exact}] != i || beaten && !f.exact
		})
		if len(f.origins) > 0 {
			assigned = append(assigned, f)
		}
	}
	return assigned, conflicts
}

// Skipped returns the unused files of the directory, as "path: reason", in the order found. It is nil for a single
// file. The caller must not modify it.
func (r *Files) Skipped() []string { return r.skipped }

// Left returns the files in Skipped that are probably meant as rules: they are named like a robots.txt or captures, but
// are links out of the directory, or not regular files.
func (r *Files) Left() []string { return r.left }

// Unclear returns the files of the directory whose names seem to begin with an unknown scheme: the text before the
// first "_" is treated as part of the host. They are in the order found.
func (r *Files) Unclear() []string {
	var names []string
	for _, f := range r.files {
		if f.unclear {
			names = append(names, f.name)
		}
	}
	return names
}

// Reads reports whether a file is an input. path must be absolute and without symbolic links. Call it before writing a
// file.
func (r *Files) Reads(path string) bool {
	if r.pack != "" {
		own, err := filepath.EvalSymlinks(r.pack)
		if abs, e := filepath.Abs(own); e == nil {
			own = abs
		}
		return err == nil && own == path
	}
	return slices.ContainsFunc(r.files, func(f ruleFile) bool { return f.path == path })
}

// Len returns the number of capture files and of robots.txt files that are used; 1 for a rule pack.
func (r *Files) Len() int {
	if r.pack != "" {
		return 1
	}
	return len(r.files)
}

// Pack returns the name of the rule pack, or "" if the rules are files. A pack has no Responses: package engine opens
// it.
func (r *Files) Pack() string { return r.pack }

// Responses reads the files in the order of their names. It yields a response for each origin of a robots.txt, with
// status 200 and the modification time of the file, and each response in a capture file. An origin may have several. A
// body has at most [MaxBody] bytes; Size is the size of the whole body. The caller owns the responses. Responses can be
// used again: the content of a pipe is stored.
//
// Corrupt records of captures do not end the iteration, see [Files.Problems]. Errors come after all responses: an
// [*UnreadableError] for the files that could not be read, joined with a [*DamageError] for the files that could not be
// read to the end; or a [*NameError] if the files contain no robots.txt.
func (r *Files) Responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		if r.pack != "" {
			yield(robots.Response{}, &NameError{Name: r.pack, Err: ErrPack, Remedy: "name the files that it was compiled from"})
			return
		}
		var (
			errs []error
			p    = capture.NewPass(&r.done)
		)
		defer func() {
			p.Release()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.problems, r.damages = p.Problems(), p.Damages()
		}()
		next, stop := iter.Pull(readAhead(r.files))
		defer stop()
		found := false
		each := func(response robots.Response) bool {
			if r.single {
				r.mu.Lock()
				var err error
				r.odd, err = checkText(response.Name, response.Body, r.wide)
				r.mu.Unlock()
				if err != nil {
					yield(robots.Response{}, err)
					return false
				}
			}
			found = found || response.URL == ""
			return yield(response, nil)
		}
		for _, f := range r.files {
			more, err := readFile(p, f, next, each)
			if !more {
				return
			}
			if err != nil {
				errs = append(errs, fault.OfFile(f.name, err, ""))
			}
		}
		if !p.Finish(each) {
			return
		}
		if len(errs) > 0 {
			errs = []error{&UnreadableError{Errs: errs}}
		}
		if damages := p.Damages(); len(damages) > 0 && !r.AcceptDamage {
			errs = append(errs, &DamageError{damages})
		}
		if len(errs) > 0 {
			yield(robots.Response{}, errors.Join(errs...))
		} else if !found && len(r.files) > 0 {
			name := r.files[0].name
			if len(r.files) > 1 {
				name = filepath.Dir(name)
			}
			yield(robots.Response{}, &NameError{Name: name, Err: ErrNoRobots, Remedy: "name the files that have them"})
		}
	}
}

// About returns the files that may have a robots.txt of one of these origins: robots.txt files according to their
// names, and all capture files. A rule pack stays. r and the result do not affect each other.
func (r *Files) About(origins []robots.Origin) *Files {
	wanted := make(map[robots.Origin]bool, len(origins))
	for _, o := range origins {
		wanted[o] = true
	}
	about := &Files{pack: r.pack, single: r.single, AcceptDamage: r.AcceptDamage}
	for _, f := range r.files {
		if f.content != unpack.Text || slices.ContainsFunc(f.origins, func(o robots.Origin) bool { return wanted[o] }) {
			about.files = append(about.files, f)
		}
	}
	return about
}

// Problems returns the corrupt records that the last completed use of [Files.Responses] found.
func (r *Files) Problems() Problems {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problems
}

// Damages returns the damaged capture files that the last completed use of [Files.Responses] found. The caller must not
// modify them.
func (r *Files) Damages() []*Damage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.damages
}

// readFile yields the responses of a file and reports whether yield wants more. next returns the next robots.txt that
// was read ahead, and is called once for each. The error means that the file cannot be read, or contains nothing.
func readFile(p *capture.Pass, f ruleFile, next func() (readText, bool), yield func(robots.Response) bool) (more bool, err error) {
	if f.content != unpack.Text {
		if f.err != nil {
			return true, f.err
		}
		return p.Read(f.name, f.path, f.content, yield)
	}
	text, _ := next()
	resp, err := text.response, text.err
	if err != nil {
		return true, err
	}
	for i, o := range f.origins {
		own := resp
		own.Origin = o
		if i+1 < len(f.origins) {
			own.Body = bytes.Clone(resp.Body)
		}
		if !yield(own) {
			return false, nil
		}
	}
	return true, nil
}

// Progress returns how many stored bytes of the files the last use of [Files.Responses] has read, and how many there
// are. The total is -1 if the files include a robots.txt, because these are small and may be many: count them by
// [robots.Response.Name] instead.
func (r *Files) Progress() (done, total int64) {
	r.once.Do(func() {
		for _, f := range r.files {
			if f.content == unpack.Text {
				r.total = -1
				return
			}
			if info, err := storage.Of(f.path).Stat(f.path); err == nil { // otherwise reading it returns the error
				r.total += max(0, info.Size)
			}
		}
	})
	return r.done.Load(), r.total
}

// Faults in the caller's options, wrapped in a [*NameError].
var (
	ErrNoOrigin   = errors.New("has an unknown origin")
	errOrigin     = errors.New("not an origin")
	ErrOriginDir  = errors.New("is a directory, for which no origin can be given")
	ErrOriginFile = errors.New("contains the origins of its files, so no origin can be given for it")
	ErrNoRules    = errors.New("contains no file that is named like a robots.txt")
	ErrPack       = errors.New("is a rule pack, which does not contain the robots.txt files")
	errPackName   = errors.New("is a rule pack, but is not named like one")
	ErrNoRobots   = errors.New("contains no capture of a robots.txt (a URL with the path /robots.txt)")
)

// A NameError means that a file or directory cannot be used as given. It has the Name, the fault as Err, which Unwrap
// returns, and advice as Remedy, which may be empty.
type NameError = fault.NameError

// Problems are the corrupt records of captures, which are not used: the Total, and the First 100 as [*RecordError]
// values.
type Problems = capture.Problems

// A RecordError describes a corrupt record of a capture file.
type RecordError = capture.RecordError

// A Damage is a fault in a capture file after which nothing of the file is used: the file ends within a record, a part
// cannot be unpacked, or the end of a record is unknown.
type Damage = capture.Damage

// A DamageError lists all capture files that could not be read to the end; the missing rules are unknown.
type DamageError struct{ Damages []*Damage }

// Error lists all damages, one per line if there are several.
func (e *DamageError) Error() string {
	if len(e.Damages) == 1 {
		return e.Damages[0].Error()
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "captures are damaged in %d places:", len(e.Damages))
	for _, d := range e.Damages {
		sb.WriteString("\n  ")
		sb.WriteString(d.Error())
	}
	return sb.String()
}

// Unwrap returns the damages.
func (e *DamageError) Unwrap() []error {
	errs := make([]error, len(e.Damages))
	for i, d := range e.Damages {
		errs[i] = d
	}
	return errs
}

// A ConflictError means that two files are the robots.txt of one origin, and equally specific.
type ConflictError struct {
	Origin robots.Origin
	Names  [2]string // in the order found
}

// Error names the origin, both files and the remedy.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("two files are the robots.txt of %s: %s and %s: remove one (names that differ only in case, IDN form, default port or trailing dot are the same host)",
		e.Origin, fault.Display(e.Names[0]), fault.Display(e.Names[1]))
}

// An UnreadableError lists every rules file or directory that could not be read.
type UnreadableError struct {
	Errs []error // one per file or directory, by name; never empty
}

// Error lists all errors, one per line, after the remedy.
func (e *UnreadableError) Error() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%d of the rules files cannot be read (make them readable, or remove them from the directory):", len(e.Errs))
	for _, err := range e.Errs {
		sb.WriteString("\n  ")
		sb.WriteString(err.Error())
	}
	return sb.String()
}

// Unwrap returns the faults.
func (e *UnreadableError) Unwrap() []error { return e.Errs }
