package robots

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
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
	for ; n < len(raw); n++ {
		if b := raw[n]; !isLetter(b) && (b < '0' || b > '9') && b != '+' && b != '-' && b != '.' {
			break
		}
	}
	if n == 0 || !isLetter(raw[0]) || !bytes.HasPrefix(raw[n:], []byte("://")) {
		return 0
	}
	return n
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

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

// An Origin is the scope of a robots.txt: scheme, host and port, normalised, as in "https://example.com" or
// "http://[::1]:8080" (RFC 9309 section 2.3). The default port of a scheme is omitted. Two URLs have the same
// robots.txt if and only if their origins are equal strings.
type Origin string

// TxtPath is the path of the robots.txt of an origin.
const TxtPath = "/robots.txt"

// An OriginError is the error of a text that names no origin.
type OriginError struct {
	Text string // as given
	Err  error  // ErrNoScheme, ErrNoHost, ErrHost, ErrPort or errOriginPath
}

// Error returns the text and its fault.
func (e *OriginError) Error() string {
	return fmt.Sprintf("origin %q: %v (an origin is written like https://example.com or http://example.com:8080)", e.Text, e.Err)
}

// Unwrap returns e.Err.
func (e *OriginError) Unwrap() error { return e.Err }

// errOriginPath is the error of an origin with a path other than "/" or "/robots.txt": no
// robots.txt lives there.
var errOriginPath = errors.New("an origin has no path: robots.txt is at its root")

// ParseOrigin returns the origin that s names. The path "/" or "/robots.txt" may follow it. The
// error is an [*OriginError]. The result is stable: an Origin parses to itself.
func ParseOrigin(s string) (Origin, error) {
	u, err := SplitURL([]byte(s))
	if err != nil {
		return "", &OriginError{s, err}
	}
	if p := string(u.Path); p != "" && p != "/" && p != TxtPath {
		return "", &OriginError{s, errOriginPath}
	}
	o, err := AppendOrigin(nil, u)
	if err != nil {
		return "", &OriginError{s, err}
	}
	return Origin(o), nil
}

// AppendOrigin appends the normalised origin of u to dst: scheme and host in lower case, a name
// with characters beyond ASCII in its punycode form, one dot at the end of the host dropped, an
// IPv6 address in its canonical form, no default port. Host names in ASCII are otherwise taken as
// they are: "_" and "--" occur in real ones. The error is [ErrHost] or [ErrPort], and the result
// then is dst. AppendOrigin does not allocate for host names in ASCII if dst has room.
func AppendOrigin(dst []byte, u URL) ([]byte, error) {
	port, err := parsePort(u.Port)
	if err != nil {
		return dst, err
	}
	o := slices.Grow(dst, len(u.Scheme)+len("://")+len(u.Host)+len(":65535"))
	begin := len(o)
	for _, b := range u.Scheme {
		o = append(o, lower(b))
	}
	scheme := o[begin:]
	o = append(o, "://"...)
	if o, err = appendHost(o, u.Host); err != nil {
		return dst, err
	}
	if port != 0 && port != defaultPorts[string(scheme)] {
		o = append(o, ':')
		o = strconv.AppendUint(o, uint64(port), 10)
	}
	return o, nil
}

// parsePort returns the number of a port, 0 if the text is empty.
func parsePort(text []byte) (uint16, error) {
	if len(text) == 0 {
		return 0, nil
	}
	port := 0
	for _, b := range text {
		if port = port*10 + int(b-'0'); b < '0' || b > '9' || port > 65535 {
			return 0, ErrPort
		}
	}
	if port == 0 {
		return 0, ErrPort
	}
	return uint16(port), nil
}

// defaultPorts are the ports that origins omit, by scheme.
var defaultPorts = map[string]uint16{"http": 80, "https": 443, "ftp": 21}

// hostBytes maps the bytes of a host name in ASCII to lower case, and all others to 0.
var hostBytes = func() (t [256]byte) {
	for b := range t {
		if c := byte(b); isLetter(c) || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-' {
			t[b] = lower(c)
		}
	}
	return t
}()

