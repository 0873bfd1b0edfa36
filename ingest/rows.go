package ingest

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A rowReader adds the rows of all logs to batches.
type rowReader struct {
	row    weblog.Row
	keep   []KeptColumn
	clocks []weblog.Clock // of keep
	fields *Fields
	raws   bool // keep raw lines and offsets

	joins  weblog.Joiner // of the open log; nil if its format has none
	kind   weblog.Format // of the open log
	bareCR bool          // its lines have a CR that is not part of a line end

	open openRecord
	odd  oddities
}

// read parses lines and adds their rows to b. It returns an error of the parser, and the line where it occurred;
// lines after it are not parsed.
func (r *rowReader) read(p weblog.Parser, raw *rawLines, b *engine.Batch) (where, error) {
	for i := range raw.spans {
		at := where{raw.numbers[i], raw.starts[i]}
		if err := r.parseRow(p, raw, i, at, b); err != nil {
			return at, err
		}
	}
	return where{}, nil
}

// parseRow parses line i of raw, and adds its row to b, or counts the line. A record that may continue in the next line
// is stored until it is complete.
func (r *rowReader) parseRow(p weblog.Parser, raw *rawLines, i int, at where, b *engine.Batch) error {
	line := raw.line(i)
	if line == nil {
		err := r.finishRecords(p, b, true)
		r.refuse(b, weblog.RefusedLong, nil, at)
		return err
	}
	if len(r.open.lines) == 0 {
		result := p.Parse(line, &r.row)
		if raw.seen.NUL && result.Refused() {
			line, result = r.parseBehindHole(p, line, &at)
		}
		if result.Refused() && bytes.HasPrefix(line, []byte(unpack.ByteOrderMark)) { // texts were concatenated
			result = p.Parse(line[len(unpack.ByteOrderMark):], &r.row)
		}
		if result != weblog.Continues {
			return r.addResult(p, result, line, at, b)
		}
	}
	r.open.appendRecord(raw.data, raw.spans[i], at)
	return r.finishRecords(p, b, false)
}

// parseBehindHole parses a rejected line again, from after its last NUL: if a crash has left NULs within a line, a
// complete line may follow them. If so, it returns that line, and adds its position to at; otherwise it returns the
// whole line, and its result.
func (r *rowReader) parseBehindHole(p weblog.Parser, line []byte, at *where) (rest []byte, result weblog.Result) {
	hole := bytes.LastIndexByte(line, 0) + 1
	if 0 < hole && hole < len(line) && p.Parse(line[hole:], &r.row) == weblog.IsRow {
		at.offset += int64(hole)
		return line[hole:], weblog.IsRow
	}
	return line, p.Parse(line, &r.row)
}

// addResult adds the row r.row of a line or record, or counts the line, according to the parser's result. For
// weblog.Failed, it returns the error of the parser.
func (r *rowReader) addResult(p weblog.Parser, result weblog.Result, raw []byte, at where, b *engine.Batch) error {
	switch result {
	case weblog.IsRow:
		if r.bareCR && r.isJoinedRow(raw) {
			r.odd.noteJoined(b.Input, at.line)
		}
		r.addRow(b, raw, at)
	case weblog.NoRow:
		if r.odd.Headers++; r.bareCR && bytes.IndexByte(raw, '\r') >= 0 { // a comment, and rows up to the next LF
			r.odd.Lost += int64(len(raw))
			r.odd.noteJoined(b.Input, at.line)
		}
	case weblog.Failed:
		return p.Err()
	default:
		r.refuse(b, result, raw, at)
	}
	return nil
}

// refuse counts a line that does not match the format and, with r.raws, adds it to b.Rejects. raw is nil for an
// overlong line.
func (r *rowReader) refuse(b *engine.Batch, why weblog.Result, raw []byte, at where) {
	r.odd.refused[why]++
	b.Refused++
	r.odd.Lost += int64(len(raw))
	if bytes.IndexByte(raw, '\r') >= 0 || bytes.IndexByte(raw, 0) >= 0 && !isWide(raw) || r.joins != nil && r.joins.Joined(raw) {
		r.odd.noteJoined(b.Input, at.line)
	} else if len(raw) > 0 && !isWide(raw) {
		r.odd.noteMixed(r.kind, b.Input, raw, at)
	}
	if r.raws {
		b.Rejects = append(b.Rejects, engine.Reject{Line: at.line, Offset: at.offset, Raw: appendPiece(b, raw), Reason: why.String()})
	}
}

