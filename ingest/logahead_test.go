package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

// packFrames packs text as n frames of random length, with empty and skippable ones between, and returns where each
// starts.
func packFrames(tb testing.TB, text []byte, n int, r *rand.Rand) (data []byte, starts []int) {
	tb.Helper()
	cuts := []int{0, len(text)}
	for range n - 1 {
		cuts = append(cuts, r.IntN(len(text)))
	}
	slices.Sort(cuts)
	for i := range n {
		starts = append(starts, len(data))
		data = append(data, testpack.Zstd(tb, text[cuts[i]:cuts[i+1]], zstd.WithEncoderCRC(r.IntN(3) > 0),
			zstd.WithSingleSegment(r.IntN(2) == 0), zstd.WithZeroFrames(true))...)
		switch r.IntN(4) {
		case 0:
			data = append(data, testpack.Skippable(byte(r.IntN(200)))...)
		case 1:
			data = append(data, testpack.Zstd(tb, nil, zstd.WithZeroFrames(true))...)
		}
	}
	return data, starts
}

// TestAheadFrames reads a text packed in any number of frames, several at once. The rows and line numbers must be those
// of the text.
func TestAheadFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	text := bytes.ReplaceAll(testpack.HardText(30_000), []byte("/123"), []byte("\n\r\n/"+strings.Repeat("x", 90)))
	want, empty, long := splitRows(text)
	dir := t.TempDir()
	for _, frames := range []int{1, 2, 3, 40, 400} {
		data, _ := packFrames(t, text, frames, r)
		path := testpack.WriteFile(t, dir, "log", data)
		for _, ahead := range []int{0, 1, 2, 8, 100} {
			for _, least := range []int64{1, 20_000} {
				l, err := OpenLogs([]string{path}, LogOptions{Ahead: ahead, BatchRows: 1 + r.IntN(3000)})
				if err != nil {
					t.Fatal(err)
				}
				if a, ok := l.text.texts.(*unpack.Ahead); ok {
					a.Least = least
				}
				var got []row
				for b := (engine.Batch{}); l.Next(&b); {
					got = append(got, rowsOf(&b)...)
				}
				if !slices.Equal(got, want) || l.Err() != nil || l.Counts().Empty != empty || l.Counts().Long != long {
					t.Errorf("%d frames, %d ahead: %d rows, %v, want %d; first difference at %d", frames, ahead, len(got), l.Err(), len(want), firstDifference(got, want))
				}
				if done, total := l.Progress(); done != total {
					t.Errorf("%d frames, %d ahead: %d of %d bytes read", frames, ahead, done, total)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestAheadDamage damages files of several frames at random positions. The rows and the fault must not depend on how
// many pieces are unpacked at once, which readOne checks.
func TestAheadDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	text := testpack.HardText(8_000)
	dir := t.TempDir()
	faults := map[error]int{}
	rounds := 150
	if testing.Short() {
		rounds = 75
	}
	for round := range rounds {
		data, starts := packFrames(t, text, 2+r.IntN(12), r)
		at := r.IntN(len(data))
		if r.IntN(2) == 0 { // headers are rare, so most other positions are in blocks
			at = min(len(data)-1, starts[r.IntN(len(starts))]+r.IntN(20))
		}
		switch round % 5 {
		case 0:
			data[at] ^= byte(1 + r.IntN(255))
		case 1:
			data = data[:at]
		case 2:
			data = slices.Insert(data, at, []byte("garbage")...)
		case 3:
			data = slices.Delete(data, at, min(len(data), at+1+r.IntN(300)))
		case 4:
			data = slices.Insert(data, starts[r.IntN(len(starts))], testpack.Gzip(t, []byte("http://a/\n"))...)
		}
		_, err := readOne(t, testpack.WriteFile(t, dir, "log", data))
		for _, kind := range []error{ErrTruncated, ErrDamaged, unpack.ErrChecksum, unpack.ErrTrailing, unpack.ErrWindow} {
			if errors.Is(err, kind) {
				faults[kind]++
			}
		}
	}
	for _, kind := range []error{ErrTruncated, ErrDamaged, unpack.ErrChecksum, unpack.ErrTrailing} {
		if faults[kind] < 3 {
			t.Errorf("only %d files with the fault: %v", faults[kind], kind)
		}
	}
}

// TestAheadDictionary checks that a frame that needs a dictionary is rejected, wherever it is.
func TestAheadDictionary(t *testing.T) {
	needs := []byte("\x28\xb5\x2f\xfd\x21\x07\x01\x09\x00\x00x") // dictionary 7, one byte, a raw block of one byte
	path := testpack.WriteFile(t, t.TempDir(), "log", slices.Concat(testpack.Zstd(t, []byte("http://a/\nhttp://b")), needs))
	got, err := readOne(t, path)
	if !slices.Equal(got, []string{"http://a/"}) || !errors.Is(err, zstd.ErrUnknownDictionary) {
		t.Errorf("got %q and %v", got, err)
	}
}

// TestAheadLarge reads a text whose pieces fill all their buffers before it is their turn.
func TestAheadLarge(t *testing.T) {
	part := bytes.Repeat([]byte("http://example.com/a/b/c/d/e/f/g\n"), 36*unpack.TextSize/33)
	frame := testpack.Zstd(t, part)
	path := testpack.WriteFile(t, t.TempDir(), "log", slices.Concat(frame, frame, frame))
	l, err := OpenLogs([]string{path, path}, LogOptions{Ahead: 3})
	if err != nil {
		t.Fatal(err)
	}
	l.text.texts.(*unpack.Ahead).Least = 1
	rows := 0
	for b := (engine.Batch{}); l.Next(&b); rows += b.Len() {
		if first := string(b.URL(0)); first != "http://example.com/a/b/c/d/e/f/g" {
			t.Fatalf("row %d is %q", rows, first)
		}
	}
	if want := 6 * len(part) / 33; rows != want || l.Err() != nil {
		t.Errorf("%d rows and %v, want %d", rows, l.Err(), want)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestAheadInputs reads inputs of all kinds, in order, and stops at a missing one.
func TestAheadInputs(t *testing.T) {
	dir := t.TempDir()
	z := testpack.WriteFile(t, dir, "z", slices.Concat(testpack.Zstd(t, []byte("http://z/1\nhttp://")), testpack.Zstd(t, []byte("z/2\n"))))
	gz := testpack.WriteFile(t, dir, "gz", testpack.Gzip(t, []byte("http://gz/\n")))
	plain := testpack.WriteFile(t, dir, "plain", []byte("http://plain/\n"))
	none := testpack.WriteFile(t, dir, "none", nil)
	stdin := testpack.Gzip(t, []byte("http://stdin/\n"))
	l, err := OpenLogs([]string{z, none, gz, "-", plain, z}, LogOptions{Ahead: 2, Stdin: bytes.NewReader(stdin)})
	if err != nil {
		t.Fatal(err)
	}
	l.text.texts.(*unpack.Ahead).Least = 1
	got, err := readLogs(t, l)
	want := [][]string{{"http://z/1", "http://z/2"}, nil, {"http://gz/"}, {"http://stdin/"}, {"http://plain/"}, {"http://z/1", "http://z/2"}}
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
	if in := l.Inputs()[3]; in.Size != int64(len(stdin)) {
		t.Errorf("standard input had %d bytes, want %d", in.Size, len(stdin))
	}
	if done, total := l.Progress(); done != total {
		t.Errorf("progress = %d of %d at the end", done, total)
	}
}

// TestAheadClosed closes logs at random times. This stops unpacking ahead, and does not wait for standard input, which
// may block.
func TestAheadClosed(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	data, _ := packFrames(t, testpack.HardText(40_000), 30, r)
	path := testpack.WriteFile(t, t.TempDir(), "log", data)
	silent, writer := io.Pipe()
	defer writer.Close()
	for batches := range 8 {
		l, err := OpenLogs([]string{path, "-", path}, LogOptions{Ahead: 4, BatchRows: 1000, Stdin: silent})
		if err != nil {
			t.Fatal(err)
		}
		l.text.texts.(*unpack.Ahead).Least = 1
		var b engine.Batch
		for range batches {
			if !l.Next(&b) {
				t.Fatal(l.Err())
			}
		}
		for range 2 {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
		if l.Next(&b) || l.Err() != nil {
			t.Errorf("Next after Close reported rows, or %v", l.Err())
		}
	}
}

// BenchmarkAhead reads a text of one frame and of many frames, with several goroutines.
func BenchmarkAhead(b *testing.B) {
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(loadLog(b, "urls_real_hostgrouped.urls.zst", ""), nil)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, frames := range []int{1, 16} {
		data, _ := packFrames(b, text, frames, r)
		path := testpack.WriteFile(b, b.TempDir(), "log", data)
		for _, ahead := range []int{0, 1, 2, 4} {
			b.Run(fmt.Sprintf("frames=%d/ahead=%d", frames, ahead), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					l, err := OpenLogs([]string{path}, LogOptions{Ahead: ahead})
					if err != nil {
						b.Fatal(err)
					}
					for batch := (engine.Batch{}); l.Next(&batch); {
						_ = batch
					}
					if err := errors.Join(l.Err(), l.Close()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
