package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/parquet"
)

// readLines reads a file of text of the format: all its frames or members, which are the groups.
func readLines(tb testing.TB, f Format, data []byte) (c contents) {
	tb.Helper()
	text := data
	switch container.Specs[f].Packing {
	case fieldtext.Zstd:
		text, c.groups = unpackZstd(tb, data)
	case fieldtext.Gzip:
		text, c.groups = unpackGzip(tb, data)
	case fieldtext.NotPacked:
		c.groups = 1
	}
	if container.Specs[f].Syntax.Header {
		separator := ','
		if strings.HasPrefix(container.Specs[f].Name, "tsv") {
			separator = '\t'
		}
		c.columns, c.rows = readCSV(tb, text, separator)
	} else {
		c.columns, c.rows = readJSONL(tb, text)
	}
	return c
}

// unpackZstd returns the text of all frames, each of which must be whole by itself, and their
// number.
func unpackZstd(tb testing.TB, data []byte) (text []byte, frames int) {
	tb.Helper()
	dec, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1)) // DecodeAll copies all text for each frame
	if err != nil {
		tb.Fatal(err)
	}
	defer dec.Close()
	if text, err = io.ReadAll(dec); err != nil || len(data) == 0 {
		tb.Fatalf("%d bytes of zstd: %v", len(data), err)
	}
	return text, bytes.Count(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) // at least; none are expected in compressed text
}

// unpackGzip is unpackZstd for members of gzip.
func unpackGzip(tb testing.TB, data []byte) (text []byte, members int) {
	tb.Helper()
	in := bytes.NewReader(data) // an io.ByteReader, of which no more is read than the member
	r, err := gzip.NewReader(in)
	for ; err == nil; members++ {
		r.Multistream(false)
		piece, err := io.ReadAll(r)
		if err != nil {
			tb.Fatal(err)
		}
		text = append(text, piece...)
		if err = r.Reset(in); err != nil {
			if !errors.Is(err, io.EOF) {
				tb.Fatal(err)
			}
			return text, members + 1
		}
	}
	tb.Fatal(err)
	return nil, 0
}

// A csvField is a field as it stands in a file.
type csvField struct {
	text   string
	quoted bool
}

// parseCSV parses CSV according to RFC 4180, byte by byte.
func parseCSV(tb testing.TB, text []byte, separator rune) (rows [][]csvField) {
	tb.Helper()
	var row []csvField
	for len(text) > 0 {
		var f csvField
		if f.quoted = text[0] == '"'; f.quoted {
			f.text, text = parseQuoted(tb, text[1:])
		} else {
			n := bytes.IndexAny(text, string(separator)+"\n\r\"")
			if n < 0 {
				tb.Fatalf("%q has no end", text[:min(10, len(text))])
			}
			f.text, text = string(text[:n]), text[n:]
		}
		row = append(row, f)
		switch {
		case bytes.HasPrefix(text, []byte(string(separator))):
		case bytes.HasPrefix(text, []byte("\n")):
			rows, row = append(rows, row), nil
		default:
			tb.Fatalf("%q behind a field", text[:min(10, len(text))])
		}
		text = text[1:]
	}
	if row != nil {
		tb.Fatal("no end of the last row")
	}
	return rows
}

// parseQuoted returns a quoted field, without its opening quotation mark, and the rest.
func parseQuoted(tb testing.TB, text []byte) (field string, rest []byte) {
	tb.Helper()
	var sb strings.Builder
	for {
		piece, rest, ok := bytes.Cut(text, []byte(`"`))
		if !ok {
			tb.Fatal("a quoted field has no end")
		}
		sb.Write(piece)
		if !bytes.HasPrefix(rest, []byte(`"`)) {
			return sb.String(), rest
		}
		sb.WriteByte('"')
		text = rest[1:]
	}
}

