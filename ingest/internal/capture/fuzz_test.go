package capture

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/robots"
)

// checkResponse checks what every response must satisfy.
func checkResponse(t *testing.T, r robots.Response) {
	t.Helper()
	if o, err := robots.ParseOrigin(string(r.Origin)); err != nil || o != r.Origin {
		t.Errorf("origin %q: %q, %v", r.Origin, o, err)
	}
	if len(r.Body) > MaxBody || r.Size < int64(len(r.Body)) {
		t.Errorf("%d bytes of %d", len(r.Body), r.Size)
	}
	if r.Status != 0 && (r.Status < 100 || r.Status > 999) {
		t.Errorf("status %d", r.Status)
	}
}

// readBytes reads data as a capture file and returns the responses. p keeps its state between files.
func readBytes(t *testing.T, p *Pass, name string, data []byte) (got []robots.Response) {
	t.Helper()
	fresh := NewPass(p.done)
	p.problems, p.targets, p.captures = fresh.problems, fresh.targets, fresh.captures
	p.captures.paths = []string{"testdata/none"}
	collect := func(r robots.Response) bool {
		checkResponse(t, r)
		got = append(got, r)
		return true
	}
	file, size := bytes.NewReader(data), int64(len(data))
	p.read(name, file, size, unpack.Named(name), collect)
	p.Finish(collect)
	for _, e := range p.problems.First {
		if e.Offset > size || e.Offset < 0 && e.Line <= 0 {
			t.Errorf("at %d of %d: %v", e.Offset, size, e)
		}
	}
	return got
}

// FuzzWARC reads any data as a WARC file of each format, and as a damaged gzip member between two with an intact record
// each, which must be used.
func FuzzWARC(f *testing.F) {
	files, err := filepath.Glob("../../testdata/warc/*.warc*")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, fields := range []string{"Content-Encoding: gzip\r\n", "Content-Encoding: br, zstd\r\n", "Transfer-Encoding: chunked\r\n", "Content-Encoding: deflate\r\n"} {
		f.Add(record("a.example", fields, []byte("5\r\n\x1f\x8b\x08abc\r\n0\r\n")))
	}
	for _, d := range damages {
		f.Add(append(d.do(makeRecord(1, 100).raw, rand.New(rand.NewPCG(1, 2))), makeRecord(2, 100).raw...))
	}
	intact := testpack.Gzip(f, record("intact.example", "", []byte("x")))
	first := testpack.Gzip(f, record("first.example", "", []byte("x")))
	p := NewPass(new(atomic.Int64))
	f.Fuzz(func(t *testing.T, data []byte) {
		readBytes(t, p, "x.warc", data)
		readBytes(t, p, "x.warc.gz", data)
		readBytes(t, p, "x.warc.zst", data)
		readBytes(t, p, "x.warc.gz", append(testpack.Gzip(t, data), intact...))
		bad := testpack.Gzip(t, record("bad.example", "", data))
		bad[len(bad)-8] ^= 1 // part of its checksum
		got := readBytes(t, p, "x.warc.gz", slices.Concat(first, bad, intact))
		if bytes.Contains(bad[2:], []byte("\x1f\x8b\x08")) {
			return // a body that is itself packed looks like a member after the damaged one
		}
		if len(got) != 2 || got[0].Origin != "https://first.example" || got[1].Origin != "https://intact.example" {
			t.Errorf("not the records before and behind: %v", showAll(got))
		}
	})
}

// FuzzJSONL reads any data as JSON Lines, followed by an intact line, which must be used.
func FuzzJSONL(f *testing.F) {
	const intact = "\n" + `{"origin": "https://intact.example", "status": 200, "fetched_at": 1, "body": "x"}` + "\n"
	f.Add([]byte(`{"url": "https://a.example/robots.txt", "status": 200, "fetched_at": 1767323045.5, "body": "a\u00e9", "location": "/x", "error": "e"}`))
	f.Add([]byte(`{"origin": "https://a.example", "body_b64": "eA==", "fetched_at": "2026-01-02T03:04:05Z"}` + "\r\n[]\n{\"url\": 1}\n\xff\n"))
	p := NewPass(new(atomic.Int64))
	f.Fuzz(func(t *testing.T, data []byte) {
		if is := unpack.Detect(data); is.Packing != unpack.None {
			data = append([]byte("{"), data...)
		}
		got := readBytes(t, p, "x.jsonl", append(bytes.Clone(data), intact...))
		if len(got) == 0 || got[len(got)-1].Origin != "https://intact.example" {
			t.Errorf("the line behind was not used: %v", showAll(got))
		}
	})
}

// FuzzContent decodes any data in each coding, which must end within the limits.
func FuzzContent(f *testing.F) {
	for _, name := range []string{"gzip", "br", "zstd", "deflate", "raw"} {
		f.Add(code(f, name, []byte("User-agent: *\nDisallow: /x\n")), name)
	}
	p := NewPass(new(atomic.Int64))
	f.Fuzz(func(t *testing.T, data []byte, codings string) {
		if len(codings) < 20 {
			readBytes(t, p, "x.warc", record("a.example", "Content-Encoding: "+codings+"\r\n", data))
		}
	})
}
