// Package partition writes a table as a directory in the layout of Hive: a file for each partition.
//
// It hides the names of directories, the marker that lists the content of an output, and the steps
// that put partitions into an output that is there, so that a crash loses nothing. Package
// output imports it.
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

// A Tree is a partitioned output: a directory that takes its name when it is complete, or parts
// that are put into the one that has the name.
//
// The second is done in these steps, and a crash after each leaves a state the next run can go on
// with:
//
//  1. The directory is locked. A run that was stopped at step 4 or 5 is completed first.
//  2. All files get the name of the run, in their temporary directory, and are synced.
//  3. The marker says that the run is pending, and where its files are.
//  4. One partition after the other is put in place by one rename each: of a file into its
//     directory, or of a whole directory in exchange for the old one.
//  5. All is synced. The marker says that the run is done.
//  6. The temporary directory is removed, with the old partitions that are in it now.
//
// A partition that step 4 has done is known by the file of the run's name, which its temporary
// directory no longer has.
type Tree struct {
	*directory
	opt      Options
	file     string   // name of the file in each partition; "" is the one that it was written under
	Finished []string // as of File.Finished
}

type directory = atomicfile.Dir

// NewTree begins the output of that name.
func NewTree(name string, opt Options) (*Tree, error) {
	t := &Tree{opt: opt}
	dir, err := atomicfile.CreateDir(name, t.check)
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

// check returns an error if the content at path has to stay. Rows that are kept before a fault replace
// rows kept before an earlier one.
func (t *Tree) check(path string) error {
	if path != t.Target() {
		return checkTree(path)
	}
	return t.opt.checkTarget(path)
}

// Commit gives the directory its name, or puts its parts into the one that has it. Where another run
// takes the name meanwhile, it goes by that one's output.
func (t *Tree) Commit() error {
	for {
		have, err := ReadMarker(t.Target())
		switch {
		case err != nil:
			return t.named(err, nil)
		case have != nil && t.opt.Mode == New:
			return t.directory.Commit() // says why not
		case have != nil:
			// Put the output instead of the one that has the name, or its parts into that.
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
		if err := t.named(nil, t.CommitNew); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// CommitAs is Commit under another name, whatever has that.
func (t *Tree) CommitAs(other func(name string) string) (name string, err error) {
	err = t.named(nil, func() (err error) {
		name, err = t.directory.CommitAs(other)
		return err
	})
	return name, err
}

// named calls commit when all files have the name of the run, if they get one. It drops the output
// if there is an error, or was one.
func (t *Tree) named(err error, commit func() error) error {
	if err == nil && t.opt.Mode.Merges() {
		var own *Marker
		if own, err = t.own(); err == nil {
			err = t.nameFiles(own)
		}
	}
	if err != nil {
		return errors.Join(t.Wrap("replace", err), t.Close())
	}
	return commit()
}

// nameFiles gives all files the name of the run, unless they have it.
func (t *Tree) nameFiles(m *Marker) error {
	from, to := t.file, m.fileOf(m.Run)
	if from == "" {
		from = firstPart + m.Format
	}
	if t.file = to; from == to {
		return nil
	}
	return eachPart(t.Path(), len(m.PartitionBy), func(part string) error {
		dir := filepath.Join(t.Path(), part)
		return t.Sys().Rename(filepath.Join(dir, from), filepath.Join(dir, to))
	})
}

// own returns the marker in the temporary directory.
func (t *Tree) own() (*Marker, error) {
	m, err := ReadMarker(t.Path())
	if err == nil && m == nil {
		err = ErrForeign
	}
	return m, err
}

// fileOf returns the name of a run's files.
func (m *Marker) fileOf(run string) string { return "part-" + run + m.Format }

// merge puts the parts into the output that has the name, which is locked.
func (t *Tree) merge() error {
	own, err := t.own()
	if err != nil {
		return errors.Join(t.Wrap("write into", err), t.Close())
	}
	hash := own.Run
	have, same, err := t.prepare(own)
	if err != nil || same {
		return errors.Join(t.Wrap("write into", err), t.Close())
	}
	next := *have
	next.Pending = &pending{runRecord: own.runRecord, From: filepath.Base(t.Path()), Hash: hash}
	if err := t.writeMarker(&next); err != nil {
		return t.stopped(own, err)
	}
	from := t.Path()
	if err := t.complete(&next, own); err != nil {
		return t.stopped(own, err)
	}
	t.Keep()
	if err := t.Sys().RemoveAll(from); err != nil {
		return t.Wrap("write into", fmt.Errorf("%w: all is in place and complete; remove %s", atomicfile.Cause(err), from))
	}
	return nil
}

// prepare completes the work of an earlier run, and makes sure that the parts can be put in
// place. It returns the marker of the output, and whether the earlier run was the same as this.
func (t *Tree) prepare(own *Marker) (have *Marker, same bool, err error) {
	have, err = ReadMarker(t.Target())
	if err == nil && have == nil {
		err = fs.ErrNotExist // removed since the first look
	}
	if err == nil {
		err = have.Takes(own)
	}
	if err != nil {
		return nil, false, err
	}
	if p := have.Pending; p != nil {
		from := filepath.Join(filepath.Dir(t.Target()), filepath.Base(p.From))
		same = p.Hash == own.Run && p.Mode == own.Mode
		if exists(from) {
			if err := t.finish(have, from); err != nil || same {
				return have, same, err
			}
		} else if !same {
			return nil, false, fmt.Errorf("%w: its logs were %s", ErrStopped, p.Metadata[container.KeyInputs])
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

// finish completes the run that is pending, whose parts are at from.
func (t *Tree) finish(have *Marker, from string) error {
	own := *have
	own.runRecord = have.Pending.runRecord
	if err := t.putMarker(&own, from); err != nil {
		return err
	}
	if err := t.Sys().SyncTree(t.Target()); err != nil {
		return err
	}
	have.addRun(own.runRecord)
	if err := t.writeMarker(have); err != nil {
		return err
	}
	t.Finished = append(t.Finished, own.Metadata[container.KeyInputs])
	return t.Sys().RemoveAll(from)
}

// checkParts returns an error if the content of a partition would be lost or doubled. Where a run
// writes the same rows again, in place of it, its files get another name: so a
// directory of the old files is never treated as one of the new.
func (t *Tree) checkParts(have, own *Marker) error {
	for {
		var parts, there int64
		err := eachPart(t.Path(), len(own.PartitionBy), func(part string) error {
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

// complete puts the parts in place, and says so in the marker.
func (t *Tree) complete(have, own *Marker) error {
	if err := t.putMarker(own, t.Path()); err != nil {
		return err
	}
	if err := t.Sys().SyncTree(t.Target()); err != nil {
		return err
	}
	have.addRun(own.runRecord)
	return t.writeMarker(have)
}

// putMarker puts the parts of a run in place that lie at from and are not in place yet.
func (t *Tree) putMarker(run *Marker, from string) error {
	file := run.fileOf(run.Run)
	return eachPart(from, len(run.PartitionBy), func(part string) error {
		part, name := filepath.Join(from, part), filepath.Join(t.Target(), part)
		switch {
		case !exists(filepath.Join(part, file)):
			return nil // this is the old part
		case !exists(name):
			if err := t.Sys().MkdirAll(filepath.Dir(name)); err != nil {
				return err
			}
			return t.Sys().Rename(part, name)
		case run.Mode == Append.String():
			return t.Sys().Rename(filepath.Join(part, file), filepath.Join(name, file))
		}
		err := t.Sys().Exchange(part, name)
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		if err := t.Sys().Rename(name, part+".old"); err != nil {
			return err
		}
		return t.Sys().Rename(part, name)
	})
}

// eachPart calls do with the directory of each partition below root, in order. Directories that
// were replaced, with names that end in .old, are none.
func eachPart(root string, depth int, do func(part string) error) error {
	return eachBelow(root, "", depth, do)
}

// eachBelow is eachPart for the directories below one, that many levels down.
func eachBelow(root, dir string, levels int, do func(part string) error) error {
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
		if err := eachBelow(root, filepath.Join(dir, e.Name()), levels-1, do); err != nil {
			return err
		}
	}
	return nil
}

// writeMarker writes the marker of the output, in place of the old one.
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

// stopped returns the error of a run that is pending from now on. Its files stay for the next run,
// if the marker says so.
func (t *Tree) stopped(run *Marker, err error) error {
	have, errRead := ReadMarker(t.Target())
	switch {
	case errRead != nil || have == nil || have.Pending != nil:
	case have.Run == run.Run && have.Mode == run.Mode:
		err = fmt.Errorf("%w: all is in place and complete, but a power failure might undo that", atomicfile.Cause(err))
		fallthrough
	default:
		return errors.Join(t.Wrap("write into", err), t.Close())
	}
	from := t.Path()
	t.Keep()
	err = fmt.Errorf("%w: some partitions may be in place; the next run into the directory moves the others there from %s, unless it replaces all",
		atomicfile.Cause(err), from)
	return t.Wrap("write into", err)
}

// exists reports whether something has that name.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
