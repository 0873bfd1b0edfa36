package weblog

import (
	"bytes"
	"math/bits"
)

// A class is what values of a field must look like.
type class uint8

const (
	anyValue     class = iota
	statusValue        // three digits, or what stands for none
	vhostValue         // an address may be the client's, or the first of several
	wordValue          // without a dot and a colon, as addresses and names of hosts have them
	siteValue          // the name of a host
	agentValue         // a text with a slash, neither of several parts nor a URL
	addressValue       // with one, or before a hyphen; more may follow it
	schemeValue        // a short word, as https or h2
	momentValue        // as in 2026-01-31T18:00:00
	numberValue        // digits, and maybe a point
)

// ownClasses are the classes of fields with names of our own.
var ownClasses = map[string]class{"vhost": vhostValue, "word": wordValue, "site": siteValue, "agent": agentValue, "address": addressValue, "type": schemeValue, "moment": momentValue, "msec": numberValue, "bytes_received": numberValue}

// A kind says what ends a field.
type kind uint8

const (
	byText  kind = iota // until
	byByte              // until, which is one byte
	byWord              // until, which begins with a blank: the field has none
	byQuote             // until, after a quote
	byLast              // the last bracket before the one that ends the next field, as users' names may have anything
	byColon             // the last colon of the word, as IPv6 has more than the one before a port
	bySlash             // a slash, which begins the next field
	byZone              // until, after a zone if there is one: a time that no brackets enclose
	byWords             // the last of several blanks: words that nobody wants
)

// A field is a field of a pattern, and the text after it.
type field struct {
	end     kind
	role    role
	class   class
	quoted  bool  // a quote stands in front and begins until
	inside  bool  // a bracket stands in front: there may be blanks
	final   bool  // no field after it is in quotes, and there are some: its own may have quotes and blanks
	status  bool  // a status follows, which tells the quote that ends the field from others
	three   bool  // and then a blank, so three bytes before a blank are a status
	blanks  bool  // there may be more blanks after it
	checked bool  // its values, or what follows them
	isWord  bool  // it has no blanks, and a search for until may pass one
	colon   bool  // one of these words has a colon
	skip    int16 // so many fields from this one on are words that nobody wants
	words   int16 // how many words these are; of byZone: how many blanks it has, if not 0
	rank    int   // of several with one role, the least counts first
	unit    string
	time    string // the form of a time, with the sample moment
	until   []byte
	option  []byte // text before the next field, if the line may lack that and all after it
	name    string
	written string // the name in the pattern
}

// The signs of patterns: a bracket that ends, or else a quote, or neither.
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
	bare   bool // the first field is a host or a client without quotes
	need   int  // fields that a line must have: up to the URL and the status
	must   byte // the sign between these

	moment int // the field of the time, -1 if there is none
	last   int // fields that are read

	plan     *plan
	wanted   *wanted // of a parser
	optional []int   // fields that another one replaces if they are "-", and those of the URL
	fronted  bool    // the first field is a virtual host, or the client
}

