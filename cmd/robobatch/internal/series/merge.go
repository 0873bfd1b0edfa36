package series

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
)

// Merge sums the statistics of all shards of a run, from the given files or, without any, from all statistics in the
// directory. It returns an error if they come from different runs, if a shard is missing, or if an output was
// modified after its shard ended. Failed inputs are not an error.
//
// Merge first removes _SUCCESS, which [Dir.Succeed] writes again, and then the outputs of other pieces of the inputs
// (see [Dir.DropOthers]).
func (d Dir) Merge(ctx context.Context, names []string) (*Sum, error) {
	p := storage.Of(d.Name)
	sweep := p.Sweep(d.Name, func(name string) bool { return strings.HasSuffix(name, "_SUCCESS") }) // left by killed merges
	if err := errors.Join(p.Remove(d.success()), sweep); err != nil {
		return nil, err
	}
	there, err := d.listFiles()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = there.stats
	}
	if len(names) == 0 {
		out := msg.File(strings.TrimRight(d.Name, "/") + "/") // without the slash, a run would write one file
		return nil, fmt.Errorf("%[1]s has no _stats.json and no _stats.0-of-n.json: first run robobatch with -out %[1]s, or name the files written by -stats", out)
	}
	all := make([]shardFile, len(names))
	for i, name := range names {
		if all[i], err = readStats(name); err != nil {
			return nil, err
		}
		if err := all[0].checkSameRun(all[i]); err != nil {
			return nil, err
		}
	}
	if err := d.checkComplete(all); err != nil {
		return nil, err
	}
	// Sum the shards.
	slices.SortFunc(all, func(a, b shardFile) int { return a.Series.Shard.Index - b.Series.Shard.Index })
	report := *all[0].Report
	report.Counts, report.ByAgent, report.Invalid, report.Run = Counts{}, []Agent{}, 0, summary.Run{}
	report.Warnings = nil
	if report.AgentFromLog {
		report.Others, report.Unbound = &summary.Clients{}, &summary.Clients{}
	}
	for _, s := range all {
		for _, d := range s.Series.RunWarnings {
			if !slices.ContainsFunc(report.Warnings, func(seen warning.Warning) bool { return seen.Code == d.Code }) {
				report.Warnings = append(report.Warnings, d)
			}
		}
	}
	sum := NewSum(&report, Series{Shards: max(1, all[0].Series.Shard.Count), List: all[0].Series.List, Flags: all[0].Series.Flags})
	for _, s := range all {
		sum.Counts.Add(&s.Counts)
		sum.AddAgents(s.ByAgent, s.Others, s.Unbound)
		sum.Invalid += s.Invalid
		sum.Inputs = append(sum.Inputs, s.Inputs...)
		// Add the time and memory of a shard. For elapsed time and memory, take the maximum, as if all shards ran at
		// once.
		t := &sum.Run
		t.Seconds, t.RulesSeconds = max(t.Seconds, s.Run.Seconds), max(t.RulesSeconds, s.Run.RulesSeconds)
		t.CPUSeconds, t.RulesCPU = t.CPUSeconds+s.Run.CPUSeconds, t.RulesCPU+s.Run.RulesCPU
		t.PeakMemory = max(t.PeakMemory, s.Run.PeakMemory)
		sum.Series.Done += s.Series.Done
		sum.Series.Resumed += s.Series.Resumed
		sum.Series.Failed = append(sum.Series.Failed, s.Series.Failed...)
		sum.Series.Outputs = append(sum.Series.Outputs, s.Series.Outputs...)
		for _, o := range s.Series.Outputs {
			sum.warnings.Add(o.Input, o.Warnings)
		}
	}
	sum.Run.URLsPerSecond = float64(sum.Counts.URLs) / max(sum.Run.Seconds, 1e-9)

	if err := d.dropOtherPieces(there, sum); err != nil {
		return nil, err
	}
	sum.End(d.Name)
	spare, err := there.check(ctx, d, sum)
	if err != nil {
		return nil, err
	}
	if spare.Count > 0 {
		sum.Warnings = append(sum.Warnings, spare)
	}
	return sum, nil
}

// Succeed writes the file that marks the run as complete, with the totals.
func (d Dir) Succeed(s *Sum) error {
	total, report := s.Stats, *s.Report
	report.Inputs, total.Series.Outputs = []summary.Input{}, nil
	total.Report = &report
	return total.Write(d.success())
}

