package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

// An Info describes a version of an object.
type Info struct {
	Size    int64
	Tag     string // ETag without quotes; "" if the store has none
	Changed time.Time
}

// isSame reports whether both describe the same version.
func (i Info) isSame(other Info) bool {
	return i.Size == other.Size && i.Tag == other.Tag && (i.Tag != "" || i.Changed.Equal(other.Changed))
}

// infoOf converts the description in a response.
func infoOf(size int64, got *minio.ObjectInfo) Info {
	return Info{size, got.ETag, got.LastModified.UTC()}
}

// Stat describes an object. It returns the version that this process saw first, without asking again; opening the
// object detects a change.
func Stat(name string) (Info, error) {
	s, err := processStore()
	if err != nil {
		return Info{}, err
	}
	return s.stat(name)
}

// stat is [Stat] for this store.
func (s *store) stat(name string) (info Info, err error) {
	o, err := splitKey(name)
	if err != nil {
		return info, err
	}
	if seen, ok := s.versions.Load(name); ok {
		return seen.(Info), nil
	}
	err = s.try(interrupted, toRead, func() error {
		got, err := s.client.stat(interrupted, o.bucket, o.key, minio.StatObjectOptions{})
		info = infoOf(got.Size, &got)
		if answer, ok := errors.AsType[minio.ErrorResponse](err); ok && answer.StatusCode < 500 {
			return s.reason(o, err)
		}
		return err
	})
	if err == nil {
		err = s.checkVersion(name, info)
	}
	return info, err
}

// reason returns the store's reason for rejecting an object, as the error of another request. The response to
// HEAD, which refusal is the error of, has no text, so it requests the first bytes. It returns refusal if that request
// succeeds.
func (s *store) reason(o object, refusal error) error {
	var opt minio.GetObjectOptions
	if err := opt.SetRange(0, 1); err != nil {
		return refusal
	}
	body, _, _, err := s.client.get(interrupted, o.bucket, o.key, opt)
	if err != nil {
		return err
	}
	return errors.Join(refusal, body.Close())
}

// An Object is an open object. Its methods may be called concurrently, except Read.
type Object struct {
	store *store
	name  string
	at    object
	info  Info
	pos   int64 // of Read

	mu      sync.Mutex
	streams []*stream // idle, the most recently used last
}

const (
	firstWindow = 256 << 10 // bytes of a stream's first request
	lastWindow  = 64 << 20  // maximum bytes per request
	maxSkip     = 64 << 10  // maximum bytes that are read and discarded instead of making a new request
	maxStreams  = 4         // maximum idle streams
	maxFaults   = 10        // consecutive errors of a stream without progress
	anyProgress = 1 << 20   // bytes that count as progress
)

// Open opens an object.
func Open(name string) (*Object, error) {
	s, err := processStore()
	if err != nil {
		return nil, err
	}
	return s.openObject(name)
}

// openObject is [Open] for this store. The first request for data also determines the version.
func (s *store) openObject(name string) (*Object, error) {
	at, err := splitKey(name)
	if err != nil {
		return nil, err
	}
	o := &Object{store: s, name: name, at: at, info: Info{Size: -1}}
	first := &stream{object: o, window: firstWindow}
	err = s.try(interrupted, toRead, func() error { return first.requestWindow() })
	if err == nil {
		err = s.checkVersion(name, o.info)
	}
	if err != nil {
		first.close()
		return nil, err
	}
	o.streams = append(o.streams, first)
	return o, nil
}

// Info describes the open version.
func (o *Object) Info() Info { return o.info }

// Read reads sequentially. At the end, the error is io.EOF, without bytes; other errors are those of ReadAt.
func (o *Object) Read(b []byte) (int, error) {
	n, err := o.ReadAt(b, o.pos)
	o.pos += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// A ReadError is the error of reading an open object.
type ReadError struct{ Err error }

// Error returns the text of the cause.
func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// ReadAt reads at any position. The error is io.EOF, also if fewer bytes are left than requested, fs.ErrInvalid for a
// negative position, or a [*ReadError]. Sequential reads are served from one response of the store, as long as there
// are at most maxStreams readers.
func (o *Object) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	if off >= o.info.Size {
		return 0, io.EOF
	}
	short := int64(len(b)) > o.info.Size-off
	if short {
		b = b[:o.info.Size-off]
	}
	s := o.streamAt(off, len(b))
	n, err := s.readFull(b)
	if err != nil {
		s.close()
		return n, &ReadError{err}
	}
	// Keep the stream for the next sequential read.
	o.mu.Lock()
	o.streams = append(o.streams, s)
	var old *stream
	if len(o.streams) > maxStreams {
		old = o.streams[0]
		o.streams = slices.Delete(o.streams, 0, 1)
	}
	o.mu.Unlock()
	if old != nil {
		old.close()
	}
	if short {
		err = io.EOF
	}
	return n, err
}

