package coverage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
)

// A Format is a container for the table of rules.
type Format uint8

// The formats of tables.
const (
	Parquet Format = iota
	JSON           // an object a line
)

// ErrFormat is the kind of the error of FormatOf.
var ErrFormat = errors.New("unknown format of a table of rules")

// FormatOf returns the format that the name of a table asks for.
func FormatOf(name string) (Format, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl":
		return JSON, nil
	case ".parquet":
		return Parquet, nil
	}
	return 0, fmt.Errorf("%w of %s: its name must end in .parquet or .jsonl", ErrFormat, name)
}

// columns is the schema of the table in Parquet. A new column is one more element, and goes last.
var columns = []output.CellColumn[Rule]{
	output.CellOf("origin", parquet.Dictionary, false, func(r *Rule) parquet.Cell { return text(r.Origin) }),
	output.CellOf("origins", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(int64(r.Origins)) }),
	output.CellOf("agent", parquet.Dictionary, true, func(r *Rule) parquet.Cell {
		if r.Agent == nil {
			return parquet.Cell{Null: true}
		}
		return text(*r.Agent)
	}),
	output.CellOf("line", parquet.Int32, false, func(r *Rule) parquet.Cell { return number(int64(r.Line)) }),
	output.CellOf("allow", parquet.Bool, false, func(r *Rule) parquet.Cell {
		if r.Allow {
			return number(1)
		}
		return number(0)
	}),
	output.CellOf("rule", parquet.Text, false, func(r *Rule) parquet.Cell { return text(r.Rule) }),
	output.CellOf("decided_requests", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(r.Decided.Requests) }),
	output.CellOf("decided_urls", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(r.Decided.URLs) }),
	output.CellOf("decided_first", parquet.Time, true, func(r *Rule) parquet.Cell { return at(r.Decided.First) }),
	output.CellOf("decided_last", parquet.Time, true, func(r *Rule) parquet.Cell { return at(r.Decided.Last) }),
	output.CellOf("matched_requests", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(r.Matched.Requests) }),
	output.CellOf("matched_urls", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(r.Matched.URLs) }),
	output.CellOf("matched_first", parquet.Time, true, func(r *Rule) parquet.Cell { return at(r.Matched.First) }),
	output.CellOf("matched_last", parquet.Time, true, func(r *Rule) parquet.Cell { return at(r.Matched.Last) }),
	output.CellOf("won_by_line", parquet.Int32, true, func(r *Rule) parquet.Cell {
		if len(r.WonBy) == 0 {
			return parquet.Cell{Null: true}
		}
		return number(int64(r.WonBy[0].Line))
	}),
	output.CellOf("won_by", parquet.Text, true, func(r *Rule) parquet.Cell {
		if len(r.WonBy) == 0 {
			return parquet.Cell{Null: true}
		}
		return text(r.WonBy[0].Rule)
	}),
}

func text(s string) parquet.Cell  { return parquet.Cell{Text: s} }
func number(n int64) parquet.Cell { return parquet.Cell{Int: n} }

// at returns a time, null if there is none.
func at(t *time.Time) parquet.Cell {
	if t == nil {
		return parquet.Cell{Null: true}
	}
	return number(t.UnixMicro())
}

// WriteTable writes all rules to a file. The caller completes it.
func (c *Counter) WriteTable(file place.Output, format Format, version string) error {
	if format == JSON {
		return file.Wrap("write", c.writeJSON(file))
	}
	return file.Wrap("write", c.writeParquet(file, version))
}

// writeJSON writes all rules as lines of JSON.
func (c *Counter) writeJSON(w io.Writer) error {
	out := bufio.NewWriterSize(w, 256<<10)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for r := range c.Rules() {
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeParquet writes all rules as Parquet, with the head as metadata.
func (c *Counter) writeParquet(w io.Writer, version string) error {
	head, err := json.Marshal(c.Head())
	if err != nil {
		return err
	}
	table, err := output.NewCellTable(w, output.CellFields(columns), output.CellOptions{
		Format: output.Parquet, Version: version, Metadata: [][2]string{{"robobatch.coverage", string(head)}},
	})
	if err != nil {
		return err
	}
	row := make([]parquet.Cell, 0, len(columns))
	for r := range c.Rules() {
		row = output.AppendCells(row[:0], columns, r)
		if err := table.Add(row); err != nil {
			return err
		}
	}
	return table.Close()
}