// readStats reads the statistics of a shard, and checks their seal.
func readStats(name string) (f shardFile, err error) {
	text, err := storage.ReadAll(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("%s: no such file: the shard did not finish; run it again", msg.File(name))
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", msg.File(name), err)
	}
	s := &Stats{}
	if err := json.Unmarshal(text, s); err != nil || s.Report == nil || s.Series.List.Hash == "" || s.Series.Shard.Index < 0 || s.Series.Shard.Index >= max(1, s.Series.Shard.Count) || s.Series.Shard.Count > Most {
		return f, fmt.Errorf("%s: not a -stats file of a run with one output per input", msg.File(name))
	}
	if err := summary.Read(text, &Stats{}); err != nil {
		return f, fmt.Errorf("%s: %w: run the shard again with -resume", msg.File(name), err)
	}
	return shardFile{name, s}, nil
}

// addsToPartitions reports whether the outputs are files in partitions to which other runs may also write.
func (s *Stats) addsToPartitions() bool { return len(s.Series.Flags["partition_by"]) > 0 }

// made returns everything, besides the inputs, that the outputs of a shard depend on.
func (s *Stats) made() *Made { return &Made{s.Version, s.RulesHash, s.Series.Flags, s.RulesName} }

// A shardFile holds the statistics of a shard, and the name of their file.
type shardFile struct {
	name string
	*Stats
}

// checkSameRun returns an error if two files are not from shards of one run.
func (a shardFile) checkSameRun(b shardFile) error {
	what := a.made().Differ(b.made())
	switch la, lb := a.Series.List, b.Series.List; {
	case a.Series.Shard.Count != b.Series.Shard.Count:
		what = fmt.Sprintf("%d shards and %d shards", max(1, a.Series.Shard.Count), max(1, b.Series.Shard.Count))
	case what != "":
	case la != lb:
		what = fmt.Sprintf("different inputs (%s of %s, and %s of %s)", msg.Number(int64(la.Inputs)), msg.Bytes(la.Bytes), msg.Number(int64(lb.Inputs)), msg.Bytes(lb.Bytes))
	default:
		return nil
	}
	return fmt.Errorf("%s and %s come from different runs: %s: run all shards again with -resume, or remove the file of the older run", msg.File(a.name), msg.File(b.name), what)
}

// checkComplete returns an error unless each shard of a run occurs exactly once, and the shards together have all
// inputs. It expects at least one file, and all of one run.
func (d Dir) checkComplete(all []shardFile) error {
	count := max(1, all[0].Series.Shard.Count)
	of := make(map[int]string, count)
	inputs := 0
	for _, f := range all {
		s := &f.Series
		if other, ok := of[s.Shard.Index]; ok {
			return fmt.Errorf("%s and %s come from the same shard, %s", msg.File(other), msg.File(f.name), s.Shard)
		}
		of[s.Shard.Index] = f.name
		inputs += s.Done + len(s.Failed)
	}
	var missing []string
	for i := range count {
		if _, ok := of[i]; !ok {
			missing = append(missing, msg.File(Dir{Name: d.Name, Shard: Shard{Index: i, Count: count}}.Stats()))
		}
	}
	if n := len(missing); n > 0 {
		list := strings.Join(missing[:min(n, shown)], ", ")
		if n > shown {
			list += ", …"
		}
		return fmt.Errorf("missing: %s of %d: %s: complete them with -resume", msg.Count(int64(n), "shard"), count, list)
	}
	if want := all[0].Series.List.Inputs; inputs != want {
		return fmt.Errorf("the shards have %s inputs, but the list has %s: run all shards again with -resume", msg.Number(int64(inputs)), msg.Number(int64(want)))
	}
	return nil
}

// A view lists the contents of the directory.
type view struct {
	stats   []string                // names
	records []string                // outputs with a record
	files   map[string]storage.Info // all other files
}

