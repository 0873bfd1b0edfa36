package weblog

import (
	"bytes"
	"slices"
)

// ALB is the format of access logs of AWS application load balancers.
const ALB Format = "alb"

var albFormat = format{
	name:   ALB,
	about:  "access logs of AWS application load balancers",
	parser: func(opt Options) (Parser, error) { return newALB(opt) },
	line:   isALB,
}

// isALB reports whether a line begins with a type of connection and a time.
func isALB(line []byte) bool {
	first, rest, _ := bytes.Cut(line, []byte{' '})
	second, _, _ := bytes.Cut(rest, []byte{' '})
	return schemeOf(first) != "" && ParseTime(second) != NoTime
}

// albNames are the known fields of a line, in their order. More may follow.
var albNames = []string{
	"type", NameTime, "elb", NameClient, "target", "request_processing_time", "target_processing_time",
	"response_processing_time", NameStatus, "target_status", "received_bytes", NameBytes, "request", NameAgent, "ssl_cipher",
	"ssl_protocol", "target_group_arn", "trace_id", NameHost, "chosen_cert_arn", "matched_rule_priority",
	"request_creation_time", "actions_executed", "redirect_url", "error_reason",
}

// The indices of the fields that make the row.
const (
	albType    = 0
	albTime    = 1
	albClient  = 3
	albRequest = 12
	albAgent   = 13
	albHost    = 18
)

// alb reads access logs of AWS application load balancers: fields separated by spaces, some of them
// in quotes.
type alb struct {
	common
	escapes
	last   int   // the last field that is wanted
	client int   // the field with the client's address
	keep   []int // of Options.Keep; from len(albNames) on, the parts of the request
	fields [][]byte
}

// newALB returns the parser of AWS load balancers, which reads no field behind the last that is
// wanted.
func newALB(opt Options) (*alb, error) {
	a := &alb{common: newCommon(opt), last: albRequest}
	var err error
	a.keep, err = fixedFields(slices.Concat(albNames, []string{NameMethod, NameProtocol}), opt)
	for _, i := range a.keep {
		if i < len(albNames) {
			a.last = max(a.last, i)
		}
	}
	if opt.Agents {
		a.last = max(a.last, albAgent)
	}
	if opt.Clients {
		a.client = clientField(albNames, opt)
		a.last = max(a.last, a.client)
	}
	return a, err
}

// Parse reads a line up to the last field that is wanted.
func (a *alb) Parse(line []byte, r *Row) Result {
	r.reset()
	a.fields, a.buf = a.fields[:0], a.buf[:0]
	for len(a.fields) <= a.last && len(line) > 0 {
		field, rest, ok := albField(line)
		if !ok {
			return RefusedQuote
		}
		a.fields = append(a.fields, field)
		line = rest
	}
	if len(a.fields) <= albRequest {
		return RefusedFields
	}
	if text := a.fields[albTime]; len(text) < 20 || text[10] != 'T' {
		return RefusedFormat
	}
	return a.row(r)
}

// albField returns the first field of a line, and the text after the space behind it.
func albField(line []byte) (field, rest []byte, ok bool) {
	if line[0] != '"' {
		field, rest, _ = bytes.Cut(line, []byte{' '})
		return field, rest, true
	}
	field, rest, ok = quoted(line[1:])
	if !ok || len(rest) > 0 && rest[0] != ' ' {
		return nil, nil, false
	}
	return field, bytes.TrimPrefix(rest, []byte{' '}), true
}

// row makes the row of the fields. The load balancer logs a request that it could not read as "-
// http://host:port- -".
func (a *alb) row(r *Row) Result {
	request := a.unescape(a.fields[albRequest])
	if bytes.HasPrefix(request, []byte("- ")) {
		r.Target, r.Odd = request, OddEmpty
	} else if !a.request(r, request, place{scheme: schemeOf(a.fields[albType]), host: present(at(a.fields, albHost))}) {
		return a.fail(ErrNoBase)
	}
	if a.opt.Agents {
		r.HasAgent = at(a.fields, albAgent) != nil
		r.Agent = present(a.unescape(at(a.fields, albAgent)))
	}
	if !a.setClient(r, a.clientText()) {
		return Failed
	}
	a.setTime(r, a.fields[albTime])
	for _, i := range a.keep {
		r.Fields = append(r.Fields, present(a.field(i, request)))
	}
	return IsRow
}

// clientText returns the field with the client's address, which has a port: also behind IPv6 without brackets, where it
// could be read as a part of the address.
func (a *alb) clientText() []byte {
	text := at(a.fields, a.client)
	if a.client == albClient && bytes.Count(text, []byte{':'}) > 1 && text[0] != '[' {
		text = text[:bytes.LastIndexByte(text, ':')]
	}
	return text
}

// field returns the text kept as field i.
func (a *alb) field(i int, request []byte) []byte {
	switch method, _, protocol := splitRequest(request); i {
	case len(albNames):
		return method
	case len(albNames) + 1:
		return protocol
	}
	return a.unescape(at(a.fields, i))
}
