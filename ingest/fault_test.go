package ingest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// TestLogsFaults checks that the rows decoded before a fault are yielded, and the error message. LOG in a message
// stands for the file name.
func TestLogsFaults(t *testing.T) {
	text := testpack.HardText(20_000)
	want := urls(text, 20_000)
	a, b := text[:len(text)/2], text[len(text)/2:]
	z, gz := testpack.Zstd(t, text), testpack.Gzip(t, text)
	rows := func(text []byte) int { return bytes.Count(text, []byte("\n")) }
	flip := func(data []byte, at int) []byte {
		data = bytes.Clone(data)
		data[at] ^= 0x55
		return data
	}
	cases := map[string]struct {
		data     []byte
		min, max int // rows
		err      error
		message  string
	}{
		"zstd cut": {z[:len(z)/2], 8_000, 10_000, ErrTruncated, ""},
		"zstd cut in the checksum": {
			z[:len(z)-2], 20_000, 20_000, ErrTruncated,
			"LOG: line 20001 (byte 1266152 of the text): zstd: the compressed data ends too early: the file is truncated; copy or download the file again",
		},
		"zstd cut in the last block": {z[:len(z)-6], 17_000, 19_999, ErrTruncated, ""},
		"zstd cut in the header":     {z[:5], 0, 0, ErrTruncated, ""},
		"zstd second frame cut": {
			slices.Concat(testpack.Zstd(t, a), testpack.Zstd(t, b)[:9]), rows(a), rows(a), ErrTruncated,
			"LOG: line 10088 (byte 633076 of the text): zstd: the compressed data ends too early: the file is truncated; copy or download the file again",
		},
		"zstd skippable cut": {slices.Concat(z, testpack.Skippable(100)[:50]), 20_000, 20_000, ErrTruncated, ""},
		"zstd wrong checksum": {
			flip(z, len(z)-1), 20_000, 20_000, unpack.ErrChecksum,
			"LOG: line 20001 (byte 1266152 of the text): zstd: the checksum is wrong, so any line since the frame began may be damaged: copy or download the file again",
		},
		"zstd and garbage": {
			slices.Concat(z, []byte("garbage")), 20_000, 20_000, unpack.ErrTrailing,
			"LOG: line 20001 (byte 1266152 of the text): zstd: the compressed data is followed by other bytes: cut them off, or copy or download the file again",
		},
		"zstd and a byte":    {slices.Concat(z, []byte("\n")), 20_000, 20_000, unpack.ErrTrailing, ""},
		"zstd and two bytes": {slices.Concat(z, []byte("PK")), 20_000, 20_000, unpack.ErrTrailing, ""},
		"zstd and three bytes": {
			slices.Concat(z, []byte("Zyx")), 20_000, 20_000, unpack.ErrTrailing,
			"LOG: line 20001 (byte 1266152 of the text): zstd: the compressed data is followed by other bytes: cut them off, or copy or download the file again",
		},
		"zstd and half a skippable magic": {slices.Concat(z, testpack.Skippable(9)[:3]), 20_000, 20_000, ErrTruncated, ""},
		"zstd huge window": {
			[]byte("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"), 0, 0, unpack.ErrWindow,
			"LOG: line 1 (byte 0 of the text): zstd: the frame needs a window of more than 128 MiB, or is damaged: recompress it, for example: zstd -dc --long=31 file | zstd > new.zst",
		},
		"zstd huge segment": {[]byte("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x80\x01\x00\x00"), 0, 0, unpack.ErrWindow, ""},
		"gzip cut":          {gz[:len(gz)/2], 9_000, 11_000, ErrTruncated, ""},
		"gzip cut at once":  {gz[:3], 0, 0, ErrTruncated, ""},
		"gzip cut in the checksum": {
			gz[:len(gz)-5], 20_000, 20_000, ErrTruncated,
			"LOG: line 20001 (byte 1266152 of the text): gzip: the compressed data ends too early: the file is truncated; copy or download the file again",
		},
		"gzip wrong checksum": {flip(gz, len(gz)-6), 20_000, 20_000, unpack.ErrChecksum, ""},
		"gzip and garbage":    {slices.Concat(gz, []byte("garbage garbage")), 20_000, 20_000, unpack.ErrTrailing, ""},
		"gzip and a byte": {
			slices.Concat(gz, []byte("\n")), 20_000, 20_000, unpack.ErrTrailing,
			"LOG: line 20001 (byte 1266152 of the text): gzip: the compressed data is followed by other bytes: cut them off, or copy or download the file again",
		},
		"gzip and zeros and more": {slices.Concat(gz, make([]byte, 9), gz), 20_000, 20_000, unpack.ErrTrailing, ""},
		"gzip and half a header":  {slices.Concat(gz, gz[:9]), 20_000, 20_000, ErrTruncated, ""},
		"gzip and the first byte": {slices.Concat(gz, gz[:1]), 20_000, 20_000, ErrTruncated, ""},
		"gzip and a bad member":   {slices.Concat(gz, flip(gz, 2)), 20_000, 20_000, unpack.ErrTrailing, ""},
		"zstd and half a magic":   {slices.Concat(z, z[:2]), 20_000, 20_000, ErrTruncated, ""},
		"gzip bad method": {
			flip(gz, 2), 0, 0, ErrDamaged,
			"LOG: line 1 (byte 0 of the text): gzip: the compressed data is damaged (gzip: invalid header): copy or download the file again",
		},
		"xz": {
			[]byte("\xfd7zXZ\x00\x00"), 0, 0, ErrFormat,
			"LOG: line 1 (byte 0 of the text): xz is an unsupported format",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := testpack.WriteFile(t, t.TempDir(), "log", c.data)
			got, err := readOne(t, path)
			if len(got) < c.min || len(got) > c.max || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("got %d rows, want the first %d to %d of the text", len(got), c.min, c.max)
			}
			le, ok := errors.AsType[*LineError](err)
			if !ok || !errors.Is(err, c.err) || le.Name != path || le.Line != int64(len(got)+1) {
				t.Fatalf("err = %v, want a LineError of line %d for %v", err, len(got)+1, c.err)
			}
			if message := strings.ReplaceAll(err.Error(), path, "LOG"); c.message != "" && message != c.message {
				t.Errorf("message\n%s\nwant\n%s", message, c.message)
			}
		})
	}
}

