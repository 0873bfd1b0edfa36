package capture

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"sync/atomic"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/internal/captures"
	files "github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
)

// A Pass reads capture files once, in order. Use NewPass.
type Pass struct {
	problems Problems
	damages  []*Damage
	captures captureIndex
	targets  targetSet
	undated  captures.Undated
	done     *atomic.Int64
	warc     warcReader
	jsonl    jsonlReader
}

// NewPass returns a Pass that stores the number of file bytes read in done.
func NewPass(done *atomic.Int64) *Pass {
	done.Store(0)
	p := &Pass{
		captures: captureIndex{seed: maphash.MakeSeed(), places: map[uint64]int{}, reader: newRecords()},
		targets:  targetSet{seed: maphash.MakeSeed(), keys: map[uint64]struct{}{}},
		undated:  captures.Undated{}, done: done,
	}
	p.warc, p.jsonl = warcReader{records: newRecords(), pass: p}, jsonlReader{src: unpack.NewSegments(""), pass: p}
	return p
}

// Read yields the responses of the file at path and reports whether yield wants more. name is the name in messages;
// content is WARC or JSONL. Invalid records become problems, and a lost end becomes a Damage. The error is that the
// file cannot be read, or has no captures.
func (p *Pass) Read(name, path string, content unpack.Content, yield func(robots.Response) bool) (more bool, err error) {
	file, size, err := openRegular(path)
	if err != nil {
		return true, err
	}
	defer file.Close()
	tracked := trackedFile{file, p.done.Load(), p.done}
	if content == unpack.WARC {
		p.captures.paths = append(p.captures.paths, path)
	}
	return p.read(name, tracked, size, content, yield)
}

// read is like Read, for a file of the given size that is already open.
func (p *Pass) read(name string, file io.ReaderAt, size int64, content unpack.Content, yield func(robots.Response) bool) (more bool, err error) {
	if content == unpack.JSONL {
		return p.jsonl.read(name, file, size, yield)
	}
	return p.warc.read(name, file, size, yield)
}

// openRegular opens a regular file, for random access, and returns its size. The error is ErrNotRegular or one of the
// file.
func openRegular(path string) (file files.File, size int64, err error) {
	if file, err = files.Of(path).Open(path); err != nil {
		return nil, 0, err
	}
	info, err := file.Info()
	if err == nil && info.Size < 0 {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size, nil
}

// Finish yields the responses that waited for other files, and reports whether yield wants more. Those that still miss
// another record become problems.
func (p *Pass) Finish(yield func(robots.Response) bool) bool {
	for i := range p.captures.pending {
		r := &p.captures.pending[i]
		if r.problem.Err = p.captures.resolve(r); r.problem.Err != nil {
			p.problems.addProblem(r.problem)
		} else if !yield(r.response) {
			return false
		}
	}
	return true
}

// Problems returns the invalid records so far.
func (p *Pass) Problems() Problems { return p.problems }

// Damages returns the files so far that could not be read to the end.
func (p *Pass) Damages() []*Damage { return p.damages }

// Release frees memory before closing.
func (p *Pass) Release() {
	p.jsonl.src.Release()
	p.warc.release()
	p.captures.reader.release()
}

// A trackedFile tracks how far a file was read. Re-read or skipped bytes do not change that.
type trackedFile struct {
	io.ReaderAt
	before int64         // bytes of the previous files
	done   *atomic.Int64 // before, plus the position reached in this file
}

// ReadAt reads.
func (t trackedFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := t.ReaderAt.ReadAt(b, off)
	if reached := t.before + off + int64(n); reached > t.done.Load() {
		t.done.Store(reached) // the only writer
	}
	return n, err
}

// Faults in records, wrapped in a [*RecordError], like those of package unpack and of HTTP messages.
var (
	ErrNoRecord = errors.New("no WARC record starts here")
	ErrHeader   = errors.New("the header of the record is damaged")
	ErrLength   = errors.New("the length of the record is wrong")
	ErrDigest   = errors.New("the block of the record does not match its digest")
	ErrTarget   = errors.New("not a URL with a valid host")
	ErrCut      = errors.New("the response is incomplete")
	ErrRevisit  = errors.New("the record that it repeats is not in the input before it")
	ErrUndated  = errors.New("not the first response for this origin without a time, so it is unknown which is newer: add fetched_at")
	ErrResponse = errors.New("not a response")
	ErrLongLine = errors.New("the line is longer than 16 MiB")
)

// Faults of a whole file.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrNoCapture  = errors.New("it contains no readable capture of a robots.txt or other record")
	ErrWARC       = errors.New("it contains no readable WARC record: check its format")
)

// maxProblems is the maximum number of problems that a pass keeps; others are only counted.
const maxProblems = 100

// Problems are the records of capture files (WARC and JSON Lines) that gave no response because they are invalid.
type Problems struct {
	Total int64          // number of problems
	First []*RecordError // the first 100 problems, in file order
}

// A RecordError means that a record of a capture file is invalid. Other records are used.
type RecordError struct {
	Name   string // the file, as found
	Offset int64  // file position of the record, or of the gzip member or zstd frame in which it starts; -1 if Line is set
	Text   int64  // unpacked bytes before the record in that member or frame: 0 if the record is its first
	Line   int64  // 1-based line of a JSON Lines file, counting readable lines; 0 in a WARC file
	Err    error  // the fault, such as ErrLength
}

