package weblog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ownRoles are the roles of our own names, for formats without a notation, see [ownClasses].
var ownRoles = map[string]role{
	"url": roleURL, "type": roleScheme, "site": roleHost, "agent": roleAgent, "moment": roleTime, "address": roleClient,
	"x_forwarded_for": roleForwarded, "proxy_add_x_forwarded_for": roleForwarded,
}

// apacheVariables are the variables of nginx that correspond to directives of Apache's mod_log_config.
var apacheVariables = map[byte]string{
	'r': "request", 'U': "uri", 'q': "args", 'v': "server_name", 'V': "host", 'p': "server_port", 'm': "request_method", 'H': "server_protocol",
	's': "status", 'b': "body_bytes_sent", 'B': "body_bytes_sent", 'O': "bytes_sent", 't': "time_local", 'h': "remote_addr", 'a': "remote_addr",
	'u': "remote_user",
}

// variable sets the role of a field to the role of an nginx variable.
func (f *field) variable(name string) {
	f.role = ownRoles[name]
	for _, e := range fieldTable().byKey[keyOf(name)] {
		if e.producer == "nginx" {
			f.role, f.rank, f.unit = e.role, e.rank, e.unit
		}
	}
}

// ErrPattern means that a pattern cannot be compiled.
var ErrPattern = errors.New("invalid pattern")

// isPattern reports whether a text is a pattern instead of the name of a format.
func isPattern(text string) bool { return strings.ContainsAny(text, "$%") }

