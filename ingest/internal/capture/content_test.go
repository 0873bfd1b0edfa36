package capture

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/robots"
)

// code encodes a body with a content coding.
func code(tb testing.TB, name string, body []byte) []byte {
	tb.Helper()
	var buf bytes.Buffer
	var err error
	switch name {
	case "gzip", "x-gzip":
		return testpack.Gzip(tb, body)
	case "zstd":
		return testpack.Zstd(tb, body, zstd.WithWindowSize(1<<20))
	case "br":
		w := brotli.NewWriter(&buf)
		_, err = w.Write(body)
		err = errors.Join(err, w.Close())
	case "deflate":
		w := zlib.NewWriter(&buf)
		_, err = w.Write(body)
		err = errors.Join(err, w.Close())
	case "raw":
		w, _ := flate.NewWriter(&buf, 6)
		_, err = w.Write(body)
		err = errors.Join(err, w.Close())
	default:
		return body
	}
	if err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// record returns a WARC record of an HTTP response.
func record(host, fields string, body []byte) []byte {
	block := "HTTP/1.1 200 OK\r\n" + fields + "\r\n" + string(body)
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <https://%s/robots.txt>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", host, len(block), block)
}

func TestContentCodings(t *testing.T) {
	text := []byte(strings.Repeat("User-agent: *\nDisallow: /Ünïcode\n", 40))
	bomb := make([]byte, 64<<20+1)
	long := bytes.Repeat([]byte("Disallow: /x\n"), 100_000)
	gz := code(t, "gzip", text)
	cases := []struct {
		fields string
		body   []byte
		want   []byte // nil means a problem
		err    error
	}{
		{"", text, text, nil},
		{"Content-Encoding: gzip\r\n", gz, text, nil},
		{"content-encoding:  X-GZIP\r\n", gz, text, nil},
		{"Content-Encoding: deflate\r\n", code(t, "deflate", text), text, nil},
		{"Content-Encoding: deflate\r\n", code(t, "raw", text), text, nil},
		{"Content-Encoding: br\r\n", code(t, "br", text), text, nil},
		{"Content-Encoding: zstd\r\n", code(t, "zstd", text), text, nil},
		{"Content-Encoding: identity\r\n", text, text, nil},
		{"Content-Encoding: br, gzip\r\n", code(t, "gzip", code(t, "br", text)), text, nil},
		{"Content-Encoding: gzip,gzip\r\n", code(t, "gzip", gz), text, nil},
		{"Content-Encoding: zstd, zstd\r\n", code(t, "zstd", code(t, "zstd", text)), text, nil},
		{"Content-Encoding: gzip\r\n", long, long, nil},
		{"Content-Encoding: gzip\r\n", code(t, "gzip", long), long, nil},
		{"Content-Encoding: br\r\n", text, text, nil},
		{"Content-Encoding: br\r\n", nil, []byte{}, nil},
		{"Content-Encoding: what\r\n", text, text, nil},
		{"Content-Encoding: what\r\n", gz, nil, ErrEncoding},
		{"Content-Encoding: gzip, gzip, gzip, gzip\r\n", gz, nil, ErrEncoding},
		{"Content-Encoding: gzip\r\n", gz[:len(gz)-3], nil, ErrEncoding},
		{"Content-Encoding: gzip\r\n", append([]byte{0}, gz...), nil, ErrEncoding},
		{"Content-Encoding: br\r\n", code(t, "br", text)[:20], nil, ErrEncoding},
		{"Content-Encoding: gzip\r\n", code(t, "gzip", bomb), nil, ErrBomb},
		{"Content-Encoding: br\r\n", code(t, "br", bomb), nil, ErrBomb},
		{"Content-Encoding: deflate\r\n", code(t, "deflate", bomb), nil, ErrBomb},
		{"Content-Encoding: zstd\r\n", code(t, "zstd", bomb), nil, ErrBomb},
		{"Content-Encoding: gzip, gzip\r\n", code(t, "gzip", code(t, "gzip", bomb)), nil, ErrBomb},
		{"Transfer-Encoding: chunked\r\n", text, text, nil},
		{"Transfer-Encoding: chunked\r\n", []byte("3\r\nabc\r\n0\r\n\r\n"), []byte("abc"), nil},
		{"Transfer-Encoding: chunked\r\n", []byte("3;x=y\r\nabc\r\n00a \r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"), []byte("abc0123456789"), nil},
		{"Transfer-Encoding: gzip, Chunked\r\nContent-Encoding: gzip\r\n", fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(gz), gz), text, nil},
		{"Transfer-Encoding: chunked\r\n", []byte("3\r\nabc\r\n"), nil, ErrHTTP},
		{"Transfer-Encoding: chunked\r\n", []byte("3\r\nabcd\r\n0\r\n\r\n"), nil, ErrHTTP},
		{"Transfer-Encoding: chunked\r\n", []byte("3\r\nabc\r\n-1\r\n\r\n"), nil, ErrHTTP},
		{"Transfer-Encoding: chunked\r\n", []byte("7fffffffffffff\r\nabc\r\n"), nil, ErrHTTP},
		{"X: " + strings.Repeat("y", 70_000) + "\r\n", text, nil, ErrHTTP},
		{strings.Repeat("X: y\r\n", 70_000), text, nil, ErrHTTP},
	}
	dir := t.TempDir()
	for i, c := range cases {
		data := append(record("a.example", c.fields, c.body), record("b.example", "", text)...)
		got, problems := readAll(t, testpack.WriteFile(t, dir, "x.warc", data))
		fields := c.fields[:min(60, len(c.fields))]
		switch {
		case len(got) == 0 || got[len(got)-1].Origin != "https://b.example":
			t.Errorf("%d, %q: the record after it was not used", i, fields)
		case c.want == nil && (problems.Total != 1 || !errors.Is(problems.First[0], c.err)):
			t.Errorf("%d, %q: problems %v, want %v", i, fields, problems.First, c.err)
		case c.want == nil && (len(got) != 2 || got[0].Error == "" || got[0].Body != nil):
			t.Errorf("%d, %q: got %v, want a failed fetch", i, fields, showAll(got))
		case c.want != nil && (len(got) != 2 || got[0].Size != int64(len(c.want)) || !bytes.Equal(got[0].Body, c.want[:min(len(c.want), MaxBody)])):
			t.Errorf("%d, %q: got %d and %v, want %d bytes", i, fields, got[0].Size, problems.First, len(c.want))
		}
	}
}

