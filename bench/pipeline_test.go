package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/parquet"
)

// longCopies is the number of copies of a log in a long log: enough to make the start and the end of a run negligible.
const longCopies = 10

// repeatLog writes longCopies copies of a log, in frames with complete copies.
func repeatLog(tb testing.TB, l corpus.Log, frames int) corpus.Log {
	tb.Helper()
	text := unpack(tb, l)
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	frame := enc.EncodeAll(bytes.Repeat(text, longCopies/frames), nil)
	long := corpus.Log{Name: l.Name, Path: filepath.Join(tb.TempDir(), "long.zst")}
	if err := os.WriteFile(long.Path, bytes.Repeat(frame, frames), 0o600); err != nil {
		tb.Fatal(err)
	}
	return long
}

// unpack returns the text of a log.
func unpack(tb testing.TB, l corpus.Log) []byte {
	tb.Helper()
	data, err := os.ReadFile(l.Path)
	if err != nil {
		tb.Fatal(err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	defer dec.Close()
	text, err := dec.DecodeAll(data, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// BenchmarkLong measures runs of a log that is ten times as long, as one frame and as ten. It also reports the garbage
// collector's share of the CPU time.
func BenchmarkLong(b *testing.B) {
	for _, in := range inputs() {
		for _, frames := range []int{1, longCopies} {
			for _, opt := range []runOptions{{workers: 1}, {workers: 2}, {url: true, workers: 1}, {url: true, workers: 2}} {
				b.Run(fmt.Sprintf("%s/frames=%d/url=%t/workers=%d", in.name, frames, opt.url, opt.workers), func(b *testing.B) {
					c, l := in.open(b)
					store := buildStore(b, responses(b, c), 0)
					long := repeatLog(b, l, frames)
					benchmarkRun(b, store, long, opt)
				})
			}
		}
	}
}

// BenchmarkUnpack is BenchmarkDecode for the log of BenchmarkLong with one frame, for comparison.
func BenchmarkUnpack(b *testing.B) {
	for _, in := range inputs() {
		b.Run(in.name, func(b *testing.B) {
			_, l := in.open(b)
			benchmarkDecode(b, repeatLog(b, l, 1))
		})
	}
}

// gcTime returns the CPU time of the garbage collector in seconds.
func gcTime() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64() - s[1].Value.Float64()
}

// BenchmarkColumn measures the least cost of writing the column url: only the strings of a log as pages of package
// output, by default and as PLAIN. Compare its cpu-ns/url with the difference between url=true and url=false in Run.
// bytes/url is the size of the pages.
func BenchmarkColumn(b *testing.B) {
	for _, in := range inputs() {
		for _, deltas := range []bool{true, false} {
			name := in.name
			if !deltas {
				name += "/encoding=plain"
			}
			b.Run(name, func(b *testing.B) {
				_, l := in.open(b)
				all, urls, size := batches(b, l)
				f, err := os.Create(filepath.Join(b.TempDir(), "column"))
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
				m := startMeter(b)
				var written int64
				for b.Loop() {
					if _, err := f.Seek(0, 0); err != nil {
						b.Fatal(err)
					}
					to := &countingFile{File: f}
					writeColumn(b, to, all, deltas)
					written = to.n
				}
				m.report("url", urls, size)
				b.ReportMetric(float64(written)/float64(urls), "bytes/url")
			})
		}
	}
}

// writeColumn writes the URLs of batches to a Parquet file.
func writeColumn(b *testing.B, to parquet.Sink, all []engine.Batch, deltas bool) {
	b.Helper()
	const pageBytes, groupBytes = 1 << 20, 64 << 20
	w, err := parquet.NewWriter(to, []parquet.Field{{Name: "url", Type: parquet.Text, Delta: deltas}}, parquet.Options{Codec: parquet.Zstd, Level: 1})
	if err != nil {
		b.Fatal(err)
	}
	enc, err := w.NewEncoder()
	if err != nil {
		b.Fatal(err)
	}
	var texts parquet.Texts
	rows, group := 0, 0
	flush := func(end bool) {
		if rows > 0 {
			enc.Texts(w.Begin(rows, nil), 0, &texts)
		}
		group += len(texts.Bytes)
		if end || group >= groupBytes {
			if err := w.EndGroup([]parquet.TextList{nil}); err != nil {
				b.Fatal(err)
			}
			group = 0
		}
		texts.Bytes, rows = texts.Bytes[:0], 0
	}
	for i := range all {
		for j := range all[i].URLs {
			url := all[i].URL(j)
			texts.Bytes = append(binary.LittleEndian.AppendUint32(texts.Bytes, uint32(len(url))), url...)
			if rows++; len(texts.Bytes) >= pageBytes {
				flush(false)
			}
		}
	}
	flush(true)
	if err := w.Close(nil, nil); err != nil {
		b.Fatal(err)
	}
}

// A countingFile counts the bytes written to it.
type countingFile struct {
	*os.File
	n int64
}

// Write writes p.
func (f *countingFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.n += int64(n)
	return n, err
}

// Tell returns the number of bytes written.
func (f *countingFile) Tell() int64 { return f.n }
