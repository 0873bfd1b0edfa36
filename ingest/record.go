package ingest

import (
	"bytes"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// An openRecord stores lines that may be one record, because the first line ends inside quotes. If the quote does not
// end within [MaxLine] bytes, the first line is rejected, and the following lines are read one by one.
type openRecord struct {
	text  []byte // the lines, with their ends
	lines []openLine
	from  int   // index of the first line of the record
	upTo  int   // index after the last line of the record; from if it has none yet
	empty int64 // empty lines after the last line, which are in text
	odd   bool  // it has an odd number of quotes, so it ends inside one
}

// An openLine is a line of an openRecord.
type openLine struct {
	where
	begin, end int // in openRecord.text, without the line's end
}

// reset forgets all lines.
func (h *openRecord) reset() { *h = openRecord{text: h.text[:0], lines: h.lines[:0]} }

// appendRecord stores a copy of the line data[span], with its end and the empty lines around it, which are not stored
// elsewhere.
func (h *openRecord) appendRecord(data []byte, span engine.Span, at where) {
	if n := len(h.lines); n > 0 {
		// The empty lines before it. Those in earlier batches are no longer in data, so they become LF. More than MaxLine
		// are ignored, because the record is too long then.
		missing, begin := at.line-h.lines[n-1].line-1-h.empty, int(span.Off)
		for ; missing > 0 && begin > 0; missing-- {
			begin--
			if begin > 0 && data[begin-1] == '\r' {
				begin--
			}
		}
		for range min(missing, MaxLine+1) {
			h.text = append(h.text, '\n')
		}
		h.text = append(h.text, data[begin:span.Off]...)
	}
	begin, end := len(h.text), span.Off+span.Len
	h.text = append(h.text, data[span.Off:end]...)
	h.lines = append(h.lines, openLine{at, begin, len(h.text)})
	rest := data[end:]
	n := lineEnd(rest)
	for h.empty = 0; lineEnd(rest[n:]) > 0; h.empty++ {
		n += lineEnd(rest[n:])
	}
	h.text = append(h.text, rest[:n]...)
}

// lineEnd returns the length of the line end at the start of text; 0 if there is none.
func lineEnd(text []byte) int {
	switch {
	case len(text) > 0 && text[0] == '\n':
		return 1
	case len(text) > 1 && text[0] == '\r' && text[1] == '\n':
		return 2
	}
	return 0
}

// beginAt begins a record with the line at index from, without any line yet.
func (h *openRecord) beginAt(from int) { h.from, h.upTo, h.odd = from, from, false }

// finishRecords adds the complete records among the stored lines. If atEnd is true, no further line can belong to them,
// so it adds or rejects all lines. Lines of an incomplete record stay stored. The error is one of the parser.
func (r *rowReader) finishRecords(p weblog.Parser, b *engine.Batch, atEnd bool) error {
	h := &r.open
	for h.from < len(h.lines) {
		if h.upTo == len(h.lines) {
			if !atEnd {
				return nil
			}
			r.giveUp(b)
			continue
		}
		line := h.lines[h.upTo]
		if bytes.Count(h.text[line.begin:line.end], []byte{'"'})%2 != 0 {
			h.odd = !h.odd
		}
		h.upTo++
		first, isSingle := h.lines[h.from], h.upTo == h.from+1
		raw := h.text[first.begin:line.end]
		if !isSingle && len(raw) > MaxLine {
			r.giveUp(b)
			continue
		}
		if !isSingle && h.odd { // only complete if its quotes come in pairs
			continue
		}
		result := p.Parse(raw, &r.row)
		if isSingle && result == weblog.Continues {
			continue
		}
		if !isSingle && (result == weblog.Continues || result == weblog.RefusedQuote) {
			r.giveUp(b)
			continue
		}
		h.beginAt(h.upTo)
		if err := r.addResult(p, result, raw, first.where, b); err != nil {
			return err
		}
	}
	h.reset()
	return nil
}

// giveUp rejects the first line of the record, and begins a record with the second line, which is parsed again.
func (r *rowReader) giveUp(b *engine.Batch) {
	h := &r.open
	first := h.lines[h.from]
	r.refuse(b, weblog.RefusedQuote, h.text[first.begin:first.end], first.where)
	h.beginAt(h.from + 1)
}
