package partition

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/internal/order"
)

// A treeTarget writes each partition as a file of its own, one after the other: as rows come by
// partition, one file is open at a time.
type treeTarget struct {
	opt    Options
	schema *columnar.Schema // of the files
	keys   order.SortKeys   // of the partitions
	md     *container.Metadata

	names     *columnar.Numbering
	rows      *columnar.Chunk // of the open file
	sink      *container.Sink
	file      *os.File            // nil between partitions
	container container.Container // of the file
	part      container.Metadata
	fileRows  int64

	current [][]byte      // the values that the partition is for; nil for a null
	dir     string        // of the open file, below the directory
	digest  *place.Digest // of the open file
	hash    *xxh3.Hasher  // of all files, for the name of the run
	done    Marker
}

// NewTarget returns a target that writes to the directory opt.Tree, which is there. The error
// says why the files cannot be put into what opt.Into has already.
func NewTarget(all, written *columnar.Schema, opt Options, md *container.Metadata) (*treeTarget, error) {
	if opt.Tree == "" {
		return nil, fmt.Errorf("%w without a directory: a Writer has one stream of bytes, and Create makes directories", columnar.ErrPartition)
	}
	t := &treeTarget{opt: opt, schema: written, md: md, names: columnar.NewDictionaries(written), sink: container.NewSink(nil)}
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
	if t.file != nil && t.isCurrent(c, row) {
		return nil
	}
	if err := t.endFile(); err != nil {
		return err
	}
	return t.beginFile(c, row)
}

// isCurrent reports whether a row is of the partition whose file is open.
func (t *treeTarget) isCurrent(c *columnar.Chunk, row uint32) bool {
	for i, have := range t.current {
		text, ok := t.keys.At(c, i).KeyText(row)
		if ok != (have != nil) || !bytes.Equal(text, have) {
			return false
		}
	}
	return true
}

// beginFile opens the file of a row's partition.
func (t *treeTarget) beginFile(c *columnar.Chunk, row uint32) (err error) {
	dir := t.opt.Tree
	t.current = t.current[:0]
	cut := false
	for i, name := range t.opt.By {
		text, ok := t.keys.At(c, i).KeyText(row)
		part, short := HiveName(name, text, ok)
		dir, cut = filepath.Join(dir, part), cut || short
		if ok {
			text = append([]byte{}, text...) // not nil, even if empty
		}
		t.current = append(t.current, text)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	t.file, err = os.OpenFile(filepath.Join(dir, firstPart+t.opt.File.Format.String()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("two partitions have one directory, %s, as the file system does not tell upper from lower case: %w", filepath.Base(dir), err)
	}
	if err != nil {
		return err
	}
	t.digest = place.NewDigest(t.hashed(t.file))
	t.sink.Reset(t.digest)
	t.dir = dir[len(t.opt.Tree)+1:]
	io.WriteString(t.hash, "/"+t.dir+"\x00") //nolint:errcheck // a hash has no errors
	t.part = t.md.Without(container.KeyInputs, container.KeyCounts, container.KeyRows, container.KeyInvalidUTF8)
	var lim columnar.Limits
	if t.container, lim, err = t.opt.File.Begin(t.sink, t.schema, &t.part); err != nil {
		return err
	}
	t.names.Reset()
	if t.rows == nil {
		t.rows = columnar.NewChunk(t.schema, 1, t.names, lim)
	}
	t.rows.Limits = lim.ForSchema(t.schema)
	t.fileRows = 0
	t.done.Partitions++
	if cut {
		t.done.CutValues++
	}
	return nil
}

// hashed returns what writes to a file, and to the hash if a name will be made of that.
func (t *treeTarget) hashed(f *os.File) io.Writer {
	if t.opt.Mode.Merges() {
		return io.MultiWriter(f, t.hash)
	}
	return f
}

func (t *treeTarget) Chunk() *columnar.Chunk { return t.rows }

func (t *treeTarget) Flush() error {
	t.fileRows += int64(t.rows.Rows)
	next, err := t.container.Write(t.rows)
	if err == nil {
		t.rows = next
	}
	return err
}

// endFile completes the open file, if there is one.
func (t *treeTarget) endFile() error {
	if t.file == nil {
		return nil
	}
	if t.rows.Rows > 0 {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	t.part.Set(container.KeyRows, strconv.FormatInt(t.fileRows, 10))
	if err := t.container.Close(t.rows, t.part); err != nil {
		return err
	}
	t.container.Abort()
	t.container = nil
	t.done.Rows += t.fileRows
	if err := errors.Join(t.sink.Flush(), atomicfile.SyncFile(t.file)); err != nil {
		return err
	}
	t.opt.Parts.add(t.dir, t.digest)
	err := t.file.Close()
	t.file = nil
	return err
}

// Finish completes the last file, and writes the marker.
func (t *treeTarget) Finish() error {
	if err := t.endFile(); err != nil {
		return err
	}
	t.done.Metadata = make(map[string]string, len(t.md.Keys))
	for i, key := range t.md.Keys {
		t.done.Metadata[key] = t.md.Values[i]
		io.WriteString(t.hash, key+"\x00"+t.md.Values[i]+"\x00") //nolint:errcheck // a hash has no errors
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
	d := place.NewDigest(file)
	_, err = d.Write(text)
	if err = errors.Join(err, file.Close()); err == nil && !t.opt.Mode.Merges() {
		t.opt.Parts.addMarker(d)
	}
	return err
}

// Abort drops the file that is being written.
func (t *treeTarget) Abort() {
	if t.container != nil {
		t.container.Abort()
		t.container = nil
	}
	if t.file != nil {
		t.file.Close() //nolint:errcheck // it is dropped
		t.file = nil
	}
}
