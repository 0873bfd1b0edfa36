package weblog

import (
	"bytes"
	"math/bits"
)

// A class is a constraint on the values of a field.
type class uint8

const (
	anyValue     class = iota
	statusValue        // three digits, or a placeholder such as "-"
	vhostValue         // a host or, if it is an address, possibly the client, or the first of several addresses
	wordValue          // a text without dots and colons, so neither an address nor a host name
	siteValue          // the name of a host
	agentValue         // a text with a slash, neither a list nor a URL
	addressValue       // an address, or a word before a hyphen; more addresses may follow
	schemeValue        // a short word, such as https or h2
	momentValue        // a time like 2026-01-31T18:00:00
	numberValue        // digits, optionally with a decimal point
)

// ownClasses are the classes of fields with our own names.
var ownClasses = map[string]class{"vhost": vhostValue, "word": wordValue, "site": siteValue, "agent": agentValue, "address": addressValue, "type": schemeValue, "moment": momentValue, "msec": numberValue, "bytes_received": numberValue}

// A kind determines where a field ends.
type kind uint8

const (
	byText  kind = iota // at until
	byByte              // at until, which is one byte
	byWord              // the field ends at until, which begins with a space; the field has no spaces
	byQuote             // at until, after a quote
	byLast              // the field ends at the last bracket before the end of the next field, because user names may contain anything
	byColon             // the field ends at the last colon of the word, because IPv6 addresses also have colons
	bySlash             // before a slash, which begins the next field
	byZone              // the field is a time without brackets and ends at until, after an optional zone
	byWords             // after several unwanted words
)

// A field is a field of a pattern, and the text that must follow it.
type field struct {
	end     kind
	role    role
	class   class
	quoted  bool  // preceded by a quote, and until begins with one
	inside  bool  // preceded by a bracket, so it may have spaces
	final   bool  // the last field in quotes, but not the last of the pattern: it may have quotes and spaces
	status  bool  // followed by a status, which distinguishes the quote that ends the field from others
	usual   bool  // the first of the fields that splitUsual reads
	blanks  bool  // more spaces may follow
	checked bool  // its values, or the text after it, must be checked
	isWord  bool  // it has no spaces, but a search for until may skip one
	colon   bool  // one of the skipped words has a colon
	skip    int16 // number of unwanted fields from this one on
	words   int16 // number of words in the field; for byZone, the number of spaces in the field, if not 0
	rank    int   // the field with the lowest rank of those with the same role counts first
	unit    string
	time    string // the format of a time, applied to sampleMoment
	until   []byte
	option  []byte // text before the next field; the line may lack it and everything after it
	name    string
	written string // the name in the pattern
}

// The signs of patterns, which are cheap to test: a closing bracket, or otherwise a quote, or neither.
const (
	anySign byte = 1 << iota
	quoteSign
	bracketSign
	allSigns = anySign | quoteSign | bracketSign
)

// A pattern is a compiled format of lines.
type pattern struct {
	lead   []byte // before the first field
	fields []field
	bare   bool // the first field is a host or client without quotes
	need   int  // number of required fields: up to the URL and the status
	must   byte // the sign between the required fields

	moment int // index of the time field, -1 if there is none
	last   int // number of fields that are read

	plan     *plan
	wanted   *wanted // set by a parser
	optional []int   // fields that have a substitute for the value "-", and the fields of the URL
	fronted  bool    // the first field is a virtual host or the client
}

