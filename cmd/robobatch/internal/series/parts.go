package series

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
)

// partsDir is the subdirectory of the output directory in which the partitions of an input are written until all of
// them are complete.
const partsDir = "_parts"

// filesOf returns the files of an output: one file, or one in each of its partitions.
func filesOf(o Output) []summary.NamedFile {
	if o.XXH3 == "" {
		return o.Parts
	}
	return []summary.NamedFile{{Name: o.Output, File: o.File}}
}

// BeginParts prepares the partitions of an input. It removes files that a killed process of the same shard left, and
// the statistics of earlier runs with other inputs or another number of shards, because these no longer match the
// partitions. It returns a temporary directory for the partitions, which is next to their final location unless that
// is in object storage, and a function that removes it.
func (d Dir) BeginParts(list List) (dir string, remove func() error, err error) {
	if _, err := storage.Of(d.Name).Stat(d.join(output.PartitionMarker)); err == nil {
		return "", nil, fmt.Errorf("%s contains partitions of a run without one output per input: name another directory", msg.File(d.Name))
	}
	names, err := storage.WithPrefix(d.join("_stats."))
	if err != nil {
		return "", nil, err
	}
	files := storage.Of(d.Name)
	for _, name := range names { // statistics, and the failure lists beside them
		s, err := readStats(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && s.Series.List == list && max(1, s.Series.Shard.Count) == max(1, d.Count) {
			continue
		}
		other := Dir{Name: d.Name}
		if err == nil {
			other.Shard = s.Series.Shard
		}
		if err := errors.Join(files.Remove(name), files.Remove(other.Failed())); err != nil {
			return "", nil, err
		}
	}
	root, name := os.TempDir(), "robobatch-parts"+d.Infix()+"-"
	if !storage.IsRemote(d.Name) {
		root, name = d.join(partsDir), "all"+d.Infix()+"-"
		left, err := filepath.Glob(filepath.Join(root, name+"*"))
		for _, old := range left {
			err = errors.Join(err, os.RemoveAll(old))
		}
		if err = errors.Join(err, os.MkdirAll(root, 0o777)); err != nil {
			return "", nil, err
		}
	}
	dir, err = os.MkdirTemp(root, name)
	return dir, func() error {
		err := os.RemoveAll(dir)
		if !storage.IsRemote(d.Name) {
			os.Remove(root) //nolint:errcheck // others may be in it
		}
		return err
	}, err
}

// FinishParts moves the partition files of an input from dir, which BeginParts returned, to their final location, and
// writes the record. Before it moves the first file, it writes a pending record that lists all of them, so that a
// later run can remove them if the process dies. It sets Output and Pending of the record, and changes Parts to the
// final names.
func (d Dir) FinishParts(item *Item, r *Record, dir string) error {
	r.Output, r.Pending = item.Output, true
	var from []string
	parts := r.Parts[:0:0]
	for _, part := range r.Parts {
		if part.Name == output.PartitionMarker {
			continue
		}
		from = append(from, filepath.Join(dir, filepath.FromSlash(part.Name)))
		part.Name = path.Join(path.Dir(part.Name), item.Output)
		parts = append(parts, part)
	}
	if r.Parts = parts; len(parts) == 0 && r.Counts.Written > 0 {
		return fmt.Errorf("%s: %w", msg.File(item.Name), output.ErrPartition)
	}
	if err := writeManifest(d.record(item.Output), r); err != nil {
		return err
	}
	for i := range parts {
		name := d.join(parts[i].Name)
		if err := storage.Move(from[i], name); err != nil {
			return err
		}
		info, err := storage.Of(name).Stat(name)
		if err != nil {
			return fmt.Errorf("check the output: %w", err)
		}
		parts[i].Tag = info.Tag
		storage.Forget(name)
	}
	r.Pending = false
	return writeManifest(d.record(item.Output), r)
}

// removeParts removes the files that a record lists, and then the record.
func (d Dir) removeParts(r *Record) error {
	if !r.Pending && len(r.Parts) > 0 {
		r.Pending = true
		if err := writeManifest(d.record(r.Output), r); err != nil {
			return err
		}
	}
	p := storage.Of(d.Name)
	for i := range r.Parts {
		if err := p.Remove(d.join(r.Parts[i].Name)); err != nil {
			return err
		}
	}
	return p.Remove(d.record(r.Output))
}

// Flat converts the path of an input to one file name, which its files have in each partition.
func Flat(input string) string { return strings.ReplaceAll(input, "/", "_") }
