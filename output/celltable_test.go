package output

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/parquet"
)

// TestCellTable writes rows of all types, more than are written at once, in each format, and reads them back.
func TestCellTable(t *testing.T) {
	var fields []parquet.Field
	for _, name := range []string{"url", "origin", "line", "rule_line", "allowed"} {
		fields = append(fields, parquet.Field{Name: name, Type: kindOf(name), Nullable: true})
	}
	for _, k := range keptColumns {
		fields = append(fields, parquet.Field{Name: k.Name, Type: kindOf(k.Name), Nullable: true})
	}
	kinds := map[parquet.Type]bool{}
	var rows [][]parquet.Cell
	var want [][]any
	texts := []string{"", "a", "=1+2", "\"x\",\ty\n", "ü"}
	for n := range int64(2*cellBatch + 7) {
		var row []parquet.Cell
		var values []any
		for i, f := range fields {
			kinds[f.Type] = true
			cell := parquet.Cell{Null: (n+int64(i))%5 == 0}
			var value any
			switch f.Type {
			case parquet.Text, parquet.Dictionary:
				cell.Text = texts[(n/3)%int64(len(texts))]
				value = cell.Text
			case parquet.Int64, parquet.Time:
				cell.Int = n * 1_000_003
				value = cell.Int
			case parquet.Int32:
				cell.Int = n
				value = int32(n)
			case parquet.Bool:
				cell.Int = n % 2
				value = n%2 == 1
			case parquet.Double:
				cell.Float = float64(n) / 8
				value = cell.Float
			}
			if cell.Null {
				value = nil
			}
			row, values = append(row, cell), append(values, value)
		}
		rows, want = append(rows, row), append(want, values)
	}
	if len(kinds) != int(parquet.Double)+1 {
		t.Fatalf("types %v", kinds)
	}
	for f := range Format(container.NumFormats) {
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{0, len(rows)} {
				var out bytes.Buffer
				table, err := NewCellTable(&out, fields, CellOptions{Format: f, Version: "7", Metadata: [][2]string{{"k", "v"}}})
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows[:n] {
					if err := table.Add(slices.Clone(row)); err != nil {
						t.Fatal(err)
					}
				}
				if err := table.Close(); err != nil {
					t.Fatal(err)
				}
				got := read(t, f, out.Bytes())
				if len(got.rows) != n {
					t.Fatalf("%d rows, want %d", len(got.rows), n)
				}
				for i := range got.rows {
					if !reflect.DeepEqual(got.rows[i], want[i]) {
						t.Fatalf("row %d: got %v, want %v", i, got.rows[i], want[i])
					}
				}
				if f.HasMetadata() && (got.metadata["k"] != "v" || got.metadata[KeyVersion] != "7") {
					t.Errorf("metadata %v", got.metadata)
				}
				isCSV := container.Specs[f].Syntax != nil && !f.HasMetadata() && f != JSONL && f != JSONLZstd && f != JSONLGzip
				if cells := table.Formulas().Cells; n > 0 && (cells > 0) != isCSV {
					t.Errorf("%d formulas", cells)
				}
			}
		})
	}
}

// TestSafeCells tests that a safe table has no formulas, and which formats support the other forms of CSV.
func TestSafeCells(t *testing.T) {
	for format, want := range map[Format]string{
		CSV: "\ufeffurl;n\n\"'=1+2\";1\n", TSV: "\ufeffurl\tn\n\"'=1+2\"\t1\n", JSONL: "{\"url\":\"=1+2\",\"n\":1}\n",
	} {
		var out bytes.Buffer
		fields := []parquet.Field{{Name: "url", Type: parquet.Text}, {Name: "n", Type: parquet.Int64}}
		table, err := NewCellTable(&out, fields, CellOptions{Format: format, CSV: CSVForm{Separator: ';', BOM: true, Safe: true}})
		if err == nil {
			err = table.Add([]parquet.Cell{{Text: "=1+2"}, {Int: 1}})
		}
		if err == nil {
			err = table.Close()
		}
		if err != nil || out.String() != want {
			t.Errorf("%s: %q, %v, want %q", format, out.String(), err, want)
		}
	}
}
