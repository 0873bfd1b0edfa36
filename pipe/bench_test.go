package pipe

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// BenchmarkLatency sends record batches through pipes as between processes. It sends each one only after it has read
// the response to the previous one: ns/op is the time for both.
func BenchmarkLatency(b *testing.B) {
	for _, rows := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			store := newStore(b, false, "*")
			inRead, inWrite := io.Pipe()
			outRead, outWrite := io.Pipe()
			go func() {
				_, err := Run(b.Context(), store, inRead, outWrite, Options{})
				outWrite.CloseWithError(err)
			}()
			rec := benchRecord(rows)
			w := ipc.NewWriter(inWrite, ipc.WithSchema(rec.Schema()))
			if err := w.Write(rec); err != nil {
				b.Fatal(err)
			}
			r, err := ipc.NewReader(outRead)
			if err != nil || !r.Next() {
				b.Fatal("no answer", err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Write(rec); err != nil {
					b.Fatal(err)
				}
				if !r.Next() {
					b.Fatal(r.Err())
				}
			}
			inWrite.Close()
			if r.Next() || r.Err() != nil {
				b.Fatal(r.Err())
			}
		})
	}
}

// BenchmarkRun sends a stream of record batches, each with 65,536 rows with a number and a URL, through a pipe.
func BenchmarkRun(b *testing.B) {
	for _, agents := range [][]string{{"*"}, {"*", "botone", "bottwo", "botthree", "botfour", "botfive", "botsix", "botseven", "boteight", "botnine"}} {
		b.Run(fmt.Sprintf("agents=%d", len(agents)), func(b *testing.B) {
			store := newStore(b, false, agents...)
			rec := benchRecord(1 << 16)
			var in bytes.Buffer
			w := ipc.NewWriter(&in, ipc.WithSchema(rec.Schema()))
			const batches = 8
			for range batches {
				if err := w.Write(rec); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(in.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(b.Context(), store, bytes.NewReader(in.Bytes()), io.Discard, Options{Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*batches*float64(rec.NumRows())/b.Elapsed().Seconds(), "urls/s")
		})
	}
}

// benchRecord returns a record batch of URLs.
func benchRecord(rows int) arrow.Record {
	urls, numbers := array.NewStringBuilder(alloc), array.NewInt64Builder(alloc)
	for i := range rows {
		urls.Append(fmt.Sprintf("https://example.com/%s/%d?page=%d", []string{"public", "private", "private/ok"}[i%3], i, i%7))
		numbers.Append(int64(i))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	return array.NewRecord(schema, []arrow.Array{numbers.NewArray(), urls.NewArray()}, int64(rows))
}
