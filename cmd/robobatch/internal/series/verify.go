package series

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/storage"
)

// Kinds of findings.
const (
	Altered  = "altered"
	Missing  = "missing"
	OtherRun = "other run"
)

// A Finding is a file that is not as a run left it, and how it differs.
type Finding struct {
	Kind string
	Name string
	Text string // how it differs
}

// A Verification holds the findings about the files of a run.
type Verification struct {
	Findings  []Finding
	Outputs   int
	Bytes     int64 // bytes of the outputs that were read
	Manifests int
}

func (v *Verification) addFinding(kind, name, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{kind, name, fmt.Sprintf(format, args...)})
}

// Verify reads all manifests and outputs in the directory, and finds the files that differ from what the runs of all
// shards left. It returns an error if the directory cannot be read, or has no manifest.
func (d Dir) Verify(ctx context.Context) (*Verification, error) {
	there, err := d.listFiles()
	if err != nil {
		return nil, err
	}
	if len(there.stats)+len(there.records) == 0 {
		return nil, fmt.Errorf("%s has neither _stats.json nor _done: it is not a directory of outputs from robobatch -out %[1]s; for partitions, name the file of -stats", msg.File(strings.TrimRight(d.Name, "/")+"/"))
	}
	v := &Verification{Manifests: len(there.stats) + len(there.records)}
	// Read the records of outputs.
	records := make(map[string]*Record, len(there.records))
	for _, output := range there.records {
		name, r := d.record(output), &Record{}
		switch err := readSealed(name, r); {
		case err != nil:
			v.addFinding(Altered, name, "%v", err)
		case r.Output != output:
			v.addFinding(OtherRun, name, "is about %s", msg.File(r.Output))
		default:
			records[output] = r
		}
	}

	want, all := v.expectedOutputs(d, there, records)
	if all != nil && all[0].addsToPartitions() { // other runs have added to the partitions
		for _, output := range slices.Sorted(maps.Keys(records)) {
			if !slices.ContainsFunc(want, func(o Output) bool { return o.Output == output }) {
				want = append(want, records[output].output())
			}
		}
	}
	v.Outputs = len(want)
	found, err := there.compare(ctx, d, want, byteDifference)
	if err != nil {
		return nil, err
	}
	v.Findings = append(v.Findings, found...)
	for i := range want {
		for _, file := range filesOf(want[i]) {
			v.Bytes += max(0, there.files[file.Name].Size)
		}
	}
	// Find files that do not belong to any run in the statistics.
	ours := make(map[string]bool, len(want))
	for i := range want {
		ours[want[i].Output] = true
		for _, file := range filesOf(want[i]) {
			ours[file.Name] = true
		}
	}
	for _, output := range there.records {
		if !ours[output] && all != nil {
			v.addFinding(OtherRun, d.record(output), "belongs to an input that is no longer in the list")
		}
		ours[output] = true
	}
	for _, file := range slices.Sorted(maps.Keys(there.files)) {
		if !ours[file] && file != "_SUCCESS" && !strings.HasPrefix(file, "_failed.") {
			v.addFinding(OtherRun, d.join(file), "belongs to no record")
		}
	}
	v.checkEnds(d, there, all)
	slices.SortStableFunc(v.Findings, func(a, b Finding) int { return strings.Compare(a.Name, b.Name) })
	return v, nil
}

// readSealed reads a manifest into v, and checks its seal.
func readSealed(name string, v any) error {
	if info, err := storage.Of(name).Stat(name); err == nil && info.Size < 0 {
		return errors.New("is not a file")
	}
	text, err := storage.ReadAll(name)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", atomicfile.WithoutPath(err))
	}
	return summary.Read(text, v)
}

