package output

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
)

// A treeTarget writes each partition as a file of its own, one after the other: as rows come by
// partition, one file is open at a time.
type treeTarget struct {
	opt    Options
	layout *layout  // of the files
	keys   sortKeys // of the partitions
	md     *metadataPairs

	names     *numbering
	rows      *chunk // of the open file
	sink      *sink
	file      *os.File  // nil between partitions
	container container // of the file
	part      metadataPairs
	fileRows  int64

	current [][]byte     // the values that the partition is for; nil for a null
	hash    *xxh3.Hasher // of all files, for the name of the run
	done    marker
}

// newTreeTarget returns a target that writes to the directory opt.tree, which is there. The error
// says why the files cannot be put into what opt.into has already.
func newTreeTarget(all, written *layout, opt Options, md *metadataPairs) (*treeTarget, error) {
	if opt.tree == "" {
		return nil, fmt.Errorf("%w without a directory: a Writer has one stream of bytes, and Create makes directories", ErrPartition)
	}
	t := &treeTarget{opt: opt, layout: written, md: md, names: newDictionaries(written), sink: newSink(nil)}
	for _, name := range opt.Partition {
		t.keys = append(t.keys, all.index(name))
	}
	t.hash = xxh3.New()
	t.done = opt.newMarker()
	for _, f := range written.fields {
		t.done.Columns = append(t.done.Columns, f.Name+" "+typeNames[f.Type])
	}
	t.done.Mode = opt.Mode.String()
	if opt.into == "" || !opt.Mode.merges() {
		return t, nil
	}
	have, err := readMarker(opt.into)
	if err == nil && have != nil {
		err = have.takes(&t.done)
	}
	return t, err
}

// start begins another file if the row is of another partition.
func (t *treeTarget) start(c *chunk, row uint32) error {
	if t.file != nil && t.isCurrent(c, row) {
		return nil
	}
	if err := t.endFile(); err != nil {
		return err
	}
	return t.beginFile(c, row)
}

// isCurrent reports whether a row is of the partition whose file is open.
func (t *treeTarget) isCurrent(c *chunk, row uint32) bool {
	for i, have := range t.current {
		text, ok := t.keys.at(c, i).keyText(row)
		if ok != (have != nil) || !bytes.Equal(text, have) {
			return false
		}
	}
	return true
}

// beginFile opens the file of a row's partition.
func (t *treeTarget) beginFile(c *chunk, row uint32) (err error) {
	dir := t.opt.tree
	t.current = t.current[:0]
	cut := false
	for i, name := range t.opt.Partition {
		text, ok := t.keys.at(c, i).keyText(row)
		part, short := hiveName(name, text, ok)
		dir, cut = filepath.Join(dir, part), cut || short
		if ok {
			text = append([]byte{}, text...) // not nil, even if empty
		}
		t.current = append(t.current, text)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	t.file, err = os.OpenFile(filepath.Join(dir, firstPart+t.opt.Format.String()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("two partitions have one directory, %s, as the file system does not tell upper from lower case: %w", filepath.Base(dir), err)
	}
	if err != nil {
		return err
	}
	t.sink.reset(t.hashed(t.file))
	io.WriteString(t.hash, dir[len(t.opt.tree):]+"\x00") //nolint:errcheck // a hash has no errors
	t.part = t.md.without(KeyInputs, KeyCounts, keyRows, keyInvalidUTF8)
	var lim limits
	if t.container, lim, err = t.opt.newContainer(t.sink, t.layout, &t.part); err != nil {
		return err
	}
	t.names.reset()
	if t.rows == nil {
		t.rows = newChunk(t.layout, 1, t.names, lim)
	}
	t.rows.limits = lim.forLayout(t.layout)
	t.fileRows = 0
	t.done.Partitions++
	if cut {
		t.done.CutValues++
	}
	return nil
}

// hashed returns what writes to a file, and to the hash if a name will be made of that.
func (t *treeTarget) hashed(f *os.File) io.Writer {
	if t.opt.Mode.merges() {
		return io.MultiWriter(f, t.hash)
	}
	return f
}

func (t *treeTarget) chunk() *chunk { return t.rows }

func (t *treeTarget) flush() error {
	t.fileRows += int64(t.rows.rows)
	next, err := t.container.write(t.rows)
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
	if t.rows.rows > 0 {
		if err := t.flush(); err != nil {
			return err
		}
	}
	t.part.set(keyRows, strconv.FormatInt(t.fileRows, 10))
	if err := t.container.close(t.rows, t.part); err != nil {
		return err
	}
	t.container.abort()
	t.container = nil
	t.done.Rows += t.fileRows
	if err := errors.Join(t.sink.flush(), atomicfile.SyncFile(t.file)); err != nil {
		return err
	}
	err := t.file.Close()
	t.file = nil
	return err
}

// finish completes the last file, and writes the marker.
func (t *treeTarget) finish() error {
	if err := t.endFile(); err != nil {
		return err
	}
	t.done.Metadata = make(map[string]string, len(t.md.keys))
	for i, key := range t.md.keys {
		t.done.Metadata[key] = t.md.values[i]
		io.WriteString(t.hash, key+"\x00"+t.md.values[i]+"\x00") //nolint:errcheck // a hash has no errors
	}
	if t.opt.Mode.merges() {
		t.done.Run = fmt.Sprintf("%016x", t.hash.Sum64())
	}
	text, err := t.done.text()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.opt.tree, markerName), text, 0o666)
}

func (t *treeTarget) abort() {
	if t.container != nil {
		t.container.abort()
		t.container = nil
	}
	if t.file != nil {
		t.file.Close() //nolint:errcheck // it is dropped
		t.file = nil
	}
}
