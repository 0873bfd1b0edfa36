package weblog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// nginxRoles are the roles of variables of nginx, and of names of our own for formats that have no notation, see
// [ownClasses].
var nginxRoles = map[string]role{
	"request": roleRequest, "request_uri": roleURL, "url": roleURL, "uri": rolePath, "document_uri": rolePath, "args": roleQuery, "query_string": roleQuery,
	"scheme": roleScheme, "http_x_forwarded_proto": roleScheme, "type": roleScheme,
	"host": roleHost, "http_host": roleHost, "server_name": roleHost, "vhost": roleHost, "server_port": rolePort,
	"request_method": roleMethod, "server_protocol": roleProtocol, "status": roleStatus, "body_bytes_sent": roleBytes, "bytes_sent": roleBytes,
	"time_local": roleTime, "time_iso8601": roleTime, "msec": roleTime, "moment": roleTime,
	"remote_addr": roleClient, "address": roleClient, "http_x_forwarded_for": roleForwarded, "proxy_add_x_forwarded_for": roleForwarded,
	"x_forwarded_for": roleForwarded, "http_user_agent": roleAgent, "http_referer": roleReferer, "remote_user": roleUser,
}

// apacheRoles are the roles of directives of Apache's mod_log_config without an argument, and apacheHeaders those of
// %{name}i, in small letters.
var (
	apacheRoles = map[byte]role{
		'r': roleRequest, 'U': rolePath, 'q': roleQuery, 'v': roleHost, 'V': roleHost, 'p': rolePort, 'm': roleMethod, 'H': roleProtocol,
		's': roleStatus, 'b': roleBytes, 'B': roleBytes, 'O': roleBytes, 't': roleTime, 'h': roleClient, 'a': roleClient, 'u': roleUser,
	}
	apacheHeaders = map[string]role{
		"user-agent": roleAgent, "referer": roleReferer, "x-forwarded-for": roleForwarded, "host": roleHost, "x-forwarded-host": roleHost,
		"x-forwarded-proto": roleScheme,
	}
)

// A class is what values of a field must look like.
type class uint8

const (
	anyValue     class = iota
	statusValue        // three digits, or what stands for none
	vhostValue         // an address may be the client's, or the first of several
	wordValue          // without a dot and a colon, as addresses and names of hosts have them
	addressValue       // with one; more addresses may follow it where one stands in front
	schemeValue        // a short word, as https or h2
	momentValue        // as in 2026-01-31T18:00:00
)

// ownClasses are the classes of fields with names of our own.
var ownClasses = map[string]class{"vhost": vhostValue, "word": wordValue, "address": addressValue, "type": schemeValue, "moment": momentValue}

// A kind says what ends a field.
type kind uint8

const (
	byText  kind = iota // until
	byByte              // until, which is one byte
	byWord              // until, which begins with a blank: the field has none
	byQuote             // until, behind a quote
	byLast              // the last bracket in front of the one that ends the next field, as users' names may have anything
	byColon             // the last colon of the word, as IPv6 has more than the one in front of a port
	bySlash             // a slash, which begins the next field
	byZone              // until, behind a zone if there is one: a time that no brackets enclose
	byWords             // the last of several blanks: words that nobody wants
)

// A field is a field of a pattern, and the text behind it.
type field struct {
	end     kind
	role    role
	class   class
	quoted  bool // a quote stands in front and begins until
	inside  bool // a bracket stands in front: there may be blanks
	status  bool // a status follows, which tells the quote that ends the field from others
	three   bool // and then a blank: if that stands behind three bytes, they are one
	blanks  bool // there may be more blanks behind it
	checked bool // its values, or what follows them
	isWord  bool // it has no blanks, and a search for until may pass one
	skip    int  // so many fields from this one on are words that nobody wants
	earlier int  // the last field in front with the same role, -1 if there is none
	until   []byte
	option  []byte // text in front of the next field, if the line may lack that and all behind it
	name    string
}

// A pattern is a compiled format of lines.
type pattern struct {
	lead   []byte // in front of the first field
	fields []field
	bare   bool // the first field is a host or a client without quotes
	need   int  // fields that a line must have: up to the URL and the status

	of     [numRoles]int // the last field with a role, -1 if there is none
	last   int           // fields that are read
	keep   []int         // fields of Options.Keep; -1 for none, and see partMethod
	client int           // field with the client's address, -1 if it is not wanted
}

// ErrPattern is the kind of the errors about a pattern that cannot be read.
var ErrPattern = errors.New("invalid pattern")

