package ingest

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// Counts are the lines that gave no row, and the rows without a URL or with something else that is odd. Each First
// field lists up to three examples.
type Counts struct {
	Empty   int64            // lines without bytes, which give no row
	Long    int64            // rows without a URL, because the line has more than [MaxLine] bytes
	Headers int64            // headers, directives and comments, and records of a WARC file that are not fetches
	Refused map[string]int64 // lines that do not match the format, by reason
	Odd     map[string]int64 // rows whose request has no URL, by kind

	Blank      int64 // URLs of lists and tables that contain white space
	FirstBlank []BlankURL

	Wide      int64 // lines in UTF-16 in other logs, and lines of UTF-16 logs in ASCII or the other byte order
	FirstWide []Place

	Agents int64 // rows whose line has a field for the User-Agent, possibly empty; 0 without Fields.Agents

	Bytes int64 // of the lines, with their ends
	Lost  int64 // bytes of rejected and overlong lines

	Joined      int64 // lines with more than one record: with a CR, several records, or NULs after a crash
	FirstJoined []Place

	Mixed      int64   // lines rejected as another format, or as part of a sequence
	FirstMixed []Place // the first line of each sequence

	Headed      int64 // lines of lists of URLs that are the header of a table
	FirstHeaded []Place

	Elsewhere int64 // rows whose line names another host than Fields.Base

	Queries      int64 // rows whose URL has a query that differs from the query field
	FirstQueries []Place

	NoTimes     int64  // rows whose time field has no valid time
	FirstNoTime string // the first such value

	Addresses    int64 // rows whose host is an address before the line, which may be the client's
	FirstAddress []Place

	FirstBare string // the first value of the URL field that is neither a URL nor a path; "" if all are valid

	Urlless FieldList // fields of the first JSON line without a URL
}

// A FieldList has the fields of a line, by the names that [Fields] take.
type FieldList = weblog.FieldList

// A Place is a line of a log.
type Place struct {
	Input int // index of [Logs.Inputs]
	Line  int64
}

// A BlankURL is a URL that contains white space.
type BlankURL struct {
	Input int // index of [Logs.Inputs]
	Line  int64
	URL   string
}

// maxExamples is the maximum number of places and URLs in each First field of Counts.
const maxExamples = 3

// oddities collects the Counts of all logs, whose maps it stores as arrays.
type oddities struct {
	Counts
	refused   [weblog.NumResults]int64
	odd       [weblog.NumOdd]int64 // includes OddNone
	part      mixedPart
	scattered mixedLines
}

// counts returns the counts so far. The maps are new, but the slices are shared.
func (o *oddities) counts() Counts {
	c := o.Counts
	c.Refused, c.Odd = map[string]int64{}, map[string]int64{}
	for i, n := range o.refused {
		if n > 0 {
			c.Refused[weblog.Result(i).String()] = n
		}
	}
	for i, n := range o.odd {
		if n > 0 && weblog.Odd(i) != weblog.OddNone {
			c.Odd[weblog.Odd(i).String()] = n
		}
	}
	return c
}

// notePlace increments a count, and appends the place of a line to its examples if there are few.
func notePlace(count *int64, examples *[]Place, input int, line int64) {
	if *count++; len(*examples) < maxExamples {
		*examples = append(*examples, Place{input, line})
	}
}

// noteJoined counts a line that has more than one record. Consecutive calls for the same line count once.
func (o *oddities) noteJoined(input int, line int64) {
	if n := len(o.FirstJoined); n == 0 || o.FirstJoined[n-1] != (Place{input, line}) {
		notePlace(&o.Joined, &o.FirstJoined, input, line)
	}
}

// noteBlank counts a URL that contains white space.
func (o *oddities) noteBlank(input int, line int64, url []byte) {
	if o.Blank++; len(o.FirstBlank) < maxExamples {
		o.FirstBlank = append(o.FirstBlank, BlankURL{input, line, string(url)})
	}
}

// noteBare records a value of the URL field that is neither a URL nor a path, if it is the first.
func (o *oddities) noteBare(text []byte) {
	if o.FirstBare == "" {
		o.FirstBare = string(text)
	}
}

// noteNoTime counts a value of the time field that is not a time.
func (o *oddities) noteNoTime(text []byte) {
	if o.NoTimes++; o.NoTimes == 1 {
		o.FirstNoTime = string(text)
	}
}

// A mixedPart is a sequence of rejected lines without a row between them: a part of a log in another format.
type mixedPart struct {
	input   int
	first   int64 // line
	lines   int64
	others  int64 // requests in another format
	whole   int64 // lines, without those that continue another, as in a traceback
	isText  bool  // the part has a line that can be continued
	counted bool
}

// mixedLines are the requests in another format outside of such parts, as if two logs were merged by time.
type mixedLines struct {
	input   int
	first   int64 // line
	lines   int64
	counted bool
}

// Thresholds from which such lines are counted. Fewer are considered garbage, which comes in single lines.
const (
	minPartLines  = 10 // mixedPart.whole
	minPartOthers = 3  // mixedPart.others
	minScattered  = 10 // mixedLines.lines
)

