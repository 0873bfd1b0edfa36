package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/rogpeppe/go-internal/testscript"
)

// rows FILE: prints an Arrow file or stream: a line with the names of the columns, and then the rows, separated by
// tabs. FILE may be "stdout".
func printRows(ts *testscript.TestScript, _ bool, args []string) {
	text := []byte(ts.ReadFile(args[0]))
	if bytes.HasPrefix(text, []byte("ARROW1")) {
		r, err := ipc.NewFileReader(bytes.NewReader(text))
		ts.Check(err)
		defer r.Close()
		printHeader(ts, r.Schema())
		for i := range r.NumRecords() {
			rec, err := r.Record(i)
			ts.Check(err)
			printRecord(ts, rec)
		}
		return
	}
	r, err := ipc.NewReader(bytes.NewReader(text))
	ts.Check(err)
	defer r.Release()
	printHeader(ts, r.Schema())
	for r.Next() {
		printRecord(ts, r.Record())
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		ts.Fatalf("%v", err)
	}
}

func printHeader(ts *testscript.TestScript, schema *arrow.Schema) {
	var names []string
	for _, f := range schema.Fields() {
		names = append(names, f.Name)
	}
	fmt.Fprintln(ts.Stdout(), strings.Join(names, "\t"))
}

func printRecord(ts *testscript.TestScript, rec arrow.Record) {
	for row := range int(rec.NumRows()) {
		var cells []string
		for _, col := range rec.Columns() {
			cell := "null"
			if !col.IsNull(row) {
				cell = col.ValueStr(row)
			}
			cells = append(cells, cell)
		}
		fmt.Fprintln(ts.Stdout(), strings.Join(cells, "\t"))
	}
}

// metadata FILE: prints the number of rows and the key-value metadata of a Parquet file, by key.
func printMetadata(ts *testscript.TestScript, _ bool, args []string) {
	r, err := file.NewParquetReader(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	defer r.Close()
	md := r.MetaData()
	fmt.Fprintln(ts.Stdout(), "rows in the footer:", md.NumRows)
	keys := slices.Clone(md.KeyValueMetadata().Keys())
	slices.Sort(keys)
	for _, key := range keys {
		fmt.Fprintf(ts.Stdout(), "%s: %s\n", key, *md.KeyValueMetadata().FindValue(key))
	}
}

// samerows FILE1 FILE2: compares two Parquet files without their footers, which contain the metadata.
func sameRows(ts *testscript.TestScript, neg bool, args []string) {
	if same := bytes.Equal(pages(ts, args[0]), pages(ts, args[1])); same == neg {
		ts.Fatalf("same rows: %v", same)
	}
}

// pages returns the bytes of a Parquet file before its footer.
func pages(ts *testscript.TestScript, name string) []byte {
	text := []byte(ts.ReadFile(name))
	n := len(text)
	if n < 12 || string(text[n-4:]) != "PAR1" {
		ts.Fatalf("%s is not Parquet", name)
	}
	return text[:n-8-int(binary.LittleEndian.Uint32(text[n-8:]))]
}

// json FILE PATH...: prints the values at these paths of a JSON file, such as counts.urls, one per line.
func printJSON(ts *testscript.TestScript, _ bool, args []string) {
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
	for _, path := range args[1:] {
		v := doc
		for key := range strings.SplitSeq(path, ".") {
			object, _ := v.(map[string]any)
			inner, ok := object[key]
			if !ok {
				ts.Fatalf("%s: no %s", args[0], path)
			}
			v = inner
		}
		text, err := json.Marshal(v)
		ts.Check(err)
		fmt.Fprintf(ts.Stdout(), "%s: %s\n", path, text)
	}
}