// TestHTTPInterim checks that the last of several responses counts if the others are interim.
func TestHTTPInterim(t *testing.T) {
	block := "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/2 404\r\n\r\nnone"
	data := fmt.Appendf(nil, "WARC/1.1\r\nwarc-type: Response\r\nwarc-target-uri: https://a.example/robots.txt\r\nwarc-date: 2026\r\ncontent-length: %d\r\n\r\n%s", len(block), block)
	got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), "x.warc", data))
	if len(got) != 1 || show(got[0]) != "https://a.example 404 0" {
		t.Errorf("got %v and %v", showAll(got), problems.First)
	}
}

// TestWARCContentFaults checks that records with known ends are not read again because of other faults, so that later
// records in the same member are used.
func TestWARCContentFaults(t *testing.T) {
	var raw []byte
	const n = 400
	for i := range n {
		raw = append(raw, record(fmt.Sprintf("bad%d.example", i), "Content-Encoding: gzip\r\n", []byte("\x00no gzip"))...)
		raw = append(raw, record(fmt.Sprintf("good%d.example", i), "X: "+strings.Repeat("y", 20_000)+"\r\n", []byte("User-agent: *\n"))...)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"x.warc": raw, "x.warc.gz": testpack.Gzip(t, raw), "x.warc.zst": testpack.Zstd(t, raw)} {
		good, failed := 0, 0
		got, problems := readAll(t, testpack.WriteFile(t, dir, name, data))
		for _, r := range got {
			if r.Error == "" {
				good++
			} else {
				failed++
			}
		}
		if good != n || failed != n || problems.Total != n {
			t.Errorf("%s: %d good, %d failed, %d problems, want %d of each", name, good, failed, problems.Total, n)
		}
	}
}

