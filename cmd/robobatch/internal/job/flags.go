package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/page"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
)

// given are the flags of the main job.
type given struct {
	pipeline.Flags
	page           page.Flags
	table          flags.Table
	rows           rowFlags
	stats, rejects string
	limits         flags.Limits
	storage        storageFlags
	series         seriesFlags
}

// Command returns the main job, which has no command name.
func Command() flags.Command { return new(given).command() }

// command returns the main job, whose flags set the fields of g.
func (g *given) command() flags.Command {
	c := flags.Command{Rules: &g.Rules, Packs: true, Plan: g.plan}
	c.Intro = `
robobatch checks for every URL of a log whether robots.txt allows a crawler to fetch it.

    robobatch -rules dir -in urls.zst

writes urls.verdicts.parquet. It opens no network connection unless a name begins with s3://.`
	c.Rest = `
Exit codes: 0 done; 1 a limit of -max-rejects, -require-rules or -no-rows fail is exceeded, or -on-error skip skipped
inputs; 2 an error of usage, input or output; 75 object storage failed after retries: run it again later; 129, 130, 131
and 143 after SIGHUP, SIGINT, SIGQUIT and SIGTERM. The output gets its name when it is complete. If a log is damaged,
the rows before the damage are kept as x.partial.parquet, and the exit code is 2.`
	limits := flags.WithDocs(g.limits.Flags(), map[string]string{
		"max-rejects": `
			Stop with exit code 1 if more lines are rejected: n, or n% of all.
			The rows before that are kept as x.partial.parquet.`,
		"require-rules": `
			Exit with code 1 if too few rows with a URL have a robots.txt in -rules. The value is their minimum share, such as
			99%. Checked at the end; all rows are kept as x.partial.parquet.`,
		"no-rows": `
			What to do without rows, or without any URL. warn: warn if there are no rows; exit with code 2 if no line has
			a URL, and keep the rows as x.partial.parquet. fail: exit with code 1 if there are no rows. allow:
			accept logs without any URL. fail,allow: both.`,
	})
	question := flags.WithDocs(g.Question.LogFlags(flags.DecideFor), map[string]string{"agent-from-log": `
			Decide each row for the crawler that its User-Agent names. It must be known, or the row's robots.txt must
			name it. Adds the column violation.`})
	run := g.Work.MemoryFlags(`
			Up to a quarter is for sorting rows (-sort, -partition-by), and a quarter for the dictionaries of an Arrow
			file: if these need more, the run fails; Parquet and Arrow streams continue.`)
	run = slices.Insert(run, len(run)-1, g.Work.VerboseFlag(), cli.Flag{Name: "version", Rare: true, Set: cli.Instead, Doc: "Print the version."})
	c.Flags = flags.Sections{
		Input:    append(append(g.Rules.Flags(flags.NameRules), g.Logs.Flags()...), g.Sitemaps.Flag("Adds the column in_sitemap.")),
		Question: question,
		Output: slices.Concat(g.page.All(), g.outFlags(), []cli.Flag{
			flags.ColumnsFlag(&g.rows.columns),
			{
				Name: "layout", Arg: "how", Rare: true,
				Values: flags.Layouts, Default: output.Long.String(), Set: cli.Text(&g.rows.layout), Doc: `
			Layout for several agents. long: one row per URL and agent. wide: one row per URL, with columns per agent:
			allowed_googlebot,rule_line_googlebot, and reason and rule if -columns names them.`,
			},
			{
				Name: "where", Arg: "kinds", Values: output.WhereKinds(), List: true,
				Set: cli.Text(&g.rows.where), Doc: `
			Write only rows of these kinds, separated by commas. disallowed, allowed, violations (with
			-agent-from-log), bad (invalid URL),
impostors (with -ranges), in_sitemap, not_in_sitemap and in_sitemap_disallowed (with -in-sitemap), and usage preferences (drafts)
such as no_train_ai and yes_train_ai. Wide rows need one matching agent. The summary counts all rows.`,
			},
		}, []cli.Flag{
			{
				Name: "stats", Arg: "file", Files: true,
				Set: flags.OutputName(&g.stats), Doc: "Also write the summary as JSON. - is standard output.",
			},
			{Name: "rejects", Arg: "file", Files: true, Rare: true, Set: flags.OutputName(&g.rejects), Doc: `
			List rejected lines, including those with an invalid URL, as JSON Lines. With one output per input, a
			directory with / at its end.`},
		}, limits, g.storage.flags(&g.table)),
		Run: append(g.series.flags(), run...),
	}.All()
	for i := range c.Flags {
		f := &c.Flags[i]
		f.Rare = !slices.Contains([]string{"rules", "base", "in", "format", "agent", "agent-from-log", "out", "columns", "where", "report"}, f.Name)
	}
	return c
}

