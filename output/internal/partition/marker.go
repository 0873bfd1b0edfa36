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

	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output/parquet"
)

const (
	// MarkerName is the file of a partitioned output that says that it is one, and lists its content.
	// Readers of such outputs pass names over that begin with an underscore.
	MarkerName = "_robobatch.json"
	// markerTemp is the name under which it is written.
	markerTemp = "._robobatch.json.tmp"
	// MarkerKind tells a marker from other JSON.
	MarkerKind = "partitioned output"
	// firstPart is the name, without its end, of the file of a partition that is written at once.
	firstPart = "part-0"
	// maxEarlier is how many earlier runs a marker lists, the latest of them.
	maxEarlier = 1000
)

// A Marker is the content of that file. Its facts about a run are of the latest one.
type Marker struct {
	Robobatch   string   `json:"robobatch"` // markerKind
	PartitionBy []string `json:"partition_by"`
	Sort        string   `json:"sort"`
	Format      string   `json:"format"`
	Separator   string   `json:"csv_separator,omitempty"` // "" is that of the format
	Columns     []string `json:"columns,omitempty"`       // of the files, with their types; none if an older version wrote it
	runRecord
	Earlier []runRecord `json:"earlier,omitempty"` // runs before that, the first first
	Pending *pending    `json:"pending,omitempty"` // the run whose files are being put in place
}

// A runRecord lists the output of a run.
type runRecord struct {
	Run        string            `json:"run,omitempty"`  // a hash of all that it wrote, in the names of its files; "" if they are part-0
	Mode       string            `json:"mode,omitempty"` // a PartitionMode
	Partitions int64             `json:"partitions"`
	CutValues  int64             `json:"cut_values"` // partitions whose value is too long for a directory's name
	Rows       int64             `json:"rows"`
	Metadata   map[string]string `json:"metadata"`
}

// A pending is a run whose files are complete, and are being moved from a directory beside the
// output.
type pending struct {
	runRecord
	From string `json:"from"` // the name of that directory
	Hash string `json:"hash"` // Run as it was before another name was looked for
}

// typeNames are the types of columns, as a marker has them.
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

// Text returns the marker as a file has it.
func (m *Marker) Text() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// ReadMarker returns the marker of the output at path; nil if there is nothing, or an empty
// directory.
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

// The errors about a directory that cannot be the output.
var (
	ErrForeign      = errors.New("the directory has files that robobatch did not write: name another one, or remove it")
	errNotDirectory = errors.New("is a file, but a partitioned output is a directory: name another one")

	// ErrOutput: the directory has an output already, and the mode is [PartitionNew].
	ErrOutput = errors.New("the directory has an output already")
	// ErrOther: the output in the directory differs, so that its files and these are no one table.
	ErrOther = errors.New("the directory has a different output")
	// ErrSameRun: the rows that would be added are there already.
	ErrSameRun = errors.New("the directory already has the same rows")
	// ErrStopped: an earlier run was stopped while its files were put in place, and the rest of them
	// is gone.
	ErrStopped = errors.New("an earlier run was stopped while it moved files, and the rest of its files are gone")
)

// CheckTargets returns why a partitioned output cannot have that name, or the rows before a fault
// the name partial.
func (o Options) CheckTargets(name, partial string) error {
	err := checkTree(partial)
	if err != nil {
		err = fmt.Errorf("%s, for the rows before a fault: %w", partial, err)
	}
	return errors.Join(o.checkTarget(name), err)
}

// checkTarget returns an error unless the content at path allows the mode.
func (o Options) checkTarget(path string) error {
	m, err := ReadMarker(path)
	switch {
	case err != nil || m == nil:
		return err
	case o.Mode.Merges():
		want := o.newMarker()
		return m.Takes(&want)
	case o.Mode == Replace:
		return checkTree(path)
	}
	return ErrOutput
}

// Takes returns an ErrOther unless files with that marker can be put into the output. Columns that
// either does not know are not compared.
func (m *Marker) Takes(other *Marker) error {
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

// addRun notes a run that has put its files in place.
func (m *Marker) addRun(r runRecord) {
	m.Pending = nil
	m.Earlier = append(m.Earlier, m.runRecord)
	m.Earlier = m.Earlier[max(0, len(m.Earlier)-maxEarlier):]
	m.runRecord = r
}

// checkTree returns an error unless a partitioned output may be put instead of the content at path:
// nothing, or an empty directory, or such an output and nothing else, as all that is there will be
// removed.
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

// checkFiles returns an errForeign if a directory of the output at root has an entry that is not of
// the output.
func (m *Marker) checkFiles(root, dir string, entries []fs.DirEntry) error {
	depth := 0
	if dir != "." {
		depth = 1 + strings.Count(dir, string(filepath.Separator))
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case name == MarkerName, name == markerTemp:
		case depth == len(m.PartitionBy) && e.Type().IsRegular() && m.isPart(e.Name()):
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

// runName is the name of a run.
var runName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// isPart reports whether a file of a partition has a name that a run gives.
func (m *Marker) isPart(name string) bool {
	stem, ok := strings.CutSuffix(name, m.Format)
	run, named := strings.CutPrefix(stem, "part-")
	return ok && (stem == firstPart || named && runName.MatchString(run))
}

// HiveNull is the value of a directory for rows where the column is null.
const HiveNull = "__HIVE_DEFAULT_PARTITION__"

// MaxName is the longest name of a directory that file systems take, in bytes.
const MaxName = 255

// HiveName returns the name of a directory for rows with that value of a column, and whether the
// value had to be cut. Of a name that no file system takes, the end gives way to a hash of the
// value.
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

// The bytes that hiveEscape escapes. Spark on Windows escapes as much.
const (
	hiveEscaped    = "\"#%'*/:=?\\{[]^"
	windowsEscaped = hiveEscaped + " <>|"
)

// hiveEscape writes %XX instead of the bytes that Hive and Spark escape in names of directories.
// Characters beyond ASCII stay, as they take each %XX for a character. Windows takes fewer names: it
// drops a point at the end.
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

// MaxParts is of how many files a run keeps the hashes. More take more memory than a run may have for each partition.
const MaxParts = 10_000

// A Part is a file of a partitioned output that a run has written.
type Part struct {
	Name  string // below the directory of the output
	Bytes int64
	XXH3  string // 128 bits
}

// Parts are the files that a run has written; nil notes none.
type Parts struct {
	of     []Part // while the run goes on, Name is the name of the directory of a partition
	count  int64
	marker Part // none if later runs change it
}

// addPart adds the file of a partition.
func (p *Parts) addPart(dir string, d *storage.Digest) {
	if p == nil {
		return
	}
	p.count++
	if p.count > MaxParts {
		p.of = nil
		return
	}
	size, hash := d.Sum()
	p.of = append(p.of, Part{dir, size, hash})
}
