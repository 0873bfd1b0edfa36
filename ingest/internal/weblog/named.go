package weblog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A spot is the position of a field.
type spot struct {
	at, with   int // with is the position of the clock that belongs to a date; -1 if there is none
	role       role
	code       code
	join, bare bool // as in pick
}

// A source holds the fields of a role. The first one with a value counts.
type source []spot

// A code is an encoding that a program has applied to a text.
type code uint8

const (
	asIs         code = iota
	percentCode       // percent-encoded
	plusCode          // "+" for spaces
	quotedCode        // in quotes
	escapedCode       // the escapes of Apache, nginx and others
	methodCode        // a request line, of which only the method is read
	protocolCode      // a request line, of which only the protocol is read
)

// codes are the names of codes in fields.tsv.
var codes = []string{asIs: "", percentCode: "percent", plusCode: "plus", quotedCode: "quoted"}

// A keptSource is the source of a column to keep.
type keptSource struct {
	source
	role role
}

// named makes rows of fields with names, for all formats.
type named struct {
	common
	escapes
	*wanted
	plan     *plan
	values   [][]byte
	nested   []bool // for JSON: the value is an object or an array
	found    uint32 // bit r is set if the record may have a value with the role r
	isTable  bool   // cells may be surrounded by spaces
	isHeaded bool   // fields are named by a header
	isLine   bool   // fields are named by a pattern, and escapes are decoded
	code     code   // encoding of request headers and clients, if the table of fields has none for them
	when     []byte // memory for a time that consists of two fields
	secure   string // the scheme of a row without a scheme
}

// wanted holds the positions of the fields that are read.
type wanted struct {
	of      [numRoles]source
	keep    []keptSource
	has     uint32 // bit r is set if a field has the role r
	request bool   // the only field for the URL is a request line
	joins   bool   // a field for the URL is joined to others
	placed  bool   // there are fields for the origin
}

// read sets the positions of the wanted fields. placeOf returns the position of a field, and of the clock that
// belongs to it.
func (n *named) read(placeOf func(p *pick, role role) (at, with int)) {
	use := func(picks []pick, r role) (s source) {
		for _, p := range picks {
			if p.at < 0 && (n.isHeaded || n.isLine) || n.isHeaded && len(s) > 0 { // a table has one column per role
				continue
			} else if n.isLine && slices.ContainsFunc(s, func(have spot) bool { return have.at == p.at }) {
				continue
			}
			code := max(p.code, code(max(0, slices.Index(codes, p.unit))))
			switch {
			case n.isLine:
				if code == asIs && (r == roleNone && p.role != roleStatus || r == roleURL || r == roleQuery || r == roleAgent || p.role == roleForwarded) {
					code = escapedCode
				}
			case code == asIs && (strings.Contains(p.name, "(") || slices.Contains([]role{roleClient, roleForwarded, roleAgent, roleReferer}, p.role)):
				code = n.code
			}
			at, with := placeOf(&p, r)
			s = append(s, spot{at, with, p.role, code, p.join, p.bare})
			n.joins = n.joins || p.join || p.bare
		}
		return s
	}
	n.wanted = &wanted{}
	roles := []role{roleURL, roleQuery, roleHost, roleScheme, rolePort}
	if n.isLine {
		roles = append(roles, roleMethod)
	}
	if n.opt.Agents {
		roles = append(roles, roleAgent)
	}
	if n.opt.Clients {
		roles = append(roles, roleClient)
	}
	if n.opt.Times {
		roles = append(roles, roleTime)
	}
	for _, r := range roles {
		if n.of[r] = use(n.plan.of[r], r); len(n.of[r]) > 0 {
			n.has |= 1 << r
		}
	}
	n.request = n.isLine && len(n.of[roleURL]) > 0 && n.of[roleURL][0].role == roleRequest
	n.found, n.placed = n.has, n.has&(1<<roleHost|1<<roleScheme|1<<rolePort) != 0
	for _, name := range n.opt.Keep {
		n.keep = append(n.keep, keptSource{use(n.plan.toKeep(name, &n.opt), roleNone), keptRole(name)})
	}
}

// all returns the sources of all fields.
func (w *wanted) all() []source {
	all := w.of[:]
	for _, k := range w.keep {
		all = append(all, k.source)
	}
	return all
}

// eachPlace changes the positions of all fields.
func (n *named) eachPlace(change func(at int) int) {
	for _, s := range n.all() {
		for i := range s {
			if s[i].at = change(s[i].at); s[i].with >= 0 {
				s[i].with = change(s[i].with)
			}
		}
	}
}

