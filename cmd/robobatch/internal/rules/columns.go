package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/robobatch/robobatch/internal/fieldtext"

	"github.com/robobatch/robobatch/output/parquet"
)

// A listColumn is a column of listings: its field, and its value in a row.
type listColumn struct {
	parquet.Field
	cell func(r *listRow) parquet.Cell
}

// listColumns is the schema of listings. A new column is one more element.
var listColumns = []listColumn{
	{of("origin", parquet.Dictionary, false), func(r *listRow) parquet.Cell { return parquet.Cell{Text: fieldtext.Valid(r.origin)} }},
	{of("source", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.source) }},
	{of("url", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.url) }},
	{of("outcome", parquet.Dictionary, false), func(r *listRow) parquet.Cell { return textCell(r.outcome) }},
	{of("status", parquet.Int32, nullable), func(r *listRow) parquet.Cell { return intCell(int64(r.response.Status)) }},
	{of("error", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.reason) }},
	{of("fetched_at", parquet.Time, nullable), func(r *listRow) parquet.Cell {
		at := r.response.FetchedAt.UTC()
		return parquet.Cell{Null: at.IsZero() || at.Year() < 1 || at.Year() > 9999, Int: at.UnixMicro()}
	}},
	{of("size", parquet.Int64, nullable), func(r *listRow) parquet.Cell {
		return parquet.Cell{Null: !r.fetched, Int: r.response.Size}
	}},
	{of("truncated", parquet.Bool, nullable), func(r *listRow) parquet.Cell {
		c := parquet.Cell{Null: !r.fetched}
		if r.truncated {
			c.Int = 1
		}
		return c
	}},
	{of("item", parquet.Dictionary, false), func(r *listRow) parquet.Cell { return textCell(r.item) }},
	{of("group_id", parquet.Int32, nullable), func(r *listRow) parquet.Cell { return intCell(int64(r.group)) }},
	{of("agents", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.agents) }},
	{of("line", parquet.Int32, nullable), func(r *listRow) parquet.Cell { return intCell(int64(r.line)) }},
	{of("code", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.code) }},
	{of("value", parquet.Text, nullable), func(r *listRow) parquet.Cell {
		if r.value == nil {
			return parquet.Cell{Null: true}
		}
		return parquet.Cell{Text: fieldtext.Valid(*r.value)}
	}},
}

const nullable = true

// of returns a field of that type.
func of(name string, t parquet.Type, nullable bool) parquet.Field {
	return parquet.Field{Name: name, Type: t, Nullable: nullable}
}

// textCell returns a text; null for "".
func textCell(s string) parquet.Cell { return parquet.Cell{Null: s == "", Text: fieldtext.Valid(s)} }

// intCell returns a number; null for 0.
func intCell(n int64) parquet.Cell { return parquet.Cell{Null: n == 0, Int: n} }

// A listTable is the container of a listing.
type listTable interface {
	// Add adds a row, which is valid until it returns.
	Add(row []parquet.Cell) error
	// Close writes the rest, with these metadata if the format has any.
	Close(keys, values []string) error
}

// newListTable returns the container of a format.
func newListTable(s *sink, opt Options) (listTable, error) {
	if opt.Format == JSON {
		j := &listJSON{sink: s}
		j.values = json.NewEncoder(&j.value)
		j.values.SetEscapeHTML(false)
		return j, nil
	}
	fields := make([]parquet.Field, len(listColumns))
	for i, c := range listColumns {
		fields[i] = c.Field
	}
	return parquet.NewTable(s, fields, parquet.Options{
		CreatedBy: "robobatch version " + fieldtext.Valid(cmp.Or(opt.Version, "devel")), Codec: parquet.Zstd, Level: 1,
	})
}

// A listJSON writes a listing as one JSON object a line, all of them with all columns.
type listJSON struct {
	sink   *sink
	line   []byte
	value  bytes.Buffer
	values *json.Encoder // to value
}

// Add writes a row.
func (j *listJSON) Add(row []parquet.Cell) error {
	j.line = j.line[:0]
	for i, cell := range row {
		j.value.Reset()
		if err := j.values.Encode(valueOf(listColumns[i].Type, cell)); err != nil {
			return err
		}
		j.line = append(fieldtext.JSON.Lead(j.line, i, listColumns[i].Name), bytes.TrimSuffix(j.value.Bytes(), []byte("\n"))...)
	}
	_, err := j.sink.Write(append(j.line, fieldtext.JSON.End...))
	return err
}

// valueOf returns a cell as encoding/json takes it.
func valueOf(t parquet.Type, c parquet.Cell) any {
	switch {
	case c.Null:
		return nil
	case t == parquet.Text, t == parquet.Dictionary:
		return c.Text
	case t == parquet.Bool:
		return c.Int != 0
	case t == parquet.Time:
		return time.UnixMicro(c.Int).UTC()
	}
	return c.Int
}

// Close does nothing: all is written, and there is no place for metadata.
func (j *listJSON) Close(_, _ []string) error { return nil }
