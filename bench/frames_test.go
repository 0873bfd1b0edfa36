package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
)

// TestFramesSameBytes compresses a log as one frame, as two and as many, cut inside lines and with skippable frames in
// between: the output has the same bytes, with any number of workers.
func TestFramesSameBytes(t *testing.T) {
	c := corpora[0].open(t)
	store := buildStore(t, responses(t, c), 0)
	text := unpack(t, c.Logs[0])
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log, out := corpus.Log{Path: filepath.Join(dir, "log.zst")}, filepath.Join(dir, "out.parquet")
	var want []byte
	for _, frames := range []int{1, 2, 60} {
		var packed []byte
		for i := range frames {
			packed = append(enc.EncodeAll(text[len(text)*i/frames:len(text)*(i+1)/frames], packed), "\x5a\x2a\x4d\x18\x01\x00\x00\x00x"...)
		}
		if err := os.WriteFile(log.Path, packed, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 2, 8} {
			run(t, store, log, out, runOptions{url: true, workers: workers})
			got, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d frames and %d workers give other bytes", frames, workers)
			}
		}
	}
}

// TestRunAllocs checks that a run does not allocate per URL: ten times the URLs need hardly more allocations.
func TestRunAllocs(t *testing.T) {
	c := corpora[0].open(t)
	store := buildStore(t, responses(t, c), 0)
	long := repeatLog(t, c.Logs[0], longCopies)
	out := filepath.Join(t.TempDir(), "out.parquet")
	for _, workers := range []int{1, 2} {
		opt := runOptions{url: true, workers: workers}
		count := func(l corpus.Log) (allocs, urls int64) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			urls = run(t, store, l, out, opt).URLs
			runtime.ReadMemStats(&after)
			return int64(after.Mallocs - before.Mallocs), urls
		}
		count(long) // allocations of the first run
		few, urls := count(c.Logs[0])
		many, manyURLs := count(long)
		if perURL := float64(many-few) / float64(manyURLs-urls); perURL > 0.02 {
			t.Errorf("%d workers: %.3f allocations a URL", workers, perURL)
		}
	}
}
