package coverage

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/place"
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

// A column is a column of the table in Parquet.
type column struct {
	parquet.Field
	cell func(r *Rule) parquet.Cell
}

// columns is the schema of the table in Parquet. A new column is one more element, and goes last.
var columns = []column{
	{of("origin", parquet.Dictionary, false), func(r *Rule) parquet.Cell { return text(r.Origin) }},
	{of("origins", parquet.Int64, false), func(r *Rule) parquet.Cell { return number(int64(r.Origins)) }},
	{of("agent", parquet.Dictionary, true), func(r *Rule) parquet.Cell {
		if r.Agent == nil {
			return parquet.Cell{Null: true}
		}
		return text(*r.Agent)
	}},
	{of("line", parquet.Int32, false), func(r *Rule) parquet.Cell { return number(int64(r.Line)) }},
	{of("allow", parquet.Bool, false), func(r *Rule) parquet.Cell {
		if r.Allow {
			return number(1)
		}
		return number(0)
	}},
	{of("rule", parquet.Text, false), func(r *Rule) parquet.Cell { return text(r.Rule) }},
	{of("decided_requests", parquet.Int64, false), func(r *Rule) parquet.Cell { return number(r.Decided.Requests) }},
	{of("decided_urls", parquet.Int64, false), func(r *Rule) parquet.Cell { return number(r.Decided.URLs) }},
	{of("decided_first", parquet.Time, true), func(r *Rule) parquet.Cell { return at(r.Decided.First) }},
	{of("decided_last", parquet.Time, true), func(r *Rule) parquet.Cell { return at(r.Decided.Last) }},
	{of("matched_requests", parquet.Int64, false), func(r *Rule) parquet.Cell { return number(r.Matched.Requests) }},
	{of("matched_urls", parquet.Int64, false), func(r *Rule) parquet.Cell { return number(r.Matched.URLs) }},
	{of("matched_first", parquet.Time, true), func(r *Rule) parquet.Cell { return at(r.Matched.First) }},
	{of("matched_last", parquet.Time, true), func(r *Rule) parquet.Cell { return at(r.Matched.Last) }},
	{of("won_by_line", parquet.Int32, true), func(r *Rule) parquet.Cell {
		if len(r.WonBy) == 0 {
			return parquet.Cell{Null: true}
		}
		return number(int64(r.WonBy[0].Line))
	}},
	{of("won_by", parquet.Text, true), func(r *Rule) parquet.Cell {
		if len(r.WonBy) == 0 {
			return parquet.Cell{Null: true}
		}
		return text(r.WonBy[0].Rule)
	}},
}

// of returns a field of that type.
func of(name string, t parquet.Type, nullable bool) parquet.Field {
	return parquet.Field{Name: name, Type: t, Nullable: nullable}
}

func text(s string) parquet.Cell  { return parquet.Cell{Text: fieldtext.Valid(s)} }
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
	out := &sink{Writer: bufio.NewWriterSize(file, 256<<10)}
	var err error
	if format == JSON {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		for r := range c.Rules() {
			if err = encoder.Encode(r); err != nil {
				break
			}
		}
	} else {
		err = c.writeParquet(out, version)
	}
	return file.Wrap("write", cmp.Or(err, out.Flush()))
}

// writeParquet writes all rules as Parquet, with the head as metadata.
func (c *Counter) writeParquet(out *sink, version string) error {
	fields := make([]parquet.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].Field
	}
	table, err := parquet.NewTable(out, fields, parquet.Options{
		CreatedBy: "robobatch version " + fieldtext.Valid(version), Codec: parquet.Zstd, Level: 1,
	})
	if err != nil {
		return err
	}
	row := make([]parquet.Cell, len(columns))
	for r := range c.Rules() {
		for i := range columns {
			row[i] = columns[i].cell(r)
		}
		if err := table.Add(row); err != nil {
			return err
		}
	}
	head, err := json.Marshal(c.Head())
	if err != nil {
		return err
	}
	return table.Close([]string{"robobatch.version", "robobatch.coverage"}, []string{fieldtext.Valid(version), fieldtext.Valid(string(head))})
}

// A sink buffers bytes, and counts them.
type sink struct {
	*bufio.Writer
	pos int64
}

// Write appends p.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.pos += int64(n)
	return n, err
}

// Tell returns how many bytes were written.
func (s *sink) Tell() int64 { return s.pos }