// listFiles lists all files in the directory. If the directory does not exist, the view is empty.
func (d Dir) listFiles() (*view, error) {
	v := &view{files: map[string]storage.Info{}}
	err := storage.Of(d.Name).Walk(d.Name, func(name string, info storage.Info) error {
		path := storage.Rel(d.Name, name)
		record, isRecord := strings.CutPrefix(path, doneDir+"/")
		switch {
		case isRecord:
			v.records = append(v.records, strings.TrimSuffix(record, recordSuffix))
		case strings.HasPrefix(path, "_stats.") && strings.HasSuffix(path, recordSuffix):
			v.stats = append(v.stats, name)
		default:
			v.files[path] = info
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s: %w", msg.File(d.Name), err)
	}
	return v, nil
}

// check returns an error if outputs changed after their shards ended, or if two inputs have the same output.
// It returns a warning about outputs in the directory that belong to other inputs; its Count is 0 if there are none.
func (v *view) check(ctx context.Context, d Dir, s *Sum) (spare warning.Warning, err error) {
	ours := make(map[string]bool, len(s.Series.Outputs))
	var errs []error
	found, err := v.compare(ctx, d, s.Series.Outputs, fileDifference)
	if err != nil {
		return spare, err
	}
	for _, f := range found {
		errs = append(errs, fmt.Errorf("%s %s: run its shard again with -resume", msg.File(f.Name), f.Text))
	}
	for _, o := range s.Series.Outputs {
		if ours[o.Output] {
			errs = append(errs, fmt.Errorf("%s is the output of two inputs: run all shards again with -resume", msg.File(d.join(o.Output))))
		}
		ours[o.Output] = true
	}
	if n := len(errs) - shown; n > 0 {
		errs = append(errs[:shown], fmt.Errorf("and %s more", msg.Count(int64(n), "output")))
	}
	if len(errs) > 0 {
		return spare, errors.Join(errs...)
	}
	var others []string
	for _, output := range v.records {
		if !ours[output] && !s.addsToPartitions() {
			others = append(others, d.join(output))
		}
	}
	spare = warning.Warning{
		Code: warning.SpareOutputs, Count: int64(len(others)), Examples: others[:min(len(others), warning.Examples)],
		Text: msg.Count(int64(len(others)), "output") + " of earlier runs in " + msg.File(d.Name) + ", from inputs that are no longer in the list: remove them; otherwise readers of the directory include their rows",
	}
	return spare, nil
}

// mergeFlags are the flags of the command merge.
type mergeFlags struct {
	checkFlags

	out string
}

// MergeCommand returns the command merge.
func MergeCommand() flags.Command {
	g := new(mergeFlags)
	c := g.command("merge")
	c.Plan, c.About, c.Arguments = g.plan, "combine the shards of a run, once all are done", "DIR STATS..."
	c.Intro = `
robobatch merge combines the shards of a run with one output per input.

    robobatch merge out/

reads the statistics that the shards wrote, out/_stats.0-of-4.json and so on, or the files of -stats given as arguments.
It checks that they belong to one run, that none is missing, and that no output has changed. It prints the combined
summary and writes it to out/_SUCCESS. It opens no network connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 all outputs are complete; 1 inputs failed: they are listed, and _SUCCESS is not written; 2 an error of usage
or input, or the files are not those of one run; 75 object storage failed after retries.`
	c.Flags = flags.Sections{
		Output: []cli.Flag{{
			Name: "out", Arg: "dir", Files: true, Set: flags.OutputName(&g.out),
			Doc: "The directory of the outputs. Default: the first argument.",
		}},
		Run: []cli.Flag{c.Flags[0], g.work.VerboseFlag(), c.Flags[1]},
	}.All()
	return c
}

// A merging implements the command merge.
type merging struct {
	console.Console
	process.Printed // files appear only when complete
	dir             Dir
	stats           []string // files with the statistics of the shards; empty means all that are in the directory
	verbose         bool
}

// plan implements [flags.Command].Plan: it checks the flags. Without -out, the first argument is the directory.
func (g *mergeFlags) plan(std console.Streams, faults cli.Faults) (process.Task, error) {
	m := &merging{
		Console: g.console(std),
		dir:     Dir{Name: g.out}, stats: g.names, verbose: g.work.Verbose,
	}
	if m.dir.Name == "" && len(m.stats) > 0 {
		m.dir.Name, m.stats = m.stats[0], m.stats[1:]
	}
	if scheme := storage.Foreign(m.dir.Name); scheme != "" {
		return nil, cli.Usage("cannot read from or write to %s: name a directory, or s3://", scheme)
	}
	if m.dir.Name == "" {
		faults.Add("out", errors.New("missing flag: name the directory of the outputs, the same as -out of the shards"))
	}
	return m, faults.Err()
}

// Targets returns the directory.
func (m *merging) Targets() (out, last string) { return m.dir.Name, m.dir.Name }

// Run merges the shards. It returns an error if inputs failed, or if the shards cannot be merged.
func (m *merging) Run(ctx context.Context) error {
	sum, err := m.dir.Merge(ctx, m.stats)
	if err != nil {
		return err
	}
	m.Print(sum.Text(m.verbose))
	for _, d := range sum.Warnings {
		m.Warn(d)
	}
	if failed := sum.Series.Failed; len(failed) > 0 {
		return outputs.NewPolicyError(FailedText(failed, msg.File(m.dir.AllFailed(sum.Series.Shards))))
	}
	return m.dir.Succeed(sum)
}