// appendPiece appends text to the data of a batch and returns its span, NoURL for no text.
func appendPiece(b *engine.Batch, text []byte) engine.Span {
	off := len(b.Data)
	b.Data = append(b.Data, text...)
	return spanFrom(b, off)
}

// spanFrom returns the span of the data of a batch from off on, NoURL if nothing is there.
func spanFrom(b *engine.Batch, off int) engine.Span {
	if len(b.Data) == off {
		return engine.NoURL
	}
	return engine.Span{Off: uint32(off), Len: uint32(len(b.Data) - off)}
}

// addRow adds the parsed row r.row to b, and counts its oddities. raw is its line or record.
func (r *rowReader) addRow(b *engine.Batch, raw []byte, at where) {
	row := &r.row
	odd := &r.odd
	odd.part = mixedPart{}
	switch odd.odd[row.Odd]++; row.Odd {
	case weblog.OddTarget:
		odd.noteBare(row.Target)
	case weblog.OddEmpty:
		if f := &odd.Urlless; (r.kind == weblog.JSON || r.kind == weblog.CDXJ) && len(f.URLs)+len(f.Others) == 0 {
			*f = weblog.JSONFields(raw)
		}
	default:
	}
	if row.Blank {
		odd.noteBlank(b.Input, at.line, row.Target)
	}
	if row.Address {
		notePlace(&odd.Addresses, &odd.FirstAddress, b.Input, at.line)
	}
	if row.Elsewhere {
		odd.Elsewhere++
	}
	if row.Queries {
		notePlace(&odd.Queries, &odd.FirstQueries, b.Input, at.line)
	}
	if row.NoTime != nil {
		odd.noteNoTime(row.NoTime)
	}
	off := len(b.Data)
	b.Data = row.AppendURL(b.Data)
	b.URLs = append(b.URLs, spanFrom(b, off))
	b.Lines = append(b.Lines, at.line)
	if r.fields.Agents {
		b.UserAgents = append(b.UserAgents, appendPiece(b, row.Agent))
		if row.HasAgent {
			odd.Agents++
		}
	}
	if r.fields.Clients {
		b.Clients = append(b.Clients, appendPiece(b, row.Client))
	}
	if r.fields.Times {
		b.Times = append(b.Times, row.Time)
	}
	for i := range r.keep {
		r.addKept(b, i, row.Fields[i])
	}
	if r.raws {
		b.Raws = append(b.Raws, appendPiece(b, raw))
		b.Offsets = append(b.Offsets, at.offset)
	}
}

// addKept adds a value to kept column i: null if text is empty or not of the column's kind. It counts values of the
// field for the time that are not times, unless r.fields.Times does that.
func (r *rowReader) addKept(b *engine.Batch, i int, text []byte) {
	k := &b.Kept[i]
	var (
		n  int64
		f  float64
		ok bool
	)
	switch k.Kind {
	case engine.KeptText:
		ok = len(text) > 0
		k.Texts = append(k.Texts, appendPiece(b, text))
	case engine.KeptFloat:
		if 0 < len(text) && len(text) <= 40 {
			f, ok = orZero(strconv.ParseFloat(string(text), 64))
		}
		k.Floats = append(k.Floats, f)
	case engine.KeptInt:
		n, ok = parseInt(text)
	case engine.KeptTime:
		if n = r.clocks[i].Read(text); n != weblog.NoTime {
			ok = true
		} else if n = 0; len(text) > 0 && !r.fields.Times && r.keep[i].Field == weblog.NameTime {
			r.odd.noteNoTime(text)
		}
	case engine.KeptBool:
		n, ok = parseBool(text)
	}
	if k.Kind != engine.KeptText && k.Kind != engine.KeptFloat {
		k.Ints = append(k.Ints, n)
	}
	k.Present = append(k.Present, ok)
}

// parseInt returns the number in text. If text is not a number, or too large, n is 0 and ok false.
func parseInt(text []byte) (n int64, ok bool) {
	digits := text
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	for _, b := range digits {
		if b < '0' || b > '9' { // an error of strconv would allocate
			return 0, false
		}
		n = n*10 + int64(b-'0')
	}
	if len(digits) == 0 || len(digits) > 18 { // possibly too large
		return orZero(strconv.ParseInt(string(text), 10, 64))
	}
	if text[0] == '-' {
		n = -n
	}
	return n, true
}

// orZero returns n, or 0 if err is not nil.
func orZero[T int64 | float64](n T, err error) (T, bool) {
	if err != nil {
		return 0, false
	}
	return n, true
}