// readCSV reads a table twice: according to RFC 4180, and with encoding/csv, which does not distinguish nulls.
func readCSV(tb testing.TB, text []byte, separator rune) (names []string, rows [][]any) {
	tb.Helper()
	table := parseCSV(tb, text, separator)
	if len(table) == 0 {
		tb.Fatal("no header")
	}
	for _, f := range table[0] {
		names = append(names, f.text)
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = separator
	for i, fields := range table {
		if len(fields) != len(names) {
			tb.Fatalf("row %d: %d fields, want %d", i, len(fields), len(names))
		}
		if len(fields) > 1 || fields[0].text != "" || fields[0].quoted { // a line that encoding/csv leaves out
			record, err := r.Read()
			same := func(a csvField, b string) bool { return strings.ReplaceAll(a.text, "\r\n", "\n") == b }
			if err != nil || !slices.EqualFunc(fields, record, same) {
				tb.Fatalf("row %d: encoding/csv reads %q, %v; want %v", i, record, err, fields)
			}
		}
		if i == 0 {
			continue
		}
		row := make([]any, len(names))
		for k, f := range fields {
			if f.text != "" || f.quoted {
				row[k] = parseValue(tb, names[k], f.text)
			}
		}
		rows = append(rows, row)
	}
	if record, err := r.Read(); !errors.Is(err, io.EOF) {
		tb.Fatalf("encoding/csv reads one more row: %q, %v", record, err)
	}
	return names, rows
}

// readJSONL reads objects, whose keys must be the same, in the same order.
func readJSONL(tb testing.TB, text []byte) (names []string, rows [][]any) {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	next := func(line []byte) json.Token {
		token, err := d.Token()
		if err != nil {
			tb.Fatalf("%q: %v", line, err)
		}
		return token
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("}\n")) || !json.Valid(line) || next(line) != json.Delim('{') {
			tb.Fatalf("not an object on a line: %q", line)
		}
		keys, row := make([]string, 0, len(names)), make([]any, 0, len(names))
		for d.More() {
			key := next(line).(string)
			keys, row = append(keys, key), append(row, jsonValue(tb, key, next(line)))
		}
		next(line) // the end of the object
		if names == nil {
			names = keys
		}
		if !slices.Equal(keys, names) {
			tb.Fatalf("keys %q, want %q", keys, names)
		}
		rows = append(rows, row)
	}
	return names, rows
}

// jsonValue returns a value of a column; its form must be that of the column's kind.
func jsonValue(tb testing.TB, name string, token json.Token) any { //nolint:thelper // Helper takes longer than the rest
	text, isText := token.(string)
	k := kindOf(name)
	switch token := token.(type) {
	case nil:
		return nil
	case bool:
		if k == parquet.Bool {
			return token
		}
	case json.Number:
		if k == parquet.Int64 || k == parquet.Int32 || k == parquet.Double {
			return parseValue(tb, name, token.String())
		}
	case string:
		if k == parquet.Text || k == parquet.Dictionary || k == parquet.Time {
			return parseValue(tb, name, text)
		}
	}
	tb.Fatalf("column %s has %v, a string: %v", name, token, isText)
	return nil
}

// kindOf returns the type of a column that tests have.
func kindOf(name string) parquet.Type {
	if s := columnar.Lookup(name); s != nil {
		return s.Type
	}
	for _, base := range []string{
		"rule_line", "allowed", "reason", "rule", "content_usage_line", "content_usage", "content_signal_line", "content_signal",
		"use_train_ai", "use_search", "use_ai_input", "policy_train_ai_line", "policy_train_ai",
	} { // of agents, in the wide layout
		if strings.HasPrefix(name, base+"_") {
			return columnar.Lookup(base).Type
		}
	}
	i := slices.IndexFunc(keptColumns, func(k KeptColumn) bool { return k.Name == name })
	return columnar.KeptSpecs[keptColumns[i].Kind].Type
}

// parseValue returns the value of a column that the text says, as the readers of the other formats
// return it.
func parseValue(tb testing.TB, name, text string) any { //nolint:thelper // see jsonValue
	var v any
	var err error
	switch kindOf(name) {
	case parquet.Int64:
		v, err = strconv.ParseInt(text, 10, 64)
	case parquet.Int32:
		var n int64
		n, err = strconv.ParseInt(text, 10, 32)
		v = int32(n)
	case parquet.Bool:
		v = text == "true"
		if text != "true" && text != "false" {
			err = strconv.ErrSyntax
		}
	case parquet.Time:
		var at time.Time
		at, err = time.Parse("2006-01-02T15:04:05.000000Z", text)
		v = at.UnixMicro()
	case parquet.Double:
		v, err = strconv.ParseFloat(text, 64)
	case parquet.Text, parquet.Dictionary:
		v = text
	}
	if err != nil {
		tb.Fatalf("column %s: %q: %v", name, text, err)
	}
	return v
}
