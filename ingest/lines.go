package ingest

import (
	"bytes"
	"io"
	"slices"

	"github.com/robobatch/robobatch/engine"
)

const (
	// MaxLine is the length of the longest line, in bytes without its end, whose URL is kept.
	MaxLine = 64 << 10

	// chunkSize is how much text is read at once. What the batch has no row left for is copied to the next one, but most batches end with
	// a chunk; between 16 and 256 KiB the speed is the same (BenchmarkLogs).
	chunkSize = 64 << 10

	// maxEmptyReads bounds the reads without data or error that are put up with, as package bufio does.
	maxEmptyReads = 100
)

// headroom is how much room there is in front of the text that a textTaker gives: for the line that began in the text
// before.
const headroom = 4 << 10

// A textTaker is a reader that can give away the buffers that the text is in.
type textTaker interface {
	io.Reader

	// take returns the next text, without copying it, as data[start:], and takes buf in exchange: both then belong to
	// the other. At least headroom bytes of data are in front of start. ok is false if there is no such buffer now, so
	// that buf is still the caller's, who has to Read.
	take(buf []byte) (data []byte, start int, ok bool)
}

var byteOrderMark = []byte("\ufeff")

// A lineReader cuts the text of one log into rows. The text is read into the batch and cut in place: only what follows
// the last row of a batch is copied, to the start of the next.
type lineReader struct {
	r      io.Reader
	rest   []byte // text read, but not cut into rows yet; at most a chunk and a partial line
	line   int64  // lines ended so far
	offset int64  // bytes read so far
	inLong bool   // the text continues a line that is too long, of which nothing was kept
	err    error  // why no more can be read: io.EOF or a fault

	empty, long int64 // lines of the kind so far

	// Where the rows of the batch begin in the text, see offsets.
	origin    int64   // of its first byte
	base      int64   // of b.Data[0], were nothing of a long line dropped before what is there now
	shifts    []shift // changes of base, in order
	longs     []int64 // of its lines that are too long
	longStart int64   // of the line that is too long, if inLong
}

// A shift says where the text begins that is in a batch from a row on: base is the offset that b.Data[0] would have.
type shift struct {
	row  int
	base int64
}

// offsets appends where each row of the batch that was filled last begins in the text.
func (l *lineReader) offsets(dst []int64, b *engine.Batch) []int64 {
	base, shifts, longs := l.origin, l.shifts, l.longs
	for i, span := range b.URLs {
		for len(shifts) > 0 && shifts[0].row <= i {
			base, shifts = shifts[0].base, shifts[1:]
		}
		if span == engine.NoURL {
			dst, longs = append(dst, longs[0]), longs[1:]
		} else {
			dst = append(dst, base+int64(span.Off))
		}
	}
	return dst
}

// drop forgets b.Data from start on, which is of a line that is too long.
func (l *lineReader) drop(b *engine.Batch, start int) {
	l.base += int64(len(b.Data) - start)
	l.shifts = append(l.shifts, shift{b.Len(), l.base})
	b.Data = b.Data[:start]
}

// reset makes l read r from its start. It keeps its memory.
func (l *lineReader) reset(r io.Reader) {
	*l = lineReader{r: r, rest: l.rest[:0], shifts: l.shifts, longs: l.longs}
}

// done reports whether every row was yielded. l.err then says whether the text ended well.
func (l *lineReader) done() bool { return l.err != nil && len(l.rest) == 0 }

// fill adds the next rows to b, which is empty: at most maxRows (at least 1), from about maxBytes of text. It may add
// none before the end, where there are only empty lines.
func (l *lineReader) fill(b *engine.Batch, maxRows, maxBytes int) {
	b.URLs = slices.Grow(b.URLs, maxRows)
	b.Lines = slices.Grow(b.Lines, maxRows)
	start, ok := l.take(b)
	limit := l.offset
	if !ok {
		b.Data = append(b.Data, l.rest...)
		limit += int64(maxBytes)
	}
	l.origin = l.offset - int64(len(b.Data))
	l.base, l.shifts, l.longs = l.origin, l.shifts[:0], l.longs[:0]
	if l.offset == 0 {
		start = l.skipMark(b)
	}
	for {
		if l.inLong {
			start = l.endLong(b, start)
		}
		start = l.cut(b, start, maxRows)
		if b.Len() == maxRows || l.err != nil || l.offset >= limit {
			break
		}
		if len(b.Data)-start > MaxLine+1 { // even without a CR
			l.inLong, l.longStart = true, l.base+int64(start)
			l.drop(b, start)
		}
		l.read(b, int(min(chunkSize, limit-l.offset)))
	}
	if l.err != nil && b.Len() < maxRows {
		l.last(b, start)
		start = len(b.Data)
	}
	l.rest = append(l.rest[:0], b.Data[start:]...)
}

