package robots

import (
	"bytes"
	"errors"
)

// The errors of [SplitURL], [AppendOrigin] and [ParseOrigin]. The first two return them as they
// are, since there may be one for every line of a log.
var (
	ErrNoScheme = errors.New("no scheme: a URL starts like https://")
	ErrNoHost   = errors.New("no host")
	ErrHost     = errors.New("not a valid host: letters, digits, dots, hyphens and underscores, or [IPv6]")
	ErrPort     = errors.New("not a valid port: a number from 1 to 65535")
)

// A URL is a URL taken apart as far as robots.txt needs it. Its fields are subslices of the URL, as
// written.
type URL struct {
	Scheme []byte // without "://", not empty
	Host   []byte // without user name and password, unless these hold a backslash, not empty; an IPv6 address has its brackets
	Port   []byte // without ":", may be empty
	Prefix []byte // all in front of Path, as written: URLs of one Prefix are of one origin
	Path   []byte // path, parameters and query: from the first "/", "?" or ";" up to "#"; may be empty
}

// SplitURL takes a URL apart. It looks only for the borders of the parts: host and port are checked
// by [AppendOrigin]. A URL without scheme or host gives [ErrNoScheme] or [ErrNoHost]. The result
// shares the memory of raw. SplitURL does not allocate.
//
// The path starts where google/robotstxt says it does, at the first "/", "?" or ";" (RFC 3986 has
// no ";" here), and "\" is no "/".
func SplitURL(raw []byte) (URL, error) {
	n := schemeLen(raw)
	if n == 0 {
		return URL{}, ErrNoScheme
	}
	u := URL{Scheme: raw[:n:n]}
	rest := raw[n+3:]
	end, composite := authority(rest)
	u.Prefix = raw[: n+3+end : n+3+end]
	u.Path = rest[end:]
	if hash := bytes.IndexByte(u.Path, '#'); hash >= 0 {
		u.Path = u.Path[:hash:hash]
	}
	u.Host = rest[:end:end]
	if composite {
		u.Host, u.Port = splitAuthority(u.Host)
	}
	if len(u.Host) == 0 {
		return URL{}, ErrNoHost
	}
	return u, nil
}

// schemeLen returns the length of the scheme in front of "://" at the start of raw (RFC 3986
// section 3.1), or 0.
func schemeLen(raw []byte) int {
	switch { // nearly all URLs
	case len(raw) >= 8 && string(raw[:8]) == "https://":
		return 5
	case len(raw) >= 7 && string(raw[:7]) == "http://":
		return 4
	}
	n := 0
	for n < len(raw) && isSchemeByte(raw[n]) {
		n++
	}
	if n == 0 || !isLetter(raw[0]) || !bytes.HasPrefix(raw[n:], []byte("://")) {
		return 0
	}
	return n
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isSchemeByte(b byte) bool {
	return isLetter(b) || '0' <= b && b <= '9' || b == '+' || b == '-' || b == '.'
}

// A border says the meaning of a byte to the search for the end of the authority.
type border uint8

const (
	inside border = iota
	colonOrAt
	outside
)

var borders = [256]border{':': colonOrAt, '@': colonOrAt, '/': outside, '?': outside, ';': outside, '#': outside}

// authority returns the length of the authority at the start of s, and whether there is more in it
// than a host.
func authority(s []byte) (end int, composite bool) {
	for ; ; end++ {
		for end < len(s) && borders[s[end]] == inside {
			end++
		}
		if end == len(s) || borders[s[end]] == outside {
			return end, composite
		}
		composite = true
	}
}

// splitAuthority cuts off user name, password and port. Of a bracketed host only the text after the "]" can be a port.
// A user name with a backslash stays, so that the host is not valid: browsers read "\" as "/", and go to another host
// than the text after the "@".
func splitAuthority(s []byte) (host, port []byte) {
	if at := bytes.LastIndexByte(s, '@'); at >= 0 && bytes.IndexByte(s[:at], '\\') < 0 {
		s = s[at+1:]
	}
	colon := bytes.LastIndexByte(s, ':')
	if colon < 0 || colon < bytes.LastIndexByte(s, ']') {
		return s, nil
	}
	return s[:colon:colon], s[colon+1:]
}
