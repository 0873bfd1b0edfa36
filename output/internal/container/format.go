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
	JSONL                     // one JSON object per line; ".jsonl"
	JSONLZstd                 // the same, compressed; ".jsonl.zst"
	JSONLGzip                 // ".jsonl.gz"
	TSV                       // CSV with tabs instead of commas; ".tsv"
	TSVZstd                   // the same, compressed; ".tsv.zst"
	TSVGzip                   // ".tsv.gz"
	NumFormats  = int(iota)
)

// A formatSpec describes a format.
type formatSpec struct {
	Name    string            // value of flags, and the extension of file names
	Syntax  *fieldtext.Syntax // of text formats; nil for others
	Packing fieldtext.Packing // compression of text formats
}

// Specs describes all formats.
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

// packedEnds are file extensions of compressed files.
var packedEnds = []string{".zst", ".gz"}

// ErrFormat is the kind of errors about the choice of a format.
var ErrFormat = errors.New("unknown output format")

// ErrNoFormat is the ErrFormat for a file name without a known extension.
var ErrNoFormat = fmt.Errorf("%w", ErrFormat)

// String returns the file extension of the format: ".parquet", ".csv.zst".
func (f Format) String() string { return "." + Specs[f].Name }

// Name returns the name of the format for ParseFormat: "parquet", "csv.zst".
func (f Format) Name() string { return Specs[f].Name }

// Readable reports whether the format is uncompressed text.
func (f Format) Readable() bool {
	return Specs[f].Syntax != nil && Specs[f].Packing == fieldtext.NotPacked
}

// Whole reports whether the format contains offsets from the start of the file, so that no other data may precede it.
func (f Format) Whole() bool { return f == Parquet || f == ArrowFile }

// ErrNotWhole is the error for such a format after other data.
var ErrNotWhole = errors.New("it already has data, and this format cannot be appended to other data: " +
	"use arrows, csv or jsonl, or name a new file")

// isCSV reports whether the format is CSV or TSV.
func (f Format) isCSV() bool { return Specs[f].Syntax != nil && Specs[f].Syntax.Header }

// HasMetadata reports whether files of the format have key-value metadata, as Parquet and Arrow do.
func (f Format) HasMetadata() bool { return Specs[f].Syntax == nil }

// FormatNames returns the names that ParseFormat accepts.
func FormatNames() []string {
	names := make([]string, NumFormats)
	for f, s := range Specs {
		names[f] = s.Name
	}
	return names
}

// ParseFormat returns the format of that Name. The error is ErrFormat, and lists the names.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(FormatNames(), name); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("%w %q: use one of %s", ErrFormat, name, strings.Join(FormatNames(), ", "))
}

// FormatOf returns the format for the name of an output by its extension; ArrowStream for "-" (standard output). The
// error is ErrFormat, and lists the extensions.
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

// ChooseFormat returns the named format for the output of that name; if format is "", it returns the format by the
// extension of the name, and Parquet if the name is "" as well. The error is ErrFormat, or says that the two
// contradict each other.
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

// cutFormat returns the format by the extension of a name, in any case, and the name without the extension. If the
// extension is unknown, ok is false, and stem is the name.
func cutFormat(name string) (f Format, stem string, ok bool) {
	for f, s := range Specs {
		if at := len(name) - len(s.Name) - 1; at >= 0 && strings.EqualFold(name[at:], "."+s.Name) {
			return Format(f), name[:at], true
		}
	}
	return 0, name, false
}

// PartialName returns the name for the rows written before an input failed: "a.partial.parquet" for "a.parquet",
// "a.partial.csv.zst" for "a.csv.zst".
func PartialName(name string) string {
	_, stem, ok := cutFormat(name)
	if !ok {
		stem = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return stem + ".partial" + name[len(stem):]
}

// A Compression is a compression of columns.
type Compression uint8

// The compressions.
const (
	DefaultCompression Compression = iota // Zstd for Parquet, NoCompression for Arrow
	NoCompression
	Zstd
	Snappy          // Parquet only
	Gzip            // Parquet only
	LZ4             // Arrow only
	numCompressions = int(iota)
)

// compressionNames are the names of the compressions.
var compressionNames = [numCompressions]string{"default", "none", "zstd", "snappy", "gzip", "lz4"}

// The kinds of errors about [Options] that a format does not support.
var (
	ErrCompression = errors.New("unsupported compression")
	ErrLevel       = errors.New("unsupported level")
	ErrRowGroup    = errors.New("unsupported row group size")
)

// String returns the name: "zstd".
func (c Compression) String() string { return compressionNames[c] }

// Compressions returns the names that ParseCompression accepts.
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
	return 0, fmt.Errorf("%w %q: use one of %s", ErrCompression, name, strings.Join(Compressions(), ", "))
}

