package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/robots"
)

// A warcRecord holds the data in the header of a record.
type warcRecord struct {
	isRevisit bool
	origin    robots.Origin // "" if the capture is not wanted
	url       string        // URL of the captured page, if it is not a robots.txt
	date      time.Time
	length    int64
	truncated string // WARC-Truncated in lower case: why data is missing; "" if complete
	digest    []byte // digest of the block; valid until the next header
}

// A warcReader finds the captures of robots.txt in WARC files, and of the pages they redirect to.
type warcReader struct {
	records
	pass *Pass
}

// read yields the captures of a file, and reports whether yield wants more. Invalid records become problems, and a lost
// end becomes a Damage. The error is that the file cannot be read, or has no captures.
func (w *warcReader) read(name string, file io.ReaderAt, size int64, yield func(robots.Response) bool) (more bool, err error) {
	before := w.pass.problems.Total
	if err := w.reset(name, file, size); err != nil {
		return true, err
	}
	damaged := false
	for !damaged && w.nextRecord() {
		r, used, err := w.readRecord()
		if w.src.IOErr() != nil {
			break
		}
		if err != nil {
			if damaged = !w.resume(err); !damaged {
				w.pass.problems.addProblem(w.damage.At)
			}
			continue
		}
		damaged = w.isLossy()
		if used && !yield(r) {
			return false, nil
		}
	}
	switch {
	case w.src.IOErr() != nil:
		return true, w.src.IOErr()
	case w.intact == 0:
		if damaged {
			w.pass.problems.addProblem(w.damage.At)
		}
		return true, w.pass.problems.noCapture(before)
	case damaged:
		w.pass.damages = append(w.pass.damages, w.damage)
	}
	return true, nil
}

// readRecord reads the record at the current position. used reports whether it gives a response now: it is wanted,
// and does not wait for another record. A fault inside the record becomes a problem. After an error, the end of the
// record is unknown.
func (w *warcReader) readRecord() (r robots.Response, used bool, err error) {
	h, c, err := w.readCapture(w.pass.targets.has)
	if err != nil {
		return r, false, err
	}
	isSenseless := errors.Is(c.fault, ErrHeader) || errors.Is(c.fault, ErrTarget)
	if w.countRecord(!isSenseless); h.origin == "" && c.fault == nil {
		return r, false, nil
	}
	if c.fault != nil {
		w.pass.problems.addProblem(w.newProblem(c.fault))
		c.response = robots.Response{Error: c.fault.Error()} // the crawler did not get a valid response either
	}
	c.response.Origin, c.response.URL, c.response.Name, c.response.FetchedAt = h.origin, h.url, w.name, h.date
	switch {
	case isSenseless, errors.Is(c.fault, ErrDigest): // what the crawler received, or from whom, is unknown
		return r, false, nil
	case c.fault != nil:
	case !h.isRevisit:
		// Later revisits may refer to it. For equal payloads, the first capture counts.
		x := &w.pass.captures
		h, loc := &w.head, w.location()
		if loc.text <= maxInPart {
			i := len(x.found)
			x.found = append(x.found, place{len(x.paths) - 1, loc})
			x.addPlace(x.keyOf(byID, h.Get("WARC-Record-ID"), nil), i)
			x.addPlace(x.keyOf(byTarget, trimURI(h.Get("WARC-Target-URI")), h.Get("WARC-Date")), i)
			x.addPlace(x.keyOf(byDigest, h.Get("WARC-Payload-Digest"), nil), i)
		}
	case c.needsStatus() || c.response.Status/100 == 2:
		x := &w.pass.captures
		h := &w.head
		again := &revisit{
			capture: c,
			own:     x.keyOf(byID, h.Get("WARC-Record-ID"), nil),
			refs: [3]uint64{
				x.keyOf(byID, h.Get("WARC-Refers-To"), nil),
				x.keyOf(byTarget, trimURI(h.Get("WARC-Refers-To-Target-URI")), h.Get("WARC-Refers-To-Date")),
				x.keyOf(byDigest, h.Get("WARC-Payload-Digest"), nil),
			},
			problem: w.newProblem(ErrRevisit),
		}
		if err := x.resolve(again); err != nil {
			if len(x.pending) < maxPending {
				x.pending = append(x.pending, *again)
			} else {
				w.pass.problems.addProblem(w.newProblem(err))
			}
			return r, false, nil
		}
		c = again.capture
	}
	if c.response.Status/100 == 3 {
		w.pass.targets.addTarget(cmp.Or(h.url, string(h.origin)+robots.TxtPath), c.response.Location)
	}
	return c.response, true, nil
}

