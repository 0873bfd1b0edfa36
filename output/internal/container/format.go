package container

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/parquet"
)

// A Format is a container for the table.
type Format uint8

// The formats.
const (
	Parquet     Format = iota // columns compressed by zstd; ".parquet"
	ArrowFile                 // Arrow IPC file, not compressed; ".arrow"
	ArrowStream               // Arrow IPC stream, not compressed; ".arrows"
	CSV                       // comma-separated values under a header line; ".csv"
	CSVZstd                   // the same, compressed; ".csv.zst"
	CSVGzip                   // ".csv.gz"
	JSONL                     // a JSON object a line; ".jsonl"
	JSONLZstd                 // the same, compressed; ".jsonl.zst"
	JSONLGzip                 // ".jsonl.gz"
	TSV                       // CSV with tabs in place of commas; ".tsv"
	TSVZstd                   // the same, compressed; ".tsv.zst"
	TSVGzip                   // ".tsv.gz"
	NumFormats  = int(iota)
)

// A formatSpec has the known facts of a format.
type formatSpec struct {
	Name    string            // as flags have it; behind a dot, it is the end of the names of files
	Syntax  *fieldtext.Syntax // of lines of text; nil for other containers
	Packing fieldtext.Packing // of lines of text
}

// Specs are the formats: the only place that knows them all.
var Specs = [NumFormats]formatSpec{
	Parquet:     {Name: "parquet"},
	ArrowFile:   {Name: "arrow"},
	ArrowStream: {Name: "arrows"},
	CSV:         {Name: "csv", Syntax: &fieldtext.CSV},
	CSVZstd:     {Name: "csv.zst", Syntax: &fieldtext.CSV, Packing: fieldtext.Zstd},
	CSVGzip:     {Name: "csv.gz", Syntax: &fieldtext.CSV, Packing: fieldtext.Gzip},
	JSONL:       {Name: "jsonl", Syntax: &fieldtext.JSON},
	JSONLZstd:   {Name: "jsonl.zst", Syntax: &fieldtext.JSON, Packing: fieldtext.Zstd},
	JSONLGzip:   {Name: "jsonl.gz", Syntax: &fieldtext.JSON, Packing: fieldtext.Gzip},
	TSV:         {Name: "tsv", Syntax: &fieldtext.TSV},
	TSVZstd:     {Name: "tsv.zst", Syntax: &fieldtext.TSV, Packing: fieldtext.Zstd},
	TSVGzip:     {Name: "tsv.gz", Syntax: &fieldtext.TSV, Packing: fieldtext.Gzip},
}

// packedEnds are ends of names that say how a file is packed, and not its content.
var packedEnds = []string{".zst", ".gz"}

// ErrFormat is the kind of the errors about the choice of a format.
var ErrFormat = errors.New("unknown output format")

// ErrNoFormat is the ErrFormat of a name that says no format.
var ErrNoFormat = fmt.Errorf("%w", ErrFormat)

// String returns the end of the names of the format's files: ".parquet", ".csv.zst".
func (f Format) String() string { return "." + Specs[f].Name }

// Name returns the format as ParseFormat reads it: "parquet", "csv.zst".
func (f Format) Name() string { return Specs[f].Name }

// Readable reports whether the format is text as it stands, for people and terminals: neither
// binary nor packed.
func (f Format) Readable() bool {
	return Specs[f].Syntax != nil && Specs[f].Packing == fieldtext.NotPacked
}

// Whole reports whether the format counts places from the start of the file, so that no other bytes
// may come before it.
func (f Format) Whole() bool { return f == Parquet || f == ArrowFile }

// ErrNotWhole is the error of such a format behind other bytes.
var ErrNotWhole = errors.New("it has other bytes already, and this format must be all that is in a file: " +
	"use arrows, csv or jsonl, or name a file of its own")

// isCSV reports whether the format is CSV, with commas or tabs.
func (f Format) isCSV() bool { return Specs[f].Syntax != nil && Specs[f].Syntax.Header }

// HasMetadata reports whether the format has a place for metadata: all have but CSV and JSON Lines.
func (f Format) HasMetadata() bool { return Specs[f].Syntax == nil }

// FormatNames returns the names that ParseFormat reads.
func FormatNames() []string {
	names := make([]string, NumFormats)
	for f, s := range Specs {
		names[f] = s.Name
	}
	return names
}

// ParseFormat returns the format of that Name. The error is ErrFormat, with the names there are.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(FormatNames(), name); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("%w %q: use one of %s", ErrFormat, name, strings.Join(FormatNames(), ", "))
}

