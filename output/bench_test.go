package output

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/output/internal/container"
)

// BenchmarkWrite measures writing batches as bytes, with all columns and with all except url.
func BenchmarkWrite(b *testing.B) {
	t := tableSpec{urls: 512 << 10, agents: 1, sites: 2000, batch: 8192}.make()
	var raw int64
	for _, batch := range t.batches {
		raw += int64(len(batch.Data))
	}
	for f := range Format(container.NumFormats) {
		for _, url := range []bool{true, false} {
			b.Run(fmt.Sprintf("format=%s/url=%t", f.String()[1:], url), func(b *testing.B) {
				cols := slices.DeleteFunc(Long.DefaultColumns(), func(name string) bool { return name == "url" && !url })
				b.SetBytes(raw)
				b.ReportAllocs()
				w, err := newWriter(io.Discard, t.catalog, t.agents, Options{Format: f, Columns: cols, Inputs: t.inputs}, container.Metadata{})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					for _, batch := range t.batches {
						if err := w.Write(batch); err != nil {
							b.Fatal(err)
						}
					}
				}
				rows := float64(512<<10) * float64(b.N)
				b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/rows, "ns/row")
			})
		}
	}
}
