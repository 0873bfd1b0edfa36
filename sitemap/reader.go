package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The limits of the protocol for one sitemap, and for one index.
const (
	MaxURLs  = 50_000
	MaxBytes = 50 << 20 // of text, uncompressed
)

// Namespace is the namespace of the protocol.
const Namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"

// MaxURL is the maximum length of a URL in bytes. A longer URL is not returned.
const MaxURL = 64 << 10

// Limits against hostile texts.
const (
	maxToken = 1 << 20 // bytes of a tag, a comment or a piece of text
	maxDepth = 64      // nested elements; sitemaps have 5
)

// A Kind is a format of sitemaps, or an index.
type Kind uint8

// The kinds. Unknown is the kind of a Reader that has read nothing.
const (
	Unknown Kind = iota
	URLs         // <urlset>: the URLs of pages
	Index        // <sitemapindex>: the URLs of sitemaps
	RSS          // <rss>: the links of its items
	Atom         // <feed>: the links of its entries
	Text         // one URL per line
)

// A shape says where the URLs are in XML.
type shape struct {
	root  string
	path  []string // of an entry, below the root
	leaf  string   // the element of the entry that has the URL
	attr  string   // the attribute of leaf with the URL; "" means its text
	space string   // the namespace; "" means any
}

// shapes are the shapes of the XML kinds, by Kind.
var shapes = [...]shape{
	URLs:  {root: "urlset", path: []string{"url"}, leaf: "loc", space: Namespace},
	Index: {root: "sitemapindex", path: []string{"sitemap"}, leaf: "loc", space: Namespace},
	RSS:   {root: "rss", path: []string{"channel", "item"}, leaf: "link"},
	Atom:  {root: "feed", path: []string{"entry"}, leaf: "link", attr: "href", space: "http://www.w3.org/2005/Atom"},
}

// The kinds of errors of a Reader, wrapped in an [*Error].
var (
	ErrHTML   = errors.New("this is an HTML page instead of a sitemap")
	ErrRoot   = errors.New("this is not a sitemap")
	ErrXML    = errors.New("this is not well-formed XML")
	ErrHuge   = fmt.Errorf("an XML token is longer than %d bytes", maxToken)
	ErrDeep   = fmt.Errorf("more than %d nested elements", maxDepth)
	ErrCutOff = errors.New("the XML is truncated")
	ErrNoList = errors.New("this is neither XML nor a list of URLs")
)

// An Error is a fault of a sitemap, with its line and byte offset in the text as UTF-8.
type Error struct {
	Line, Offset int64
	Err          error
}

// Error returns the fault, and where it is.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d (byte %d of the text): %v", e.Line, e.Offset, e.Err)
}

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Err }

// An Entry is a URL of a sitemap.
type Entry struct {
	URL          []byte // as written, trimmed, XML escapes decoded; nil if empty or too long; valid until the next call
	Line, Offset int64  // where the URL begins or, in XML, its tag
}

// Notes are the oddities that a Reader found in a sitemap.
type Notes struct {
	Space    string // the namespace, if it is not the protocol's; "" if it is, or if there is none, see NoSpace
	NoSpace  bool   // there is no namespace
	Encoding string // the encoding in the XML declaration, if it is not UTF-8

	Bytes int64 // bytes read, before encodings other than UTF-8 were decoded

	NoURL     int64 // entries whose URL is missing, empty or too long
	FirstLine int64 // line of the first of them

	LastLine, LastOffset int64 // position of the last of them
}

// A Reader reads the URLs of one sitemap, and is for one goroutine. Use NewReader.
type Reader struct {
	kind  Kind
	notes Notes
	text  source
	err   error // the error that ended reading

	// For XML:
	xml     *xml.Decoder
	shape   *shape
	prefix  string     // of the root element
	stack   []xml.Name // the open elements
	matched int        // how many names of stack are on the path to an entry's URL
	hasURL  bool       // the current entry has a URL
	url     []byte
	tooLong bool
	ended   bool  // the root has ended
	foreign error // the encoding is unknown

	// For text:
	line, offset int64
}

