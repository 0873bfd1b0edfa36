package capture

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/robots"
)

// TestWARCScale reads a gigabyte of records in each format, one in ten of them corrupt. Every other one must be used,
// and memory must stay bounded. It needs ROBOBATCH_SCALE=1 and a gigabyte of disk.
func TestWARCScale(t *testing.T) {
	if os.Getenv("ROBOBATCH_SCALE") != "1" {
		t.Skip("it takes a gigabyte of disk and a minute: set ROBOBATCH_SCALE=1 to run it")
	}
	const (
		size      = 1 << 30
		maxMemory = 160 << 20 // maximum size of the process in bytes, without the race detector
	)
	for _, name := range []string{"x.warc", "x.warc.gz", "x.warc.zst"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			want, broken := writeScale(t, path, size)
			p, got := NewPass(new(atomic.Int64)), 0
			defer p.Release()
			count := func(r robots.Response) bool {
				if got++; len(r.Body) == 0 {
					t.Errorf("no body of %s", r.Origin)
				}
				return true
			}
			if _, err := p.Read(name, path, unpack.WARC, count); err != nil || !p.Finish(count) {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%d captures were used, want %d", got, want)
			}
			peak := peakMemory(t)
			t.Logf("%d captures used, %d records broken, %d problems, %d MiB at most", got, broken, p.Problems().Total, peak>>20)
			if peak > maxMemory {
				t.Errorf("%d MiB, want at most %d", peak>>20, maxMemory>>20)
			}
		})
	}
}

// writeScale writes a WARC file of about this size, and returns the numbers of its intact and corrupt records. One in
// ten is corrupt, one in a hundred is a page of a megabyte.
func writeScale(t *testing.T, path string, size int64) (intact, broken int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(8, 8))
	pack := func(raw []byte) []byte { return raw }
	ways := len(damages)
	switch filepath.Ext(path) {
	case ".gz":
		pack = func(raw []byte) []byte { return testpack.Gzip(t, raw) }
		ways += len(packedDamages)
	case ".zst":
		pack = func(raw []byte) []byte { return testpack.Zstd(t, raw) }
		ways += len(packedDamages)
	}
	// Packing is slow, so a few hundred packed records of each kind are written repeatedly.
	const kinds = 300
	page := makeRecord(0, 1000).raw
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	page = withLength(bytes.Replace(page, []byte("/robots.txt"), []byte("/index.html"), 1), strconv.Itoa(len(noise)))
	page = append(append(page[:bytes.Index(page, []byte("\r\n\r\n"))+4], noise...), "\r\n\r\n"...)
	page = pack(page)
	good, bad := make([][]byte, kinds), make([][]byte, kinds)
	for i := range kinds {
		raw := makeRecord(2*i, r.IntN(6000)).raw // with a digest, because a wrong length may be that of another record
		good[i] = pack(raw)
		if way := i % ways; way < len(damages) {
			bad[i] = pack(damages[way].do(bytes.Clone(raw), r))
		} else {
			bad[i] = packedDamages[way-len(damages)].do(bytes.Clone(good[i]), r)
		}
	}
	var written int64
	for i := 0; written < size; i++ {
		data := good[r.IntN(kinds)]
		switch {
		case i%10 == 5:
			data = bad[i/10%kinds]
			broken++
		case i%100 == 7:
			data = page
		default:
			intact++
		}
		n, err := w.Write(data)
		if written += int64(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return intact, broken
}

// peakMemory returns the peak memory of the process in bytes, or skips the test.
func peakMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("memory is measured on Linux only: ", err)
	}
	m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Skip("/proc/self/status has no VmHWM")
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
