package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/robobatch/robobatch/internal/atomicfile"
)

// markerName is the file of a partitioned output that says that it is one, and what is in it.
// Readers of such outputs pass names over that begin with an underscore.
const markerName = "_robobatch.json"

// A marker is the content of that file.
type marker struct {
	Robobatch   string            `json:"robobatch"` // markerKind
	PartitionBy []string          `json:"partition_by"`
	Sort        string            `json:"sort"`
	Format      string            `json:"format"`
	Partitions  int64             `json:"partitions"`
	CutValues   int64             `json:"cut_values"` // partitions whose value is too long for a directory's name
	Rows        int64             `json:"rows"`
	Metadata    map[string]string `json:"metadata"`
}

// markerKind tells a marker from other JSON.
const markerKind = "partitioned output"

// errForeign says that a directory that would be replaced is not an output.
var errForeign = errors.New("the directory has files that robobatch did not write: name another one, or remove it")

// errNotDirectory says that a file has the name of a partitioned output.
var errNotDirectory = errors.New("is a file, and a partitioned output is a directory: name another one")

// CheckTarget returns why a partitioned output cannot have that name, or that of what is kept
// before a fault: it must be free, or the name of such an output or of an empty directory.
func (o Options) CheckTarget(name string) error {
	partial := o.PartialName(name)
	err := checkTree(partial)
	if err != nil {
		err = fmt.Errorf("%s, for the rows before a fault: %w", partial, err)
	}
	return errors.Join(checkTree(name), err)
}

// checkTree returns an error unless a partitioned output may take that name: there is nothing, or
// an empty directory, or such an output and nothing else, as all that is there will be removed.
func checkTree(path string) error {
	names, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return errNotDirectory
	case err != nil:
		return err
	case len(names) == 0:
		return nil
	}
	var m marker
	text, err := os.ReadFile(filepath.Join(path, markerName))
	if err != nil || json.Unmarshal(text, &m) != nil || m.Robobatch != markerKind {
		return errForeign
	}
	return m.checkFiles(path, ".", names)
}

// checkFiles returns an errForeign if a directory of the output at root has an entry that is not of
// the output.
func (m *marker) checkFiles(root, dir string, entries []fs.DirEntry) error {
	depth := 0
	if dir != "." {
		depth = 1 + strings.Count(dir, string(filepath.Separator))
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case name == markerName:
		case depth == len(m.PartitionBy) && e.Type().IsRegular() && e.Name() == "part-0"+m.Format:
		case depth < len(m.PartitionBy) && e.IsDir() && strings.HasPrefix(e.Name(), m.PartitionBy[depth]+"="):
			below, err := os.ReadDir(filepath.Join(root, name))
			if err != nil {
				return err
			}
			if err := m.checkFiles(root, name, below); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w; one is %s", errForeign, name)
		}
	}
	return nil
}

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

	current [][]byte // the values that the partition is for; nil for a null
	done    marker
}

// newTreeTarget returns a target that writes to the directory opt.tree, which is there.
func newTreeTarget(all, written *layout, opt Options, md *metadataPairs) *treeTarget {
	t := &treeTarget{opt: opt, layout: written, md: md, names: newDictionaries(written), sink: newSink(nil)}
	for _, name := range opt.Partition {
		t.keys = append(t.keys, all.index(name))
	}
	t.done = marker{Robobatch: markerKind, PartitionBy: opt.Partition, Sort: opt.Sort.String(), Format: opt.Format.String()}
	return t
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
	t.file, err = os.OpenFile(filepath.Join(dir, "part-0"+t.opt.Format.String()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("two partitions have one directory, %s, as the file system does not tell upper from lower case: %w", filepath.Base(dir), err)
	}
	if err != nil {
		return err
	}
	t.sink.reset(t.file)
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
	}
	text, err := json.MarshalIndent(t.done, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.opt.tree, markerName), append(text, '\n'), 0o666)
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
