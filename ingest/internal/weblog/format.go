package weblog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Format is the name of a log format. The zero value is [Auto].
type Format string

// Formats without a Parser. All others are next to their parsers.
const (
	Auto    Format = ""        // to be detected, see [Detect]
	URLs    Format = "urls"    // one URL per line
	Parquet Format = "parquet" // any Parquet file with a column for the URL, see [Records]
	Sitemap Format = "sitemap" // an XML sitemap, see package sitemap; not line-based
	WARC    Format = "warc"    // a web archive; not line-based
)

// A format describes a Format.
type format struct {
	name     Format
	aliases  []string // other common names
	about    string   // a line of help text
	anyField bool     // any field may contain the URL, so the user may have to name it

	parser func(Options) (Parser, error) // nil if there is none
	byLine bool                          // parsing a line depends only on the first lines; this also holds for patterns

	// Patterns of the lines, if the format has any. For a pattern that begins with a scheme, sure is the number of
	// first fields that identify a line. If sure is 0, and for other patterns, all required fields must match.
	patterns []string
	sure     int
	hash     bool                   // bytes are escaped as #HH
	joined   func(line []byte) bool // reports whether a line is several records; may be nil
	compile  sync.Once
	compiled []*pattern
	must     byte // the sign that all patterns have

	// How a log is detected. The header is tried first; otherwise, the number of matching lines counts. nil means
	// never.
	header func(lines [][]byte, opt Options) bool // lines are the first lines of the log, at least one
	line   func(line []byte) bool                 // a line must not match in two formats
}

// formats lists every format. Headers are tried in this order. If several formats match the same number of lines, the
// earlier one in the list takes precedence.
var formats = []*format{
	{name: Auto, aliases: []string{""}, about: "detected from the first lines of each log; this is the default"},
	{name: URLs, aliases: []string{"text"}, about: "one URL per line, or a path if the site of the log is given", byLine: true, line: isURL},
	&combinedFormat,
	&cloudFrontFormat,
	&w3cFormat,
	{name: WARC, about: "a web archive: each fetch in its records"},
	{name: Sitemap, about: "the URLs of a sitemap in XML or RSS, or of the sitemaps of an index next to it"},
	&albFormat,
	&npmFormat,
	&haproxyFormat,
	&squidFormat,
	&s3Format,
	&envoyFormat,
	&jsonFormat,
	&logfmtFormat,
	&ltsvFormat,
	&tsvFormat,
	&csvFormat,
	&cdxjFormat,
	{name: Parquet, about: "any Parquet file with a column for the URL; always detected by its first bytes", anyField: true},
}

// info returns the description of f; an empty one if f is unknown. A user's pattern is a format of its own.
func (f Format) info() *format {
	if isPattern(string(f)) {
		return &format{name: f, patterns: []string{string(f)}}
	}
	for _, known := range formats {
		if known.name == f {
			return known
		}
	}
	return &format{}
}

// String returns the name: "combined", and "auto" for Auto.
func (f Format) String() string {
	return cmp.Or(string(f), "auto")
}

// About returns a line of help text about the format; "" if the format is unknown.
func (f Format) About() string { return f.info().about }

// shapes returns the patterns, limited to the fields that identify a line. A test checks that those of known formats
// are valid, and ParseFormat has compiled a user's pattern.
func (f *format) shapes() []*pattern {
	f.compile.Do(func() {
		f.must = allSigns
		for _, text := range f.patterns {
			if p, err := compilePattern(text); err == nil {
				if p.last = p.need; f.sure > 0 && p.fields[0].class == schemeValue {
					p.last, p.must = f.sure, anySign
				}
				f.compiled = append(f.compiled, p)
				f.must &= p.must
			}
		}
	})
	return f.compiled
}

// AnyField reports whether any field of the format may have the URL, so its name may have to be given.
func (f Format) AnyField() bool { return f.info().anyField }

// IsByLine reports whether parsing a line depends only on the first lines of its log: the format has neither header
// lines nor records of several lines.
func (f Format) IsByLine() bool { return f.info().byLine || len(f.info().patterns) > 0 }

// Formats returns all formats, Auto first.
func Formats() []Format {
	all := make([]Format, len(formats))
	for i, f := range formats {
		all[i] = f.name
	}
	return all
}

// ErrFormat means that a format does not exist, or has no Parser.
var ErrFormat = errors.New("unknown format")

// ParseFormat returns the format with a name or alias, ignoring case; Auto for "" and "auto". A text with "$" or "%" is
// a pattern of lines, as in nginx's log_format and Apache's LogFormat. The error is an ErrFormat with the valid names,
// or an ErrPattern.
func ParseFormat(name string) (Format, error) {
	if isPattern(name) {
		text := cutPasted(name)
		_, err := compilePattern(text)
		return Format(text), err
	}
	lower := strings.ToLower(name)
	var names []string
	for _, f := range formats {
		if f.name.String() == lower || slices.Contains(f.aliases, lower) {
			return f.name, nil
		}
		names = append(names, f.name.String())
	}
	return Auto, fmt.Errorf("%w %q: use one of %s", ErrFormat, name, strings.Join(names, ", "))
}

// New returns a Parser for a format. The error is an ErrNoField if the format cannot have a field, or an ErrFormat if
// it has no Parser.
func New(f Format, opt Options) (Parser, error) {
	if len(f.info().patterns) > 0 {
		return newLines(f.info(), opt)
	}
	if parser := f.info().parser; parser != nil {
		return parser(opt)
	}
	return nil, fmt.Errorf("%w %s", ErrFormat, f)
}
