package partition

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/output/parquet"
)

const (
	// MarkerName is the name of the file that identifies a partitioned output and describes its content. Readers of
	// Hive layouts ignore names that begin with an underscore.
	MarkerName = "_robobatch.json"
	// markerTemp is the temporary name of the marker while it is written.
	markerTemp = "._robobatch.json.tmp"
	// MarkerKind distinguishes a marker from other JSON.
	MarkerKind = "partitioned output"
	// firstPart is the name, without extension, of the files of an output that is not merged into another.
	firstPart = "part-0"
	// maxEarlier is the maximum number of earlier runs in a marker; older ones are dropped.
	maxEarlier = 1000
)

// A Marker is the content of the file MarkerName. It embeds the record of the latest run.
type Marker struct {
	Robobatch   string   `json:"robobatch"` // MarkerKind
	PartitionBy []string `json:"partition_by"`
	Sort        string   `json:"sort"`
	Format      string   `json:"format"`
	Separator   string   `json:"csv_separator,omitempty"` // "" means that of the format
	Columns     []string `json:"columns,omitempty"`       // names and types; missing if an older version wrote it
	runRecord
	Earlier []runRecord `json:"earlier,omitempty"` // earlier runs, the oldest first
	Pending *pending    `json:"pending,omitempty"` // the run whose files are being moved into place
}

// A runRecord describes the output of one run.
type runRecord struct {
	Run        string            `json:"run,omitempty"`  // hash of the whole output, part of the file names; "" if they are part-0
	Mode       string            `json:"mode,omitempty"` // a Mode
	Partitions int64             `json:"partitions"`
	CutValues  int64             `json:"cut_values"` // partitions whose value is too long for a directory name, so that it was truncated
	Rows       int64             `json:"rows"`
	Metadata   map[string]string `json:"metadata"`
}

// A pending describes a run whose complete files are being moved from a directory beside the output.
type pending struct {
	runRecord
	From string `json:"from"` // name of that directory
	Hash string `json:"hash"` // value of Run before checkParts changed it
}

// typeNames are the names of column types in a marker.
var typeNames = [...]string{
	parquet.Int64: "int64", parquet.Int32: "int32", parquet.Bool: "bool", parquet.Text: "string", parquet.Dictionary: "string",
	parquet.Time: "time", parquet.Double: "float",
}

// newMarker returns the marker of an output with these options.
func (o Options) newMarker() Marker {
	m := Marker{Robobatch: MarkerKind, PartitionBy: o.By, Sort: o.Sort, Format: o.File.Format.String()}
	if o.File.CSV.Separator != 0 {
		m.Separator = string(o.File.CSV.Separator)
	}
	return m
}

// Text returns the content of the marker file.
func (m *Marker) Text() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// ReadMarker returns the marker of the output at path; nil if path does not exist or is an empty directory.
func ReadMarker(path string) (*Marker, error) {
	names, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, syscall.ENOTDIR):
		return nil, errNotDirectory
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, nil
	}
	var m Marker
	text, err := os.ReadFile(filepath.Join(path, MarkerName))
	if err != nil || json.Unmarshal(text, &m) != nil || m.Robobatch != MarkerKind {
		return nil, ErrForeign
	}
	return &m, nil
}

// Errors about a directory that cannot be used for the output.
var (
	ErrForeign      = errors.New("the directory has files that robobatch did not write: name another one, or remove it")
	errNotDirectory = errors.New("is a file, but a partitioned output is a directory: name another one")

	// ErrOutput: the directory already has an output, and the mode is [New].
	ErrOutput = errors.New("the directory already has an output")
	// ErrOther: the existing output has other columns, partitions or format, so the files would not be one table.
	ErrOther = errors.New("the directory has a different output")
	// ErrSameRun: the directory already has the rows that would be added.
	ErrSameRun = errors.New("the directory already has the same rows")
	// ErrStopped: an earlier run was stopped while it moved files into the directory, and the rest of its files are
	// missing.
	ErrStopped = errors.New("an earlier run was stopped while it moved files, and the rest of its files are missing")
)

// CheckTargets returns an error if a partitioned output cannot be written to name, or the rows before an input failed
// to partial.
func (o Options) CheckTargets(name, partial string) error {
	err := checkTree(partial)
	if err != nil {
		err = fmt.Errorf("%s, for rows written before an input fails: %w", partial, err)
	}
	return errors.Join(o.checkTarget(name), err)
}

// checkTarget returns an error if the content at path does not permit the mode: an ErrOutput in mode New, or because
// it has files that the run must not replace or add to. An empty or missing directory is permitted.
func (o Options) checkTarget(path string) error {
	m, err := ReadMarker(path)
	switch {
	case err != nil || m == nil:
		return err
	case o.Mode.Merges():
		want := o.newMarker()
		return m.CheckMerge(&want)
	case o.Mode == Replace:
		return checkTree(path)
	}
	return ErrOutput
}