// appendHost appends the normalised host.
func appendHost(dst, host []byte) ([]byte, error) {
	o, ok := appendASCIIHost(dst, host)
	switch {
	case ok:
		return o, nil
	case len(host) > 0 && host[0] == '[':
		// The canonical form is RFC 5952's. Zones are local and have no place in an origin.
		text, closed := bytes.CutSuffix(host[1:], []byte("]"))
		addr, err := netip.ParseAddr(string(text))
		if err != nil || !closed || !addr.Is6() || addr.Zone() != "" {
			return dst, ErrHost
		}
		dst = append(dst, '[')
		dst = addr.AppendTo(dst)
		return append(dst, ']'), nil
	default:
		return appendIDN(dst, host)
	}
}

// appendASCIIHost appends a host name in lower case without the dot at its end. ok is false if it is not a host name:
// without that dot it must not be empty or end in another dot.
func appendASCIIHost[S string | []byte](dst []byte, host S) (o []byte, ok bool) {
	if n := len(host); n > 0 && host[n-1] == '.' {
		host = host[:n-1]
	}
	n := len(host)
	if n == 0 || host[n-1] == '.' {
		return dst, false
	}
	o = slices.Grow(dst, n)[:len(dst)+n]
	to := o[len(dst):]
	for i := range to {
		b := hostBytes[host[i]]
		if b == 0 {
			return dst, false
		}
		to[i] = b
	}
	return o, true
}

// urlKey returns the normal form of an absolute URL, see [AppendURL].
func urlKey(raw string) (key string, ok bool) {
	u, err := SplitURL([]byte(raw))
	if err != nil {
		return "", false
	}
	b, err := AppendURL(nil, u)
	return string(b), err == nil
}

// AppendURL appends the normal form of a URL that lets redirects and the responses that they lead to
// find each other, and returns the extended buffer: origin, path and query, without dot segments,
// and escaped as far as it must be. The error is from [AppendOrigin].
func AppendURL(dst []byte, u URL) ([]byte, error) {
	dst, err := AppendOrigin(dst, u)
	if err != nil {
		return dst, err
	}
	path, _ := Dialect(0).Path(u.Path, nil)
	if len(path) == 0 || path[0] != '/' {
		dst = append(dst, '/')
	}
	text, _, _ := strings.Cut(string(path), "?")
	return append(append(dst, removeDots(text)...), path[len(text):]...), nil
}

// ResolveURL returns the normal form of the URL to which the value of a header Location leads from
// the URL base, which is in normal form (RFC 3986 section 5.2). ok is false if it leads nowhere.
func ResolveURL(base, location string) (url string, ok bool) {
	location, _, _ = strings.Cut(trimSpace(location), "#")
	scheme := strings.Index(base, "://")
	host := scheme + len("://")
	path := host + strings.IndexByte(base[host:], '/')
	dir, _, _ := strings.Cut(base[path:], "?")
	switch {
	case location == "":
		return "", false
	case schemeLen([]byte(location)) > 0:
		return urlKey(location)
	case strings.HasPrefix(location, "//"):
		return urlKey(base[:scheme+1] + location)
	case location[0] == '/':
		return urlKey(base[:path] + location)
	case location[0] == '?':
		return urlKey(base[:path] + dir + location)
	}
	if colon := strings.IndexAny(location, ":/?"); colon >= 0 && location[colon] == ':' {
		return "", false // of a scheme without an authority, such as mailto
	}
	return urlKey(base[:path] + dir[:strings.LastIndexByte(dir, '/')+1] + location)
}

// removeDots returns a path without the segments "." and ".." (RFC 3986 section 5.2.4).
func removeDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	kept := segments[:0]
	for i, s := range segments {
		if s != "." && s != ".." {
			kept = append(kept, s)
			continue
		}
		if s == ".." && len(kept) > 0 {
			kept = kept[:len(kept)-1]
		}
		if i == len(segments)-1 {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}
