package ingest

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/internal/storage"
)

// A Part is a part of one log, as a byte range of its text: the lines that begin in the range. For a Parquet file, it
// is the row groups that begin in the range, if all rows have the size that TextSize assumes. Lines keep their numbers:
// lines before the part are unpacked and counted, but not parsed. The zero value is the whole log.
type Part struct {
	From int64 `json:"from"` // 0, or for text at least LeastPart
	To   int64 `json:"to"`   // 0 for the end of the log
}

// LeastPart is the minimum offset of a part: after the lines from which the format is detected.
const LeastPart = 4 << 20

// errPart is the error of a part that cannot be read.
var errPart = errors.New("cannot read this part: want one log whose lines do not depend on each other, and a start after its first 4 MiB")

// TextSize returns the approximate size of a log's text in bytes, if the log can be read in parts. It returns 0
// otherwise: lines depend on previous lines, the first rows have no URL, or unpacking costs as much as reading. It
// reads the first rows, and of packed logs without sizes the first 16 MiB of text. An input that cannot be opened has
// size 0; the error means that the storage does not respond.
func TextSize(name string, opt LogOptions) (size int64, err error) {
	opt.Part, opt.Ahead = Part{}, 0
	l, err := OpenLogs([]string{name}, opt)
	if err != nil {
		return 0, downError(err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	in := &l.inputs[0]
	if len(l.inputs) != 1 || !in.isFile() || in.archive != "" {
		return 0, nil
	}
	var b engine.Batch
	if !l.Next(&b) || b.Len() == 0 {
		return 0, downError(l.err)
	}
	hasURL := false
	for _, url := range b.URLs {
		hasURL = hasURL || url != engine.NoURL
	}
	if !hasURL {
		return 0, nil
	}
	if in.content == unpack.Parquet {
		p, ok := l.log.(*parquetLog)
		if !ok { // all of it was read
			return 0, nil
		}
		return p.total * p.rowSize(), nil
	}
	packing := l.text.texts.Packing()
	if l.log != rowLog(&l.text) || in.content != unpack.Text || l.text.utf8.Wide() || !l.text.of.IsByLine() || packing > unpack.Zstd {
		return 0, nil
	}
	if packing == unpack.None {
		return in.Size, nil
	}
	// The frames may say it. In object storage, each frame would cost a request.
	if !storage.IsRemote(in.Name) {
		f, err := storage.Of(in.Name).Open(in.Name)
		if err != nil {
			return 0, nil // opening it again returns the error
		}
		size := unpack.FramesSize(f, in.Size)
		if err := f.Close(); err != nil || size > 0 {
			return size, err
		}
	}
	// Otherwise the whole text is assumed to be packed as well as its start.
	n, err := io.CopyN(io.Discard, &l.text.utf8, sampledText)
	if err != nil && err != io.EOF {
		return 0, downError(err)
	}
	packed := max(1, l.text.texts.Packed())
	return int64(float64(l.text.lines.offset+n) * (float64(in.Size) / float64(packed))), nil
}

// sampledText is the size in bytes of the text from which a log's compression ratio is estimated.
const sampledText = 16 << 20

// downError returns err if it means that the storage does not respond, otherwise nil.
func downError(err error) error {
	if err != nil && storage.IsDown(err) {
		return err
	}
	return nil
}

// skipTo detects the format from the first lines, and skips all lines before the part, which begins at offset from. r
// is not changed. The error is errPart if the part begins before the lines that detection needs.
func (l *textLog) skipTo(r *rowReader, from int64) error {
	fresh, first := *r, new(engine.Batch)
	r.start(first)
	err := l.fill(r, first, l.opt.BatchRows, l.opt.BatchBytes)
	*r = fresh
	if err != nil || l.lines.done() {
		return err
	}
	if l.lines.bytesGiven() > from-1 {
		return errPart
	}
	l.lines.skipTo(from)
	return nil
}

// skipTo skips and counts the lines that begin before an offset of the text. A line that includes the byte before the
// offset is skipped as a whole.
func (l *lineReader) skipTo(to int64) {
	l.inLong = false
	buf := make([]byte, 256<<10)
	text := l.rest
	for at := l.bytesGiven(); ; {
		before := int(min(max(0, to-1-at), int64(len(text))))
		l.line += int64(bytes.Count(text[:before], []byte{'\n'}))
		if end := bytes.IndexByte(text[before:], '\n'); end >= 0 {
			l.line++
			l.rest = append(l.rest[:0], text[before+end+1:]...)
			return
		}
		at += int64(len(text))
		l.rest = l.rest[:0]
		if l.err != nil {
			return
		}
		var n int
		n, l.err = l.r.Read(buf)
		l.offset += int64(n)
		text = buf[:n]
	}
}

// A partReader reads a text up to the end of a part, and packed text further until the whole part is verified.
type partReader struct {
	*unpack.Decoder
	at, to int64 // bytes read, and the end of the part
	ended  bool
}

// Read reads text up to the end of the line in which the part ends. Then it reads and drops text until the part is
// verified, and returns io.EOF. Read, Verified and Take shadow those of the Decoder.
func (p *partReader) Read(b []byte) (n int, err error) {
	if p.ended {
		for err == nil && p.Decoder.Verified() < p.at {
			_, err = p.Decoder.Read(b)
		}
		if err == nil {
			err = io.EOF
		}
		return 0, err
	}
	n, err = p.Decoder.Read(b)
	if before := max(0, p.to-1-p.at); before < int64(n) {
		if end := bytes.IndexByte(b[before:n], '\n'); end >= 0 {
			n, err, p.ended = int(before)+end+1, nil, true
		}
	}
	p.at += int64(n)
	return n, err
}

// Verified returns the number of bytes read that are verified.
func (p *partReader) Verified() int64 {
	if n := p.Decoder.Verified(); n == math.MaxInt64 || n < p.at {
		return n
	}
	return p.at
}

// Take returns no buffer, because it might extend beyond the part.
func (p *partReader) Take([]byte) ([]byte, int, bool) { return nil, 0, false }

// rowSize returns the assumed text size of a row: its stored size, but at least the minimum size of a line.
func (p *parquetLog) rowSize() int64 { return max(128, p.size/max(1, p.total)+1) }

// limitTo restricts p to the row groups of a part. Rows before the part count as read.
func (p *parquetLog) limitTo(part Part) {
	groups, size := p.end, p.rowSize()
	at := int64(0)
	for p.end = 0; p.end < groups && (part.To == 0 || at < part.To); p.end++ {
		rows := p.reader.Rows(p.end)
		if at < part.From {
			p.group, p.row = p.end+1, p.row+rows
		}
		at += rows * size
	}
}