// NewReader returns a Reader of an uncompressed text. It must be in UTF-8, or declare another encoding that
// [Reader.Next] supports. A byte order mark is ignored.
func NewReader(r io.Reader) *Reader {
	return &Reader{text: source{r: bufio.NewReaderSize(r, 64<<10)}}
}

// Kind returns the kind of the text. It is Unknown before the first call of Next, and if that call fails.
func (r *Reader) Kind() Kind { return r.kind }

// Notes returns the oddities of the text read so far.
func (r *Reader) Notes() Notes {
	r.notes.Bytes = r.text.bytes
	return r.notes
}

// Next returns the next URL. The error is io.EOF at the end, an [*Error], or the error of the text. After an error,
// Next returns it again.
//
// Entries without a URL are counted but not returned. XML may declare the encodings UTF-8, UTF-16 (if the text has
// already been decoded), US-ASCII, ISO-8859-1 and windows-1252.
func (r *Reader) Next() (Entry, error) {
	if r.err == nil && r.kind == Unknown {
		r.err = r.begin()
	}
	for r.err == nil {
		next := r.nextInXML
		if r.kind == Text {
			next = r.nextInText
		}
		e, ok, err := next()
		r.err = err
		if ok {
			return e, nil
		}
	}
	return Entry{}, r.err
}

// LooksLikeXML reports whether a text begins like an XML sitemap, rather than an HTML page or other text: with an XML
// declaration, or with the root of a sitemap or an index. A byte order mark, white space and comments may precede. head
// is the beginning of the text.
func LooksLikeXML(head []byte) bool {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, byteOrderMark))
	for bytes.HasPrefix(head, []byte("<!--")) {
		_, rest, _ := bytes.Cut(head, []byte("-->"))
		head = bytes.TrimSpace(rest)
	}
	if bytes.HasPrefix(head, []byte("<?xml")) {
		return true
	}
	name, ok := bytes.CutPrefix(head, []byte("<"))
	if i := bytes.IndexAny(name, " \t\r\n>/"); i >= 0 {
		name = name[:i]
	}
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	return ok && (string(name) == shapes[URLs].root || string(name) == shapes[Index].root)
}

var byteOrderMark = []byte("\ufeff")

// begin sets the kind of the text, and skips a byte order mark. In XML, it reads up to the start tag of the root.
// The error says why the text is not a sitemap.
func (r *Reader) begin() error {
	head, err := r.text.r.Peek(4 << 10)
	if err != nil && err != io.EOF {
		return r.text.recordError(err)
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		head = head[len(byteOrderMark):]
		r.text.r.Discard(len(byteOrderMark)) //nolint:errcheck // it is buffered
		r.text.bytes = int64(len(byteOrderMark))
	}
	if start := bytes.TrimSpace(head); len(start) > 0 && start[0] != '<' {
		r.kind = Text
		return nil
	}
	r.xml = xml.NewDecoder(&r.text)
	if start := bytes.ToLower(bytes.TrimSpace(head)); bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) {
		return &Error{Line: 1, Err: ErrHTML} // HTML may be invalid XML
	}
	r.xml.CharsetReader = r.decodeCharset
	for {
		token, err := r.readToken()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return r.errorf("%w: text before the root", ErrXML)
			}
		case xml.Directive:
			if fields := bytes.Fields(t); len(fields) > 1 && bytes.EqualFold(fields[0], []byte("doctype")) && bytes.EqualFold(fields[1], []byte("html")) {
				return r.withPosition(ErrHTML)
			}
		case xml.EndElement:
			return r.errorf("%w: </%s> without a start tag", ErrXML, t.Name.Local)
		case xml.StartElement:
			for kind := range shapes {
				if s := &shapes[kind]; s.root != "" && s.root == t.Name.Local {
					r.kind, r.shape, r.prefix = Kind(kind), s, t.Name.Space
					r.stack, r.matched = append(r.stack, t.Name), 1
					r.noteSpace(t.Attr)
					return nil
				}
			}
			if strings.EqualFold(t.Name.Local, "html") {
				return r.withPosition(ErrHTML)
			}
			return r.errorf("%w: its root is <%s> instead of <urlset> or <sitemapindex>", ErrRoot, shorten(t.Name.Local))
		}
	}
}

