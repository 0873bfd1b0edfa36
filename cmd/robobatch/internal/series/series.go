// Package series is the files that a run with one output per input keeps beside its outputs: which output belongs
// to which input, which are done, which inputs failed, and how shards add up. The commands check-output and merge read
// them. Only cmd/robobatch imports it.
//
// The directory of the outputs has, besides them:
//
//	_done/<output>.json            a [Record]: this output is complete, and depends on these things. Written last
//	_failed.jsonl                  a [Failure] a line, where inputs failed; of a shard, _failed.2-of-8.jsonl
//	_stats.json, _stats.2-of-8.json the [Stats] of a run, or of a shard
//	_SUCCESS                       the Stats of all shards, once every output is complete
//
// With partitions an output is several files, key=value/<output>. Its record is written before the first of them gets its name,
// as pending, and lists them; so a run that finds it removes what a killed one has left. _parts has those that are being written.
//
// Records and Stats are manifests: each has the size and the hash of its outputs, and a seal over itself
// ([manifest]). [Dir.Verify] reads all of them and all outputs.
//
// Before an input is read, its record and any file with the name of its output are removed, in this
// order. So a record always is about the output beside it, and no output of an earlier run is left
// where an input fails now. All files are read and written by [place.Place].
//
// # Why so
//
// With -out dir/ a run is a series of runs of one input each, by one store. An output is bytes
// of its input, the rules and the flags, never of the inputs before it; so a shard, a restart
// and the whole run make the same files, and nothing has to be put together.
//
//   - Done is a file, not a state. The record of an output (dir/_done) is written last, synced,
//     and names all that the bytes depend on. It is removed first when the output is made again.
//     So a process may die between any two steps, and no lock or server is needed.
//   - The input is hashed before it is read. If it changes after that, it differs from the record,
//     and is done again. The file is read twice; XXH3 takes a twentieth of the processor time
//     that the rows of a list of URLs take (0.02 of 0.37 s for 69 MB).
//   - Shards are computed, not agreed on. Each task lists all inputs and gives them away by
//     size, the largest first. The hash of the list stands in -stats, so merge sees tasks that
//     saw other lists.
//   - A name has one door. internal/place finds, reads and replaces files for lists, records and
//     totals, and opens the files that other packages read. Objects are a Place of their own; their ETag is
//     the hash then.
//   - No rows of an input that failed are kept, unlike in a run with one output. They would be
//     one file more in a directory that other programs read whole.
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

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/internal/place"
)

// An Item is an input and the output that is made of it.
type Item struct {
	logfiles.File
	Output string      // below the directory of the outputs, with slashes
	Part   ingest.Part // of the input

	shard int   // from 1; 0 as long as it has none
	from  int64 // where a piece begins in the input, as stored; Size is that of the piece
}

// IsPiece reports whether the item is a piece of its input.
func (i *Item) IsPiece() bool { return i.Part != ingest.Part{} }

// Done returns how much of the item was read when so many bytes of its input were.
func (i *Item) Done(read int64) int64 { return max(0, min(read-i.from, i.Size)) }

// shown is how many of many things a message shows.
const shown = 10

// Pair returns the inputs with their outputs: their paths, with the last part as name gives it. Two
// inputs of one output are an error, and so is an input whose output would lie among the files of
// this package. All are reported, the first ones by name.
func Pair(files []logfiles.File, name func(log string) string) ([]Item, error) {
	items := make([]Item, len(files))
	owner := make(map[string]int, len(files))
	var errs []error
	for i, f := range files {
		dir, base := path.Split(f.Path)
		items[i] = Item{File: f, Output: dir + name(base)}
		if first, _, _ := strings.Cut(items[i].Output, "/"); first == doneDir {
			errs = append(errs, fmt.Errorf("%s: its output would be in %s, which is reserved: name the input by another directory", say.File(f.Name), doneDir))
		}
		if other, ok := owner[items[i].Output]; ok {
			errs = append(errs, fmt.Errorf("%s and %s would have the same output, %s: rename one, or give them different -out",
				say.File(files[other].Name), say.File(f.Name), say.File(items[i].Output)))
			continue
		}
		owner[items[i].Output] = i
	}
	for i := range items {
		for dir := path.Dir(items[i].Output); dir != "."; dir = path.Dir(dir) {
			if other, ok := owner[dir]; ok {
				errs = append(errs, fmt.Errorf("the output of %s would be in %s, which is the output of %s: rename one, or give them different -out",
					say.File(items[i].Name), say.File(dir), say.File(items[other].Name)))
			}
		}
	}
	if n := len(errs) - shown; n > 0 {
		errs = append(errs[:shown], fmt.Errorf("and %d more inputs have no separate output", n))
	}
	return items, errors.Join(errs...)
}

