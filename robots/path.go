package robots

import (
	"bytes"
	"cmp"
	"strings"
)

// A form is a normal form of percent-encoding.
type form struct {
	actions [256]action

	// nibbles are the tables that vector instructions look bytes up in, by their lower and their upper four bits; each
	// entry is eight flags. A byte of ASCII stays as it is if both its entries have a flag in common: the one of its
	// upper four bits.
	nibbles [2][16]byte
}

// An action is how a form changes a byte. Zero means no change.
type action uint8

const (
	encode  action = 1 << iota // to %XX
	percent                    // the start of an escape: digits to upper case, perhaps decoded
	end                        // the path ends before it
	mark                       // inverts its [markBit]
)

// markBit changes the byte of a literal "*" or "$", so that fullEscapes distinguishes it from a wildcard or an end
// anchor (RFC 9309 section 2.2.3). In patterns and paths, the changed byte stands for the character and for its escape:
// it has length 1, and nothing matches a part of it. Patterns have no other bytes beyond ASCII. Paths have them only
// with [URLAsIs]: there, the two marks, which no rule can contain, swap places with "*" and "$".
const markBit = 0x80

// marked are the bytes that become marks, and marks the results.
const (
	marked = "*$"
	marks  = "\xaa\xa4"
)

// unsafeText holds the printable bytes that are not valid in a URL (RFC 3986 section 2), and controls returns the
// others: the normal form of the standard encodes them.
const unsafeText = " \"<>\\^`{|}"

var (
	lightPattern = newForm("")
	lightURL     = newForm(" ").toURL()
	fullPattern  = newForm(unsafeText+controlBytes()).withAction(mark, "$")
	fullURL      = newForm(unsafeText+controlBytes()).withAction(mark, marked).toURL()

	// lightAsIs and fullAsIs are the forms of URLs as they are.
	lightAsIs = (&form{}).toURL()
	fullAsIs  = (&form{}).withAction(mark, marked+marks).toURL()

	unmark = (&form{}).withAction(mark, marks)
)

// newForm returns the form that encodes the given bytes and all bytes beyond ASCII.
func newForm(encoded string) *form {
	f := (&form{}).withAction(encode, encoded).withAction(percent, "%")
	for b := 0x80; b < len(f.actions); b++ {
		f.actions[b] = encode
	}
	return f
}

// withAction gives the bytes of text an action, and returns f.
func (f *form) withAction(a action, text string) *form {
	for i := range len(text) {
		f.actions[text[i]] = a
	}
	return f
}

// toURL makes f a form for URLs, whose paths end before a fragment, and returns it. It also fills the tables for vector
// instructions.
func (f *form) toURL() *form {
	f.withAction(end, "#")
	for b := range byte(0x80) {
		bit := byte(1) << (b >> 4)
		f.nibbles[1][b>>4] = bit
		if f.actions[b] == 0 {
			f.nibbles[0][b&15] |= bit
		}
	}
	return f
}

// controlBytes returns the control characters of ASCII.
func controlBytes() string {
	b := make([]byte, ' '+1)
	for c := range byte(' ') {
		b[c] = c
	}
	b[' '] = 0x7f
	return string(b)
}

// normalPattern returns the value of a rule in the normal form of the dialect, as [Rule.Pattern] documents it.
func (d Dialect) normalPattern(value string) string {
	if d.Has(trailingStarIgnored) {
		value = cmp.Or(strings.TrimRight(value, "*"), "/") // all paths start with "/"
	}
	f := lightPattern
	if d.Has(fullEscapes) {
		f = fullPattern
	}
	body, anchored := strings.CutSuffix(value, "$")
	n := normalPrefix(body, f, d)
	if n == len(body) {
		return value
	}
	b := make([]byte, 0, len(value)+16)
	b = appendNormal(append(b, body[:n]...), body[n:], f, d)
	if anchored {
		b = append(b, '$')
	}
	return string(b)
}