// FormatOf returns the format that the name of an output asks for: by its end, or an ArrowStream
// for "-", standard output. The error is ErrFormat, with the ends there are.
func FormatOf(name string) (Format, error) {
	if name == "-" {
		return ArrowStream, nil
	}
	if f, _, ok := cutFormat(name); ok {
		return f, nil
	}
	if stem := strings.TrimSuffix(name, filepath.Ext(name)); slices.Contains(packedEnds, strings.ToLower(filepath.Ext(name))) {
		if f, _, ok := cutFormat(stem); ok && f.HasMetadata() {
			return 0, fmt.Errorf("%w of %s: %s compresses its columns itself: name it %s", ErrFormat, name, f, stem)
		}
	}
	return 0, fmt.Errorf("%w of %s: its name must end in .parquet, .arrow (Arrow IPC file), .arrows (Arrow IPC stream), .csv, .tsv or .jsonl "+
		"(these also with .zst or .gz), or be - for standard output", ErrNoFormat, name)
}

// ChooseFormat returns the format of an output, from its name, which may tell, and from a name of
// a format, "" for none: that decides where the name of the output does not, as "-" and "" do not.
// Without either it is Parquet. The error is ErrFormat, or tells that the two contradict each
// other.
func ChooseFormat(name, format string) (Format, error) {
	if format == "" && name == "" {
		return Parquet, nil
	}
	if format == "" {
		return FormatOf(name)
	}
	f, err := ParseFormat(format)
	if err != nil {
		return 0, err
	}
	said, _, ok := cutFormat(name)
	ext := strings.ToLower(filepath.Ext(name))
	if ok && said != f || !ok && slices.Contains(packedEnds, ext) && !strings.HasSuffix(f.String(), ext) {
		return 0, fmt.Errorf("%s does not match the name %s: end it in %s, or let the name determine the format", f.Name(), name, f)
	}
	return f, nil
}

// cutFormat returns the format that the end of a name says, if it says one, and the name without
// that end.
func cutFormat(name string) (f Format, stem string, ok bool) {
	for f, s := range Specs {
		if at := len(name) - len(s.Name) - 1; at >= 0 && strings.EqualFold(name[at:], "."+s.Name) {
			return Format(f), name[:at], true
		}
	}
	return 0, name, false
}

