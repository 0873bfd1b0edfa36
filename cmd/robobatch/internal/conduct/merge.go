package conduct

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/build"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/manifest"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/passage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/shard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warn"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
)

// A merging is a run of the command conduct that merges shards.
type merging struct {
	console.Console
	outcome
	dir      string
	crawlers string // hash of the file of -crawlers; "" without one
	memory   memory.Run
	opt      conduct.Options
}

// planMerge checks the flags of a run that merges shards.
func (g *given) planMerge(std console.Streams, faults cli.Faults) (guard.Task, error) {
	m := &merging{
		Console: console.Console{Streams: std, Quiet: g.Work.Quiet},
		outcome: g.chooseOutcome(std, &faults), dir: g.merge, crawlers: g.Question.CrawlersHash,
	}
	for _, name := range g.ofLogs {
		faults.Add(name, errors.New("with -merge the shards have read rules and logs: leave it out"))
	}
	if g.shard != "" || g.parts != "" {
		faults.Add("merge", errors.New("it reads what shards wrote: leave out -shard and -parts"))
	}
	if scheme := place.Foreign(m.dir); scheme != "" {
		faults.Add("merge", fmt.Errorf("%s is no place to read from: name a directory, or s3://", scheme))
	}
	var err error
	m.memory.Plan = memory.PlanOf("conduct")
	m.memory.Limit, err = memory.Parse(g.Work.MaxMemory)
	faults.Add("max-memory", err)
	for _, name := range m.files.names() {
		if place.IsRemote(name) {
			m.memory.Remote += place.OutputMemory
		}
	}
	m.memory.Typed, m.memory.Workers = g.Work.MaxMemory, 1
	parts, err := m.memory.Divide()
	faults.Add("max-memory", err)
	m.opt.Memory, m.opt.ByAgent, m.opt.Requests = parts.Counts, m.byAgent, m.hasRows()
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return m, m.files.check(targets.Inputs{})
}

// Drop drops the files, unless they are complete.
func (m *merging) Drop() (committed bool, err error) { return m.files.drop() }

// Run judges the requests of all shards, and reports the rules that crawlers knew.
func (m *merging) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, m.files.close()) }()
	m.Hint(targets.Leftovers(m.files.names()...))
	m.WarnOnce(targets.Mixed(m.files.names()...))
	m.memory.SetLimit(0)
	all, err := m.records()
	if err != nil {
		return err
	}
	if err := m.files.check(m.inputs(all)); err != nil {
		return err
	}
	a, err := m.addUp(all)
	if err != nil {
		return err
	}
	m.opt.TempDir, m.opt.Cache = m.tempDir(), all[0].Cache
	m.opt.Bodies = a.Bodies && !a.Headers
	merger := conduct.NewMerger(m.opt)
	defer merger.CloseTemp()
	for _, rec := range all {
		if err := m.read(ctx, rec, merger); err != nil {
			return err
		}
	}
	return m.report(ctx, &m.Console, a, merger.Judge)
}

// inputs returns the files of the shards, which are read.
func (m *merging) inputs(all []*record) (read targets.Inputs) {
	for _, r := range all {
		p := newPart(m.dir, r.Shard)
		read.Logs = append(read.Logs, ingest.Input{Name: p.manifest()}, ingest.Input{Name: p.Name})
	}
	return read
}

