package ingest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/ingest/logfiles"
)

// Faults in the data of a log, wrapped in a [*LineError].
var (
	ErrFormat    = unpack.ErrFormat    // the format is not supported
	ErrTruncated = unpack.ErrTruncated // compressed data ends too early
	ErrDamaged   = unpack.ErrDamaged   // compressed data is corrupt
	ErrShorter   = unpack.ErrShorter   // the file was truncated during reading
	ErrJoined    = unpack.ErrJoined    // a text is followed by a packed file
	ErrParquet   = errors.New("the Parquet file cannot be read")

	// ErrPipedWARC is the ErrFormat of a WARC file that would be read as text. Remedy: name the file, and set
	// LogOptions.Format.
	ErrPipedWARC = fmt.Errorf("a WARC file in a pipe, or packed and without .warc in its name, is %w", ErrFormat)
)

// A PackingError is the ErrFormat of a log with unsupported packing. Its Tool is the command that unpacks it: "xz -dc".
type PackingError = unpack.PackingError

// A ForeignError is the ErrFormat of a text that is neither a log in a known format nor a list of URLs.
type ForeignError struct {
	Kind  Foreign
	First string // first line of the text
}

// A Foreign describes the kind of such a text.
type Foreign = weblog.Foreign

// ForeignXML is the kind of sitemaps and web pages.
const ForeignXML = weblog.ForeignXML

// A ShapeError means that the lines of a log match no known format. Its Pattern is a pattern to start from.
type ShapeError = weblog.ShapeError

// Error names the kind, and quotes the start of the first line.
func (e *ForeignError) Error() string {
	const most = 100
	first := e.First
	if len(first) > most {
		first = strings.ToValidUTF8(first[:most], "") + "…"
	}
	return fmt.Sprintf("%s is %v; it begins with %q", e.Kind, ErrFormat, first)
}

// Unwrap returns ErrFormat.
func (e *ForeignError) Unwrap() error { return ErrFormat }

// Faults of a log that lacks something requested. They are wrapped in a [*LineError], or come from [OpenLogs].
var (
	ErrNoBase      = weblog.ErrNoBase      // only paths, and Fields.Base is not set
	ErrNoField     = weblog.ErrNoField     // a named field is missing
	ErrNoURL       = weblog.ErrNoURL       // no known field for the URL
	ErrNoAgents    = weblog.ErrNoAgents    // no field for the User-Agent, with Fields.Need
	ErrNoClients   = weblog.ErrNoClients   // no field for the client address, with Fields.Clients
	ErrManyClients = weblog.ErrManyClients // several addresses in that field, with Fields.Clients
	ErrURLList     = errors.New("a list of URLs has no fields")

	ErrManyURLs  = weblog.ErrManyURLs  // several fields hold URLs
	ErrNoHeader  = weblog.ErrNoHeader  // a table without a header row
	ErrNativeIIS = weblog.ErrNativeIIS // the same, in the native format of IIS
	ErrSeparator = weblog.ErrSeparator // the separator of the format is missing
	ErrNotFormat = errors.New("no line has the format in -format")
	ErrLongLines = fmt.Errorf("no line can be read, because lines are longer than %d KiB", MaxLine>>10)
	ErrJSONText  = errors.New("the log is one JSON text over several lines, or a JSON array, instead of one object per line")
	ErrWrapped   = errors.New("the lines are JSON objects with the log line in the field log, as Docker writes them")
	ErrNoFields  = errors.New("the lines look like the W3C format of IIS and CloudFront, but the line #Fields with the field names is missing")
	ErrLineEnds  = errors.New("the whole log is one line, because its lines end in CR, as on old Macs")
)

// Faults in the names of logs. All except ErrNoInput are wrapped in a [*NameError].
var (
	ErrNoInput    = errors.New("no input: name a log, or - for standard input")
	errStdinTwice = errors.New("can be read only once")
	errDirectory  = errors.New("is a directory")
	errNoMatch    = logfiles.ErrNoMatch
)

// A NameError means that a file or pattern cannot be used as given. It has the Name, the fault as Err, which Unwrap
// returns, and advice as Remedy, which may be empty.
type NameError = fault.NameError

// A LineError is a fault in the middle of a log. The rows before it were yielded. In a WARC file, lines are records.
type LineError struct {
	Name   string // the log, "-" for standard input
	Line   int64  // 1-based line, after decompression, that is cut off or missing because of the fault
	Offset int64  // bytes of decompressed text before the fault

	// Unverified is the first unverified line among the rows before the fault: the checksum of its zstd frame or gzip
	// member was not reached, is wrong, or is missing. A fault in compressed data may alter lines long before it is
	// detected. In a Parquet file it is 1 if a page has no checksum. It is 0 if all rows are verified, or the log is an
	// uncompressed text.
	Unverified int64

	Err error // ErrTruncated, a similar error or one of the operating system, with the remedy
}

// Error names the log, the place, the fault and the remedy.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s: line %d (byte %d of the text): %v", fault.Display(e.Name), e.Line, e.Offset, e.Err)
}

// Unwrap returns the fault.
func (e *LineError) Unwrap() error { return e.Err }
