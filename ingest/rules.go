package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// MaxBody is how many bytes of a robots.txt are kept: what is parsed of it, and one more, which
// shows that there was more.
const MaxBody = robots.MaxBytes + 1

// RuleFiles are the robots.txt files, and the files of captures of such, that [Rules] found. They are safe for
// concurrent use.
type RuleFiles struct {
	files   []ruleFile // of each, only the origins that are its own
	pack    string     // name of the rule pack that takes the place of files
	skipped []string

	progress captureProgress

	mu       sync.Mutex
	problems Problems // of the pass that ended last
}

// Rules finds robots.txt files at path, which is a directory, as the package doc tells, or a capture file, which is
// WARC or JSON Lines by its name, or a rule pack, or, if origin is not empty, one file that is the robots.txt of that origin. Nothing
// but names is looked at yet, and whether one file is a pack in disguise.
//
// Symbolic links that stay inside the directory are followed. Two files that are equally specific for one origin
// are a [*ConflictError], unless one is a link to the other; directories that cannot be read are an
// [*UnreadableError]; anything else wrong with path or origin is a [*NameError]. All conflicts and unreadable
// directories are reported at once, joined.
func Rules(path, origin string) (*RuleFiles, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil && strings.HasSuffix(path, packSuffix):
		return nil, fileError(path, err, "check the name, or compile it first: robobatch compile -rules dir -out "+display(path))
	case err != nil:
		return nil, fileError(path, err, "name a directory of robots.txt files, one robots.txt and its origin, or a pack of robobatch compile")
	case isPack(path, info):
		return singlePack(path, origin)
	case isMisnamedPack(path, info):
		return nil, &NameError{Name: path, Err: ErrPackName, Remedy: "rename it to end in " + packSuffix}
	case origin != "":
		return singleRules(path, info, origin)
	case !info.IsDir() && kindOf(filepath.Base(path)) != kindText:
		return singleCapture(path, info)
	case !info.IsDir():
		return nil, &NameError{Name: path, Err: ErrNoOrigin, Remedy: "add -origin https://www.example.com, or name a directory, a .warc or a .jsonl file, or a pack (.rbp)"}
	}
	w, err := walk(path)
	if err != nil {
		return nil, err
	}
	var errs []error
	if len(w.errs) > 0 {
		errs = append(errs, &UnreadableError{Errs: w.errs})
	}
	files, conflicts := settle(w.files)
	if errs = append(errs, conflicts...); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if len(files) == 0 {
		remedy := "name the files like https_example.com.txt, example.com.txt or example.com/robots.txt"
		if len(w.packs) > 0 {
			remedy = "name the pack itself, as in -rules " + display(w.packs[0])
		}
		return nil, &NameError{Name: path, Err: noRules(w.skipped), Remedy: remedy}
	}
	return &RuleFiles{files: files, skipped: w.skipped}, nil
}

// noRules returns ErrNoRules with some of what was found instead.
func noRules(skipped []string) error {
	const shown = 3
	if len(skipped) == 0 {
		return ErrNoRules
	}
	more := ""
	if len(skipped) > shown {
		more = fmt.Sprintf(" and %d more", len(skipped)-shown)
		skipped = skipped[:shown]
	}
	return fmt.Errorf("%w (not used: %s%s)", ErrNoRules, strings.Join(skipped, "; "), more)
}

// singleRules returns the one file that is the robots.txt of origin.
func singleRules(path string, info fs.FileInfo, origin string) (*RuleFiles, error) {
	if info.IsDir() {
		return nil, &NameError{Name: path, Err: ErrOriginDir, Remedy: "leave -origin out, as the names in it say whose they are, or name one file"}
	}
	if kindOf(filepath.Base(path)) != kindText {
		return nil, &NameError{Name: path, Err: ErrOriginFile, Remedy: "leave -origin out, or rename the file if it is a robots.txt"}
	}
	o, err := robots.ParseOrigin(origin)
	if err != nil {
		if oe, ok := errors.AsType[*robots.OriginError](err); ok {
			err = oe.Err
		}
		return nil, &NameError{Name: origin, Err: fmt.Errorf("%w: %w", ErrOrigin, err), Remedy: "write it like https://www.example.com"}
	}
	file := ruleFile{name: path, path: path, claim: claim{origins: []robots.Origin{o}, exact: true}}
	if !info.Mode().IsRegular() {
		file.pipe = new(pipe)
	}
	return &RuleFiles{files: []ruleFile{file}}, nil
}

