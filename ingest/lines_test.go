package ingest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/robobatch/robobatch/engine"
)

// A row is a line of a list of URLs.
type row struct {
	line int64
	url  string // "" for an overlong line
}

// rowsOf returns the rows of a batch.
func rowsOf(b *engine.Batch) []row {
	var rows []row
	for i := range b.Len() {
		rows = append(rows, row{b.Lines[i], string(b.URL(i))})
	}
	return rows
}

// splitRows is a simple reference that splits a text into rows.
func splitRows(text []byte) (rows []row, empty, long int64) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch atEnd := i == len(lines)-1; {
		case len(line) == 0 && atEnd && !bytes.HasSuffix(text, []byte("\r")): // no line
		case len(line) == 0:
			empty++
		case len(line) > MaxLine:
			long++
			rows = append(rows, row{int64(i + 1), ""})
		default:
			rows = append(rows, row{int64(i + 1), string(line)})
		}
	}
	return rows, empty, long
}

// A dribble reads at most n bytes per call.
type dribble struct {
	r io.Reader
	n int
}

func (d dribble) Read(p []byte) (int, error) { return d.r.Read(p[:min(len(p), d.n)]) }

// checkLines compares a lineReader with splitRows.
func checkLines(t *testing.T, text []byte, chunk, maxRows, maxBytes int) {
	t.Helper()
	var (
		l           lineReader
		raw         rawLines
		b           engine.Batch
		got         []row
		empty, long int64
	)
	l.reset(dribble{bytes.NewReader(text), chunk})
	for !l.done() {
		b.Reset()
		l.fill(&raw, maxRows, maxBytes)
		empty, long = empty+raw.empty, long+int64(len(raw.long))
		raw.moveTo(&b)
		if b.Len() > maxRows {
			t.Fatalf("batch of %d rows, want at most %d", b.Len(), maxRows)
		}
		if most := maxBytes + 2*chunkSize + MaxLine + 3; len(b.Data) > most {
			t.Fatalf("batch of %d bytes, want at most %d", len(b.Data), most)
		}
		got = append(got, rowsOf(&b)...)
	}
	want, wantEmpty, wantLong := splitRows(text)
	if !slices.Equal(got, want) {
		t.Fatalf("text of %d bytes, chunk %d, rows %d, bytes %d: got %d rows, want %d; first difference at %d",
			len(text), chunk, maxRows, maxBytes, len(got), len(want), firstDifference(got, want))
	}
	if empty != wantEmpty || long != wantLong {
		t.Errorf("empty, long = %d, %d, want %d, %d", empty, long, wantEmpty, wantLong)
	}
	if !errors.Is(l.err, io.EOF) || l.offset != int64(len(text)) {
		t.Errorf("err = %v at byte %d, want EOF at %d", l.err, l.offset, len(text))
	}
}

func firstDifference(a, b []row) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	texts := map[string]string{
		"empty":             "",
		"one LF":            "\n",
		"one CR":            "\r",
		"CR LF":             "\r\n",
		"no LF at the end":  "http://a/\nhttp://b/",
		"CR at the end":     "http://a/\r",
		"two CR":            "http://a/\r\r\n",
		"CR inside":         "http://a/\rb\n",
		"mixed ends":        "a\r\nb\nc\r\n\r\n\n\nd",
		"NUL and high":      "\x00\n\xff\xfe\n\x80",
		"mark":              "\ufeffhttp://a/\n",
		"mark alone":        "\ufeff",
		"mark and LF":       "\ufeff\n",
		"mark later":        "a\n\ufeffb\n",
		"two marks":         "\ufeff\ufeffa",
		"part of a mark":    "\xef\xbb",
		"short":             "a",
		"longest":           long + "\n" + long + "\r\n" + long,
		"longest, CR, end":  "a\n" + long + "\r",
		"too long by one":   "a\n" + long + "x\nb\n" + long + "x\r\n" + long + "x",
		"longest with CRs":  long[1:] + "\r\r\n",
		"much too long":     "a\n" + strings.Repeat(long, 5) + "\nb",
		"much too long end": "a\n" + strings.Repeat(long, 5),
		"only LFs":          strings.Repeat("\n", 3<<20),
		"many short":        strings.Repeat("a\nbb\r\n", 100_000),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for _, chunk := range []int{1 << 20, 4096, 7} {
				if chunk < 100 && len(text) > 1<<19 {
					continue
				}
				checkLines(t, []byte(text), chunk, 8192, 1<<20)
				checkLines(t, []byte(text), chunk, 3, 100)
			}
			if len(text) < 1000 {
				checkLines(t, []byte(text), 1, 1, 1)
			}
		})
	}
}

