package partition

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/internal/order"
)

// A treeTarget writes each partition as a file of its own: some side by side, as their rows come, and
// all others one after the other, as an Arranger puts them in order.
type treeTarget struct {
	opt    Options
	schema *columnar.Schema // of the files
	keys   order.SortKeys   // of the partitions
	md     *container.Metadata

	file *partFile   // of those one after the other; nil before the first
	held []*partFile // side by side; those that are not complete yet

	hash *xxh3.Hasher // of all files, for the name of the run
	done Marker
}

// A partFile is the file of a partition.
type partFile struct {
	values    [][]byte // that the partition is for; nil for a null
	dir       string   // of the file, below the directory
	file      *os.File // nil when it is complete
	sink      *container.Sink
	digest    *storage.Digest
	container container.Container
	names     *columnar.Numbering
	rows      *columnar.Chunk // that the next rows go to
	written   int64           // rows before those
}

// NewTarget returns a target that writes to the directory opt.Tree, which is there. The error
// says why the files cannot be put into the output at opt.Into.
func NewTarget(all, written *columnar.Schema, opt Options, md *container.Metadata) (*treeTarget, error) {
	if opt.Tree == "" {
		return nil, fmt.Errorf("%w without a directory: a Writer has one stream of bytes, and Create makes directories", columnar.ErrPartition)
	}
	t := &treeTarget{opt: opt, schema: written, md: md}
	t.opt.File.Encoders = &container.Encoders{}
	for _, name := range opt.By {
		t.keys = append(t.keys, all.Index(name))
	}
	t.hash = xxh3.New()
	t.done = opt.newMarker()
	for _, f := range written.Fields {
		t.done.Columns = append(t.done.Columns, f.Name+" "+typeNames[f.Type])
	}
	t.done.Mode = opt.Mode.String()
	if opt.Into == "" || !opt.Mode.Merges() {
		return t, nil
	}
	have, err := ReadMarker(opt.Into)
	if err == nil && have != nil {
		err = have.Takes(&t.done)
	}
	return t, err
}

// Start begins another file if the row is of another partition.
func (t *treeTarget) Start(c *columnar.Chunk, row uint32) error {
	f := t.file
	if f == nil {
		f = t.newFile()
	} else if f.file != nil && t.keys.Are(c, row, f.values) {
		return nil
	} else if err := t.end(f); err != nil {
		return err
	}
	t.file = f
	f.values = t.keys.Values(c, row)
	if err := t.endBefore(f.values); err != nil {
		return err
	}
	return t.begin(f)
}

// Hold begins a file that stays open beside others. Files are complete in the order of their partitions.
func (t *treeTarget) Hold(c *columnar.Chunk, row uint32) (order.Held, error) {
	f := t.newFile()
	f.values = t.keys.Values(c, row)
	t.held = append(t.held, f)
	return f, t.begin(f)
}

// endBefore completes the files that are held of partitions before the partition of the values; all for nil.
func (t *treeTarget) endBefore(values [][]byte) error {
	slices.SortFunc(t.held, func(a, b *partFile) int { return order.CompareValues(a.values, b.values) })
	for len(t.held) > 0 && (values == nil || order.CompareValues(t.held[0].values, values) < 0) {
		if err := t.end(t.held[0]); err != nil {
			return err
		}
		t.held = t.held[1:]
	}
	return nil
}

// newFile returns a file that is still to be begun, and may be begun again when it is complete.
func (t *treeTarget) newFile() *partFile {
	return &partFile{names: columnar.NewDictionaries(t.schema), sink: container.NewSink(nil)}
}

