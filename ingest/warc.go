package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// maxEnd is how many bytes behind a record are looked at: two line ends, and the start of the next record.
const maxEnd = 11

// A warcReader finds the captures of robots.txt in a WARC file (ISO 28500:2017; WARC 1.0 and 1.1).
type warcReader struct {
	src  source
	name string
	pass *pass
	http httpReader
	head header

	start  int64 // of this record in the text
	block  block // of this record
	intact int   // records without a fault so far
	shared bool  // a segment had two records
	anyURL bool  // captures of any URL count
}

// A warcRecord is what the header of a record says.
type warcRecord struct {
	isRevisit bool
	origin    robots.Origin // "" if it is no capture of a robots.txt, or of what one redirects to
	url       string        // of what was captured, if that is no robots.txt
	date      time.Time
	length    int64
	digest    []byte // of the block; valid until the next header
}

// read yields the captures of a file and reports whether yield wants more. Its error is that the file cannot be read, or
// holds nothing.
func (w *warcReader) read(name string, file io.ReaderAt, size int64, yield func(robots.Response) bool) (more bool, err error) {
	w.name, w.intact, w.shared = name, 0, false
	before := w.pass.problems.Total
	if err := w.src.reset(name, file, size); err != nil {
		return true, err
	}
	for w.next() {
		r, used, err := w.record()
		if w.src.ioErr != nil {
			break
		}
		if err != nil {
			w.pass.report(w.problem(err))
			if !w.resync() {
				break
			}
			continue
		}
		w.intact++
		w.shared = w.shared || w.location().text > 0
		if used && !yield(r) {
			return false, nil
		}
	}
	switch {
	case w.src.ioErr != nil:
		return true, w.src.ioErr
	case w.src.budget < 0:
		return true, ErrTooDamaged
	case w.intact == 0:
		return true, w.pass.problems.noCapture(before)
	}
	return true, nil
}

// next moves to the next record, over line ends too many, and reports whether there is one, or a fault.
func (w *warcReader) next() bool {
	for {
		b, err := w.src.text.Peek(1)
		if err != nil {
			w.start = w.src.pos()
			return err != io.EOF && w.src.ioErr == nil
		}
		if b[0] != '\r' && b[0] != '\n' {
			break
		}
		w.src.text.Discard(1) //nolint:errcheck // it is buffered
	}
	w.start = w.src.pos()
	w.src.prune(w.start)
	return true
}

// resync moves to the next record after one that is broken, and reports whether there is one.
func (w *warcReader) resync() bool {
	aligned := w.src.format != formatText && w.intact > 0 && !w.shared && w.location().text == 0
	return w.src.resync(w.start, aligned)
}

// problem says that the record has a fault.
func (w *warcReader) problem(err error) *RecordError {
	loc := w.location()
	return &RecordError{Name: w.name, Offset: loc.offset, Text: loc.text, Err: err}
}

// location returns where the record is.
func (w *warcReader) location() location {
	loc := location{file: len(w.pass.captures.paths) - 1, offset: w.start}
	if w.src.format != formatText {
		if i := w.src.markOf(w.start); i >= 0 {
			loc.offset, loc.text = w.src.marks[i].file, w.start-w.src.marks[i].text
		}
	}
	return loc
}

// record reads the record at which the text stands. used is whether it is a capture that there is a response for now.
func (w *warcReader) record() (r robots.Response, used bool, err error) {
	h, c, err := w.capture()
	if err != nil || h.origin == "" {
		return r, false, err
	}
	if c.fault != nil {
		w.pass.report(w.problem(c.fault))
		c.response = robots.Response{Error: c.fault.Error()} // the crawler did not get a valid answer either
	}
	c.response.Origin, c.response.URL, c.response.Name, c.response.FetchedAt = h.origin, h.url, w.name, h.date
	switch {
	case errors.Is(c.fault, ErrDigest): // nobody knows what the crawler got
		return r, false, nil
	case c.fault != nil:
	case !h.isRevisit:
		w.pass.captures.add(&w.head, w.location())
	case !c.isWhole():
		again := w.pass.captures.revisit(w, c)
		if err := w.pass.captures.resolve(again); err != nil {
			if !w.pass.captures.wait(again) {
				w.pass.report(w.problem(err))
			}
			return r, false, nil
		}
		c = again.capture
	}
	if c.response.Status/100 == 3 {
		w.pass.targets.add(cmp.Or(h.url, string(h.origin)+robots.TxtPath), c.response.Location)
	}
	return c.response, true, nil
}

