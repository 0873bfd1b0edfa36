package ingest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A tally has the rows, counts and errors of a log.
type tally struct {
	rows, refused, headers, empty int64
	lines                         []int64 // of rows and rejected lines
	raws                          []string
	urls                          []string
}

// tallyOf reads text as a log in a format, with batches of this number of rows.
func tallyOf(t *testing.T, text []byte, format weblog.Format, rows int) tally {
	t.Helper()
	opt := LogOptions{Format: format, Stdin: bytes.NewReader(text), BatchRows: rows, BatchBytes: 100, Raws: true}
	if format == weblog.Auto {
		opt.BatchBytes = 0 // otherwise the format is detected from fewer lines
	}
	opt.Fields = weblog.Options{Base: "https://base.example", Agents: true, Times: true}
	l, err := OpenLogs([]string{"-"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var y tally
	for b := (engine.Batch{}); l.Next(&b); {
		if n := len(b.UserAgents); n != len(b.Times) || n != b.Len() && n > 0 || len(b.Rejects) != b.Refused || len(b.Raws) != b.Len() {
			t.Fatalf("%d rows, %d refused: %d, %d, %d, %d", b.Len(), b.Refused, len(b.UserAgents), len(b.Times), len(b.Raws), len(b.Rejects))
		}
		y.addBatch(t, &b, text)
	}
	failed := l.Err()
	if (errors.Is(failed, ErrNotFormat) || errors.Is(failed, ErrLongLines)) && len(y.urls) == 0 { // found after all lines were counted
		failed = nil
	}
	if err := failed; err != nil && !errors.Is(err, weblog.ErrNoBase) && format != weblog.Auto && format != weblog.W3C && format != weblog.CloudFront && format != weblog.CSV && format != weblog.TSV {
		t.Fatal(err)
	}
	y.headers, y.empty = l.Counts().Headers, l.Counts().Empty
	slices.Sort(y.lines)
	if len(slices.Compact(slices.Clone(y.lines))) != len(y.lines) {
		t.Fatalf("a line counts twice: %v", y.lines)
	}
	if failed != nil {
		return tally{}
	}
	return y
}

// addBatch counts a batch, and checks that its lines are at their offsets.
func (y *tally) addBatch(t *testing.T, b *engine.Batch, text []byte) {
	t.Helper()
	y.rows += int64(b.Len())
	y.refused += int64(b.Refused)
	check := func(span engine.Span, line, offset int64) {
		raw := b.Piece(span)
		if before := bytes.Count(text[:offset], []byte{'\n'}); !bytes.HasPrefix(text[offset:], raw) || int64(before) != line-1 {
			t.Fatalf("line %d, %q, is not at %d, which is in line %d", line, raw, offset, before+1)
		}
		y.lines = append(y.lines, line)
		y.raws = append(y.raws, string(raw))
	}
	for i := range b.Len() {
		check(b.Raws[i], b.Lines[i], b.Offsets[i])
		y.urls = append(y.urls, string(b.URL(i)))
	}
	for _, r := range b.Rejects {
		check(r.Raw, r.Line, r.Offset)
	}
}

// FuzzFormats reads any text in each format. Every line must be a row, rejected, a header or empty, at its offset, and
// the batch size must not matter. A record of several lines is counted as its first line.
func FuzzFormats(f *testing.F) {
	for _, s := range samples {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "formats", s.name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 3000)], formatIndex(s.format))
	}
	for _, name := range []string{"wget-plain.warc", "wget-2.warc.gz", "warcio.warc", "dictionary.warc.zst"} {
		data, err := os.ReadFile(filepath.Join("testdata/warc", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, formatIndex(weblog.WARC))
	}
	f.Add([]byte("url,x\na,\"1\n\n2\"\nb,\"\nc,3\r\nd,\"\"\"\r\n\"\n"), formatIndex(weblog.CSV))
	archive := newWARCTest(f)
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		if int(n) >= len(Formats()) {
			return
		}
		format := Formats()[n]
		if format == weblog.Parquet || len(text) > 1<<16 {
			return
		}
		if format == weblog.WARC {
			checkWARCLog(t, archive, text)
			return
		}
		if is := unpack.Detect(text); is.Packing != unpack.None || is.Content == unpack.Parquet || bytes.HasPrefix(text, []byte(unpack.ByteOrderMark)) {
			return
		}
		y := tallyOf(t, text, format, 1000)
		if one := tallyOf(t, text, format, 1); !slices.Equal(one.lines, y.lines) || !slices.Equal(one.urls, y.urls) {
			t.Fatalf("in batches of one row: lines %v and %q, want %v and %q", one.lines, one.urls, y.lines, y.urls)
		}
		lines := int64(bytes.Count(text, []byte{'\n'}))
		if len(text) > 0 && text[len(text)-1] != '\n' {
			lines++
		}
		within := int64(strings.Count(strings.Join(y.raws, ""), "\n"))
		switch total := y.rows + y.refused + y.headers + y.empty; {
		case y.lines == nil && total == 0: // the log cannot be read
		case format != weblog.CSV && format != weblog.TSV && format != weblog.Auto && total != lines:
			t.Errorf("%d rows, %d refused, %d headers, %d empty: not %d lines", y.rows, y.refused, y.headers, y.empty, lines)
		case total > lines || total+within < lines-y.empty && y.headers == 1 && !quotedHeader(text):
			t.Errorf("%d rows, %d refused, %d headers, %d empty, %d line ends within: not %d lines", y.rows, y.refused, y.headers, y.empty, within, lines)
		}
	})
}

