package capture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/robots"
)

func TestJSONL(t *testing.T) {
	cases := []struct{ line, want string }{
		{`{"url": "HTTP://A.example:80/robots.txt", "status": 200, "body": "x\ny"}`, "http://a.example 200 3"},
		{`{"origin": "https://a.example", "status": 404}`, "https://a.example 404 0"},
		{`{"origin": "https://a.example/robots.txt", "url": "https://a.example/robots.txt", "status": 200, "body_b64": "/w=="}`, "https://a.example 200 1"},
		{`{"url": "https://a.example/robots.txt", "status": 301, "location": "/other"}`, "https://a.example 301 0 to /other"},
		{`{"url": "https://a.example/other?x", "status": 200, "body": "b"}`, "https://a.example 200 1 of https://a.example/other?x"},
		{`{"url": "https://a.example/robots.txt", "error": "timeout"}`, "https://a.example 0 0: timeout"},
		{`{"url": "https://a.example/robots.txt", "status": 0}`, "https://a.example 0 0"},
		{`{"url": "https://a.example/robots.txt", "body": ""}`, "https://a.example 200 0"},
		{`{"url": "https://a.example/robots.txt", "body_b64": "YQ", "extra": {"deep": [1, 2]}}`, "https://a.example 200 1"},
		{"\ufeff" + `{"url": "https://a.example/robots.txt", "body": "a"}` + "\r", "https://a.example 200 1"},
		{`{"url": "https://a.example/robots.txt"}`, "not a response: it has no status"},
		{`{"url": "https://a.example/robots.txt", "body": "x", "status": 200, "body": "y"}`, `not a response: duplicate "body"`},
		{`{"url": "https://a.example/robots.txt", "body": "{\"body\": 1}", "x": {"body": 1, "status": 2}, "status": 2}`, "not a response: invalid status 2"},
		{`{"status": 200, "body": ""}`, "not a response: it has neither url nor origin"},
		{`{"url": "a.example/robots.txt", "status": 200}`, `not a URL with a valid host: url is "a.example/robots.txt": no scheme: a URL starts like https://`},
		{`{"origin": "https://a.example/x", "status": 200}`, "not a URL with a valid host: origin"},
		{`{"url": "https://a b/robots.txt", "status": 200}`, "not a URL with a valid host: url is"},
		{`{"url": "https://a.example/robots.txt", "origin": "https://b.example", "status": 200}`, "not a response: origin is https://b.example, but the origin of url is https://a.example"},
		{`{"url": "https://a.example/robots.txt", "status": 20}`, "not a response: invalid status 20"},
		{`{"url": "https://a.example/robots.txt", "status": "200"}`, "not a response: status is a string instead of a whole number"},
		{`{"url": "https://a.example/robots.txt", "body": ["x"]}`, "not a response: body is an array instead of a string"},
		{`{"url": "https://a.example/robots.txt", "status": 2.5}`, "not a response: status is a number instead of a whole number"},
		{`{"url": "https://a.example/robots.txt", "status": 200, "content": "x"}`, "not a response: status 200 without body: give its text as body"},
		{`{"url": "https://a.example/robots.txt", "status": 206}`, "not a response: status 206 without body"},
		{`{"url": "https://a.example/robots.txt", "status": 204}`, "https://a.example 204 0"},
		{`{"url": "https://a.example/robots.txt", "status": 200, "error": "reset"}`, "https://a.example 200 0: reset"},
		{`{"url": "https://a.example/robots.txt", "body": "", "body_b64": ""}`, "not a response: it has both body and body_b64"},
		{`{"url": "https://a.example/robots.txt", "body_b64": "*"}`, "not a response: body_b64: illegal base64"},
		{`{"url": "https://a.example/robots.txt", "body": "` + "\xff" + `"}`, "not a response: it is not UTF-8"},
		{`{"url": "https://a.example/robots.txt", "body": "`, "not a response: unexpected end of JSON input"},
		{`{"url": "https://a.example/robots.txt", "status": 200, "fetched_at": "yesterday"}`, "not a response: fetched_at is neither"},
		{`{"url": "https://a.example/robots.txt", "status": 404, "fetched_at": "9999-12-31T23:59:59-23:00"}`, "not a response: fetched_at is neither"},
		{`{"url": "https://a.example/` + strings.Repeat("x", maxURL) + `", "status": 404}`, "not a URL with a valid host: it is longer than 64 KiB"},
		{`{"url": "https://a.example/robots.txt", "status": 301, "location": "` + strings.Repeat("x", maxURL+1) + `"}`, "not a URL with a valid host: it is longer"},
		{`{"url": "https://a.example/robots.txt", "status": 200, "fetched_at": 1767323045000}`, "not a response: fetched_at is neither"},
		{`[]`, "not a response: it is an array instead of an object"},
		{`null`, "not a response: it has neither url nor origin"},
	}
	dir := t.TempDir()
	for _, c := range cases {
		// Begin with an intact line, because a file without one is rejected.
		text := c.line + "\n\n" + `{"origin": "https://last.example", "status": 500}`
		got, problems := readAll(t, testpack.WriteFile(t, dir, "x.jsonl", []byte(text)))
		var line string
		switch {
		case len(got) == 2:
			if line = show(got[0]); got[0].Error != "" {
				line += ": " + got[0].Error
			}
		case problems.Total == 1:
			line = problems.First[0].Err.Error()
			if e := problems.First[0]; e.Line != 1 || e.Offset != -1 || !strings.Contains(e.Error(), "x.jsonl: line 1: ") {
				t.Errorf("%s: at the wrong place: %v", c.line, e)
			}
		}
		if isFault := strings.HasPrefix(c.want, "not "); line != c.want && (!isFault || !strings.HasPrefix(line, c.want)) {
			t.Errorf("%s:\ngot  %q (%d, %v)\nwant %q", c.line, line, len(got), problems, c.want)
		}
		if len(got) == 0 || show(got[len(got)-1]) != "https://last.example 500 0" {
			t.Errorf("%s: the line after it was not used", c.line)
		}
	}
}