// A capture holds the data in the block of a record.
type capture struct {
	response robots.Response
	isBare   bool  // empty block: a revisit record without an HTTP header
	fault    error // fault in a block with valid borders; nil if valid
}

// readCapture reads the record at the current position to its end. It reads the block of a robots.txt, or of a URL for
// which wanted returns true. It returns an error if the end of the record is unknown; any other fault is in the
// capture. Without a wanted block, h.origin is "".
func (r *records) readCapture(wanted func(robots.URL) bool) (h warcRecord, c capture, err error) {
	kind, length, err := r.readFields()
	if err != nil {
		return h, c, err
	}
	if h, c.fault = r.target(kind, wanted); c.fault != nil {
		h = warcRecord{} // skip the record
	}
	h.length = length
	if err := r.block.reset(r.src, h, r.start); err != nil {
		return h, c, err
	}
	if h.origin != "" {
		var m Response
		m, c.fault = r.http.ReadResponse(&r.block)
		c.response = robots.Response{
			Status: m.Status, Location: m.Location, Body: m.Body, Size: m.Size, HasMaxAge: m.HasMaxAge, MaxAge: m.MaxAge,
		}
		if c.fault == nil && !h.isRevisit && h.truncated != "length" { // the crawler's own limit is not a fault
			switch {
			case h.truncated != "":
				c.fault = fmt.Errorf("%w: WARC-Truncated is %s", ErrCut, fault.Short([]byte(h.truncated)))
			case m.Missing > 0:
				c.fault = fmt.Errorf("%w: it is %d bytes shorter than its Content-Length", ErrCut, m.Missing)
			}
		}
		if c.isBare = m.IsEmpty; h.isRevisit && c.isBare {
			c.fault = nil
		}
	}
	err = r.block.finish() // also the cause of the fault
	if errors.Is(err, ErrDigest) && !r.block.hasRecord {
		c.fault, err = err, nil
	}
	return h, c, err
}

// target returns the facts in the header of a record, except its length: the origin, if the capture is wanted, and
// the fields about it. kind is the type of the record. After an error, the end of the record is still known.
func (r *records) target(kind []byte, wanted func(robots.URL) bool) (h warcRecord, err error) {
	switch {
	case len(kind) == 0:
		return h, fmt.Errorf("%w: it has no WARC-Type", ErrHeader)
	case bytes.EqualFold(kind, []byte("revisit")):
		h.isRevisit = true
	case !bytes.EqualFold(kind, []byte("response")):
		return h, nil
	}
	uri := trimURI(r.head.Get("WARC-Target-URI"))
	u, err := robots.SplitURL(uri)
	if err != nil {
		return h, nil //nolint:nilerr // a dns: or urn: record
	}
	isOwn := string(u.Path) == robots.TxtPath
	if !isOwn && !wanted(u) {
		return h, nil
	}
	o, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return h, fmt.Errorf("%w: %q: %w", ErrTarget, fault.Short(uri), err)
	}
	h.origin = robots.Origin(o)
	if !isOwn {
		h.url = string(uri)
	}
	if h.date, err = parseDate(string(r.head.Get("WARC-Date"))); err != nil {
		return h, fmt.Errorf("%w: WARC-Date is %q", ErrHeader, fault.Short(r.head.Get("WARC-Date")))
	}
	h.truncated = strings.ToLower(string(r.head.Get("WARC-Truncated")))
	if !h.isRevisit { // wget writes the digest of an empty payload for revisits
		h.digest = r.head.Get("WARC-Block-Digest")
	}
	return h, nil
}

// dateLayouts are the formats of a WARC-Date: RFC 3339 with an optional fraction and, in WARC 1.1, with less precision.
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006"}

var errDate = errors.New("outside of the years 1 to 9999")

// parseDate parses a time in one of the dateLayouts, in the years 1 to 9999, and returns it in UTC.
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
