package robots_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/robots"
)

var quickstart = filepath.Join("..", "testdata", "quickstart")

// BenchmarkParse reads the real files of the quick start, and selects the rules of a crawler that
// some of them name.
func BenchmarkParse(b *testing.B) { benchBodies(b, robots.Parse) }

// BenchmarkInspect does the same with directives and diagnostics.
func BenchmarkInspect(b *testing.B) {
	benchBodies(b, func(body []byte, d robots.Dialect) *robots.File { return robots.Inspect(body, d).File })
}

func benchBodies(b *testing.B, parse func([]byte, robots.Dialect) *robots.File) {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(quickstart, "rules", "*.txt"))
	if err != nil || len(names) == 0 {
		b.Skip("no files to parse")
	}
	var bodies [][]byte
	size := 0
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		bodies = append(bodies, body)
		size += min(len(body), robots.MaxBytes)
	}
	for _, d := range []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex} {
		b.Run("dialect="+d.String(), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			agent, rules := robots.NewAgent("Googlebot", d), 0
			for b.Loop() {
				rules = 0
				for _, body := range bodies {
					selected, _ := parse(body, d).Select(agent)
					rules += len(selected)
				}
			}
			b.ReportMetric(float64(rules), "rules")
		})
	}
}

// benchURLs returns the URLs of the quick start.
func benchURLs(b *testing.B) [][]byte {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(quickstart, "urls.zst"))
	if err != nil {
		b.Skip("no URLs")
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer z.Close()
	if data, err = z.DecodeAll(data, nil); err != nil {
		b.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

// perURL reports the time for one URL; each iteration of b works on all of them.
func perURL(b *testing.B, urls [][]byte) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(urls)), "ns/url")
}

func BenchmarkSplitURL(b *testing.B) {
	urls := benchURLs(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, raw := range urls {
			_, _ = robots.SplitURL(raw)
		}
	}
	perURL(b, urls)
}

func BenchmarkAppendOrigin(b *testing.B) {
	raws := benchURLs(b)
	urls := make([]robots.URL, len(raws))
	for i, raw := range raws {
		urls[i], _ = robots.SplitURL(raw)
	}
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		for _, u := range urls {
			buf, _ = robots.AppendOrigin(buf[:0], u)
		}
	}
	perURL(b, raws)
}

func BenchmarkPath(b *testing.B) {
	raws := benchURLs(b)
	var paths [][]byte
	for _, raw := range raws {
		if u, err := robots.SplitURL(raw); err == nil {
			paths = append(paths, u.Path)
		}
	}
	for _, d := range []robots.Dialect{robots.Google, robots.RFC9309} {
		b.Run("dialect="+d.String(), func(b *testing.B) {
			buf := make([]byte, 0, 1024)
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range paths {
					_, buf = d.Path(p, buf)
				}
			}
			perURL(b, raws)
		})
	}
}
