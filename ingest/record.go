package ingest

import (
	"bytes"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A heldRecord is lines that are held back because they may be one: the first of them ends inside
// quotes. Should the quote not end within [MaxLine] bytes, it was none: that line is refused, and
// those behind it are taken for themselves.
type heldRecord struct {
	text  []byte // the lines held back, with their ends
	lines []heldLine
	from  int   // index of the line that the record begins with
	upTo  int   // index behind the last line that was added to it; from if none was looked at yet
	empty int64 // empty lines behind the last line, which are in text
	odd   bool  // its quotes are odd in number: it ends inside of one
}

// A heldLine is a line that is held back.
type heldLine struct {
	where
	begin, end int // in heldRecord.text, without the line's end
}

// reset forgets all lines.
func (h *heldRecord) reset() { *h = heldRecord{text: h.text[:0], lines: h.lines[:0]} }

// hold adds a line of data and its end, and the empty lines around it, which are in data only.
func (h *heldRecord) hold(data []byte, span engine.Span, at where) {
	if n := len(h.lines); n > 0 {
		h.text = appendEmpty(h.text, data[:span.Off], at.line-h.lines[n-1].line-1-h.empty)
	}
	begin, end := len(h.text), span.Off+span.Len
	h.text = append(h.text, data[span.Off:end]...)
	h.lines = append(h.lines, heldLine{at, begin, len(h.text)})
	rest := data[end:]
	n := lineEnd(rest)
	for h.empty = 0; lineEnd(rest[n:]) > 0; h.empty++ {
		n += lineEnd(rest[n:])
	}
	h.text = append(h.text, rest[:n]...)
}

// lineEnd returns the length of the line end that text begins with, 0 if it begins with something
// else.
func lineEnd(text []byte) int {
	switch {
	case len(text) > 0 && text[0] == '\n':
		return 1
	case len(text) > 1 && text[0] == '\r' && text[1] == '\n':
		return 2
	}
	return 0
}

// appendEmpty appends the last n lines of text, which are empty. Those that are not there, since
// they filled whole batches before, are taken for LF; more than MaxLine of them make no difference,
// as the record is too long.
func appendEmpty(dst, text []byte, n int64) []byte {
	begin := len(text)
	for ; n > 0 && begin > 0; n-- {
		begin--
		if begin > 0 && text[begin-1] == '\r' {
			begin--
		}
	}
	for range min(n, MaxLine+1) {
		dst = append(dst, '\n')
	}
	return append(dst, text[begin:]...)
}

// extend adds the next line to the record.
func (h *heldRecord) extend() {
	line := h.lines[h.upTo]
	if bytes.Count(h.text[line.begin:line.end], []byte{'"'})%2 != 0 {
		h.odd = !h.odd
	}
	h.upTo++
}

// raw returns the record.
func (h *heldRecord) raw() []byte { return h.text[h.lines[h.from].begin:h.lines[h.upTo-1].end] }

// next makes the line behind the record the first of the next one.
func (h *heldRecord) next(from int) { h.from, h.upTo, h.odd = from, from, false }

// finishRecords adds the records of the lines that are held back, as far as they are complete; all
// of them at the end of a log.
func (r *rowReader) finishRecords(p weblog.Parser, b *engine.Batch, atEnd bool) error {
	h := &r.held
	for h.from < len(h.lines) {
		if h.upTo == len(h.lines) {
			if !atEnd {
				return nil
			}
			r.giveUp(b)
			continue
		}
		h.extend()
		if err := r.tryRecord(p, b); err != nil {
			return err
		}
	}
	h.reset()
	return nil
}

// tryRecord adds the record if it is complete. With more than one line it is worth a look when its
// quotes come in pairs.
func (r *rowReader) tryRecord(p weblog.Parser, b *engine.Batch) error {
	h := &r.held
	raw, single := h.raw(), h.upTo == h.from+1
	if !single && len(raw) > MaxLine {
		r.giveUp(b)
		return nil
	}
	if !single && h.odd {
		return nil
	}
	result := p.Parse(raw, &r.row)
	switch {
	case single && result == weblog.Continues:
		return nil
	case !single && (result == weblog.Continues || result == weblog.RefusedQuote):
		r.giveUp(b)
		return nil
	}
	first := h.lines[h.from].where
	h.next(h.upTo)
	return r.take(p, result, raw, first, b)
}

// giveUp refuses the first line of the record.
func (r *rowReader) giveUp(b *engine.Batch) {
	h := &r.held
	first := h.lines[h.from]
	r.refuse(b, weblog.RefusedQuote, h.text[first.begin:first.end], first.where)
	h.next(h.from + 1)
}