// CompressionsOf has the compressions of each format with compressed columns, the default first.
var CompressionsOf = map[Format][]Compression{
	Parquet:     {Zstd, NoCompression, Snappy, Gzip},
	ArrowFile:   {NoCompression, Zstd, LZ4},
	ArrowStream: {NoCompression, Zstd, LZ4},
}

// The highest and the default levels of the compressions in Parquet; 0 for those without levels.
var (
	MaxLevels     = [numCompressions]int{Zstd: 22, Gzip: 9}
	defaultLevels = [numCompressions]int{Zstd: 1, Gzip: 6}
)

// chooseFor returns the compression and the level to use for f, with defaults for DefaultCompression and for level 0.
// The level is 0 if the compression has none. The errors are ErrCompression and ErrLevel.
func (c Compression) chooseFor(f Format, level int) (Compression, int, error) {
	known, ok := CompressionsOf[f]
	switch {
	case !ok && c != DefaultCompression:
		return 0, 0, fmt.Errorf("%w for %s: only .parquet, .arrow and .arrows have compressed columns", ErrCompression, f)
	case level != 0 && f != Parquet:
		return 0, 0, fmt.Errorf("%w for %s: levels are for .parquet", ErrLevel, f)
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
		return 0, 0, fmt.Errorf("%w %s for %s: use %s", ErrCompression, c, f, sb.String())
	}
	switch most := MaxLevels[c]; {
	case level == 0:
		level = defaultLevels[c]
	case most == 0:
		return 0, 0, fmt.Errorf("%w %d: %s has no levels, zstd has 1 to %d, gzip 1 to %d", ErrLevel, level, c, MaxLevels[Zstd], MaxLevels[Gzip])
	case level < 1 || level > most:
		return 0, 0, fmt.Errorf("%w %d: %s has levels 1 to %d", ErrLevel, level, c, most)
	}
	return c, level, nil
}

// parquetCodecs maps compressions to Parquet codecs.
var parquetCodecs = [numCompressions]parquet.Codec{
	NoCompression: parquet.Uncompressed, Zstd: parquet.Zstd, Snappy: parquet.Snappy, Gzip: parquet.Gzip,
}

// A CSVForm is a variant of CSV for programs that cannot read the usual form, which is the zero value.
type CSVForm struct {
	Separator byte // between fields: one of ,;|\t; 0 means that of the format
	BOM       bool // start with a byte order mark, by which Excel recognises UTF-8
	Safe      bool // put an apostrophe before texts that spreadsheets would run as formulas
}

// ErrCSV is the kind of errors about a CSVForm.
var ErrCSV = errors.New("unsupported CSV option")

// separators are the field separators, with their names.
var separators = []struct {
	name string
	is   byte
}{{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"bar", '|'}}

// CSVForms returns the words that ParseCSV accepts.
func CSVForms() []string {
	names := append(make([]string, 0, 2+len(separators)), "safe", "bom")
	for _, s := range separators {
		names = append(names, s.name)
	}
	return names
}

// ParseCSV parses a comma-separated list of the words of CSVForms; "" gives the usual form. A separator may also be
// given as the character. The error is ErrCSV.
func ParseCSV(list string) (c CSVForm, err error) {
	switch list {
	case "":
		return c, nil
	case ",":
		list = "comma"
	}
	for word := range strings.SplitSeq(list, ",") {
		word = strings.Trim(word, " ")
		var separator byte
		for _, s := range separators {
			if word == s.name || word == string(s.is) || word == `\t` && s.is == '\t' {
				separator = s.is
			}
		}
		switch {
		case word == "safe":
			c.Safe = true
		case word == "bom":
			c.BOM = true
		case separator == 0:
			err = errors.Join(err, fmt.Errorf("%w %q: use one of %s", ErrCSV, word, strings.Join(CSVForms(), ", ")))
		case c.Separator != 0:
			err = errors.Join(err, fmt.Errorf("%w: two separators: use one", ErrCSV))
		default:
			c.Separator = separator
		}
	}
	return c, err
}

// Begin returns the syntax of the lines in this form, and the first bytes of the file. It ignores the form for formats
// other than CSV and TSV.
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

// MaxFormulas is the maximum number of examples in Formulas.
const MaxFormulas = 3

// Formulas counts the CSV cells that spreadsheets would run as formulas, according to fieldtext.IsFormula. It stays
// empty in other formats, and with CSVForm.Safe, which escapes them.
type Formulas struct {
	Cells int64
	First []string // the first 3
}

// Add adds the formulas of later rows.
func (f *Formulas) Add(more Formulas) {
	f.Cells += more.Cells
	f.First = append(f.First, more.First[:min(len(more.First), MaxFormulas-len(f.First))]...)
}

// See counts a text that is a formula.
func (f *Formulas) See(text []byte) {
	f.Cells++
	if len(f.First) < MaxFormulas {
		f.First = append(f.First, string(text))
	}
}
