package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/internal/storage"
)

// A Part is a part of one log, as a byte range of its text: the lines that begin in the range. For a Parquet file, it
// is the row groups that begin in the range, if all rows have the size that TextSize assumes. Lines keep their numbers:
// lines before the part are unpacked and counted, but not parsed. The zero value is the whole log.
type Part struct {
	From int64 `json:"from"` // 0, or of a text at least LeastPart
	To   int64 `json:"to"`   // 0 for the end of the log
}

// LeastPart is the least offset at which a part may begin: behind the lines that tell the format of the log.
const LeastPart = 4 << 20

// errPart is the error of a part that cannot be read.
var errPart = errors.New("a log cannot be read from there: a part begins behind the first 4 MiB, of one log whose lines do not depend on each other")

// TextSize returns the approximate size of a log's text in bytes, if the log can be read in parts. It returns 0
// otherwise: lines depend on previous lines, the first rows have no URL, or unpacking costs as much as reading. An
// input that cannot be opened has size 0; the error means that the storage does not respond.
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
	switch packing := l.text.texts.Packing(); {
	case !hasURL:
		return 0, nil
	case in.content == unpack.Parquet:
		p, ok := l.log.(*parquetLog)
		if !ok { // all of it was read
			return 0, nil
		}
		return p.total * p.rowSize(), nil
	case l.log != rowLog(&l.text) || in.content != unpack.Text || l.text.utf8.Wide() || !l.text.of.IsByLine():
		return 0, nil
	case packing == unpack.None:
		return in.Size, nil
	case packing == unpack.Zstd:
		return l.zstdSize(in)
	}
	return 0, nil
}

// zstdSize returns about how many bytes the text of the open zstd file has: what its frames say, or else as if all of it was
// packed as well as its start. In a store to look at each frame costs a request, so it is the latter.
func (l *Logs) zstdSize(in *Input) (int64, error) {
	if !storage.IsRemote(in.Name) {
		f, err := storage.Of(in.Name).Open(in.Name)
		if err != nil {
			return 0, nil //nolint:nilerr // to open it again gives the error
		}
		size := unpack.FramesSize(f, in.Size)
		if err := f.Close(); err != nil || size > 0 {
			return size, err
		}
	}
	n, err := io.CopyN(io.Discard, &l.text.utf8, sampledText)
	if err != nil && err != io.EOF {
		return 0, downError(err)
	}
	packed := max(1, l.text.texts.Packed())
	return int64(float64(l.text.lines.offset+n) * (float64(in.Size) / float64(packed))), nil
}

// sampledText is how much text tells how well a log is packed.
const sampledText = 16 << 20

// downError returns an error of a store that does not respond, and nil for another.
func downError(err error) error {
	if err != nil && storage.IsDown(err) {
		return err
	}
	return nil
}

// checkPart returns an error if the inputs have no such part.
func (l *Logs) checkPart() error {
	p := l.opt.Part
	if p == (Part{}) {
		return nil
	}
	if len(l.inputs) != 1 || p.From < 0 || p.To != 0 && p.To <= p.From {
		return fmt.Errorf("%w: %d to %d", errPart, p.From, p.To)
	}
	return nil
}

// passTo reads the first lines, which tell the format, and passes over all up to the part.
func (l *textLog) passTo(r *rowReader, from int64) error {
	fresh, first := *r, new(engine.Batch)
	r.start(first)
	err := l.fill(r, first, l.opt.BatchRows, l.opt.BatchBytes)
	*r = fresh
	if err != nil || l.lines.done() {
		return err
	}
	if l.lines.given() > from-1 {
		return errPart
	}
	l.lines.pass(from)
	return nil
}

// pass passes over the lines that begin before an offset of the text, and counts them.
func (l *lineReader) pass(to int64) {
	l.inLong = false
	buf := make([]byte, 256<<10)
	text := l.rest
	for at := l.given(); ; {
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

// A partReader reads a text up to the end of a part. It reads on, if the text is packed, until all of the part is verified.
type partReader struct {
	*unpack.Decoder
	at, to int64 // bytes read, and the end of the part
	ended  bool
}

// Read reads text. It shadows that of the Decoder, and so do Verified and Take.
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

// Take gives no buffer: it might go beyond the part.
func (p *partReader) Take([]byte) ([]byte, int, bool) { return nil, 0, false }

// rowSize returns the assumed text size of a row: its stored size, but at least the minimum size of a line.
func (p *parquetLog) rowSize() int64 { return max(128, p.size/max(1, p.total)+1) }

// pass passes over the row groups before a part, and those behind it.
func (p *parquetLog) pass(part Part) {
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

// A lostPart is a sequence of rejected lines without a row between them: a part of a log in another format.
type lostPart struct {
	input         int
	first         int64 // line
	lines, others int64 // others are requests in another format
	whole         int64 // of lines, without those that continue another, as in a traceback
	isText        bool  // a line of the part that can be continued was there
	counted       bool
}

// lostLines are the requests in another format of a log, outside of such parts: where two logs were merged by time.
type lostLines struct {
	input   int
	first   int64 // line
	lines   int64
	counted bool
}

// From so many lines on they count: garbage in a log comes in single lines.
const (
	mostAlone  = 10 // of a run, whole ones
	mostOthers = 3  // of a run
	mostApart  = 10 // of a log
)

// noteLostPart notes a line that was refused, and for which nothing else accounts.
func (r *rowReader) noteLostPart(b *engine.Batch, raw []byte, at where) {
	isOwn, isOther := weblog.ShapeOf(raw, r.kind)
	if isOwn {
		return
	}
	p, l := &r.part, &r.apart
	if p.input != b.Input {
		*p = lostPart{input: b.Input}
	}
	if l.input != b.Input {
		*l = lostLines{input: b.Input}
	}
	if p.lines == 0 {
		p.first = at.line
	}
	p.lines++
	text := bytes.TrimLeft(raw, " \t")
	isIndented := len(text) < len(raw)
	if isIndented && !isOther && bytes.HasPrefix(text, []byte{'{'}) {
		_, isOther = weblog.ShapeOf(text, r.kind)
	}
	if isOther {
		p.others++
	}
	if isOther || !isIndented || !p.isText {
		p.whole++
	}
	p.isText = p.isText || !isOther && !isIndented
	if p.counted {
		r.parts.count++
		return
	}
	if isOther {
		r.noteLostLine(at)
	}
	if p.whole < mostAlone && p.others < mostOthers {
		return
	}
	p.counted = true
	r.parts.addPlace(p.input, p.first)
	r.parts.count += p.lines - 1
	if l.counted {
		r.parts.count -= p.others
	} else {
		l.lines -= p.others
	}
}

// noteLostLine notes a request in another format.
func (r *rowReader) noteLostLine(at where) {
	l := &r.apart
	if l.counted {
		r.parts.count++
		return
	}
	if l.lines == 0 {
		l.first = at.line
	}
	if l.lines++; l.lines >= mostApart {
		l.counted = true
		r.parts.addPlace(l.input, l.first)
		r.parts.count += l.lines - 1
	}
}
