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

// Files are the robots.txt files, and the files of captures, that [Find] found. They are safe for
// concurrent use.
type Files struct {
	files   []ruleFile // of each, only the origins that are its own
	pack    string     // name of the rule pack, if there is one instead of files
	skipped []string
	left    []string // of these, those with the name of a robots.txt
	single  bool     // the one file is a robots.txt that was named itself
	wide    bool     // which may be UTF-16

	done  atomic.Int64 // bytes of the captures that the latest use of Responses read
	once  sync.Once
	total int64 // bytes of all captures, once computed; -1 if unknown

	// AcceptDamage makes Responses use what comes before the fault in damaged files of captures. Set
	// it before the first use; otherwise they end in a [*DamageError].
	AcceptDamage bool

	mu       sync.Mutex
	odd      robots.Oddity // of the single robots.txt, when it was read last
	problems Problems      // of the use of Responses that ended last
	damages  []*Damage
}

// Find finds robots.txt files. path is a directory as the package doc describes it, a file of
// captures by its name, a rule pack, or, if origin is not empty, one file that is the robots.txt of
// that origin. Find reads names only, and a single robots.txt, which may be a pack with another
// name, or no text. A regular file under /dev/fd/ has no name of its own: without an origin it is one
// of captures in JSON Lines.
//
// Symbolic links that stay inside the directory are followed. Two files that are equally specific
// for one origin are a [*ConflictError], unless one is a link to the other. Directories that cannot
// be read are an [*UnreadableError]; anything else wrong with path or origin is a [*NameError]. All
// conflicts and unreadable directories are reported at once, joined.
func Find(path, origin string) (*Files, error) { return find(path, origin, false) }

// FindToInspect is Find for callers that report faults of files: that a single robots.txt is UTF-16 is a
// diagnostic of [robots.Inspect] then, and no error.
func FindToInspect(path, origin string) (*Files, error) { return find(path, origin, true) }