// split sets the wanted fields of a line, and returns their number. Fields after the URL and the status may be missing
// or truncated. plain says that the line has no backslashes, and thus no escapes; it may be false for any line, which
// then takes longer. result is IsRow, or why the line does not match the pattern.
func (p *pattern) split(line []byte, fields [][]byte, plain bool) (n int, result Result) {
	if !begins(line, p.lead) || p.bare && line[0] == '"' {
		return 0, RefusedFormat
	}
	at := len(p.lead)
	for i := 0; i < p.last; i++ {
		f := &p.fields[i]
		end := -1
		switch f.end {
		case byByte, byWord:
			stop := f.until[0]
			if at+1 < len(line) && line[at+1] == stop && line[at] != stop { // many have one byte
				end = at + 1
			} else if n := bytes.IndexByte(line[at:], stop); n >= 0 {
				end = at + n
			}
			if f.end == byWord && end >= 0 && !begins(line[end:], f.until) {
				end = -2 - end
			}
		case byQuote:
			end = f.endQuoted(line, at)
		case byLast:
			if plain && f.usual && p.last <= i+7 && splitUsual(line[at:], p.fields[i:p.last], fields[i:]) {
				return p.last, IsRow
			}
			if end = p.splitLast(line, at, i, fields); end < 0 {
				return i, p.missing(i, line[at:])
			}
			at = end
			i++
			continue
		case byColon:
			if end = bytes.LastIndexByte(firstWord(line[at:]), ':'); end >= 0 {
				end += at
			}
		case byWords:
			if end = passWords(line, at, int(f.words)); end >= 0 && begins(line[end:], f.until) && (!f.colon || bytes.IndexByte(line[at:end], ':') >= 0) {
				at, i = end+len(f.until), i+int(f.skip)-1
				continue
			}
			end = -1
		case byText, bySlash, byZone:
			end = f.endOther(line, at)
		}
		if end < 0 {
			if end < -1 && i+1 >= p.need && (!f.checked || f.allows(line[at:-2-end])) { // the field is complete, and the rest of the line does not belong to the pattern
				fields[i] = line[at : -2-end]
				return i + 1, IsRow
			}
			if i+1 < p.need || f.quoted || bytes.IndexByte(line[at:], ' ') >= 0 {
				return i, p.missing(i, line[at:])
			}
			end = len(line) // it is the last one of the line
		}
		if fields[i] = line[at:end]; f.checked && !f.allows(fields[i]) {
			return i, p.refusal(i)
		}
		if at = end + len(f.until); at > len(line) {
			return i + 1, p.missing(i+1, nil)
		}
		if f.checked {
			if f.class == addressValue {
				if at = p.passAddresses(line, at, i, fields); at < 0 {
					return i, p.refusal(i)
				}
			}
			for f.blanks && at < len(line) && line[at] == ' ' {
				at++
			}
			if !begins(line[at:], f.option) {
				return i + 1, IsRow
			}
			at += len(f.option)
		}
	}
	if n := len(p.fields); p.last == n && at < len(line) && line[at] != ' ' && !bytes.HasSuffix(p.fields[n-1].until, []byte{' '}) { // glued to the end
		return n, p.refusal(n - 1)
	}
	return p.last, IsRow
}

// splitLast sets field i, which ends at the last bracket (byLast), and the next field. It returns the end of the text
// after them, or -1 if they are missing.
func (p *pattern) splitLast(line []byte, at, i int, fields [][]byte) int {
	f, next := &p.fields[i], &p.fields[i+1]
	bracket := f.until[len(f.until)-1]
	n := bytes.Index(line[at:], next.until)
	if n < 0 {
		return -1
	}
	end := at + bytes.LastIndexByte(line[at:at+n], bracket) + 1 - len(f.until)
	if end < at || !begins(line[end:], f.until) {
		return -1
	}
	if user := line[at:end]; i > 0 && p.fields[i-1].name == "ident" && (begins(user, []byte("- ")) || bytes.HasSuffix(user, []byte(" -")) && !isPeer(firstWord(line))) {
		return -1 // not a user name, but several fields, or the text after a prefix
	}
	fields[i], fields[i+1] = line[at:end], line[end+len(f.until):at+n]
	return at + n + len(next.until)
}

// splitUsual sets the values of fields of a combined line, up to seven from the user to the User-Agent, as split does,
// if the line has no backslashes. It returns false if they may need the rules of split.
func splitUsual(rest []byte, fields []field, values [][]byte) bool {
	for i := range fields {
		until := fields[i].until
		n := bytes.IndexByte(rest, until[0])
		if n < 0 || !begins(rest[n:], until) {
			return false
		}
		values[i], rest = rest[:n], rest[n+len(until):]
	}
	return (len(fields) < 7 || len(rest) == 0 || rest[0] == ' ') && isStatusField(values[3]) && bytes.IndexByte(values[1], '[') < 0
}

// missing returns the result for a line in which field i does not end.
func (p *pattern) missing(i int, rest []byte) Result {
	switch {
	case i >= p.need:
		return IsRow
	case p.fields[i].quoted && i > p.moment && !hasQuote(rest):
		return RefusedQuote
	}
	return p.refusal(i)
}

