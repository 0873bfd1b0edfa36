package weblog

import (
	"bytes"
)

// Combined is the Common and the Combined Log Format, with a virtual host in front and more fields
// behind.
const Combined Format = "combined"

var combinedFormat = format{
	name: Combined, aliases: []string{"common", "clf", "apache", "nginx"},
	about:  "Common and Combined Log Format: Apache, nginx and many others",
	parser: func(opt Options) (Parser, error) { return newCombined(opt) },
	line:   isCombined,
}

// isCombined reports whether a line is in Combined Log Format and in no other.
func isCombined(line []byte) bool {
	if isURL(line) || isALB(line) || isCDXJ(line) || isJSON(line) {
		return false
	}
	c := combined{common: common{site: site{host: []byte{'x'}}}, client: -1}
	return c.Parse(line, &Row{}) == IsRow
}

// The fields that can be kept, in the order of their names.
const (
	clfVhost = iota
	clfClient
	clfIdent
	clfUser
	clfTime
	clfRequest
	clfMethod
	clfProtocol
	clfStatus
	clfBytes
	clfReferer
	clfAgent
	clfForwarded
	numCLF
)

var clfNames = []string{
	NameHost, NameClient, "ident", NameUser, NameTime, "request", NameMethod, NameProtocol,
	NameStatus, NameBytes, NameReferer, NameAgent, "x_forwarded_for",
}

// combined reads the Common Log Format and the formats that grew from it:
//
//	[vhost[:port]] client ident user [time] "request" status bytes ["referer" "user-agent" ["x-forwarded-for" ...]]
//
// The field behind the User-Agent is X-Forwarded-For where nginx's own format "main" writes one.
// A virtual host that is an address is the client's in a log whose site is known.
type combined struct {
	common
	escapes
	fields  [numCLF][]byte
	keep    []int // of Options.Keep
	client  int   // the field with the client's address; -1 if that is not wanted
	tail    bool  // referer or user agent are wanted
	address bool  // the virtual host of the line is an address, and may be the client's
}

// newCombined returns the parser of the common and the combined format, which reads no tail that
// nobody wants.
func newCombined(opt Options) (*combined, error) {
	c := &combined{common: newCommon(opt), tail: opt.Agents, client: -1}
	var err error
	c.keep, err = fixedFields(clfNames, opt)
	if opt.Clients {
		c.client = clientField(clfNames, opt)
		c.tail = c.tail || c.client >= clfReferer
	}
	for _, i := range c.keep {
		c.tail = c.tail || i >= clfReferer
	}
	return c, err
}

// Parse reads a line. It looks for the time in brackets and the quote behind it: the text before
// may hold spaces, the text after may be missing.
func (c *combined) Parse(line []byte, r *Row) Result {
	r.reset()
	end := bytes.Index(line, []byte(`] "`))
	if end < 0 {
		return RefusedFormat
	}
	begin := bytes.LastIndexByte(line[:end], '[')
	if begin < 2 || line[begin-1] != ' ' {
		return RefusedFormat
	}
	clear(c.fields[:])
	c.buf, c.address = c.buf[:0], false
	c.fields[clfTime] = line[begin+1 : end]
	if !c.front(line[:begin-1]) {
		return RefusedFields
	}
	request, rest, ok := quoted(line[end+3:])
	if !ok {
		return RefusedQuote
	}
	if len(rest) < 2 || rest[0] != ' ' {
		return RefusedFields
	}
	if result := c.back(rest[1:]); result != IsRow {
		return result
	}
	return c.row(r, line[:begin-1], request)
}

// front reads the fields before the time. There are three, or four if the virtual host comes first:
// then the second one looks like an address. A fourth field alone says nothing, for a user's name
// may hold spaces.
func (c *combined) front(text []byte) bool {
	if text[0] == '"' {
		return c.frontQuoted(text[1:])
	}
	first, rest, ok := bytes.Cut(text, []byte{' '})
	if !ok || len(first) == 0 {
		return false
	}
	return c.frontFields(first, rest)
}

// frontQuoted is front for lines with a field in quotes in front, behind the opening one. Several addresses are
// the addresses of %{X-Forwarded-For}i, the first is the client's, and not a virtual host.
func (c *combined) frontQuoted(text []byte) bool {
	field, rest, ok := bytes.Cut(text, []byte(`" `))
	if !ok {
		return false
	}
	first, _, several := bytes.Cut(field, []byte{','})
	if !several {
		return c.frontFields(first, rest)
	}
	if !c.frontFields([]byte{'-'}, rest) {
		return false
	}
	c.fields[clfClient] = first
	return true
}

// frontFields is front for the first field and those behind it.
func (c *combined) frontFields(first, rest []byte) bool {
	second, others, ok := bytes.Cut(rest, []byte{' '})
	if !ok {
		return false
	}
	if bytes.IndexByte(others, ' ') >= 0 && bytes.ContainsAny(second, ".:") {
		if first = bytes.TrimSuffix(first, []byte{','}); isAddress(first) {
			return c.frontAddress(first, second, others)
		}
		c.fields[clfVhost], c.fields[clfClient] = first, second
		c.fields[clfIdent], c.fields[clfUser], _ = bytes.Cut(others, []byte{' '})
		return true
	}
	c.fields[clfClient], c.fields[clfIdent], c.fields[clfUser] = first, second, others
	return true
}