// Path returns the text that patterns match: the path, parameters and query of a URL in the normal form of the dialect,
// starting with "/". raw is [URL.Path], or all that follows [URL.Prefix]: a fragment, from "#" on, is omitted.
// [Dialect.ReadablePath] is for people. If raw is normal already it is returned itself; otherwise the result is built
// in buf[:0]. newbuf is buf, grown where needed, for the next call. Path does not allocate once buf is large enough: at
// most 1 + 3*len(raw) bytes.
func (d Dialect) Path(raw, buf []byte) (path, newbuf []byte) {
	var n int
	f := d.urlForm()
	switch {
	case !d.Has(URLAsIs):
		n = f.kept(raw)
	case d.Has(fullEscapes):
		n = f.keptGeneric(raw)
	default:
		if n = bytes.IndexByte(raw, '#'); n < 0 {
			n = len(raw)
		}
	}
	if n > 0 && raw[0] == '/' && (n == len(raw) || f.actions[raw[n]] == end) {
		return raw[:n], buf
	}
	return d.normalPath(raw, n, buf)
}

// normalPath is Path for any URL. The first n bytes of raw must be in normal form. buf and the results are as in Path.
func (d Dialect) normalPath(raw []byte, n int, buf []byte) (path, newbuf []byte) {
	if hash := bytes.IndexByte(raw[n:], '#'); hash >= 0 {
		raw = raw[:n+hash]
	}
	if n < len(raw) {
		n += normalPrefix(raw[n:], d.urlForm(), d)
	}
	rooted := len(raw) > 0 && raw[0] == '/'
	if n == len(raw) && rooted {
		return raw, buf
	}
	buf = buf[:0]
	if !rooted {
		buf = append(buf, '/')
	}
	buf = append(buf, raw[:n]...)
	if n < len(raw) {
		buf = appendNormal(buf, raw[n:], d.urlForm(), d)
	}
	return buf, buf
}

// urlForm returns the form of URLs in the dialect.
func (d Dialect) urlForm() *form {
	switch {
	case d.Has(fullEscapes | URLAsIs):
		return fullAsIs
	case d.Has(fullEscapes):
		return fullURL
	case d.Has(URLAsIs):
		return lightAsIs
	}
	return lightURL
}

// ReadablePath returns a path from [Dialect.Path] for people, with "*" and "$" as themselves.
func (d Dialect) ReadablePath(path []byte) string {
	switch {
	case !d.Has(fullEscapes):
		return string(path)
	case d.Has(URLAsIs):
		return string(appendNormal(nil, path, fullAsIs, d)) // which it undoes
	}
	return string(appendNormal(nil, path, unmark, d))
}

// ReadablePattern returns [Rule.Pattern] for people, with "%2A" and "%24" for a literal "*" and "$".
func ReadablePattern(pattern string) string { return readable.Replace(pattern) }

var readable = strings.NewReplacer(marks[:1], "%2A", marks[1:], "%24")

// keptGeneric returns the number of bytes before the first one with an action, which is mostly all of s. It checks
// eight bytes with one branch; the last eight overlap the ones before instead of being checked one by one.
func (f *form) keptGeneric(s []byte) int {
	i := 0
	if len(s) >= 8 {
		for i < len(s)-8 && !f.any8(s[i:i+8]) {
			i += 8
		}
		if i >= len(s)-8 && !f.any8(s[len(s)-8:]) {
			return len(s)
		}
	}
	for i < len(s) && f.actions[s[i]] == 0 {
		i++
	}
	return i
}

// any8 reports whether any of the eight bytes of s has an action.
func (f *form) any8(s []byte) bool {
	_ = s[7]
	a := &f.actions
	return a[s[0]]|a[s[1]]|a[s[2]]|a[s[3]]|a[s[4]]|a[s[5]]|a[s[6]]|a[s[7]] != 0
}

// normalPrefix returns the length of a prefix of s that is in normal form; len(s) if all of s is. The prefix ends
// before the first byte or escape that must change, or before a fragment.
func normalPrefix[S string | []byte](s S, f *form, d Dialect) int {
	i := 0
	for {
		for i < len(s) && f.actions[s[i]] == 0 {
			i++
		}
		if i == len(s) || f.actions[s[i]] != percent {
			return i
		}
		if v, ok := parseEscape(s[i:]); !ok {
			i++ // a "%" that starts no escape stays
		} else if _, decoded := d.decode(v); decoded || isLowerHex(s[i+1]) || isLowerHex(s[i+2]) {
			return i
		} else {
			i += 3
		}
	}
}

