package aggregate

import (
	"encoding/binary"
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/prefix"
)

// runBlock is how many bytes a block of a run has, about.
const runBlock = 64 << 10

// A requestWriter writes requests in their order as blocks of a run. Each URL is written as the bytes that differ
// from the one before it.
type requestWriter struct {
	run   *extsort.Run
	block []byte
	last  []byte // the URL before, in this block
}

// begin begins a run.
func (w *requestWriter) begin(run *extsort.Run) {
	w.run, w.block, w.last = run, w.block[:0], w.last[:0]
}

// write writes a request.
func (w *requestWriter) write(q *Request, url []byte) error {
	shared := prefix.Shared(w.last, url)
	w.last = append(w.last[:shared], url[shared:]...)
	b := binary.AppendUvarint(w.block, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(url)-shared))
	b = append(b, url[shared:]...)
	for _, n := range [...]uint64{
		uint64(q.prefix), uint64(q.pathEnd), q.variant, uint64(q.site), uint64(q.Kind),
		uint64(q.Rows), uint64(q.Violations), uint64(q.Served), uint64(q.Failed), uint64(q.Bytes),
	} {
		b = binary.AppendUvarint(b, n)
	}
	if w.block = b; len(b) >= runBlock {
		return w.Finish()
	}
	return nil
}

// Take writes the request of a cursor, and moves it on.
func (w *requestWriter) Take(c *requestCursor) error {
	if err := w.write(&c.request, c.url); err != nil {
		return err
	}
	return c.next()
}

// Finish writes the block.
func (w *requestWriter) Finish() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block, w.last = w.block[:0], w.last[:0]
	return err
}

// A requestCursor stands on a request of a block.
type requestCursor struct {
	block   []byte // that follows
	url     []byte
	request Request
	isDone  bool
	isBad   bool
}

var errRun = errors.New("the block of requests is not what was written")

// Load moves the cursor to the first request of a block.
func (c *requestCursor) Load(block []byte) error {
	c.block, c.url, c.isDone = block, c.url[:0], false
	return c.next()
}

// Done reports whether the cursor is behind the last request.
func (c *requestCursor) Done() bool { return c.isDone }

// Compare compares two requests.
func (c *requestCursor) Compare(o *requestCursor) int {
	return compareRequests(&c.request, &o.request, c.url, o.url)
}

// next moves the cursor on.
func (c *requestCursor) next() error {
	if len(c.block) == 0 {
		c.isDone = true
		return nil
	}
	shared, size := c.number(), c.number()
	if c.isBad || shared > uint64(len(c.url)) || size > uint64(len(c.block)) {
		return errRun
	}
	c.url = append(c.url[:shared], c.block[:size]...)
	c.block = c.block[size:]
	q, before := &c.request, c.request.prefix
	q.prefix, q.pathEnd, q.variant = uint16(c.number()), uint16(c.number()), c.number()
	q.site, q.Kind = engine.SiteID(c.number()), int32(c.number())
	q.RowCounts = RowCounts{int64(c.number()), int64(c.number()), int64(c.number()), int64(c.number()), int64(c.number())}
	if c.isBad || int(q.pathEnd) > len(c.url) || q.prefix > q.pathEnd {
		return errRun
	}
	if shared <= uint64(q.prefix) || q.prefix != before { // or the origin equals the one before
		q.origin = xxh3.Hash(c.url[:q.prefix])
	}
	return nil
}

// number reads a number.
func (c *requestCursor) number() uint64 {
	n, size := binary.Uvarint(c.block)
	if size <= 0 {
		c.isBad, c.block = true, nil
		return 0
	}
	c.block = c.block[size:]
	return n
}
