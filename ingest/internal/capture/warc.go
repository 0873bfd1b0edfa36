package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/robots"
)

// A warcRecord holds the facts in the header of a record.
type warcRecord struct {
	isRevisit bool
	origin    robots.Origin // "" if it is not a wanted capture
	url       string        // of the captured page, if that is not a robots.txt
	date      time.Time
	length    int64
	truncated string // WARC-Truncated in lower case: why the record does not have all that was sent; "" if it does
	digest    []byte // of the block; valid until the next header
}

// A warcReader finds the captures of robots.txt in WARC files, and of the pages they redirect to.
type warcReader struct {
	records
	pass *Pass
}

// record reads the record where the text stands. used reports whether it gives a response now.
func (w *warcReader) record() (r robots.Response, used bool, err error) {
	h, c, err := w.capture(w.pass.targets.has)
	if err != nil {
		return r, false, err
	}
	isSenseless := errors.Is(c.fault, ErrHeader) || errors.Is(c.fault, ErrTarget)
	if w.count(!isSenseless); h.origin == "" && c.fault == nil {
		return r, false, nil
	}
	if c.fault != nil {
		w.pass.problems.addProblem(w.problem(c.fault))
		c.response = robots.Response{Error: c.fault.Error()} // the crawler did not get a valid answer either
	}
	c.response.Origin, c.response.URL, c.response.Name, c.response.FetchedAt = h.origin, h.url, w.name, h.date
	switch {
	case isSenseless, errors.Is(c.fault, ErrDigest): // what the crawler got, or from whom, is unknown
		return r, false, nil
	case c.fault != nil:
	case !h.isRevisit:
		// Add the capture where r stands. Its file is the last of paths. Of equal payloads the
		// first counts.
		x := &w.pass.captures
		h, loc := &w.head, w.location()
		if loc.text <= maxInPart {
			i := len(x.found)
			x.found = append(x.found, place{len(x.paths) - 1, loc})
			x.place(x.key(byID, h.Get("WARC-Record-ID"), nil), i)
			x.place(x.key(byTarget, trimURI(h.Get("WARC-Target-URI")), h.Get("WARC-Date")), i)
			x.place(x.key(byDigest, h.Get("WARC-Payload-Digest"), nil), i)
		}
	case !c.isWhole():
		x := &w.pass.captures
		h := &w.head
		again := &revisit{
			capture: c,
			own:     x.key(byID, h.Get("WARC-Record-ID"), nil),
			refs: [3]uint64{
				x.key(byID, h.Get("WARC-Refers-To"), nil),
				x.key(byTarget, trimURI(h.Get("WARC-Refers-To-Target-URI")), h.Get("WARC-Refers-To-Date")),
				x.key(byDigest, h.Get("WARC-Payload-Digest"), nil),
			},
			problem: w.problem(ErrRevisit),
		}
		if err := w.pass.captures.resolve(again); err != nil {
			if !w.pass.captures.wait(again) {
				w.pass.problems.addProblem(w.problem(err))
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

// A capture holds the facts in the block of a record.
type capture struct {
	response robots.Response
	isBare   bool  // the block is empty: a revisit record has no header of its own
	fault    error // the fault of the block, whose borders are right; nil if nothing is
}

// capture reads the record where the text stands, to its end. It reads the block of a
// robots.txt, or of a URL that is wanted. Its error means that the end of the record is unknown;
// any other fault is in the capture.
func (r *records) capture(wanted func(robots.URL) bool) (h warcRecord, c capture, err error) {
	kind, length, err := r.readFields()
	if err != nil {
		return h, c, err
	}
	if h, c.fault = r.target(kind, wanted); c.fault != nil {
		h = warcRecord{} // the record is skipped
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
		if c.fault == nil && !h.isRevisit {
			c.fault = incomplete(h.truncated, m.Missing)
		}
		if c.isBare = m.IsEmpty; h.isRevisit && c.isBare {
			c.fault = nil
		}
	}
	err = r.block.end() // it explains the fault, too
	if errors.Is(err, ErrDigest) && !r.block.hasRecord {
		c.fault, err = err, nil
	}
	return h, c, err
}

// incomplete returns the error of an answer that the crawler did not get whole. An answer it cut off
// itself, because it was long, is not a fault. missing is the bytes that the answer lacks of its
// Content-Length.
func incomplete(truncated string, missing int64) error {
	switch {
	case truncated == "length":
		return nil
	case truncated != "":
		return fmt.Errorf("%w: WARC-Truncated is %s", ErrCut, fault.Short([]byte(truncated)))
	case missing > 0:
		return fmt.Errorf("%w: it is %d bytes shorter than its Content-Length", ErrCut, missing)
	}
	return nil
}

// target returns what the fields of the header say about a capture that is wanted, without the
// length. Its error is of a record whose borders are right.
func (r *records) target(kind []byte, wanted func(robots.URL) bool) (h warcRecord, err error) {
	switch {
	case len(kind) == 0:
		return h, fmt.Errorf("%w: it has no WARC-Type", ErrHeader)
	case bytes.EqualFold(kind, []byte("revisit")):
		h.isRevisit = true
	case !bytes.EqualFold(kind, []byte("response")):
		return h, nil
	}
	if err := r.readTarget(&h, wanted); err != nil || h.origin == "" {
		return h, err
	}
	if h.date, err = parseDate(string(r.head.Get("WARC-Date"))); err != nil {
		return h, fmt.Errorf("%w: WARC-Date is %q", ErrHeader, fault.Short(r.head.Get("WARC-Date")))
	}
	h.truncated = strings.ToLower(string(r.head.Get("WARC-Truncated")))
	if !h.isRevisit { // wget gives those the digest of nothing
		h.digest = r.head.Get("WARC-Block-Digest")
	}
	return h, nil
}

// readTarget sets the origin and the URL of the record, if it is wanted.
func (r *records) readTarget(h *warcRecord, wanted func(robots.URL) bool) error {
	uri := trimURI(r.head.Get("WARC-Target-URI"))
	u, err := robots.SplitURL(uri)
	if err != nil {
		return nil //nolint:nilerr // dns: and urn: records have such
	}
	isOwn := string(u.Path) == robots.TxtPath
	if !isOwn && !wanted(u) {
		return nil
	}
	o, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return fmt.Errorf("%w: %q: %w", ErrTarget, fault.Short(uri), err)
	}
	h.origin = robots.Origin(o)
	if !isOwn {
		h.url = string(uri)
	}
	return nil
}

// dateLayouts are those of a WARC-Date: RFC 3339 with or without a fraction, and, in WARC 1.1, less
// of it.
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006"}

var errDate = errors.New("outside of the years 1 to 9999")

// parseDate reads a time in one of the dateLayouts, of the years 1 to 9999.
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
