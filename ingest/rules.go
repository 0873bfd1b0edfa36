package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// MaxBody is how many bytes of a robots.txt are kept: what is parsed of it, and one more, which
// shows that there was more.
const MaxBody = robots.MaxBytes + 1

// RuleFiles are the robots.txt files that [Rules] found. They are immutable and safe for concurrent use.
type RuleFiles struct {
	files   []ruleFile // of each, only the origins that are its own
	skipped []string
}

// Rules finds robots.txt files at path, which is a directory, as the package doc tells, or, if origin is not empty, one
// file that is the robots.txt of that origin. Nothing but names is looked at yet.
//
// Symbolic links that stay inside the directory are followed. Two files that are equally specific for one origin
// are a [*ConflictError], unless one is a link to the other; directories that cannot be read are an
// [*UnreadableError]; anything else wrong with path or origin is a [*NameError]. All conflicts and unreadable
// directories are reported at once, joined.
func Rules(path, origin string) (*RuleFiles, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fileError(path, err, "name a directory of robots.txt files, or one robots.txt and its origin")
	case origin != "":
		return singleRules(path, info, origin)
	case !info.IsDir():
		return nil, &NameError{Name: path, Err: ErrNoOrigin, Remedy: "add -origin https://www.example.com, or name a directory"}
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
		return nil, &NameError{Name: path, Err: noRules(w.skipped), Remedy: "name the files like https_example.com.txt, example.com.txt or example.com/robots.txt"}
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
	o, err := robots.ParseOrigin(origin)
	if err != nil {
		if oe, ok := errors.AsType[*robots.OriginError](err); ok {
			err = oe.Err
		}
		return nil, &NameError{Name: origin, Err: fmt.Errorf("%w: %w", ErrOrigin, err), Remedy: "write it like https://www.example.com"}
	}
	return &RuleFiles{files: []ruleFile{{name: path, path: path, claim: claim{origins: []robots.Origin{o}, exact: true}}}}, nil
}

// settle leaves each origin to the file that is most specific for it, and returns the files that have any left.
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
	for i, f := range files {
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
	return slices.ContainsFunc(r.files, func(f ruleFile) bool { return f.path == path })
}

// NumFiles returns how many files have rules for at least one origin.
func (r *RuleFiles) NumFiles() int { return len(r.files) }

// Responses reads the files and yields a response for each origin, in the order of the names. Of a body, at most
// [MaxBody] bytes are kept; Size is that of the whole file. The receiver owns what it gets. After all that could be
// read comes one [*UnreadableError] for all that could not, so whoever stops at an error has seen them all.
func (r *RuleFiles) Responses() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		var errs []error
		for _, f := range r.files {
			body, size, err := f.read()
			if err != nil {
				errs = append(errs, fileError(f.name, err, ""))
				continue
			}
			for i, o := range f.origins {
				own := body
				if i+1 < len(f.origins) {
					own = bytes.Clone(body)
				}
				if !yield(robots.Response{Origin: o, Name: f.name, Body: own, Size: size}, nil) {
					return
				}
			}
		}
		if len(errs) > 0 {
			yield(robots.Response{}, &UnreadableError{Errs: errs})
		}
	}
}

// maxRest is how much of a pipe is read beyond MaxBody to tell its size. It may have no end.
const maxRest = 64 << 20

// read returns the first MaxBody bytes of the file, and how long it is; of a pipe, up to maxRest more.
func (f *ruleFile) read() (body []byte, size int64, err error) {
	if f.err != nil {
		return nil, 0, f.err
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	body = make([]byte, 0, min(max(info.Size(), 0), MaxBody)+1) // one more to see the end without growing
	for len(body) < MaxBody {
		if len(body) == cap(body) {
			body = slices.Grow(body, 512)
		}
		n, err := file.Read(body[len(body):min(cap(body), MaxBody)])
		body = body[:len(body)+n]
		if err == io.EOF {
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