// formatIndex returns the index of a format, as an argument of a fuzz test.
func formatIndex(f Format) uint8 { return uint8(slices.Index(Formats(), f)) }

// quotedHeader reports whether the first non-empty line has a quote, so that a header may continue in the next line.
func quotedHeader(text []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte{'\n'})
	return bytes.IndexByte(first, '"') >= 0
}

// FuzzTable compares the URLs of a table with those that encoding/csv finds, unless it finds a fault.
func FuzzTable(f *testing.F) {
	f.Add([]byte("https://a/,1\n\"https://b/,\n2\",\"\"\"\"\n\nhttps://c/,\"x\n\n\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.ContainsRune(text, '\r') || len(text) > 1<<14 {
			return
		}
		text = append([]byte("url,n\n"), text...)
		records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			return
		}
		want := []string{}
		for _, r := range records[1:] {
			switch url := r[0]; {
			case url == "":
			case url[0] == '/' || url[0] == '?':
				want = append(want, "https://base.example"+url)
			default:
				want = append(want, url)
			}
		}
		for _, rows := range []int{1, 7, 1000} {
			y := tallyOf(t, text, weblog.CSV, rows)
			for i, url := range y.urls {
				if i >= len(want) || url != want[i] && !strings.Contains(want[i], " ") {
					t.Fatalf("URLs %q, want %q", y.urls, want)
				}
			}
			if len(y.urls) != len(want) {
				t.Fatalf("%d URLs %q, want %q", len(y.urls), y.urls, want)
			}
		}
	})
}

// TestRecords reads tables whose quotes end late, or do not end.
func TestRecords(t *testing.T) {
	long := strings.Repeat("x", 40_000)
	for _, test := range []struct {
		name, text string
		urls       []string
		refused    int64
	}{
		{"empty lines within", "url,n\nh://a,\"1\n\n\n2\"\nh://b,\n", []string{"h://a", "h://b"}, 0},
		{"whole batches of empty lines within", "url,n\nh://a,\"1\n" + strings.Repeat("\n", 900) + "2\"\nh://b,\n", []string{"h://a", "h://b"}, 0},
		{"too many empty lines within", "url,n\nh://a,\"1\n" + strings.Repeat("\n", 70_000) + "2\nh://b,\n", []string{"h://b"}, 2},
		{"CR LF within", "url,n\r\nh://a,\"1\r\n2\"\r\nh://b,\r\n", []string{"h://a", "h://b"}, 0},
		{"never ends", "url,n\nh://a,\"1\nh://b,\nh://c,\n", []string{"h://b", "h://c"}, 1},
		{"two never end", "url,n\nh://a,\"1\nh://b,\nh://c,\"x", []string{"h://b"}, 2},
		{"ends in a fault", "url,n\nh://a,\"1\nh://b,\nh://c,\"x\"\nh://d,\n", []string{"h://b", "h://c", "h://d"}, 1},
		{
			"ends too late", "url,n\nh://a,\"1\nh://b," + long + "\nh://c," + long + "\nh://d,\"\n\"\n",
			[]string{"h://b", "h://c", "h://d"},
			1,
		},
		{"a long line within", "url,n\nh://a,\"1\n" + long + long + "\nh://b,2\"\nh://c,\n", []string{"h://c"}, 3},
		{"a record that is refused as one", "url,n\nh://a,\"1\n2\",3\nh://b,\n", []string{"h://b"}, 1},
	} {
		for _, rows := range []int{1, 2, 1000} {
			y := tallyOf(t, []byte(test.text), weblog.CSV, rows)
			if !slices.Equal(y.urls, test.urls) || y.refused != test.refused {
				t.Errorf("%s: %q, %d refused, want %q and %d", test.name, y.urls, y.refused, test.urls, test.refused)
			}
		}
	}
}

// TestOffsets checks the offsets of lines after overlong lines, which were read in one or more pieces, and after empty
// lines.
func TestOffsets(t *testing.T) {
	var text []byte
	for i, n := range []int{0, 10, MaxLine - 12, MaxLine, MaxLine + 1, MaxLine + 2, 300_000, 3, 0, 0, 131_072, 70_000, 5} {
		text = append(text, "h://"+strings.Repeat(string(rune('a'+i)), n)...)
		text = append(text, "\r\n\n"[i%3:]...)
	}
	for _, rows := range []int{1, 2, 1000} {
		for _, format := range []weblog.Format{weblog.URLs, weblog.ALB} {
			y := tallyOf(t, text, format, rows)
			if y.rows+y.refused != 13 || y.empty != 9 {
				t.Errorf("%d rows, %d refused, %d empty", y.rows, y.refused, y.empty)
			}
		}
	}
}