// TestLogsPadding reads a gzip file that is padded with zeros, as on tapes.
func TestLogsPadding(t *testing.T) {
	text := testpack.HardText(2000)
	for _, zeros := range []int{1, 9, 100_000} {
		got, err := readOne(t, testpack.WriteFile(t, t.TempDir(), "log", slices.Concat(testpack.Gzip(t, text[:len(text)/2]), testpack.Gzip(t, text[len(text)/2:]), make([]byte, zeros))))
		if err != nil || !slices.Equal(got, urls(text, 2000)) {
			t.Errorf("%d zeros: %d rows, %v", zeros, len(got), err)
		}
	}
}

// TestLogsDamagedBlock checks that a damaged block yields nothing but the text before it.
func TestLogsDamagedBlock(t *testing.T) {
	text := testpack.HardText(20_000)
	want := urls(text, 20_000)
	packed := map[string][]byte{
		"zstd":             testpack.Zstd(t, text, zstd.WithEncoderCRC(false)),
		"zstd better":      testpack.Zstd(t, text, zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedBestCompression)),
		"zstd with prefix": slices.Concat(testpack.Zstd(t, []byte("\n")), testpack.Zstd(t, text)),
		"gzip":             testpack.Gzip(t, text),
	}
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for name, data := range packed {
		faults := 0
		for range rounds {
			bad := bytes.Clone(data)
			at := len(bad)/4 + r.IntN(len(bad)*3/4)
			for i := at; i < min(at+16, len(bad)); i++ {
				bad[i] = byte(r.Uint32())
			}
			got, err := readOne(t, testpack.WriteFile(t, dir, "log", bad))
			if err == nil {
				continue // without a checksum, a frame cannot detect altered letters
			}
			faults++
			// Rows before the damage are right; no later row repeats an earlier one.
			sure := len(want) * at / len(data) * 4 / 5
			sure -= sure % 2000
			if sure > 4000 && (len(got) < sure-4000 || !slices.Equal(got[:sure-4000], want[:sure-4000])) {
				t.Errorf("%s damaged at %d of %d: got %d rows, the first %d not those of the text", name, at, len(data), len(got), sure-4000)
			}
			seen := make(map[string]bool)
			repeated := 0
			for _, u := range got {
				if seen[u] {
					repeated++
				}
				seen[u] = true
			}
			most := 20
			if name == "gzip" { // a damaged distance repeats up to 32 KiB, and the only checksum is at the end
				most = 32<<10/50 + 20
			}
			if repeated > most {
				t.Errorf("%s damaged at %d: %d rows occur twice", name, at, repeated)
			}
		}
		if faults == 0 {
			t.Errorf("%s: no damage was noticed", name)
		}
	}
}