// singleCapture returns the one file of captures. It is read at random, so it cannot be a pipe.
func singleCapture(path string, info fs.FileInfo) (*RuleFiles, error) {
	if !info.Mode().IsRegular() {
		return nil, &NameError{Name: path, Err: ErrNotRegular, Remedy: "copy it to a file first"}
	}
	return &RuleFiles{files: []ruleFile{{name: path, path: path, claim: claim{kind: kindOf(filepath.Base(path))}}}}, nil
}

// packSuffix is how the name of a rule pack ends.
const packSuffix = ".rbp"

// isPack reports whether a file is a rule pack, by its name.
func isPack(path string, info fs.FileInfo) bool {
	return !info.IsDir() && strings.HasSuffix(path, packSuffix)
}

// isMisnamedPack reports whether a file is a rule pack by its content, and something else by its name.
func isMisnamedPack(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false // who reads it tells
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return engine.IsPack(file)
}

// singlePack returns a rule pack.
func singlePack(path, origin string) (*RuleFiles, error) {
	if origin != "" {
		return nil, &NameError{Name: path, Err: ErrOriginFile, Remedy: "leave -origin out"}
	}
	return &RuleFiles{pack: path}, nil
}

// absolute returns the absolute path of a name, if there is one.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// settle leaves each origin to the file that is most specific for it, and returns the files that have any left, and
// those of captures, each once.
func settle(files []ruleFile) (settled []ruleFile, conflicts []error) {
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
		if f.kind != kindText {
			if f.path == "" || !captures[f.path] {
				settled = append(settled, f)
			}
			captures[f.path] = true
			continue
		}
		f.origins = slices.DeleteFunc(f.origins, func(o robots.Origin) bool {
			_, beaten := owners[key{o, true}]
			return owners[key{o, f.exact}] != i || beaten && !f.exact
		})
		if len(f.origins) > 0 {
			settled = append(settled, f)
		}
	}
	return settled, conflicts
}

// Skipped lists what lies in the directory and is not used, "path: reason" each, in the order found. It is nil for a
// single file. The receiver must not change it.
func (r *RuleFiles) Skipped() []string { return r.skipped }

// Reads reports whether the file of that path, which is absolute and without symbolic links, is one of those that are
// read: whoever writes a file asks first.
func (r *RuleFiles) Reads(path string) bool {
	if r.pack != "" {
		own, err := filepath.EvalSymlinks(r.pack)
		return err == nil && absolute(own) == path
	}
	return slices.ContainsFunc(r.files, func(f ruleFile) bool { return f.path == path })
}

// NumFiles returns how many files have rules for at least one origin, or are of captures.
func (r *RuleFiles) NumFiles() int {
	if r.pack != "" {
		return 1
	}
	return len(r.files)
}

// Pack returns the name of the rule pack that was found, or "" if files were. A pack has no Responses: package engine
// opens it.
func (r *RuleFiles) Pack() string { return r.pack }