// outFlags returns the flags -out and -out-format.
func (g *given) outFlags() []cli.Flag {
	return []cli.Flag{{Name: "out", Arg: "file", Files: true, Set: flags.OutputName(&g.table.Out), Doc: `
		The file to write. x.parquet, x.arrow (Arrow IPC file), x.arrows (Arrow IPC stream), x.csv, x.tsv or x.jsonl
		(JSON Lines), the last three optionally with .zst or .gz; - is standard output, /dev/fd/3 a file descriptor,
		s3://bucket/x.parquet an object (docs/CLUSTER.md). With / at its end it is a directory, for one output per
		input in the same subdirectories, or for -partition-by. Default: the name of
		the first log without .zst, .gz, .txt, .log, .urls and the like, plus .verdicts.parquet, in the working
		directory; stdin.verdicts.parquet for -in -.`}, g.table.FormatFlag()}
}

// rowFlags are the flags that choose rows and columns.
type rowFlags struct{ columns, layout, where string }

// storageFlags holds the flags for how the output is stored, such as order, compression and partitions. They change
// no values.
type storageFlags struct {
	compression     string
	level, rowGroup int
	sort            string

	partitionBy, partitionMode string
}

// flags returns the flags about how the output is stored, which set the fields of s, and -csv of the table.
func (s *storageFlags) flags(table *flags.Table) []cli.Flag {
	all := []cli.Flag{
		{
			Name: "partition-by", Arg: "list", Values: output.Partitions(), List: true,
			Set: func(list string) error {
				if s.partitionBy = list; list == "" {
					return errors.New("no key: name one or more of " + strings.Join(output.Partitions(), ", "))
				}
				return nil
			}, Doc: `
			Write a directory of Hive partitions. The key is one or more of origin,
			agent, allowed, reason and date (of the log's time, in -timezone), as in
			agent=Googlebot/allowed=true/part-0.parquet. With -shard, -resume or s3://, each input has a file in each partition.`,
		},
		{
			Name: "partition-mode", Arg: "how", Values: output.PartitionModes(),
			Set: cli.Text(&s.partitionMode), Doc: `
			What happens to existing output in the directory of -partition-by. replace: remove all of it.
			replace-partitions: replace only the partitions that this run writes. append: add files to the partitions.
			Default: an error.`,
		},
		{
			Name: "sort", Arg: "order",
			Values: flags.Sorts, Set: cli.Text(&s.sort), Doc: `
			Order of the rows. none: input order. origin: by origin, then input order. Default: none.`,
		},
		table.CSVFlag(),
		{
			Name: "compression", Arg: "name", Values: output.Compressions(),
			Set: cli.Text(&s.compression), Doc: `
			Column compression. In Parquet zstd (default), snappy, gzip or none; in Arrow none (default), zstd or lz4.`,
		},
		{Name: "level", Arg: "n", Set: cli.Positive(&s.level), Doc: `
			Compression level in Parquet. zstd: 1 (default) to 22; gzip: 1 to 9, default 6.`},
		{
			Name: "row-group", Arg: "n",
			Set: cli.Positive(&s.rowGroup), Doc: "Maximum rows per row group in Parquet. Default: 524288.",
		},
	}
	for i := range all {
		all[i].Rare = true
	}
	return all
}

// seriesFlags are the flags for runs with one output per input.
type seriesFlags struct {
	shard, onError string
	resume, redo   bool
}

// onErrors are the values of -on-error.
var onErrors = []string{"stop", "skip"}

