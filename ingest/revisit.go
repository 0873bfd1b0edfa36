package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"os"

	"github.com/robobatch/robobatch/robots"
)

// maxInPart is how far into the text of a gzip member or zstd frame a capture may lie for a revisit record to refer to
// it: reading it again means unpacking all before it.
const maxInPart = 16 << 20

// A location is where a record is.
type location struct {
	file   int   // index of captureIndex.paths
	offset int64 // of the record, or the segment that it starts in, in the file
	text   int64 // of the record in that segment
}

// maxPending is how many revisit records wait for what they refer to, in case it comes later.
const maxPending = 10_000

// A captureIndex finds the captures that revisit records refer to, in about 100 bytes a capture. Bodies are read again.
type captureIndex struct {
	paths    []string // of the WARC files so far
	seed     maphash.Seed
	places   map[uint64]int // hash of what may be referred to -> index of found
	found    []location
	pending  []revisit
	reader   *warcReader // for reading again
	last     int         // index of found that was read again last, plus 1; 0 is none
	reread   capture     // it
	unpacked int64       // bytes of text that were unpacked for it and those before
}

// maxUnpacked bounds the text that is unpacked for revisit records, in all: they may refer to a few kilobytes that unpack to
// millions, again and again.
const maxUnpacked = 16 << 30

// A revisit is a record that refers to another.
type revisit struct {
	capture
	own     uint64       // hash of its own WARC-Record-ID
	refs    [3]uint64    // hashes of what it refers to, the surest first; 0 is none
	problem *RecordError // to report if that cannot be had
}

// The kinds of names by which a record refers to another.
const (
	byID     = 'i' // WARC-Record-ID
	byTarget = 't' // WARC-Target-URI and WARC-Date
	byDigest = 'd' // WARC-Payload-Digest
)

// key returns the hash of a name, whose second part may be nil, or 0 if there is none. The seed is random, so no input
// is made to collide.
func (x *captureIndex) key(kind byte, name, more []byte) uint64 {
	if len(name) == 0 {
		return 0
	}
	if x.places == nil {
		x.places = map[uint64]int{}
		x.seed = maphash.MakeSeed()
	}
	var h maphash.Hash
	h.SetSeed(x.seed)
	h.WriteByte(kind)
	h.Write(name)
	h.WriteByte(0)
	h.Write(more)
	return max(1, h.Sum64())
}

// add takes in the capture of that header. Of equal payloads the first counts.
func (x *captureIndex) add(h *header, loc location) {
	if loc.text > maxInPart {
		return
	}
	i := len(x.found)
	x.found = append(x.found, loc)
	x.place(x.key(byID, h.get("WARC-Record-ID"), nil), i)
	x.place(x.key(byTarget, trimURI(h.get("WARC-Target-URI")), h.get("WARC-Date")), i)
	x.place(x.key(byDigest, h.get("WARC-Payload-Digest"), nil), i)
}

func (x *captureIndex) place(key uint64, i int) {
	if _, ok := x.places[key]; !ok && key != 0 {
		x.places[key] = i
	}
}

// revisit returns what the revisit record at which w stands, and which says c, refers to.
func (x *captureIndex) revisit(w *warcReader, c capture) *revisit {
	h := &w.head
	return &revisit{
		capture: c,
		own:     x.key(byID, h.get("WARC-Record-ID"), nil),
		refs: [3]uint64{
			x.key(byID, h.get("WARC-Refers-To"), nil),
			x.key(byTarget, trimURI(h.get("WARC-Refers-To-Target-URI")), h.get("WARC-Refers-To-Date")),
			x.key(byDigest, h.get("WARC-Payload-Digest"), nil),
		},
		problem: w.problem(ErrRevisit),
	}
}

// needsStatus reports whether the record does not tell its status: it has no header of its own, or says that nothing
// changed.
func (c *capture) needsStatus() bool {
	return c.isBare || c.response.Status == http.StatusNotModified
}

// isWhole reports whether nothing of what the record repeats matters.
func (c *capture) isWhole() bool { return !c.needsStatus() && c.response.Status/100 != 2 }

// resolve completes a revisit by what it refers to: the body, and maybe the status. The error is ErrRevisit.
func (x *captureIndex) resolve(r *revisit) error {
	for _, key := range r.refs {
		i, ok := x.places[key]
		if !ok {
			continue
		}
		earlier, err := x.again(i)
		if err != nil {
			return fmt.Errorf("%w: read it again: %w", ErrRevisit, err)
		}
		if r.needsStatus() {
			r.response.Status = earlier.response.Status
		}
		r.response.Location = cmp.Or(r.response.Location, earlier.response.Location)
		r.response.Body, r.response.Size = bytes.Clone(earlier.response.Body), earlier.response.Size
		x.place(r.own, i)
		return nil
	}
	return ErrRevisit
}

// wait keeps a revisit for the end of the pass, and reports whether there is room for it.
func (x *captureIndex) wait(r *revisit) bool {
	if len(x.pending) == maxPending {
		return false
	}
	x.pending = append(x.pending, *r)
	return true
}

// finish yields the revisits that waited, and reports whether yield wants more.
func (p *pass) finish(yield func(robots.Response) bool) bool {
	for i := range p.captures.pending {
		r := &p.captures.pending[i]
		if r.problem.Err = p.captures.resolve(r); r.problem.Err != nil {
			p.report(r.problem)
		} else if !yield(r.response) {
			return false
		}
	}
	return true
}

// again returns the capture i of found.
func (x *captureIndex) again(i int) (capture, error) {
	if x.last == i+1 {
		return x.reread, nil
	}
	if x.unpacked > maxUnpacked {
		return capture{}, errUnpacked
	}
	c, err := x.readAt(x.found[i])
	x.unpacked += x.found[i].text + c.response.Size
	if err == nil {
		x.last, x.reread = i+1, c
	}
	return c, err
}

var errUnpacked = errors.New("over 16 GiB were unpacked for such records")

// readAt reads a capture again.
func (x *captureIndex) readAt(loc location) (c capture, err error) {
	if x.reader == nil {
		x.reader = &warcReader{anyURL: true}
	}
	file, err := os.Open(x.paths[loc.file])
	if err != nil {
		return c, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	info, err := file.Stat()
	if err != nil {
		return c, err
	}
	w := x.reader
	if err := w.src.reset(x.paths[loc.file], file, info.Size()); err != nil {
		return c, err
	}
	w.src.openAt(loc.offset, 0, 0)
	if w.src.format == formatText {
		w.src.seekText(loc.offset)
	}
	w.src.discard(loc.text)
	w.start = w.src.pos()
	if _, c, err = w.capture(); err == nil {
		err = c.fault
	}
	return c, err
}

// trimURI cuts off the angle brackets that the grammar of WARC 1.0 puts around a URI.
func trimURI(uri []byte) []byte {
	if inner, ok := bytes.CutPrefix(uri, []byte("<")); ok {
		return bytes.TrimSuffix(inner, []byte(">"))
	}
	return uri
}
