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

// The errors of [SplitURL], [AppendOrigin] and [ParseOrigin]. The first two return them unwrapped, because every line
// of a log may have one.
var (
	ErrNoScheme = errors.New("no scheme: a URL starts like https://")
	ErrNoHost   = errors.New("no host")
	ErrHost     = errors.New("not a valid host: letters, digits, dots, hyphens and underscores, or [IPv6]")
	ErrPort     = errors.New("not a valid port: a number from 1 to 65535")
)

// A URL holds the parts of a URL that robots.txt needs, as written. They share the memory of the URL.
type URL struct {
	Scheme []byte // without "://", not empty
	Host   []byte // not empty; without user name and password, unless they contain a backslash; IPv6 addresses have brackets
	Port   []byte // without ":", may be empty
	Prefix []byte // everything before Path: URLs with the same Prefix have the same origin
	Path   []byte // path, parameters and query: from the first "/", "?" or ";" up to "#"; may be empty
}

// SplitURL splits a URL. It does not check host and port: [AppendOrigin] does. The error is [ErrNoScheme] or
// [ErrNoHost]. The result shares the memory of raw. SplitURL does not allocate.
//
// The path starts at the first "/", "?" or ";", as in google/robotstxt (not at ";" in RFC 3986). A "\" is not a "/".
func SplitURL(raw []byte) (URL, error) {
	n := schemeLen(raw)
	if n == 0 {
		return URL{}, ErrNoScheme
	}
	u := URL{Scheme: raw[:n:n]}
	rest := raw[n+3:]
	end, composite := authorityLen(rest)
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

// schemeLen returns the length of the scheme before "://" at the start of raw (RFC 3986 section 3.1), or 0.
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

// A border classifies a byte for the search for the end of the authority.
type border uint8

const (
	inside border = iota
	colonOrAt
	outside
)

var borders = [256]border{':': colonOrAt, '@': colonOrAt, '/': outside, '?': outside, ';': outside, '#': outside}

// authorityLen returns the length of the authority at the start of s, and whether it may contain more than a host: a
// user name, password, port or IPv6 address.
func authorityLen(s []byte) (end int, composite bool) {
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

// splitAuthority removes user name, password and port. After a bracketed host, a port can only follow the "]". A user
// name with a backslash stays, which makes the host invalid: browsers read "\" as "/", so they do not connect to the
// host after the "@".
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

// An OriginError is the error for a text that is not an origin.
type OriginError struct {
	Text string // as given
	Err  error  // ErrNoScheme, ErrNoHost, ErrHost, ErrPort or errOriginPath
}

// Error returns the text and what is wrong with it.
func (e *OriginError) Error() string {
	return fmt.Sprintf("origin %q: %v (an origin is written like https://example.com or http://example.com:8080)", e.Text, e.Err)
}

// Unwrap returns e.Err.
func (e *OriginError) Unwrap() error { return e.Err }

// errOriginPath is the error for an origin with a path other than "/" or "/robots.txt".
var errOriginPath = errors.New("an origin has no path: robots.txt is at its root")

// ParseOrigin returns the normalised origin of s, which may have the path "/" or "/robots.txt". The error is an
// [*OriginError]. Parsing the result returns it unchanged.
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

// AppendOrigin appends the normalised origin of u to dst: scheme and host in lower case, characters beyond ASCII in
// Punycode, without a final dot, IPv6 addresses in canonical form, and without the default port. ASCII host names are
// not checked further, because "_" and "--" occur in real ones. The error is [ErrHost] or [ErrPort]; the result is then
// dst. AppendOrigin does not allocate for ASCII host names if dst has room.
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

// parsePort returns a port number; 0 if the text is empty. The error is [ErrPort].
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

// hostBytes maps the bytes of ASCII host names to lower case, and all other bytes to 0.
var hostBytes = func() (t [256]byte) {
	for b := range t {
		if c := byte(b); isLetter(c) || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-' {
			t[b] = lower(c)
		}
	}
	return t
}()

// appendHost appends the normalised host to dst. The error is [ErrHost]; the result is then dst.
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

// appendASCIIHost appends a host name in lower case, without a final dot. ok is false if it is not an ASCII host name;
// the result is then dst.
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

// AppendURL appends the normal form by which a redirect finds the response of its target: origin, path and query,
// without dot segments, and with the necessary escapes. It returns the extended buffer. The error is from
// [AppendOrigin].
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

// ResolveURL returns the normal form of the target of a redirect: the header Location, relative to the URL base (RFC
// 3986 section 5.2). base must be in normal form. ok is false if location is empty or does not lead to a URL with a
// host.
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

// removeDots returns a path without the segments "." and ".." (RFC 3986 section 5.2.4). The path starts with "/" and
// has no query.
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
