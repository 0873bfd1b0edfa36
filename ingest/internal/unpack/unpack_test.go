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

// TestFrameScanner checks that a scanner finds exactly the frames that were packed.
func TestFrameScanner(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, 400_000) // becomes raw blocks
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	frames := [][]byte{
		testpack.Zstd(t, testpack.HardText(20_000)), testpack.Skippable(0), testpack.Zstd(t, noise), testpack.Skippable(77), testpack.Zstd(t, make([]byte, 1<<20)), // becomes blocks of one byte
		testpack.Zstd(t, nil, zstd.WithZeroFrames(true)), testpack.Zstd(t, []byte("x"), zstd.WithEncoderCRC(false)),
	}
	data := slices.Concat(frames...)
	s := frameScanner{bytes.NewReader(data), int64(len(data)), 1}
	at := int64(0)
	for i, f := range frames {
		end, ok := s.frameEnd(at)
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
	if end, ok := s.frameEnd(3); ok {
		t.Errorf("something that is no frame ends at %d", end)
	}
}

// TestAheadBuffers checks that an unpacker stops while its piece is not read and its buffers are full, and that no text
// is lost.
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

// TestDetect detects files by their first bytes.
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

// TestDetectFile detects packed files with .warc in their names.
func TestDetectFile(t *testing.T) {
	for _, test := range []struct {
		name string
		data []byte
		want Type
	}{
		{"a.warc.gz", testpack.Gzip(t, []byte("WARC/1.0\r\n")), Type{Gzip, WARC}},
		{"a.warc.gz", testpack.Gzip(t, []byte("https://a.com/\n")), Type{Gzip, Text}},
		{"a.warc.zst", testpack.Zstd(t, []byte("WARC/1.1\r\n")), Type{Zstd, WARC}},
		{"a.gz", testpack.Gzip(t, []byte("WARC/1.0\r\n")), Type{Gzip, Text}},
		{"a.warc.gz", []byte("\x1f\x8b\x08 and damage"), Type{Gzip, WARC}},
	} {
		if got := DetectFile(test.name, bytes.NewReader(test.data), int64(len(test.data))); got != test.want {
			t.Errorf("%s with %q is %v, want %v", test.name, test.data, got, test.want)
		}
	}
}

// TestCapturePacking checks that the name decides only if the first bytes match no format.
func TestCapturePacking(t *testing.T) {
	for _, test := range []struct {
		head, name string
		want       Packing
	}{
		{"WARC/1.0\r\n", "x.warc.gz", None},
		{`{"url": 1`, "x.jsonl.gz", None},
		{ByteOrderMark + ` {"url`, "x.jsonl.gz", None},
		{ByteOrderMark + "WARC/1.", "x.warc.zst", None},
		{"damaged", "x.warc.gz", Gzip},
		{"damaged", "x.jsonl.zst", Zstd},
		{"damaged", "x.jsonl", None},
	} {
		if got, err := capturePacking([]byte(test.head), test.name); got != test.want || err != nil {
			t.Errorf("%s with %q is %v (%v), want %v", test.name, test.head, got, err, test.want)
		}
	}
}

// TestResume checks that, after a fault, only a segment that begins with the record prefix and has the right checksum
// counts, and that reading stops when the budget is used up.
func TestResume(t *testing.T) {
	bad := testpack.Gzip(t, testpack.HardText(20_000))
	bad[len(bad)-6] ^= 1 // part of its checksum
	wrong := testpack.Gzip(t, []byte("record 1"))
	wrong[len(wrong)-6] ^= 1
	good := testpack.Gzip(t, []byte("record 2"))
	bare := testpack.Zstd(t, []byte("record 1"), zstd.WithEncoderCRC(false))
	badZstd := testpack.Zstd(t, testpack.HardText(20_000))
	badZstd[len(badZstd)-1] ^= 1
	for _, c := range []struct {
		name   string
		data   []byte
		budget int64
		want   bool
	}{
		{"x.gz", slices.Concat(bad, wrong, testpack.Gzip(t, []byte("other")), good), 1 << 20, true},
		{"x.gz", slices.Concat(bad, good), 10, false},
		{"x.gz", slices.Concat(bad, wrong), 1 << 20, false},
		{"x.gz", slices.Concat(testpack.Gzip(t, []byte("other")), bad, good), 1 << 20, false}, // the fault is in a later segment
		{"x.zst", slices.Concat(badZstd, bare, testpack.Zstd(t, []byte("record 2"))), 1 << 20, true},
		{"x.zst", slices.Concat(badZstd, bare), 1 << 20, false},
	} {
		s := NewSegments("record")
		defer s.Release()
		if err := s.Reset(c.name, bytes.NewReader(c.data), int64(len(c.data))); err != nil {
			t.Fatal(err)
		}
		s.budget = c.budget
		s.Text.Peek(1)
		if got := s.Resume(0); got != c.want || s.Unchecked() {
			t.Errorf("%s with %d bytes to read: %t, want %t; unchecked: %t", c.name, c.budget, got, c.want, s.Unchecked())
		}
		if text, err := io.ReadAll(s.Text); c.want && (string(text) != "record 2" || err != nil) {
			t.Errorf("behind the fault is %q (%v)", text, err)
		}
	}
}

// TestJoinedFirst checks that the first packed part of a text is found, for any packing.
func TestJoinedFirst(t *testing.T) {
	text := []byte("a\n\x28\xb5\x2f\xfd\x00\x00\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\n")
	if at, p := FindJoined(text, 0, len(text)); at != 2 || p != Zstd {
		t.Errorf("%s begins at %d", p, at)
	}
}
