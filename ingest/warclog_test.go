package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// warcOptions keeps all known fields of fetches.
func warcOptions(format weblog.Format) LogOptions {
	return sampleOptions(format, "status:int,method,protocol,referer,warc-type,time:time")
}

// describeWARC returns all rows and rejected records of a WARC file as text.
func describeWARC(t *testing.T, path string, opt LogOptions) string {
	t.Helper()
	opt.Fields.Base = ""
	l, err := OpenLogs([]string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var sb strings.Builder
	for b := (engine.Batch{}); l.Next(&b); {
		describeRecords(t, &sb, &b)
	}
	if l.Err() != nil {
		t.Fatal(l.Err())
	}
	if got := l.Inputs()[0].Format; got != weblog.WARC {
		t.Fatalf("told to be %s", got)
	}
	if done, total := l.Progress(); done != total {
		t.Errorf("%d of %d bytes read", done, total)
	}
	fmt.Fprintf(&sb, "others %d, refused %v\n", l.Counts().Headers, l.Counts().Refused)
	return sb.String()
}

// describeRecords appends the rows of a batch, then its rejected records.
func describeRecords(t *testing.T, sb *strings.Builder, b *engine.Batch) {
	t.Helper()
	for i := range b.URLs {
		fmt.Fprintf(sb, "%d ", b.Offsets[i])
		describeRow(sb, b, i)
		if !bytes.Equal(b.Piece(b.Raws[i]), b.URL(i)) {
			t.Errorf("raw %q of %q", b.Piece(b.Raws[i]), b.URL(i))
		}
	}
	for _, r := range b.Rejects {
		fmt.Fprintf(sb, "%d %d refused %s %q\n", r.Offset, r.Line, r.Reason, b.Piece(r.Raw))
	}
}

// TestWARCLog reads WARC files of other programs as logs and compares them with the golden files, for each packing and
// several batch sizes. testdata/warc/README.md describes how they were made.
func TestWARCLog(t *testing.T) {
	for golden, files := range map[string][]string{
		"rows-wget-1.golden":     {"wget-1.warc.gz"},
		"rows-wget-2.golden":     {"wget-2.warc.gz"},
		"rows-wget-plain.golden": {"wget-plain.warc"},
		"rows-warcio.golden":     {"warcio.warc", "warcio.warc.zst", "dictionary.warc.zst"},
	} {
		golden = filepath.Join("testdata/warc", golden)
		for _, name := range files {
			path := filepath.Join("testdata/warc", name)
			got := describeWARC(t, path, warcOptions(weblog.Auto))
			for _, rows := range []int{1, 2} {
				opt := warcOptions(weblog.WARC)
				opt.BatchRows = rows
				if again := describeWARC(t, path, opt); again != got {
					t.Errorf("%s in batches of %d rows:\n%s", name, rows, again)
				}
			}
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || string(want) != got {
				t.Errorf("%s: %v; got\n%s", name, err, got)
			}
		}
	}
}

// message returns a WARC record.
func message(kind, url, block string) string {
	target := ""
	if url != "" {
		target = "WARC-Target-URI: " + url + "\r\n"
	}
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: %s\r\n%sWARC-Date: 2026-01-31T18:00:00.5Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, target, len(block), block)
}

