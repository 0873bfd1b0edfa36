package conduct

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// packers compress as servers do, from the fastest to the best compression.
func packers(t *testing.T) map[string]func(io.Writer) io.WriteCloser {
	t.Helper()
	all := map[string]func(io.Writer) io.WriteCloser{}
	for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
		if level == gzip.NoCompression {
			continue
		}
		all[fmt.Sprintf("gzip %d", level)] = func(w io.Writer) io.WriteCloser {
			z, err := gzip.NewWriterLevel(w, level)
			if err != nil {
				t.Fatal(err)
			}
			return z
		}
	}
	for _, level := range []int{brotli.BestSpeed, 4, brotli.BestCompression} {
		all[fmt.Sprintf("brotli %d", level)] = func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, level) }
	}
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedBestCompression} {
		all["zstd "+level.String()] = func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			return z
		}
	}
	return all
}

// chunked returns the size of a text in chunks of 4 KiB, or in one chunk per line.
func chunked(t *testing.T, text string, lines bool) int64 {
	t.Helper()
	var out bytes.Buffer
	w := httputil.NewChunkedWriter(&out)
	pieces := slices.Collect(slices.Chunk([]byte(text), 4<<10))
	if lines {
		pieces = bytes.SplitAfter([]byte(text), []byte("\n"))
	}
	for _, piece := range pieces {
		if _, err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return int64(out.Len() + len("\r\n"))
}

// TestLengths sends real robots.txt files, and texts that compress well or badly, in all ways that servers use. It
// checks that no response contradicts its text.
func TestLengths(t *testing.T) {
	names, err := filepath.Glob("../testdata/quickstart/rules/*")
	if err != nil || len(names) < 100 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	bodies := map[string][]byte{
		"one line": []byte("User-agent: *\nDisallow: /\n"), "a byte": []byte("#"), "spaces": bytes.Repeat([]byte(" "), 30_000),
		"repeats": bytes.Repeat([]byte("Disallow: /a\n"), 2_000), "beyond the window": bytes.Repeat(bytes.Repeat([]byte("Disallow: /abcdefgh\n"), 3_000), 2),
	}
	for n, name := range names {
		if n%4 != 0 {
			continue
		}
		if bodies[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	ways, measure := packers(t), new(measurer)
	for name, body := range bodies {
		l := measure.lengthsOf(body)
		text := string(body)
		lf := strings.ReplaceAll(text, "\r\n", "\n")
		for what, sent := range map[string]string{
			"as it is": text, "LF": lf, "CR LF": strings.ReplaceAll(lf, "\n", "\r\n"), "with a mark": "\ufeff" + lf, "without its end": strings.TrimSuffix(lf, "\n"),
		} {
			if got := l.fitOf(int64(len(sent))); got != fits {
				t.Errorf("%s, %s: %d bytes of %d: %d", name, what, len(sent), len(body), got)
			}
			for _, lines := range []bool{false, true} {
				if size := chunked(t, sent, lines); l.fitOf(size) != fits || l.fitOf(size+350) == impossible {
					t.Errorf("%s, %s, %d bytes in chunks of %d: %d, with a header %d", name, what, size, len(body), l.fitOf(size), l.fitOf(size+350))
				}
			}
			if got := l.fitOf(int64(len(sent)) + 350); got == impossible {
				t.Errorf("%s, %s, with a header: impossible", name, what)
			}
		}
		for what, pack := range ways {
			var out bytes.Buffer
			w := pack(&out)
			if _, err := w.Write(body); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			if got := l.fitOf(int64(out.Len())); got != fits {
				t.Errorf("%s, %s: %d bytes of %d, bounds %d and %d: %d", name, what, out.Len(), len(body), l.least, l.packed, got)
			}
			if got := l.fitOf(int64(out.Len()) + 350); got == impossible {
				t.Errorf("%s, %s, with a header: impossible", name, what)
			}
		}
	}
	t.Logf("%d texts, packed in %d ways", len(bodies), len(ways))
}

// TestOtherLengths checks which responses contradict a text.
func TestOtherLengths(t *testing.T) {
	text := []byte("User-agent: *\n")
	for i := range 60 {
		text = fmt.Appendf(text, "Disallow: /%d/%s\n", i*i*7919, strings.Repeat(string(rune('a'+i%26)), i%5))
	}
	l := new(measurer).lengthsOf(text)
	n := int64(len(text))
	for size, want := range map[int64]fit{
		20: impossible, n: fits, n - 100: fitsHeaders, n + 61: fits, n + 61 + 8*61: fits, n + 61 + 8*64: fitsHeaders, n + 8000: fitsHeaders, n + 9500: impossible, n / 2: fits,
	} {
		if got := l.fitOf(size); got != want {
			t.Errorf("%d bytes for a text of %d (%d to %d compressed): got %d, want %d", size, n, l.least, l.packed, got, want)
		}
	}
}
