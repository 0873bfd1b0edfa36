package capture

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// zipped compresses a text with gzip.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// TestReadResponse reads responses as crawlers store them: complete, decoded with their header unchanged, and with each
// kind of fault.
func TestReadResponse(t *testing.T) {
	const text = "User-agent: *\nDisallow: /x\n"
	ok := func(fields, body string) string { return "HTTP/1.1 200 OK\r\n" + fields + "\r\n" + body }
	bomb := zipped(t, strings.Repeat("\x00", maxDecoded+1))
	h := &Reader{}
	defer h.Release()
	for _, c := range []struct {
		name, raw string
		want      Response
		err       error
	}{
		{"whole", ok("Content-Length: 27\r\n", text), Response{Status: 200, Body: []byte(text), Size: 27}, nil},
		{"short", ok("Content-Length: 30\r\n", text), Response{Status: 200, Body: []byte(text), Size: 27, Missing: 3}, nil},
		{"chunks", ok("Transfer-Encoding: chunked\r\n", "d\r\n"+text[:13]+"\r\ne;x=y\r\n"+text[13:]+"\r\n0\r\n\r\n"), Response{Status: 200, Body: []byte(text), Size: 27}, nil},
		{"chunks that were undone", ok("Transfer-Encoding: chunked\r\n", text), Response{Status: 200, Body: []byte(text), Size: 27}, nil},
		{"chunks cut off", ok("Transfer-Encoding: chunked\r\n", "1b\r\n"+text[:9]), Response{Status: 200, Body: []byte(text[:9]), Size: 9}, ErrHTTP},
		{"gzip", ok("Content-Encoding: gzip\r\n", zipped(t, text)), Response{Status: 200, Body: []byte(text), Size: 27}, nil},
		{"gzip that was undone", ok("Content-Encoding: GZIP\r\n", text), Response{Status: 200, Body: []byte(text), Size: 27}, nil},
		{"gzip twice", ok("Content-Encoding: gzip, x-gzip\r\n", zipped(t, zipped(t, text))), Response{Status: 200, Body: []byte(text), Size: 27}, nil},
		{"gzip cut off", ok("Content-Encoding: gzip\r\n", zipped(t, text)[:20]), Response{Status: 200}, ErrEncoding},
		{"a bomb", ok("Content-Encoding: gzip\r\n", bomb), Response{Status: 200}, ErrBomb},
		{"four codings", ok("Content-Encoding: gzip,gzip,gzip,gzip\r\n", "\x1f"), Response{Status: 200}, ErrEncoding},
		{"an unknown coding", ok("Content-Encoding: rot13\r\n", "\x01"), Response{Status: 200}, ErrEncoding},
		{"interim", "HTTP/1.1 100 Continue\r\n\r\n" + ok("", text), Response{Status: 200, Body: []byte(text), Size: 27}, nil},
		{"redirect", "HTTP/1.0 301 Moved\nLocation: /r.txt\nCache-Control: public, Max-Age=60\n\nx", Response{Status: 301, Location: "/r.txt", HasMaxAge: true, MaxAge: time.Minute}, nil},
		{"age without end", "HTTP/1.1 404 No\r\nCache-Control: max-age=99999999999\r\n\r\n", Response{Status: 404, HasMaxAge: true, MaxAge: (1<<32 - 1) * time.Second}, nil},
		{"no age", "HTTP/1.1 404 No\r\nCache-Control: max-age=soon\r\n\r\n", Response{Status: 404}, nil},
		{"a folded field", "HTTP/1.1 302 Found\r\nLocation: /a\r\n b\r\n\r\n", Response{Status: 302, Location: "/a b"}, nil},
		{"nothing", "", Response{IsEmpty: true}, ErrHTTP},
		{"a header that is cut off", "HTTP/1.1 200 OK\r\nContent-Le", Response{}, ErrHTTP},
		{"a long line", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n", Response{}, ErrHTTP},
		{"no status", "HTTP/1.1 OK\r\n\r\n", Response{}, ErrHTTP},
		{"another protocol", "SIP/2.0 200 OK\r\n\r\n", Response{}, ErrHTTP},
	} {
		got, err := h.ReadResponse(strings.NewReader(c.raw))
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		same := err != nil || string(got.Body) == string(c.want.Body) && got.Size == c.want.Size
		got.Body, c.want.Body, got.Size, c.want.Size = nil, nil, 0, 0
		if got.Status != c.want.Status || got.Location != c.want.Location || got.MaxAge != c.want.MaxAge || got.HasMaxAge != c.want.HasMaxAge ||
			got.IsEmpty != c.want.IsEmpty || got.Missing != c.want.Missing || !same {
			t.Errorf("%s: %+v, want %+v; the body is as wanted: %t", c.name, got, c.want, same)
		}
	}
}

// TestCutHeader checks that a truncated header is a fault of the message, with its cause.
func TestCutHeader(t *testing.T) {
	h := &Reader{}
	whole := "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
	for n := 1; n < len(whole); n++ {
		_, err := h.ReadResponse(strings.NewReader(whole[:n]))
		if !errors.Is(err, ErrHTTP) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", whole[:n], err)
		}
		if err := h.ReadHead(strings.NewReader(whole[:n]), false); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", whole[:n], err)
		}
	}
	if err := h.ReadHead(strings.NewReader(whole), true); err != nil || string(h.Head.Get("a")) != "b" {
		t.Errorf("%v, %q", err, h.Head.Get("a"))
	}
}
