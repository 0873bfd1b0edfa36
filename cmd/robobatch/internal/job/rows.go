package job

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
)

// choose sets the rows and columns of the output, for crawlers of the log or others, and with sitemaps or without. Kept columns are set before.
func (r *rowFlags) choose(fromLog, sitemaps bool, question *engine.StoreOptions, out *output.Options, faults *cli.Faults) {
	var err error
	out.Layout, err = output.ParseLayout(r.layout)
	faults.Add("layout", cli.Hint(err, r.layout, words.Layouts))
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
				faults.Add("columns", fmt.Errorf("the column %s is about the crawlers of the log: add -agent-from-log", name))
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
	for i, err := range cli.Parts(err) { // one for each that is unknown
		faults.Add("where", cli.HintOrMeant(err, strings.TrimSpace(unknown[i]), kinds, words.WhereMeant))
	}
	out.Where = where
	switch {
	case out.Where.NeedsLogAgents() && !fromLog:
		faults.Add("where", errors.New("violations and impostors are of the crawlers of the log: add -agent-from-log"))
	case out.Where.NeedsSitemaps() && !sitemaps:
		faults.Add("where", errors.New("in_sitemap and others are about sitemaps: name them with -in-sitemap"))
	case out.Where.NeedsRanges() && question.Ranges == nil:
		faults.Add("where", errors.New("impostors are known by lists of addresses: name them with -ranges"))
	}
	if !sitemaps {
		for _, name := range out.Columns {
			if output.NeedsOf(name).Sitemaps {
				faults.Add("columns", fmt.Errorf("the column %s is about sitemaps: name them with -in-sitemap", name))
			}
		}
	}
	if fromLog && question.Ranges == nil {
		for _, name := range out.Columns {
			if output.NeedsOf(name).Ranges {
				faults.Add("columns", fmt.Errorf("the column %s is about who the crawlers were: name lists of their addresses with -ranges", name))
			}
		}
	}
}

// checkWide checks that the agents can have columns each.
func checkWide(question *engine.StoreOptions, out *output.Options) error {
	if question.LogAgents != engine.LogAgentsOff {
		return errors.New("with -agent-from-log each row is for one crawler: leave out -layout wide, or name the crawlers with -agent")
	}
	_, err := out.ColumnNames(flags.AgentsOf(question))
	return wideError(err)
}

// chooseParts sets the columns that the output is partitioned by. The output is a directory then.
func chooseParts(by, name string, out *output.Options, faults *cli.Faults) {
	var err error
	if out.Partition, err = output.ParsePartition(by); err != nil {
		faults.Add("partition-by", err)
		out.Partition = nil
	}
	if place.IsRemote(name) {
		faults.Add("partition-by", fmt.Errorf("-out %s is in a store of objects, which has no directories that can be replaced: write partitions to a directory and copy that, or one output per input without -partition-by", name))
	} else if name == say.Std {
		faults.Add("partition-by", errors.New("standard output has no directories: name one with -out"))
	} else if _, err := output.FormatOf(name); err == nil {
		faults.Add("partition-by", fmt.Errorf("-out %s is a file's name: name a directory, such as %s/", name, strings.TrimSuffix(name, filepath.Ext(name))))
	}
}

// wideError returns the error of columns that agents share, by the flag that helps against it.
func wideError(err error) error {
	errs := cli.Parts(err)
	for i, err := range errs {
		if c, ok := errors.AsType[*output.ColumnError](err); ok { // all others are known to be right
			errs[i] = fmt.Errorf("-keep %[1]s: %[1]s is a column of an agent: leave it out, or use -layout long", c.Name)
		}
	}
	return errors.Join(errs...)
}
