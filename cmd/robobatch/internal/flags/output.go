package flags

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
)

// A Table is an output file of rows.
type Table struct {
	Out, Format string
	CSV         string // value of -csv
}

// FormatFlag returns the flag -out-format.
func (t *Table) FormatFlag() cli.Flag {
	return cli.Flag{
		Name: "out-format", Arg: "name", Values: output.FormatNames(), Rare: true,
		Set: cli.Text(&t.Format), Doc: `
		Format of -out, if its name does not determine it. parquet, arrow, arrows, csv, csv.zst,
		csv.gz, jsonl, jsonl.zst, jsonl.gz, tsv, tsv.zst or tsv.gz. Default: parquet; arrows for -out - and other pipes.`,
	}
}

// CSVFlag returns the flag -csv.
func (t *Table) CSVFlag() cli.Flag {
	return cli.Flag{Name: "csv", Arg: "list", Values: output.CSVForms(), List: true, Rare: true, Set: cli.Text(&t.CSV), Doc: `
		CSV options, such as safe,semicolon. safe: an apostrophe before values that spreadsheets run as formulas
		(docs/OUTPUT.md). bom: a
byte order mark, so that Excel detects UTF-8. comma, semicolon, tab or bar, or the character itself: the separator; default comma,
tab for .tsv.`}
}

// ChooseCSV returns the CSV options.
func (t *Table) ChooseCSV(faults *cli.Faults) output.CSVForm {
	form, err := output.ParseCSV(t.CSV)
	faults.Add("csv", err)
	return form
}

// ColumnsFlag returns the flag -columns for one row per URL.
func ColumnsFlag(to *string) cli.Flag {
	return cli.Flag{
		Name: "columns", Arg: "list", Values: output.Columns(), List: true, Set: cli.Text(to), Doc: `
		The columns to write, in this order. Default:
		line,input,url,origin,agent,allowed,reason,rule_line,rule; canonical_url only if named. +name adds to the
		default; +usage adds the columns of usage preferences (drafts).`,
	}
}

// ChooseFormat sets the format of the output with that name; "" if it is partitioned. A pipe or device without a
// known extension gets the format of standard output. Binary output to a terminal is a fault.
func (t *Table) ChooseFormat(name string, stdout *os.File, out *output.Options, faults *cli.Faults) {
	if outputs.IsDir(name) {
		faults.Add("out", fmt.Errorf("%s is a directory: name a file in it, or add -partition-by", name))
		return
	}
	var err error
	out.Format, err = output.ChooseFormat(name, t.Format)
	if t.Format == "" && errors.Is(err, output.ErrNoFormat) && atomicfile.InPlace(name) {
		out.Format, err = output.ChooseFormat(msg.Std, "")
	}
	switch {
	case err != nil && t.Format == "":
		if errors.Is(err, output.ErrNoFormat) {
			err = fmt.Errorf("%w; or -out-format must name one", err)
		}
		faults.Add("out", err)
	case errors.Is(err, output.ErrFormat):
		faults.Add("out-format", cli.Hint(err, t.Format, output.FormatNames()))
	case err != nil:
		faults.Add("out-format", err)
	case !outputs.IsTerminal(name, stdout):
	case out.Format.Readable():
		out.Terminal = true
	default:
		faults.Add("out", fmt.Errorf("%s is a terminal, and %s is not text: redirect it, name a file, or add -out-format csv", msg.File(name), out.Format.Name()))
	}
}

// CheckContainer adds a fault of the responsible flag for each reason why the format cannot hold the rows for these
// agents.
func CheckContainer(out *output.Options, agents []string, faults *cli.Faults) {
	for _, err := range cli.Parts(out.CheckContainer(agents)) {
		flag := "compression"
		switch {
		case errors.Is(err, output.ErrPartition):
			flag = "partition-by"
		case errors.Is(err, output.ErrCSV):
			flag = "csv"
		case errors.Is(err, output.ErrLevel):
			flag = "level"
		case errors.Is(err, output.ErrRowGroup):
			flag = "row-group"
		}
		faults.Add(flag, err)
	}
}

// WithColumnHints adds a suggestion to each error of an unknown column; other errors, and nil, are unchanged.
func WithColumnHints(err error) error {
	hinted := cli.Parts(err)
	for i, err := range hinted {
		if c, ok := errors.AsType[*output.ColumnError](err); ok && c.Reason == "unknown" {
			hinted[i] = cli.Hint(err, c.Name, c.Known)
			if slices.Contains(Fields(), c.Name) {
				hinted[i] = fmt.Errorf("%w; fields of the log follow them: -keep %s", err, c.Name)
			}
		}
	}
	return errors.Join(hinted...)
}