// find is Find. wide says that a single robots.txt may be UTF-16.
func find(path, origin string, wide bool) (*Files, error) {
	info, err := storage.Of(path).Stat(path)
	switch {
	case err != nil && strings.HasSuffix(path, packSuffix):
		return nil, fault.OfFile(path, err, "check the name, or make the pack with robobatch compile")
	case err != nil:
		return nil, fault.OfFile(path, err, "name a directory of robots.txt files, one robots.txt and its origin, or a pack of robobatch compile")
	case !info.Dir:
		// A path that is not a directory is one file.
		isPack, content := strings.HasSuffix(path, packSuffix), unpack.Named(filepath.Base(path))
		if origin == "" && strings.HasPrefix(path, "/dev/fd/") && info.Size >= 0 {
			content = unpack.JSONL
		}
		fail := func(err error, remedy string) (*Files, error) {
			return nil, &NameError{Name: path, Err: err, Remedy: remedy}
		}
		switch {
		case isPack && origin == "":
			return &Files{pack: path}, nil
		case !isPack && isMisnamedPack(path, info):
			return fail(errPackName, "rename it to end in "+packSuffix)
		case origin != "" && (isPack || content != unpack.Text):
			return fail(ErrOriginFile, "")
		case content == unpack.Text:
			if err := sniff(path, info, wide); err != nil {
				return nil, err
			}
			if origin == "" {
				return fail(ErrNoOrigin, "")
			}
			files, err := oneRobots(path, info, origin)
			if err == nil {
				files.wide = wide
			}
			return files, err
		case info.Size < 0: // captures are read at random
			return fail(capture.ErrNotRegular, "copy it to a file first")
		}
		return &Files{files: []ruleFile{{name: path, path: path, claim: claim{content: content}}}}, nil
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
	files, conflicts := assign(w.files)
	if errs = append(errs, conflicts...); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if len(files) == 0 {
		remedy := "name the files like https_example.com.txt, example.com.txt or example.com/robots.txt"
		if top := filepath.Join(path, "robots.txt"); slices.Contains(w.skipped, fault.Display(top)+": "+errNoHostDir.Error()) {
			remedy += ", or name " + fault.Display(top) + " itself, with its site"
		}
		if len(w.packs) > 0 {
			remedy = "name the pack itself: " + fault.Display(w.packs[0])
		}
		return nil, &NameError{Name: path, Err: noRules(w.skipped), Remedy: remedy}
	}
	return &Files{files: files, skipped: w.skipped, left: w.left}, nil
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

// sniff returns the error that a file is not text, which would be the same whatever its origin. A pipe
// is read later, and so is a file that cannot be read.
func sniff(path string, info storage.Info, wide bool) error {
	if info.Size < 0 {
		return nil
	}
	file := ruleFile{name: path, path: path}
	r, err := file.readOnce()
	if err == nil {
		_, err = checkText(path, r.Body, wide)
		return err
	}
	return nil
}

// Single returns the name of the only robots.txt; "" if there are several, or captures, or a pack.
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

// checkSingle checks the content of a single robots.txt.
func (r *Files) checkSingle(name string, body []byte) (err error) {
	if !r.single {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.odd, err = checkText(name, body, r.wide)
	return err
}

// oneRobots returns the one file that is the robots.txt of origin.
func oneRobots(path string, info storage.Info, origin string) (*Files, error) {
	o, err := robots.ParseOrigin(origin)
	if err != nil {
		if oe, ok := errors.AsType[*robots.OriginError](err); ok {
			err = oe.Err
		}
		return nil, &NameError{Name: origin, Err: fmt.Errorf("%w: %w", errOrigin, err), Remedy: "write it like https://www.example.com"}
	}
	file := ruleFile{name: path, path: path, claim: claim{origins: []robots.Origin{o}, exact: true}}
	if info.Size < 0 {
		file.pipe = new(pipe)
	}
	return &Files{files: []ruleFile{file}, single: true}, nil
}

// noRules returns ErrNoRules with the first names found instead, those of robots.txt files first.
func noRules(skipped []string) error {
	const shown, robotsTxt = 3, "/robots.txt: "
	if len(skipped) == 0 {
		return ErrNoRules
	}
	skipped = slices.SortedStableFunc(slices.Values(skipped), func(a, b string) int {
		return cmp.Compare(strings.Count("/"+b, robotsTxt), strings.Count("/"+a, robotsTxt))
	})
	more := ""
	if len(skipped) > shown {
		more = fmt.Sprintf(" and %d more", len(skipped)-shown)
		skipped = skipped[:shown]
	}
	return fmt.Errorf("%w (not used: %s%s)", ErrNoRules, strings.Join(skipped, "; "), more)
}

// packSuffix is how the name of a rule pack ends.
const packSuffix = ".rbp"

// isMisnamedPack reports whether a file has the content of a rule pack.
func isMisnamedPack(path string, info storage.Info) bool {
	if info.Size < 0 {
		return false
	}
	file, err := storage.Of(path).Open(path)
	if err != nil {
		return false // reading it reports why
	}
	defer file.Close()
	return pack.Is(file)
}

// assign gives each origin to the file that is most specific for it. It returns the files that have
// origins, and the files of captures, each once.
func assign(files []ruleFile) (assigned []ruleFile, conflicts []error) {
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

// Skipped returns the files of the directory that are not used, as "path: reason", in the order
// found. It is nil for a single file. The caller must not change it.
func (r *Files) Skipped() []string { return r.skipped }

// Left returns the files in Skipped that have the name of a robots.txt or of captures, and are links out of
// the directory, or no files: whoever put them there may have meant them as rules.
func (r *Files) Left() []string { return r.left }

// Unclear returns the files of the directory whose names begin as if with a scheme that is not known:
// the text before the first "_" is treated as a part of the host. They are in the order found.
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

// Len returns the number of files of captures, and of files with rules for at least one origin.
func (r *Files) Len() int {
	if r.pack != "" {
		return 1
	}
	return len(r.files)
}

// Pack returns the name of the rule pack, or "" if the rules are files. A pack has no Responses: package engine opens
// it.
func (r *Files) Pack() string { return r.pack }

// Responses reads the files in the order of their names. It yields a response for each origin of a
// robots.txt, with status 200 and the time of the file's last change, and each response in a file
// of captures. An origin may have several. A body has at most [MaxBody] bytes; Size is the size of
// the whole. The caller owns the responses. Responses can be used again: the content of a pipe is
// stored.
//
// Broken records of captures do not end it, see [Files.Problems]. At the end comes one
// [*UnreadableError] for all files that could not be read, joined with a [*DamageError] for all
// that lost their ends; or, if there are files and no robots.txt is in any of them, a [*NameError]. So who stops at an
// error has seen all responses.
func (r *Files) Responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		if r.pack != "" {
			yield(robots.Response{}, &NameError{Name: r.pack, Err: ErrPack, Remedy: "name what it was compiled from"})
			return
		}
		var (
			errs []error
			p    = capture.NewPass(&r.done)
		)
		defer r.end(p)
		next, stop := iter.Pull(readAhead(r.files))
		defer stop()
		found := false
		each := func(response robots.Response) bool {
			if err := r.checkSingle(response.Name, response.Body); err != nil {
				yield(robots.Response{}, err)
				return false
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
		if err := r.ended(errs, p.Damages()); err != nil {
			yield(robots.Response{}, err)
		} else if !found && len(r.files) > 0 {
			yield(robots.Response{}, r.noRobots())
		}
	}
}

// About returns the files that may have a robots.txt of one of some origins: those whose names say so, and
// captures. They are read as the others are, on their own.
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

// ended returns the error of files that could not be read, and of damaged ones.
func (r *Files) ended(unreadable []error, damages []*Damage) error {
	var errs []error
	if len(unreadable) > 0 {
		errs = append(errs, &UnreadableError{Errs: unreadable})
	}
	if len(damages) > 0 && !r.AcceptDamage {
		errs = append(errs, &DamageError{damages})
	}
	return errors.Join(errs...)
}

// noRobots returns the error of captures without any robots.txt.
func (r *Files) noRobots() error {
	name := r.files[0].name
	if len(r.files) > 1 {
		name = filepath.Dir(name)
	}
	return &NameError{Name: name, Err: ErrNoRobots, Remedy: "name the file that has them"}
}

// Problems returns the broken records that the use of [Files.Responses] met that ended last.
func (r *Files) Problems() Problems {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problems
}

// Damages returns the damaged files of captures, of the use of [Files.Responses] that
// ended last. The caller must not change it.
func (r *Files) Damages() []*Damage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.damages
}

// end ends a pass.
func (r *Files) end(p *capture.Pass) {
	p.Release()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems, r.damages = p.Problems(), p.Damages()
}

// readFile yields the responses of a file and reports whether yield wants more. next returns the
// next robots.txt that was read ahead. The error is that the file cannot be read, or that it holds
// nothing.
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

// Progress returns how many bytes of the files the latest use of [Files.Responses] has read, as
// stored, and how many there are. The total is -1 if a robots.txt is among the files, as those are
// small and may be many: count them by [robots.Response.Name] instead.
func (r *Files) Progress() (done, total int64) {
	r.once.Do(func() { r.total = r.captureBytes() })
	return r.done.Load(), r.total
}

// captureBytes returns the size of all files, or -1 unless all hold captures.
func (r *Files) captureBytes() (total int64) {
	for _, f := range r.files {
		if f.content == unpack.Text {
			return -1
		}
		if info, err := storage.Of(f.path).Stat(f.path); err == nil { // else reading it tells
			total += max(0, info.Size)
		}
	}
	return total
}

// Faults in the caller's options. They come inside a [*NameError].
var (
	ErrNoOrigin   = errors.New("is a file of an unknown origin")
	errOrigin     = errors.New("not an origin")
	ErrOriginDir  = errors.New("is a directory, so one origin cannot be given for it")
	ErrOriginFile = errors.New("says itself whose robots.txt it holds, so no origin can be given for it")
	ErrNoRules    = errors.New("no file in it is named as a robots.txt")
	ErrPack       = errors.New("is a rule pack, which has no robots.txt as they are written")
	errPackName   = errors.New("is a rule pack, and its name does not say so")
	ErrNoRobots   = errors.New("none of its captures is of a robots.txt, whose URL ends in the path /robots.txt")
)

// A NameError says that a file or directory cannot be used as it was given: its Name, the fault
// as Err, which Unwrap returns, and the advice as Remedy, which may be empty.
type NameError = fault.NameError

// Problems are the broken records of captures, which were omitted: the Total, and the First 100 as [*RecordError]
// values.
type Problems = capture.Problems

// A RecordError says which record of a capture file is broken: the Name of the file, the Offset of
// the record or of the gzip member or zstd frame that it starts in, where its Text begins in that,
// or its Line, and the fault as Err.
type RecordError = capture.RecordError

// A Damage is a fault in a file of captures behind which nothing of it is used: the file ends in the
// middle of a record, some of it cannot be unpacked, or it is unknown where a record ends. It says
// where as At, a [*RecordError], and how many bytes of the file are Unread, and are known to be
// Missing.
type Damage = capture.Damage

// A DamageError lists all capture files that could not be read to the end; the missing rules are unknown.
type DamageError struct{ Damages []*Damage }

// Error lists all of them, one per line unless there is one.
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

// A ConflictError says that two files are the robots.txt of one origin, and equally specific.
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
	Errs []error // one for each, by name; never empty
}

// Error lists all of them, one per line, after the remedy.
func (e *UnreadableError) Error() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%d of the rules cannot be read (make them readable, or take them out of the directory):", len(e.Errs))
	for _, err := range e.Errs {
		sb.WriteString("\n  ")
		sb.WriteString(err.Error())
	}
	return sb.String()
}

// Unwrap returns the faults.
func (e *UnreadableError) Unwrap() []error { return e.Errs }
