package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
)

// benchLogs are the logs of the benchmarks, which skip missing ones.
var benchLogs = []struct{ name, shared, file string }{
	{"generated", "", ""},
	{"quickstart", "", "../testdata/quickstart/urls.zst"},
	{"hostgrouped", "urls_real_hostgrouped.urls.zst", ""},
	{"shuffled", "urls_real_shuffled.urls.zst", ""},
	{"synth", "synth_300k.urls.zst", ""},
}

// loadLog returns one of benchLogs, or skips the benchmark if it is missing.
func loadLog(b *testing.B, shared, file string) []byte {
	b.Helper()
	if shared != "" {
		file = filepath.Join(repcase.SharedDir(b), "data", shared)
	}
	if file == "" {
		return testpack.Zstd(b, testpack.HardText(300_000))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		b.Skip(err)
	}
	return data
}

// BenchmarkLogs measures reading rows from a zstd log. Compare its ns/line with BenchmarkDecode, which only decodes the
// same data and finds its line feeds.
func BenchmarkLogs(b *testing.B) {
	for _, log := range benchLogs {
		b.Run("log="+log.name, func(b *testing.B) {
			data := loadLog(b, log.shared, log.file)
			b.ReportAllocs()
			var (
				text  = unpack.NewTexts(nil, 0, 0, new(atomic.Int64))
				lines lineReader
				raw   rawLines
				rows  int
			)
			for b.Loop() {
				if err := text.Open(fault.Stdin, bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
				for lines.reset(text); !lines.done(); rows += len(raw.spans) {
					lines.fill(&raw, defaultRows, defaultBytes)
				}
			}
			b.SetBytes(lines.offset)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/line")
		})
	}
}

// BenchmarkDecode measures the minimum cost of reading a log: decoding it and counting its lines. It also shows what
// the concurrency of the zstd decoder costs, as user CPU time.
func BenchmarkDecode(b *testing.B) {
	for _, log := range benchLogs {
		for _, concurrency := range []int{1, 4} {
			b.Run("log="+log.name+"/concurrency="+strconv.Itoa(concurrency), func(b *testing.B) {
				data := loadLog(b, log.shared, log.file)
				d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(concurrency), zstd.WithDecoderLowmem(false))
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				buf := make([]byte, chunkSize)
				var lines, size int
				for b.Loop() {
					if err := d.Reset(bufio.NewReader(io.MultiReader(bytes.NewReader(data)))); err != nil {
						b.Fatal(err)
					}
					for size = 0; ; {
						n, err := d.Read(buf)
						lines += bytes.Count(buf[:n], []byte{'\n'})
						size += n
						if errors.Is(err, io.EOF) {
							break
						}
						if err != nil {
							b.Fatal(err)
						}
					}
				}
				b.SetBytes(int64(size))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(lines), "ns/line")
			})
		}
	}
}