// expectedOutputs returns the outputs of all shards according to their statistics, and the statistics in all. If a
// file of statistics is missing, altered or from another run, it returns the outputs of the records instead, and all
// is nil. It adds findings about statistics, and about records that contradict them.
func (v *Verification) expectedOutputs(d Dir, there *view, records map[string]*Record) (want []Output, all []shardFile) {
	fits := len(there.stats) > 0
	if !fits {
		v.addFinding(Missing, d.Stats(), "no run was completed: to continue, run the same command with -resume")
	}
	for _, name := range there.stats {
		s, err := readStats(name)
		if err != nil {
			v.addFinding(Altered, name, "%s", strings.TrimPrefix(err.Error(), msg.File(name)+": "))
			fits = false
			continue
		}
		if len(all) > 0 {
			if err := all[0].checkSameRun(s); err != nil {
				v.addFinding(OtherRun, name, "%v", err)
				fits = false
				continue
			}
		}
		all = append(all, s)
	}
	if fits {
		if err := d.checkComplete(all); err != nil {
			v.addFinding(Missing, d.Name, "%s", strings.TrimPrefix(err.Error(), "missing: "))
			fits = false
		}
	}
	if !fits {
		for _, output := range slices.Sorted(maps.Keys(records)) {
			want = append(want, records[output].output())
		}
		return want, nil
	}
	made := all[0].made()
	hasRecord := make(map[string]bool, len(there.records))
	for _, output := range there.records {
		hasRecord[output] = true
	}
	for _, s := range all {
		for _, o := range s.Series.Outputs {
			want = append(want, o)
			switch r, name := records[o.Output], d.record(o.Output); {
			case r == nil && !hasRecord[o.Output]:
				v.addFinding(Missing, name, "is missing: -resume rebuilds the output")
			case r == nil: // it was modified
			case made.Differ(&r.Made) != "":
				v.addFinding(OtherRun, name, "comes from a run with %s", made.Differ(&r.Made))
			case r.File != o.File || !slices.Equal(r.Parts, o.Parts) || r.Input.Name != o.Input:
				v.addFinding(OtherRun, name, "comes from a different run than %s", msg.File(there.stats[0]))
			}
		}
	}
	return want, all
}

// checkEnds compares the failure lists and the totals of merge with the statistics of all shards. It does nothing if
// all is nil.
func (v *Verification) checkEnds(d Dir, there *view, all []shardFile) {
	if all == nil {
		return // modified and missing files were already reported
	}
	lists := map[string]bool{}
	for _, s := range all {
		shard := Dir{Name: d.Name, Shard: s.Series.Shard}
		name := shard.Failed()
		lists[storage.Rel(d.Name, name)] = true
		want, err := failureLines(s.Series.Failed)
		got, errRead := storage.ReadAll(name)
		switch {
		case errors.Is(errRead, fs.ErrNotExist) && len(want) == 0:
		case errors.Is(errRead, fs.ErrNotExist):
			v.addFinding(Missing, name, "%s, but the list of failures is missing", msg.Count(int64(len(s.Series.Failed)), "input")+" failed")
		case errors.Join(err, errRead) != nil || !bytes.Equal(got, want):
			v.addFinding(Altered, name, "differs from the failures in %s", msg.File(shard.Stats()))
		}
	}
	for file := range there.files {
		if strings.HasPrefix(file, "_failed.") && !lists[file] {
			v.addFinding(OtherRun, d.join(file), "has no _stats file of its shard")
		}
	}
	if _, ok := there.files["_SUCCESS"]; !ok {
		return
	}
	total := &Stats{}
	v.Manifests++
	switch err := readSealed(d.success(), total); {
	case err != nil:
		v.addFinding(Altered, d.success(), "%v", err)
	case total.Report == nil || all[0].made().Differ(total.made()) != "" || all[0].Series.List != total.Series.List:
		v.addFinding(OtherRun, d.success(), "comes from a different run than the _stats files")
	}
}

// VerifyFile verifies a file of -stats and the output that it names. In a run with one output per input, that is a
// directory.
//
// The file and the names in it are untrusted: if the file is in the file system, the names cannot refer to object
// storage.
func VerifyFile(ctx context.Context, name string) (*Verification, error) {
	s := &Stats{Report: &summary.Report{}}
	v := &Verification{Manifests: 1}
	switch text, err := storage.ReadAll(name); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w: name a directory of outputs, or a file of -stats", msg.File(name), atomicfile.WithoutPath(err))
	case !json.Valid(text) && !bytes.HasPrefix(text, []byte("{\n")):
		return nil, fmt.Errorf("%s is not a file of -stats: name the one of the run that wrote it, or a directory of outputs", msg.File(name))
	default:
		if err := summary.Read(text, s); err != nil {
			v.addFinding(Altered, name, "%v", err)
			return v, nil
		}
	}
	names := []string{s.Output}
	for i := range s.Beside {
		names = append(names, s.Beside[i].Name)
	}
	if i := slices.IndexFunc(names, storage.IsRemote); i >= 0 && !storage.IsRemote(name) {
		return nil, fmt.Errorf("%s names %s in object storage, which is read only if you name it: copy the -stats file there, and name that copy", msg.File(name), msg.File(names[i]))
	}
	switch {
	case s.Series.List.Hash != "":
		return Dir{Name: s.Output}.Verify(ctx)
	case (s.File == nil || s.Output == msg.Std) && len(s.Parts)+len(s.Beside) == 0:
		return nil, fmt.Errorf("%s contains no hash of an output: none is stored for standard output or more than 10,000 partitions", msg.File(name))
	}
	if s.File != nil && s.Output != msg.Std {
		v.verifyFile(s.Output, s.File)
	}
	for i := range s.Parts {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v.verifyFile(filepath.Join(s.Output, filepath.FromSlash(s.Parts[i].Name)), &s.Parts[i].File)
	}
	for i := range s.Beside {
		v.verifyFile(s.Beside[i].Name, &s.Beside[i].File)
	}
	return v, v.findUnknownFiles(s)
}

