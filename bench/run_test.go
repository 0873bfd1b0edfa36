package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/output"
)

// BenchmarkDecode measures the least cost of reading a log: decompressing it with the decoder and settings of package
// ingest, and counting lines. The bytes are those of the text.
func BenchmarkDecode(b *testing.B) {
	for _, in := range inputs() {
		b.Run(in.name, func(b *testing.B) {
			_, l := in.open(b)
			benchmarkDecode(b, l)
		})
	}
}

// benchmarkDecode measures decompressing one log.
func benchmarkDecode(b *testing.B, l corpus.Log) {
	b.Helper()
	data, err := os.ReadFile(l.Path)
	if err != nil {
		b.Fatal(err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(false), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		b.Fatal(err)
	}
	defer dec.Close()
	buf := make([]byte, 64<<10)
	var lines int
	var size int64
	m := startMeter(b)
	for b.Loop() {
		if lines, size, err = countLines(dec, data, buf); err != nil {
			b.Fatal(err)
		}
	}
	m.report("url", lines, size)
}

// countLines decompresses data, and counts its lines and bytes.
func countLines(dec *zstd.Decoder, data, buf []byte) (lines int, size int64, err error) {
	if err := dec.Reset(bytes.NewReader(data)); err != nil {
		return 0, 0, err
	}
	for {
		n, err := dec.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return lines, size, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// BenchmarkRead measures reading batches from a zstd file. The bytes are those of the URLs.
func BenchmarkRead(b *testing.B) {
	for _, in := range inputs() {
		b.Run(in.name, func(b *testing.B) {
			_, l := in.open(b)
			_, urls, size := batches(b, l)
			var batch engine.Batch
			m := startMeter(b)
			for b.Loop() {
				src, err := ingest.OpenLogs([]string{l.Path}, ingest.LogOptions{})
				if err != nil {
					b.Fatal(err)
				}
				rows := 0
				for src.Next(&batch) {
					rows += batch.Len()
				}
				if err := errors.Join(src.Err(), src.Close()); err != nil || rows != urls {
					b.Fatalf("%d rows of %d: %v", rows, urls, err)
				}
			}
			m.report("url", urls, size)
		})
	}
}

// BenchmarkEvaluate measures the work of one worker on batches that were read before: finding the site of each URL,
// normalising its path, and matching. The bytes are those of the URLs.
func BenchmarkEvaluate(b *testing.B) {
	for _, in := range inputs() {
		b.Run(in.name, func(b *testing.B) {
			c, l := in.open(b)
			e := buildStore(b, responses(b, c), 0).NewEvaluator()
			all, urls, size := batches(b, l)
			var work engine.Batch
			m := startMeter(b)
			for b.Loop() {
				for i := range all {
					evaluate(e, &work, &all[i])
				}
			}
			m.report("url", urls, size)
		})
	}
}

// evaluate decides the rows of src in work, which shares their memory, and does not change src.
func evaluate(e *engine.Evaluator, work, src *engine.Batch) {
	work.Reset()
	work.Input, work.Data, work.URLs, work.Lines = src.Input, src.Data, src.URLs, src.Lines
	e.Evaluate(work)
}

// BenchmarkRun measures complete runs from a zstd file to a Parquet file under its final name, in a temporary
// directory. The rules are loaded before. The bytes are those of the URLs.
func BenchmarkRun(b *testing.B) {
	for _, in := range inputs() {
		for _, opt := range []runOptions{{workers: 1}, {workers: 2}, {url: true, workers: 1}, {url: true, workers: 2}} {
			b.Run(fmt.Sprintf("%s/url=%t/workers=%d", in.name, opt.url, opt.workers), func(b *testing.B) {
				c, l := in.open(b)
				store := buildStore(b, responses(b, c), 0)
				benchmarkRun(b, store, l, opt)
			})
		}
	}
}

// benchmarkRun measures runs of one log.
func benchmarkRun(b *testing.B, store *engine.Store, l corpus.Log, opt runOptions) {
	b.Helper()
	out := filepath.Join(b.TempDir(), "out.parquet")
	var stats engine.Stats
	m, gc := startMeter(b), gcTime()
	for b.Loop() {
		stats = run(b, store, l, out, opt)
	}
	m.report("url", int(stats.URLs), stats.URLBytes)
	if cpu := (measure.CPU() - m.cpu).Seconds(); cpu > 0 {
		b.ReportMetric(100*(gcTime()-gc)/cpu, "gc-%")
	}
}

type runOptions struct {
	url     bool // with the column url
	workers int
	layout  output.Layout
	where   output.Where
	columns []string // nil means those of the layout
}

// run writes the results for a log to a Parquet file.
func run(tb testing.TB, store *engine.Store, l corpus.Log, out string, opt runOptions) engine.Stats {
	tb.Helper()
	ahead := opt.workers
	if ahead == 1 {
		ahead = 0
	}
	src, err := ingest.OpenLogs([]string{l.Path}, ingest.LogOptions{Ahead: ahead})
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	columns := opt.columns
	if columns == nil {
		columns = opt.layout.DefaultColumns()
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "url" && !opt.url })
	dst, err := output.Create(out, nil, store, output.Options{
		Columns: columns, Inputs: []string{l.Path}, Workers: opt.workers, Layout: opt.layout, Where: opt.where,
	})
	if err != nil {
		tb.Fatal(err)
	}
	defer dst.Close()
	stats, err := engine.Run(tb.Context(), store, src, dst, engine.Options{Workers: opt.workers})
	if err != nil {
		tb.Fatal(err)
	}
	if opt.layout == output.Long && opt.where == 0 && dst.Rows() != stats.Rows {
		tb.Fatalf("%d rows written of %d", dst.Rows(), stats.Rows)
	}
	if err := dst.Commit(); err != nil {
		tb.Fatal(err)
	}
	return stats
}
