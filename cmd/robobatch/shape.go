package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
)

// A storageForm is the flags that say how the output is stored, apart from its name and columns.
// They change no row.
type storageForm struct {
	compression string
	level       int
	urlEncoding string
	rowGroup    int
	bloom       string
	partitionBy string

	partitionMode string
	csvSafe       bool
	csvBOM        bool
	csvSeparator  string
	sort          string
}

// chooseRows sets the rows and columns of the output. Kept columns are set before.
func chooseRows(a *args, question *engine.StoreOptions, out *output.Options, faults *cli.Faults) {
	var err error
	out.Columns, err = output.ParseColumns(a.columns)
	faults.Add("columns", withColumnHints(err))
	known := err == nil
	out.Layout, err = output.ParseLayout(cmp.Or(a.Layout, output.Long.String()))
	faults.Add("layout", cli.Hint(err, a.Layout, words.Layouts))
	if a.columns == "" {
		out.Columns = out.Layout.DefaultColumns()
	}
	switch {
	case a.AgentFromLog && a.columns == "":
		out.Columns = append(out.Columns, output.LogColumns()...)
	case !a.AgentFromLog:
		for _, name := range out.Columns {
			if output.NeedsOf(name).LogAgents {
				faults.Add("columns", fmt.Errorf("the column %s is about the crawlers of the log: add -agent-from-log", name))
			}
		}
	}
	if known && out.Layout == output.Wide {
		faults.Add("layout", checkWide(question, out))
	}
	out.Where = chooseWhere(a.Where, faults)
	if out.Where.NeedsLogAgents() && !a.AgentFromLog {
		faults.Add("where", errors.New("violations are of the crawlers of the log: add -agent-from-log"))
	}
}

// chooseWhere returns the kinds of rows that are written.
func chooseWhere(list string, faults *cli.Faults) output.Where {
	kinds := output.WhereKinds()
	unknown := slices.DeleteFunc(strings.Split(list, ","), func(name string) bool {
		return slices.Contains(kinds, strings.TrimSpace(name))
	})
	where, err := output.ParseWhere(list)
	for i, err := range cli.Parts(err) { // one for each that is unknown
		faults.Add("where", cli.HintOrMeant(err, strings.TrimSpace(unknown[i]), kinds, words.WhereMeant))
	}
	return where
}

// checkWide checks that the agents can have columns each.
func checkWide(question *engine.StoreOptions, out *output.Options) error {
	if question.LogAgents != engine.LogAgentsOff {
		return errors.New("with -agent-from-log each row is for one crawler: leave out -layout wide, or name the crawlers with -agent")
	}
	_, err := out.ColumnNames(agentsOf(question))
	return wideError(err)
}

// chooseFormat sets the format of the output of that name, which is "" for one that is partitioned.
// A pipe or device whose name says no format gets that of standard output.
func chooseFormat(name, format string, stdout *os.File, out *output.Options, faults *cli.Faults) {
	if targets.IsDir(name) {
		faults.Add("out", fmt.Errorf("%s is a directory: name a file in it, or add -partition-by", name))
		return
	}
	var err error
	out.Format, err = output.ChooseFormat(name, format)
	if format == "" && errors.Is(err, output.ErrNoFormat) && atomicfile.InPlace(name) {
		out.Format, err = output.ChooseFormat(say.Std, "")
	}
	switch {
	case err != nil && format == "":
		faults.Add("out", formatError(err))
	case errors.Is(err, output.ErrFormat):
		faults.Add("out-format", cli.Hint(err, format, output.FormatNames()))
	case err != nil:
		faults.Add("out-format", err)
	case !targets.IsTerminal(name, stdout):
	case out.Format.Readable():
		out.Terminal = true
	default:
		faults.Add("out", fmt.Errorf("%s is a terminal, and %s is not text: redirect it, name a file, or add -out-format csv", say.File(name), out.Format.Name()))
	}
}

// chooseParts sets the columns that the output is partitioned by. Its name is then that of a
// directory.
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

// chooseStorage sets how the output is stored, once its format and columns are set.
func chooseStorage(f *storageForm, agents []string, out *output.Options, faults *cli.Faults) {
	var err error
	out.Mode, err = output.ParsePartitionMode(f.partitionMode)
	faults.Add("partition-mode", cli.Hint(err, f.partitionMode, output.PartitionModes()))
	if f.partitionMode != "" && f.partitionBy == "" {
		faults.Add("partition-mode", errors.New("a file has no partitions, and is replaced: add -partition-by, or leave it out"))
	}
	out.Compression, err = output.ParseCompression(f.compression)
	faults.Add("compression", cli.Hint(err, f.compression, output.Compressions()))
	out.Texts, err = output.ParseTextEncoding(f.urlEncoding)
	faults.Add("url-encoding", cli.Hint(err, f.urlEncoding, output.TextEncodings()))
	out.Sort, err = output.ParseSort(f.sort)
	faults.Add("sort", cli.Hint(err, f.sort, words.Sorts))
	out.Level, out.RowGroup = f.level, f.rowGroup
	out.CSV = output.CSVForm{BOM: f.csvBOM, Safe: f.csvSafe}
	out.CSV.Separator, err = output.ParseSeparator(f.csvSeparator)
	faults.Add("csv-separator", cli.Hint(err, f.csvSeparator, output.Separators()))
	if f.bloom != "" {
		for name := range strings.SplitSeq(f.bloom, ",") {
			out.Bloom = append(out.Bloom, strings.TrimSpace(name))
		}
	}
	for _, err := range cli.Parts(out.CheckContainer(agents)) {
		flag := containerFlag(err)
		if errors.Is(err, output.ErrCSV) {
			flag = f.csvFlag()
		}
		faults.Add(flag, err)
	}
}

// csvFlag returns the first flag that asks for a form of CSV.
func (f *storageForm) csvFlag() string {
	switch {
	case f.csvSeparator != "":
		return "csv-separator"
	case f.csvSafe:
		return "csv-safe"
	}
	return "csv-bom"
}
