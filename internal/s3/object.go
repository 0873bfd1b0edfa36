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

// An Info has a store's facts about an object.
type Info struct {
	Size    int64
	Tag     string // the ETag without quotes; "" if the store has none
	Changed time.Time
}

// isSame reports whether two answers are about the same version of an object.
func (i Info) isSame(other Info) bool {
	return i.Size == other.Size && i.Tag == other.Tag && (i.Tag != "" || i.Changed.Equal(other.Changed))
}

// infoOf returns the facts of an answer.
func infoOf(size int64, got *minio.ObjectInfo) Info {
	return Info{size, got.ETag, got.LastModified.UTC()}
}

// Stat asks for an object. For an object seen before, it returns the cached facts; opening it detects a change.
func Stat(name string) (Info, error) {
	s, err := one()
	if err != nil {
		return Info{}, err
	}
	return s.stat(name)
}

// stat returns the size and version of an object, those first seen in this process.
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

// reason returns the store's reason for rejecting an object. The response to HEAD has no text, so it requests the first
// byte.
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

// An Object is an object that is open. Its methods may be called from several goroutines, except Read.
type Object struct {
	store *store
	name  string
	at    object
	info  Info
	pos   int64 // of Read

	mu      sync.Mutex
	streams []*stream // that are idle, the one used last at the end
}

const (
	firstWindow = 256 << 10 // of a stream
	lastWindow  = 64 << 20
	maxSkip     = 64 << 10 // bytes that are read and thrown away rather than asked for again
	maxStreams  = 4        // kept for who reads on
	maxFaults   = 10       // of a stream that comes no further
	anyProgress = 1 << 20  // bytes after which it has come further
)

// Open opens an object.
func Open(name string) (*Object, error) {
	s, err := one()
	if err != nil {
		return nil, err
	}
	return s.open(name)
}

// open opens an object by its first request, which also tells its version.
func (s *store) open(name string) (*Object, error) {
	at, err := splitKey(name)
	if err != nil {
		return nil, err
	}
	o := &Object{store: s, name: name, at: at, info: Info{Size: -1}}
	first := &stream{object: o, window: firstWindow}
	err = s.try(interrupted, toRead, func() error { return first.ask() })
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

// Info returns the store's facts about the object.
func (o *Object) Info() Info { return o.info }

// Read reads on.
func (o *Object) Read(b []byte) (int, error) {
	n, err := o.ReadAt(b, o.pos)
	o.pos += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// A ReadError is why an object that is open cannot be read on.
type ReadError struct{ Err error }

// Error says why.
func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// ReadAt reads at any position. The error is io.EOF or a [*ReadError]. Sequential reads are served from one response of
// the store, as long as there are only a few readers.
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
	// Keep a stream for who reads on.
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

// streamAt returns a stream at a position.
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

// Close ends all reading. It must not be called during ReadAt.
func (o *Object) Close() error {
	for _, s := range o.streams {
		s.close()
	}
	o.streams = nil
	return nil
}

// A stream is an answer of the store that is read, and those that follow it.
type stream struct {
	object *Object
	body   io.ReadCloser // nil if the next byte has to be asked for
	at     int64         // the next byte
	end    int64         // of the body
	window int64         // bytes to ask for next
	skip   int64         // bytes to throw away
}

// readFull fills b.
func (s *stream) readFull(b []byte) (n int, err error) {
	store, faults, since := s.object.store, 0, s.at
	for n < len(b) || s.skip > 0 {
		var m int
		if m, err = s.read(b[n:]); m > 0 {
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
		case !passes(err):
			return n, store.explain(err, toRead)
		case faults >= maxFaults:
			return n, &outage{fmt.Errorf("%w (%s): run it again later", store.explain(err, toRead), attempts(faults)), true}
		}
		if err := store.wait(interrupted, faults); err != nil {
			return n, err
		}
	}
	return n, nil
}

// read reads into b, or bytes to throw away.
func (s *stream) read(b []byte) (int, error) {
	if s.body == nil {
		if err := s.object.store.try(interrupted, toRead, s.ask); err != nil {
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

// ask asks for the next window, of the version that was opened.
func (s *stream) ask() error {
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
		// The object does not have the range: it is empty, or changed meanwhile.
		o := s.object
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
	if err == nil {
		err = s.check(start, now)
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

// check checks an answer against the request, and the facts known of the object.
func (s *stream) check(start int64, now Info) error {
	known := s.object.info
	switch {
	case known.Size >= 0 && !known.isSame(now):
		return ErrChanged
	case start != s.at:
		return errRange
	}
	return nil
}

// rangeOf returns which bytes an answer has, up to last, and how many the object has.
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

// close ends the answer. A short rest is read, so that the connection can be used again.
func (s *stream) close() {
	if s.body == nil {
		return
	}
	if s.end-s.at <= firstWindow {
		io.CopyN(io.Discard, s.body, s.end-s.at) //nolint:errcheck // nobody needs it
	}
	s.body.Close()
	s.body = nil
}

// Blocks read an object at random, a few bytes at a time, as is done with packs. They ask for blocks of
// 256 KiB, and keep those that were used last. They are safe for concurrent use.
type Blocks struct {
	object *Object

	mu     sync.Mutex
	blocks map[int64]*block
	clock  uint64
}

// A block is a piece of the object.
type block struct {
	used  uint64
	once  sync.Once
	bytes []byte
	err   error
}

const (
	blockSize = 256 << 10
	maxBlocks = 64
)

// BlocksMemory is the most that Blocks take.
const BlocksMemory = blockSize * maxBlocks

// OpenBlocks opens an object.
func OpenBlocks(name string) (*Blocks, error) {
	o, err := Open(name)
	if err != nil {
		return nil, err
	}
	return &Blocks{object: o, blocks: map[int64]*block{}}, nil
}

// Info returns the store's facts about the object.
func (b *Blocks) Info() Info { return b.object.Info() }

// ReadAt reads.
func (b *Blocks) ReadAt(p []byte, off int64) (n int, err error) {
	if len(p) >= blockSize { // all that is asked for, at once
		return b.object.ReadAt(p, off)
	}
	for n < len(p) {
		at := (off + int64(n)) / blockSize
		b.mu.Lock()
		b.clock++
		one := b.blocks[at]
		if one == nil {
			if len(b.blocks) >= maxBlocks {
				b.drop()
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

// drop drops the block that was not used for the longest time.
func (b *Blocks) drop() {
	oldest, at := b.clock, int64(-1)
	for number, one := range b.blocks {
		if one.used < oldest {
			oldest, at = one.used, number
		}
	}
	delete(b.blocks, at)
}

// Close ends all reading.
func (b *Blocks) Close() error { return b.object.Close() }