// A List is all inputs of a run, those of all shards.
type List struct {
	Hash   string `json:"hash"` // of the names and sizes, in their order
	Inputs int    `json:"inputs"`
	Bytes  int64  `json:"bytes"`            // of all that have a size
	Pieces int    `json:"pieces,omitempty"` // of inputs that were split; each counts as an input
}

// ListOf returns the list of items.
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

// Of returns the items of a shard, in the order of all, which [Divide] gave away.
func Of(items []Item, s Shard) []Item {
	if s.Whole() {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), func(item Item) bool { return item.shard != s.Index+1 })
}

// A Dir is the directory of the outputs, as a shard uses it.
type Dir struct {
	Name string // as asked for, with or without a slash at its end
	Shard
	Partitioned bool // each input has files in partitions
}

// doneDir is where records lie.
const doneDir = "_done"

// The suffixes of the record of an output, and of the list of its rejects, behind the path of the output.
const (
	recordSuffix  = ".json"
	rejectsSuffix = ".rejects.jsonl"
)

// Output returns the name of an output.
func (d Dir) Output(item *Item) string { return d.join(item.Output) }

// join returns the name of a file in the directory.
func (d Dir) join(file string) string { return place.Join(d.Name, file) }

// record returns the name of the record of an output.
func (d Dir) record(output string) string { return d.join(doneDir + "/" + output + recordSuffix) }

// HasRecords reports whether outputs of runs with one output per input are in the directory.
func (d Dir) HasRecords() bool {
	names, err := place.WithPrefix(d.join(doneDir) + "/")
	return err == nil && len(names) > 0
}

// Failed returns the name of the list of failures.
func (d Dir) Failed() string { return d.join("_failed" + d.Infix() + ".jsonl") }

// AllFailed returns the pattern of the lists of failures, of that many shards.
func (d Dir) AllFailed(shards int) string {
	if shards <= 1 {
		return d.Failed()
	}
	return d.join(fmt.Sprintf("_failed.*-of-%d.jsonl", shards))
}

// Stats returns the name of the statistics.
func (d Dir) Stats() string { return d.join("_stats" + d.Infix() + ".json") }

// success returns the name of the file that says that all is complete.
func (d Dir) success() string { return d.join("_SUCCESS") }

// Begin makes the directory. It removes the files that record how an earlier run ended, and the temporary files that a
// killed process left beside these outputs and, in the directory rejects, beside their lists.
func (d Dir) Begin(items []Item, rejects string) error {
	p := place.Of(d.Name)
	if err := place.MakeParent(d.success()); err != nil {
		return err
	}
	if err := errors.Join(p.Remove(d.success()), p.Remove(d.Stats()), p.Remove(d.Failed())); err != nil {
		return err
	}
	return d.sweep(items, rejects)
}

// sweep removes temporary files of processes that were killed.
func (d Dir) sweep(items []Item, rejects string) error {
	dirs := map[string]bool{".": true} // of outputs
	for i := range items {
		dirs[path.Dir(items[i].Output)] = true
	}
	ours := sync.OnceValue(func() map[string]bool { // of a million inputs, and mostly nothing is left
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
			err := place.Of(of.root).Sweep(place.Join(of.root, dir), func(name string) bool {
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

// Rejects returns the name of the list of an input's rejects in a directory of such lists.
func (d Dir) Rejects(dir string, item *Item) string {
	return place.Join(dir, item.Output+rejectsSuffix)
}

// FailedText says that inputs failed, the first of them by name, and where all stand.
func FailedText(failures []Failure, list string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%s failed:", say.Count(int64(len(failures)), "input"))
	for _, f := range failures[:min(len(failures), shown)] {
		text := strings.ReplaceAll(f.Error, "\n", " ")
		if name := say.File(f.Input); !strings.HasPrefix(text, name) {
			text = name + ": " + text
		}
		sb.WriteString("\n  " + text)
	}
	if n := len(failures) - shown; n > 0 {
		fmt.Fprintf(&sb, "\n  and %s more", say.Number(int64(n)))
	}
	fmt.Fprintf(&sb, "\n%s lists them; -resume tries them again", list)
	return sb.String()
}