// noteSpace notes the namespace of the root, given the attributes of its start tag, if it is missing or not the
// protocol's. It does nothing for kinds with any namespace.
func (r *Reader) noteSpace(attrs []xml.Attr) {
	if r.shape.space == "" {
		return
	}
	r.notes.NoSpace = true
	for _, a := range attrs {
		if r.prefix == "" && a.Name.Space == "" && a.Name.Local == "xmlns" || r.prefix != "" && a.Name.Space == "xmlns" && a.Name.Local == r.prefix {
			r.notes.NoSpace = strings.TrimSpace(a.Value) == ""
			if space := strings.TrimSpace(a.Value); space != r.shape.space {
				r.notes.Space = shorten(space)
			}
		}
	}
}

// nextInXML reads an XML token, and returns a URL if the token completes one; ok is false otherwise.
func (r *Reader) nextInXML() (e Entry, ok bool, err error) {
	token, err := r.readToken()
	if err != nil {
		return e, false, err
	}
	switch t := token.(type) {
	case xml.CharData:
		switch {
		case r.ended && len(bytes.TrimSpace(t)) > 0:
			return e, false, r.errorf("%w: text after the root", ErrXML)
		case !r.inURL():
		case len(r.url)+len(t) > MaxURL+2*maxBlank:
			r.tooLong = true
		default:
			r.url = append(r.url, t...)
		}
	case xml.StartElement:
		return r.openElement(&t)
	case xml.EndElement:
		depth := len(r.stack)
		if depth == 0 || r.stack[depth-1] != t.Name {
			return e, false, r.errorf("%w: </%s> does not match an open element", ErrXML, shorten(t.Name.Local))
		}
		inURL := r.inURL()
		r.stack = r.stack[:depth-1]
		if r.matched == depth {
			r.matched--
			if depth == len(r.shape.path)+1 && !r.hasURL {
				r.noteNoURL()
			}
		}
		r.ended = depth == 1
		if inURL {
			return r.currentEntry()
		}
	}
	return e, false, nil
}

// maxBlank is the maximum length of white space before or after a URL.
const maxBlank = 4 << 10

// inURL reports whether the current token is directly in the element of a URL.
func (r *Reader) inURL() bool {
	n := len(r.shape.path) + 2
	return len(r.stack) == n && r.matched == n && r.shape.attr == ""
}

// openElement adds an element to the open ones, and records where an entry or its URL begins. If the element is an Atom
// link, its attribute completes a URL, which is returned; ok is false otherwise. Links with a rel other than
// "alternate" are ignored.
func (r *Reader) openElement(t *xml.StartElement) (e Entry, ok bool, err error) {
	if r.ended {
		return e, false, r.errorf("%w: <%s> after the root", ErrXML, shorten(t.Name.Local))
	}
	if len(r.stack) == maxDepth {
		return e, false, r.withPosition(ErrDeep)
	}
	depth := len(r.stack)
	r.stack = append(r.stack, t.Name)
	if r.matched != depth || t.Name.Space != r.prefix {
		return e, false, nil
	}
	switch path := r.shape.path; {
	case depth <= len(path) && t.Name.Local == path[depth-1]:
		r.matched++
		if depth == len(path) {
			r.hasURL, r.line, r.offset = false, r.position().Line, r.position().Offset
		}
	case depth == len(path)+1 && t.Name.Local == r.shape.leaf:
		r.matched++
		r.url, r.tooLong = r.url[:0], false
		at := r.position()
		r.line, r.offset = at.Line, at.Offset
		if r.shape.attr != "" {
			url, rel := "", ""
			for _, a := range t.Attr {
				switch {
				case a.Name.Space != "":
				case a.Name.Local == r.shape.attr:
					url = a.Value
				case a.Name.Local == "rel":
					rel = a.Value
				}
			}
			if rel == "" || rel == "alternate" {
				r.url = append(r.url, url...)
				return r.currentEntry()
			}
		}
	}
	return e, false, nil
}

