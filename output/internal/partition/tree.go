// Package partition writes a table as a directory in Hive layout, with one file per partition.
//
// It hides the directory names, the marker that describes the content of an output, and the steps that merge partitions
// into an existing output without losing data in a crash. Package output imports it.
package partition

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output/internal/container"
)

// A Tree is a partitioned output. It is either a directory that gets its name when it is complete, or partitions that
// are merged into the existing directory of that name.
//
// A merge takes these steps. After a crash in any of them, the next run can continue:
//
//  1. Lock the directory. If an earlier run was stopped in step 4 or 5, complete it.
//  2. In the temporary directory, rename all files to the name of the run, and sync them.
//  3. Write a marker which says that the run is pending, and where its files are.
//  4. Move one partition after the other into place, by one rename each: of a file into its directory, or of a directory
//     in exchange for the old one.
//  5. Sync everything. Write a marker which says that the run is complete.
//  6. Remove the temporary directory, which now contains the replaced partitions.
//
// A partition has passed step 4 if its temporary directory has no file with the name of the run.
type Tree struct {
	*directory
	opt      Options
	file     string   // name of the file in each partition; "" means firstPart with its extension
	Finished []string // see File.Finished of package output
}

type directory = atomicfile.Dir

// NewTree begins the output of that name in a temporary directory. It returns an error if the existing content does
// not permit opt.Mode, see Options.CheckTargets.
func NewTree(name string, opt Options) (*Tree, error) {
	t := &Tree{opt: opt}
	dir, err := atomicfile.CreateDir(name, func(path string) error {
		if path != t.Target() { // rows written before an input failed replace those of an earlier run
			return checkTree(path)
		}
		return opt.checkTarget(path)
	})
	if err == nil && opt.System != nil {
		dir.Use(opt.System)
	}
	t.directory = dir
	return t, err
}

// Written returns the files of the run, which is complete; nil if there are more than [MaxParts].
func (t *Tree) Written() []Part {
	file := t.file
	if file == "" {
		file = firstPart + t.opt.File.Format.String()
	}
	p := t.opt.Parts
	if p.count > MaxParts {
		return nil
	}
	all := make([]Part, 0, len(p.of)+1)
	for _, part := range p.of {
		part.Name = filepath.Join(part.Name, file)
		all = append(all, part)
	}
	if p.marker.Name != "" {
		all = append(all, p.marker)
	}
	return all
}

