package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"

	"github.com/robobatch/robobatch/robots"
)

// maxInPart bounds the text before a capture in its gzip member or zstd frame: to read the capture
// again for a revisit record, all of that is unpacked again.
const maxInPart = 16 << 20

// A place is a file and a record's position there.
type place struct {
	file int // index of captureIndex.paths
	location
}

// maxPending is the number of revisit records that wait for the record that they refer to, in case it comes later.
const maxPending = 10_000

// A captureIndex finds the captures that revisit records refer to. It takes about 100 bytes a
// capture: bodies are read again.
type captureIndex struct {
	paths    []string // of the WARC files so far
	seed     maphash.Seed
	places   map[uint64]int // hash of a possible target -> index of found
	found    []place
	pending  []revisit
	reader   records // for reading again
	last     int     // index of found that was read again last, plus 1; 0 means none
	reread   capture // it
	unpacked int64   // bytes of text that were unpacked for it and those before
}

// maxUnpacked bounds the text that is unpacked for all revisit records of a pass: each may refer to
// a few kilobytes that unpack to millions.
const maxUnpacked = 16 << 30

// A revisit is a record that refers to another.
type revisit struct {
	capture
	own     uint64       // hash of its own WARC-Record-ID
	refs    [3]uint64    // hashes of its target, the surest first; 0 means none
	problem *RecordError // to report if that cannot be had
}

// The kinds of names that a record uses to refer to another.
const (
	byID     = 'i' // WARC-Record-ID
	byTarget = 't' // WARC-Target-URI and WARC-Date
	byDigest = 'd' // WARC-Payload-Digest
)

// key returns the hash of a name in two parts, the second may be nil; 0 for an empty name.
// The seed is random, so no input can be made to collide.
func (x *captureIndex) key(kind byte, name, more []byte) uint64 {
	if len(name) == 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(x.seed)
	h.WriteByte(kind)
	h.Write(name)
	h.WriteByte(0)
	h.Write(more)
	return max(1, h.Sum64())
}

func (x *captureIndex) place(key uint64, i int) {
	if _, ok := x.places[key]; !ok && key != 0 {
		x.places[key] = i
	}
}

// needsStatus reports whether the record has no status of its own: it has no header, or its status
// is "not modified".
func (c *capture) needsStatus() bool {
	return c.isBare || c.response.Status == http.StatusNotModified
}

// isWhole reports whether the record needs nothing from the one that it refers to.
func (c *capture) isWhole() bool { return !c.needsStatus() && c.response.Status/100 != 2 }

// resolve adds the body, and the status if needed, of the capture that a revisit refers to. The
// error is an ErrRevisit.
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

// wait stores a revisit for the end of the pass, and reports whether there is room for it.
func (x *captureIndex) wait(r *revisit) bool {
	if len(x.pending) == maxPending {
		return false
	}
	x.pending = append(x.pending, *r)
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
func (x *captureIndex) readAt(at place) (c capture, err error) {
	file, size, err := openRegular(x.paths[at.file])
	if err != nil {
		return c, err
	}
	defer file.Close()
	r := &x.reader
	if err := r.reset(x.paths[at.file], file, size); err != nil {
		return c, err
	}
	r.src.OpenAt(at.offset, at.text)
	r.start = r.src.Pos()
	if _, c, err = r.capture(anyURL); err == nil {
		err = c.fault
	}
	return c, err
}

// anyURL wants the capture of any URL.
func anyURL(robots.URL) bool { return true }

// trimURI cuts off the angle brackets that the grammar of WARC 1.0 puts around a URI.
func trimURI(uri []byte) []byte {
	if inner, ok := bytes.CutPrefix(uri, []byte("<")); ok {
		return bytes.TrimSuffix(inner, []byte(">"))
	}
	return uri
}
