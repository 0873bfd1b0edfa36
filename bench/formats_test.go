package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
)

// formatBytes is the approximate size of the text that a benchmark of a format reads: it exceeds the caches.
const formatBytes = 32 << 20

// BenchmarkFormat measures reading batches of URLs from decompressed text in each format: a sample of testdata/formats,
// repeated. The bytes are those of the text. With fields=all it also reads times and User-Agents, and keeps two
// columns.
func BenchmarkFormat(b *testing.B) {
	for _, in := range []struct {
		format ingest.Format
		file   string
		keep   []string
	}{
		{"combined", "apache-semicomplete.log", []string{"status", "referer"}},
		{"w3c", "iis-w3c.log", []string{"sc-status", "time"}},
		{"cloudfront", "cloudfront.log", []string{"status", "referer"}},
		{"alb", "alb.log", []string{"status", "trace_id"}},
		{"json", "caddy.jsonl", []string{"status", "referer"}},
		{"json", "cloudflare.jsonl", []string{"status", "referer"}},
		{"csv", "table.csv", []string{"Status Code", "Title 1"}},
		{"csv", "made.csv", []string{"status", "referer"}},
		{"cdxj", "index.cdxj", []string{"status", "mime"}},
	} {
		for _, all := range []bool{false, true} {
			opt := ingest.LogOptions{Format: in.format, Fields: ingest.Fields{Base: "https://www.example.com", Agents: all, Times: all}}
			name := "url"
			if all {
				name = "all"
				opt.Keep = []ingest.KeptColumn{{Field: in.keep[0], Kind: engine.KeptInt}, {Field: in.keep[1]}}
			}
			b.Run(fmt.Sprintf("format=%s/file=%s/fields=%s", in.format, in.file, name), func(b *testing.B) { benchFormat(b, formatText(b, in.file), opt) })
		}
	}
}

func benchFormat(b *testing.B, text []byte, opt ingest.LogOptions) {
	b.Helper()
	var batch engine.Batch
	rows := 0
	m := startMeter(b)
	for b.Loop() {
		opt.Stdin = bytes.NewReader(text)
		src, err := ingest.OpenLogs([]string{"-"}, opt)
		if err != nil {
			b.Fatal(err)
		}
		for rows = 0; src.Next(&batch); {
			rows += batch.Len()
		}
		if err := errors.Join(src.Err(), src.Close()); err != nil || rows == 0 {
			b.Fatal(rows, err)
		}
	}
	m.report("row", rows, int64(len(text)))
}

// formatText returns a repeated sample. made.csv is the sample in Combined Log Format as a table.
func formatText(b *testing.B, name string) []byte {
	b.Helper()
	file := name
	if name == "made.csv" {
		file = "apache-semicomplete.log"
	}
	text, err := os.ReadFile(filepath.Join("..", "testdata", "formats", file))
	if err != nil {
		b.Fatal(err)
	}
	header := []byte(nil)
	switch {
	case name == "made.csv":
		header, text = []byte("client,time,url,protocol,status,bytes,referer,user_agent\n"), csvOf(text)
	case strings.HasSuffix(name, ".csv"):
		header, text = cutHeader(text, 1)
	case strings.Contains(string(text), "#Fields"):
		text, _, _ = bytes.Cut(text, []byte("\r\n#Software")) // the header of a second part
		header, text = cutHeader(append(text, '\n'), bytes.Count(text, []byte("\n#"))+1)
	}
	return append(header, bytes.Repeat(text, formatBytes/len(text))...)
}

// cutHeader splits a text after its first n lines.
func cutHeader(text []byte, n int) (header, rest []byte) {
	rest = text
	for range n {
		_, rest, _ = bytes.Cut(rest, []byte{'\n'})
	}
	return bytes.Clone(text[:len(text)-len(rest)]), rest
}

// csvOf converts a log in Combined Log Format to CSV.
func csvOf(log []byte) []byte {
	var out []byte
	for line := range strings.Lines(string(log)) {
		f := strings.Split(strings.TrimSpace(line), `"`)
		first, request, status := strings.Fields(f[0]), strings.Fields(f[1]), strings.Fields(f[2])
		out = fmt.Appendf(out, "%s,%s,http://semicomplete.com%s,%s,%s,%s,%q,%q\n",
			first[0], first[3][1:], strings.ReplaceAll(request[1], ",", "%2C"), request[2], status[0], status[1], f[3], f[5])
	}
	return out
}
