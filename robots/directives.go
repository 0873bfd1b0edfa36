package robots

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Sitemap is one sitemap line. It does not belong to a group.
type Sitemap struct {
	Line int32  // 1-based
	URL  string // as written
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

// parseDelay returns the seconds of a Crawl-delay: a decimal number without sign or exponent. ok is false for any other
// value.
func parseDelay(value string) (seconds float64, ok bool) {
	if strings.Trim(value, ".0123456789") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(value, 64)
	return seconds, err == nil
}

// validHost reports whether the value of a host line is a domain name of at least two labels. "https://" may precede
// it, the only scheme in Yandex's examples, and a port may follow it. IP addresses are not valid.
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
	return len(labels) > 1 && !slices.ContainsFunc(labels, func(label string) bool {
		return label == "" || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, func(r rune) bool {
			return r < utf8.RuneSelf && !isLetter(byte(r)) && (r < '0' || r > '9') && r != '-' // characters beyond ASCII are treated as letters
		})
	})
}

// A CleanParam is one clean-param line: parameters that do not change the content of a page, as Yandex reads it. It
// does not belong to a group.
type CleanParam struct {
	Line   int32    // 1-based
	Params []string // names of parameters, case-sensitive
	Path   string   // as written: the pattern of the paths, matched like a rule; "/" if the line has none

	pattern string // Path in normal form
}

// CleanParams are the clean-param lines of a file. They apply to all crawlers.
type CleanParams []CleanParam

// CleanParams returns the clean-param lines among the notes of a robots.txt that was read in the
// dialect.
func (d Dialect) CleanParams(notes []Notes) (all CleanParams) {
	for i := range notes {
		if notes[i].Directive != CleanParamLines {
			continue
		}
		for _, n := range notes[i].Lines {
			if c, ok := d.parseCleanParam(n.Value); ok {
				c.Line = n.Line
				all = append(all, c)
			}
		}
	}
	return all
}

// maxCleanParam is the longest value of a clean-param line that Yandex reportedly reads, in bytes.
const maxCleanParam = 500

// parseCleanParam parses the value of a clean-param line: parameters joined by "&", and maybe a path that starts with
// "/" or "*". The Line of the result is not set. ok is false if the value is not valid or too long.
func (d Dialect) parseCleanParam(value string) (c CleanParam, ok bool) {
	fields := strings.FieldsFunc(value, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
	if len(fields) < 1 || len(fields) > 2 || len(value) > maxCleanParam {
		return c, false
	}
	c.Path = "/"
	if len(fields) == 2 {
		c.Path = fields[1]
	}
	for name := range strings.SplitSeq(fields[0], "&") {
		if name != "" {
			c.Params = append(c.Params, name)
		}
	}
	c.pattern = d.normalPattern(c.Path)
	return c, len(c.Params) > 0 && (c.Path[0] == '/' || c.Path[0] == '*')
}

// AppendCanonical appends the URL without the parameters that do not change its content, and returns the extended
// buffer. Everything else, including a fragment, is unchanged, and so is an invalid URL. d is the dialect that the file
// was read in.
func (all CleanParams) AppendCanonical(dst, rawURL []byte, d Dialect) []byte {
	u, err := SplitURL(rawURL)
	mark := bytes.IndexByte(u.Path, '?')
	if err != nil || mark < 0 {
		return append(dst, rawURL...)
	}
	path, _ := d.Path(u.Path[:mark], nil)
	end := len(u.Prefix) + len(u.Path)
	dst = append(dst, rawURL[:len(u.Prefix)+mark]...)
	separator := byte('?')
	for param := range bytes.SplitSeq(u.Path[mark+1:], []byte("&")) {
		name, _, _ := bytes.Cut(param, []byte("="))
		if !slices.ContainsFunc(all, func(c CleanParam) bool {
			return slices.Contains(c.Params, string(name)) && matches(c.pattern, path)
		}) {
			dst = append(append(dst, separator), param...)
			separator = '&'
		}
	}
	return append(dst, rawURL[end:]...)
}