// Responses reads the files and yields, in the order of the names, a response for each origin of a robots.txt, with
// status 200 and the time when the file was changed, and each response in a file of captures. There may be several for
// an origin. Of a body, at most [MaxBody] bytes are kept; Size is that of the whole. The receiver owns what it gets.
// It can be used again: what was read of a pipe is kept.
//
// Broken records of captures do not end it: [RuleFiles.Problems] has them afterwards. After all that could be read
// comes one [*UnreadableError] for all files that could not, so whoever stops at an error has seen them all; or, if there
// is no robots.txt in any of them, a [*NameError].
func (r *RuleFiles) Responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		if r.pack != "" {
			yield(robots.Response{}, &NameError{Name: r.pack, Err: ErrPack, Remedy: "name what it was compiled from"})
			return
		}
		var (
			errs []error
			p    = pass{done: &r.progress.done}
		)
		p.done.Store(0)
		defer r.end(&p)
		next, stop := iter.Pull(readAhead(r.files))
		defer stop()
		found := false
		each := func(r robots.Response) bool {
			found = found || r.URL == ""
			return yield(r, nil)
		}
		for _, f := range r.files {
			more, err := p.readFile(f, next, each)
			if !more {
				return
			}
			if err != nil {
				errs = append(errs, fileError(f.name, err, ""))
			}
		}
		switch more := p.finish(each); {
		case more && len(errs) > 0:
			yield(robots.Response{}, &UnreadableError{Errs: errs})
		case more && !found:
			yield(robots.Response{}, r.noRobots())
		}
	}
}

// noRobots is the error of captures of which none is of a robots.txt, so that there are no rules at all.
func (r *RuleFiles) noRobots() error {
	name := r.files[0].name
	if len(r.files) > 1 {
		name = filepath.Dir(name)
	}
	return &NameError{Name: name, Err: ErrNoRobots, Remedy: "name the file that has them"}
}

// Problems returns the broken records that the latest use of [RuleFiles.Responses] to end met.
func (r *RuleFiles) Problems() Problems {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problems
}

// end ends a pass.
func (r *RuleFiles) end(p *pass) {
	p.release()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = p.problems
}

// readFile yields the responses of a file and reports whether yield wants more. If it is a robots.txt, next has what was
// read of it. Its error is that the file cannot be read, or holds nothing.
func (p *pass) readFile(f ruleFile, next func() (readText, bool), yield func(robots.Response) bool) (more bool, err error) {
	if f.kind != kindText {
		return p.readCaptures(f, yield)
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

// maxRest is how much of a pipe is read beyond MaxBody to tell its size. It may have no end.
const maxRest = 64 << 20

// read returns the response that the file is, without its origin. A pipe is read only once.
func (f *ruleFile) read() (r robots.Response, err error) {
	switch {
	case f.err != nil:
		return r, f.err
	case f.pipe == nil:
		return f.readOnce()
	}
	f.pipe.once.Do(func() { f.pipe.response, f.pipe.err = f.readOnce() })
	r = f.pipe.response
	r.Body = bytes.Clone(r.Body)
	return r, f.pipe.err
}

// readOnce is read, whatever the file is.
func (f *ruleFile) readOnce() (r robots.Response, err error) {
	r = robots.Response{Name: f.name, Status: http.StatusOK, File: true}
	if f.pipe == nil {
		body, size, changed, ok, err := readRegular(f.path)
		if ok || err != nil {
			r.Body, r.Size, r.FetchedAt = body, size, changed.UTC()
			return r, err
		}
	}
	file, err := os.Open(f.path)
	if err != nil {
		return r, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	info, err := file.Stat()
	if err != nil {
		return r, err
	}
	r.FetchedAt = info.ModTime().UTC()
	r.Body, r.Size, err = readBody(file, info)
	return r, err
}

// readBody returns the first MaxBody bytes of the file, and how long it is; of a pipe, what was read: up to maxRest more.
func readBody(file *os.File, info fs.FileInfo) (body []byte, size int64, err error) {
	body = make([]byte, 0, min(max(info.Size(), 0), MaxBody)+1) // one more to see the end without growing
	for len(body) < MaxBody {
		if len(body) == cap(body) {
			body = slices.Grow(body, 512)
		}
		n, err := file.Read(body[len(body):min(cap(body), MaxBody)])
		body = body[:len(body)+n]
		if err == io.EOF || err == nil && int64(len(body)) == info.Size() && info.Mode().IsRegular() {
			return body, int64(len(body)), nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
	if info.Mode().IsRegular() {
		return body, max(info.Size(), int64(len(body))), nil
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(file, maxRest)) // a pipe's writer may count on being read
	return body, int64(len(body)) + rest, err
}
