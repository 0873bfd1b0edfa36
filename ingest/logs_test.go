package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

// urls returns the first n lines of a text.
func urls(text []byte, n int) []string {
	return strings.SplitN(string(text), "\n", n+1)[:n]
}

// readLogs reads all rows and returns the URLs of each input.
func readLogs(t *testing.T, l *Logs) ([][]string, error) {
	t.Helper()
	got := make([][]string, len(l.Inputs()))
	var b engine.Batch
	for l.Next(&b) {
		if b.Len() == 0 {
			t.Fatal("Next reported true for an empty batch")
		}
		for i := range b.Len() {
			got[b.Input] = append(got[b.Input], string(b.URL(i)))
		}
	}
	if l.Next(&b) {
		t.Error("Next reported true after false")
	}
	err := l.Err()
	if cerr := l.Close(); cerr != nil {
		t.Errorf("Close: %v", cerr)
	}
	return got, err
}

// readOne reads a log. It reads it again ahead, in pieces of one frame or more, which must yield the same.
func readOne(t *testing.T, name string) ([]string, error) {
	t.Helper()
	rows, err := readLogAhead(t, name, LogOptions{}, 0)
	for _, ahead := range []int{1, 3} {
		got, gotErr := readLogAhead(t, name, LogOptions{Ahead: ahead, BatchRows: 1000}, 1)
		if !slices.Equal(got, rows) || fmt.Sprint(gotErr) != fmt.Sprint(err) {
			t.Errorf("read ahead by %d: %d rows and %v, in turn %d and %v", ahead, len(got), gotErr, len(rows), err)
		}
	}
	return rows, err
}

// readLogAhead reads a log ahead, in pieces of at least this number of packed bytes.
func readLogAhead(t *testing.T, name string, opt LogOptions, least int64) ([]string, error) {
	t.Helper()
	l, err := OpenLogs([]string{name}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := l.text.texts.(*unpack.Ahead); ok {
		a.Least = least
	}
	got, err := readLogs(t, l)
	return got[0], err
}

func TestLogsFormats(t *testing.T) {
	text := testpack.HardText(20_000)
	a, b := text[:len(text)/2], text[len(text)/2:] // split inside a line
	want := urls(text, 20_000)
	cases := map[string][]byte{
		"plain":                   text,
		"zstd":                    testpack.Zstd(t, text),
		"zstd without checksum":   testpack.Zstd(t, text, zstd.WithEncoderCRC(false)),
		"zstd one segment":        testpack.Zstd(t, text, zstd.WithSingleSegment(true)),
		"zstd two frames":         slices.Concat(testpack.Zstd(t, a), testpack.Zstd(t, b)),
		"zstd skippable first":    slices.Concat(testpack.Skippable(9), testpack.Skippable(0), testpack.Zstd(t, text)),
		"zstd skippable between":  slices.Concat(testpack.Zstd(t, a), testpack.Skippable(200), testpack.Zstd(t, b)),
		"zstd skippable last":     slices.Concat(testpack.Zstd(t, text), testpack.Skippable(3)),
		"zstd empty frame inside": slices.Concat(testpack.Zstd(t, a), testpack.Zstd(t, nil, zstd.WithZeroFrames(true)), testpack.Zstd(t, b)),
		"gzip":                    testpack.Gzip(t, text),
		"gzip two members":        slices.Concat(testpack.Gzip(t, a), testpack.Gzip(t, b)),
		"gzip empty members":      slices.Concat(testpack.Gzip(t, nil), testpack.Gzip(t, a), testpack.Gzip(t, nil), testpack.Gzip(t, b)),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			path := testpack.WriteFile(t, t.TempDir(), "log", data)
			got, err := readOne(t, path)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %d rows, want %d", len(got), len(want))
			}
			for chunk, r := range map[string]io.Reader{"whole": bytes.NewReader(data), "halves": iotest.HalfReader(bytes.NewReader(data))} {
				l, err := OpenLogs([]string{"-"}, LogOptions{Stdin: r})
				if err != nil {
					t.Fatal(err)
				}
				rows, err := readLogs(t, l)
				if err != nil || !slices.Equal(rows[0], want) {
					t.Errorf("stdin in %s: got %d rows and %v, want %d", chunk, len(rows[0]), err, len(want))
				}
				if in := l.Inputs()[0]; in.Size != int64(len(data)) || in.Name != "-" {
					t.Errorf("input = %+v, want %d bytes", in, len(data))
				}
				if done, total := l.Progress(); done != total || done != int64(len(data)) {
					t.Errorf("progress = %d of %d, want %d", done, total, len(data))
				}
			}
		})
	}
}

func TestLogsEmpty(t *testing.T) {
	cases := map[string][]byte{
		"nothing":         nil,
		"LFs":             []byte("\n\r\n\n"),
		"zstd":            testpack.Zstd(t, nil, zstd.WithZeroFrames(true)),
		"skippable":       testpack.Skippable(4),
		"gzip":            testpack.Gzip(t, nil),
		"byte order mark": []byte("\ufeff"),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := readOne(t, testpack.WriteFile(t, t.TempDir(), "log", data)); err != nil || len(got) > 0 {
				t.Errorf("got %q and %v, want no rows and no error", got, err)
			}
		})
	}
}