// streamAt returns the idle stream that is nearest before a position, by at most maxSkip bytes, or a new one. The
// stream is no longer idle: the caller returns it to o.streams or closes it. size is the number of bytes that will be
// read.
func (o *Object) streamAt(off int64, size int) *stream {
	o.mu.Lock()
	best := -1
	for i, s := range o.streams {
		if s.at <= off && off-s.at <= maxSkip && (best < 0 || s.at > o.streams[best].at) {
			best = i
		}
	}
	if best < 0 {
		o.mu.Unlock()
		return &stream{object: o, at: off, window: max(firstWindow, int64(size))}
	}
	s := o.streams[best]
	o.streams = slices.Delete(o.streams, best, best+1)
	o.mu.Unlock()
	s.skip = off - s.at
	return s
}

// Close closes the object. It must not be called during ReadAt.
func (o *Object) Close() error {
	for _, s := range o.streams {
		s.close()
	}
	o.streams = nil
	return nil
}

// A stream reads an object sequentially, by one request after the other, each for a larger window.
type stream struct {
	object *Object
	body   io.ReadCloser // of the current response; nil if there is none
	at     int64         // position of the next byte
	end    int64         // position after the body
	window int64         // bytes of the next request
	skip   int64         // bytes to discard
}

// readFull fills b. It continues after errors that may pass, up to maxFaults without progress. The caller must close
// the stream after an error.
func (s *stream) readFull(b []byte) (n int, err error) {
	store, faults, since := s.object.store, 0, s.at
	for n < len(b) || s.skip > 0 {
		var m int
		if m, err = s.readSome(b[n:]); m > 0 {
			n += m
			if s.at-since >= anyProgress {
				since, faults = s.at, 0
			}
		}
		if err == nil {
			continue
		}
		s.close()
		switch faults++; {
		case !isPassing(err):
			return n, store.explain(err, toRead)
		case faults >= maxFaults:
			return n, &outage{fmt.Errorf("%w (%s): run it again later", store.explain(err, toRead), attemptsText(faults)), true}
		}
		if err := store.pauseAfter(interrupted, faults); err != nil {
			return n, err
		}
	}
	return n, nil
}

// readSome reads up to len(b) bytes; it may read none without an error. If bytes are to be discarded, it reads some of
// these, and returns 0. It requests the next window if there is no response.
func (s *stream) readSome(b []byte) (int, error) {
	if s.body == nil {
		if err := s.object.store.try(interrupted, toRead, s.requestWindow); err != nil {
			return 0, err
		}
	}
	into := b
	if s.skip > 0 {
		into = make([]byte, min(s.skip, s.end-s.at))
	}
	n, err := s.body.Read(into[:min(int64(len(into)), s.end-s.at)])
	s.at += int64(n)
	switch {
	case s.at == s.end:
		s.body.Close()
		s.body, err = nil, nil
	case errors.Is(err, io.EOF):
		err = errShort
	}
	if s.skip > 0 {
		s.skip -= int64(n)
		n = 0
	}
	return n, err
}

// requestWindow requests the next window of the open version, and makes the response the current one. The first call
// for an object also sets its Info. The error is ErrChanged if the object has another version now. For an empty object
// there is no response.
func (s *stream) requestWindow() error {
	o := s.object
	end := s.at + s.window
	if o.info.Size >= 0 {
		end = min(end, o.info.Size)
	}
	var opt minio.GetObjectOptions
	if err := opt.SetRange(s.at, end-1); err != nil {
		return err
	}
	if o.info.Tag != "" && !strings.HasPrefix(o.info.Tag, "W/") {
		opt.SetMatchETag(o.info.Tag) //nolint:errcheck // it is not empty
	}
	body, got, header, err := o.store.client.get(interrupted, o.at.bucket, o.at.key, opt)
	if answer, ok := errors.AsType[minio.ErrorResponse](err); ok && answer.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		// The object does not have the range: it is empty, or has changed.
		if o.info.Size >= 0 {
			return ErrChanged
		}
		got, err := o.store.client.stat(interrupted, o.at.bucket, o.at.key, minio.StatObjectOptions{})
		if err != nil {
			return err
		}
		if got.Size != 0 {
			return errRange
		}
		o.info = infoOf(0, &got)
		return nil
	}
	if err != nil {
		return err
	}
	start, last, size, err := rangeOf(header, got.Size)
	now := infoOf(size, &got)
	switch {
	case err != nil:
	case o.info.Size >= 0 && !o.info.isSame(now):
		err = ErrChanged
	case start != s.at:
		err = errRange
	}
	if err != nil {
		body.Close()
		return err
	}
	if o.info.Size < 0 {
		o.info = now
	}
	s.body, s.end = body, min(last, end, size)
	s.window = min(lastWindow, s.window*4)
	if s.at == s.end {
		return s.body.Close()
	}
	return nil
}

