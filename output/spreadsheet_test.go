package output

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/internal/container"
)

// formulaTable has URLs and kept texts that spreadsheets would run, and some that they would not.
func formulaTable(urls int) *table {
	table := tableSpec{urls: urls, agents: 2, sites: 20, batch: 700}.make()
	texts := []string{"=1", "x", "", "+", "-2", "@a", "\tb", "\rc", "'=1", " =1", "a=1"}
	n := 0
	for _, b := range table.batches {
		kept := engine.Kept{Kind: engine.KeptText}
		for i := range b.Lines {
			text := texts[n%len(texts)]
			n++
			kept.Present = append(kept.Present, true)
			kept.Texts = append(kept.Texts, engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(text))})
			b.Data = append(b.Data, text...)
			if n%7 == 0 && b.URLs[i] != engine.NoURL {
				b.Data[b.URLs[i].Off] = '='
			}
		}
		b.Kept = []engine.Kept{kept}
	}
	return table
}

// TestFormulas compares the count with that of a reader of the file, for all workers, orders and formats, and tests
// that safe files have no formulas.
func TestFormulas(t *testing.T) {
	table := formulaTable(shorter(20000))
	table.inputs = []string{"a.zst", "=b.zst", "-c.zst"}
	newDicts := func(w *Writer) { // for each chunk
		w.chunk.Limits.Rows = 1000
		if f, ok := w.container.(*container.LineFile); ok {
			f.Dicts = 0
		}
	}
	for _, f := range []Format{CSV, TSVZstd} {
		opt := Options{Format: f, Columns: []string{"line", "url", "origin", "agent", "input"}, Kept: []KeptColumn{{Name: "note", Kind: engine.KeptText}}}
		want := countFormulas(t, f, table.bytes(t, opt))
		if want.Cells < 1000 || len(want.First) != container.MaxFormulas {
			t.Fatalf("%+v", want)
		}
		for _, workers := range []int{1, 3} {
			opt.Workers = workers
			for _, set := range []func(*Writer){func(*Writer) {}, newDicts} {
				w, err := table.writeWith(&bytes.Buffer{}, opt, set)
				if err != nil {
					t.Fatal(err)
				}
				if got := w.Formulas(); got.Cells != want.Cells || !slices.Equal(got.First, want.First) {
					t.Errorf("%v with %d workers: %+v, want %+v", f, workers, got, want)
				}
			}
		}
		tree := opt
		tree.Partition, tree.tree = []string{"agent"}, t.TempDir()
		w, err := table.writeWith(nil, tree, func(*Writer) {})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Formulas(); got.Cells != want.Cells {
			t.Errorf("%v, partitioned: %d cells, want %d", f, got.Cells, want.Cells)
		}
		opt.CSV.Safe = true
		var safe bytes.Buffer
		if w, err = table.writeWith(&safe, opt, func(*Writer) {}); err != nil {
			t.Fatal(err)
		}
		if got, left := w.Formulas(), countFormulas(t, f, safe.Bytes()); got.Cells != 0 || left.Cells != 0 {
			t.Errorf("%v: %d and %d cells that are not safe", f, got.Cells, left.Cells)
		}
	}
}

// countFormulas counts in the rows of a file.
func countFormulas(t *testing.T, f Format, data []byte) (found Formulas) {
	t.Helper()
	separator := ','
	if f != CSV {
		data, _ = unpackZstd(t, data)
		separator = '\t'
	}
	// encoding/csv takes CR LF within quotes for LF, and a lone CR as it is.
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = separator
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		for _, cell := range row[1:] { // but for the line
			if len(cell) > 1 && strings.Contains("=+-@\t\r", cell[:1]) {
				found.See([]byte(cell))
			}
		}
	}
	return found
}

// TestCSVForm tests separators, the byte order mark and errors.
func TestCSVForm(t *testing.T) {
	table := tableSpec{urls: 300, agents: 1, sites: 5, batch: 100, keepRows: true}.make()
	for _, name := range CSVForms()[2:] {
		form, err := ParseCSV("bom, " + name)
		if err != nil || form.Safe {
			t.Fatal(form, err)
		}
		data := table.bytes(t, Options{Format: CSV, CSV: form})
		text, marked := bytes.CutPrefix(data, []byte(container.ByteOrderMark))
		if !marked {
			t.Errorf("%s: no byte order mark", name)
		}
		_, rows := readCSV(t, text, rune(form.Separator))
		sameRows(t, rows, project(table.rows, Long.DefaultColumns()))
	}
	for _, test := range []struct {
		f    Format
		form CSVForm
		ok   bool
	}{
		{Parquet, CSVForm{}, true},
		{Parquet, CSVForm{Safe: true}, false},
		{JSONLGzip, CSVForm{BOM: true}, false},
		{CSVGzip, CSVForm{Separator: ';', BOM: true, Safe: true}, true},
		{TSV, CSVForm{Separator: ','}, false},
		{TSV, CSVForm{Separator: '\t', Safe: true}, true},
	} {
		if err := (Options{Format: test.f, CSV: test.form}).CheckContainer(nil); (err == nil) != test.ok || err != nil && !errors.Is(err, ErrCSV) {
			t.Errorf("%v, %+v: %v", test.f, test.form, err)
		}
	}
	if form, err := ParseCSV(`safe,\t`); err != nil || form != (CSVForm{Separator: '\t', Safe: true}) {
		t.Error(form, err)
	}
	if form, err := ParseCSV(","); err != nil || form != (CSVForm{Separator: ','}) {
		t.Errorf("a comma: %+v, %v", form, err)
	}
	if form, err := ParseCSV("safe,\t"); err != nil || form != (CSVForm{Separator: '\t', Safe: true}) {
		t.Errorf("a tab: %+v, %v", form, err)
	}
	if _, err := ParseCSV("semicolon,tab"); !errors.Is(err, ErrCSV) {
		t.Errorf("two separators: %v", err)
	}
	if _, err := ParseCSV("safe,x"); !errors.Is(err, ErrCSV) {
		t.Error(err)
	}
}

// TestTerminal tests that text for a terminal contains no control characters.
func TestTerminal(t *testing.T) {
	table := tableSpec{urls: 300, agents: 1, sites: 5, batch: 100}.make()
	for _, b := range table.batches {
		for i := range b.URLs {
			if i%5 == 0 && b.URLs[i] != engine.NoURL {
				copy(b.Data[b.URLs[i].Off:], "\x1b]0;x\a")
			}
		}
	}
	for _, f := range []Format{CSV, TSV, JSONL} {
		raw := table.bytes(t, Options{Format: f})
		shown := table.bytes(t, Options{Format: f, Terminal: true})
		if bytes.ContainsAny(shown, "\x1b\a\r") || f != JSONL && !bytes.ContainsAny(raw, "\x1b\a") {
			t.Errorf("%v: %.300q", f, shown)
		}
		var want bytes.Buffer
		if _, err := fieldtext.NewVisible(&want).Write(raw); err != nil || !bytes.Equal(shown, want.Bytes()) {
			t.Errorf("%v: %v, or another text", f, err)
		}
	}
}
