package rulefiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/robots"
)

// record returns a WARC record of the robots.txt of a host.
func record(host, body string) []byte {
	block := "HTTP/1.1 200 OK\r\n\r\n" + body
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <https://%s/robots.txt>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", host, len(block), block)
}

// readAll returns all responses and problems of the rules at path. Errors end the test.
func readAll(tb testing.TB, path string) ([]robots.Response, Problems) {
	tb.Helper()
	r, err := Find(path, "")
	if err != nil {
		tb.Fatal(err)
	}
	var got []robots.Response
	for resp, err := range r.Responses() {
		if err != nil {
			tb.Fatal(err)
		}
		got = append(got, resp)
	}
	return got, r.Problems()
}

// TestRulesCaptures reads a directory with text files and captures. Each capture file is read once, and only if it is
// inside the directory.
func TestRulesCaptures(t *testing.T) {
	makeRules(t, "https_a.example.txt", "www.warc.example/robots.txt", "x.jsonl.txt", "up.warc -> ../outside.warc", "b.warc.gz -> sub/a.warc.gz", "gone.warc -> nowhere")
	testpack.WriteFile(t, ".", "outside.warc", record("outside.example", "x"))
	testpack.WriteFile(t, "rules", "sub/a.warc.gz", testpack.Gzip(t, record("b.example", "x")))
	testpack.WriteFile(t, "rules", "c.jsonl", []byte(`{"origin": "https://c.example", "status": 404}`))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes("rules/https_a.example.txt", at, at); err != nil {
		t.Fatal(err)
	}
	r, err := Find("rules", "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for resp, err := range r.Responses() {
		if err != nil {
			if want := "gone.warc: no such file or directory"; !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			continue
		}
		if resp.Origin == "https://a.example" && !resp.FetchedAt.Equal(at) {
			t.Errorf("%v, want the time of the file, %v", resp.FetchedAt, at)
		}
		got = append(got, fmt.Sprint(resp.Origin, " ", resp.Status, " ", filepath.ToSlash(resp.Name)))
	}
	want := []string{
		"https://b.example 200 rules/b.warc.gz",
		"https://c.example 404 rules/c.jsonl",
		"https://a.example 200 rules/https_a.example.txt",
		"http://www.warc.example 200 rules/www.warc.example/robots.txt",
		"https://www.warc.example 200 rules/www.warc.example/robots.txt",
		"http://x.jsonl 200 rules/x.jsonl.txt",
		"https://x.jsonl 200 rules/x.jsonl.txt",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{"rules/up.warc: a link out of the directory"}; !slices.Equal(r.Skipped(), want) {
		t.Errorf("skipped %q, want %q", r.Skipped(), want)
	}
}

// TestRulesNoCaptures expects errors for files without a record, files in an unsupported format, and rules without a
// robots.txt.
func TestRulesNoCaptures(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		err  error
		want string
	}{
		"x.warc":     {"This is not a WARC file.\n", capture.ErrNoCapture, "it contains no readable capture"},
		"x.warc.gz":  {"nor this", capture.ErrNoCapture, "it contains no readable capture"},
		"y.warc.gz":  {"\x1f\x8b\x08", capture.ErrNoCapture, "it contains no readable capture"},
		"x.jsonl":    {"nor\nthis\n", capture.ErrNoCapture, "it contains no readable capture"},
		"x.warc.xz":  {"\xfd7zXZ\x00\x00", unpack.ErrFormat, "xz is an unsupported format: unpack it first, for example: xz -dc x.warc.xz > unpacked"},
		"e.warc":     {"", ErrNoRobots, "e.warc: contains no capture of a robots.txt"},
		"e.jsonl":    {"\n\n", ErrNoRobots, "contains no capture of a robots.txt"},
		"e.warc.zst": {string(testpack.Skippable(5)), ErrNoRobots, "contains no capture of a robots.txt"},
		"o.jsonl":    {`{"url": "https://a.example/other", "status": 404}`, ErrNoRobots, "contains no capture of a robots.txt"},
	} {
		dir := t.TempDir()
		r, err := Find(testpack.WriteFile(t, dir, name, []byte(c.data)), "")
		if err != nil {
			t.Fatal(err)
		}
		err = nil
		for _, e := range r.Responses() {
			err = e
		}
		if !errors.Is(err, c.err) || err != nil && !strings.Contains(strings.ReplaceAll(err.Error(), dir+"/", ""), c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.err)
		}
	}
}

// TestProblemsBounded checks that problems are counted, and the first ones kept.
func TestProblemsBounded(t *testing.T) {
	data := strings.Repeat("[]\n", 500) + `{"origin": "https://a.example", "status": 404}`
	got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), "x.jsonl", []byte(data)))
	if len(got) != 1 || problems.Total != 500 || len(problems.First) != 100 || problems.First[99].Line != 100 {
		t.Errorf("%d responses, %d problems, %d kept", len(got), problems.Total, len(problems.First))
	}
}

func TestRulesOneCapture(t *testing.T) {
	dir := t.TempDir()
	path := testpack.WriteFile(t, dir, "x.warc", nil)
	if _, err := Find(path, "https://a.example"); !errors.Is(err, ErrOriginFile) {
		t.Errorf("with an origin: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d.warc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(filepath.Join(dir, "d.warc"), ""); !errors.Is(err, ErrNoRules) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Find("/dev/null", ""); !errors.Is(err, ErrNoOrigin) {
		t.Errorf("a device: %v", err)
	}
}