// TestLogsStaleBlock checks that a block that refers to text before the window of its frame yields nothing. When
// klauspost's decoder decodes ahead, it yields the text of an earlier block instead.
func TestLogsStaleBlock(t *testing.T) {
	text := testpack.HardText(20_000)
	data := testpack.Zstd(t, slices.Concat(text, text), zstd.WithWindowSize(2<<20))
	if data[4]&0x20 != 0 {
		t.Fatal("a frame in one segment has no window to change")
	}
	data[5] = (20 - 10) << 3 // 1 MiB; the second half refers 1.2 MiB back, to the first
	got, err := readOne(t, testpack.WriteFile(t, t.TempDir(), "log", data))
	if want := urls(text, 20_000); len(got) < 14_000 || len(got) > 20_000 || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("got %d rows, want up to 20,000, the first of the text", len(got))
	}
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("err = %v, want %v", err, ErrDamaged)
	}
}

func TestLogsReadFault(t *testing.T) {
	disk := errors.New("input/output error")
	for name, data := range map[string][]byte{"plain": []byte("http://a/\nhttp://b"), "zstd": testpack.Zstd(t, []byte("http://a/\n"))} {
		l, err := OpenLogs([]string{"-"}, LogOptions{Stdin: io.MultiReader(bytes.NewReader(data), iotest.ErrReader(disk))})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readLogs(t, l)
		want := "standard input: line 2 (byte " + map[string]string{"plain": "18", "zstd": "10"}[name] +
			" of the text): read: input/output error: check the disk and copy or download the file again"
		if !slices.Equal(got[0], []string{"http://a/"}) || !errors.Is(err, disk) || err.Error() != want {
			t.Errorf("%s: got %q and %v, want %s", name, got[0], err, want)
		}
	}
}

func TestLogsStopAtFault(t *testing.T) {
	dir := t.TempDir()
	bad := testpack.WriteFile(t, dir, "bad.zst", slices.Concat(testpack.Zstd(t, []byte("http://a/\n")), []byte("rubbish")))
	good := testpack.WriteFile(t, dir, "good", []byte("http://b/\n"))
	l, err := OpenLogs([]string{good, bad, good}, LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readLogs(t, l)
	if want := [][]string{{"http://b/"}, {"http://a/"}, nil}; !errors.Is(err, unpack.ErrTrailing) || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q and %v, want %q and %v", got, err, want, unpack.ErrTrailing)
	}
}

// TestLogsFaultCounts checks the counts after a fault that prevents all lines from becoming rows.
func TestLogsFaultCounts(t *testing.T) {
	long := "https://a.com/" + strings.Repeat("x", MaxLine) + "\n\nhttps://a.com/y\n"
	for _, c := range []struct {
		opt    LogOptions
		err    error
		format string
		counts Counts
	}{
		{LogOptions{Format: weblog.Parquet}, ErrParquet, "parquet", Counts{}},
		{LogOptions{Fields: Fields{Named: map[string]string{"url": "Address"}}}, ErrNoField, "urls", Counts{Empty: 1, Long: 1}},
	} {
		l, err := OpenLogs([]string{testpack.WriteFile(t, t.TempDir(), "log", []byte(long))}, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readLogs(t, l); len(got[0]) > 0 || !errors.Is(err, c.err) {
			t.Errorf("%s: %d rows and %v, want %v", c.format, len(got[0]), err, c.err)
		}
		if got := l.Counts(); got.Empty != c.counts.Empty || got.Long != c.counts.Long || len(got.Refused) > 0 {
			t.Errorf("%s: counts %+v, want %+v", c.format, got, c.counts)
		}
		if got := l.Inputs()[0].Format.String(); got != c.format {
			t.Errorf("format %s, want %s", got, c.format)
		}
	}
}