// findUnknownFiles finds files in a partitioned output that the run did not write. If other runs may also write to
// it, there are no such findings.
func (v *Verification) findUnknownFiles(s *Stats) error {
	if !s.Alone() {
		return nil
	}
	ours := make(map[string]bool, len(s.Parts))
	for i := range s.Parts {
		ours[s.Parts[i].Name] = true
	}
	err := filepath.WalkDir(s.Output, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(s.Output, name)
		if err == nil && !ours[filepath.ToSlash(below)] {
			v.addFinding(OtherRun, name, "the run did not write it")
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // everything is missing, already reported
	}
	return err
}

// verifyFile compares a file with the size and hash that a run recorded, and adds a finding if it differs.
func (v *Verification) verifyFile(name string, want *summary.File) {
	v.Outputs++
	v.Bytes += want.Bytes
	kind := Altered
	why := byteDifference(name, want)
	if why == missing {
		kind = Missing
	}
	if why != "" {
		v.addFinding(kind, name, "%s", why)
	}
}

// compare returns findings for files of outputs that were modified or are missing. For files whose size has not
// changed, it calls difference, which describes a difference in content, or returns ""; several goroutines call it at
// once.
func (v *view) compare(ctx context.Context, d Dir, want []Output, difference func(name string, want *summary.File) string) ([]Finding, error) {
	files := make([]summary.NamedFile, 0, len(want))
	for i := range want {
		files = append(files, filesOf(want[i])...)
	}
	found := make([]Finding, len(files))
	var group panics.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		o, name := &files[i], d.join(files[i].Name)
		info, ok := v.files[o.Name]
		switch {
		case !ok:
			found[i] = Finding{Missing, name, missing}
		case info.Size != o.Bytes:
			found[i] = Finding{Altered, name, sizeDifference(info.Size, o.Bytes)}
		default:
			group.Go(func() error {
				defer storage.Forget(name)
				if why := difference(name, &o.File); why != "" {
					found[i] = Finding{Altered, name, why}
				}
				return nil
			})
		}
	}
	err := errors.Join(group.Wait(), ctx.Err())
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Kind == "" }), err
}

// An UnlikeError means that complete outputs were made with other flags, which change their content.
type UnlikeError struct {
	Output string   // the first of them
	Others int      // number of other outputs
	Flags  []string // differing flags of the first output
}

// Error names the flags that differ, and the outputs.
func (e *UnlikeError) Error() string {
	which := msg.File(e.Output) + " was"
	if e.Others > 0 {
		which = fmt.Sprintf("%s and %s were", msg.File(e.Output), msg.Count(int64(e.Others), "other output"))
	}
	return fmt.Sprintf("%s made with a different %s: use the same flags or another directory, or rebuild these outputs with -resume=redo",
		which, strings.Join(e.Flags, ", "))
}

// lookers is the number of records that are read in parallel, because object storage is slow to respond.
const lookers = 16

// CheckFlags returns an [*UnlikeError] if complete outputs were made with other flags. It changes nothing. Unreadable
// files are ignored here: [Dir.Look] reports them.
func (d Dir) CheckFlags(ctx context.Context, items []Item, want *Made) error {
	var mu sync.Mutex
	var found *UnlikeError
	first := len(items)
	var group panics.Group
	group.SetLimit(lookers)
	for i := range items {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			defer storage.Forget(d.record(items[i].Output))
			text, err := storage.ReadAll(d.record(items[i].Output))
			r := Record{}
			if err != nil || json.Unmarshal(text, &r) != nil || r.Output != items[i].Output {
				return nil
			}
			flags := want.FlagDifferences(&r.Made)
			if len(flags) == 0 {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			if found == nil {
				found = new(UnlikeError)
			} else {
				found.Others++
			}
			if i < first {
				first, found.Output, found.Flags = i, d.Output(&items[i]), flags
			}
			return nil
		})
	}
	err := errors.Join(group.Wait(), ctx.Err())
	if err == nil && found != nil {
		return found
	}
	return err
}

