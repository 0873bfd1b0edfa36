package aggregate

import (
	"encoding/binary"
	"errors"
	"math/bits"

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
	facts facts  // the same
}

// facts are the numbers of a request. A run has those alone that differ from the request before.
type facts [13]uint64

// begin begins a run.
func (w *requestWriter) begin(run *extsort.Run) {
	w.run, w.block, w.last, w.facts = run, w.block[:0], w.last[:0], facts{}
}

// write writes a request.
func (w *requestWriter) write(q *Request, url []byte) error {
	shared := prefix.Shared(w.last, url)
	w.last = append(w.last[:shared], url[shared:]...)
	b := binary.AppendUvarint(w.block, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(url)-shared))
	b = append(b, url[shared:]...)
	differ, at := uint16(0), len(b)
	b = append(b, 0, 0)
	for i, n := range (facts{
		uint64(q.prefix), uint64(q.pathEnd), q.variant, uint64(q.site), uint64(q.Kind),
		uint64(q.Rows), uint64(q.Violations), uint64(q.Served), uint64(q.Failed), uint64(q.Bytes), uint64(q.Page), uint64(q.Missing), uint64(q.Errors),
	}) {
		if n != w.facts[i] {
			differ, w.facts[i] = differ|1<<i, n
			b = binary.AppendUvarint(b, n)
		}
	}
	binary.LittleEndian.PutUint16(b[at:], differ)
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
	w.block, w.last, w.facts = w.block[:0], w.last[:0], facts{}
	return err
}

// A requestCursor stands on a request of a block.
type requestCursor struct {
	block   []byte // that follows
	url     []byte
	facts   facts
	request Request
	isDone  bool
	isBad   bool
}

var errRun = errors.New("the block of requests is not what was written")

// Load moves the cursor to the first request of a block.
func (c *requestCursor) Load(block []byte) error {
	c.block, c.url, c.facts, c.isDone = block, c.url[:0], facts{}, false
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
	if len(c.block) < 2 {
		return errRun
	}
	differ := binary.LittleEndian.Uint16(c.block) & (1<<len(c.facts) - 1)
	for c.block = c.block[2:]; differ != 0; differ &= differ - 1 {
		c.facts[bits.TrailingZeros16(differ)] = c.number()
	}
	q, f, before := &c.request, &c.facts, c.request.prefix
	q.prefix, q.pathEnd, q.variant, q.site, q.Kind = uint16(f[0]), uint16(f[1]), f[2], engine.SiteID(f[3]), int32(f[4])
	q.Page, q.RowCounts = uint32(f[10]), RowCounts{int64(f[5]), int64(f[6]), int64(f[7]), int64(f[8]), int64(f[9]), uint32(f[11]), uint32(f[12])}
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