// toKeep returns the fields for a column to keep: those with its role, and the field with exactly its name, unless
// another one was named for the role.
func (p *plan) toKeep(name string, opt *Options) (picks []pick) {
	r := keptRole(name)
	if picks = slices.Clone(p.of[r]); len(picks) > 0 && opt.isNamed(r) {
		return picks
	}
	own := p.pickOf(name)
	if own.at < 0 && len(p.of[roleRequest]) > 0 {
		switch name {
		case NameMethod:
			own.at, own.code = p.of[roleRequest][0].at, methodCode
		case NameProtocol:
			own.at, own.code = p.of[roleRequest][0].at, protocolCode
		}
	}
	return append(picks, own)
}

// first returns the first non-empty value of a role that is not an object or array.
func (n *named) first(r role) (value []byte, of *spot) {
	if n.found>>r&1 == 0 {
		return nil, nil
	}
	return n.firstOf(n.of[r])
}

// firstOf is first for a source.
func (n *named) firstOf(s source) (value []byte, of *spot) {
	for i := range s {
		of := &s[i]
		if v := n.values[of.at]; len(v) > 0 && (n.nested == nil || !n.nested[of.at]) {
			return v, of
		}
	}
	return nil, nil
}

// text returns the decoded value of a role.
func (n *named) text(r role) []byte {
	value, of := n.first(r)
	if of != nil && of.code != asIs {
		return n.decode(value, of)
	}
	return value
}

// row makes a row of the values.
func (n *named) row(r *Row) Result {
	var at place
	if n.placed {
		n.setPlace(&at)
	}
	var ok bool
	if n.request {
		ok = n.site.request(r, n.unescape(n.values[n.of[roleURL][0].at]), &at)
	} else {
		ok = n.target(r, &at)
	}
	if !ok { // null, empty or missing: a row all the same
		return n.fail(ErrNoBase)
	}
	if len(n.of[roleAgent]) > 0 {
		agent := n.text(roleAgent)
		r.Agent, r.HasAgent = present(agent), agent != nil || n.isHeaded || n.isLine && n.values[n.of[roleAgent][0].at] != nil
	}
	if n.opt.Clients && !n.setClient(r, n.text(roleClient)) {
		return Failed
	}
	if len(n.of[roleTime]) > 0 {
		n.setTime(r, n.moment(n.first(roleTime)))
	}
	for i := range n.keep {
		r.Fields = append(r.Fields, present(n.kept(&n.keep[i])))
	}
	return IsRow
}

// target sets the URL of a row from a field with a URL, or from a path and a query. It returns false if there is only
// a path and no host is known.
func (n *named) target(r *Row, at *place) bool {
	target, of := n.first(roleURL)
	switch {
	case of == nil:
	case n.isTable:
		target = trimBlank(target)
	case of.code != asIs:
		target = n.decode(target, of)
	}
	if n.joins && of != nil {
		target = n.whole(r, target, of)
	}
	if n.isLine && len(target) > 0 && target[0] != '/' {
		if method, _ := n.first(roleMethod); string(method) == "CONNECT" {
			r.Target, r.Odd = target, OddConnect
			return true
		}
	}
	ok := n.urlOrRequest(r, target, at)
	r.Blank = n.isTable && HasBlank(r.Target)
	return ok
}

// whole returns a target with a missing slash added, and joined with the query field. A target with a query stays as it
// is.
func (n *named) whole(r *Row, target []byte, of *spot) []byte {
	if of.bare && isBare(target) && target[0] != '/' {
		n.buf = append(append(n.buf, '/'), target...)
		target = n.buf[len(n.buf)-len(target)-1:]
	}
	if !of.join {
		return target
	}
	return n.withQuery(r, target, n.text(roleQuery))
}

// setPlace sets the origin from the fields of the row. The port of the host is omitted if it is the default port of
// the scheme.
func (n *named) setPlace(p *place) {
	if host, of := n.first(roleHost); of != nil {
		p.host, p.byPort = host, schemeOfPort(host)
	}
	if scheme, of := n.first(roleScheme); of != nil {
		p.scheme = schemeOf(scheme)
	}
	if p.byPort != "" {
		if !n.isLine && (p.scheme == "" || p.scheme == p.byPort) {
			p.host = p.host[:bytes.LastIndexByte(p.host, ':')]
		}
		return
	}
	switch port, _ := n.first(rolePort); string(port) {
	case "443":
		p.byPort = "https"
	case "80":
		p.byPort = "http"
	default:
		if p.scheme == "" {
			p.scheme = n.secure
		}
	}
}

