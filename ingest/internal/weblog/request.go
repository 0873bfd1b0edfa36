package weblog

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// defaultScheme is used if neither the row nor the site has a scheme.
const defaultScheme = "https"

// A site is the scheme and the host that complete paths.
type site struct {
	scheme string // "" if unknown
	host   []byte // with its port; empty if unknown
	isSeen bool   // a URL of the log had this host
}

// newSite returns the site of an origin, which may be "".
func newSite(base robots.Origin) site {
	scheme, host, _ := strings.Cut(string(base), "://")
	return site{scheme: scheme, host: []byte(host)}
}

// A place is the origin that the fields of a row name. Any part may be unknown.
type place struct {
	scheme string
	host   []byte
	byPort string // the scheme whose default port the server has; a proxy in front of it may use another one
}

// complete returns the scheme and the host for a path. If the scheme of the site is known, a port does not determine
// the scheme, because a proxy may end TLS.
func (s *site) complete(at *place) (scheme string, host []byte) {
	host = at.host
	if len(host) == 0 || string(host) == "-" {
		host = s.host
	}
	if at.scheme == "" && at.byPort != "" && s.scheme != "" && isHostOf(host, s.host) {
		return s.scheme, s.host
	}
	return cmp.Or(at.scheme, at.byPort, s.scheme, defaultScheme), host
}

// isHostOf reports whether a host belongs to a site, ignoring case. A port 80 or 443 is ignored unless the site has
// one.
func isHostOf(host, site []byte) bool {
	if bytes.Equal(host, site) || bytes.EqualFold(host, site) { // nearly all are equal
		return true
	}
	if schemeOfPort(host) != "" {
		host = host[:bytes.LastIndexByte(host, ':')]
	}
	return bytes.EqualFold(host, site)
}

// resolve sets the URL of r: a whole URL, or a path completed with p and the site. It returns false for a path if no
// host is known.
func (s *site) resolve(r *Row, target []byte, at *place) bool {
	r.Target = target
	switch {
	case len(target) == 0 || string(target) == "-":
		r.Odd = OddEmpty
		return true
	case target[0] != '/' && target[0] != '?':
		switch from := behindScheme(target); {
		case string(target) == "*":
			r.Odd = OddAsterisk
		case from == 0:
			r.Odd = OddTarget
		case len(s.host) > 0 && !s.isSeen: // one such row is enough, because the caller asks whether all rows belong to other sites
			rest, n := target[from:], len(s.host)
			s.isSeen = len(rest) >= n && bytes.EqualFold(rest[:n], s.host) && (len(rest) == n || strings.IndexByte("/?#:", rest[n]) >= 0)
			r.Elsewhere = !s.isSeen
		}
		return true
	}
	r.Scheme, r.Host = s.complete(at)
	r.Elsewhere = len(s.host) > 0 && !isHostOf(r.Host, s.host)
	return len(r.Host) > 0
}

// request sets the URL of r from a request line: method, target and optionally the protocol. It returns false if the
// target is a path and no host is known.
func (s *site) request(r *Row, line []byte, at *place) bool {
	method, target, _ := splitRequest(line)
	switch {
	case len(line) == 0 || string(line) == "-" || string(method) == "-": // "- http://host:port- -" of a load balancer
		r.Target, r.Odd = line, OddEmpty
	case method == nil:
		r.Target, r.Odd = line, OddRequest
	case string(method) == "CONNECT" && (len(target) == 0 || target[0] != '/'):
		r.Target, r.Odd = target, OddConnect
	default:
		return s.resolve(r, target, at)
	}
	return true
}

// urlOrRequest sets the URL of r from a field that contains a URL, a path or a request line.
func (s *site) urlOrRequest(r *Row, text []byte, at *place) bool {
	if len(text) > 0 && text[0] == '/' { // no method begins so
		return s.resolve(r, text, at)
	}
	if method, target, protocol := splitRequest(text); method != nil && (protocol != nil || bytes.HasPrefix(target, []byte{'/'})) {
		return s.request(r, text, at)
	}
	return s.resolve(r, text, at)
}

