package robots

import "strings"

// A kind is the kind of a line of robots.txt, by its key.
type kind uint8

const (
	kindOther kind = iota // unknown, or no directive at all
	kindUserAgent
	kindAllow
	kindDisallow
	kindSitemap
	kindCrawlDelay
	kindHost
	kindCleanParam
)

// A line is one line of robots.txt, taken apart. Its strings share the memory of the file.
type line struct {
	num       int32 // 1-based; CR LF ends one line, a lone CR or LF each another
	kind      kind
	directive bool   // it has a key; the rest is meaningless otherwise
	typo      bool   // the key is a tolerated misspelling
	noColon   bool   // white space stood in for the colon
	comment   bool   // there was a comment
	tooLong   bool   // bytes beyond the line limit were dropped
	blank     bool   // nothing is left of it once the comment is cut
	key       string // trimmed
	value     string // trimmed
}

// maxLine is the number of bytes of a line lineLimit keeps: google/robotstxt reads into a buffer of 8 times 2,083 bytes
// (the longest URL of old browsers), less one for the final NUL.
const maxLine = 2083*8 - 1

// A scanner splits a robots.txt into lines. The file's last line counts even if it is empty, as in
// google/robotstxt.
type scanner struct {
	dialect Dialect
	text    string
	pos     int   // start of the next line; len(text)+1 after the last
	lf, cr  int   // next LF and CR at or after pos, len(text) if there is none
	nul     int   // first NUL of the file, len(text) if there is none
	num     int32 // of the last line read
}

func newScanner(text string, d Dialect) scanner {
	s := scanner{dialect: d, text: text, pos: bomLen(text)}
	s.lf = s.find('\n', s.pos)
	s.cr = s.find('\r', s.pos)
	s.nul = s.find(0, s.pos)
	return s
}

// bomLen returns the length of the UTF-8 byte order mark that text starts with. A mark that is cut
// short counts.
func bomLen(text string) int {
	const bom = "\xef\xbb\xbf"
	n := 0
	for n < len(bom) && n < len(text) && text[n] == bom[n] {
		n++
	}
	return n
}

// find returns the index of the first b at or after from, or the length of the text.
func (s *scanner) find(b byte, from int) int {
	if i := strings.IndexByte(s.text[from:], b); i >= 0 {
		return from + i
	}
	return len(s.text)
}

// next reads the next line into l and reports whether there was one.
func (s *scanner) next(l *line) bool {
	if s.pos > len(s.text) {
		return false
	}
	begin, end := s.pos, min(s.lf, s.cr)
	s.skip(end)
	s.num++
	*l = line{num: s.num}
	raw := s.text[begin:end]
	if len(raw) > maxLine && s.dialect.Has(lineLimit) {
		raw, l.tooLong = raw[:maxLine], true
	}
	if s.nul < end {
		raw, _, _ = strings.Cut(raw, "\x00") // the rest is not seen by parsers written in C, nor by us
	}
	s.dialect.take(l, raw)
	return true
}

// skip moves after the line end at the given position. Each of the two kinds of line end is sought only once the last
// one found is passed, so that a file with one kind only is not searched for the other again and again.
func (s *scanner) skip(end int) {
	s.pos = end + 1
	if end == s.cr && s.lf == end+1 && s.lf < len(s.text) {
		s.pos++
	}
	if s.pos > len(s.text) {
		return
	}
	if s.lf < s.pos {
		s.lf = s.find('\n', s.pos)
	}
	if s.cr < s.pos {
		s.cr = s.find('\r', s.pos)
	}
}

// take fills l with the parts of one line: key, colon, value, comment (RFC 9309 section 2.2).
func (d Dialect) take(l *line, raw string) {
	if i := strings.IndexByte(raw, '#'); i >= 0 {
		raw, l.comment = raw[:i], true
	}
	raw = trimSpace(raw)
	if raw == "" {
		l.blank = true
		return
	}
	sep := strings.IndexByte(raw, ':')
	if sep < 0 {
		if !d.Has(missingColon) {
			return
		}
		if sep = onlyGap(raw); sep < 0 {
			return
		}
		l.noColon = true
	}
	key := trimSpace(raw[:sep])
	if key == "" {
		return
	}
	l.directive = true
	l.key = key
	l.value = trimSpace(raw[sep+1:])
	l.kind, l.typo = d.kindOf(key)
}

// onlyGap returns the start of the only run of spaces and tabs in a trimmed line, or -1 if there is
// none or another.
func onlyGap(s string) int {
	const gap = " \t"
	i := strings.IndexAny(s, gap)
	if i < 0 || strings.ContainsAny(strings.TrimLeft(s[i:], gap), gap) {
		return -1
	}
	return i
}

// trimSpace cuts white space off both ends: space, tab, vertical tab and form feed, and no other.
func trimSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// space is white space, and no other.
const space = " \t\v\f"

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\v' || b == '\f' }

func isLineEnd(b byte) bool { return b == '\n' || b == '\r' }