// moment returns a time as text, joined with the clock if it is only a date.
func (n *named) moment(value []byte, of *spot) []byte {
	if of == nil || of.with < 0 || present(n.values[of.with]) == nil {
		return value
	}
	n.when = append(append(append(n.when[:0], value...), ' '), n.values[of.with]...)
	return n.when
}

// kept returns the value of a column to keep. For the status, the first valid one counts, if there is one.
func (n *named) kept(k *keptSource) []byte {
	switch k.role { //nolint:exhaustive // all others are texts
	case roleTime:
		if value, of := n.firstOf(k.source); of != nil && of.with >= 0 {
			return n.moment(value, of)
		}
	case roleStatus:
		if n.isLine || len(k.source) == 1 { // the pattern has checked it, or there is no choice
			break
		}
		for _, spot := range k.source {
			if v := n.values[spot.at]; isStatus(v) {
				return v
			}
		}
	}
	if value, of := n.firstOf(k.source); of != nil {
		if of.code != asIs {
			value = n.decode(value, of)
		}
		if k.role == roleClient {
			return n.keptClient(value, of)
		}
		return value
	}
	if k.role == roleNone && len(k.source) > 0 { // an object
		return n.values[k.source[len(k.source)-1].at]
	}
	return nil
}

// keptClient returns the address to keep. In lines that are read by patterns, the first of several addresses is the
// client's.
func (n *named) keptClient(value []byte, of *spot) []byte {
	if n.opt.ClientAt != 0 {
		value = trimBlank(addressAt(value, n.opt.ClientAt))
	} else if n.isLine && of.role == roleClient {
		value = trimBlank(addressAt(value, 1))
	}
	return cutPort(value)
}

// decode decodes a field, unless it contains a space. Old logs of CloudFront have User-Agents that are percent-encoded
// twice.
func (n *named) decode(field []byte, of *spot) (text []byte) {
	switch {
	case of.code == escapedCode:
		return n.unescape(field)
	case of.code == methodCode:
		text, _, _ = splitRequest(n.unescape(field))
		return text
	case of.code == protocolCode:
		_, _, text = splitRequest(n.unescape(field))
		return text
	case of.code == quotedCode:
		if len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"' {
			return field[1 : len(field)-1]
		}
		return field
	case bytes.IndexByte(field, ' ') >= 0:
		return field
	case of.code == plusCode:
		text, n.buf = unplus(field, n.buf)
		return text
	}
	text, n.buf = unpercent(field, n.buf)
	if of.role == roleAgent && isTwicePercent(field) {
		text, n.buf = unpercent(text, n.buf)
	}
	return text
}

// isTwicePercent reports whether a field is percent-encoded twice: it has escapes, and each begins with an escaped "%".
// A client's own escapes occur together with spaces that are encoded once.
func isTwicePercent(field []byte) bool {
	escapes := 0
	for i, c := range field {
		if c != '%' {
			continue
		}
		rest := field[i:]
		if escapes++; len(rest) < 5 || rest[1] != '2' || rest[2] != '5' || unhex[rest[3]] > 15 || unhex[rest[4]] > 15 {
			return false
		}
	}
	return escapes > 0
}

// cutPort removes the port after an address.
func cutPort(address []byte) []byte {
	i := bytes.IndexByte(address, ':')
	if i < 0 {
		return address
	}
	if address[0] == '[' {
		inner, _, _ := bytes.Cut(address[1:], []byte{']'})
		return inner
	}
	if bytes.IndexByte(address[i+1:], ':') < 0 && bytes.IndexByte(address, '.') >= 0 && bytes.IndexByte(address, ',') < 0 {
		return address[:i]
	}
	return address
}

// checkFields returns the error for a log in which no plan has a named or required field. head are the existing names.
func checkFields(opt *Options, head []string, plans ...*plan) error {
	lacks := func(has func(p *plan) bool) bool { return !slices.ContainsFunc(plans, has) }
	for _, r := range Roles() {
		if name := opt.Named[r]; name != "" && name != none && lacks(func(p *plan) bool { return p.find(name) >= 0 }) {
			return noField(name, head)
		}
	}
	for _, name := range opt.Keep {
		if !opt.MayLack(name) && lacks(func(p *plan) bool { return p.toKeep(name, opt)[0].at >= 0 }) {
			return noField(name, head)
		}
	}
	switch {
	case opt.Clients && lacks(func(p *plan) bool { return len(p.of[roleClient]) > 0 }):
		return fmt.Errorf("%w: the fields are %s", ErrNoClients, listed(head))
	case opt.Agents && opt.Need && lacks(func(p *plan) bool { return len(p.of[roleAgent]) > 0 }):
		return fmt.Errorf("%w: the fields are %s", ErrNoAgents, listed(head))
	}
	return nil
}