// refusal returns the result for a line in which field i is the first that does not match.
func (p *pattern) refusal(i int) Result {
	if i <= p.moment {
		return RefusedFormat
	}
	return RefusedFields
}

// allows reports whether the field may have a value.
func (f *field) allows(value []byte) bool {
	if f.isWord && bytes.IndexByte(value, ' ') >= 0 {
		return false
	}
	switch f.class {
	case statusValue:
		return isStatusField(value)
	case schemeValue:
		return 1 < len(value) && len(value) < 6 && isLower(value[0])
	case momentValue:
		return len(value) >= 20 && value[4] == '-' && value[10] == 'T' && number(value[:4]) >= 0
	case wordValue:
		return !isHostLike(value) && !bytes.HasSuffix(value, []byte{','})
	case siteValue:
		return isPeer(value) && !isAddress(value)
	case agentValue:
		return hasLetter(value) && bytes.IndexByte(value, '/') > 0 && bytes.IndexByte(value, '|') < 0 && !isURL(value)
	case numberValue:
		return len(value) > 0 && isDigit(value[0]) && len(bytes.Trim(value, "0123456789.")) == 0
	case anyValue, vhostValue, addressValue: // see passAddresses
	}
	return true
}

// passWords returns the end of the last of n words; -1 if fewer words are followed by a space. It tests eight bytes
// at once: most words are shorter, and searching for each takes 12 % longer for ALB lines.
func passWords(line []byte, at, n int) int {
	for ; at+8 <= len(line); at += 8 {
		blanks := marksOf(line[at:], ' ')
		if c := bits.OnesCount64(blanks); c < n {
			n -= c
			continue
		}
		for ; n > 1; n-- {
			blanks &= blanks - 1
		}
		return at + bits.TrailingZeros64(blanks)/8
	}
	for ; at < len(line); at++ {
		if line[at] == ' ' {
			if n--; n == 0 {
				return at
			}
		}
	}
	return -1
}

// begins is bytes.HasPrefix, but faster for short texts.
func begins(text, short []byte) bool {
	if len(text) < len(short) {
		return false
	}
	for i, c := range short {
		if text[i] != c {
			return false
		}
	}
	return true
}

// endQuoted returns the end of a quoted field: the first unescaped quote that is followed by the text after the field,
// or by the end of the line; -1 if there is none. Quotes within a field therefore need no escape, except in a request,
// and if the field would include the time and the request of another record whose line end was lost. If the text after
// the field does not follow any quote, it returns -2 minus the index of the first quote before a space.
func (f *field) endQuoted(line []byte, from int) int {
	behind, passed, first := f.until[1:], false, -1
	if f.final { // of all quotes, the last one ends it
		i := bytes.LastIndexByte(line[from:], '"')
		if i >= 0 && begins(line[from+i+1:], behind) && (bytes.IndexByte(line[from:from+i], '"') < 0 || !isJoinedCombined(line)) {
			return from + i
		}
	}
	for i := from; ; i++ {
		n := bytes.IndexByte(line[i:], '"')
		if n < 0 {
			return min(-1, -2-first)
		}
		if i += n; i > from && line[i-1] == '\\' && isEscaped(line[from:i]) {
			continue
		}
		rest := line[i+1:]
		switch {
		case len(rest) > 0 && (len(behind) == 0 && rest[0] != ' ' || !begins(rest, behind) || f.status && !beginsWithStatus(rest[len(behind):])):
			if passed = true; f.role == roleRequest {
				return -1
			}
			if first < 0 && rest[0] == ' ' && begins(behind, rest[:1]) {
				first = i
			}
		case passed && bytes.Contains(line[from:i], []byte(`] "`)):
			return -1
		case first >= 0 && len(rest) == 0 && len(behind) > 0:
			return -2 - first
		default:
			return i
		}
	}
}

