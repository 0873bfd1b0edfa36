package output

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// A Format is a container for the table.
type Format uint8

// The formats.
const (
	Parquet     Format = iota // columns compressed by zstd; ".parquet"
	ArrowFile                 // Arrow IPC file, not compressed; ".arrow"
	ArrowStream               // Arrow IPC stream, not compressed; ".arrows"
	numFormats  = int(iota)
)

// extensions are the ends of the names, by Format.
var extensions = [numFormats]string{".parquet", ".arrow", ".arrows"}

// ErrFormat is the kind of the error of FormatOf.
var ErrFormat = errors.New("unknown output format")

// String returns the end of the names of the format's files: ".parquet".
func (f Format) String() string {
	if int(f) >= numFormats {
		return "no format"
	}
	return extensions[f]
}

// FormatOf returns the format that the name of an output asks for: by its end, or an ArrowStream for "-", standard
// output. The error is ErrFormat, with the ends there are.
func FormatOf(name string) (Format, error) {
	if name == "-" {
		return ArrowStream, nil
	}
	ext := filepath.Ext(name)
	for f, known := range extensions {
		if strings.EqualFold(ext, known) {
			return Format(f), nil
		}
	}
	return 0, fmt.Errorf("%w of %s: its name must end in .parquet, .arrow (Arrow IPC file) or .arrows (Arrow IPC stream), or be - for an Arrow stream on standard output",
		ErrFormat, name)
}

// PartialName returns the name under which the rows before a fault are kept: "a.partial.parquet" for "a.parquet".
func PartialName(name string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + ".partial" + ext
}