// cutPasted returns the pattern in a text as in a configuration: after log_format or LogFormat and a name, possibly in
// several quoted pieces.
func cutPasted(text string) string {
	const blank = " \t\r\n"
	rest, nginx := strings.CutPrefix(strings.Trim(text, blank), "log_format")
	rest, apache := strings.CutPrefix(strings.Trim(rest, blank), "LogFormat")
	if rest = strings.Trim(rest, blank); nginx {
		rest = strings.Trim(rest[max(0, strings.IndexAny(rest, blank)):], blank) // after the name
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

// compilePattern compiles a pattern: in nginx's notation if it has a "$", otherwise in Apache's. In both, a backslash
// escapes the next character, two spaces mean at least one space, and "(?" begins the part that lines may lack at their
// end.
func compilePattern(text string) (*pattern, error) {
	if strings.Contains(text, "%ci") || strings.Contains(text, "%HM") {
		return nil, fmt.Errorf("%w: it is a log-format of HAProxy: use -format haproxy for option httplog; for other formats, write nginx variables instead of HAProxy's, such as $remote_addr for %%ci", ErrPattern)
	}
	if strings.Contains(text, "\n") {
		return nil, fmt.Errorf("%w: it has several lines: give only one log_format or LogFormat", ErrPattern)
	}
	p := &pattern{moment: -1, plan: &plan{}}
	nginx := strings.Contains(text, "$")
	delimiter := &p.lead // the text being read
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
				return nil, fmt.Errorf("%w: expected a field at %q", ErrPattern, shortName(rest))
			}
			own := !nginx && strings.TrimLeft(rest[:n], "%<>!,0123456789") == "t" // it includes brackets
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

// add appends a field that is preceded by a text. Adjacent fields for a path and its query become one URL.
func (p *pattern) add(f field, front []byte) error {
	if n := len(p.fields); n > 0 && f.time != "" && p.fields[n-1].time != "" && len(bytes.Trim(front, " .,:T-")) == 0 { // a time in parts
		before := &p.fields[n-1]
		before.time += string(front) + f.time
		before.until = nil
		return nil
	}
	if n := len(front); n > 0 {
		f.quoted, f.inside = front[n-1] == '"', f.inside || strings.IndexByte("[{(", front[n-1]) >= 0
	} else if n := len(p.fields); n > 0 {
		switch before := &p.fields[n-1]; {
		case f.role == roleURL, f.role == rolePath:
			before.end = bySlash
		case before.role == rolePath && (f.role == roleQuery || f.name == "is_args"), before.role == roleURL && f.role == roleQuery:
			before.role = roleURL
			return nil
		default:
			return fmt.Errorf("%w: missing text between %s and %s", ErrPattern, before.name, f.name)
		}
	}
	p.fields = append(p.fields, f)
	return nil
}

// finish sets what depends on the next field, and checks that there is a URL.
func (p *pattern) finish() error {
	target := false
	blanks := slices.ContainsFunc(p.fields, func(f field) bool { return bytes.IndexByte(f.until, ' ') >= 0 }) // between fields
	for i := range p.fields {
		f := &p.fields[i]
		if n := len(f.until); n > 1 && string(f.until[n-2:]) == "  " {
			f.until, f.blanks = f.until[:n-1], true
		}
		f.settleTime()
		f.inside = f.inside || f.end == byZone // a time, which has a space
		f.quoted = f.quoted && bytes.HasPrefix(f.until, []byte{'"'})
		spaced := f.role == roleRequest || f.role == roleAgent || f.role == roleReferer // may contain spaces without quotes
		if f.role == roleForwarded && !f.quoted && string(f.until) == " " {             // one or more addresses
			f.class = addressValue
		}
		var next field
		if i+1 < len(p.fields) {
			next = p.fields[i+1]
		}
		switch n := len(f.until); {
		case f.end == bySlash:
		case f.quoted:
			f.end, f.status = byQuote, next.role == roleStatus
		case string(f.until) == ":" && bytes.HasPrefix(next.until, []byte{' '}):
			f.end = byColon
		case f.role == roleUser && bytes.HasSuffix(f.until, []byte(" [")) && next.class == anyValue && bytes.HasPrefix(next.until, []byte("]")):
			f.end = byLast
		case f.end == byZone && n > 0 && f.until[0] == ' ':
		case n == 1:
			f.end = byByte
		case n > 1 && f.until[0] == ' ' && !f.inside && !spaced:
			f.end = byWord
		default:
			f.end = byText
		}
		switch f.end {
		case byText, byByte, byColon:
			f.isWord = blanks && !f.inside && !spaced && len(f.until) > 0 && string(f.until) != " "
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
	}
	p.setRoles()
	for i, f := range slices.Backward(p.fields) {
		if f.quoted {
			p.fields[i].final = i+1 < len(p.fields) && f.role != roleRequest && f.option == nil
			break
		}
	}
	p.markUsual()
	p.must = anySign
	for _, f := range p.fields[:max(p.need, 1)-1] {
		if bytes.IndexByte(f.until, ']') >= 0 {
			p.must = bracketSign
		} else if p.must == anySign && bytes.IndexByte(f.until, '"') >= 0 {
			p.must = quoteSign
		}
	}
	if p.last = len(p.fields); p.last == 0 || p.last > maxFields {
		return fmt.Errorf("%w: it has %d fields: write one to %d", ErrPattern, p.last, maxFields)
	}
	p.bare = len(p.lead) == 0 && (p.fields[0].role == roleHost || p.fields[0].role == roleClient)
	if i := slices.IndexFunc(p.fields, func(f field) bool { return f.option != nil }); i >= 0 && i+1 < p.need {
		return fmt.Errorf("%w: only fields after the URL and the status may be optional, but (? follows %s", ErrPattern, p.fields[i].name)
	}
	if !target {
		return fmt.Errorf("%w: it has no known field for a URL, a path or a request", ErrPattern)
	}
	return nil
}

// markUsual marks the first of the seven fields that combined lines have after the client, see splitUsual.
func (p *pattern) markUsual() {
	for i := range p.fields[:max(6, len(p.fields))-6] {
		shape := ""
		for _, f := range p.fields[i : i+7] {
			shape = fmt.Sprint(shape, string(f.until), f.class)
		}
		p.fields[i].usual = shape == ` [0] "0" 0 1 "0" "0"0`
	}
}

// setRoles makes the plan. If several fields have a role, the one with the lowest rank counts first; among equal
// ranks, the last field.
func (p *pattern) setRoles() {
	for i, f := range p.fields {
		p.plan.fields = append(p.plan.fields, sampled{name: f.written, alias: f.name})
		if f.role == roleNone {
			continue
		}
		one := pick{name: f.written, role: f.role, at: i, with: -1, rank: f.rank, join: f.role == rolePath}
		if one.join {
			one.unit = f.unit
		}
		p.plan.of[f.role] = append(p.plan.of[f.role], one)
	}
	for _, picks := range p.plan.of {
		slices.SortFunc(picks, func(a, b pick) int { return cmp.Or(cmp.Compare(a.rank, b.rank), b.at-a.at) })
	}
	if times := p.plan.of[roleTime]; times != nil {
		p.moment = times[0].at
	}
}

// nginxField reads the variable at the start of a text, and returns its length; 0 if there is none.
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
	f.variable(name)
	f.class = ownClasses[name]
	switch name {
	case "time_local":
		f.end = byZone
	case "word":
		name = "ident"
	case "queues_and_headers", "request_headers": // HAProxy writes captured headers with their spaces
		f.inside = true
	case "domain": // for ALB, whose requests are whole URLs, the field is only used by -keep
		name = NameHost
	}
	return f.named(name), n
}

// sampleMoment is a time to which time formats are applied: 2026-01-31 18:05:09.123456 +0100.
const sampleMoment = 1769879109123456

// The formats of strftime, and the additional ones of Apache, with the values for sampleMoment.
var (
	timeParts = map[string]string{"sec": "1769879109", "msec": "1769879109123", "usec": "1769879109123456", "msec_frac": "123", "usec_frac": "123456"}
	strftime  = strings.NewReplacer("%Y", "2026", "%m", "01", "%d", "31", "%e", "31", "%b", "Jan", "%h", "Jan", "%a", "Sat", "%H", "18", "%M", "05", "%S", "09", "%z", "+0100",
		"%F", "2026-01-31", "%T", "18:05:09", "%R", "18:05", "%s", "1769879109", "%%", "%")
)

// settleTime makes a field the time if ParseTime can read its format. Without a zone, it is in UTC.
func (f *field) settleTime() {
	const second = 1_000_000
	if f.time == "" {
		return
	}
	got, zone := ParseTime([]byte(f.time)), int64(3600*second)
	if diff := sampleMoment - got; got != NoTime && (diff >= 0 && diff < second || diff+zone >= 0 && diff+zone < second && !strings.Contains(f.time, "+0100")) {
		if f.role, f.name, f.words = roleTime, NameTime, int16(strings.Count(f.time, " ")); f.words > 0 {
			f.end = byZone
		}
	}
}

// apacheField reads the directive at the start of a text, and returns its length; 0 if there is none.
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
	case letter == 'l':
		name = "ident"
	case arg == "" || letter == 'r':
		if f.variable(apacheVariables[letter]); f.role == roleTime || f.role == roleRequest {
			name = roleWords[f.role]
		}
	case letter == 'i':
		f.variable("http_" + strings.ToLower(arg))
		name = arg
	case letter == 't':
		arg = strings.TrimPrefix(strings.TrimPrefix(arg, "begin:"), "end:")
		if sample, ok := timeParts[arg]; ok {
			f.time = sample
		} else {
			f.time = strftime.Replace(arg)
		}
	}
	return f.named(name), n
}

// named sets the name of a field, and its class.
func (f field) named(name string) field {
	f.name, f.written = name, name
	if known := roleNames[f.role]; known != "" {
		f.name = known
	}
	if f.role == roleStatus {
		f.class = statusValue
	}
	return f
}