// capture reads the record at which the text stands, to its end, as far as it says itself. Its error is that nobody knows
// where the record ends; what else is wrong is the capture's fault.
func (w *warcReader) capture() (h warcRecord, c capture, err error) {
	if h, err = w.readHeader(); err != nil {
		return h, c, err
	}
	if err := w.block.reset(&w.src, h, w.start); err != nil {
		return h, c, err
	}
	var fault error
	if h.origin != "" {
		c, fault = w.http.read(&w.block)
		if h.isRevisit && c.isBare {
			fault = nil
		}
	}
	err = w.block.end() // it explains the fault, too
	if errors.Is(err, ErrDigest) && !w.block.hasRecord {
		fault, err = err, nil
	}
	c.fault = fault
	return h, c, err
}

// readFields reads the header of the record and returns its type and the length of its block.
func (w *warcReader) readFields() (kind []byte, length int64, err error) {
	if head, err := w.src.text.Peek(len(warcMagic)); !bytes.Equal(head, warcMagic) {
		if err != nil && err != io.EOF {
			return nil, 0, err
		}
		return nil, 0, fmt.Errorf("%w: it begins %q", ErrNoRecord, head)
	}
	if err = w.head.read(w.src.text, w.checkLine); err != nil {
		return nil, 0, damagedHeader(err)
	}
	if length, err = strconv.ParseInt(string(w.head.get("Content-Length")), 10, 64); err != nil || length < 0 {
		return nil, 0, fmt.Errorf("%w: Content-Length is %q", ErrLength, cut(w.head.get("Content-Length")))
	}
	if kind = w.head.get("WARC-Type"); len(kind) == 0 {
		return nil, 0, fmt.Errorf("%w: it has no WARC-Type", ErrHeader)
	}
	return kind, length, nil
}

// readHeader reads the header of the record and checks what is needed of it.
func (w *warcReader) readHeader() (h warcRecord, err error) {
	kind, length, err := w.readFields()
	if err != nil {
		return h, err
	}
	h.length = length
	switch {
	case bytes.EqualFold(kind, []byte("revisit")):
		h.isRevisit = true
	case !bytes.EqualFold(kind, []byte("response")):
		return h, nil
	}
	if err := w.readTarget(&h); err != nil || h.origin == "" {
		return h, err
	}
	if h.date, err = parseDate(string(w.head.get("WARC-Date"))); err != nil {
		return h, fmt.Errorf("%w: WARC-Date is %q", ErrHeader, cut(w.head.get("WARC-Date")))
	}
	if !h.isRevisit { // wget gives those the digest of nothing
		h.digest = w.head.get("WARC-Block-Digest")
	}
	return h, nil
}

// checkLine returns io.ErrUnexpectedEOF if the header was cut off and the line is one of the next record, or ends with
// its first line.
func (w *warcReader) checkLine(line []byte) error {
	n := len(line) - len("WARC/1.0\r\n")
	isNext := n >= 0 && bytes.HasPrefix(line[n:], warcMagic) && isFirstLine(line[n:]) && len(w.head.raw) > 0
	if isNext || w.src.crossed(w.start) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// damagedHeader says what an error of header.read means of a record.
func damagedHeader(err error) error {
	if errors.Is(err, errLongHeader) || err == io.ErrUnexpectedEOF { //nolint:errorlint // the header's own
		return fmt.Errorf("%w: %w", ErrHeader, err)
	}
	return err
}

// readTarget sets the origin and the URL of a record that is wanted.
func (w *warcReader) readTarget(h *warcRecord) error {
	uri := trimURI(w.head.get("WARC-Target-URI"))
	u, err := robots.SplitURL(uri)
	if err != nil {
		return nil //nolint:nilerr // dns: and urn: records have such
	}
	isOwn := string(u.Path) == robots.TxtPath
	if !isOwn && !w.anyURL && !w.pass.targets.has(u) {
		return nil
	}
	o, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return fmt.Errorf("%w: %q: %w", ErrTarget, cut(uri), err)
	}
	h.origin = robots.Origin(o)
	if !isOwn {
		h.url = string(uri)
	}
	return nil
}

// dateLayouts are those of a WARC-Date: RFC 3339 with or without a fraction, and, in WARC 1.1, less of it.
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006"}

var errDate = errors.New("outside of the years 1 to 9999")

func parseDate(text string) (t time.Time, err error) {
	for _, layout := range dateLayouts {
		if t, err = time.Parse(layout, text); err == nil {
			if t = t.UTC(); t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
				break
			}
			return t, nil
		}
	}
	return time.Time{}, cmp.Or(err, errDate)
}

// release gives back the memory that closing alone frees.
func (w *warcReader) release() {
	w.src.release()
	w.http.decoder.release()
}

// cut shortens what a message quotes.
func cut(b []byte) []byte { return b[:min(len(b), 80)] }