// begin opens the file of the partition of f.values.
func (t *treeTarget) begin(f *partFile) (err error) {
	dir, cut := t.opt.Tree, false
	for i, name := range t.opt.By {
		part, short := HiveName(name, f.values[i], f.values[i] != nil)
		dir, cut = filepath.Join(dir, part), cut || short
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f.file, err = os.OpenFile(filepath.Join(dir, firstPart+t.opt.File.Format.String()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("two partitions have the same directory, %s, because the file system ignores case: %w", filepath.Base(dir), err)
	}
	if err != nil {
		return err
	}
	f.digest = storage.NewDigest(f.file)
	f.sink.Reset(f.digest)
	f.dir = dir[len(t.opt.Tree)+1:]
	part := t.metadata() // of the first files it lacks facts that are not known yet
	var lim columnar.Limits
	if f.container, lim, err = t.opt.File.Begin(f.sink, t.schema, &part); err != nil {
		return err
	}
	f.names.Reset()
	if f.rows == nil {
		f.rows = columnar.NewChunk(t.schema, 1, f.names, lim)
	}
	f.rows.Limits = lim.ForSchema(t.schema)
	f.written = 0
	if t.done.Partitions++; t.opt.Most > 0 && t.done.Partitions > int64(t.opt.Most) {
		return fmt.Errorf("%w: one input has more than %d: partition by other columns, such as date instead of origin", ErrMost, t.opt.Most)
	}
	if cut {
		t.done.CutValues++
	}
	return nil
}

// metadata returns the metadata of a file but for how many rows it has.
func (t *treeTarget) metadata() container.Metadata {
	return t.md.Without(container.KeyInputs, container.KeyCounts, container.KeyRows, container.KeyInvalidUTF8)
}

// Chunk returns the chunk of the file that is not held.
func (t *treeTarget) Chunk() *columnar.Chunk { return t.file.rows }

// Flush writes that chunk.
func (t *treeTarget) Flush() error { return t.file.Flush() }

// Chunk returns the chunk that takes rows.
func (f *partFile) Chunk() *columnar.Chunk { return f.rows }

// Flush writes that chunk.
func (f *partFile) Flush() error {
	f.written += int64(f.rows.Rows)
	next, err := f.container.Write(f.rows)
	if err == nil {
		f.rows = next
	}
	return err
}

// end completes a file, unless it is complete.
func (t *treeTarget) end(f *partFile) error {
	if f.file == nil {
		return nil
	}
	if f.rows.Rows > 0 {
		if err := f.Flush(); err != nil {
			return err
		}
	}
	part := t.metadata()
	part.Set(container.KeyRows, strconv.FormatInt(f.written, 10))
	if err := f.container.Close(f.rows, part); err != nil {
		return err
	}
	f.container.Abort()
	f.container = nil
	t.done.Rows += f.written
	if err := errors.Join(f.sink.Flush(), atomicfile.SyncFile(f.file)); err != nil {
		return err
	}
	t.opt.Parts.addPart(f.dir, f.digest)
	size, sum := f.digest.Sum()
	fmt.Fprintf(t.hash, "/%s\x00%d %s\x00", f.dir, size, sum)
	err := f.file.Close()
	f.file = nil
	return err
}

// Finish completes the last files, and writes the marker.
func (t *treeTarget) Finish() error {
	if t.file != nil {
		if err := t.end(t.file); err != nil {
			return err
		}
	}
	if err := t.endBefore(nil); err != nil {
		return err
	}
	t.done.Metadata = make(map[string]string, len(t.md.Keys))
	for i, key := range t.md.Keys {
		t.done.Metadata[key] = t.md.Values[i]
		io.WriteString(t.hash, key+"\x00"+t.md.Values[i]+"\x00")
	}
	if t.opt.Mode.Merges() {
		t.done.Run = fmt.Sprintf("%016x", t.hash.Sum64())
	}
	text, err := t.done.Text()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(t.opt.Tree, MarkerName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	d := storage.NewDigest(file)
	_, err = d.Write(text)
	if err = errors.Join(err, file.Close()); err == nil && !t.opt.Mode.Merges() {
		// Note the marker.
		if t.opt.Parts != nil {
			size, hash := d.Sum()
			t.opt.Parts.marker = Part{MarkerName, size, hash}
		}
	}
	return err
}

// Abort drops the files that are being written.
func (t *treeTarget) Abort() {
	for _, f := range append(t.held, t.file) {
		if f == nil {
			continue
		}
		if f.container != nil {
			f.container.Abort()
			f.container = nil
		}
		if f.file != nil {
			f.file.Close() //nolint:errcheck // it is dropped
			f.file = nil
		}
	}
}

// A Mode says how to treat a partitioned output that is in the directory already.
type Mode uint8

// The modes.
const (
	New     Mode = iota // there must be none
	Replace             // it is replaced, all of it
	ByParts             // partitions that have rows are replaced, and all others stay
	Append              // files are added to its partitions
)

// modeNames are the names of the modes, by PartitionMode.
var modeNames = [...]string{New: "new", Replace: "replace", ByParts: "replace-partitions", Append: "append"}

// ErrMode is the error of ParsePartitionMode.
var ErrMode = errors.New("unknown mode of writing into a directory")

// String returns the name: "replace-partitions".
func (m Mode) String() string { return modeNames[m] }

// Modes returns the names of the modes except for [PartitionNew].
func Modes() []string { return modeNames[Replace:] }

// ParseMode returns the mode of that name, PartitionNew for "". The error is ErrMode, with
// the names there are.
func ParseMode(name string) (Mode, error) {
	if name == "" {
		return New, nil
	}
	if i := slices.Index(Modes(), name); i >= 0 {
		return Replace + Mode(i), nil
	}
	return 0, fmt.Errorf("%w as %q: use %s", ErrMode, name, strings.Join(Modes(), ", "))
}

// Merges reports whether files are put into an output that is there.
func (m Mode) Merges() bool { return m == ByParts || m == Append }

// Options say how a partitioned output is written.
type Options struct {
	By     []string // the columns, the first being the outermost directories
	Mode   Mode
	Sort   string // the name of the order of the rows, for the marker
	File   container.Options
	Cancel <-chan struct{}   // closed to end a wait for the directory; nil is never
	System atomicfile.System // that changes names; nil is the operating system's

	Tree string // the temporary directory that is written to
	Into string // the one that it will be, or be put into; "" if that does not matter

	Parts *Parts // takes the files that are written; nil if nobody asks
	Most  int    // partitions there may be; 0 is no limit
}

// ErrMost is the error of more partitions than there may be.
var ErrMost = errors.New("too many partitions")