// parseBool returns 1 for 1, true, yes, t and y, and 0 for 0, false, no, f and n, ignoring case. ok is false for any
// other text.
func parseBool(text []byte) (n int64, ok bool) {
	for i, words := range [...][]string{{"0", "false", "no", "f", "n"}, {"1", "true", "yes", "t", "y"}} {
		for _, word := range words {
			if strings.EqualFold(word, string(text)) {
				return int64(i), true
			}
		}
	}
	return 0, false
}

// start prepares r and an empty batch for rows of the open log: it gives b.Kept the kinds of the kept columns.
func (r *rowReader) start(b *engine.Batch) {
	r.joins, r.kind, r.bareCR = nil, weblog.Auto, false
	if len(b.Kept) != len(r.keep) {
		b.Kept = make([]engine.Kept, len(r.keep))
	}
	for i, k := range r.keep {
		b.Kept[i].Kind = k.Kind
	}
}

// addURLs moves the lines of a list of URLs into b, which must be empty, as its rows, and counts their oddities. Spaces
// and tabs around URLs are trimmed; a path is appended to Fields.Base, if that is set. raw gets the old memory of b:
// reset it before use.
func (r *rowReader) addURLs(raw *rawLines, b *engine.Batch) {
	r.odd.Long += int64(len(raw.long))
	raw.moveTo(b)
	if raw.bareCR {
		for i, url := range b.URLs {
			if url != engine.NoURL && bytes.IndexByte(b.Piece(url), '\r') >= 0 {
				r.odd.noteJoined(b.Input, b.Lines[i])
			}
		}
	}
	if r.raws {
		b.Raws = append(b.Raws, b.URLs...)
		b.Offsets = append(b.Offsets, raw.starts...)
	}
	if raw.seen.Blank {
		r.trimURLs(b)
	}
	r.noteHeaders(b)
	base := r.fields.Base
	if base == "" {
		return
	}
	for i, path := range b.URLs {
		if path == engine.NoURL || b.Data[path.Off] != '/' {
			continue
		}
		off := len(b.Data)
		b.Data = append(b.Data, base...)
		b.Data = append(b.Data, b.Data[path.Off:path.Off+path.Len]...)
		b.URLs[i] = spanFrom(b, off)
	}
}

// TrimURL trims spaces and tabs around the URL in a line of a list of URLs. A line of only spaces and tabs stays
// unchanged, and is an invalid URL.
func TrimURL(line []byte) []byte {
	if trimmed := bytes.Trim(line, " \t"); len(trimmed) > 0 {
		return trimmed
	}
	return line
}

// trimURLs removes spaces and tabs around the URLs of b, and counts URLs that still contain white space.
func (r *rowReader) trimURLs(b *engine.Batch) {
	for i, url := range b.URLs {
		if url == engine.NoURL {
			continue
		}
		text := b.Piece(url)
		if !weblog.HasBlank(text) {
			continue
		}
		trimmed := TrimURL(text)
		url.Off += uint32(cap(text) - cap(trimmed))
		url.Len = uint32(len(trimmed))
		if b.URLs[i] = url; weblog.HasBlank(trimmed) {
			r.odd.noteBlank(b.Input, b.Lines[i], trimmed)
		}
	}
}

// Bounds of the length in bytes of a header of a table in a list of URLs. The shortest is "url,id".
const (
	minHeader = 6
	maxHeader = 1 << 10
)

// noteHeaders counts rows of b that are headers of tables instead of URLs; they stay rows. Most lines are URLs with a
// slash after their first minHeader bytes, which column names do not contain.
func (r *rowReader) noteHeaders(b *engine.Batch) {
	behind := b.Data[min(minHeader, len(b.Data)):]
	for i, url := range b.URLs {
		if int(url.Off) < len(behind) && behind[url.Off] == '/' {
			continue
		}
		if url.Len >= minHeader && url.Len <= maxHeader && b.Data[url.Off] != '/' && weblog.IsURLHeader(b.Piece(url)) {
			notePlace(&r.odd.Headed, &r.odd.FirstHeaded, b.Input, b.Lines[i])
		}
	}
}

// isJoinedRow reports whether the line of a row has a CR that cannot be part of its record. Quoted fields may contain
// CRs, and in JSON they are white space.
func (r *rowReader) isJoinedRow(line []byte) bool {
	switch r.kind { //nolint:exhaustive // all others have neither
	case weblog.CSV, weblog.TSV:
		return bytes.IndexByte(r.row.Target, '\r') >= 0
	case weblog.JSON, weblog.CDXJ:
		return false
	}
	return bytes.IndexByte(line, '\r') >= 0
}
