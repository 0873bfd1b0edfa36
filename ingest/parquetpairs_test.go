package ingest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// pairOptions reads fields with known keys, a kept one, and the time.
func pairOptions(rows int) LogOptions {
	return LogOptions{
		BatchRows: rows, Fields: weblog.Options{Times: true},
		Keep: []KeptColumn{{Field: "event_params.ga_session_id", Kind: engine.KeptInt}, {Field: "event_params.score", Kind: engine.KeptFloat}, {Field: "referer"}, {Field: "event_params.none"}},
	}
}

// readPairs returns the rows of a log as text, without line numbers.
func readPairs(t *testing.T, name string, opt LogOptions) (rows []string, refused int64, err error) {
	t.Helper()
	l, err := OpenLogs([]string{name}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for b := (engine.Batch{}); l.Next(&b); {
		for i := range b.Len() {
			row := fmt.Sprintf("%d %s", b.Times[i], b.URL(i))
			if b.Kept[0].Present[i] {
				row += fmt.Sprintf(" session %d", b.Kept[0].Ints[i])
			}
			if b.Kept[1].Present[i] {
				row += fmt.Sprintf(" score %v", b.Kept[1].Floats[i])
			}
			row += fmt.Sprintf(" from %s%s", b.Piece(b.Kept[2].Texts[i]), b.Piece(b.Kept[3].Texts[i]))
			rows = append(rows, row)
		}
	}
	return rows, l.Counts().Odd["empty_request"], l.Err()
}

// wantPairs returns the rows that testdata/pairs/make.py writes, and the number of rows without a URL.
func wantPairs() (rows []string, without int64) {
	for i := range int64(300) {
		url := fmt.Sprintf("https://www.example.com/page/%d?q=ä", i)
		if i%17 == 4 {
			url = fmt.Sprintf("https://www.example.com/again/%d", i)
		}
		at := 1767225600000000 + i*1000000
		if i%13 == 5 || i%11 == 3 { // no list, or an empty list
			without++
			rows = append(rows, fmt.Sprintf("%d  from ", at))
			continue
		}
		if i%7 == 2 && i%17 != 4 { // without this key
			without++
			url = ""
		}
		row := fmt.Sprintf("%d %s session %d", at, url, i*7)
		if i%4 == 1 {
			row += fmt.Sprintf(" score %v", float64(i)/8)
		}
		rows = append(rows, row+fmt.Sprintf(" from https://from.example/%d", i%5))
	}
	return rows, without
}

// pairFiles returns the files of testdata/pairs.
func pairFiles(t *testing.T) []string {
	t.Helper()
	tables, err := filepath.Glob("testdata/pairs/*.parquet")
	if err != nil || len(tables) < 4 {
		t.Fatalf("%d files, %v", len(tables), err)
	}
	return append(tables, "testdata/pairs/rows.jsonl")
}

// TestPairs reads fields of key-value lists from JSON Lines and from Parquet files of several writers.
func TestPairs(t *testing.T) {
	want, without := wantPairs()
	for _, name := range pairFiles(t) {
		for _, rows := range []int{1, 7, 8192} {
			got, empty, err := readPairs(t, name, pairOptions(rows))
			if err != nil || empty != without || !slices.Equal(got, want) {
				t.Errorf("%s by %d rows: %v, %d without a URL, want %d; got\n%s", name, rows, err, empty, without, strings.Join(got, "\n"))
			}
		}
		opt := pairOptions(100)
		opt.Fields.Named = map[string]string{"url": "event_params.page_referrer"}
		if got, _, err := readPairs(t, name, opt); err != nil || len(got) < 200 || !strings.Contains(got[0], " https://from.example/0 session 0") {
			t.Errorf("%s by its referrers: %v, %d rows, %q", name, err, len(got), got[:1])
		}
	}
}

// TestPairsDamage damages Parquet files with lists: there must be an error, or the original rows.
func TestPairsDamage(t *testing.T) {
	want, _ := wantPairs()
	rng := rand.New(rand.NewPCG(7, 8))
	dir, faults, otherwise := t.TempDir(), 0, 0
	for _, name := range pairFiles(t) {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, ".parquet") {
			continue
		}
		for range 150 {
			data := bytes.Clone(whole)
			at := 4 + rng.IntN(len(data)-4)
			if rng.IntN(2) == 0 {
				data[at] ^= byte(1 + rng.IntN(255))
			} else {
				data = slices.Delete(data, at, min(len(data), at+1+rng.IntN(50)))
			}
			opt := pairOptions(100)
			got, _, err := readPairs(t, testpack.WriteFile(t, dir, "x.parquet", data), opt)
			switch {
			case err != nil:
				faults++
			case len(got) != len(want):
				t.Errorf("%s, byte %d: %d rows and no error", name, at, len(got))
			case !slices.Equal(got, want):
				if otherwise++; strings.HasSuffix(name, "-v2.parquet") {
					t.Errorf("%s has checksums, and byte %d changes its rows without an error", name, at)
				}
			}
		}
	}
	if faults < 200 {
		t.Errorf("only %d faults, %d with other rows", faults, otherwise)
	}
}