// isPattern reports whether a text is a pattern, and not the name of a format.
func isPattern(text string) bool { return strings.ContainsAny(text, "$%") }

// cutPasted returns the pattern of a text as it stands in a configuration: behind log_format or LogFormat and a name,
// in one piece or in several in quotes.
func cutPasted(text string) string {
	const blank = " \t\r\n"
	rest, nginx := strings.CutPrefix(strings.Trim(text, blank), "log_format")
	rest, apache := strings.CutPrefix(strings.Trim(rest, blank), "LogFormat")
	if rest = strings.Trim(rest, blank); nginx {
		rest = strings.Trim(rest[max(0, strings.IndexAny(rest, blank)):], blank) // behind the name
		if strings.HasPrefix(rest, "escape=") {
			rest = strings.Trim(rest[max(0, strings.IndexAny(rest, blank)):], blank)
		}
	}
	if !strings.HasPrefix(rest, "'") && (!strings.HasPrefix(rest, `"`) || !nginx && !apache) {
		return strings.TrimRight(rest, ";")
	}
	var pieces strings.Builder
	for len(rest) > 0 && (rest[0] == '\'' || rest[0] == '"') {
		end := 1
		for end < len(rest) && rest[end] != rest[0] {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		pieces.WriteString(rest[1:min(end, len(rest))])
		rest = strings.TrimLeft(rest[min(end+1, len(rest)):], blank)
	}
	return pieces.String()
}

// compilePattern compiles a pattern: in nginx's notation if it has a "$", else in Apache's. In both, a backslash takes
// the meaning from the next character, two blanks are one blank or more, and "(?" begins what lines may lack at their end.
func compilePattern(text string) (*pattern, error) {
	if strings.Contains(text, "\n") {
		return nil, fmt.Errorf("%w: it has several lines: give one log_format or LogFormat alone", ErrPattern)
	}
	p := &pattern{client: -1}
	nginx := strings.Contains(text, "$")
	delimiter := &p.lead // that is being read
	option := false
	for rest := text; len(rest) > 0; {
		switch {
		case strings.HasPrefix(rest, "(?") && len(p.fields) > 0:
			option, rest = true, rest[2:]
			var lead []byte
			delimiter = &lead
		case rest[0] == '\\' && len(rest) > 1:
			c := rest[1]
			if c == 't' {
				c = tab
			}
			*delimiter, rest = append(*delimiter, c), rest[2:]
		case strings.HasPrefix(rest, "%%") && !nginx:
			*delimiter, rest = append(*delimiter, '%'), rest[2:]
		case rest[0] == '$' && nginx, rest[0] == '%' && !nginx:
			read := apacheField
			if nginx {
				read = nginxField
			}
			f, n := read(rest)
			if n == 0 {
				return nil, fmt.Errorf("%w: no field is at %q", ErrPattern, rest)
			}
			own := f.name == "time" && f.role == roleTime && !nginx // %t, which has brackets of its own
			if own {
				*delimiter = append(*delimiter, '[')
			}
			if option {
				p.fields[len(p.fields)-1].option, option = *delimiter, false
			}
			rest = rest[n:]
			if err := p.add(f, *delimiter); err != nil {
				return nil, err
			}
			delimiter = &p.fields[len(p.fields)-1].until
			if own {
				*delimiter = append(*delimiter, ']')
			}
		default:
			*delimiter, rest = append(*delimiter, rest[0]), rest[1:]
		}
	}
	return p, p.finish()
}

// add appends a field that a text stands in front of. Of a path and its query with nothing between it makes one URL.
func (p *pattern) add(f field, front []byte) error {
	if n := len(front); n > 0 {
		f.quoted, f.inside = front[n-1] == '"', strings.IndexByte("[{(", front[n-1]) >= 0
	} else if n := len(p.fields); n > 0 {
		switch before := &p.fields[n-1]; {
		case f.role == roleURL, f.role == rolePath:
			before.end = bySlash
		case before.role == rolePath && (f.role == roleQuery || f.name == "is_args"), before.role == roleURL && f.role == roleQuery:
			before.role = roleURL
			return nil
		default:
			return fmt.Errorf("%w: no text is between %s and %s", ErrPattern, before.name, f.name)
		}
	}
	p.fields = append(p.fields, f)
	return nil
}

// finish sets what depends on the next field, and checks that there is a URL.
func (p *pattern) finish() error {
	target := false
	for i := range p.of {
		p.of[i] = -1
	}
	for i := range p.fields {
		f := &p.fields[i]
		if n := len(f.until); n > 1 && string(f.until[n-2:]) == "  " {
			f.until, f.blanks = f.until[:n-1], true
		}
		f.inside = f.inside || f.end == byZone // a time, which has a blank
		var next field
		if i+1 < len(p.fields) {
			next = p.fields[i+1]
		}
		f.quoted = f.quoted && len(f.until) > 0 && f.until[0] == '"' // not in "$request_method $request_uri"
		switch n := len(f.until); {
		case f.end == bySlash:
		case f.quoted:
			f.end, f.status = byQuote, next.role == roleStatus
			f.three = f.status && !next.quoted && string(next.until) == " "
		case string(f.until) == ":" && bytes.HasPrefix(next.until, []byte{' '}):
			f.end = byColon
		case f.role == roleUser && bytes.HasSuffix(f.until, []byte(" [")) && next.class == anyValue && bytes.HasPrefix(next.until, []byte("]")):
			f.end = byLast
		case f.end == byZone && n > 0 && f.until[0] == ' ':
		case n == 1:
			f.end = byByte
		case n > 1 && f.until[0] == ' ' && !f.inside:
			f.end = byWord
		default:
			f.end = byText
		}
		switch f.end {
		case byText, byByte, byColon:
			f.isWord = !f.inside && len(f.until) > 0 && string(f.until) != " "
		case bySlash:
			f.isWord = true
		case byWord, byQuote, byLast, byZone, byWords:
		}
		f.checked = f.isWord || f.blanks || f.option != nil || f.class != anyValue && f.class != vhostValue
		switch f.role { //nolint:exhaustive // the others need not be there
		case roleStatus:
			p.need = i + 1
		case roleURL, roleRequest, rolePath:
			p.need, target = i+1, true
		}
		f.earlier, p.of[f.role] = p.of[f.role], i
	}
	p.last = len(p.fields)
	if p.last == 0 {
		return fmt.Errorf("%w: it has no fields", ErrPattern)
	}
	if p.last > maxFields {
		return fmt.Errorf("%w: it has %d fields, and %d are the most", ErrPattern, p.last, maxFields)
	}
	if first := &p.fields[0]; len(p.lead) == 0 { // so the first field is there
		p.bare = first.role == roleHost || first.role == roleClient
	}
	if i := slices.IndexFunc(p.fields, func(f field) bool { return f.option != nil }); i >= 0 && i+1 < p.need {
		return fmt.Errorf("%w: only fields behind the URL and the status may be missing, and (? stands behind %s", ErrPattern, p.fields[i].name)
	}
	if !target {
		return fmt.Errorf("%w: no field of it is known to hold a URL, a path or a request", ErrPattern)
	}
	return nil
}

// nginxField reads the variable that a text begins with, and its length; 0 if there is none.
func nginxField(text string) (f field, n int) {
	for n = 1; n < len(text) && (text[n] == '_' || isDigit(text[n]) || isLower(text[n]|0x20)); n++ {
	}
	name := text[1:n]
	if strings.HasPrefix(text, "${") {
		n = strings.IndexByte(text, '}') + 1
		name = strings.Trim(text[1:max(n, 1)], "{}")
	}
	if name == "" {
		return f, 0
	}
	f.role, f.class = nginxRoles[name], ownClasses[name]
	switch name {
	case "time_local":
		f.end = byZone
	case "word":
		name = "ident"
	case "domain": // of a load balancer, whose requests are whole URLs: it is only kept
		name = NameHost
	}
	return f.named(name), n
}

// apacheField reads the directive that a text begins with, and its length; 0 if there is none.
func apacheField(text string) (f field, n int) {
	for n = 1; n < len(text) && strings.IndexByte("<>!,0123456789", text[n]) >= 0; n++ {
	}
	arg := ""
	if n < len(text) && text[n] == '{' {
		end := strings.IndexByte(text[n:], '}')
		if end < 0 {
			return f, 0
		}
		arg, n = text[n+1:n+end], n+end+1
	}
	if n >= len(text) {
		return f, 0
	}
	letter := text[n]
	if n++; letter == '^' { // %^FB
		n = min(n+2, len(text))
		return f.named(text[:n]), n
	}
	name := text[:n]
	switch {
	case letter == 't' && arg == "":
		f.role, name = roleTime, "time"
	case letter == 'l':
		name = "ident"
	case letter == 'r':
		f.role, name = roleRequest, "request"
	case arg == "":
		f.role = apacheRoles[letter]
	case letter == 'i':
		f.role, name = apacheHeaders[strings.ToLower(arg)], arg
	case letter == 't' && slices.Contains([]string{"sec", "msec", "usec", "begin:sec", "begin:msec", "begin:usec"}, arg):
		f.role = roleTime
	}
	return f.named(name), n
}

// named sets the name of a field, and the class of values that it takes.
func (f field) named(name string) field {
	f.name = name
	if known := roleNames[f.role]; known != "" {
		f.name = known
	}
	if f.role == roleStatus {
		f.class = statusValue
	}
	return f
}

// split sets the fields of a line, as many as it has of those that are wanted. Fields behind the URL and the status may
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
				if up := end + len(f.until) + 3; up < len(line) && line[up] == ' ' {
					fields[i], fields[i+1], at = line[at:end], line[up-3:up], up+1
					i++
					continue
				}
			}
		case byLast:
			next := &p.fields[i+1]
			n := bytes.Index(line[at:], next.until)
			if n < 0 {
				break
			}
			if end = at + bytes.LastIndexByte(line[at:at+n], f.until[len(f.until)-1]) + 1 - len(f.until); end < at || !begins(line[end:], f.until) {
				return i, p.refusal(i)
			}
			fields[i], fields[i+1] = line[at:end], line[end+len(f.until):at+n]
			at += n + len(next.until)
			i++
			continue
		case byColon:
			if end = bytes.LastIndexByte(firstWord(line[at:]), ':'); end >= 0 {
				end += at
			}
		case byWords:
			if end = passWords(line, at, f.skip); end >= 0 {
				at, i = end+1, i+f.skip-1
				continue
			}
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
			if f.class == addressValue && i > 0 && isAddress(bytes.TrimSuffix(fields[i-1], []byte{','})) {
				at = passAddresses(line, at, &fields[i-1], p.fields[i-1].quoted)
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
	return p.last, IsRow
}