// TestLineReaderFault checks that a partial line before a fault is not a row.
func TestLineReaderFault(t *testing.T) {
	fault := errors.New("fault")
	for _, text := range []string{"a\nb\nhttp://part", "a\nb\n" + strings.Repeat("x", 3*MaxLine), "a\nb\n"} {
		readers := map[string]io.Reader{
			"apart":    io.MultiReader(strings.NewReader(text), iotest.ErrReader(fault)),
			"together": iotest.DataErrReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(fault))),
			"by byte":  iotest.OneByteReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(fault))),
		}
		for name, r := range readers {
			for _, maxRows := range []int{1, 2, 3} {
				var (
					l   lineReader
					raw rawLines
					b   engine.Batch
					got []row
				)
				for l.reset(r); !l.done(); {
					b.Reset()
					l.fill(&raw, maxRows, 1<<20)
					raw.moveTo(&b)
					got = append(got, rowsOf(&b)...)
				}
				if want := []row{{1, "a"}, {2, "b"}}; maxRows == 3 && !slices.Equal(got, want) {
					t.Errorf("%s: got %v, want %v", name, got, want)
				}
				if !errors.Is(l.err, fault) || l.line > 2 {
					t.Errorf("%s: err = %v after line %d, want the fault after line 2", name, l.err, l.line)
				}
				r = io.MultiReader(strings.NewReader(text), iotest.ErrReader(fault))
			}
		}
	}
}

func TestLineReaderNoProgress(t *testing.T) {
	var (
		l   lineReader
		raw rawLines
	)
	l.reset(dribble{strings.NewReader("a"), 0})
	l.fill(&raw, 10, 10)
	if !errors.Is(l.err, io.ErrNoProgress) {
		t.Errorf("err = %v, want %v", l.err, io.ErrNoProgress)
	}
}

func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\r\nb\n\n"), uint16(3), uint16(2), uint16(10), uint16(0))
	f.Add([]byte("\ufeffa\n"), uint16(1), uint16(1), uint16(1), uint16(65535))
	f.Fuzz(func(t *testing.T, text []byte, chunk, maxRows, maxBytes, pad uint16) {
		// A byte 'L' becomes a sequence about as long as MaxLine.
		text = bytes.ReplaceAll(text, []byte("L"), bytes.Repeat([]byte("x"), MaxLine-8+int(pad)%16))
		if len(text) > 4<<20 {
			return
		}
		checkLines(t, text, max(1, int(chunk)), max(1, int(maxRows)), max(1, int(maxBytes)))
	})
}

// TestIsWide checks that a line is UTF-16 if every second byte is NUL, but not if NULs are consecutive, as after a
// crash.
func TestIsWide(t *testing.T) {
	utf16 := func(text string) string { return strings.Join(strings.Split(text, ""), "\x00") + "\x00" }
	const url = "https://www.example.com/a"
	for name, c := range map[string]struct {
		line string
		want bool
	}{
		"none":              {url, false},
		"one":               {url + "\x00", false},
		"low bytes first":   {utf16(url), true},
		"high bytes first":  {"\x00" + utf16(url), true},
		"short":             {utf16("ab"), true},
		"behind UTF-8":      {url + utf16(url+url), true},
		"of other letters":  {utf16(url) + strings.Repeat("\x1f\x04", 200), true},
		"a hole":            {strings.Repeat("\x00", 4096), false},
		"a hole at the end": {url + strings.Repeat("\x00", 4096), false},
		"a hole in front":   {strings.Repeat("\x00", 4097) + url, false},
		"a small hole":      {url + strings.Repeat("\x00", 20) + url, false},
		"a hole in UTF-16":  {utf16(url) + strings.Repeat("\x00", 40), true},
		"a mark":            {"\xff\xfe" + utf16(url), true},
	} {
		if got := isWide([]byte(c.line)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestIsNarrow checks that ASCII read as UTF-16 is detected, in either byte order and at any position, but not real
// UTF-16, including Chinese and Russian.
func TestIsNarrow(t *testing.T) {
	read := func(text string, high int) string {
		var out []rune
		for ; len(text) > 1; text = text[2:] {
			out = append(out, rune(text[high])<<8|rune(text[1-high]))
		}
		return string(out)
	}
	const line = "https://www.example.com/a/b/c?d=e\nhttps://www.example.com/\r\n"
	for name, c := range map[string]struct {
		line string
		want bool
	}{
		"none":                {"", false},
		"ASCII":               {line, false},
		"low bytes first":     {read(line, 1), true},
		"high bytes first":    {read(line, 0), true},
		"the other order":     {read(strings.Join(strings.Split(line, ""), "\x00")+"\x00", 0), true},
		"the order itself":    {read(strings.Join(strings.Split(line, ""), "\x00")+"\x00", 1), false},
		"behind ASCII":        {"https://www.example.com/" + read(line, 1), true},
		"behind another byte": {read("\x00"+line, 1), true},
		"one short of enough": {read(line[:2*(minNarrow-1)], 1), false},
		"just enough":         {read(line[:2*minNarrow], 1), true},
		"Chinese":             {"https://www.example.com/网站地图和新闻中心关于我们联系方式产品介绍服务支持下载专区招聘信息客户案例技术文章", false},
		"Russian":             {"https://www.example.com/" + strings.Repeat("главная", 9), false},
		"not UTF-8":           {strings.Repeat("\xe6\x88", 40), false},
	} {
		if got := isNarrow([]byte(c.line)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