// frontAddress is front for lines with an address in front of another field that looks like one. If the site of
// the log is known, that is the client's, as %{X-Forwarded-For}i writes it, and proxies follow; else it may be
// the virtual host.
func (c *combined) frontAddress(first, second, others []byte) bool {
	if len(c.host) == 0 {
		c.address = true
		c.fields[clfVhost], c.fields[clfClient] = first, bytes.TrimSuffix(second, []byte{','})
	} else {
		c.fields[clfClient] = first
	}
	for {
		field, rest, ok := bytes.Cut(others, []byte{' '})
		if !ok || !isAddress(bytes.TrimSuffix(field, []byte{','})) || bytes.IndexByte(rest, ' ') < 0 {
			break
		}
		others = rest
	}
	c.fields[clfIdent], c.fields[clfUser], _ = bytes.Cut(others, []byte{' '})
	return true
}

// isAddress reports whether a text looks like an address of IP without a port: a host's has one.
func isAddress(text []byte) bool {
	if bytes.Count(text, []byte{':'}) > 1 {
		return len(bytes.Trim(text, "0123456789abcdefABCDEF:.")) == 0
	}
	return bytes.Count(text, []byte{'.'}) == 3 && len(bytes.Trim(text, "0123456789.")) == 0
}

// back reads the fields after the request. A status is three digits or "-". A line may be cut off
// in the referer or the user agent, as when a disk was full: then that field is missing, and the
// line is a row all the same.
func (c *combined) back(text []byte) Result {
	status, rest, _ := bytes.Cut(text, []byte{' '})
	if string(status) != "-" && (len(status) != 3 || number(status) < 0) {
		return RefusedFields
	}
	c.fields[clfStatus] = status
	c.fields[clfBytes], rest, _ = bytes.Cut(rest, []byte{' '})
	if !c.tail || len(rest) == 0 || rest[0] != '"' {
		return IsRow
	}
	referer, rest, ok := quoted(rest[1:])
	if !ok {
		return IsRow
	}
	c.fields[clfReferer] = referer
	if len(rest) < 2 || rest[1] != '"' {
		return IsRow
	}
	agent, rest, ok := quoted(rest[2:])
	if !ok {
		return IsRow
	}
	c.fields[clfAgent] = agent
	if len(rest) > 1 && rest[1] == '"' {
		if forwarded, _, ok := quoted(rest[2:]); ok {
			c.fields[clfForwarded] = forwarded
		}
	}
	return IsRow
}

// clientText returns the text of the field with the client's address. That in front of the line may be a list,
// as %{X-Forwarded-For}i writes it.
func (c *combined) clientText(front []byte) []byte {
	if c.client != clfClient {
		return c.unescape(c.fields[c.client])
	}
	field := c.fields[clfClient]                                                                             // which no server escapes
	if n := len(field); n < len(front) && front[n] == ' ' && n > 0 && front[n-1] != ',' && front[0] != '"' { // nearly all: it is the first field
		return field
	}
	if list := addressList(front); list != nil {
		return list
	}
	return field
}

// addressList returns the addresses in front of a line that commas separate, in quotes or not; nil if there is
// no such list.
func addressList(front []byte) []byte {
	if front[0] == '"' {
		list, _, _ := bytes.Cut(front[1:], []byte(`" `))
		if bytes.IndexByte(list, ',') < 0 {
			return nil
		}
		return list
	}
	end := 0
	for {
		n := bytes.IndexByte(front[end:], ' ')
		if n <= 0 {
			return nil
		}
		if end += n; front[end-1] == ',' && isAddress(front[end-n:end-1]) {
			end++
			continue
		}
		if end == n { // the first field is not one of several
			return nil
		}
		return front[:end]
	}
}

// row makes the row of the fields, and of the text of those before the time.
func (c *combined) row(r *Row, front, request []byte) Result {
	request = c.unescape(request)
	host := c.fields[clfVhost]
	if !c.request(r, request, place{host: host, byPort: schemeOfPort(host)}) {
		return c.fail(ErrNoBase)
	}
	r.Address = c.address && r.Scheme != ""
	if c.opt.Agents {
		r.HasAgent = c.fields[clfAgent] != nil
		r.Agent = present(c.unescape(c.fields[clfAgent]))
	}
	if c.client >= 0 && !c.setClient(r, c.clientText(front)) {
		return Failed
	}
	c.setTime(r, c.fields[clfTime])
	if len(c.keep) == 0 {
		return IsRow
	}
	c.fields[clfRequest] = request
	c.fields[clfMethod], _, c.fields[clfProtocol] = splitRequest(request)
	for _, i := range c.keep {
		text := at(c.fields[:], i)
		if i != clfRequest {
			text = c.unescape(text)
		}
		r.Fields = append(r.Fields, present(text))
	}
	return IsRow
}

// present returns text, or nil if it is empty or "-", which mean that there is no value.
func present(text []byte) []byte {
	if len(text) == 0 || string(text) == "-" {
		return nil
	}
	return text
}
