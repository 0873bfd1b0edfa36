package robots

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Sitemap is one sitemap line. It does not belong to a group.
type Sitemap struct {
	Line int32  // 1-based
	URL  string // as written, not escaped; equal ones are kept
}

// A Host is one host line: the main mirror of a site, as Yandex read it until 2018. It does not belong to a group.
type Host struct {
	Line  int32  // 1-based
	Value string // as written: a domain name, maybe with "https://" before it and a port after it
	Valid bool   // Value is valid; invalid ones are ignored
}

// A DelayGroup holds consecutive user-agent lines and the Crawl-delay that follows them. They differ from the groups
// of rules: a Crawl-delay ends the run of user-agent lines in every dialect.
type DelayGroup struct {
	Agents  []ProductToken // the product tokens named, as in [Group]
	Star    bool           // one of the user-agent lines is "*"
	Line    int32          // 1-based, of the first valid Crawl-delay; 0 if there is none
	Seconds float64        // that delay
}

// CrawlDelay returns the delay between two fetches, in seconds, that the file requests from the agent: the first valid
// value in the groups that bind it, as in [File.Binding]. ok is false if there is none. An agent with a group of its
// own never inherits the delay for "*".
func (r *Report) CrawlDelay(a Agent) (seconds float64, ok bool) {
	f := &File{}
	for i := range r.Delays {
		f.Groups = append(f.Groups, Group{Agents: r.Delays[i].Agents, Star: r.Delays[i].Star})
	}
	for _, i := range f.Binding(a) {
		if g := &r.Delays[i]; g.Line > 0 {
			return g.Seconds, true
		}
	}
	return 0, false
}

// Host returns the first valid host line's value, or "".
func (r *Report) Host() string {
	for _, h := range r.Hosts {
		if h.Valid {
			return h.Value
		}
	}
	return ""
}

// parseDelay returns the seconds of a Crawl-delay: decimal digits, maybe with a point among them.
func parseDelay(value string) (seconds float64, ok bool) {
	if strings.Trim(value, ".0123456789") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(value, 64)
	return seconds, err == nil
}

// validDelay reports whether a value is a valid Crawl-delay.
func validDelay(_ Dialect, value string) bool {
	_, ok := parseDelay(value)
	return ok
}

// validHost reports whether the value of a host line is a domain name of two labels or more, maybe with "https://"
// before it, the only scheme that Yandex's examples have, and a port after it. Addresses are not valid.
func validHost(value string) bool {
	const scheme = "https://"
	if hasPrefixFold(value, scheme) {
		value = value[len(scheme):]
	}
	if i := strings.LastIndexByte(value, ':'); i >= 0 {
		if port, err := parsePort([]byte(value[i+1:])); err != nil || port == 0 {
			return false
		}
		value = value[:i]
	}
	if _, err := netip.ParseAddr(value); err == nil || !utf8.ValidString(value) {
		return false
	}
	labels := strings.Split(value, ".")
	return len(labels) > 1 && !slices.ContainsFunc(labels, func(l string) bool { return !validLabel(l) })
}

// validLabel reports whether s is a label of a domain name. Characters beyond ASCII are treated as
// letters.
func validLabel(s string) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if b := s[i]; b < utf8.RuneSelf && !isLetter(b) && (b < '0' || b > '9') && b != '-' {
			return false
		}
	}
	return true
}
