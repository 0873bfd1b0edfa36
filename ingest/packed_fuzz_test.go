package ingest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// longestFuzzed is the maximum size of a fuzzer's unpacked text: zstd blocks can be a thousand times their packed size.
const longestFuzzed = 4 << 20

// unpackStrictly returns the text of gzip members or zstd frames up to the first fault that the standard library or
// klauspost's decoder finds.
func unpackStrictly(data []byte) (text []byte, err error) {
	var r io.Reader
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		r, err = gzip.NewReader(bytes.NewReader(data))
	} else {
		var d *zstd.Decoder
		if d, err = zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20)); err == nil {
			defer d.Close()
			r = d
		}
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, longestFuzzed+1))
}

// FuzzPacked reads any bytes as gzip members or zstd frames, with and without Ahead. The rows must be those of the text
// that unpackStrictly finds. If that finds a fault, so must Logs, and the verified rows must be rows of the text.
func FuzzPacked(f *testing.F) {
	text := testpack.HardText(20)
	a, b := text[:len(text)/2], text[len(text)/2:]
	for _, data := range [][]byte{
		slices.Concat(testpack.Gzip(f, a), testpack.Gzip(f, b)), slices.Concat(testpack.Zstd(f, a), testpack.Skippable(9), testpack.Zstd(f, b)),
		testpack.Zstd(f, text, zstd.WithEncoderCRC(false)), testpack.Zstd(f, bytes.Repeat(a, 9), zstd.WithEncoderLevel(zstd.SpeedBestCompression)),
	} {
		f.Add(data)
		f.Add(data[:len(data)*2/3])
		f.Add(slices.Concat(data, []byte("garbage")))
		f.Add(slices.Concat(data, []byte("g")))
		f.Add(slices.Concat(data[:len(data)/2], data[len(data)/2+9:]))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if is := unpack.Detect(data); is.Packing != unpack.Gzip && is.Packing != unpack.Zstd || len(data) > 1<<16 {
			return
		}
		text, fault := unpackStrictly(data)
		if is := unpack.Detect(text); is != (unpack.Type{}) || len(text) > longestFuzzed {
			return
		}
		plain, plainErr := readLogAhead(t, testpack.WriteFile(t, dir, "x", text), LogOptions{Format: weblog.URLs}, 0)
		got := readDamaged(t, testpack.WriteFile(t, dir, "y", data), LogOptions{Format: weblog.URLs, Ahead: len(data) % 4}, 1)
		rows := slices.DeleteFunc(slices.Clone(got.rows), func(row string) bool { return row == "" })
		if fault == nil && plainErr == nil {
			if !slices.Equal(rows, plain) || got.err != nil {
				t.Fatalf("%d rows and %v, want %d", len(rows), got.err, len(plain))
			}
			return
		}
		if got.err == nil {
			t.Fatalf("%d rows and no error, and the strict reader has %d, %v and %v", len(rows), len(plain), fault, plainErr)
		}
		if got.err.Unverified > 0 {
			rows = slices.DeleteFunc(got.rows[:got.err.Unverified-1], func(row string) bool { return row == "" })
		}
		if n := min(len(rows), len(plain)); !slices.Equal(rows[:n], plain[:n]) {
			t.Fatalf("rows %q, want %q, %v", rows, plain, got.err)
		}
	})
}

// FuzzJoined reads any bytes as ASCII lines that are followed by a packed file, as TestJoined does: all rows before it
// must be yielded, and then an error.
func FuzzJoined(f *testing.F) {
	f.Add([]byte("https://a.example/1\n/2?q\n\n"), []byte("https://a.example/3\n"), true)
	f.Add([]byte("https://a.example/1"), []byte{}, false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, more []byte, gz bool) {
		if len(text) == 0 || bytes.ContainsFunc(text, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) {
			return
		}
		packed := testpack.Zstd(t, more, zstd.WithZeroFrames(true))
		if gz {
			packed = testpack.Gzip(t, more)
		}
		opt := LogOptions{Format: weblog.URLs}
		want, err := readLogAhead(t, testpack.WriteFile(t, dir, "x", text), opt, 0)
		if err != nil {
			return
		}
		got, err := readLogAhead(t, testpack.WriteFile(t, dir, "y", slices.Concat(text, packed)), opt, 0)
		if !slices.Equal(got, want) || !errors.Is(err, ErrJoined) {
			t.Errorf("rows %q and %v, want %q", got, err, want)
		}
	})
}
