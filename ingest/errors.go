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

// Faults in the data of a log. They come inside a [*LineError].
var (
	ErrFormat    = unpack.ErrFormat    // it is of a format that is not read
	ErrTruncated = unpack.ErrTruncated // its compressed data ends too early
	ErrDamaged   = unpack.ErrDamaged   // its compressed data cannot be unpacked
	ErrShorter   = unpack.ErrShorter   // its file became shorter while it was read
	ErrJoined    = unpack.ErrJoined    // it is a text, and a packed file follows in it
	ErrParquet   = errors.New("the Parquet file cannot be read")

	// ErrPipedWARC is the ErrFormat of a WARC file that would be read as text. Name the file, and
	// set LogOptions.Format.
	ErrPipedWARC = fmt.Errorf("a WARC file in a pipe, or packed and without .warc in its name, is %w", ErrFormat)
)

// A PackingError is the ErrFormat of a log that is packed in a way that is not read. Its Tool is
// the command that unpacks it: "xz -dc".
type PackingError = unpack.PackingError

// A ForeignError is the ErrFormat of a text that is not a log of any format, nor a list of URLs.
type ForeignError struct {
	Kind  Foreign
	First string // its first line
}

// A Foreign is the kind of such a text, in words.
type Foreign = weblog.Foreign

// ForeignXML is the kind of sitemaps and pages.
const ForeignXML = weblog.ForeignXML

// A ShapeError says that no format is known that has the lines of a log. Its Pattern is one to start from.
type ShapeError = weblog.ShapeError

// Error names the kind, and has the start of the first line.
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

// Faults of a log that lacks something asked of it. They come inside a [*LineError], or from
// [OpenLogs].
var (
	ErrNoBase      = weblog.ErrNoBase      // it has paths only, and Fields.Base is not set
	ErrNoField     = weblog.ErrNoField     // a field that was named
	ErrNoURL       = weblog.ErrNoURL       // a field for the URL that is known
	ErrNoAgents    = weblog.ErrNoAgents    // a field for the User-Agent, with Fields.Need
	ErrNoClients   = weblog.ErrNoClients   // a field for the client's address, with Fields.Clients
	ErrManyClients = weblog.ErrManyClients // one address in that field, with Fields.Clients
	ErrURLList     = errors.New("a list of URLs has no fields")

	ErrManyURLs  = weblog.ErrManyURLs  // a field for the URL, as several hold URLs
	ErrNoHeader  = weblog.ErrNoHeader  // a header, which a table needs
	ErrNativeIIS = weblog.ErrNativeIIS // the same, as its format is that of IIS itself
	ErrSeparator = weblog.ErrSeparator // the separator of its format
	ErrNotFormat = errors.New("no line has the format in -format")
	ErrLongLines = fmt.Errorf("no line can be read, because lines are longer than %d KiB", MaxLine>>10)
	ErrJSONText  = errors.New("the log is one JSON text over several lines, or a JSON array, instead of one object per line")
	ErrWrapped   = errors.New("the lines are JSON objects with the log line in the field log, as Docker writes them")
	ErrNoFields  = errors.New("the lines look like the W3C format of IIS and CloudFront, but the line #Fields with the field names is missing")
	ErrLineEnds  = errors.New("the whole log is one line, because its lines end in CR, as on old Macs")
)

// Faults in the names of logs. All but ErrNoInput come inside a [*NameError].
var (
	ErrNoInput    = errors.New("no input: name a log, or - for standard input")
	errStdinTwice = errors.New("can be read only once")
	errDirectory  = errors.New("is a directory")
	errNoMatch    = logfiles.ErrNoMatch
)

// A NameError says that a file or pattern cannot be used as it was given: its Name, the fault
// as Err, which Unwrap returns, and the advice as Remedy, which may be empty.
type NameError = fault.NameError

// A LineError is a fault in the middle of a log. The rows before it were yielded. Lines are records
// in a WARC file.
type LineError struct {
	Name   string // the log, "-" for standard input
	Line   int64  // 1-based line, after decompression, that the fault cut off or kept from starting
	Offset int64  // bytes of decompressed text before the fault

	// Unverified is the first line of the rows before the fault that nothing has verified: the
	// checksum of the zstd frame or gzip member that they are of was not reached, or is wrong, or
	// there is none. A fault in compressed data may change lines long before it shows. In a Parquet
	// file it is 1 if a page has no checksum. It is 0 if all rows are verified, or the log is a text
	// that is not compressed.
	Unverified int64

	Err error // ErrTruncated and kin or an error of the operating system, with the remedy
}

// Error names the log, the place, the fault and the remedy.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s: line %d (byte %d of the text): %v", fault.Display(e.Name), e.Line, e.Offset, e.Err)
}

// Unwrap returns the fault.
func (e *LineError) Unwrap() error { return e.Err }
