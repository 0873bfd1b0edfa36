package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A partedLog is a log in frames or members, one of which is faulty.
type partedLog struct {
	data []byte
	sure int64 // lines that end in verified frames or members
}

// makeParted returns a log of the text in about this number of frames or members. Number bad is damaged in a random
// way. Number bare has no checksum, if it is a zstd frame.
func makeParted(t *testing.T, text []byte, gz bool, parts, bad, bare int, r *rand.Rand) partedLog {
	t.Helper()
	var log partedLog
	size := len(text)/parts + 1
	i, sure := 0, true
	for part := range slices.Chunk(text, size) {
		var packed []byte
		if gz {
			packed = testpack.Gzip(t, part)
		} else {
			packed = testpack.Zstd(t, part, zstd.WithEncoderCRC(i != bare))
			sure = sure && i != bare
		}
		if i == bad {
			switch r.IntN(4) {
			case 0:
				packed = packed[:10+r.IntN(len(packed)-10)]
			case 1: // the checksum
				packed[len(packed)-1-4*btoi(gz)] ^= 1
			default:
				packed[10+r.IntN(len(packed)-10)] ^= 1 << r.IntN(8)
			}
			sure = false
		}
		if sure {
			log.sure += int64(bytes.Count(part, []byte("\n")))
		}
		log.data = append(log.data, packed...)
		i++
	}
	return log
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestUnverified damages one frame or member of many. All lines before the first unverified one must be unaltered, and
// that line must be the first of the faulty frame, or of the first one without a checksum.
func TestUnverified(t *testing.T) {
	text := testpack.HardText(3000)
	lines := bytes.SplitAfter(text, []byte("\n"))
	r := rand.New(rand.NewPCG(3, 4))
	faults := 0
	for round := range 100 {
		gz, parts := round%2 == 0, 1+r.IntN(12)
		bad, bare := r.IntN(parts), -1
		if r.IntN(3) == 0 {
			bare = r.IntN(parts)
		}
		log := makeParted(t, text, gz, parts, bad, bare, r)
		path := testpack.WriteFile(t, t.TempDir(), "x", log.data)
		for _, ahead := range []int{0, 3} {
			le := readDamaged(t, path, LogOptions{Ahead: ahead, BatchRows: 1 + r.IntN(500), Format: weblog.URLs}, int64(1+r.IntN(5000)))
			if le.err == nil {
				continue // the bit was not significant, as in some header fields
			}
			faults++
			want := log.sure + 1
			if int64(len(le.rows)) < want {
				want = 0
			}
			if le.err.Unverified != want {
				t.Fatalf("round %d, %d ahead: unverified from line %d, want %d of %d: %v", round, ahead, le.err.Unverified, want, len(le.rows), le.err)
			}
			for i := range min(int64(len(le.rows)), log.sure) {
				if le.rows[i]+"\n" != string(lines[i]) {
					t.Fatalf("round %d: line %d is %q, want %q", round, i+1, le.rows[i], lines[i])
				}
			}
		}
	}
	if faults < 140 {
		t.Errorf("only %d faults", faults)
	}
}

// TestVerifiedWARC truncates WARC files. With a single member, no record is verified; with one member per record, all
// complete ones are.
func TestVerifiedWARC(t *testing.T) {
	var raw, own []byte
	for i := range 20 {
		record := message("response", fmt.Sprintf("https://a.example/%d", i), "HTTP/1.1 200 OK\r\n\r\n")
		raw = append(raw, record...)
		own = append(own, testpack.Gzip(t, []byte(record))...)
	}
	half := testpack.Gzip(t, raw[:len(raw)/2])
	two := append(bytes.Clone(half), testpack.Gzip(t, raw[len(raw)/2:])...)
	one := testpack.Gzip(t, raw)
	for name, c := range map[string]struct {
		data       []byte
		rows       int
		unverified int64 // the first unverified record
	}{
		"one.warc.gz": {one[:len(one)-9], 19, 1},
		"own.warc.gz": {own[:len(own)-9], 19, 0},
		"two.warc.gz": {two[:len(two)-9], 19, 12},
		"cut.warc":    {raw[:len(raw)-20], 19, 0},
	} {
		path := testpack.WriteFile(t, t.TempDir(), name, c.data)
		l, err := OpenLogs([]string{path}, LogOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for b := (engine.Batch{}); l.Next(&b); {
			n += b.Len()
		}
		var le *LineError
		if err := l.Err(); !errors.As(err, &le) {
			t.Fatalf("%s: %v", name, err)
		}
		if n != c.rows || le.Unverified != c.unverified {
			t.Errorf("%s: %d rows, unverified from %d, want %d and %d: %v", name, n, le.Unverified, c.rows, c.unverified, le)
		}
		l.Close()
	}
}

// A damagedRun has the rows and the error of a damaged log.
type damagedRun struct {
	rows []string
	err  *LineError // nil if there was no error
}

// readDamaged reads a list of URLs, ahead in pieces of at least this number of bytes.
func readDamaged(t *testing.T, path string, opt LogOptions, least int64) (got damagedRun) {
	t.Helper()
	l, err := OpenLogs([]string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, ok := l.text.texts.(*unpack.Ahead); ok {
		a.Least = least
	}
	for b := (engine.Batch{}); l.Next(&b); {
		for i := range b.URLs {
			for int64(len(got.rows)) < b.Lines[i]-1 { // the damage has made lines empty
				got.rows = append(got.rows, "")
			}
			got.rows = append(got.rows, string(b.URL(i)))
		}
	}
	if err := l.Err(); err != nil && !errors.As(err, &got.err) {
		t.Fatal(err)
	}
	return got
}

// TestShorter truncates logs while they are read, which must be an error for any packing. A log that grows is not an
// error, but is reported.
func TestShorter(t *testing.T) {
	text := testpack.HardText(40000)
	var frames []byte
	for part := range slices.Chunk(text, len(text)/20) {
		frames = append(frames, testpack.Zstd(t, part)...)
	}
	for name, data := range map[string][]byte{"x": text, "x.gz": testpack.Gzip(t, text), "x.zst": testpack.Zstd(t, text), "y.zst": frames} {
		for _, ahead := range []int{0, 2} {
			for _, to := range []int64{int64(len(data)) - 1, int64(len(data)) / 2, int64(len(data)) + 6} {
				path := testpack.WriteFile(t, t.TempDir(), name, data)
				l, err := OpenLogs([]string{path}, LogOptions{Ahead: ahead, BatchRows: 10})
				if err != nil {
					t.Fatal(err)
				}
				for n, b := 0, (engine.Batch{}); l.Next(&b); n++ {
					if n == 0 {
						resize(t, path, to)
					}
				}
				grows := to > int64(len(data))
				if err := l.Err(); !grows && err != nil && !errors.Is(err, ErrShorter) && !errors.Is(err, ErrTruncated) || !grows && name == "x" && err == nil {
					t.Errorf("%s cut to %d, %d ahead: %v", name, to, ahead, err)
				}
				if got := len(l.Grown()) == 1; name == "x" && got != grows {
					t.Errorf("%s of %d, %d ahead: grown %v, %v", name, to, ahead, got, l.Err())
				}
				l.Close()
			}
		}
	}
}

// resize sets the size of a file; it appends complete lines.
func resize(t *testing.T, path string, to int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if to <= info.Size() {
		if err := os.Truncate(path, to); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, "more\n")
}

// TestLogMutants flips bits in packed logs and truncates them at random positions. Each run must have the rows of the
// whole log, or end in an error and have the right rows before the first unverified one.
func TestLogMutants(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 150
	}
	text := testpack.HardText(1500)
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	r := rand.New(rand.NewPCG(7, 8))
	dir := t.TempDir()
	faults, wrong := 0, 0
	for round := range rounds {
		data := makeParted(t, text, round%2 == 0, 1+r.IntN(6), -1, -1, r).data
		for range 1 + r.IntN(2) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		if cut := r.IntN(4) == 0; cut {
			data = data[:1+r.IntN(len(data)-1)]
		}
		path := testpack.WriteFile(t, dir, "x", data)
		got := readDamaged(t, path, LogOptions{Ahead: 3 * (round % 3 / 2), Format: weblog.URLs}, int64(1+r.IntN(3000)))
		sure := len(got.rows)
		if got.err != nil {
			faults++
			if got.err.Unverified > 0 {
				sure = int(got.err.Unverified) - 1
			}
		}
		right := 0
		for right < len(got.rows) && right < len(want) && got.rows[right] == want[right] {
			right++
		}
		wrong += len(got.rows) - right
		if right < sure {
			t.Fatalf("round %d: row %d is wrong, and %d are verified: %v", round, right+1, sure, got.err)
		}
		if got.err == nil && len(got.rows) < len(want) && !atEndOfPart(text, got.rows) {
			t.Fatalf("round %d: %d rows of %d, and no error", round, len(got.rows), len(want))
		}
	}
	t.Logf("%d of %d mutants are faults; %d rows before them are wrong, or behind one that is, all told of as unverified", faults, rounds, wrong)
	if faults < rounds/2 {
		t.Errorf("only %d faults", faults)
	}
}

// atEndOfPart reports whether rows are the first rows of a text that was truncated between two frames or members: then
// the last row may be part of a line.
func atEndOfPart(text []byte, rows []string) bool {
	return bytes.HasPrefix(text, []byte(strings.Join(rows, "\n")))
}