// records reads the manifests of all shards, in their order. The error says that they are not those of one run, or that
// one is missing.
func (m *merging) records() ([]*record, error) {
	var names []string
	err := place.Of(m.dir).Walk(m.dir, func(name string, _ place.Info) error {
		path := place.Rel(m.dir, name)
		if strings.HasPrefix(path, partName+".") && strings.HasSuffix(path, manifestSuffix) {
			names = append(names, name)
		}
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0:
		return nil, fmt.Errorf("%s has no %s.0-of-n%s, which a shard writes at its end: name the directory of -parts", say.File(m.dir), partName, manifestSuffix)
	case err != nil:
		return nil, err
	}
	all, claims := make([]*record, len(names)), make([]series.Claim, len(names))
	for i, name := range names {
		if all[i], err = readRecord(name); err != nil {
			return nil, err
		}
		claims[i] = series.Claim{Name: name, Made: all[i].Made, Shard: all[i].Shard, List: all[i].List, Inputs: len(all[i].Logs)}
	}
	nameOf := func(s shard.Shard) string { return newPart(m.dir, s).manifest() }
	if err := series.CheckShards(claims, nameOf, ""); err != nil {
		return nil, err
	}
	own := series.Made{Version: build.Version(), RulesHash: all[0].RulesHash, Flags: all[0].Flags}
	if what := own.Differ(&all[0].Made); what != "" {
		return nil, fmt.Errorf("%s was written by robobatch %s, and this is %s: merge with the version of the shards", say.File(names[0]), all[0].Version, build.Version())
	}
	if hash := all[0].crawlersHash(); hash != m.crawlers {
		return nil, errors.New("-crawlers: the shards had another file, or none: give -merge the flag as the shards had it")
	}
	slices.SortFunc(all, func(a, b *record) int { return a.Shard.Index - b.Shard.Index })
	return all, nil
}

// readRecord reads the manifest of a shard.
func readRecord(name string) (*record, error) {
	text, err := place.ReadAll(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", say.File(name), err)
	}
	r := &record{}
	err = manifest.Read(text, r)
	if s := r.Shard; err == nil && (r.List.Hash == "" || s.Index < 0 || s.Index >= max(1, s.Count) || s.Count > shard.Most) {
		err = errors.New("it says nothing of a shard")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: run the shard again", say.File(name), err)
	}
	return r, nil
}

// crawlersHash returns the hash of the file of -crawlers that the shard had; "" without one.
func (r *record) crawlersHash() (hash string) {
	if json.Unmarshal(r.Flags["crawlers_hash"], &hash) != nil {
		return ""
	}
	return hash
}

// addUp adds up the shards' records of their logs, and prints their warnings. It returns an error if nothing can be judged.
func (m *merging) addUp(all []*record) (*about, error) {
	a := &about{Dialect: all[0].Dialect, Verified: all[0].Verified}
	total := rows{Rules: all[0].Rows.Rules, IsOdd: all[0].Rows.IsOdd}
	var logs []log
	var bad string
	isBad := true
	var warnings warn.Sum
	for _, r := range all {
		a.Requests, a.Rejected = a.Requests+r.Requests, a.Rejected+r.Rejected
		a.Times, a.Answers, a.Bytes = a.Times || r.Times, a.Answers || r.Answers, a.Bytes || r.Bytes
		a.Bodies, a.Headers = a.Bodies || r.Bodies, a.Headers || r.Headers
		logs = append(logs, r.Logs...)
		total.Read, total.Decided, total.Without = total.Read+r.Rows.Read, total.Decided+r.Rows.Decided, total.Without+r.Rows.Without
		if r.Rows.Bad != "" {
			bad = r.Rows.Bad
		} else if r.Rows.Read > 0 {
			isBad = false
		}
		m.WarnOnce(r.RunWarnings)
		warnings.Add(newPart(m.dir, r.Shard).manifest(), r.Warnings)
	}
	slices.SortFunc(logs, func(a, b log) int { return a.Index - b.Index })
	for _, l := range logs {
		a.inputs = append(a.inputs, l.Name)
	}
	switch {
	case a.Requests == 0:
		return nil, passage.ErrNoRequests
	case isBad && bad != "":
		return nil, errors.New(bad)
	}
	for _, d := range warnings.Warnings(len(all), "shard") {
		m.Warn(d)
	}
	if len(m.gates) > 0 {
		return a, passage.NothingToJudge(total.Rows, total.Rules, total.IsOdd)
	}
	return a, nil
}

// read gives a merger the blocks of a shard. The error says if they are not those that the shard wrote.
func (m *merging) read(ctx context.Context, r *record, to *conduct.Merger) error {
	name := newPart(m.dir, r.Shard).Name
	f, err := place.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w: run the shard again", say.File(name), atomicfile.Cause(err))
	}
	defer f.Close() //nolint:errcheck // it was only read
	digest := place.NewDigest(io.Discard)
	if err = to.Begin(); err != nil {
		return err
	}
	read, errOwn := readBlocks(io.TeeReader(f, digest), r.Largest, func(block []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return to.Write(block)
	})
	if errOwn != nil {
		return errOwn
	}
	size, hash := digest.Sum()
	switch {
	case size != r.Blocks.Bytes:
		err = fmt.Errorf("it has %s bytes, and had %s", say.Number(size), say.Number(r.Blocks.Bytes))
	case hash != r.Blocks.XXH3:
		err = errors.New("it has other bytes")
	case read != nil:
		err = read
	default:
		to.End()
		return nil
	}
	return fmt.Errorf("%s is not as its shard left it: %w: run the shard again", say.File(name), err)
}

// readBlocks reads the blocks of a part, up to the end of the file. bad is an error of the file; err is one of take.
func readBlocks(from io.Reader, largest int, take func(block []byte) error) (bad, err error) {
	defer io.Copy(io.Discard, from) //nolint:errcheck // so that all is hashed; a bad end is known then
	unpacked, bad := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(blockWindow))
	if bad != nil {
		return bad, nil
	}
	defer unpacked.Close()
	buffered := bufio.NewReader(unpacked)
	var block []byte
	for {
		size, bad := binary.ReadUvarint(buffered)
		switch {
		case errors.Is(bad, io.EOF):
			return nil, nil
		case bad == nil && size > uint64(largest):
			bad = errors.New("a block is too long")
		}
		if bad != nil {
			return bad, nil
		}
		block = slices.Grow(block[:0], int(size))[:size]
		if _, bad := io.ReadFull(buffered, block); bad != nil {
			return bad, nil
		}
		if err := take(block); err != nil {
			return nil, err
		}
	}
}
