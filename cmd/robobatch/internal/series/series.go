// Package series manages the files that a one-output-per-input run keeps in its output directory: the mapping from
// inputs to outputs, completed and failed inputs, and shard totals. The commands check-output and merge read them. Only
// cmd/robobatch imports it.
//
// Besides the outputs, the directory contains:
//
//	_done/<output>.json            a [Record]: this output is complete, and depends on these things. It is written last
//	_failed.jsonl                  a [Failure] per line, if inputs failed; for a shard, _failed.2-of-8.jsonl
//	_stats.json, _stats.2-of-8.json the [Stats] of a run, or of a shard
//	_SUCCESS                       the Stats of all shards, once every output is complete
//
// With partitions, an output consists of several files, key=value/<output>. Its record is first written as pending,
// with a list of the files, before the first of them gets its name. A later run that finds it can then remove what a
// killed run left. _parts contains the files being written.
//
// Records and Stats are manifests: each has the size and the hash of its outputs, and a seal over itself ([manifest]).
// [Dir.Verify] reads all of them and all outputs.
//
// Before an input is read, its record and then any file with the name of its output are removed. A record therefore
// always belongs to the output next to it, and the output of an earlier run does not remain if an input fails now. All
// files are read and written through [storage.Backend].
//
// # Why so
//
// With -out dir/, a run consists of one run per input, with one store. An output depends on its input, the rules and
// the flags, never on previous inputs. A shard, a restart and a complete run therefore produce the same files, and
// nothing must be combined.
//
//   - Completion is a file, not a state. The record of an output (dir/_done) is written last, synced,
//     and names everything that the bytes depend on. It is removed first when the output is redone.
//     A process may therefore die between any two steps, and no lock or server is needed.
//   - The input is hashed before it is read. If it changes afterwards, it differs from the record,
//     and is redone. The file is read twice; XXH3 takes a twentieth of the CPU time of a list of
//     URLs (0.02 of 0.37 s for 69 MB).
//   - Shards are computed without communication. Each task lists all inputs and assigns them by
//     size, the largest first. -stats contains the hash of the list, so merge detects tasks with
//     different lists.
//   - All files are accessed through internal/storage, which finds, reads and replaces files for lists,
//     records and totals, and opens the files that other packages read. Objects are a separate Place;
//     their ETag replaces the hash.
//   - Rows of a failed input are not kept, unlike in a run with one output. They would be an
//     additional file in a directory that other programs read completely.
package series

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/internal/storage"
)

// An Item is an input and its output.
type Item struct {
	logfiles.File
	Output string      // relative to the output directory, with slashes
	Part   ingest.Part // part of the input

	shard int   // from 1; 0 if not assigned
	from  int64 // byte offset of a piece in the stored input; Size is the size of the piece
}

// IsPiece reports whether the item is a piece of its input.
func (i *Item) IsPiece() bool { return i.Part != ingest.Part{} }

// Done converts the number of bytes read from the input, which for a piece includes bytes outside of it, to the
// number of bytes read of the item.
func (i *Item) Done(read int64) int64 { return max(0, min(read-i.from, i.Size)) }

// shown is the maximum number of items that a message lists.
const shown = 10

// Pair assigns an output to each input: the path of the input, with its last element converted by name. The error
// reports all inputs whose output would be that of another input, or would replace a file of this package, and names
// the first ones.
func Pair(files []logfiles.File, name func(log string) string) ([]Item, error) {
	items := make([]Item, len(files))
	owner := make(map[string]int, len(files))
	var errs []error
	for i, f := range files {
		dir, base := path.Split(f.Path)
		items[i] = Item{File: f, Output: dir + name(base)}
		if first, _, _ := strings.Cut(items[i].Output, "/"); first == doneDir {
			errs = append(errs, fmt.Errorf("%s: its output would be in %s, which is reserved: name the input by another directory", msg.File(f.Name), doneDir))
		}
		if other, ok := owner[items[i].Output]; ok {
			errs = append(errs, fmt.Errorf("%s and %s would have the same output, %s: rename one, or give them different -out",
				msg.File(files[other].Name), msg.File(f.Name), msg.File(items[i].Output)))
			continue
		}
		owner[items[i].Output] = i
	}
	for i := range items {
		for dir := path.Dir(items[i].Output); dir != "."; dir = path.Dir(dir) {
			if other, ok := owner[dir]; ok {
				errs = append(errs, fmt.Errorf("the output of %s would be in %s, which is the output of %s: rename one, or give them different -out",
					msg.File(items[i].Name), msg.File(dir), msg.File(items[other].Name)))
			}
		}
	}
	if n := len(errs) - shown; n > 0 {
		errs = append(errs[:shown], fmt.Errorf("and %d more inputs have no separate output", n))
	}
	return items, errors.Join(errs...)
}

// A List describes all inputs of a run, over all shards.
type List struct {
	Hash   string `json:"hash"` // hash of the names and sizes, in order
	Inputs int    `json:"inputs"`
	Bytes  int64  `json:"bytes"`            // sum of the known sizes
	Pieces int    `json:"pieces,omitempty"` // number of pieces of the inputs that were split; each piece counts as an input
}