// missing returns what a line is whose field i does not end in its rest.
func (p *pattern) missing(i int, rest []byte) Result {
	switch {
	case i >= p.need:
		return IsRow
	case p.fields[i].quoted && i > p.of[roleTime] && !hasQuote(rest):
		return RefusedQuote
	}
	return p.refusal(i)
}

// refusal returns why a line is not of the pattern, by the first field that does not fit.
func (p *pattern) refusal(i int) Result {
	if i <= p.of[roleTime] {
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
		return !isHostLike(value)
	case addressValue:
		return isHostLike(value)
	case anyValue, vhostValue:
	}
	return true
}

// passWords returns the end of the last of n words, -1 if there are fewer with a blank behind.
func passWords(line []byte, at, n int) (end int) {
	for ; n > 0; n-- {
		blank := bytes.IndexByte(line[at:], ' ')
		if blank < 0 {
			return -1
		}
		end, at = at+blank, at+blank+1
	}
	return end
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

// endQuoted returns the end of a field in quotes: the first quote that no backslash escapes and that the text behind the
// field follows, or that the line ends with; -1 if there is none. So a quote within a field need not be escaped, except in
// a request, and where the field would have the time and the request of another record, whose line end was lost. Where
// the text behind the field follows no quote it returns -2 less the first quote in front of a blank.
func (f *field) endQuoted(line []byte, from int) int {
	behind, passed, first := f.until[1:], false, -1
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
			if first < 0 && rest[0] == ' ' {
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
		if n = bytes.IndexByte(text, ' '); n >= 0 && n+1 < len(text) && (text[n+1] == '+' || text[n+1] == '-') {
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

// passAddresses returns where the addresses of proxies end that stand behind an address, which front is, and in front of two
// more fields. If front is not in quotes and commas separate the addresses, front becomes the list.
func passAddresses(line []byte, at int, front *[]byte, quoted bool) int {
	begin := bytes.Index(line, *front)
	for list := !quoted && bytes.HasSuffix(*front, []byte{','}); ; {
		if list && line[at-2] != ',' {
			*front, list = line[begin:at-1], false
		}
		word := firstWord(line[at:])
		_, rest, ok := bytes.Cut(line[at+len(word):], []byte{' '})
		if !ok || !isAddress(bytes.TrimSuffix(word, []byte{','})) || bytes.HasPrefix(rest[len(firstWord(rest)):], []byte(" [")) {
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
	if bytes.Count(text, []byte{':'}) > 1 {
		return len(bytes.Trim(text, "0123456789abcdefABCDEF:.")) == 0
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
