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

// A treeTarget writes each partition as a file. A Splitter keeps some files open at the same time; the others are
// written one after the other, in the order of an Arranger.
type treeTarget struct {
	opt    Options
	schema *columnar.Schema // of the files
	keys   order.SortKeys   // the columns that partition the output
	md     *container.Metadata

	file *partFile   // the current one of those written one after the other; nil before the first
	held []*partFile // incomplete files that are open at the same time

	hash *xxh3.Hasher // of all files, for runRecord.Run
	done Marker       // of the finished output
}

// A partFile is the file of a partition.
type partFile struct {
	values    [][]byte // key values of the partition; a null is nil
	dir       string   // directory of the file, below Options.Tree
	file      *os.File // nil when it is complete
	sink      *container.Sink
	digest    *storage.Digest
	container container.Container
	names     *columnar.Numbering
	rows      *columnar.Chunk // rows that are not written yet
	written   int64           // rows passed to the container
}

// NewTarget returns a target that writes to the existing directory opt.Tree. It returns an error if the files cannot
// be merged into the output at opt.Into. It reads md until Finish returns.
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
		err = have.CheckMerge(&t.done)
	}
	return t, err
}

// Start completes the current file and begins another one, unless the row is in the partition of the current file. It
// also completes the held files of earlier partitions.
func (t *treeTarget) Start(c *columnar.Chunk, row uint32) error {
	f := t.file
	if f == nil {
		f = t.newFile()
	} else if f.file != nil && t.keys.Match(c, row, f.values) {
		return nil
	} else if err := t.endFile(f); err != nil {
		return err
	}
	t.file = f
	f.values = t.keys.Values(c, row)
	if err := t.endFilesBefore(f.values); err != nil {
		return err
	}
	return t.beginFile(f)
}

// Hold begins a file that stays open. Files are completed in the order of their partitions.
func (t *treeTarget) Hold(c *columnar.Chunk, row uint32) (order.Held, error) {
	f := t.newFile()
	f.values = t.keys.Values(c, row)
	t.held = append(t.held, f)
	return f, t.beginFile(f)
}

// endFilesBefore completes the open files of partitions that precede the values in the order; all files if values is
// nil.
func (t *treeTarget) endFilesBefore(values [][]byte) error {
	slices.SortFunc(t.held, func(a, b *partFile) int { return order.CompareValues(a.values, b.values) })
	for len(t.held) > 0 && (values == nil || order.CompareValues(t.held[0].values, values) < 0) {
		if err := t.endFile(t.held[0]); err != nil {
			return err
		}
		t.held = t.held[1:]
	}
	return nil
}

// newFile returns a file for begin. Once complete, it can be begun again for another partition.
func (t *treeTarget) newFile() *partFile {
	return &partFile{names: columnar.NewDictionaries(t.schema), sink: container.NewSink(nil)}
}

// beginFile opens the file of the partition of f.values. It returns ErrMost if there are then more partitions than
// opt.Most.
func (t *treeTarget) beginFile(f *partFile) (err error) {
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
	part := t.metadata() // Arrow writes it now, without values that are known only at the end
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

// metadata returns the metadata of a file, without its number of rows.
func (t *treeTarget) metadata() container.Metadata {
	return t.md.Without(container.KeyInputs, container.KeyCounts, container.KeyRows, container.KeyInvalidUTF8)
}

// Chunk returns the chunk of the current file.
func (t *treeTarget) Chunk() *columnar.Chunk { return t.file.rows }

// Flush writes that chunk.
func (t *treeTarget) Flush() error { return t.file.Flush() }

// Chunk returns the chunk to which rows are added.
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

// endFile completes a file, syncs it, and adds it to opt.Parts and the hash. It does nothing if the file is complete.
func (t *treeTarget) endFile(f *partFile) error {
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
	size, sum := f.digest.Sum()
	if p := t.opt.Parts; p != nil {
		if p.count++; p.count <= MaxParts {
			p.of = append(p.of, Part{f.dir, size, sum})
		} else {
			p.of = nil
		}
	}
	fmt.Fprintf(t.hash, "/%s\x00%d %s\x00", f.dir, size, sum)
	err := f.file.Close()
	f.file = nil
	return err
}

// Finish completes all files, and writes the marker with the metadata. If the mode merges, the marker gets the name of
// the run, a hash of all files and the metadata.
func (t *treeTarget) Finish() error {
	if t.file != nil {
		if err := t.endFile(t.file); err != nil {
			return err
		}
	}
	if err := t.endFilesBefore(nil); err != nil {
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
	if err = errors.Join(err, file.Close()); err == nil && t.opt.Parts != nil && !t.opt.Mode.Merges() {
		size, hash := d.Sum()
		t.opt.Parts.marker = Part{MarkerName, size, hash}
	}
	return err
}

// Abort closes the incomplete files. It does not remove them: they are in the temporary directory.
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

// A Mode determines what happens to an existing partitioned output in the directory.
type Mode uint8

// The modes.
const (
	New     Mode = iota // an existing output is an error
	Replace             // the whole output is replaced
	ByParts             // only partitions with new rows are replaced
	Append              // files are added to the partitions
)

// modeNames are the names of the modes.
var modeNames = [...]string{New: "new", Replace: "replace", ByParts: "replace-partitions", Append: "append"}

// ErrMode is the error of ParseMode.
var ErrMode = errors.New("unknown partition mode")

// String returns the name: "replace-partitions".
func (m Mode) String() string { return modeNames[m] }

// Modes returns the names of the modes except [New], which users cannot name.
func Modes() []string { return modeNames[Replace:] }

// ParseMode returns the mode of that name, New for "". The error is ErrMode, and lists the names.
func ParseMode(name string) (Mode, error) {
	if name == "" {
		return New, nil
	}
	if i := slices.Index(Modes(), name); i >= 0 {
		return Replace + Mode(i), nil
	}
	return 0, fmt.Errorf("%w %q: use %s", ErrMode, name, strings.Join(Modes(), ", "))
}

// Merges reports whether files are added to an existing output.
func (m Mode) Merges() bool { return m == ByParts || m == Append }

// Options configure a partitioned output.
type Options struct {
	By     []string // columns, the outermost directory first
	Mode   Mode
	Sort   string // name of the order of the rows, for the marker
	File   container.Options
	Cancel <-chan struct{}   // closed to end the wait for another run's lock; nil means never
	System atomicfile.System // nil means that of the operating system

	Tree string // temporary directory of the output
	Into string // its final name; "" if an existing output need not be checked

	Parts *Parts // collects the written files; nil if they are not needed
	Most  int    // maximum number of partitions; 0 means no limit
}

// ErrMost is the error of an output with more partitions than Options.Most.
var ErrMost = errors.New("too many partitions")