// noteMixed notes a line that was rejected for no other known reason, in a log of the format kind. It counts such lines
// only once there are enough of them, see minPartLines.
func (o *oddities) noteMixed(kind weblog.Format, input int, raw []byte, at where) {
	isOwn, isOther := weblog.ShapeOf(raw, kind)
	if isOwn {
		return
	}
	p, s := &o.part, &o.scattered
	if p.input != input {
		*p = mixedPart{input: input}
	}
	if s.input != input {
		*s = mixedLines{input: input}
	}
	if p.lines == 0 {
		p.first = at.line
	}
	p.lines++
	text := bytes.TrimLeft(raw, " \t")
	isIndented := len(text) < len(raw)
	if isIndented && !isOther && bytes.HasPrefix(text, []byte{'{'}) {
		_, isOther = weblog.ShapeOf(text, kind)
	}
	if isOther {
		p.others++
	}
	if isOther || !isIndented || !p.isText {
		p.whole++
	}
	p.isText = p.isText || !isOther && !isIndented
	if p.counted || isOther && s.counted {
		o.Mixed++
	} else if isOther {
		if s.lines == 0 {
			s.first = at.line
		}
		if s.lines++; s.lines >= minScattered {
			s.counted = true
			notePlace(&o.Mixed, &o.FirstMixed, input, s.first)
			o.Mixed += s.lines - 1
		}
	}
	if p.counted || p.whole < minPartLines && p.others < minPartOthers {
		return
	}
	p.counted = true
	notePlace(&o.Mixed, &o.FirstMixed, input, p.first)
	o.Mixed += p.lines - 1
	if s.counted {
		o.Mixed -= p.others // these were counted as scattered lines
	} else {
		s.lines -= p.others
	}
}

// noteDamage counts lines that have more than one record, as far as that does not depend on the format: overlong lines
// with a CR, and lines with the NULs that a crash leaves. It removes NULs at the start of a line from raw and, in lists
// of URLs, everything before a URL that follows NULs.
func (r *rowReader) noteDamage(raw *rawLines, input int) {
	for _, long := range raw.long {
		r.odd.Lost += long.size
		if long.hasCR {
			r.odd.noteJoined(input, raw.numbers[long.index])
		}
	}
	for _, line := range raw.holes {
		r.odd.noteJoined(input, line)
	}
	if !raw.seen.NUL {
		return
	}
	for i := range raw.spans {
		line := raw.line(i)
		first, last := bytes.IndexByte(line, 0), bytes.LastIndexByte(line, 0)+1
		if first < 0 || isWide(line) {
			continue
		}
		hole := len(line) - len(bytes.TrimLeft(line, "\x00")) // the length of the start to remove
		if hole == len(line) {
			hole = 0
		} else if r.kind == weblog.URLs && weblog.IsURL(line[last:]) {
			hole = last
		}
		if hole == 0 && !bytes.Contains(line, minHole) {
			// A few NULs are text of a client, unless there are several records, such as around a short packed file
			// without a line feed.
			isJoined := r.joins != nil && r.joins.Joined(line)
			if r.kind == weblog.URLs {
				isJoined = bytes.Contains(line[first:], []byte("://"))
			}
			if !isJoined {
				continue
			}
		}
		r.odd.noteJoined(input, raw.numbers[i])
		raw.spans[i].Off += uint32(hole)
		raw.spans[i].Len -= uint32(hole)
		if len(raw.starts) > 0 {
			raw.starts[i] += int64(hole)
		}
	}
}

// minHole is the minimum number of consecutive NULs within a line that were left by a crash.
var minHole = make([]byte, 8)

// noteEncoding counts lines in another encoding than the log, which happens if logs are concatenated. wide says whether
// the log is UTF-16, which was converted to UTF-8.
func (r *rowReader) noteEncoding(raw *rawLines, input int, wide bool) {
	for _, long := range raw.long {
		if wide && long.narrow {
			notePlace(&r.odd.Wide, &r.odd.FirstWide, input, raw.numbers[long.index])
		}
	}
	if !wide && !raw.seen.NUL { // UTF-16 has NULs
		return
	}
	for i := range raw.spans {
		if line := raw.line(i); wide && isNarrow(line) || isWide(line) {
			notePlace(&r.odd.Wide, &r.odd.FirstWide, input, raw.numbers[i])
		}
	}
}

// isNarrow reports whether a text read as UTF-16 seems to be ASCII, or UTF-16 with the other byte order: it has
// minNarrow consecutive characters that are each a pair of letters, or a letter in the high byte.
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
		} else if pairs == minNarrow {
			return true
		}
	}
	return false
}

// minNarrow is the number of consecutive characters that show that a text is ASCII. A third of the Chinese characters
// whose high byte is an ASCII letter also have a letter as low byte.
const minNarrow = 12

// isLetter reports whether a byte is printable ASCII or white space.
func isLetter(b byte) bool {
	return ' ' <= b && b < 0x7f || b == '\t' || b == '\n' || b == '\r'
}

// isWide reports whether a line seems to be UTF-16: every second of its first bytes is NUL, or a third of all bytes, if
// the line begins in another encoding. Nearly all NULs must be at even positions, or nearly all at odd ones:
// consecutive NULs are from a crash.
func isWide(line []byte) bool {
	nuls := bytes.Count(line, []byte{0})
	if nuls == 0 {
		return false
	}
	if e, _ := unpack.EncodingOf(line); e != unpack.UTF8 {
		return true
	}
	if nuls < minWide || 3*nuls < len(line) {
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

// minWide is the minimum number of NULs in a line that only begins in another encoding.
const minWide = 4
