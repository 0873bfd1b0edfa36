package ingest

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A rowReader adds rows to batches. It stores the lines of a record that continues in the next line
// until the record is complete.
type rowReader struct {
	row    weblog.Row
	keep   []KeptColumn
	clocks []weblog.Clock // of keep
	fields *Fields
	raws   bool // keep raw lines and offsets

	joins  weblog.Joiner // of the text that is read; nil if its format has none
	kind   weblog.Format // of that text
	bareCR bool          // its lines hold a CR

	open      openRecord
	refused   [weblog.NumResults]int64
	bytes     int64 // of text
	lost      int64 // of these, the bytes of lines that are refused or too long
	joined    int64 // lines that hold more than a record
	firsts    []Place
	odds      [weblog.NumOdd]int64
	empty     int64 // lines without bytes
	long      int64 // rows without a URL
	headers   int64 // lines that are not rows, but were not refused
	blank     int64 // URLs that hold white space, in lists and tables
	blanks    []BlankURL
	wide      int64 // lines in another encoding than the log
	wides     []Place
	headed    placed // lines of a list of URLs that are headers of tables
	part      lostPart
	apart     lostLines
	parts     placed // lines in another format; of parts the first line
	elsewhere int64  // rows of other hosts than that of Fields.Base
	queries   placed // rows with two queries
	timeless  int64  // rows whose field of the time has something else
	noTime    string // the first such text
	hosts     placed // rows whose host may be the client's address
	agents    int64
	urlless   FieldList // of the first line of JSON without a URL
	bare      string    // the first text instead of a URL that is neither one nor a path
}

// placed counts lines, and keeps the positions of the first ones.
type placed struct {
	count int64
	first []Place // at most firstPlaces
}

// addPlace notes the place of one more line.
func (p *placed) addPlace(input int, line int64) {
	if p.count++; len(p.first) < firstPlaces {
		p.first = append(p.first, Place{input, line})
	}
}

func newRowReader(opt *LogOptions) rowReader {
	return rowReader{keep: opt.Keep, clocks: make([]weblog.Clock, len(opt.Keep)), fields: &opt.Fields, raws: opt.Raws}
}

// counts returns the counts.
func (r *rowReader) counts() Counts {
	c := Counts{Empty: r.empty, Long: r.long, Headers: r.headers, Refused: map[string]int64{}, Odd: map[string]int64{}, Blank: r.blank, FirstBlank: r.blanks, Wide: r.wide, FirstWide: r.wides, FirstBare: r.bare, Urlless: r.urlless, Bytes: r.bytes, Lost: r.lost, Joined: r.joined, FirstJoined: r.firsts, Agents: r.agents, Headed: r.headed.count, FirstHeaded: r.headed.first, Addresses: r.hosts.count, FirstAddress: r.hosts.first, Elsewhere: r.elsewhere, Queries: r.queries.count, FirstQueries: r.queries.first, NoTimes: r.timeless, FirstNoTime: r.noTime, Mixed: r.parts.count, FirstMixed: r.parts.first}
	for i, n := range r.refused {
		if n > 0 {
			c.Refused[weblog.Result(i).String()] = n
		}
	}
	for i, n := range r.odds {
		if n > 0 && weblog.Odd(i) != weblog.OddNone {
			c.Odd[weblog.Odd(i).String()] = n
		}
	}
	return c
}

// read makes rows of lines and adds them to b. It returns why it stopped before the end, and where.
func (r *rowReader) read(p weblog.Parser, raw *rawLines, b *engine.Batch) (where, error) {
	for i := range raw.spans {
		at := where{raw.numbers[i], raw.starts[i]}
		if err := r.parseRow(p, raw, i, at, b); err != nil {
			return at, err
		}
	}
	return where{}, nil
}

// parseRow adds the row of line i, as the parser reads it.
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
		if result.Refused() && bytes.HasPrefix(line, []byte(unpack.ByteOrderMark)) { // of a text that was joined
			result = p.Parse(line[len(unpack.ByteOrderMark):], &r.row)
		}
		if result != weblog.Continues {
			return r.addResult(p, result, line, at, b)
		}
	}
	r.open.appendRecord(raw.data, raw.spans[i], at)
	return r.finishRecords(p, b, false)
}

// parseBehindHole parses a line that was refused once more, from its last NUL on: where a crash has left
// a hole within a line, a whole one may follow it.
func (r *rowReader) parseBehindHole(p weblog.Parser, line []byte, at *where) (rest []byte, result weblog.Result) {
	hole := bytes.LastIndexByte(line, 0) + 1
	if 0 < hole && hole < len(line) && p.Parse(line[hole:], &r.row) == weblog.IsRow {
		at.offset += int64(hole)
		return line[hole:], weblog.IsRow
	}
	return line, p.Parse(line, &r.row)
}

