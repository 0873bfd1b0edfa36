package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// writeTexts writes a list of 30,000 URLs and a table with notes. Both contain sequences of similar and of unrelated
// values, empty and missing values, and some values of 64 KiB.
func writeTexts(t *testing.T) (list, table string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	var urls, notes bytes.Buffer
	fmt.Fprintln(&notes, "url,note")
	for i := range 30_000 {
		url := fmt.Sprintf("https://host-%d.example/some/path/%d/%x", i/500, i/20, rng.Uint32())
		if i/5000%2 == 1 {
			url = fmt.Sprintf("%x://%x.example/%x", rng.Uint64(), rng.Uint64(), rng.Uint64())
		}
		note := fmt.Sprintf("%s %d", []string{"", "the same", "long " + url}[i/900%3], i/9)
		switch i % 5000 {
		case 7: // as long as a line may be
			url = "http://example.com/" + strings.Repeat("x", 64<<10-len("http://example.com/"))
			note = strings.Repeat("é", 10<<10)
		case 8: // longer: the row has no URL
			fmt.Fprintln(&urls, strings.Repeat("y", 64<<10+1))
			note = ""
		case 9:
			url = "http://example.com/é?"
		}
		fmt.Fprintln(&urls, url)
		if len(url) > 1000 {
			url = "http://example.com/"
		}
		if i%4 == 0 {
			note = ""
		}
		fmt.Fprintf(&notes, "%s,%s\n", url, note)
	}
	dir := t.TempDir()
	list, table = filepath.Join(dir, "urls.txt"), filepath.Join(dir, "notes.csv")
	if err := errors.Join(os.WriteFile(list, urls.Bytes(), 0o600), os.WriteFile(table, notes.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return list, table
}

// TestEncodings lets every Parquet reader read texts in each encoding, in several pages and row
// groups. They must find the values that robobatch writes as JSON Lines.
func TestEncodings(t *testing.T) {
	list, table := writeTexts(t)
	for name, test := range map[string]struct {
		flags   []string
		columns []string
	}{
		"urls":  {[]string{"-in", list, "-columns", "line,url,canonical_url"}, []string{"url", "canonical_url"}},
		"notes": {[]string{"-in", table, "-columns", "line,url", "-keep", "note"}, []string{"url", "note"}},
	} {
		want := readLines(t, logRun(t, "x.jsonl", test.flags...), test.columns)
		for _, flags := range []string{"", "-compression snappy", "-compression none -row-group 7000"} {
			t.Run(name+flags, func(t *testing.T) {
				out := logRun(t, "x.parquet", append(strings.Fields(flags), test.flags...)...)
				checkEncodings(t, out, flags, test.columns)
				for reader, read := range map[string]func(*testing.T, string, []string) [][]*string{
					"DuckDB": readDuck, "parquet-go": readParquetGo, "pyarrow": readPyarrow, "robobatch": readRobobatch,
					"ClickHouse": nodeReader("clickhouse"), "hyparquet": nodeReader("hyparquet"),
				} {
					t.Run(reader, func(t *testing.T) { sameColumns(t, read(t, out, test.columns), want) })
				}
			})
		}
	}
}

// checkEncodings checks that texts have the encodings that the flags request, in several pages.
func checkEncodings(t *testing.T, out, flags string, columns []string) {
	t.Helper()
	d := openDuck(t)
	for _, column := range columns {
		var encodings string
		d.row("select string_agg(distinct encodings, ' ') from parquet_metadata("+quote(out)+") where path_in_schema = "+quote(column), &encodings)
		plain, deltas := strings.Contains(encodings, "PLAIN"), strings.Contains(encodings, "DELTA_BYTE_ARRAY")
		if strings.Contains(flags, "plain") && (!plain || deltas) || !strings.Contains(flags, "plain") && !deltas || column == "url" && !plain {
			t.Errorf("%s is in %s", column, encodings)
		}
	}
}

// sameColumns compares rows.
func sameColumns(t *testing.T, got, want [][]*string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		for k := range got[i] {
			if g, w := got[i][k], want[i][k]; (g == nil) != (w == nil) || g != nil && *g != *w {
				t.Fatalf("row %d, column %d: %.200v, want %.200v", i, k, show(g), show(w))
			}
		}
	}
}

// show returns a text for messages, or says that it is missing.
func show(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// readLines reads columns of JSON Lines.
func readLines(t *testing.T, name string, columns []string) (rows [][]*string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var o map[string]any
		if err := dec.Decode(&o); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		var row []*string
		for _, c := range columns {
			s, ok := o[c].(string)
			if !ok {
				s, ok = o["in_"+c].(string) // an extra column with the name of another one
			}
			if ok {
				row = append(row, &s)
			} else {
				row = append(row, nil)
			}
		}
		rows = append(rows, row)
	}
}

func readDuck(t *testing.T, out string, columns []string) (all [][]*string) {
	t.Helper()
	rows, err := openDuck(t).db.Query("select " + strings.Join(columns, ", ") + " from " + quote(out) + " order by line")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		row := make([]*string, len(columns))
		to := make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// readParquetGo reads with parquet-go, which verifies checksums.
func readParquetGo(t *testing.T, out string, columns []string) (all [][]*string) {
	t.Helper()
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	leaves := file.Schema().Columns()
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, r := range buf[:n] {
				row := make([]*string, len(columns))
				for _, v := range r {
					if k := slices.Index(columns, leaves[v.Column()][0]); k >= 0 && !v.IsNull() {
						s := string(v.ByteArray())
						row[k] = &s
					}
				}
				all = append(all, row)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// readPyarrow reads with pyarrow, which verifies checksums here. CI does not install it; PYTHON may name a Python
// that has it.
func readPyarrow(t *testing.T, out string, columns []string) (all [][]*string) {
	t.Helper()
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	const program = `import json, sys, pyarrow.parquet as pq
table = pq.read_table(sys.argv[1], columns=sys.argv[2:], page_checksum_verification=True)
json.dump([list(row.values()) for row in table.to_pylist()], sys.stdout)`
	if exec.Command(python, "-c", "import pyarrow").Run() != nil {
		t.Skip("no pyarrow: name a Python that has it in PYTHON")
	}
	cmd := exec.Command(python, append([]string{"-c", program, out}, columns...)...)
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// nodeReader returns a function that reads with a script of the node folder.
func nodeReader(name string) func(*testing.T, string, []string) [][]*string {
	return func(t *testing.T, out string, columns []string) (all [][]*string) {
		t.Helper()
		node(t, &all, "columns.js", append([]string{name, out}, columns...)...)
		return all
	}
}

// readRobobatch lets robobatch read its own output, in which a row without a URL gives no row.
func readRobobatch(t *testing.T, out string, columns []string) [][]*string {
	t.Helper()
	var keep []string
	for _, c := range columns {
		keep = append(keep, c+":text")
	}
	again := logRun(t, "again.jsonl", "-in", out, "-field", "url=line", "-base", "http://x.example", "-columns", "line", "-no-rows", "allow", "-keep", strings.Join(keep, ","))
	return readLines(t, again, columns)
}