// rangeOf returns the range of bytes in a response, start to last (exclusive), and the size of the object. length is
// the length of the response, negative if unknown. Without a Content-Range, the response has the whole object. The
// error wraps errRange.
func rangeOf(header http.Header, length int64) (start, last, size int64, err error) {
	text := header.Get("Content-Range")
	if text == "" {
		if length < 0 {
			return 0, 0, 0, fmt.Errorf("%w: the response has no length of the object", errRange)
		}
		return 0, length, length, nil
	}
	part, all, ok := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	from, to, ok2 := strings.Cut(part, "-")
	start, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	size, err3 := strconv.ParseInt(all, 10, 64)
	if !ok || !ok2 || errors.Join(err1, err2, err3) != nil || start < 0 || last < start || size <= last {
		return 0, 0, 0, errRange
	}
	return start, last + 1, size, nil
}

// close closes the current response, if there is one. It reads a short rest, so that the connection can be reused.
func (s *stream) close() {
	if s.body == nil {
		return
	}
	if s.end-s.at <= firstWindow {
		io.CopyN(io.Discard, s.body, s.end-s.at) //nolint:errcheck // the rest is not needed
	}
	s.body.Close()
	s.body = nil
}

// Blocks reads an object at random, a few bytes at a time, as packs are read. It requests blocks of 256 KiB, and caches
// the most recently used ones. It is safe for concurrent use.
type Blocks struct {
	object *Object

	mu     sync.Mutex
	blocks map[int64]*block
	clock  uint64
}

// A block is a cached part of the object.
type block struct {
	used  uint64 // value of clock at the last use
	once  sync.Once
	bytes []byte
	err   error
}

const (
	blockSize = 256 << 10
	maxBlocks = 64
)

// BlocksMemory is the maximum memory of Blocks, in bytes.
const BlocksMemory = blockSize * maxBlocks

// OpenBlocks opens an object for random reads.
func OpenBlocks(name string) (*Blocks, error) {
	o, err := Open(name)
	if err != nil {
		return nil, err
	}
	return &Blocks{object: o, blocks: map[int64]*block{}}, nil
}

// Info describes the open version.
func (b *Blocks) Info() Info { return b.object.Info() }

// ReadAt reads at any position, from cached blocks unless p has at least the size of a block. At the end of the object,
// the error is io.EOF. An error of reading a block is returned again for later reads of it.
func (b *Blocks) ReadAt(p []byte, off int64) (n int, err error) {
	if len(p) >= blockSize {
		return b.object.ReadAt(p, off)
	}
	for n < len(p) {
		at := (off + int64(n)) / blockSize
		b.mu.Lock()
		b.clock++
		one := b.blocks[at]
		if one == nil {
			if len(b.blocks) >= maxBlocks { // drop the least recently used block
				oldest, least := int64(-1), b.clock
				for number, other := range b.blocks {
					if other.used < least {
						oldest, least = number, other.used
					}
				}
				delete(b.blocks, oldest)
			}
			one = &block{}
			b.blocks[at] = one
		}
		one.used = b.clock
		b.mu.Unlock()
		one.once.Do(func() {
			left := b.object.Info().Size - at*blockSize
			if left <= 0 {
				return
			}
			one.bytes = make([]byte, min(blockSize, left))
			_, one.err = b.object.ReadAt(one.bytes, at*blockSize)
		})
		block, err := one.bytes, one.err
		if err != nil {
			return n, err
		}
		from := off + int64(n) - at*blockSize
		if from >= int64(len(block)) {
			return n, io.EOF
		}
		n += copy(p[n:], block[from:])
	}
	return n, nil
}

// Close closes the object. It must not be called during ReadAt.
func (b *Blocks) Close() error { return b.object.Close() }
