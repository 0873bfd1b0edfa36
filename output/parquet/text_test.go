package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/klauspost/compress/zstd"
)

// plainTexts returns texts in PLAIN.
func plainTexts(texts []string) (plain []byte) {
	for _, text := range texts {
		plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(text))), text...)
	}
	return plain
}

// decodeTexts decodes the output of textCutter.texts, according to the specification.
func decodeTexts(t *testing.T, data []byte, encoding parquet.Encoding, n int) (texts []string) {
	t.Helper()
	if encoding == parquet.Encodings.Plain {
		for len(data) > 0 {
			end := 4 + binary.LittleEndian.Uint32(data)
			texts = append(texts, string(data[4:end]))
			data = data[end:]
		}
		return texts
	}
	numbers := make([][]int64, 2) // lengths of what is shared, and of the rest
	for i := range numbers {
		size := deltasSize(t, data)
		numbers[i] = decodeDeltas(t, data[:size])
		data = data[size:]
	}
	last := ""
	for i := range n {
		rest := numbers[1][i]
		last = last[:numbers[0][i]] + string(data[:rest])
		texts, data = append(texts, last), data[rest:]
	}
	if len(data) > 0 {
		t.Fatalf("%d bytes left", len(data))
	}
	return texts
}

// deltasSize returns the size of the numbers in DELTA_BINARY_PACKED at the start of data.
func deltasSize(t *testing.T, data []byte) int {
	t.Helper()
	pos := 0
	next := func() uint64 {
		v, size := binary.Uvarint(data[pos:])
		if size <= 0 {
			t.Fatal("no number")
		}
		pos += size
		return v
	}
	block, minis, left := int(next()), int(next()), int(next())-1
	for next(); left > 0; left -= block {
		next()
		widths := data[pos : pos+minis]
		pos += minis
		for i, w := range widths {
			if i*block/minis < left {
				pos += int(w) * block / minis / 8
			}
		}
	}
	return pos
}

// randomTexts returns texts that share prefixes of various lengths with previous ones.
func randomTexts(rng *rand.Rand, n, share int) []string {
	texts := make([]string, n)
	last := "https://www.example.com/"
	for i := range texts {
		switch rng.IntN(20) {
		case 0:
			last = ""
		case 1: // the same again
		case 2:
			last += strings.Repeat("/long", rng.IntN(20))
		default:
			keep := len(last) * rng.IntN(share+1) / 100
			last = last[:keep] + strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(12))
		}
		texts[i] = last
	}
	return texts
}

// TestTexts reads back pages of texts, and compares their statistics with simple ones.
func TestTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var c textCutter
	seen := map[parquet.Encoding]int{}
	pages := [][]string{nil, {""}, {"a"}, {"", ""}, {"same", "same", "same"}, {strings.Repeat("x", 64<<10), strings.Repeat("x", 64<<10) + "y", ""}}
	for range 500 {
		pages = append(pages, randomTexts(rng, rng.IntN(300), rng.IntN(101)))
	}
	for _, texts := range pages {
		for _, deltas := range []bool{true, false} {
			plain := plainTexts(texts)
			var stats statistics
			data, _, encoding := c.texts([]byte("head"), plain, deltas, &stats)
			seen[encoding]++
			if !deltas && encoding != parquet.Encodings.Plain {
				t.Fatalf("encoding %s", encoding)
			}
			if string(data[:4]) != "head" {
				t.Fatal("the start of the page is overwritten")
			}
			if got := decodeTexts(t, data[4:], encoding, len(texts)); !slices.Equal(got, texts) {
				t.Fatalf("%q became %q", texts, got)
			}
			if encoding != parquet.Encodings.Plain && len(data) > len(plain)+100 {
				t.Errorf("%d bytes in %s, %d in PLAIN", len(data), encoding, len(plain))
			}
			checkTextStats(t, &stats, texts)
		}
	}
	if seen[parquet.Encodings.Plain] < 100 || seen[parquet.Encodings.DeltaByteArray] < 100 {
		t.Errorf("pages by encoding: %v", seen)
	}
}

// checkTextStats compares statistics with the texts.
func checkTextStats(t *testing.T, stats *statistics, texts []string) {
	t.Helper()
	if len(texts) == 0 {
		if stats.some {
			t.Errorf("no texts have %v", stats.texts)
		}
		return
	}
	least, most := slices.Min(texts), slices.Max(texts)
	if tooLong := len(least) > maxBound || len(most) > maxBound; stats.none != tooLong {
		t.Errorf("range left out is %t, want %t", stats.none, tooLong)
	} else if !tooLong && (string(stats.texts[0]) != least || string(stats.texts[1]) != most) {
		t.Errorf("%q to %q, want %q to %q", stats.texts[0], stats.texts[1], least, most)
	}
}

// TestTextAllocs tests that pages of texts need no allocation once the memory exists, except for the bounds of their
// statistics.
func TestTextAllocs(t *testing.T) {
	plain := plainTexts(randomTexts(rand.New(rand.NewPCG(7, 8)), 5000, 90))
	var c textCutter
	var dst []byte
	run := func() {
		var stats statistics
		dst, _, _ = c.texts(dst[:0], plain, true, &stats)
	}
	run()
	if n := testing.AllocsPerRun(10, run); n > 4 {
		t.Errorf("%v allocations", n)
	}
}

// TestFastTexts tests that pages of texts in DELTA_BYTE_ARRAY decompress to the same bytes at each zstd level, although
// the fastest has its own encoder, and that all Encoders produce the same pages.
func TestFastTexts(t *testing.T) {
	var texts []string
	for i := range 20_000 {
		texts = append(texts, fmt.Sprintf("https://www.host-%d.example/some/path/%d/%x.html", i/300, i/20, i*i*i))
	}
	plain := plainTexts(texts)
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	page := func(opt Options) *page {
		w, err := NewWriter(&countingBuffer{}, []Field{{Name: "url", Type: Text, Delta: true}}, opt)
		if err != nil {
			t.Fatal(err)
		}
		e, err := w.NewEncoder()
		if err != nil {
			t.Fatal(err)
		}
		to := w.Begin(len(texts), nil)
		e.Texts(to, 0, &Texts{Bytes: plain})
		return &to.columns[0]
	}
	want := page(Options{}).data
	var sizes []int
	for _, level := range []int{1, 1, 3} {
		p := page(Options{Codec: Zstd, Level: level})
		if got, err := dec.DecodeAll(p.data, nil); err != nil || !bytes.Equal(got, want) || p.size != len(want) {
			t.Fatalf("level %d: other bytes: %v", level, err)
		}
		sizes = append(sizes, len(p.data))
	}
	if sizes[0] != sizes[1] || sizes[0] > 2*sizes[2] {
		t.Errorf("sizes are %d", sizes)
	}
}

// A countingBuffer is a Sink in memory.
type countingBuffer struct{ bytes.Buffer }

// Tell returns how many bytes were written.
func (b *countingBuffer) Tell() int64 { return int64(b.Len()) }