// TestJSONLUndated checks that the first of several responses without a time counts for its origin. Responses to
// redirects, and those with a time, do not matter.
func TestJSONLUndated(t *testing.T) {
	data := `{"origin": "https://a.example", "status": 404}
{"origin": "https://a.example", "status": 503}
{"origin": "https://a.example", "status": 503, "fetched_at": 1}
{"url": "https://a.example/x", "status": 404}
{"url": "https://a.example/x", "status": 404}
{"origin": "http://a.example", "status": 404}`
	got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), "x.jsonl", []byte(data)))
	if len(got) != 5 || got[0].Status != 404 || problems.Total != 1 || problems.First[0].Line != 2 || !errors.Is(problems.First[0], ErrUndated) {
		t.Errorf("%v, %v", showAll(got), problems.First)
	}
}

func TestJSONLTimes(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`"2026-01-02T03:04:05Z"`:      want,
		`"2026-01-02T05:04:05+02:00"`: want,
		`1767323045`:                  want,
		`1767323045.25`:               want.Add(250 * time.Millisecond),
		`null`:                        {},
	} {
		line := `{"origin": "https://a.example", "status": 200, "body": "", "fetched_at": ` + text + `}`
		got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), "x.jsonl", []byte(line)))
		if len(got) != 1 || !got[0].FetchedAt.Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", text, got, problems.First, want)
		}
	}
}

// TestJSONLLong reads a body longer than MaxBody, and lines as long as the limit.
func TestJSONLLong(t *testing.T) {
	line := func(n int) string {
		return fmt.Sprintf(`{"origin": "https://n%d.example", "body": "%s"}`, n, strings.Repeat("x", n))
	}
	frame := len(line(maxJSONLine)) - maxJSONLine
	sizes := []int{1, 65_000, 65_536, 70_000, MaxBody, MaxBody + 1, maxJSONLine - frame - 1, maxJSONLine - frame, maxJSONLine, 2 * maxJSONLine, 3}
	var text bytes.Buffer
	for _, n := range sizes {
		text.WriteString(line(n) + "\n")
	}
	got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), "x.jsonl.zst", testpack.Zstd(t, text.Bytes())))
	var used []int
	for _, r := range got {
		used = append(used, int(r.Size))
		if want := min(r.Size, MaxBody); int64(len(r.Body)) != want {
			t.Errorf("of %d bytes %d were kept, want %d", r.Size, len(r.Body), want)
		}
	}
	want := []int{1, 65_000, 65_536, 70_000, MaxBody, MaxBody + 1, maxJSONLine - frame - 1, 3}
	if !slices.Equal(used, want) {
		t.Errorf("got bodies of %d, want %d", used, want)
	}
	var lines []int64
	for _, p := range problems.First {
		lines = append(lines, p.Line)
	}
	if !slices.Equal(lines, []int64{8, 9, 10}) {
		t.Errorf("problems %v, want lines 8, 9 and 10", problems.First)
	}
}

// TestJSONLDamage checks that no line after a damaged frame is used. A line of a gzip member may be read before the
// damage is detected.
func TestJSONLDamage(t *testing.T) {
	const lines = 1000
	var text []byte
	for i := range lines {
		text = fmt.Appendf(text, `{"origin": "https://h%d.example", "status": 200, "body_b64": "%s"}`+"\n", i, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%d", i)))
	}
	pack := map[string]func([]byte) []byte{
		"x.jsonl.gz":  func(b []byte) []byte { return testpack.Gzip(t, b) },
		"x.jsonl.zst": func(b []byte) []byte { return testpack.Zstd(t, b) },
	}
	for name, pack := range pack {
		var data []byte
		i := 0
		for part := range slices.Chunk(text, 5000) {
			b := pack(part)
			if i%10 == 3 {
				b[len(b)/2] ^= 0x55
				b[len(b)/2+1] ^= 0x55
			}
			data = append(data, b...)
			i++
		}
		got, problems := readAll(t, testpack.WriteFile(t, t.TempDir(), name, data))
		perPart := 5000*lines/len(text) + 2
		if len(got) < 3*perPart-10 || len(got) > 4*perPart {
			t.Errorf("%s: %d responses and %d problems with %d lines a part: %v", name, len(got), problems.Total, perPart, problems.First)
		}
		for i, r := range got {
			if want := strconv.Itoa(i); i < 3*perPart-10 && string(r.Body) != want {
				t.Errorf("%s: response %d is %q", name, i, r.Body)
			}
			if want := robots.Origin("https://h" + string(r.Body) + ".example"); r.Origin != want {
				t.Errorf("%s: %s, whose body is that of %s", name, r.Origin, want)
			}
		}
	}
}