// TestWARCRows is a table of consecutive records and their rows: record, URL, status, method, User-Agent.
func TestWARCRows(t *testing.T) {
	const (
		get   = "GET /x HTTP/1.1\r\nHost: a.example\r\nUser-Agent: GPTBot/1.2\r\n\r\n"
		ok    = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>\nWARC/1.0\n"
		later = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n"
		a     = "https://a.example/x"
	)
	request, response := message("request", a, get), message("response", a, ok)
	log := newWARCTest(t)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a pair", request + response, []string{"1 https://a.example/x 200 GET GPTBot/1.2"}},
		{"a pair, response first", response + request, []string{"1 https://a.example/x 200 GET GPTBot/1.2"}},
		{"a pair about a note", request + message("metadata", a, "via: x\r\n") + response, []string{"1 https://a.example/x 200 GET GPTBot/1.2"}},
		{"two pairs of one URL", request + response + request + response, []string{"1 https://a.example/x 200 GET GPTBot/1.2", "3 https://a.example/x 200 GET GPTBot/1.2"}},
		{"no requests", response + message("response", "https://b.example/", later), []string{"1 https://a.example/x 200 - ", "2 https://b.example/ 404 - "}},
		{"no responses", request + request, []string{"1 https://a.example/x - GET GPTBot/1.2", "2 https://a.example/x - GET GPTBot/1.2"}},
		{"of two URLs", request + message("response", "https://b.example/", ok), []string{"1 https://a.example/x - GET GPTBot/1.2", "2 https://b.example/ 200 - "}},
		{"a revisit record", request + message("revisit", a, "HTTP/1.1 304 Not Modified\r\n\r\n"), []string{"1 https://a.example/x 304 GET GPTBot/1.2"}},
		{"a bare revisit record", message("revisit", "<"+a+">", ""), []string{"1 https://a.example/x - - "}},
		{"a resource", message("resource", a, "x") + response, []string{"1 https://a.example/x - - ", "2 https://a.example/x 200 - "}},
		{"no HTTP in it", message("request", a, "\x00") + message("response", a, "\n\n"), []string{"1 https://a.example/x - - "}},
		{"not fetched by HTTP", message("warcinfo", "", "") + message("response", "dns:a.example", "1") + message("resource", "metadata://gnu.org/x", "") + message("resource", "urn:x:y", ""), nil},
		{"no URL", message("response", "", ok) + response, []string{"1 refused no_url", "2 https://a.example/x 200 - "}},
		{"a bad URL", message("response", "https://[/", ok) + message("response", "a.example/x", ok), []string{"1 https://[/ 200 - ", "2 a.example/x 200 - "}},
		{"a damaged one between", request + strings.Replace(response, "Content-Length: 57", "Content-Length: 50", 1) + response, []string{
			"1 https://a.example/x - GET GPTBot/1.2", "2 refused damaged_record",
			"is damaged: the length of the record is wrong: Content-Length is 50, but no record ends there: copy or download the file again",
		}},
		{"cut off", request + response[:len(response)-30], []string{
			"1 https://a.example/x - GET GPTBot/1.2", "2 refused damaged_record",
			"ends too early: the length of the record is wrong: Content-Length is 57, but only 31 bytes were received: copy or download the file again",
		}},
	} {
		if got := log.read(t, []byte(c.text), 100); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// A warcTest reads one WARC file after the other.
type warcTest struct {
	*capture.Fetches
	rows  rowReader
	batch engine.Batch
}

func newWARCTest(tb testing.TB) *warcTest {
	tb.Helper()
	opt := LogOptions{Raws: true, Fields: Fields{Agents: true, Times: true, Keep: []string{"status", "method"}}}
	opt.Keep = []KeptColumn{{Field: "status", Kind: engine.KeptText}, {Field: "method", Kind: engine.KeptText}}
	f, err := capture.NewFetches(opt.Fields)
	if err != nil {
		tb.Fatal(err)
	}
	return &warcTest{Fetches: f, rows: rowReader{keep: opt.Keep, clocks: make([]weblog.Clock, len(opt.Keep)), fields: &opt.Fields, raws: opt.Raws}}
}

// read reads data as a WARC file, in batches of this number of rows, and describes rows, rejects and error by record.
func (log *warcTest) read(t *testing.T, data []byte, rows int) []string {
	t.Helper()
	w, r, file := &warcLog{Fetches: log.Fetches}, &log.rows, bytes.NewReader(data)
	if err := w.Reset("x.warc", file, file.Size()); err != nil {
		return []string{err.Error()}
	}
	list := map[int64]string{}
	add := func(line, offset int64, text string) {
		if list[line] != "" || line < 1 || offset < 0 {
			t.Errorf("record %d at %d counts twice: %q, %q", line, offset, list[line], text)
		}
		list[line] = text
	}
	var err error
	b := &log.batch
	for !w.done() && err == nil {
		b.Reset()
		r.start(b)
		err = w.fill(r, b, rows, 1<<20)
		if n := b.Len(); n > rows || len(b.Times) != n || len(b.UserAgents) != n || len(b.Kept[0].Texts) != n {
			t.Fatalf("%d rows of %d: %d times, %d User-Agents, %d values", n, rows, len(b.Times), len(b.UserAgents), len(b.Kept[0].Texts))
		}
		for i := range b.URLs {
			text := fmt.Sprintf("%s %s %s %s", b.URL(i), orDash(b.Piece(b.Kept[0].Texts[i])), orDash(b.Piece(b.Kept[1].Texts[i])), b.Piece(b.UserAgents[i]))
			add(b.Lines[i], b.Offsets[i], text)
		}
		for _, reject := range b.Rejects {
			add(reject.Line, reject.Offset, "refused "+reject.Reason)
		}
	}
	var text []string
	last, _ := w.At()
	for line := range last {
		if s := list[line+1]; s != "" {
			text = append(text, fmt.Sprintf("%d %s", line+1, s))
		}
	}
	if err != nil {
		text = append(text, err.Error())
	}
	return text
}

func orDash(b []byte) string {
	if b == nil {
		return "-"
	}
	return string(b)
}

// checkWARCLog reads any data as a WARC file: no record counts twice, and the batch size does not matter. If data is
// put into a damaged member between two members with a record each, both records must still be read.
func checkWARCLog(t *testing.T, log *warcTest, data []byte) {
	t.Helper()
	all := log.read(t, data, 1000)
	if one := log.read(t, data, 1); !slices.Equal(one, all) {
		t.Fatalf("in batches of one row: %q, want %q", one, all)
	}
	intact := testpack.Gzip(t, []byte(message("response", "https://intact.example/", "HTTP/1.1 200 OK\r\n\r\n")))
	bad := testpack.Gzip(t, []byte(message("response", "https://bad.example/", string(data))))
	bad[len(bad)-8] ^= 1 // part of its checksum
	if bytes.Contains(bad[2:], []byte("\x1f\x8b\x08")) {
		return // a block that is itself packed looks like a member after the damaged one
	}
	want := []string{"1 refused damaged_record", "2 https://intact.example/ 200 - ", "3 refused damaged_record", "4 https://intact.example/ 200 - "}
	if got := log.read(t, slices.Concat(bad, intact, bad, intact), 1000); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWARCLogFaults checks errors for unreadable files, and for WARC files that are not detected as such.
func TestWARCLogFaults(t *testing.T) {
	dir := t.TempDir()
	plain := message("response", "https://a.example/", "HTTP/1.1 200 OK\r\n\r\n")
	packed := string(testpack.Gzip(t, []byte(plain)))
	for name, text := range map[string]string{"a": plain, "b.gz": packed, "c.warc.gz": packed, "short.warc.gz": packed[:len(packed)-1], "none.warc": "WARC/x\n", "list.warc.gz": string(testpack.Gzip(t, []byte("https://a.example/\n")))} {
		testpack.WriteFile(t, dir, name, []byte(text))
	}
	for _, c := range []struct {
		name   string
		format weblog.Format
		want   string // the error; "" means one row
		is     error
	}{
		{"a", weblog.Auto, "", nil},
		{"a", weblog.WARC, "", nil},
		{"b.gz", weblog.Auto, "packed and without .warc in its name, is an unsupported format", ErrFormat},
		{"b.gz", weblog.WARC, "", nil},
		{"c.warc.gz", weblog.Auto, "", nil},
		{"list.warc.gz", weblog.Auto, "", nil},
		{"list.warc.gz", weblog.WARC, "it contains no readable WARC record", capture.ErrWARC},
		{"none.warc", weblog.WARC, "it contains no readable WARC record", capture.ErrWARC},
		{"short.warc.gz", weblog.WARC, "the compressed data ends too early", unpack.ErrTruncated},
		{"-", weblog.Auto, "a WARC file in a pipe", ErrFormat},
		{"-", weblog.WARC, "a WARC file in a pipe", ErrFormat},
	} {
		name := c.name
		if name != "-" {
			name = filepath.Join(dir, name)
		}
		l, err := OpenLogs([]string{name}, LogOptions{Format: c.format, Stdin: strings.NewReader(plain)})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for b := (engine.Batch{}); l.Next(&b); {
			n += b.Len()
		}
		switch err := l.Err(); {
		case c.want == "" && (err != nil || n != 1):
			t.Errorf("%s as %s: %d rows, %v", c.name, c.format, n, err)
		case c.want != "" && (n != 0 || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s as %s: %d rows, %v, want %q", c.name, c.format, n, err, c.want)
		}
		l.Close()
	}
	for _, opt := range []LogOptions{
		{Keep: []KeptColumn{{Field: "colour"}}},
		{Keep: []KeptColumn{{Field: "WARC-"}}},
		{Fields: weblog.Options{Named: map[string]string{"time": "x"}}},
		{Fields: weblog.Options{Named: map[string]string{"url": "x"}}},
	} {
		opt.Format = weblog.WARC
		if _, err := OpenLogs([]string{filepath.Join(dir, "a")}, opt); !errors.Is(err, weblog.ErrNoField) {
			t.Errorf("%+v: error %v", opt, err)
		}
	}
}
