package container

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/internal/fieldtext"
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
			return 0, fmt.Errorf("%w of %s: %s packs its columns itself, as compression says: name it %s", ErrFormat, name, f, stem)
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
		return 0, fmt.Errorf("%s does not go with the name %s: end it in %s, or let its end alone say the format", f.Name(), name, f)
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