// TestWARCIncomplete checks that a response that the crawler received only in part is a failed fetch, but not one that
// the crawler truncated because of its length. (In the standard, an incomplete response is a server error.)
func TestWARCIncomplete(t *testing.T) {
	const text = "User-agent: *\nDisallow: /\n"
	gz := code(t, "gzip", []byte(text))
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }
	for _, c := range []struct {
		name, warc, http string
		body             string
		want             string // the error; "" if the response is used
	}{
		{"whole", "", length(len(text)), text, ""},
		{"without a length", "", "", text, ""},
		{"longer than its length", "", length(3), text, ""},
		{"no length", "", "Content-Length: many\r\n", text, ""},
		{"one byte short", "", length(len(text) + 1), text, "the response is incomplete: it is 1 bytes shorter than its Content-Length"},
		{"nothing there", "", length(9), "", "the response is incomplete: it is 9 bytes shorter than its Content-Length"},
		{"cut by the crawler", "WARC-Truncated: length\r\n", length(1000), text, ""},
		{"disconnect", "WARC-Truncated: disconnect\r\n", "", text, "the response is incomplete: WARC-Truncated is disconnect"},
		{"time", "warc-truncated: Time\r\n", length(len(text)), text, "the response is incomplete: WARC-Truncated is time"},
		{"unspecified", "WARC-Truncated: unspecified\r\n", "", text, "the response is incomplete: WARC-Truncated is unspecified"},
		{"coded", "", "Content-Encoding: gzip\r\n" + length(len(gz)), string(gz), ""},
		{"decoded by the crawler", "", "Content-Encoding: gzip\r\n" + length(1000), text, ""},
		{"chunks", "", "Transfer-Encoding: chunked\r\n" + length(1000), "3\r\nabc\r\n0\r\n\r\n", ""},
		{"chunks undone by the crawler", "", "Transfer-Encoding: chunked\r\n", text, ""},
		{"chunks that end early", "", "Transfer-Encoding: chunked\r\n", "5\r\nabc", "the record contains no valid HTTP response: the chunks"},
	} {
		data := record("a.example", c.http, []byte(c.body))
		data = bytes.Replace(data, []byte("WARC-Type:"), []byte(c.warc+"WARC-Type:"), 1)
		got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), "x.warc", data))
		if len(got) != 1 {
			t.Errorf("%s: %d responses, %v", c.name, len(got), problems)
			continue
		}
		used := got[0].Error == "" && problems.Total == 0
		if used != (c.want == "") || !strings.HasPrefix(got[0].Error, c.want) {
			t.Errorf("%s: error %q, %v, want %q", c.name, got[0].Error, problems, c.want)
		}
		if c.want != "" && (got[0].Status != 0 || got[0].Body != nil) {
			t.Errorf("%s: status %d, %d bytes of an incomplete answer", c.name, got[0].Status, len(got[0].Body))
		}
	}
}

// TestMaxAge reads max-age from WARC and from JSON Lines.
func TestMaxAge(t *testing.T) {
	for control, want := range map[string]string{
		"max-age=3600": "1h0m0s", "public, Max-Age=0": "0s", "s-maxage=5, max-age=7": "7s",
		"max-age=99999999999999999999": "1193046h28m15s",
		"no-cache":                     "", "max-age": "", "max-age=-1": "", "max-age=1.5": "", "max-age=x, max-age=1": "",
	} {
		data := record("a.example", "Cache-Control: "+control+"\r\n", nil)
		got, _ := readAll(t, testpack.WriteFile(t, t.TempDir(), "x.warc", data))
		if text := maxAgeText(got); text != want {
			t.Errorf("%s: %s, want %s", control, text, want)
		}
	}
	for field, want := range map[string]string{
		`, "max_age": 3600`: "1h0m0s", `, "max_age": 0`: "0s", `, "max_age": 99999999999`: "1193046h28m15s", ``: "", `, "max_age": null`: "",
		`, "max_age": -1`: "none", `, "max_age": "1"`: "none",
	} {
		data := `{"origin": "https://a.example", "status": 404` + field + "}\n" + `{"url": "https://b.example/x", "status": 404}`
		got, _ := readAll(t, testpack.WriteFile(t, t.TempDir(), "x.jsonl", []byte(data)))
		if text := maxAgeText(got[:len(got)-1]); text != want {
			t.Errorf("%s: %s, want %s", field, text, want)
		}
	}
}

// maxAgeText returns the MaxAge of the only response, "" if it has none.
func maxAgeText(all []robots.Response) string {
	switch {
	case len(all) != 1:
		return "none"
	case !all[0].HasMaxAge:
		return ""
	}
	return all[0].MaxAge.String()
}