// addResult adds the row of a line or record, or counts it, as the result of the parser says.
func (r *rowReader) addResult(p weblog.Parser, result weblog.Result, raw []byte, at where, b *engine.Batch) error {
	switch result {
	case weblog.IsRow:
		if r.bareCR && r.isJoinedRow(raw) {
			r.noteJoined(b.Input, at.line)
		}
		r.addRow(b, raw, at)
	case weblog.NoRow:
		if r.headers++; r.bareCR && bytes.IndexByte(raw, '\r') >= 0 { // a comment that rows follow, up to the next LF
			r.lost += int64(len(raw))
			r.noteJoined(b.Input, at.line)
		}
	case weblog.Failed:
		return p.Err()
	default:
		r.refuse(b, result, raw, at)
	}
	return nil
}

// refuse counts a line that is not of the format.
func (r *rowReader) refuse(b *engine.Batch, why weblog.Result, raw []byte, at where) {
	r.refused[why]++
	b.Refused++
	r.lost += int64(len(raw))
	if bytes.IndexByte(raw, '\r') >= 0 || bytes.IndexByte(raw, 0) >= 0 && !isWide(raw) || r.joins != nil && r.joins.Joined(raw) {
		r.noteJoined(b.Input, at.line)
	} else if len(raw) > 0 && !isWide(raw) {
		r.noteLostPart(b, raw, at)
	}
	if r.raws {
		b.Rejects = append(b.Rejects, engine.Reject{Line: at.line, Offset: at.offset, Raw: appendPiece(b, raw), Reason: why.String()})
	}
}

