package robots

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
)

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
		return appendIPv6(dst, host)
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

// appendIPv6 appends the canonical form of an address in brackets (RFC 5952). Zones are local and
// have no place in an origin.
func appendIPv6(dst, host []byte) ([]byte, error) {
	text, closed := bytes.CutSuffix(host[1:], []byte("]"))
	addr, err := netip.ParseAddr(string(text))
	if err != nil || !closed || !addr.Is6() || addr.Zone() != "" {
		return dst, ErrHost
	}
	dst = append(dst, '[')
	dst = addr.AppendTo(dst)
	return append(dst, ']'), nil
}