// flags returns the flags -on-error, -resume and -shard, which set the fields of s.
func (s *seriesFlags) flags() []cli.Flag {
	all := []cli.Flag{
		{
			Name: "on-error", Arg: "what", Values: onErrors, Default: "stop",
			Set: cli.Text(&s.onError), Doc: `
			What to do if an input cannot be read to its end. stop: end the run. skip: list the input in _failed.jsonl
			in -out, continue, and exit with code 1. Needs one output per input.`,
		},
		{Name: "resume", Set: func(value string) error {
			if s.redo = value == "redo"; s.redo {
				value = "true"
			}
			if err := cli.Bool(&s.resume)(value); err != nil {
				return fmt.Errorf("%w, or -resume=redo", err)
			}
			return nil
		}, Doc: `
			Keep outputs that were made from the same input, rules, flags and version. Outputs made with other flags
			are an error; -resume=redo rebuilds them (docs/CLUSTER.md). Needs one output per input.`},
		{Name: "shard", Arg: "part", Set: cli.NotEmpty(&s.shard, "write 0/4, or auto"), Doc: `
			Process part i of n of the inputs, written i/n with i from 0. auto: the task number of Slurm, Kubernetes,
			AWS Batch or Cloud Run. robobatch merge combines the parts (docs/CLUSTER.md). Needs one output per input.`},
	}
	for i := range all {
		all[i].Rare = true
	}
	return all
}

// choose sets the rows, columns and layout of the output. Call it after the crawlers, the sitemaps and the columns of
// -keep are set. fromLog means -agent-from-log, and sitemaps means that some are named.
func (r *rowFlags) choose(fromLog, sitemaps bool, question *engine.StoreOptions, out *output.Options, faults *cli.Faults) {
	var err error
	out.Layout, err = output.ParseLayout(r.layout)
	faults.Add("layout", cli.Hint(err, r.layout, flags.Layouts))
	defaults := out.Layout.DefaultColumns()
	if fromLog {
		defaults = append(defaults, output.LogColumns()...)
	}
	if fromLog && question.Ranges != nil {
		defaults = append(defaults, output.RangesColumns()...)
	}
	if sitemaps {
		defaults = append(defaults, output.SitemapColumns()...)
	}
	out.Columns, err = output.ParseColumns(output.AddColumns(r.columns, defaults))
	faults.Add("columns", flags.WithColumnHints(err))
	known := err == nil
	if r.columns == "" {
		out.Columns = defaults
	}
	if !fromLog {
		for _, name := range out.Columns {
			if output.NeedsOf(name).LogAgents {
				faults.Add("columns", fmt.Errorf("the column %s needs -agent-from-log: add it", name))
			}
		}
	}
	if known && out.Layout == output.Wide {
		faults.Add("layout", checkWide(question, out))
	}
	kinds := output.WhereKinds()
	unknown := slices.DeleteFunc(strings.Split(r.where, ","), func(name string) bool {
		return slices.Contains(kinds, strings.TrimSpace(name))
	})
	where, err := output.ParseWhere(r.where)
	for i, err := range cli.Parts(err) { // one for each unknown column
		faults.Add("where", cli.HintOrMeant(err, strings.TrimSpace(unknown[i]), kinds, flags.WhereMeant))
	}
	out.Where = where
	switch {
	case out.Where.NeedsLogAgents() && !fromLog:
		faults.Add("where", errors.New("violations and impostors need -agent-from-log: add it"))
	case out.Where.NeedsSitemaps() && !sitemaps:
		faults.Add("where", errors.New("these kinds of rows need sitemaps: name them with -in-sitemap"))
	case out.Where.NeedsRanges() && question.Ranges == nil:
		faults.Add("where", errors.New("impostors are detected with lists of addresses: name them with -ranges"))
	}
	if !sitemaps {
		for _, name := range out.Columns {
			if output.NeedsOf(name).Sitemaps {
				faults.Add("columns", fmt.Errorf("the column %s needs sitemaps: name them with -in-sitemap", name))
			}
		}
	}
	if fromLog && question.Ranges == nil {
		for _, name := range out.Columns {
			if output.NeedsOf(name).Ranges {
				faults.Add("columns", fmt.Errorf("the column %s needs lists of crawler addresses: name them with -ranges", name))
			}
		}
	}
}

// checkWide returns an error unless each agent can have its own columns.
func checkWide(question *engine.StoreOptions, out *output.Options) error {
	if question.LogAgents != engine.LogAgentsOff {
		return errors.New("with -agent-from-log each row is for one crawler: leave out -layout wide, or name the crawlers with -agent")
	}
	_, err := out.ColumnNames(flags.AgentsOf(question))
	errs := cli.Parts(err)
	for i, err := range errs {
		if c, ok := errors.AsType[*output.ColumnError](err); ok { // all other causes were ruled out
			errs[i] = fmt.Errorf("-keep %[1]s: an agent already has a column %[1]s: leave it out, or use -layout long", c.Name)
		}
	}
	return errors.Join(errs...)
}
