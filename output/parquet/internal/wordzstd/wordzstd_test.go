package wordzstd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// unpack decompresses a frame with the library that robobatch uses.
func unpack(tb testing.TB, frame []byte) []byte {
	tb.Helper()
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	defer dec.Close()
	text, err := dec.DecodeAll(frame, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// words returns a text of words separated by punctuation, with a few frequent words.
func words(rng *rand.Rand, size int) []byte {
	var list []string
	for range 3000 {
		word := make([]byte, 1+rng.IntN(9))
		for i := range word {
			word[i] = byte('a' + rng.IntN(26))
		}
		list = append(list, string(word))
	}
	var b []byte
	for len(b) < size {
		word := list[int(rng.ExpFloat64()*200)%len(list)]
		b = append(append(b, word...), "/-.%&=?_\n"[rng.IntN(9)])
	}
	return b[:size]
}

// longWords returns a text of long words without repetitions.
func longWords(rng *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte('a' + rng.IntN(26))
		if i%(fewSigns-8) == 0 {
			b[i] = '/'
		}
	}
	return b
}

// widest returns a text with a sequence whose bits do not fit in a word: among many of a few bytes, one of 70,000
// literals and a match of 35,000 bytes at a large distance.
func widest(rng *rand.Rand) []byte {
	long := longWords(rng, 35_000)
	text := slices.Concat(long, words(rng, blockSize-len(long)))
	short := bytes.Repeat([]byte("/a-few-letters"), 500)
	for at := range 500 {
		short[14*at+13] = byte('a' + rng.IntN(26)) // no match goes on
	}
	return slices.Concat(text, short, longWords(rng, 70_000), long, short)
}

// inputs are texts of many kinds and lengths.
func inputs() map[string][]byte {
	rng := rand.New(rand.NewPCG(5, 6))
	all := map[string][]byte{
		"long period":  bytes.Repeat(words(rng, 5000), 80),
		"long matches": bytes.Repeat(words(rng, 150_000), 3),
		"numbers":      []byte(strings.Repeat("1,22,333,4444,", 1000)),
		"widest":       widest(rng),
	}
	for _, n := range []int{leastSize, 5000, blockSize - 1, blockSize, blockSize + 1, blockSize + 70, 3*blockSize + 77, 1 << 20} {
		all[fmt.Sprintf("words %d", n)] = words(rng, n)
		noise := make([]byte, n)
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		all[fmt.Sprintf("noise %d", n)] = noise
	}
	return all
}

// TestAppend compresses texts, and decompresses them with a library and, if it is installed, the command zstd.
func TestAppend(t *testing.T) {
	e := NewEncoder()
	command, err := exec.LookPath("zstd")
	if err != nil {
		t.Log("there is no command zstd to unpack with")
	}
	file := filepath.Join(t.TempDir(), "frame")
	for name, text := range inputs() {
		for _, head := range []int{0, 1, 3000, len(text) / 2, len(text)} {
			frame, ok := e.Append([]byte("before"), text, head)
			if !ok || !bytes.HasPrefix(frame, []byte("before")) {
				t.Fatalf("%s, %d: packed is %t", name, head, ok)
			}
			frame = frame[len("before"):]
			if !bytes.Equal(unpack(t, frame), text) {
				t.Fatalf("%s, %d: other bytes", name, head)
			}
			if again, _ := NewEncoder().Append(nil, text, head); !bytes.Equal(again, frame) {
				t.Errorf("%s, %d: a new encoder makes another frame", name, head)
			}
			if len(frame) > len(text)+100 {
				t.Errorf("%s, %d: %d bytes became %d", name, head, len(text), len(frame))
			}
			if command == "" {
				continue
			}
			if err := os.WriteFile(file, frame, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(command, "-dc", file).Output(); err != nil || !bytes.Equal(out, text) {
				t.Fatalf("%s, %d: %s: %v", name, head, command, err)
			}
		}
	}
}

// TestRefused tests that the encoder leaves unsuitable texts to another one.
func TestRefused(t *testing.T) {
	letters := bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz"), 1000)
	few := bytes.Clone(letters)
	for i := 0; i < len(few); i += fewSigns + 1 {
		few[i] = '/'
	}
	for name, text := range map[string][]byte{
		"empty": nil, "short": bytes.Repeat([]byte("/a"), leastSize/2-1), "letters": letters, "few signs": few,
		"letters of two bytes": bytes.Repeat([]byte("é"), 10_000),
	} {
		if frame, ok := NewEncoder().Append([]byte("before"), text, 0); ok || string(frame) != "before" {
			t.Errorf("%s: packed is %t, with %d bytes", name, ok, len(frame))
		}
	}
}

// TestSize tests that complete real URLs take at most 15 % more bytes than with a general encoder. In DELTA_BYTE_ARRAY,
// see BenchmarkColumn, the difference is smaller.
func TestSize(t *testing.T) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "quickstart", "urls.zst"))
	if err != nil {
		t.Fatal(err)
	}
	text := unpack(t, packed)
	frame, _ := NewEncoder().Append(nil, text, 0)
	if other := enc.EncodeAll(text, nil); 100*len(frame) > 115*len(other) {
		t.Errorf("%d bytes, and %d of package zstd", len(frame), len(other))
	}
}

// TestAllocs tests that a frame needs no allocation once the memory exists.
func TestAllocs(t *testing.T) {
	text := words(rand.New(rand.NewPCG(5, 6)), 300_000)
	e := NewEncoder()
	dst, _ := e.Append(nil, text, 1000)
	if n := testing.AllocsPerRun(5, func() { dst, _ = e.Append(dst[:0], text, 1000) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzAppend repeats a text and a word alternately, so that the input is long enough, and decompresses the frame.
func FuzzAppend(f *testing.F) {
	f.Add([]byte("/path/of-some.words"), []byte("/x"), uint16(300), uint16(10))
	f.Add([]byte("\x00\xff"), []byte("-----------------"), uint16(20_000), uint16(0))
	e := NewEncoder()
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, word []byte, times, head uint16) {
		var src []byte
		for i := range int(times) {
			if len(src) > 4*blockSize {
				break
			}
			src = append(append(src, text[:len(text)*(i%7)/7]...), word...)
			src = append(append(src, byte(i)), text...)
		}
		frame, ok := e.Append(nil, src, min(int(head), len(src)))
		if !ok {
			return
		}
		if got, err := dec.DecodeAll(frame, nil); err != nil || !bytes.Equal(got, src) {
			t.Fatalf("%d bytes are other ones: %v", len(src), err)
		}
	})
}

// BenchmarkAppend measures made-up words; BenchmarkColumn of package bench, real URLs.
func BenchmarkAppend(b *testing.B) {
	text := words(rand.New(rand.NewPCG(5, 6)), 1<<20)
	e := NewEncoder()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst, _ = e.Append(dst[:0], text, 0)
	}
	b.ReportMetric(float64(len(dst))/float64(len(text)), "packed/byte")
}