// currentEntry returns the URL that was just completed, and its position. ok is false if the URL is empty or too long.
func (r *Reader) currentEntry() (e Entry, ok bool, err error) {
	url := bytes.TrimSpace(r.url)
	if len(url) > MaxURL || r.tooLong || len(url) == 0 {
		return e, false, nil // counted at the end of the entry
	}
	r.hasURL = true
	return Entry{url, r.line, r.offset}, true, nil
}

// noteNoURL counts an entry without a URL.
func (r *Reader) noteNoURL() {
	r.notes.LastLine, r.notes.LastOffset = r.line, r.offset
	if r.notes.NoURL++; r.notes.NoURL == 1 {
		r.notes.FirstLine = r.line
	}
}

// readToken returns the next XML token, which is valid until the next call. At the end of the text, the error is io.EOF
// if the root has ended. Other errors are an [*Error] or the error of the text.
func (r *Reader) readToken() (xml.Token, error) {
	r.text.since = 0
	begin := r.position()
	token, err := r.xml.RawToken()
	switch syntax, ok := errors.AsType[*xml.SyntaxError](err); {
	case err == nil:
		return token, nil
	case r.text.err != nil:
		return nil, r.text.err
	case r.foreign != nil:
		return nil, r.withPosition(r.foreign)
	case errors.Is(err, ErrHuge):
		return nil, r.withPosition(ErrHuge)
	case err == io.EOF && r.ended:
		return nil, io.EOF
	case err == io.EOF && r.kind == Unknown:
		return nil, r.errorf("%w: it is empty", ErrRoot)
	case err == io.EOF || ok && strings.HasSuffix(syntax.Msg, "unexpected EOF"):
		return nil, r.withPosition(ErrCutOff)
	case ok && (strings.HasPrefix(syntax.Msg, "invalid UTF-8") || strings.HasPrefix(syntax.Msg, "illegal character code")): // found at the end of a text
		begin.Err = fmt.Errorf("%w: %s in the text that begins there", ErrXML, syntax.Msg)
		return nil, &begin
	case ok:
		return nil, r.errorf("%w: %s", ErrXML, syntax.Msg)
	}
	return nil, r.errorf("%w: %s", ErrXML, strings.TrimPrefix(err.Error(), "xml: "))
}

// position returns the current position in the XML.
func (r *Reader) position() Error {
	line, _ := r.xml.InputPos()
	return Error{Line: int64(line), Offset: r.xml.InputOffset()}
}

// withPosition returns an [*Error] with the current position in the XML.
func (r *Reader) withPosition(err error) error {
	at := r.position()
	at.Err = err
	return &at
}

func (r *Reader) errorf(format string, args ...any) error {
	return r.withPosition(fmt.Errorf(format, args...))
}

// shorten truncates a text to about 80 bytes for a message, and replaces control characters by "?".
func shorten(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text)
}

// decodeCharset returns a reader of the text as UTF-8 if its XML declares another encoding, and notes the encoding. It
// is an [xml.Decoder.CharsetReader]. An unknown encoding is an error.
func (r *Reader) decodeCharset(encoding string, text io.Reader) (io.Reader, error) {
	r.notes.Encoding = shorten(encoding)
	switch strings.ToLower(encoding) {
	case "utf8": // a common misspelling
		r.notes.Encoding = ""
		return text, nil
	case "utf-16", "utf-16le", "utf-16be", "unicode":
		return text, nil // a text in UTF-16 has already been decoded
	case "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252", "cp1252":
		return &latin1{text: &r.text}, nil
	}
	r.foreign = fmt.Errorf("%w: its encoding is %s: save it as UTF-8, for example: iconv -f %[2]s -t UTF-8", ErrXML, shorten(encoding))
	return nil, r.foreign
}