// Error names the file, the place and the fault.
func (e *RecordError) Error() string {
	return fmt.Sprintf("%s: %s: %v", fault.Display(e.Name), e.place(), e.Err)
}

// place describes the position of the record in the file.
func (e *RecordError) place() string {
	switch {
	case e.Line > 0 && e.Offset < 0:
		return fmt.Sprintf("line %d", e.Line)
	case e.Line > 0:
		return fmt.Sprintf("line %d, in the part at byte %d", e.Line, e.Offset)
	case e.Text > 0:
		return fmt.Sprintf("record at byte %d of the text of the part at byte %d", e.Text, e.Offset)
	}
	return fmt.Sprintf("record at byte %d", e.Offset)
}

// Unwrap returns the fault.
func (e *RecordError) Unwrap() error { return e.Err }

// addProblem counts a problem, and keeps it if it is among the first.
func (p *Problems) addProblem(e *RecordError) {
	p.Total++
	if len(p.First) < maxProblems {
		p.First = append(p.First, e)
	}
}

// noCapture returns ErrNoCapture, with the first problem, for a file whose only content was new problems; nil if it had
// none. before is the number of problems when the file began.
func (p *Problems) noCapture(before int64) error {
	switch {
	case p.Total == before:
		return nil
	case before < int64(len(p.First)):
		return fmt.Errorf("%w: %s: %w", ErrNoCapture, p.First[before].place(), p.First[before].Err)
	}
	return ErrNoCapture
}

// A targetSet is the set of URLs that a robots.txt redirects to, and whose responses are therefore wanted. It excludes
// URLs that are a robots.txt themselves. It takes 8 bytes per URL, plus the overhead of a map.
type targetSet struct {
	seed maphash.Seed
	keys map[uint64]struct{}
	buf  []byte
}

// addTarget adds the URL that a response redirects to, unless that is a robots.txt or invalid. base is the absolute URL
// of the response, and location may be relative.
func (t *targetSet) addTarget(base, location string) {
	from, err := robots.SplitURL([]byte(base))
	if err != nil || !t.setURL(from) {
		return
	}
	to, ok := robots.ResolveURL(string(t.buf), location)
	if !ok {
		return
	}
	u, err := robots.SplitURL([]byte(to))
	if err != nil || string(u.Path) == robots.TxtPath {
		return
	}
	t.keys[maphash.String(t.seed, to)] = struct{}{}
}

// has reports whether a redirect leads to u. It is cheap as long as the set is empty.
func (t *targetSet) has(u robots.URL) bool {
	if len(t.keys) == 0 || !t.setURL(u) {
		return false
	}
	_, ok := t.keys[maphash.Bytes(t.seed, t.buf)]
	return ok
}

// setURL sets buf to the normal form of u, and reports whether u has one.
func (t *targetSet) setURL(u robots.URL) bool {
	b, err := robots.AppendURL(t.buf[:0], u)
	t.buf = b
	return err == nil
}

// A Damage is a fault in a capture file after which nothing of the file is used. The number of lost records is unknown.
type Damage struct {
	At      *RecordError // the first lost record: its position and fault
	Size    int64        // of the file
	Unread  int64        // stored bytes at the end without a readable record
	Missing int64        // bytes known to be missing after the end; 0 if unknown
}

// Error names the file, the place and the fault.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s: %s", fault.Display(d.At.Name), d.Lost())
}

// Lost describes the loss, without the file name and the remedy.
func (d *Damage) Lost() string {
	wrong := strings.TrimRight(strings.TrimSuffix(d.At.Err.Error(), unpack.Again), ":; ")
	wrong = strings.TrimSuffix(wrong, ": cut them off, or")
	text := fmt.Sprintf("%s: %s: %s", damageKind(d.At.Err), d.At.place(), wrong)
	if d.Unread > 0 {
		text += fmt.Sprintf("; the last %d of its %d bytes are not used", d.Unread, d.Size)
	}
	return text
}

// Unwrap returns the fault of the record.
func (d *Damage) Unwrap() error { return d.At.Err }

// damageKind describes a file in which a record has that fault, for messages: "is damaged".
func damageKind(err error) string {
	_, isShort := errors.AsType[*shortError](err)
	switch {
	case errors.Is(err, unpack.ErrTrailing):
		return "has bytes after its end"
	case isShort, errors.Is(err, unpack.ErrTruncated):
		return "ends too early"
	}
	return "is damaged"
}

// newDamage returns the damage of a file with that size.
func newDamage(at *RecordError, size, unread int64) *Damage {
	d := &Damage{At: at, Size: size, Unread: unread}
	if e, ok := errors.AsType[*shortError](at.Err); ok {
		d.Missing = e.missing
	}
	return d
}

// A shortError is the error of a record that the end of the file cuts off.
type shortError struct {
	err     error
	missing int64 // missing bytes of the record; 0 if unknown
}

func (e *shortError) Error() string { return e.err.Error() }
func (e *shortError) Unwrap() error { return e.err }

// newShortError returns a shortError with that number of missing bytes, 0 if unknown. Its text is formatted as by
// fmt.Errorf.
func newShortError(missing int64, format string, values ...any) error {
	return &shortError{fmt.Errorf(format, values...), missing}
}