// split sets the fields of a line, as many as it has of those that are wanted. Fields after the URL and the status may
// be missing or cut off. result is why the line is not of the pattern, or IsRow.
func (p *pattern) split(line []byte, fields [][]byte) (n int, result Result) {
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
			if end = f.endQuoted(line, at); f.three && end >= 0 {
				if up := end + len(f.until) + 3; up < len(line) && line[up] == ' ' && isDigit(line[up-2]) {
					fields[i], fields[i+1], at = line[at:end], line[up-3:up], up+1
					i++
					continue
				}
			}
		case byLast:
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
			if end < -1 && i+1 >= p.need && (!f.checked || f.allows(line[at:-2-end])) { // it is whole, and what follows is not of the pattern
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

// splitLast sets field i, which ends by byLast, and the next one. It returns where the text after them ends, -1 if they
// are not there.
func (p *pattern) splitLast(line []byte, at, i int, fields [][]byte) int {
	f, next := &p.fields[i], &p.fields[i+1]
	bracket := f.until[len(f.until)-1]
	if n := bytes.IndexByte(line[at:], f.until[0]); n >= 0 && begins(line[at+n:], f.until) { // nearly all users have no blank, and no time a bracket
		from := at + n + len(f.until)
		up := bytes.IndexByte(line[from:], next.until[0])
		if up >= 0 && begins(line[from+up:], next.until) && bytes.IndexByte(line[from:from+up], bracket) < 0 {
			fields[i], fields[i+1] = line[at:at+n], line[from:from+up]
			return from + up + len(next.until)
		}
	}
	n := bytes.Index(line[at:], next.until)
	if n < 0 {
		return -1
	}
	end := at + bytes.LastIndexByte(line[at:at+n], bracket) + 1 - len(f.until)
	if end < at || !begins(line[end:], f.until) {
		return -1
	}
	if user := line[at:end]; i > 0 && p.fields[i-1].name == "ident" && (begins(user, []byte("- ")) || bytes.HasSuffix(user, []byte(" -")) && !isPeer(firstWord(line))) {
		return -1 // no name, but of more fields, or after a prefix
	}
	fields[i], fields[i+1] = line[at:end], line[end+len(f.until):at+n]
	return at + n + len(next.until)
}

// missing returns what a line is whose field i does not end in its rest.
func (p *pattern) missing(i int, rest []byte) Result {
	switch {
	case i >= p.need:
		return IsRow
	case p.fields[i].quoted && i > p.moment && !hasQuote(rest):
		return RefusedQuote
	}
	return p.refusal(i)
}

// refusal returns why a line is not of the pattern, by the first field that does not fit.
func (p *pattern) refusal(i int) Result {
	if i <= p.moment {
		return RefusedFormat
	}
	return RefusedFields
}

// allows reports whether a value may be the field's.
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

// passWords returns where the last of n words ends, -1 if there are fewer with a blank behind. It looks at eight bytes at once:
// most words are shorter, and a search for each takes 12 % longer with lines of ALB.
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

// begins is bytes.HasPrefix for short texts, which it is faster for.
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

// endQuoted returns the end of a field in quotes: the first quote that no backslash escapes and that the text after the
// field follows, or that the line ends with; -1 if there is none. So a quote within a field need not be escaped, except
// in a request, and where the field would have the time and the request of another record, whose line end was lost.
// Where the text after the field follows no quote it returns -2 less the first quote before a blank.
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

// passAddresses returns the end of the proxies' addresses after field i, an address, or of the list that begins with
// it. The field becomes that list. It is -1 if the field is neither. If an address stands in front, they may follow
// without a comma, up to two more fields; and if commas separate them, and it has no quotes, that becomes the list.
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

// isAddress reports whether a text looks like an address of IP without a port: a host's has one.
func isAddress(text []byte) bool {
	if n := bytes.Count(text, []byte{':'}); n > 1 {
		return (n > 5 || bytes.Contains(text, []byte("::"))) && len(bytes.Trim(text, "0123456789abcdefABCDEF:.")) == 0
	}
	return bytes.Count(text, []byte{'.'}) == 3 && len(bytes.Trim(text, "0123456789.")) == 0
}

// isStatusField reports whether a field is a status: three digits, or "-", "-1" or "0" for none.
func isStatusField(text []byte) bool {
	if len(text) == 3 {
		return isDigit(text[0]) && isDigit(text[1]) && isDigit(text[2])
	}
	return string(text) == "-" || string(text) == "-1" || string(text) == "0"
}

// beginsWithStatus reports whether a text begins with three digits and no more, or with what stands for none.
func beginsWithStatus(text []byte) bool {
	if len(text) > 2 && isDigit(text[0]) && isDigit(text[1]) && isDigit(text[2]) {
		return len(text) == 3 || !isDigit(text[3])
	}
	return isStatusField(firstWord(text))
}

// firstWord returns the text up to the first blank.
func firstWord(text []byte) []byte {
	if n := bytes.IndexByte(text, ' '); n >= 0 {
		return text[:n]
	}
	return text
}

// isEscaped reports whether a text ends in an odd number of backslashes.
func isEscaped(text []byte) bool { return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1 }

// hasQuote reports whether a text has a quote that no backslash escapes.
func hasQuote(text []byte) bool {
	for i, c := range text {
		if c == '"' && !isEscaped(text[:i]) {
			return true
		}
	}
	return false
}