// endOther returns the end of any other field, -1 if there is none.
func (f *field) endOther(line []byte, from int) int {
	var n int
	switch text := line[from:]; f.end {
	case bySlash:
		n = bytes.IndexByte(text, '/')
	case byZone:
		if n = -1; f.words > 0 {
			for words := f.words + 1; words > 0 && n+1 < len(text); words-- {
				n += 1 + len(firstWord(text[n+1:]))
			}
		} else if n = bytes.IndexByte(text, ' '); n == len("2026-01-31") && hasShape(text[n:], "_00:00:00") { // a clock
			n += 1 + len(firstWord(text[n+1:]))
		}
		if f.words == 0 && n >= 0 && n+2 < len(text) && (text[n+1] == '+' || text[n+1] == '-') && isDigit(text[n+2]) {
			n += 1 + len(firstWord(text[n+1:]))
		}
		if n >= 0 && !bytes.HasPrefix(text[n:], f.until) {
			n = -1
		}
	default:
		if n = bytes.Index(text, f.until); len(f.until) == 0 {
			n = len(text)
		}
	}
	if n < 0 {
		return -1
	}
	return from + n
}

// passAddresses returns the end of the list of addresses that begins with field i, and makes field i this list;
// proxies append addresses. It returns -1 if field i is neither an address nor the first word of a list. Up to two
// more addresses may follow without a comma, in which case they are the next fields; if they are separated by commas
// without quotes, they are added to the list.
func (p *pattern) passAddresses(line []byte, at, i int, fields [][]byte) int {
	comma := []byte{','}
	isAlone := i == 0 || p.fields[i-1].class != vhostValue || !isAddress(bytes.TrimSuffix(fields[i-1], comma))
	for begin := at - 1 - len(fields[i]); isAlone && bytes.HasSuffix(fields[i], comma); at++ {
		if at += len(firstWord(line[at:])); at == len(line) {
			return -1
		}
		fields[i] = line[begin:at]
	}
	switch {
	case !p.fields[i].quoted && p.fields[i].role != roleForwarded && !isHostLike(fields[i]) && (!begins(line[at:], []byte("- ")) || i > 0 && !isPeer(fields[i-1]) && bytes.ContainsAny(fields[i-1], ":/[")):
		return -1
	case isAlone:
		return at
	}
	front := &fields[i-1]
	begin := bytes.Index(line, *front)
	for list := !p.fields[i-1].quoted && bytes.HasSuffix(*front, comma); ; {
		if list && line[at-2] != ',' {
			*front, list = line[begin:at-1], false
		}
		word := firstWord(line[at:])
		_, rest, ok := bytes.Cut(line[at+len(word):], []byte{' '})
		if !ok || !isAddress(bytes.TrimSuffix(word, comma)) || bytes.HasPrefix(rest[len(firstWord(rest)):], []byte(" [")) {
			return at
		}
		at += len(word) + 1
	}
}

// isHostLike reports whether a text has a dot or a colon.
func isHostLike(text []byte) bool {
	for _, c := range text {
		if c == '.' || c == ':' {
			return true
		}
	}
	return false
}

// isAddress reports whether a text looks like an IP address without a port.
func isAddress(text []byte) bool {
	if n := bytes.Count(text, []byte{':'}); n > 1 {
		return (n > 5 || bytes.Contains(text, []byte("::"))) && len(bytes.Trim(text, "0123456789abcdefABCDEF:.")) == 0
	}
	return bytes.Count(text, []byte{'.'}) == 3 && len(bytes.Trim(text, "0123456789.")) == 0
}

// isStatusField reports whether a field is a status: three digits, or a placeholder ("-", "-1" or "0").
func isStatusField(text []byte) bool {
	if len(text) == 3 {
		return isDigit(text[0]) && isDigit(text[1]) && isDigit(text[2])
	}
	return string(text) == "-" || string(text) == "-1" || string(text) == "0"
}

// beginsWithStatus reports whether a text begins with exactly three digits, or with a placeholder.
func beginsWithStatus(text []byte) bool {
	if len(text) > 2 && isDigit(text[0]) && isDigit(text[1]) && isDigit(text[2]) {
		return len(text) == 3 || !isDigit(text[3])
	}
	return isStatusField(firstWord(text))
}

// firstWord returns the text before the first space.
func firstWord(text []byte) []byte {
	if n := bytes.IndexByte(text, ' '); n >= 0 {
		return text[:n]
	}
	return text
}

// isEscaped reports whether a text ends in an odd number of backslashes.
func isEscaped(text []byte) bool { return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1 }

// hasQuote reports whether a text has an unescaped quote.
func hasQuote(text []byte) bool {
	for i, c := range text {
		if c == '"' && !isEscaped(text[:i]) {
			return true
		}
	}
	return false
}