// ListOf describes items. The hash depends on their order.
func ListOf(items []Item) List {
	l := List{Inputs: len(items)}
	h := xxh3.New()
	for i := range items {
		l.Bytes += max(0, items[i].Size)
		h.WriteString(items[i].Name + "\x00" + strconv.FormatInt(items[i].Size, 10))
		if items[i].IsPiece() {
			l.Pieces++
			h.WriteString("\x00" + strconv.FormatInt(items[i].Part.From, 10) + "\x00" + strconv.FormatInt(items[i].Part.To, 10))
		}
		h.WriteString("\n")
	}
	sum := h.Sum128().Bytes()
	l.Hash = hex.EncodeToString(sum[:])
	return l
}

// ItemsOf returns the items of a shard, in list order. Call [Divide] first.
func ItemsOf(items []Item, s Shard) []Item {
	if s.Whole() {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), func(item Item) bool { return item.shard != s.Index+1 })
}

// A Dir is the output directory of a run, with the shard that uses it.
type Dir struct {
	Name string // as given, with or without a final slash
	Shard
	Partitioned bool // each input has files in partitions
}

// doneDir is the directory of records.
const doneDir = "_done"

// Suffixes that are added to the path of an output: for its record, and for its list of rejects.
const (
	recordSuffix  = ".json"
	rejectsSuffix = ".rejects.jsonl"
)

// Output returns the name of an output.
func (d Dir) Output(item *Item) string { return d.join(item.Output) }

// join returns the name of a file in the directory.
func (d Dir) join(file string) string { return storage.Join(d.Name, file) }

// record returns the name of the record of an output.
func (d Dir) record(output string) string { return d.join(doneDir + "/" + output + recordSuffix) }

// HasRecords reports whether the directory contains outputs of a run with one output per input.
func (d Dir) HasRecords() bool {
	names, err := storage.WithPrefix(d.join(doneDir) + "/")
	return err == nil && len(names) > 0
}

// Failed returns the name of the list of failures.
func (d Dir) Failed() string { return d.join("_failed" + d.Infix() + ".jsonl") }

// AllFailed returns a pattern that matches the failure lists of all shards of a run with that number of shards.
func (d Dir) AllFailed(shards int) string {
	if shards <= 1 {
		return d.Failed()
	}
	return d.join(fmt.Sprintf("_failed.*-of-%d.jsonl", shards))
}

// Stats returns the name of the statistics.
func (d Dir) Stats() string { return d.join("_stats" + d.Infix() + ".json") }

// success returns the name of the file that marks the run as complete.
func (d Dir) success() string { return d.join("_SUCCESS") }

// Begin creates the directory. It removes the files that record how an earlier run ended. It also removes temporary
// files that killed processes left next to these outputs and, in the directory rejects, next to their lists.
func (d Dir) Begin(items []Item, rejects string) error {
	p := storage.Of(d.Name)
	if err := storage.MakeParent(d.success()); err != nil {
		return err
	}
	if err := errors.Join(p.Remove(d.success()), p.Remove(d.Stats()), p.Remove(d.Failed())); err != nil {
		return err
	}
	return d.sweep(items, rejects)
}

// sweep removes temporary files that killed processes left for outputs of these items, for their records and, unless
// rejects is "", for their lists in the directory rejects.
func (d Dir) sweep(items []Item, rejects string) error {
	dirs := map[string]bool{".": true} // directories of outputs
	for i := range items {
		dirs[path.Dir(items[i].Output)] = true
	}
	ours := sync.OnceValue(func() map[string]bool { // computed only if needed: there may be a million inputs, and usually nothing is left
		all := map[string]bool{path.Base(d.Stats()): true, path.Base(d.Failed()): true}
		for i := range items {
			all[items[i].Output] = true
		}
		return all
	})
	for _, of := range []struct{ root, suffix string }{{d.Name, ""}, {d.join(doneDir), recordSuffix}, {rejects, rejectsSuffix}} {
		if of.root == "" {
			continue
		}
		for _, dir := range slices.Sorted(maps.Keys(dirs)) {
			err := storage.Of(of.root).Sweep(storage.Join(of.root, dir), func(name string) bool {
				base, ok := strings.CutSuffix(filepath.Base(name), of.suffix)
				return ok && ours()[path.Join(dir, base)]
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Rejects returns the name of the list of an input's rejected lines, in the directory of these lists.
func (d Dir) Rejects(dir string, item *Item) string {
	return storage.Join(dir, item.Output+rejectsSuffix)
}

// FailedText is the error text about failed inputs: it names the first ones and their errors, and the file that lists
// all of them.
func FailedText(failures []Failure, list string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%s failed:", msg.Count(int64(len(failures)), "input"))
	for _, f := range failures[:min(len(failures), shown)] {
		text := strings.ReplaceAll(f.Error, "\n", " ")
		if name := msg.File(f.Input); !strings.HasPrefix(text, name) {
			text = name + ": " + text
		}
		sb.WriteString("\n  " + text)
	}
	if n := len(failures) - shown; n > 0 {
		fmt.Fprintf(&sb, "\n  and %s more", msg.Number(int64(n)))
	}
	fmt.Fprintf(&sb, "\n%s lists them; -resume tries them again", list)
	return sb.String()
}