// CheckMerge returns an ErrOther if files with the other marker cannot be added to the output. Columns are compared
// only if both markers have them.
func (m *Marker) CheckMerge(other *Marker) error {
	switch {
	case !slices.Equal(m.PartitionBy, other.PartitionBy):
		return fmt.Errorf("%w: it is partitioned by %s instead of %s", ErrOther, strings.Join(m.PartitionBy, ","), strings.Join(other.PartitionBy, ","))
	case m.Format != other.Format:
		return fmt.Errorf("%w: its files are %s instead of %s", ErrOther, m.Format, other.Format)
	case m.Separator != other.Separator:
		return fmt.Errorf("%w: its separator is %q instead of %q", ErrOther, m.Separator, other.Separator)
	case len(m.Columns) > 0 && len(other.Columns) > 0 && !slices.Equal(m.Columns, other.Columns):
		return fmt.Errorf("%w: its columns are %s instead of %s", ErrOther, strings.Join(m.Columns, ", "), strings.Join(other.Columns, ", "))
	}
	return nil
}

// checkTree returns an error if the content at path must not be replaced, which would remove it. It may be missing, an
// empty directory, or a partitioned output without other files.
func checkTree(path string) error {
	m, err := ReadMarker(path)
	if err != nil || m == nil {
		return err
	}
	names, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	return m.checkFiles(path, ".", names)
}

// checkFiles returns an ErrForeign if dir, or a directory below it, has an entry that is not part of the output at
// root. The entries are those of dir.
func (m *Marker) checkFiles(root, dir string, entries []fs.DirEntry) error {
	depth := 0
	if dir != "." {
		depth = 1 + strings.Count(dir, string(filepath.Separator))
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case name == MarkerName, name == markerTemp:
		case depth == len(m.PartitionBy) && e.Type().IsRegular() && strings.HasSuffix(name, m.Format) &&
			partName.MatchString(strings.TrimSuffix(e.Name(), m.Format)):
		case depth < len(m.PartitionBy) && e.IsDir() && strings.HasPrefix(e.Name(), m.PartitionBy[depth]+"="):
			below, err := os.ReadDir(filepath.Join(root, name))
			if err != nil {
				return err
			}
			if err := m.checkFiles(root, name, below); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w; one is %s", ErrForeign, name)
		}
	}
	return nil
}

// partName matches the names of files of partitions without extension: firstPart, or "part-" and runRecord.Run.
var partName = regexp.MustCompile(`^part-(0|[0-9a-f]{16})$`)

// HiveNull is the value in a directory name for rows in which the column is null.
const HiveNull = "__HIVE_DEFAULT_PARTITION__"

// MaxName is the maximum length, in bytes, of a directory name.
const MaxName = 255

// HiveName returns the directory name for rows with a value of a column, and whether the value was truncated: if the
// name is longer than MaxName, a hash of the value replaces its end. The value is null if ok is false.
func HiveName(column string, value []byte, ok bool) (name string, cut bool) {
	if !ok || len(value) == 0 {
		return column + "=" + HiveNull, false
	}
	name = column + "=" + hiveEscape(string(value), runtime.GOOS == "windows")
	if len(name) <= MaxName {
		return name, false
	}
	hash := fmt.Sprintf("~%016x", xxh3.Hash(value))
	name = name[:MaxName-len(hash)]
	if i := strings.LastIndexByte(name, '%'); i >= len(name)-2 {
		name = name[:i]
	}
	return strings.ToValidUTF8(name, "") + hash, true
}

// The bytes that hiveEscape escapes. Spark escapes the same ones on Windows.
const (
	hiveEscaped    = "\"#%'*/:=?\\{[]^"
	windowsEscaped = hiveEscaped + " <>|"
)

// hiveEscape escapes, as %XX, the bytes that Hive and Spark escape in directory names. Characters beyond ASCII stay,
// because Hive and Spark decode each %XX to one character. On Windows, a dot at the end is escaped too, because Windows
// drops it.
func hiveEscape(value string, windows bool) string {
	escaped := hiveEscaped
	if windows {
		escaped = windowsEscaped
	}
	var sb strings.Builder
	for i := range len(value) {
		b := value[i]
		if b < 0x20 || b == 0x7f || strings.IndexByte(escaped, b) >= 0 || windows && b == '.' && i == len(value)-1 {
			fmt.Fprintf(&sb, "%%%02X", b)
		} else {
			sb.WriteByte(b)
		}
	}
	return sb.String()
}

// MaxParts is the maximum number of files whose hashes a run keeps, so that its memory does not grow with the number of
// partitions.
const MaxParts = 10_000

// A Part is a file of a partitioned output.
type Part struct {
	Name  string // path below the directory of the output
	Bytes int64
	XXH3  string // 128 bits
}

// Parts collects the files that a run has written.
type Parts struct {
	of     []Part // Name is only the directory of the partition until Tree.Written
	count  int64
	marker Part // zero if later runs change it
}