// appendNormal appends the normal form of s to dst. Fragments are not cut.
func appendNormal[S string | []byte](dst []byte, s S, f *form, d Dialect) []byte {
	for i := 0; i < len(s); i++ {
		switch b := s[i]; f.actions[b] {
		case encode:
			dst = appendEscape(dst, b)
		case mark:
			dst = append(dst, b^markBit)
		case percent:
			v, ok := parseEscape(s[i:])
			if !ok {
				dst = append(dst, b)
				continue
			}
			if c, decoded := d.decode(v); decoded {
				dst = append(dst, c)
			} else {
				dst = appendEscape(dst, v)
			}
			i += 2
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// parseEscape returns the byte that the escape "%XX" at the start of s stands for; ok is false if s does not start with
// an escape.
func parseEscape[S string | []byte](s S) (v byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	hi, lo := unhex(s[1]), unhex(s[2])
	return hi<<4 | lo&0xf, hi < 16 && lo < 16
}

// appendEscape appends b as %XX, with upper-case digits.
func appendEscape(dst []byte, b byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[b>>4], digits[b&0xf])
}

// decode returns the byte that replaces the escape of b in the dialect. ok is false if the escape stays. The flag
// fullEscapes decodes unreserved characters (RFC 3986 section 2.3), and turns "*" and "$" into marks.
func (d Dialect) decode(b byte) (decoded byte, ok bool) {
	switch {
	case !d.Has(fullEscapes):
		return 0, false
	case isLetter(b), '0' <= b && b <= '9', b == '-', b == '.', b == '_', b == '~':
		return b, true
	case b == marked[0], b == marked[1]:
		return b ^ markBit, true
	}
	return 0, false
}

// unhex returns the value of a hexadecimal digit, or 0xff.
func unhex(b byte) byte {
	switch {
	case '0' <= b && b <= '9':
		return b - '0'
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10
	}
	return 0xff
}

func isLowerHex(b byte) bool { return 'a' <= b && b <= 'f' }

// IsPlain reports whether [Dialect.Path] returns raw unchanged in every dialect, as for most URLs. It is false if raw
// contains a "%".
func IsPlain(raw []byte) bool {
	return len(raw) > 0 && raw[0] == '/' && fullURL.kept(raw) == len(raw) // fullURL changes all that other forms do
}

// A spelling is one way to write a key.
type spelling struct {
	prefix string // in lower case
	kind   kind
	typo   bool
	whole  bool // the key must equal the prefix, even with typoKeys
}

// spellings are the keys that typoKeys accepts, in the order that google/robotstxt tries them. It compares only the
// beginning of a key, so that "allowed" is Allow and "user-agents" is User-agent. The last three do not affect verdicts
// in google/robotstxt, which compares the whole key.
var spellings = []spelling{
	{prefix: "user-agent", kind: kindUserAgent},
	{prefix: "useragent", kind: kindUserAgent, typo: true},
	{prefix: "user agent", kind: kindUserAgent, typo: true},
	{prefix: "allow", kind: kindAllow},
	{prefix: "disallow", kind: kindDisallow},
	{prefix: "dissallow", kind: kindDisallow, typo: true},
	{prefix: "dissalow", kind: kindDisallow, typo: true},
	{prefix: "disalow", kind: kindDisallow, typo: true},
	{prefix: "diasllow", kind: kindDisallow, typo: true},
	{prefix: "disallaw", kind: kindDisallow, typo: true},
	{prefix: "sitemap", kind: kindSitemap},
	{prefix: "site-map", kind: kindSitemap, typo: true},
	{prefix: "crawl-delay", kind: kindCrawlDelay, whole: true},
	{prefix: "host", kind: kindHost, whole: true},
	{prefix: "clean-param", kind: kindCleanParam, whole: true},
}

// spellingsOf are the spellings by their first byte, in either case.
var spellingsOf = func() (t [256][]spelling) {
	for _, s := range spellings {
		first := s.prefix[0]
		t[first] = append(t[first], s)
		t[first-'a'+'A'] = t[first]
	}
	return t
}()

// kindOf returns the kind of a line with this key, which must not be empty, and whether the key is a misspelling. Case
// is ignored.
func (d Dialect) kindOf(key string) (k kind, typo bool) {
	candidates := spellingsOf[key[0]]
	for i := range candidates {
		s := &candidates[i]
		if !hasPrefixFold(key, s.prefix) {
			continue
		}
		exact := len(key) == len(s.prefix)
		if d.Has(typoKeys) && (exact || !s.whole) || !s.typo && exact {
			return s.kind, s.typo
		}
	}
	return kindOther, false
}
