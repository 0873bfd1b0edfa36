package output

import "github.com/robobatch/robobatch/output/internal/container"

// A Format is a container for the table.
type Format = container.Format

// The formats.
const (
	Parquet     = container.Parquet     // columns compressed by zstd; ".parquet"
	ArrowFile   = container.ArrowFile   // Arrow IPC file, not compressed; ".arrow"
	ArrowStream = container.ArrowStream // Arrow IPC stream, not compressed; ".arrows"
	CSV         = container.CSV         // comma-separated values under a header line; ".csv"
	CSVZstd     = container.CSVZstd     // the same, compressed; ".csv.zst"
	CSVGzip     = container.CSVGzip     // ".csv.gz"
	JSONL       = container.JSONL       // a JSON object a line; ".jsonl"
	JSONLZstd   = container.JSONLZstd   // the same, compressed; ".jsonl.zst"
	JSONLGzip   = container.JSONLGzip   // ".jsonl.gz"
	TSV         = container.TSV         // CSV with tabs in place of commas; ".tsv"
	TSVZstd     = container.TSVZstd     // the same, compressed; ".tsv.zst"
	TSVGzip     = container.TSVGzip     // ".tsv.gz"
)

// The kinds of the errors about formats.
var (
	ErrFormat   = container.ErrFormat   // the choice of a format
	ErrNoFormat = container.ErrNoFormat // the ErrFormat of a name that says no format
	ErrLevel    = container.ErrLevel
	ErrRowGroup = container.ErrRowGroup
	ErrCSV      = container.ErrCSV // a CSVForm

	// ErrDictMemory is the kind of the error of an Arrow file whose dictionaries take more than
	// [Options].DictMemory.
	ErrDictMemory = container.ErrDictMemory
)

// FormatNames returns the names of the formats: "parquet", "csv.zst".
func FormatNames() []string { return container.FormatNames() }

// FormatOf returns the format that the name of an output asks for: by its end, or an ArrowStream
// for "-", standard output. The error is ErrFormat, with the ends there are.
func FormatOf(name string) (Format, error) { return container.FormatOf(name) }

// ChooseFormat returns the format of an output, from its name, which may tell, and from a name of
// a format, "" for none: that decides where the name of the output does not, as "-" and "" do not.
// Without either it is Parquet. The error is ErrFormat, or tells that the two contradict each
// other.
func ChooseFormat(name, format string) (Format, error) { return container.ChooseFormat(name, format) }

// A Compression says how columns are packed. Zero is the format's own: zstd for Parquet, none for
// Arrow.
type Compression = container.Compression

// The compressions.
const (
	DefaultCompression = container.DefaultCompression
	NoCompression      = container.NoCompression
	Zstd               = container.Zstd
	Snappy             = container.Snappy // Parquet only
	Gzip               = container.Gzip   // Parquet only
	LZ4                = container.LZ4    // Arrow only
)

// Compressions returns the names that ParseCompression takes.
func Compressions() []string { return container.Compressions() }

// ParseCompression returns the compression of that name, DefaultCompression for "". The error says
// which names there are.
func ParseCompression(name string) (Compression, error) { return container.ParseCompression(name) }

// A CSVForm is how CSV is written for programs that do not read it as it usually is. The zero value
// is the usual form.
type CSVForm = container.CSVForm

// CSVForms returns the words that ParseCSV takes.
func CSVForms() []string { return container.CSVForms() }

// ParseCSV returns the form of these words, which commas separate; a separator may also be written itself. The error is ErrCSV.
func ParseCSV(list string) (CSVForm, error) { return container.ParseCSV(list) }

// Formulas are the cells of CSV that spreadsheets would run. They are not counted in another format,
// and where they are written so that they are safe.
type Formulas = container.Formulas

// The names of the key-value metadata that programs set.
const (
	KeyVersion = container.KeyVersion // of the program; NewWriter sets it from Options
	KeyDialect = container.KeyDialect // NewWriter sets it
	KeyInputs  = container.KeyInputs  // JSON array; NewWriter sets the names, a program names and sizes
	KeyCounts  = container.KeyCounts  // JSON object; a program sets it at the end
)