// Commit gives the directory its name, or merges its partitions into the existing directory, which another run may have
// created in the meantime.
func (t *Tree) Commit() error {
	for {
		have, err := ReadMarker(t.Target())
		switch {
		case err != nil:
			return t.commitNamed(err, nil)
		case have != nil && t.opt.Mode == New:
			return t.directory.Commit() // returns the error
		case have != nil:
			lock, err := atomicfile.LockDir(t.Target(), t.opt.Cancel)
			if err == nil && !t.opt.Mode.Merges() {
				err = t.directory.Commit()
			} else if err == nil {
				err = t.merge()
			} else {
				err = errors.Join(t.Wrap("lock", err), t.Close())
			}
			return errors.Join(err, lock.Unlock())
		}
		if err := t.commitNamed(nil, t.CommitNew); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// CommitAs gives the directory the name that other returns for its final name, and replaces what has that name. It
// does not merge. It returns the name.
func (t *Tree) CommitAs(other func(name string) string) (name string, err error) {
	err = t.commitNamed(nil, func() (err error) {
		name, err = t.directory.CommitAs(other)
		return err
	})
	return name, err
}

// commitNamed renames all files to the name of the run if the output is to be merged, and then calls commit. If err is
// not nil, or renaming fails, it drops the output instead.
func (t *Tree) commitNamed(err error, commit func() error) error {
	if err == nil && t.opt.Mode.Merges() {
		var own *Marker
		if own, err = t.readOwnMarker(); err == nil {
			err = t.nameFiles(own)
		}
	}
	if err != nil {
		return errors.Join(t.Wrap("replace", err), t.Close())
	}
	return commit()
}

// nameFiles renames all files in the temporary directory to the name of the run. It does nothing if they have it.
func (t *Tree) nameFiles(m *Marker) error {
	from, to := t.file, m.fileOf(m.Run)
	if from == "" {
		from = firstPart + m.Format
	}
	if t.file = to; from == to {
		return nil
	}
	return eachPart(t.Path(), "", len(m.PartitionBy), func(part string) error {
		dir := filepath.Join(t.Path(), part)
		return t.Sys().Rename(filepath.Join(dir, from), filepath.Join(dir, to))
	})
}

// readOwnMarker returns the marker in the temporary directory.
func (t *Tree) readOwnMarker() (*Marker, error) {
	m, err := ReadMarker(t.Path())
	if err == nil && m == nil {
		err = ErrForeign
	}
	return m, err
}

// fileOf returns the name of the file of a run in each partition.
func (m *Marker) fileOf(run string) string { return "part-" + run + m.Format }

// merge moves the partitions into the existing output, which is locked, by the steps of Tree. If the output already
// has the same rows from a stopped run, it drops them.
func (t *Tree) merge() error {
	own, err := t.readOwnMarker()
	if err != nil {
		return errors.Join(t.Wrap("write into", err), t.Close())
	}
	hash := own.Run
	have, same, err := t.prepareMerge(own)
	if err != nil || same {
		return errors.Join(t.Wrap("write into", err), t.Close())
	}
	next := *have
	next.Pending = &pending{runRecord: own.runRecord, From: filepath.Base(t.Path()), Hash: hash}
	if err := t.writeMarker(&next); err != nil {
		return t.stopMerge(own, err)
	}
	from := t.Path()
	if err := t.complete(&next, own, from); err != nil {
		return t.stopMerge(own, err)
	}
	t.Keep()
	if err := t.Sys().RemoveAll(from); err != nil {
		return t.Wrap("write into", fmt.Errorf("%w: the output is complete; remove %s", atomicfile.WithoutPath(err), from))
	}
	return nil
}

// prepareMerge completes an earlier run that was stopped, and checks that the partitions can be moved into place. It
// returns the marker of the output, and whether the earlier run had the same output as this one.
func (t *Tree) prepareMerge(own *Marker) (have *Marker, same bool, err error) {
	have, err = ReadMarker(t.Target())
	if err == nil && have == nil {
		err = fs.ErrNotExist // removed since Commit read it
	}
	if err == nil {
		err = have.CheckMerge(own)
	}
	if err != nil {
		return nil, false, err
	}
	if p := have.Pending; p != nil {
		from := filepath.Join(filepath.Dir(t.Target()), filepath.Base(p.From))
		same = p.Hash == own.Run && p.Mode == own.Mode
		if exists(from) {
			if err := t.finishPending(have, from); err != nil || same {
				return have, same, err
			}
		} else if !same {
			return nil, false, fmt.Errorf("%w: its inputs were %s", ErrStopped, p.Metadata[container.KeyInputs])
		}
	}
	if err = t.checkParts(have, own); err == nil {
		err = t.nameFiles(own)
	}
	if err == nil {
		err = t.Sys().SyncTree(t.Path())
	}
	return have, false, err
}

// finishPending completes the pending run, whose files are at from, adds its inputs to t.Finished, and removes from.
func (t *Tree) finishPending(have *Marker, from string) error {
	earlier := *have
	earlier.runRecord = have.Pending.runRecord
	if err := t.complete(have, &earlier, from); err != nil {
		return err
	}
	t.Finished = append(t.Finished, earlier.Metadata[container.KeyInputs])
	return t.Sys().RemoveAll(from)
}

// checkParts returns an error if a partition has files of other programs, or if it already has the rows that would be
// appended. If a run replaces partitions by the same rows, it gives the run another name, so that putParts can
// distinguish the new files from the old ones.
func (t *Tree) checkParts(have, own *Marker) error {
	for {
		var parts, there int64
		err := eachPart(t.Path(), "", len(own.PartitionBy), func(part string) error {
			parts++
			dir := filepath.Join(t.Target(), part)
			if exists(filepath.Join(dir, own.fileOf(own.Run))) {
				there++
			}
			if t.opt.Mode == Append {
				return nil
			}
			entries, err := os.ReadDir(dir)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			return have.checkFiles(t.Target(), part, entries)
		})
		switch {
		case err != nil || there == 0 || have.Pending != nil && t.opt.Mode == Append:
			return err
		case t.opt.Mode == Append:
			return fmt.Errorf("%w, in %d of %d partitions", ErrSameRun, there, parts)
		}
		own.Run = fmt.Sprintf("%016x", xxh3.HashString(own.Run))
	}
}

// complete does steps 4 and 5 of a merge for a run whose files are at from. The marker of the output is have.
func (t *Tree) complete(have, run *Marker, from string) error {
	if err := t.putParts(run, from); err != nil {
		return err
	}
	if err := t.Sys().SyncTree(t.Target()); err != nil {
		return err
	}
	have.Pending = nil
	have.Earlier = append(have.Earlier, have.runRecord)
	have.Earlier = have.Earlier[max(0, len(have.Earlier)-maxEarlier):]
	have.runRecord = run.runRecord
	return t.writeMarker(have)
}

// putParts moves the partitions of a run from the directory from into place, except those that already are.
func (t *Tree) putParts(run *Marker, from string) error {
	file := run.fileOf(run.Run)
	return eachPart(from, "", len(run.PartitionBy), func(part string) error {
		part, name := filepath.Join(from, part), filepath.Join(t.Target(), part)
		switch {
		case !exists(filepath.Join(part, file)):
			return nil // already moved: this is the old partition
		case !exists(name):
			if err := t.Sys().MkdirAll(filepath.Dir(name)); err != nil {
				return err
			}
			return t.Sys().Rename(part, name)
		case run.Mode == Append.String():
			return t.Sys().Rename(filepath.Join(part, file), filepath.Join(name, file))
		}
		if err := t.Sys().Exchange(part, name); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		if err := t.Sys().Rename(name, part+".old"); err != nil {
			return err
		}
		return t.Sys().Rename(part, name)
	})
}

// eachPart calls do with each partition, a directory the given number of levels below dir, in order. All these paths
// are relative to root. It skips directories that were replaced, whose names end in .old.
func eachPart(root, dir string, levels int, do func(part string) error) error {
	if levels == 0 {
		return do(dir)
	}
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || levels == 1 && strings.HasSuffix(e.Name(), ".old") {
			continue
		}
		if err := eachPart(root, filepath.Join(dir, e.Name()), levels-1, do); err != nil {
			return err
		}
	}
	return nil
}

// writeMarker replaces the marker of the existing output, and syncs its directory.
func (t *Tree) writeMarker(m *Marker) error {
	text, err := m.Text()
	if err != nil {
		return err
	}
	temp := filepath.Join(t.Target(), markerTemp)
	if err := t.Sys().WriteFile(temp, text); err != nil {
		return err
	}
	if err := t.Sys().Rename(temp, filepath.Join(t.Target(), MarkerName)); err != nil {
		return err
	}
	return t.Sys().SyncDir(t.Target())
}

// stopMerge ends a merge that failed with err, and returns the error to report. If the marker says that the run is
// pending, its files are kept for the next run; otherwise they are dropped.
func (t *Tree) stopMerge(run *Marker, err error) error {
	have, errRead := ReadMarker(t.Target())
	switch {
	case errRead != nil || have == nil || have.Pending != nil:
	case have.Run == run.Run && have.Mode == run.Mode:
		err = fmt.Errorf("%w: the output is complete, but a power failure might undo that", atomicfile.WithoutPath(err))
		fallthrough
	default:
		return errors.Join(t.Wrap("write into", err), t.Close())
	}
	from := t.Path()
	t.Keep()
	err = fmt.Errorf("%w: some partitions may be in place; the next run moves the others there from %s, unless it replaces the whole output",
		atomicfile.WithoutPath(err), from)
	return t.Wrap("write into", err)
}

// exists reports whether a file or directory of that name exists.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