// noteURLless records the fields of the first JSON line without a URL.
func (r *rowReader) noteURLless(raw []byte) {
	if json := r.kind == weblog.JSON || r.kind == weblog.CDXJ; json && len(r.urlless.URLs)+len(r.urlless.Others) == 0 {
		r.urlless = weblog.JSONFields(raw)
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

// addRow adds the row that the parser has made.
func (r *rowReader) addRow(b *engine.Batch, raw []byte, at where) {
	row := &r.row
	r.part = lostPart{}
	switch r.odds[row.Odd]++; row.Odd {
	case weblog.OddTarget:
		r.noteBare(row.Target)
	case weblog.OddEmpty:
		r.noteURLless(raw)
	default:
	}
	if row.Blank {
		r.noteBlank(b.Input, at.line, row.Target)
	}
	if row.Address {
		r.hosts.addPlace(b.Input, at.line)
	}
	if row.Elsewhere {
		r.elsewhere++
	}
	if row.Queries {
		r.queries.addPlace(b.Input, at.line)
	}
	if row.NoTime != nil {
		r.noteNoTime(row.NoTime)
	}
	off := len(b.Data)
	b.Data = row.AppendURL(b.Data)
	b.URLs = append(b.URLs, spanFrom(b, off))
	b.Lines = append(b.Lines, at.line)
	if r.fields.Agents {
		b.UserAgents = append(b.UserAgents, appendPiece(b, row.Agent))
		if row.HasAgent {
			r.agents++
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

// noteNoTime notes what the field of the time has, if it is not time.
func (r *rowReader) noteNoTime(text []byte) {
	if r.timeless++; r.timeless == 1 {
		r.noTime = string(text)
	}
}

// addKept adds a value of a kept column. It is null if text is empty or not of the kind.
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
		f, ok = parseFloat(text)
		k.Floats = append(k.Floats, f)
	case engine.KeptInt:
		n, ok = parseInt(text)
	case engine.KeptTime:
		if n = r.clocks[i].Read(text); n != weblog.NoTime {
			ok = true
		} else if n = 0; len(text) > 0 && !r.fields.Times && r.keep[i].Field == weblog.NameTime {
			r.noteNoTime(text)
		}
	case engine.KeptBool:
		n, ok = parseBool(text)
	}
	if k.Kind != engine.KeptText && k.Kind != engine.KeptFloat {
		k.Ints = append(k.Ints, n)
	}
	k.Present = append(k.Present, ok)
}

// parseInt returns the number in text; 0 if text is not a number.
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
	if len(digits) == 0 || len(digits) > 18 { // it may be too large
		return orZero(strconv.ParseInt(string(text), 10, 64))
	}
	if text[0] == '-' {
		n = -n
	}
	return n, true
}

// parseFloat returns the number in text; 0 if text is not a number.
func parseFloat(text []byte) (f float64, ok bool) {
	if len(text) == 0 || len(text) > 40 {
		return 0, false
	}
	return orZero(strconv.ParseFloat(string(text), 64))
}

// orZero returns a number that could be parsed, else 0.
func orZero[T int64 | float64](n T, err error) (T, bool) {
	if err != nil {
		return 0, false
	}
	return n, true
}

// parseBool returns 1 for true and yes, 0 for false and no, in any case, or these numbers.
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

// start sets the kept columns of an empty batch.
func (r *rowReader) start(b *engine.Batch) {
	r.joins, r.kind, r.bareCR = nil, weblog.Auto, false
	if len(b.Kept) != len(r.keep) {
		b.Kept = make([]engine.Kept, len(r.keep))
	}
	for i, k := range r.keep {
		b.Kept[i].Kind = k.Kind
	}
}

// addURLs makes the lines of a list of URLs the rows of b, which must be empty. Such a list has
// neither User-Agents nor times. Paths become URLs if their site is known.
func (r *rowReader) addURLs(raw *rawLines, b *engine.Batch) {
	r.long += int64(len(raw.long))
	raw.moveTo(b)
	if raw.bareCR {
		r.noteCRs(b)
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

// trimURLs drops the white space around the URLs of b, and notes those that hold some.
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
		url.Off += uint32(cap(text) - cap(trimmed)) // where it begins in text
		url.Len = uint32(len(trimmed))
		if b.URLs[i] = url; weblog.HasBlank(trimmed) {
			r.noteBlank(b.Input, b.Lines[i], trimmed)
		}
	}
}

// noteHeaders counts lines that are headers of tables instead of URLs. Most lines are URLs with a slash after their
// first leastHeader bytes, which column names do not contain.
func (r *rowReader) noteHeaders(b *engine.Batch) {
	behind := b.Data[min(leastHeader, len(b.Data)):]
	for i, url := range b.URLs {
		if int(url.Off) >= len(behind) || behind[url.Off] != '/' {
			r.noteHeader(b, i)
		}
	}
}

// noteHeader counts a line if it is the header of a table.
func (r *rowReader) noteHeader(b *engine.Batch, i int) {
	url := b.URLs[i]
	if url.Len-leastHeader > mostHeader-leastHeader || b.Data[url.Off] == '/' {
		return
	}
	if weblog.IsURLHeader(b.Piece(url)) {
		r.headed.addPlace(b.Input, b.Lines[i])
	}
}

// Bounds of the length of a header that noteHeader looks at, in bytes. The shortest is "url,id".
const (
	leastHeader = 6
	mostHeader  = 1 << 10
)

// noteCRs counts the URLs of a list that hold a CR.
func (r *rowReader) noteCRs(b *engine.Batch) {
	for i, url := range b.URLs {
		if url != engine.NoURL && bytes.IndexByte(b.Piece(url), '\r') >= 0 {
			r.noteJoined(b.Input, b.Lines[i])
		}
	}
}

// isJoinedRow reports whether the line of a row holds a CR that cannot belong to its record. Quoted fields may contain
// one, and in JSON it is white space.
func (r *rowReader) isJoinedRow(line []byte) bool {
	switch r.kind { //nolint:exhaustive // all others have neither
	case weblog.CSV, weblog.TSV:
		return bytes.IndexByte(r.row.Target, '\r') >= 0
	case weblog.JSON, weblog.CDXJ:
		return false
	}
	return bytes.IndexByte(line, '\r') >= 0
}

// noteJoined counts a line that holds more than a record.
func (r *rowReader) noteJoined(input int, line int64) {
	if n := len(r.firsts); n > 0 && r.firsts[n-1] == (Place{input, line}) {
		return
	}
	if r.joined++; len(r.firsts) < firstPlaces {
		r.firsts = append(r.firsts, Place{input, line})
	}
}

// noteDamage counts lines that hold more than one record, as far as that is independent of the format: overlong lines
// with a CR, and lines in which a crash has left a hole of NULs. If the hole is at the start of a line, the text before
// it was dropped.
func (r *rowReader) noteDamage(raw *rawLines, input int) {
	for _, long := range raw.long {
		r.lost += long.size
		if long.hasCR {
			r.noteJoined(input, raw.numbers[long.index])
		}
	}
	for _, line := range raw.holes {
		r.noteJoined(input, line)
	}
	if !raw.seen.NUL {
		return
	}
	for i := range raw.spans {
		line := raw.line(i)
		hole := r.holeOf(line)
		if hole == 0 && !bytes.Contains(line, leastHole) && !r.isJoinedAtNUL(line) || isWide(line) {
			continue
		}
		r.noteJoined(input, raw.numbers[i])
		raw.spans[i].Off += uint32(hole)
		raw.spans[i].Len -= uint32(hole)
		if len(raw.starts) > 0 {
			raw.starts[i] += int64(hole)
		}
	}
}

// isJoinedAtNUL reports whether a line has a NUL and seems to contain several records, for example around a short
// packed file without a line feed.
func (r *rowReader) isJoinedAtNUL(line []byte) bool {
	_, rest, ok := bytes.Cut(line, leastHole[:1])
	switch {
	case !ok:
		return false
	case r.kind == weblog.URLs:
		return bytes.Contains(rest, []byte("://"))
	}
	return r.joins != nil && r.joins.Joined(line)
}

// leastHole is the number of NULs within a line that count as the hole of a crash, not as text of a client.
var leastHole = make([]byte, 8)

// holeOf returns how much of a line is dropped, as NULs are before the rest: of a list of URLs all before the last URL.
// It is 0 if nothing follows.
func (r *rowReader) holeOf(line []byte) int {
	hole := len(line) - len(bytes.TrimLeft(line, "\x00"))
	if hole == len(line) {
		return 0
	}
	if last := bytes.LastIndexByte(line, 0) + 1; r.kind == weblog.URLs && weblog.IsURL(line[last:]) {
		return last
	}
	return hole
}

// noteBlank counts a URL that holds white space.
func (r *rowReader) noteBlank(input int, line int64, url []byte) {
	if r.blank++; len(r.blanks) < firstPlaces {
		r.blanks = append(r.blanks, BlankURL{input, line, string(url)})
	}
}

// noteBare notes a text instead of a URL, if it is the first.
func (r *rowReader) noteBare(text []byte) {
	if r.bare == "" {
		r.bare = string(text)
	}
}

// noteEncoding counts lines in another encoding than the log, as where logs of several encodings were joined. wide is
// whether the log's is UTF-16.
func (r *rowReader) noteEncoding(raw *rawLines, input int, wide bool) {
	for _, long := range raw.long {
		if wide && long.narrow {
			r.noteWide(Place{input, raw.numbers[long.index]})
		}
	}
	if !wide && !raw.seen.NUL { // no UTF-16 is without a NUL
		return
	}
	for i := range raw.spans {
		if line := raw.line(i); wide && isNarrow(line) || isWide(line) {
			r.noteWide(Place{input, raw.numbers[i]})
		}
	}
}

// noteWide counts a line in another encoding than its log.
func (r *rowReader) noteWide(at Place) {
	if r.wide++; len(r.wides) < firstPlaces {
		r.wides = append(r.wides, at)
	}
}

// isNarrow reports whether a text read as UTF-16 seems to be ASCII, or UTF-16 with the other byte order: it has
// leastNarrow consecutive characters that are each a pair of letters, or a letter in the high byte.
func isNarrow(text []byte) bool {
	pairs := 0
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		i += n
		if pairs++; r > math.MaxUint16 || !isLetter(byte(r>>8)) || byte(r) != 0 && !isLetter(byte(r)) {
			pairs = 0
		} else if pairs == leastNarrow {
			return true
		}
	}
	return false
}

// leastNarrow is the number of consecutive characters that show that a text is ASCII. A third of the Chinese characters
// whose high byte is an ASCII letter also have a letter as low byte.
const leastNarrow = 12

// isLetter reports whether a byte is one of a text in ASCII.
func isLetter(b byte) bool {
	return ' ' <= b && b < 0x7f || b == '\t' || b == '\n' || b == '\r'
}

// isWide reports whether a line is UTF-16, as far as its NULs tell: each second one of its first
// bytes is one, or a third of all, as where it begins in another encoding. Nearly all stand at even
// places, or at odd ones: where they stand side by side, a crash has left a hole in the file.
func isWide(line []byte) bool {
	nuls := bytes.Count(line, []byte{0})
	if nuls == 0 {
		return false
	}
	if e, _ := unpack.EncodingOf(line); e != unpack.UTF8 {
		return true
	}
	if nuls < leastWide || 3*nuls < len(line) {
		return false
	}
	odd := 0
	for i := 1; i < len(line); i += 2 {
		if line[i] == 0 {
			odd++
		}
	}
	return 8*min(odd, nuls-odd) <= nuls
}

// leastWide is the number of NULs whose positions show whether a line is UTF-16.
const leastWide = 4