// take makes b.Data a whole buffer of text, if the reader has one to give and what is left of the text before fits in
// front of it, and returns where that starts. What is in front of it in b.Data is of no meaning.
func (l *lineReader) take(b *engine.Batch) (start int, ok bool) {
	t, ok := l.r.(textTaker)
	if !ok || l.offset == 0 || l.err != nil || len(l.rest) > headroom {
		return 0, false
	}
	data, start, ok := t.take(b.Data)
	if !ok {
		return 0, false
	}
	l.offset += int64(len(data) - start)
	clear(data[:start]) // package output asks whether all of it is UTF-8
	start -= len(l.rest)
	copy(data[start:], l.rest)
	b.Data = data
	return start, true
}

// cut adds a row for each complete line of b.Data[start:] that has a URL, as long as b has fewer than maxRows, and
// returns where the first line left begins.
func (l *lineReader) cut(b *engine.Batch, start, maxRows int) int {
	data, urls, lines, line := b.Data, b.URLs, b.Lines, l.line
	for len(urls) < maxRows {
		n := bytes.IndexByte(data[start:], '\n')
		if n < 0 {
			break
		}
		line++
		span := engine.Span{Off: uint32(start), Len: uint32(n)}
		start += n + 1
		if n > 0 && data[start-2] == '\r' {
			span.Len--
		}
		if span.Len-1 >= MaxLine { // rare: 0, which wraps, or too long
			if span.Len == 0 {
				l.empty++
				continue
			}
			l.long++
			l.longs = append(l.longs, l.base+int64(span.Off))
			span = engine.NoURL
		}
		urls = append(urls, span)
		lines = append(lines, line)
	}
	b.URLs, b.Lines, l.line = urls, lines, line
	return start
}

// endLong looks for the end of the line that is too long in b.Data[start:] and adds its row, for which b has room. It
// returns where the next line begins. Without an end, it drops the text.
func (l *lineReader) endLong(b *engine.Batch, start int) int {
	n := bytes.IndexByte(b.Data[start:], '\n')
	if n < 0 {
		l.drop(b, start)
		return start
	}
	l.addLong(b)
	return start + n + 1
}

func (l *lineReader) addLong(b *engine.Batch) {
	l.inLong = false
	l.line++
	l.long++
	l.longs = append(l.longs, l.longStart)
	b.URLs = append(b.URLs, engine.NoURL)
	b.Lines = append(b.Lines, l.line)
}

// last adds the row of the line b.Data[start:] that the end of the text ends. Before a fault it is no row: nobody
// knows how it goes on.
func (l *lineReader) last(b *engine.Batch, start int) {
	if l.err != io.EOF { //nolint:errorlint // a Reader's end is io.EOF itself
		return
	}
	if l.inLong {
		l.addLong(b)
		return
	}
	if start == len(b.Data) {
		return
	}
	b.Data = append(b.Data, '\n')
	l.cut(b, start, b.Len()+1)
}

// skipMark reads the first bytes of the text and returns the length of the byte order mark that they are, or 0.
func (l *lineReader) skipMark(b *engine.Batch) int {
	for len(b.Data) < len(byteOrderMark) && l.err == nil {
		l.read(b, len(byteOrderMark)-len(b.Data))
	}
	if bytes.HasPrefix(b.Data, byteOrderMark) {
		return len(byteOrderMark)
	}
	return 0
}

// read appends at least 1 and at most n bytes of text to b.Data, or sets l.err.
func (l *lineReader) read(b *engine.Batch, n int) {
	b.Data = slices.Grow(b.Data, n)
	for range maxEmptyReads {
		end := len(b.Data)
		m, err := l.r.Read(b.Data[end : end+n])
		b.Data = b.Data[:end+m]
		l.offset += int64(m)
		l.err = err
		if m > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
