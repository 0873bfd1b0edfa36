package ingest

import (
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/linefeed"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

const (
	// MaxLine is the maximum length of a line, in bytes without its end, whose URL is kept.
	MaxLine = 64 << 10

	// chunkSize is the size of a read. Text after the last row of a batch is copied to the next batch, but most batches
	// end with a chunk. Between 16 and 256 KiB the speed is the same (BenchmarkLogs).
	chunkSize = 64 << 10

	// maxEmptyReads is the maximum number of consecutive reads without data or error, as in package bufio.
	maxEmptyReads = 100
)

// rawLines are the unparsed lines of a log, without empty ones. For a list of URLs they become the rows of a batch,
// which takes over their memory. For other formats a parser turns them into rows.
type rawLines struct {
	data    []byte
	spans   []engine.Span // lines in data, without their ends; a line over MaxLine may be missing there
	numbers []int64       // of each line, from 1
	starts  []int64       // positions of the lines in the text, if the reader tracks them

	empty int64      // empty lines
	long  []longLine // lines over MaxLine
	crlf  int        // lines that end in CR LF
	holes []int64    // numbers of lines after dropped text with NULs

	seen   linefeed.Seen // special bytes in the lines, and perhaps in the text after them
	bareCR bool          // a line, unless too long, has a CR apart from its end
}

// dropped is the span length that marks a line without text in rawLines.data. The span's position is the end of the
// line.
const dropped = math.MaxUint32

// A longLine is a line longer than MaxLine.
type longLine struct {
	index  int   // in rawLines
	size   int64 // bytes without the line end
	hasCR  bool  // contains a CR
	narrow bool  // only ASCII, if the log is UTF-16
}

// line returns line i; nil if it is too long.
func (r *rawLines) line(i int) []byte {
	s := r.spans[i]
	if s.Len > MaxLine {
		return nil
	}
	return r.data[s.Off : s.Off+s.Len : s.Off+s.Len]
}

// reset empties r and reuses its memory.
func (r *rawLines) reset() {
	*r = rawLines{data: r.data[:0], spans: r.spans[:0], numbers: r.numbers[:0], starts: r.starts[:0], long: r.long[:0], holes: r.holes[:0]}
}

// moveTo makes the lines the URLs of b, which must be empty, without copying. r gets the old memory of b: reset it
// before use.
func (r *rawLines) moveTo(b *engine.Batch) {
	b.Data, r.data = r.data, b.Data
	b.URLs, r.spans = r.spans, b.URLs
	b.Lines, r.numbers = r.numbers, b.Lines
	for _, long := range r.long {
		b.URLs[long.index] = engine.NoURL
	}
}

// hasCR reports whether a line has a CR apart from its end. The lines are r.data[from:to].
func (r *rawLines) hasCR(from, to int) bool {
	return r.seen.CR && bytes.Count(r.data[from:to], []byte{'\r'}) > r.crlf
}

// A lineReader splits the text of a log into lines. It reads text into rawLines and splits it in place; only the text
// after the last line is copied, to the next rawLines.
type lineReader struct {
	r      io.Reader
	track  bool // set rawLines.starts
	feeds  []uint32
	rest   []byte // text not split yet; at most a chunk and a partial line
	line   int64  // lines ended so far
	offset int64  // bytes read so far
	inLong bool   // the text continues a line that is too long and was dropped
	err    error  // why reading ended: io.EOF or a fault

	base       int64 // text position of data[0], had nothing been dropped
	longStart  int64 // position of the long line, if inLong
	longCR     bool  // the dropped part has a CR
	longNarrow bool  // the dropped part is ASCII, if the log is UTF-16

	parts         verifier // nil if the text is always verified
	verified      int64    // verified bytes of the text
	verifiedLines int64    // lines that end in them
}

// A verifier is a reader that reports how many bytes of its text are verified, see unpack.Texts.
type verifier interface{ Verified() int64 }

// reset makes l read r from its start. It reuses its memory.
func (l *lineReader) reset(r io.Reader) {
	*l = lineReader{r: r, feeds: l.feeds, rest: l.rest[:0]}
	if v, ok := r.(verifier); ok && v.Verified() != math.MaxInt64 {
		l.parts = v
	}
}

// updateVerified updates the number of verified lines. The next line to split begins at raw.data[start:].
func (l *lineReader) updateVerified(raw *rawLines, start int) {
	if l.parts == nil {
		return
	}
	n := l.parts.Verified()
	if n == l.verified {
		return
	}
	l.verified = n
	end := max(int64(start), n-l.base)
	l.verifiedLines = l.line + int64(bytes.Count(raw.data[start:end], []byte("\n")))
}

// unverified returns the number of the first unverified line that was split; 0 if there is none.
func (l *lineReader) unverified() int64 {
	if l.parts == nil || l.verifiedLines >= l.line {
		return 0
	}
	return l.verifiedLines + 1
}

// done reports whether all lines were returned. l.err then says how the text ended.
func (l *lineReader) done() bool { return l.err != nil && len(l.rest) == 0 }

// bytesGiven returns the number of bytes of the text that were returned as lines.
func (l *lineReader) bytesGiven() int64 { return l.offset - int64(len(l.rest)) }

// fill sets raw to the next lines: at most maxLines (at least 1), from about maxBytes of text. Empty lines count only
// in raw.empty, so raw may have no lines before the end. At the end or after a fault, l.err is set; l.done then reports
// whether this call returned the last lines.
func (l *lineReader) fill(raw *rawLines, maxLines, maxBytes int) {
	raw.reset()
	raw.spans = slices.Grow(raw.spans, maxLines)
	raw.numbers = slices.Grow(raw.numbers, maxLines)
	start, ok := l.takeBuffer(raw)
	limit := l.offset
	if !ok {
		raw.data = append(raw.data, l.rest...)
		limit += int64(maxBytes)
	}
	l.base = l.offset - int64(len(raw.data))
	if l.offset == 0 {
		start = l.skipMark(raw)
	}
	first := start
	for {
		l.updateVerified(raw, start)
		if l.inLong {
			start = l.endLong(raw, start)
		}
		start = l.splitLines(raw, start, maxLines)
		if len(raw.spans) == maxLines || l.err != nil || l.offset >= limit {
			break
		}
		if len(raw.data)-start > MaxLine+1 { // even without a CR
			l.shorten(raw, start)
		}
		l.read(raw, int(min(chunkSize, limit-l.offset)))
	}
	if l.err != nil && len(raw.spans) < maxLines {
		l.last(raw, start)
		start = len(raw.data)
	}
	raw.bareCR = raw.hasCR(first, start)
	if l.endAtPacked(raw, first, start) {
		start = len(raw.data)
	}
	l.rest = append(l.rest[:0], raw.data[start:]...)
}

// nearPacked is how many of the last bytes may be the header of a packed file whose first NUL comes later.
const nearPacked = 64

// endAtPacked ends the text before a packed file that begins in raw.data[first:end], which are complete lines, and
// reports whether it found one. It then drops what follows from raw, and sets l.err. All packed files have NULs near
// their start.
func (l *lineReader) endAtPacked(raw *rawLines, first, end int) bool {
	if !raw.seen.NUL && !unpack.HoldsMagic(raw.data[max(first, end-nearPacked):end]) {
		return false
	}
	at, _ := unpack.FindJoined(raw.data, first, end)
	for at >= 0 && l.err == nil && len(raw.data)-end < unpack.JoinedHead {
		l.read(raw, unpack.JoinedHead)
	}
	at, packing := unpack.FindJoined(raw.data, first, end)
	if at < 0 {
		return false
	}
	n := 0 // lines that begin earlier
	for n < len(raw.spans) && int(raw.spans[n].Off) < at {
		n++
	}
	if s := raw.spans[max(0, n-1)]; n > 0 && s.Len != dropped && int(s.Off+s.Len) > at {
		l.line = raw.numbers[n-1] - 1
		raw.spans[n-1].Len = uint32(at) - s.Off
		raw.long = slices.DeleteFunc(raw.long, func(long longLine) bool { return long.index == n-1 && at-int(s.Off) <= MaxLine })
	} else if n < len(raw.numbers) {
		l.line = raw.numbers[n] - 1
	}
	raw.long = slices.DeleteFunc(raw.long, func(long longLine) bool { return long.index >= n })
	raw.data, raw.spans, raw.numbers = raw.data[:at], raw.spans[:n], raw.numbers[:n]
	if l.track {
		raw.starts = raw.starts[:n]
	}
	l.offset, l.err = l.base+int64(at), packing.Joined()
	return true
}

// shorten drops text of the overlong line that begins at raw.data[start:] and has not ended yet. If the line has NULs,
// as after a crash, it drops the part up to the last one, or else all of it.
func (l *lineReader) shorten(raw *rawLines, start int) {
	hole := bytes.LastIndexByte(raw.data[start:], 0) + 1
	if hole == 0 {
		l.inLong, l.longCR, l.longNarrow, l.longStart = true, false, false, l.base+int64(start)
		l.drop(raw, start)
		return
	}
	raw.addHole(l.line + 1)
	l.base += int64(hole)
	raw.data = append(raw.data[:start], raw.data[start+hole:]...)
}

// drop drops raw.data[start:], which belongs to an overlong line, and notes whether it has a CR or is narrow.
func (l *lineReader) drop(raw *rawLines, start int) {
	dropped := raw.data[start:]
	l.longCR = l.longCR || bytes.IndexByte(dropped[:max(0, len(dropped)-1)], '\r') >= 0 // the line end is excluded
	l.longNarrow = l.longNarrow || isNarrow(dropped)
	l.base += int64(len(dropped))
	raw.data = raw.data[:start]
}

// takeBuffer sets raw.data to a complete buffer of the reader, if one is available and the rest of the previous text
// fits before it. It returns the start of the text, which includes that rest. The bytes before the text are zero.
func (l *lineReader) takeBuffer(raw *rawLines) (start int, ok bool) {
	t, ok := l.r.(unpack.Taker)
	if !ok || l.offset == 0 || l.err != nil || len(l.rest) > unpack.Headroom {
		return 0, false
	}
	data, start, ok := t.Take(raw.data)
	if !ok {
		return 0, false
	}
	l.offset += int64(len(data) - start)
	clear(data[:start]) // package output checks all of it for UTF-8
	start -= len(l.rest)
	copy(data[start:], l.rest)
	raw.data = data
	return start, true
}

// splitLines adds each complete, non-empty line of raw.data[start:] until there are maxLines, and returns the start of
// the first remaining line.
func (l *lineReader) splitLines(raw *rawLines, start, maxLines int) int {
	first := len(raw.spans)
	for room := maxLines - first; room > 0; room = maxLines - len(raw.spans) {
		l.feeds = slices.Grow(l.feeds[:0], room+linefeed.Block)
		places, text := l.feeds[:room+linefeed.Block], raw.data[start:]
		n, read, seen := linefeed.Find(text, places)
		raw.seen.Add(seen)
		start = l.addLines(raw, start, places[:min(n, room)])
		if n <= room && read == len(text) {
			break
		}
	}
	if l.track {
		for _, span := range raw.spans[first:] {
			raw.starts = append(raw.starts, l.base+int64(span.Off))
		}
	}
	return start
}

// addLines adds the non-empty lines of raw.data[from:]. feeds are the positions of their LFs, relative to from. It
// returns the start of the next line.
func (l *lineReader) addLines(raw *rawLines, from int, feeds []uint32) int {
	data, line, n := raw.data, l.line, len(raw.spans)
	spans, numbers := slices.Grow(raw.spans, len(feeds))[:n+len(feeds)], slices.Grow(raw.numbers, len(feeds))[:n+len(feeds)]
	start := uint32(from)
	for _, feed := range feeds {
		end := uint32(from) + feed
		span := engine.Span{Off: start, Len: end - start}
		if start = end + 1; span.Len > 0 && data[end-1] == '\r' {
			span.Len--
			raw.crlf++
		}
		line++
		if span.Len-1 >= MaxLine { // rare: empty, where 0 wraps, or too long
			if span.Len == 0 {
				raw.empty++
				continue
			}
			span = raw.addLong(span, line, n)
		}
		spans[n], numbers[n] = span, line
		n++
	}
	raw.spans, raw.numbers, l.line = spans[:n], numbers[:n], line
	return int(start)
}

// addLong returns the part of an overlong line after its last hole. If that part is also too long, it adds the line to
// r.long. number is the number of the line, and index its index in the lines.
func (r *rawLines) addLong(line engine.Span, number int64, index int) engine.Span {
	line = r.cutHole(line, number)
	if line.Len > MaxLine {
		text := r.data[line.Off : line.Off+line.Len]
		r.long = append(r.long, longLine{index, int64(line.Len), bytes.IndexByte(text, '\r') >= 0, isNarrow(text)})
	}
	return line
}

// cutHole returns the part of an overlong line after its last NUL, and records the hole. It returns the whole line if
// it has no NUL, or ends with one.
func (r *rawLines) cutHole(line engine.Span, number int64) engine.Span {
	hole := bytes.LastIndexByte(r.data[line.Off:line.Off+line.Len], 0) + 1
	if hole == 0 || hole == int(line.Len) {
		return line
	}
	r.addHole(number)
	return engine.Span{Off: line.Off + uint32(hole), Len: line.Len - uint32(hole)}
}

// addHole records that text with NULs was dropped before a line.
func (r *rawLines) addHole(number int64) {
	if n := len(r.holes); n == 0 || r.holes[n-1] != number {
		r.holes = append(r.holes, number)
	}
}

// endLong searches raw.data[start:] for the end of an overlong line whose beginning was dropped. If found, it adds the
// line without text; otherwise it drops the text. It returns the start of the next line.
func (l *lineReader) endLong(raw *rawLines, start int) int {
	n := bytes.IndexByte(raw.data[start:], '\n')
	if n < 0 {
		l.drop(raw, start)
		return start
	}
	text := bytes.TrimSuffix(raw.data[start:start+n], []byte{'\r'})
	l.longCR, l.longNarrow = l.longCR || bytes.IndexByte(text, '\r') >= 0, l.longNarrow || isNarrow(text)
	l.addDropped(raw, start+n)
	return start + n + 1
}

// addDropped adds an overlong line without text. Its end is at a position of raw.data.
func (l *lineReader) addDropped(raw *rawLines, end int) {
	l.inLong = false
	l.line++
	raw.long = append(raw.long, longLine{len(raw.spans), l.base + int64(end) - l.longStart, l.longCR, l.longNarrow})
	raw.spans = append(raw.spans, engine.Span{Off: uint32(end), Len: dropped})
	raw.numbers = append(raw.numbers, l.line)
	if l.track {
		raw.starts = append(raw.starts, l.longStart)
	}
}

// last adds the line raw.data[start:] at the end of the text, which has no LF. After a fault it adds nothing,
// because the line may be incomplete.
func (l *lineReader) last(raw *rawLines, start int) {
	if l.err != io.EOF {
		return
	}
	if l.inLong {
		l.addDropped(raw, start)
		return
	}
	if start == len(raw.data) {
		return
	}
	raw.data = append(raw.data, '\n')
	l.splitLines(raw, start, len(raw.spans)+1)
}

// skipMark reads the first bytes of the text, and returns the length of the byte order mark; 0 if there is none.
func (l *lineReader) skipMark(raw *rawLines) int {
	for len(raw.data) < len(unpack.ByteOrderMark) && l.err == nil {
		l.read(raw, len(unpack.ByteOrderMark)-len(raw.data))
	}
	if bytes.HasPrefix(raw.data, []byte(unpack.ByteOrderMark)) {
		return len(unpack.ByteOrderMark)
	}
	return 0
}

// read appends at least 1 and at most n bytes of text to raw.data, or sets l.err, or does both.
func (l *lineReader) read(raw *rawLines, n int) {
	raw.data = slices.Grow(raw.data, n)
	for range maxEmptyReads {
		end := len(raw.data)
		m, err := l.r.Read(raw.data[end : end+n])
		raw.data = raw.data[:end+m]
		l.offset += int64(m)
		l.err = err
		if m > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
