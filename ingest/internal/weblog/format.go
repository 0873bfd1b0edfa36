package weblog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Format is a way to write a log, by its name. The zero value is [Auto].
type Format string

// Formats that no Parser reads. All others are next to their parsers.
const (
	Auto    Format = ""        // to be detected, see [Detect]
	URLs    Format = "urls"    // a URL a line
	Parquet Format = "parquet" // any Parquet file with a column for the URL, see [Records]
	Sitemap Format = "sitemap" // XML, see package sitemap, which is not lines
	WARC    Format = "warc"    // a web archive, whose records are not lines
)

// A format describes a Format.
type format struct {
	name     Format
	aliases  []string // other names that people know
	about    string   // a line of help
	anyField bool     // any field may hold the URL, so that it may have to be named

	parser func(Options) (Parser, error) // nil if no Parser reads it
	byLine bool                          // how a line is read depends on the first lines, and on no other; patterns are so

	// Of a format whose lines are read by patterns. A line that has the first fields of one that begins with a
	// scheme, sure many if that is not 0, is one of it, whatever follows.
	patterns []string
	sure     int
	hash     bool                   // bytes are escaped as #HH
	joined   func(line []byte) bool // whether a line is several records; may be nil
	compile  sync.Once
	compiled []*pattern
	must     byte // the sign that all of these have

	// How a log is recognised. nil means not by that. The header is tried first; else each line has
	// a vote.
	header func(lines [][]byte, opt Options) bool // lines are the first of the log, at least one
	line   func(line []byte) bool                 // no line may be recognised by two formats
}

// formats are all formats. Headers are tried in this order. Of formats with equal votes
// the first wins.
var formats = []*format{
	{name: Auto, aliases: []string{""}, about: "recognised by the first lines of each log; this is the default"},
	{name: URLs, aliases: []string{"text"}, about: "a URL a line, or a path where the site of the log is given", byLine: true, line: isURL},
	&combinedFormat,
	&cloudFrontFormat,
	&w3cFormat,
	{name: WARC, about: "a web archive: each fetch that its records tell of"},
	{name: Sitemap, about: "the URLs of a sitemap in XML or RSS, or of the files of an index beside it"},
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
	{name: Parquet, about: "any Parquet file with a column for the URL; always recognised by its first bytes", anyField: true},
}

// info returns the description of f, an empty one if f is not a format. A pattern is a format of its own.
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

// About returns a line of help about the format, "" if there is no such format.
func (f Format) About() string { return f.info().about }

// shapes returns the patterns that read only the fields which identify a line. Those of the table are valid, as a test
// holds; a user's was compiled by ParseFormat.
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

// AnyField reports whether any field of the format may hold the URL, so that its name may have to
// be given.
func (f Format) AnyField() bool { return f.info().anyField }

// IsByLine reports whether how a line is read depends on the first lines of its log, and on no other: it has neither headers nor
// records of several lines.
func (f Format) IsByLine() bool { return f.info().byLine || len(f.info().patterns) > 0 }

// Formats returns all formats, Auto first.
func Formats() []Format {
	all := make([]Format, len(formats))
	for i, f := range formats {
		all[i] = f.name
	}
	return all
}

// ErrFormat is the kind of the errors about a format that does not exist, or that no Parser reads.
var ErrFormat = errors.New("unknown format")

// ParseFormat returns the format of that name, in any case, or of an alias; Auto for "" and "auto". A text with "$" or
// "%" is a pattern of lines, as in nginx's log_format and Apache's LogFormat. The error is an ErrFormat with the names
// there are, or an ErrPattern.
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

// New returns a Parser for a format. The error is an ErrNoField if the format cannot have one of
// the fields, and an ErrFormat if no Parser reads the format.
func New(f Format, opt Options) (Parser, error) {
	if len(f.info().patterns) > 0 {
		return newLines(f.info(), opt)
	}
	if parser := f.info().parser; parser != nil {
		return parser(opt)
	}
	return nil, fmt.Errorf("%w %s", ErrFormat, f)
}