func TestLogsSeveral(t *testing.T) {
	dir := t.TempDir()
	a := testpack.WriteFile(t, dir, "a.zst", testpack.Zstd(t, []byte("http://a/1\n\nhttp://a/2")))
	b := testpack.WriteFile(t, dir, "b.gz", testpack.Gzip(t, []byte("http://b/1\r\n")))
	e := testpack.WriteFile(t, dir, "empty", nil)
	long := testpack.WriteFile(t, dir, "long", bytes.Repeat([]byte("x"), MaxLine+1))
	l, err := OpenLogs([]string{b, a, "-", e, long, a}, LogOptions{Stdin: strings.NewReader("http://stdin/\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, total := l.Progress(); total != -1 {
		t.Errorf("total = %d before the end of stdin, want -1", total)
	}
	got, err := readLogs(t, l)
	want := [][]string{{"http://b/1"}, {"http://a/1", "http://a/2"}, {"http://stdin/"}, nil, {""}, {"http://a/1", "http://a/2"}}
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
	if l.Counts().Empty != 2 || l.Counts().Long != 1 {
		t.Errorf("empty, long = %d, %d, want 2, 1", l.Counts().Empty, l.Counts().Long)
	}
	if done, total := l.Progress(); done != total {
		t.Errorf("progress = %d of %d at the end", done, total)
	}
}

func TestLogsLimit(t *testing.T) {
	dir := t.TempDir()
	a := testpack.WriteFile(t, dir, "a", []byte("1\n\n2\n3\n"))
	b := testpack.WriteFile(t, dir, "b", []byte("4\n5\n"))
	for limit, want := range map[int64]int{0: 5, -1: 5, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 5} {
		for _, batch := range []int{0, 1, 2, 5} {
			l, err := OpenLogs([]string{a, b}, LogOptions{Limit: limit, BatchRows: batch})
			if err != nil {
				t.Fatal(err)
			}
			got, err := readLogs(t, l)
			if rows := slices.Concat(got...); err != nil || !slices.Equal(rows, []string{"1", "2", "3", "4", "5"}[:want]) {
				t.Errorf("limit %d, batches of %d: got %q and %v, want %d rows", limit, batch, rows, err, want)
			}
		}
	}
}

// TestLogsBatchesAreOwned checks that batches do not change while later ones are read.
func TestLogsBatchesAreOwned(t *testing.T) {
	text := testpack.HardText(5_000)
	l, err := OpenLogs([]string{"-"}, LogOptions{Stdin: bytes.NewReader(testpack.Zstd(t, text)), BatchRows: 100})
	if err != nil {
		t.Fatal(err)
	}
	var batches []*engine.Batch
	for b := new(engine.Batch); l.Next(b); b = new(engine.Batch) {
		batches = append(batches, b)
	}
	want := urls(text, 5_000)
	for _, b := range batches {
		for i := range b.Len() {
			if got := string(b.URL(i)); got != want[b.Lines[i]-1] {
				t.Fatalf("line %d is %q, want %q", b.Lines[i], got, want[b.Lines[i]-1])
			}
		}
	}
	if len(batches) != 50 {
		t.Errorf("%d batches, want 50", len(batches))
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestLogsVanished(t *testing.T) {
	path := testpack.WriteFile(t, t.TempDir(), "log", []byte("http://a/\n"))
	l, err := OpenLogs([]string{path}, LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := readLogs(t, l); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v, want %v", err, os.ErrNotExist)
	}
}

func TestLogsClosedEarly(t *testing.T) {
	path := testpack.WriteFile(t, t.TempDir(), "log", testpack.Zstd(t, testpack.HardText(20_000)))
	l, err := OpenLogs([]string{path, path}, LogOptions{BatchRows: 10})
	if err != nil {
		t.Fatal(err)
	}
	var b engine.Batch
	if !l.Next(&b) {
		t.Fatal(l.Err())
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if l.Next(&b) || l.Err() != nil {
		t.Errorf("Next after Close reported rows, or %v", l.Err())
	}
}

// TestLogsProgressMeanwhile calls Progress and Inputs while another goroutine reads rows, for the race detector.
func TestLogsProgressMeanwhile(t *testing.T) {
	data := testpack.Zstd(t, testpack.HardText(20_000))
	path := testpack.WriteFile(t, t.TempDir(), "log", data)
	l, err := OpenLogs([]string{path, "-"}, LogOptions{Stdin: bytes.NewReader(data), BatchRows: 100})
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for last := int64(0); ; {
			done, total := l.Progress()
			if done < last || total >= 0 && done > total {
				t.Errorf("progress = %d of %d after %d", done, total, last)
			}
			last = done
			l.Inputs()
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	if _, err := readLogs(t, l); err != nil {
		t.Error(err)
	}
	close(stop)
	<-stopped
}
