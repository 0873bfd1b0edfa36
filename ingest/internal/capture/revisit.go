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

// maxInPart is the maximum amount of text before a capture in its gzip member or zstd frame. All of it is unpacked
// again when a revisit record needs the capture.
const maxInPart = 16 << 20

// A place is the position of a record in a file.
type place struct {
	file int // index of captureIndex.paths
	location
}

// maxPending is the maximum number of revisit records that wait for a later record.
const maxPending = 10_000

// A captureIndex finds the captures that revisit records refer to. It takes about 100 bytes per capture, because bodies
// are read again from the file.
type captureIndex struct {
	paths    []string // WARC files so far
	seed     maphash.Seed
	places   map[uint64]int // hash of a possible target -> index of found
	found    []place
	pending  []revisit
	reader   records // for reading again
	last     int     // index in found of the last capture read again, plus 1; 0 means none
	reread   capture // that capture
	unpacked int64   // bytes unpacked so far to read captures again
}

// maxUnpacked is the maximum amount of text unpacked for all revisit records of a pass: each may refer to a few
// kilobytes that unpack to millions.
const maxUnpacked = 16 << 30

// A revisit is a record that refers to another.
type revisit struct {
	capture
	own     uint64       // hash of the record's own WARC-Record-ID
	refs    [3]uint64    // hashes of possible targets, the most reliable first; 0 means none
	problem *RecordError // reported if no target is found
}

// Kinds of references between records.
const (
	byID     = 'i' // WARC-Record-ID
	byTarget = 't' // WARC-Target-URI and WARC-Date
	byDigest = 'd' // WARC-Payload-Digest
)

// keyOf returns the hash of a name in two parts, of which the second may be nil; 0 for an empty name. kind is the kind
// of reference, such as byID. The seed is random, so an attacker cannot cause collisions.
func (x *captureIndex) keyOf(kind byte, name, more []byte) uint64 {
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

// addPlace adds found[i] under a key, unless the key is 0 or taken.
func (x *captureIndex) addPlace(key uint64, i int) {
	if _, ok := x.places[key]; !ok && key != 0 {
		x.places[key] = i
	}
}

// needsStatus reports whether a revisit has no usable status: it has no HTTP header, or its status is "not modified".
func (c *capture) needsStatus() bool {
	return c.isBare || c.response.Status == http.StatusNotModified
}

// resolve sets the body of r.response, and the status and the location if needed, from the capture that the revisit
// refers to. The error is an ErrRevisit.
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
		x.addPlace(r.own, i)
		return nil
	}
	return ErrRevisit
}

var errUnpacked = errors.New("over 16 GiB were unpacked for such records")

// again returns found[i], read again from its file. It remembers the last result, whose body the caller must not
// change. The error is errUnpacked once too much was unpacked.
func (x *captureIndex) again(i int) (c capture, err error) {
	if x.last == i+1 {
		return x.reread, nil
	}
	if x.unpacked > maxUnpacked {
		return c, errUnpacked
	}
	at, r := x.found[i], &x.reader
	file, size, err := openRegular(x.paths[at.file])
	if err != nil {
		return c, err
	}
	defer file.Close()
	if err := r.reset(x.paths[at.file], file, size); err != nil {
		return c, err
	}
	r.src.OpenAt(at.offset, at.text)
	r.start = r.src.Pos()
	_, c, err = r.readCapture(func(robots.URL) bool { return true })
	x.unpacked += at.text + c.response.Size
	if err = cmp.Or(err, c.fault); err == nil {
		x.last, x.reread = i+1, c
	}
	return c, err
}

// trimURI removes the angle brackets that the grammar of WARC 1.0 puts around a URI.
func trimURI(uri []byte) []byte {
	if inner, ok := bytes.CutPrefix(uri, []byte("<")); ok {
		return bytes.TrimSuffix(inner, []byte(">"))
	}
	return uri
}