// maxMethod exceeds the length of every registered method.
const maxMethod = 32

// splitRequest splits a request line. The method is nil if the line is not a request. A target may contain spaces,
// because requests of scanners may be invalid.
func splitRequest(line []byte) (method, target, protocol []byte) {
	n := len("GET")
	if len(line) <= n || string(line[:n+1]) != "GET " { // nearly all
		if n = bytes.IndexByte(line, ' '); n <= 0 || n > maxMethod {
			return nil, nil, nil
		}
		for _, b := range line[:n] {
			if (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') && b != '-' && b != '_' {
				return nil, nil, nil
			}
		}
	}
	method, target = line[:n], line[n+1:]
	if i := len(target) - len(" HTTP/1.1"); i >= 0 && string(target[i:len(target)-1]) == " HTTP/1." && target[len(target)-1] != ' ' { // nearly all
		return method, target[:i], target[i+1:]
	}
	if i := bytes.LastIndexByte(target, ' '); i >= 0 && isProtocol(target[i+1:]) {
		target, protocol = target[:i], target[i+1:]
	}
	return method, target, protocol
}

// isProtocol reports whether the last word of a request line is the protocol. Some clients garble its name, as in
// "HTTPgrou/1.0"; then a digit must follow the slash, because words of a target may also begin with HTTP.
func isProtocol(word []byte) bool {
	rest, ok := bytes.CutPrefix(word, []byte("HTTP"))
	if !ok || len(rest) > 0 && rest[0] == '/' {
		return ok
	}
	name, version, _ := bytes.Cut(rest, []byte{'/'})
	return len(version) > 0 && isDigit(version[0]) && !bytes.ContainsFunc(name, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
}

// isURL reports whether b begins with a scheme and "://".
func isURL(b []byte) bool { return behindScheme(b) > 0 }

// behindScheme returns the position after the scheme and "://", 0 if b does not begin with them. Most targets begin
// with a slash.
func behindScheme(b []byte) int {
	const http, https = "http://", "https://" // nearly all
	if len(b) == 0 || b[0] == '/' {
		return 0
	} else if len(b) > len(https) && string(b[:len(http)]) == http {
		return len(http)
	} else if len(b) > len(https) && string(b[:len(https)]) == https {
		return len(https)
	}
	for i, c := range b {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':' && bytes.HasPrefix(b[i:], []byte("://")):
			return i + len("://")
		default:
			return 0
		}
	}
	return 0
}

// IsURL reports whether a line begins with a scheme and "://".
func IsURL(line []byte) bool { return isURL(trimBlank(line)) }

// schemeOfPort returns the scheme whose default port a host has; "" for other ports and without a port.
func schemeOfPort(host []byte) string {
	switch {
	case bytes.HasSuffix(host, []byte(":443")):
		return "https"
	case bytes.HasSuffix(host, []byte(":80")):
		return "http"
	}
	return ""
}

// schemeOf returns the scheme in a field, ignoring case; "" for other values.
func schemeOf(text []byte) string {
	var lower [len("https")]byte
	if len(text) == 0 || len(text) > len(lower) { // nearly all rows: their URL has it
		return ""
	}
	for i, c := range text {
		lower[i] = c | 0x20
	}
	switch string(lower[:len(text)]) {
	case "https", "wss", "h2", "on", "true", "grpcs":
		return "https"
	case "http", "ws", "off", "false":
		return "http"
	}
	return ""
}

// trimBlank removes spaces and tabs around text.
func trimBlank(text []byte) []byte {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && isBlank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

func isBlank(b byte) bool { return b == ' ' || b == tab }

// HasBlank reports whether text contains a space or a tab.
func HasBlank(text []byte) bool {
	return bytes.IndexByte(text, ' ') >= 0 || bytes.IndexByte(text, tab) >= 0
}
