package unpack

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
)

// TestFrameScanner holds that a scanner finds exactly the frames that were packed, and no more than
// there are.
func TestFrameScanner(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, 400_000) // raw blocks
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	frames := [][]byte{
		testpack.Zstd(t, testpack.HardText(20_000)), testpack.Skippable(0), testpack.Zstd(t, noise), testpack.Skippable(77), testpack.Zstd(t, make([]byte, 1<<20)), // of one byte
		testpack.Zstd(t, nil, zstd.WithZeroFrames(true)), testpack.Zstd(t, []byte("x"), zstd.WithEncoderCRC(false)),
	}
	data := slices.Concat(frames...)
	s := frameScanner{bytes.NewReader(data), int64(len(data)), 1}
	at := int64(0)
	for i, f := range frames {
		end, ok := s.frame(at)
		if want := at + int64(len(f)); !ok || end != want {
			t.Fatalf("frame %d at %d ends at %d (%t), want %d", i, at, end, ok, want)
		}
		if cut := (frameScanner{bytes.NewReader(data[:end-1]), end - 1, 1}); cut.piece(at) != wholeFile {
			t.Errorf("frame %d without its last byte ends at %d", i, cut.piece(at))
		}
		at = end
	}
	s.least = int64(len(frames[0]) + 1)
	if end, want := s.piece(0), int64(len(frames[0])+len(frames[1])); end != want {
		t.Errorf("a piece of %d bytes at least ends at %d, want %d", s.least, end, want)
	}
	if end, ok := s.frame(3); ok {
		t.Errorf("something that is no frame ends at %d", end)
	}
}

// TestAheadBuffers holds that an unpacker whose piece is not read yet stops when its buffers are
// full, and that the text is whole all the same.
func TestAheadBuffers(t *testing.T) {
	part := bytes.Repeat([]byte("http://example.com/a/b/c/d/e/f/g\n"), (maxTexts+20)*TextSize/33)
	frame := testpack.Zstd(t, part)
	path := testpack.WriteFile(t, t.TempDir(), "log", slices.Concat(frame, frame, frame))
	a := newAhead([]string{path}, 3, new(atomic.Int64))
	a.Least = 1
	if err := a.Open(path, nil); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(a)
	if err != nil || !bytes.Equal(text, slices.Concat(part, part, part)) {
		t.Errorf("%d bytes, %v, want the text three times: %d", len(text), err, 3*len(part))
	}
	for _, u := range a.all {
		if u.made > maxTexts {
			t.Errorf("an unpacker has %d buffers, %d are the most", u.made, maxTexts)
		}
	}
	if err := a.Release(); err != nil {
		t.Error(err)
	}
}

// TestDetect tells files by their first bytes.
func TestDetect(t *testing.T) {
	for head, want := range map[string]Type{
		"":                  {},
		"http://a/\n":       {},
		"\x28\xb5\x2f\xfdx": {Packing: Zstd},
		"\x5a\x2a\x4d\x18x": {Packing: Zstd},
		"\x1f\x8b":          {Packing: Gzip},
		"\xfd7zXZ\x00\x00":  {Packing: XZ},
		"BZh91AY&SY":        {Packing: Bzip2},
		"PK\x03\x04":        {Packing: Zip},
		"PAR1":              {Content: Parquet},
		"\r\nWARC/1.0":      {Content: WARC},
		"\x28\xb5\x2f":      {},
	} {
		if got := Detect([]byte(head)); got != want {
			t.Errorf("%q is %v, want %v", head, got, want)
		}
	}
	for base, want := range map[string]Content{"a.warc.gz": WARC, "a.warc.txt": Text, "a.jsonl.zst": JSONL, "a.warc.jsonl": WARC, "a": Text} {
		if got := Named(base); got != want {
			t.Errorf("%s is named %v, want %v", base, got, want)
		}
	}
}