// checkFlags are the flags that the commands check-output and merge share.
type checkFlags struct {
	names []string // arguments
	work  flags.Work
}

// command returns a command that takes names as arguments, and has the flags of g. The caller sets the rest.
func (g *checkFlags) command(name string) flags.Command {
	c := flags.Command{}
	c.Name, c.Take = name, func(name string) { g.names = append(g.names, name) }
	c.Flags = flags.Sections{Run: flags.Without(g.work.Flags(), "workers", "progress")}.All()
	return c
}

// console returns the console of a run.
func (g *checkFlags) console(std console.Streams) console.Console {
	return console.Console{Streams: std, Quiet: g.work.Quiet}
}

// CheckCommand returns the command check-output.
func CheckCommand() flags.Command {
	g := new(checkFlags)
	c := g.command("check-output")
	c.Plan, c.About, c.Arguments = g.plan, "check that outputs are unchanged since their runs", "DIR|STATS..."
	c.Intro = `
robobatch check-output checks that outputs are unchanged since their runs.

    robobatch check-output out/ verdicts.stats.json

reads the manifests of a run: of one output per input those in its directory (_stats.json and _done/), of one output the
file of -stats. It reads all outputs that they name, compares sizes and hashes, and prints what was altered, what is
missing, and what comes from other runs. It finds damage and mistakes, not forgery: the hash, XXH3, has no key. It opens
no network connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 nothing has changed; 1 something has; 2 an error of usage or input.`
	return c
}

// A checking implements the command check-output.
type checking struct {
	console.Console
	process.Printed
	names []string
}

// plan implements [flags.Command].Plan of check-output: it checks the arguments.
func (g *checkFlags) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	if len(g.names) == 0 {
		faults.Add("", errors.New("nothing to check: name a directory of outputs, as -out of the run did, or a file of -stats"))
	}
	for _, name := range g.names {
		if scheme := storage.Foreign(name); scheme != "" {
			return nil, cli.Usage("cannot read from %s: name a directory or a file, or s3://", scheme)
		}
	}
	return &checking{Console: g.console(std), names: g.names}, faults.Err()
}

// Run checks the names in order, and prints the findings. It returns an error if there are any.
func (c *checking) Run(ctx context.Context) error {
	var sum Verification
	for _, name := range c.names {
		var v *Verification
		dir := name
		info, err := storage.Of(name).Stat(name)
		if outputs.IsDir(name) || err == nil && info.Dir || storage.IsRemote(name) && !strings.HasSuffix(name, ".json") {
			v, err = Dir{Name: name}.Verify(ctx)
		} else {
			v, err = VerifyFile(ctx, name)
			dir = filepath.Dir(name)
		}
		if !storage.IsRemote(dir) { // do not fail if a killed run left files but no manifest
			for _, m := range atomicfile.MixedSets(dir) {
				if err != nil {
					v, err = new(Verification), nil
				}
				v.Findings = append(v.Findings, Finding{Kind: OtherRun, Name: outputs.RelativePath(m.Old[0]), Text: "a run was killed while it renamed its outputs: " + outputs.MixtureText(m)})
			}
		}
		if err != nil {
			return err
		}
		for _, f := range v.Findings {
			if err := c.PrintOut(fmt.Sprintf("%-9s  %s: %s\n", f.Kind, msg.File(f.Name), msg.Line(f.Text))); err != nil {
				return err
			}
		}
		sum.Findings = append(sum.Findings, v.Findings...)
		sum.Outputs, sum.Bytes, sum.Manifests = sum.Outputs+v.Outputs, sum.Bytes+v.Bytes, sum.Manifests+v.Manifests
	}
	checked := fmt.Sprintf("%s of %s, by %s", msg.Count(int64(sum.Outputs), "output"), msg.Bytes(sum.Bytes), msg.Count(int64(sum.Manifests), "manifest"))
	if n := len(sum.Findings); n > 0 {
		return outputs.NewPolicyError(fmt.Sprintf("%s: changed or missing: %s", checked, msg.Count(int64(n), "file")))
	}
	c.Print(checked + ": unchanged\n")
	return nil
}