// A latin1 decodes windows-1252, which is ISO-8859-1 with other characters instead of control characters.
type latin1 struct {
	text io.ByteReader
	rest []byte
	buf  [utf8.UTFMax]byte
}

// ReadByte returns the next byte of the text as UTF-8: a character beyond ASCII takes several calls.
func (l *latin1) ReadByte() (byte, error) {
	if len(l.rest) > 0 {
		b := l.rest[0]
		l.rest = l.rest[1:]
		return b, nil
	}
	b, err := l.text.ReadByte()
	if err != nil || b < utf8.RuneSelf {
		return b, err
	}
	c := rune(b)
	if b < 0xa0 {
		c = windows1252[b-0x80]
	}
	l.rest = l.buf[:utf8.EncodeRune(l.buf[:], c)]
	return l.ReadByte()
}

// Read is required by the interface, but encoding/xml reads bytes.
func (l *latin1) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if p[n], err = l.ReadByte(); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// windows1252 are the characters of windows-1252 from 0x80 on; five are undefined.
var windows1252 = [32]rune{
	0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f,
	0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
}

// A source provides the text to encoding/xml byte by byte. It limits the size of a token.
type source struct {
	r     *bufio.Reader
	bytes int64 // bytes read
	since int   // bytes read since the last token
	err   error // of the text, other than io.EOF
}

// ReadByte returns the next byte of the text. The error is ErrHuge if the token is too long.
func (s *source) ReadByte() (byte, error) {
	if s.since++; s.since > maxToken {
		return 0, ErrHuge
	}
	b, err := s.r.ReadByte()
	if err != nil {
		return b, s.recordError(err)
	}
	s.bytes++
	return b, nil
}

// Read is required by the interface, but encoding/xml reads bytes.
func (s *source) Read(p []byte) (n int, err error) {
	n, err = s.r.Read(p)
	s.bytes += int64(n)
	return n, s.recordError(err)
}

// recordError records an error other than io.EOF, and returns it.
func (s *source) recordError(err error) error {
	if err != nil && err != io.EOF {
		s.err = err
	}
	return err
}

// nextInText reads a line of a list of URLs, and returns its URL; ok is false if the line is empty, or longer than
// MaxURL, which is noted. If the first line with text has no scheme, the error wraps ErrNoList.
func (r *Reader) nextInText() (e Entry, ok bool, err error) {
	r.url, r.tooLong = r.url[:0], false
	for more := true; more; {
		piece, err := r.text.r.ReadSlice('\n')
		r.text.bytes += int64(len(piece))
		if len(r.url)+len(piece) > MaxURL {
			r.tooLong = true
		} else {
			r.url = append(r.url, piece...)
		}
		more = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !more && (err != io.EOF || len(r.url) == 0 && !r.tooLong) {
			return e, false, r.text.recordError(err)
		}
	}
	r.line++
	e.Line, e.Offset = r.line, r.offset
	r.offset = r.text.bytes
	switch e.URL = bytes.TrimSpace(r.url); {
	case r.tooLong:
		r.noteNoURL()
		return e, false, nil
	case len(e.URL) == 0:
		return e, false, nil
	case !r.hasURL: // the first line decides whether this is a list of URLs
		scheme, _, ok := bytes.Cut(e.URL, []byte("://"))
		if !ok || len(scheme) == 0 || len(scheme) >= 10 || bytes.ContainsAny(scheme, " \t,;\"'<") {
			return e, false, &Error{Line: e.Line, Offset: e.Offset, Err: fmt.Errorf("%w: it begins %q", ErrNoList, shorten(string(e.URL)))}
		}
		r.hasURL = true
	}
	return e, true, nil
}
