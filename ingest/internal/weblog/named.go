package weblog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A spot is where the values of a field are.
type spot struct {
	at, with   int // with is that of the clock of a date; -1 if there is none
	role       role
	code       code
	join, bare bool // as of pick
}

// A source is the fields that may have a role. The first that has a value counts.
type source []spot

// A code says how a program has changed a text.
type code uint8

const (
	asIs         code = iota
	percentCode       // percent-encoded
	plusCode          // with "+" for blanks
	quotedCode        // in quotes
	escapedCode       // with the escapes of Apache, nginx and others
	methodCode        // a request; only its method is read
	protocolCode      // or the protocol counts
)

// codes are the names of the codes that the table has.
var codes = []string{asIs: "", percentCode: "percent", plusCode: "plus", quotedCode: "quoted"}

// A keptSource is a column to keep.
type keptSource struct {
	source
	role role
}

// named makes rows of values whose fields have names, whatever has cut the record.
type named struct {
	common
	escapes
	*wanted
	plan     *plan
	values   [][]byte
	nested   []bool // of JSON: the value is an object or an array
	found    uint32 // bit r is that the record may have a value of the role r
	isTable  bool   // its cells may have blanks around
	isHeaded bool   // a header says which fields there are
	isLine   bool   // a pattern does: escapes are undone
	code     code   // of headers of the request and of clients, where the table has none
	when     []byte // memory of a time of two fields
	secure   string // the scheme of a row without one
}

// wanted is where the values are that are read.
type wanted struct {
	of      [numRoles]source
	keep    []keptSource
	has     uint32 // bit r is that a field has the role r
	request bool   // the only field for the URL has requests
	joins   bool   // a field for the URL is joined to others
	placed  bool   // there are fields for the origin
}

// read sets where the values are of the fields that are wanted. placeOf returns where the values of a pick are, and of its
// clock.
func (n *named) read(placeOf func(p *pick, role role) (at, with int)) {
	use := func(picks []pick, r role) (s source) {
		for _, p := range picks {
			if p.at < 0 && (n.isHeaded || n.isLine) || n.isHeaded && len(s) > 0 { // one column of a table counts
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

// all returns the sources of all values.
func (w *wanted) all() []source {
	all := w.of[:]
	for _, k := range w.keep {
		all = append(all, k.source)
	}
	return all
}

// eachPlace changes the places of all values.
func (n *named) eachPlace(change func(at int) int) {
	for _, s := range n.all() {
		for i := range s {
			if s[i].at = change(s[i].at); s[i].with >= 0 {
				s[i].with = change(s[i].with)
			}
		}
	}
}

// toKeep returns the fields that may hold a column to keep: those with a role, and the field of that very name, unless
// one was named for the role.
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

// first returns the first value of a role that is not empty, and no object or array.
func (n *named) first(r role) (value []byte, of *spot) {
	if n.found>>r&1 == 0 {
		return nil, nil
	}
	return n.firstOf(n.of[r])
}

// firstOf is first for the fields of a source.
func (n *named) firstOf(s source) (value []byte, of *spot) {
	for i := range s {
		of := &s[i]
		if v := n.values[of.at]; len(v) > 0 && (n.nested == nil || !n.nested[of.at]) {
			return v, of
		}
	}
	return nil, nil
}

// text returns the value of a role without the writer's changes.
func (n *named) text(r role) []byte {
	value, of := n.first(r)
	if of != nil && of.code != asIs {
		return n.decode(value, of)
	}
	return value
}

// row makes the row of the values.
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

// target sets the URL of a row of a field for it, or of a path and a query. It reports false if a path has no host.
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

// whole returns a path with the slash that it lacks, and with its query, which is another field. A target that has one
// stays as it is.
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

// setPlace sets the origin, as far as the row names it. The host may have a port, which is omitted if the scheme says
// as much.
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

// moment returns a time as text, with the clock of a day.
func (n *named) moment(value []byte, of *spot) []byte {
	if of == nil || of.with < 0 || present(n.values[of.with]) == nil {
		return value
	}
	n.when = append(append(append(n.when[:0], value...), ' '), n.values[of.with]...)
	return n.when
}

// kept returns the value of a column to keep. The first that is a status counts, if there is one.
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

// keptClient returns the address to keep of those of a field. In front of a line the first is the client's.
func (n *named) keptClient(value []byte, of *spot) []byte {
	if n.opt.ClientAt != 0 {
		value = trimBlank(addressAt(value, n.opt.ClientAt))
	} else if n.isLine && of.role == roleClient {
		value = trimBlank(addressAt(value, 1))
	}
	return cutPort(value)
}

// decode undoes the writer's changes to a field, which leave no blank. Older logs of CloudFront have User-Agents
// percent-encoded twice.
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

// isTwicePercent reports whether a field is percent-encoded twice: it has escapes, and each is one of the "%" of
// another. A client's own escapes appear next to blanks that are encoded once.
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

// cutPort returns an address without the port after it.
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

// checkFields returns the error of a log whose plans, one or more, lack a field that was named, or one that is needed.
// head are the names that they have.
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
		return fmt.Errorf("%w: there are %s", ErrNoClients, listed(head))
	case opt.Agents && opt.Need && lacks(func(p *plan) bool { return len(p.of[roleAgent]) > 0 }):
		return fmt.Errorf("%w: there are %s", ErrNoAgents, listed(head))
	}
	return nil
}
