package conduct

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/build"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flow"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/manifest"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/shard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/place"
)

// A part is the two files of a shard: one of blocks, which conduct.Journal exports, and then a manifest, which shows
// that the first is complete. The file of blocks is one stream of zstd. Before each block stands its length, as a uvarint.
type part struct {
	guard.Sink[place.Output] // of the blocks
	dir                      string
	shard                    shard.Shard
	list                     series.List
	logs                     []log
}

// A log is one that a shard has read.
type log struct {
	Index int    `json:"index"` // in the list of all
	Name  string `json:"name"`
}

// The names of the files of a part, around its shard.
const (
	partName       = "conduct"
	blocksSuffix   = ".requests.zst"
	manifestSuffix = ".json"
)

// newPart returns the part of a shard in a directory.
func newPart(dir string, s shard.Shard) *part {
	p := &part{dir: dir, shard: s}
	p.Name = place.Join(dir, partName+s.Infix()+blocksSuffix)
	return p
}

// manifest returns the name of the manifest.
func (p *part) manifest() string { return place.Join(p.dir, partName+p.shard.Infix()+manifestSuffix) }

// A record is the manifest of a part.
type record struct {
	series.Made
	Shard shard.Shard `json:"shard"`
	List  series.List `json:"list"`
	Logs  []log       `json:"logs"`
	about
	Cache time.Duration `json:"cache_ns"`
	Rows  rows          `json:"rows"`

	RunWarnings []warning.Warning `json:"run_warnings"` // about rules and flags
	Warnings    []warning.Warning `json:"warnings"`     // about the logs

	Blocks  summary.File `json:"blocks"`
	Largest int          `json:"largest_block"`
}

// rows are the counts of a shard's rows that gates need, see passage.NothingToJudge.
type rows struct {
	flow.Rows
	Rules string `json:"rules"`
	IsOdd bool   `json:"is_odd"`
}

// takePart opens the logs of the shard, and no others. All were looked at, so that the same fields are kept in all shards.
func (r *run) takePart(g *given) error {
	p, files := r.part, r.Files.Files
	items, sizes := make([]series.Item, len(files)), make([]int64, len(files))
	for i, f := range files {
		if f.Size < 0 {
			return &ingest.NameError{Name: f.Name, Err: errors.New("can be read only once, so it is of no shard"), Remedy: "write it to a file first"}
		}
		items[i].File, sizes[i] = f, f.Size
	}
	p.list = series.ListOf(items)
	var names []string
	for i, n := range shard.Of(sizes, p.shard.Count) {
		if n == p.shard.Index {
			p.logs = append(p.logs, log{i, files[i].Name})
			names = append(names, files[i].Name)
		}
	}
	err := r.Logs.Close()
	r.Logs = nil
	if err == nil && len(names) > 0 {
		r.Logs, err = ingest.OpenLogs(names, r.LogOpt)
	}
	if err == nil {
		r.flags, err = series.FlagsOf(r.Asked, struct {
			Dialect       string `json:"dialect"`
			IntactOnly    bool   `json:"intact_only"`
			AcceptDamaged bool   `json:"accept_damaged_rules"`
		}{g.Question.Dialect, g.Logs.IntactOnly, g.AcceptDamage})
	}
	return err
}

// begin removes the manifest of an earlier run, before anything else. A run that is no shard has no part.
func (p *part) begin() error {
	if p == nil {
		return nil
	}
	if err := place.MakeParent(p.Name); err != nil {
		return err
	}
	return place.Of(p.dir).Remove(p.manifest())
}

// close drops the file, unless it is complete.
func (p *part) close() error {
	if p == nil {
		return nil
	}
	return p.Close()
}

// finishPart takes the logs of the shard through the rules, and writes the part.
func (r *run) finishPart(ctx context.Context, journal *conduct.Journal) error {
	rec := &record{
		Made:  series.Made{Version: build.Version(), RulesHash: r.Now.Store.RulesHash(), Flags: r.flags},
		Shard: r.part.shard, List: r.part.list, Logs: r.part.logs, Cache: r.opt.Cache,
		RunWarnings: slices.Clone(r.Warnings), Warnings: []warning.Warning{},
	}
	rec.Rows.Rules, rec.Rows.IsOdd = r.Now.Path, r.Now.Odd().IsOdd()
	if r.Logs != nil {
		if err := r.takeLogs(ctx, journal); err != nil {
			return err
		}
		s := r.Summary()
		rec.Rows.Rows = s.Rows()
		for _, d := range append(s.Warn(), r.Rejected(s)...) {
			if d.Code != warning.NoRows { // other shards may have some
				r.Warn(d)
			}
		}
		rec.Warnings = append(rec.Warnings, r.Warnings[len(rec.RunWarnings):]...)
		r.HintMemory()
	}
	rec.about = r.about(journal)
	if err := r.part.write(ctx, journal, rec); err != nil {
		return err
	}
	r.Print(say.File(r.part.manifest()) + ": " + say.Count(rec.Requests, "request") + " of " + say.Count(int64(len(rec.Logs)), "log") + "\n")
	return nil
}

// write writes the blocks of a journal, and then the manifest.
func (p *part) write(ctx context.Context, journal *conduct.Journal, rec *record) error {
	if err := p.Create(func() (place.Output, error) { return place.Create(p.Name, nil) }); err != nil {
		return err
	}
	digest := place.NewDigest(writerFunc(func(b []byte) (n int, err error) {
		err = p.Use(func(out place.Output) error {
			n, err = out.Write(b)
			return out.Wrap("write", err)
		})
		return n, err
	}))
	packed, err := zstd.NewWriter(digest, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(blockWindow))
	if err != nil {
		return err
	}
	var head []byte
	err = journal.Export(func(block []byte) error {
		rec.Largest = max(rec.Largest, len(block))
		head = binary.AppendUvarint(head[:0], uint64(len(block)))
		_, errHead := packed.Write(head)
		_, errBlock := packed.Write(block)
		return cmp.Or(ctx.Err(), errHead, errBlock)
	})
	if errClose := packed.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = p.Commit(place.Output.Commit)
	}
	if err != nil {
		return err
	}
	rec.Blocks.Bytes, rec.Blocks.XXH3 = digest.Sum()
	text, err := manifest.Text(rec)
	if err != nil {
		return err
	}
	return place.Of(p.dir).Write(p.manifest(), text)
}

// blockWindow is the window of zstd of blocks.
const blockWindow = 1 << 20

// A writerFunc is a function that writes.
type writerFunc func(b []byte) (int, error)

// Write calls the function.
func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