// PartialName returns the name under which the rows before a fault are kept: "a.partial.parquet" for
// "a.parquet", "a.partial.csv.zst" for "a.csv.zst".
func PartialName(name string) string {
	_, stem, ok := cutFormat(name)
	if !ok {
		stem = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return stem + ".partial" + name[len(stem):]
}

// A Compression says how columns are packed.
type Compression uint8

// The compressions.
const (
	DefaultCompression Compression = iota // of the format: Zstd for Parquet, NoCompression for Arrow
	NoCompression
	Zstd
	Snappy          // Parquet only
	Gzip            // Parquet only
	LZ4             // Arrow only
	numCompressions = int(iota)
)

// compressionNames are the names of the compressions.
var compressionNames = [numCompressions]string{"default", "none", "zstd", "snappy", "gzip", "lz4"}

// The kinds of the errors about the demands of [Options] on a format.
var (
	ErrCompression = errors.New("no such compression")
	ErrLevel       = errors.New("no such level")
	ErrRowGroup    = errors.New("no row groups")
)

// String returns the name: "zstd".
func (c Compression) String() string { return compressionNames[c] }

// Compressions returns the names that ParseCompression takes.
func Compressions() []string { return compressionNames[NoCompression:] }

// ParseCompression returns the compression of that name, DefaultCompression for "". The error is
// ErrCompression.
func ParseCompression(name string) (Compression, error) {
	if name == "" {
		return DefaultCompression, nil
	}
	for c := NoCompression; int(c) < numCompressions; c++ {
		if c.String() == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("%w as %q: use one of %s", ErrCompression, name, strings.Join(Compressions(), ", "))
}

// CompressionsOf are the compressions of the formats that have any, the default first.
var CompressionsOf = map[Format][]Compression{
	Parquet:     {Zstd, NoCompression, Snappy, Gzip},
	ArrowFile:   {NoCompression, Zstd, LZ4},
	ArrowStream: {NoCompression, Zstd, LZ4},
}

// MaxLevels are the highest levels of the compressions that have levels, in Parquet.
var MaxLevels = [numCompressions]int{Zstd: 22, Gzip: 9}

// choose returns the compression to use for f, and the level, where it has any. The errors are
// ErrCompression and ErrLevel.
func (c Compression) choose(f Format, level int) (Compression, int, error) {
	known, ok := CompressionsOf[f]
	switch {
	case !ok && c != DefaultCompression:
		return 0, 0, fmt.Errorf("%w in %s: only .parquet, .arrow and .arrows have compressed columns", ErrCompression, f)
	case !ok && level != 0:
		return 0, 0, fmt.Errorf("%w in %s: levels are for .parquet", ErrLevel, f)
	case !ok:
		return NoCompression, 0, nil
	}
	if c = cmp.Or(c, known[0]); !slices.Contains(known, c) {
		var sb strings.Builder
		for i, c := range known {
			switch {
			case i > 0 && i == len(known)-1:
				sb.WriteString(" or ")
			case i > 0:
				sb.WriteString(", ")
			}
			sb.WriteString(c.String())
		}
		return 0, 0, fmt.Errorf("%w as %s in %s: use %s", ErrCompression, c, f, sb.String())
	}
	switch most := MaxLevels[c]; {
	case level == 0:
	case f != Parquet:
		return 0, 0, fmt.Errorf("%w in %s: levels are for .parquet", ErrLevel, f)
	case most == 0:
		return 0, 0, fmt.Errorf("%w as %d for %s, which has no levels: zstd has 1 to %d, gzip 1 to %d", ErrLevel, level, c, MaxLevels[Zstd], MaxLevels[Gzip])
	case level < 1 || level > most:
		return 0, 0, fmt.Errorf("%w as %d: %s has levels 1 to %d", ErrLevel, level, c, most)
	}
	if level == 0 {
		level = defaultLevels[c]
	}
	return c, level, nil
}

// defaultLevels are the levels that are taken where none is asked for.
var defaultLevels = [numCompressions]int{Zstd: 1, Gzip: 6}

// parquetCodecs are the compressions that Parquet has.
var parquetCodecs = [numCompressions]parquet.Codec{
	NoCompression: parquet.Uncompressed, Zstd: parquet.Zstd, Snappy: parquet.Snappy, Gzip: parquet.Gzip,
}

// A CSVForm is how CSV is written for programs that do not read it as it usually is. The zero value
// is the usual form.
type CSVForm struct {
	Separator byte // between fields: one of ,;|\t; 0 is the format's own
	BOM       bool // a byte order mark comes first, so that Excel knows UTF-8
	Safe      bool // texts that spreadsheets would run as formulas have an apostrophe before them
}

// ErrCSV is the kind of the errors about a CSVForm.
var ErrCSV = errors.New("no such form")

// A separator is one of fields, and its name.
type separator struct {
	name string
	is   byte
}

// separators are all of them.
var separators = []separator{{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"bar", '|'}}

// CSVForms returns the words that ParseCSV takes.
func CSVForms() []string {
	names := append(make([]string, 0, 2+len(separators)), "safe", "bom")
	for _, s := range separators {
		names = append(names, s.name)
	}
	return names
}

// ParseCSV returns the form of these words, which commas separate; a separator may also be written itself. The error is ErrCSV.
func ParseCSV(list string) (c CSVForm, err error) {
	switch list {
	case "":
		return c, nil
	case ",":
		list = "comma"
	}
	for word := range strings.SplitSeq(list, ",") {
		word = strings.Trim(word, " ")
		i := slices.IndexFunc(separators, func(s separator) bool {
			return word == s.name || word == string(s.is) || word == `\t` && s.is == '\t'
		})
		switch {
		case word == "safe":
			c.Safe = true
		case word == "bom":
			c.BOM = true
		case i >= 0 && c.Separator != 0:
			err = errors.Join(err, fmt.Errorf("%w of CSV: two separators: use one", ErrCSV))
		case i >= 0:
			c.Separator = separators[i].is
		default:
			err = errors.Join(err, fmt.Errorf("%w of CSV as %q: use one of %s", ErrCSV, word, strings.Join(CSVForms(), ", ")))
		}
	}
	return c, err
}

// check returns an ErrCSV if the format does not have that form.
func (c CSVForm) check(f Format) error {
	switch isTSV := f.isCSV() && Specs[f].Syntax == &fieldtext.TSV; {
	case c == CSVForm{}:
	case !f.isCSV():
		return fmt.Errorf("%w of %s: only .csv and .tsv have separators, byte order marks and safe cells", ErrCSV, f)
	case c.Separator != 0 && isTSV && c.Separator != '\t':
		return fmt.Errorf("%w of %s: its separator is the tab; for another one, use .csv", ErrCSV, f)
	}
	return nil
}

// Begin returns the syntax of the lines of a format in that form, and the bytes that come first. Formats that do not have
// the form are as they are.
func (c CSVForm) Begin(f Format) (syntax *fieldtext.Syntax, head string) {
	syntax = Specs[f].Syntax
	if !f.isCSV() {
		return syntax, ""
	}
	if c.BOM {
		head = ByteOrderMark
	}
	if c.Separator == 0 && !c.Safe {
		return syntax, head
	}
	separator := cmp.Or(c.Separator, ',')
	if syntax == &fieldtext.TSV {
		separator = '\t'
	}
	s := fieldtext.Separated(separator, c.Safe)
	return &s, head
}

// ByteOrderMark is U+FEFF in UTF-8.
const ByteOrderMark = "\ufeff"

// MaxFormulas is how many cells are kept as examples.
const MaxFormulas = 3

// Formulas are the cells of CSV that spreadsheets would run, as fieldtext.IsFormula says. They are
// not counted in another format, and where they are written so that they are safe.
type Formulas struct {
	Cells int64
	First []string // up to 3 of them
}

// Add adds the formulas of rows that follow.
func (f *Formulas) Add(more Formulas) {
	f.Cells += more.Cells
	f.First = append(f.First, more.First[:min(len(more.First), MaxFormulas-len(f.First))]...)
}

// See counts a text that is one.
func (f *Formulas) See(text []byte) {
	f.Cells++
	if len(f.First) < MaxFormulas {
		f.First = append(f.First, string(text))
	}
}
