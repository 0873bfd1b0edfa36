package ingest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/engine"
)

// TestJoined reads lists of URLs that are followed by packed files, for each length and batch size, so that batches end
// at every position. All rows before the packed file must be yielded, and the position of the fault must be right.
func TestJoined(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 1))
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 600 {
		var text, packed bytes.Buffer
		lines := 1 + rng.IntN(6)
		for n := range lines {
			fmt.Fprintf(&text, "https://a.example/%d%0*d\n", n, 1+rng.IntN(60), rng.IntN(1000))
		}
		more := bytes.Repeat(text.Bytes(), rng.IntN(3))
		if i%2 == 0 {
			w := gzip.NewWriter(&packed)
			if rng.IntN(2) == 0 { // the header has a line feed before its first NUL
				w.ModTime = time.Unix(0x0a0a0a0a, 0)
			}
			w.Write(more)
			w.Close()
		} else {
			packed.Write(z.EncodeAll(more, nil))
		}
		at := text.Len() - rng.IntN(2) // with or without the last line feed
		data := append(text.Bytes()[:at:at], packed.Bytes()...)
		l, err := OpenLogs([]string{"-"}, LogOptions{
			Stdin: iotest.OneByteReader(bytes.NewReader(data)), BatchRows: 1 + rng.IntN(lines+1), BatchBytes: 1 + rng.IntN(200), Raws: true, Format: URLs,
		})
		if err != nil {
			t.Fatal(err)
		}
		var b engine.Batch
		var got []byte
		for l.Next(&b) {
			for row := range b.URLs {
				got = append(append(got, b.URL(row)...), '\n')
			}
		}
		fault, ok := errors.AsType[*LineError](l.Err())
		if want := text.Bytes(); !bytes.Equal(got, want) || !ok || !errors.Is(fault, ErrJoined) || fault.Offset != int64(at) || fault.Line != int64(bytes.Count(data[:at], []byte("\n"))+1) {
			t.Fatalf("case %d, %q and %q: %q, %v", i, data[:at], data[at:], got, l.Err())
		}
		l.Close()
	}
}

// TestCounted checks the counts of bytes, and of bytes in lost lines.
func TestCounted(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 200_000)
	text := fmt.Appendf(nil, "{\"url\":\"https://a.example/\"}\nnone\n%s\n\n{\"url\":\"https://a.example/2\"}\r\n", long)
	for _, size := range []int{1, 100, 1 << 20} {
		l, err := OpenLogs([]string{"-"}, LogOptions{Stdin: bytes.NewReader(text), BatchBytes: size, Format: "json"})
		if err != nil {
			t.Fatal(err)
		}
		for b := new(engine.Batch); l.Next(b); {
		}
		if c := l.Counts(); l.Err() != nil || c.Bytes != int64(len(text)) || c.Lost != 200_004 || c.Joined != 0 {
			t.Errorf("batches of %d: %v, %d bytes, %d lost, %d lines joined", size, l.Err(), c.Bytes, c.Lost, c.Joined)
		}
	}
}

// TestJoinedWide reads lists of URLs in UTF-16 that are followed by packed files, with reads of each size.
func TestJoinedWide(t *testing.T) {
	const text = "https://a.example/1\nhttps://a.example/2\n"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte("https://a.example/3\n"))
	w.Close()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, behind := range [][]byte{packed.Bytes(), z.EncodeAll([]byte(strings.Repeat("https://a.example/3\n", 9)), nil)} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			for cut := range 2 { // with the last line end, or without, so that the end of the last line is unknown
				want := strings.Fields(text)[:2-cut]
				var data []byte
				for _, unit := range utf16.Encode([]rune("\ufeff" + text[:len(text)-cut])) {
					data = order.AppendUint16(data, unit)
				}
				data = append(data, behind...)
				for _, in := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)), iotest.HalfReader(bytes.NewReader(data))} {
					l, err := OpenLogs([]string{"-"}, LogOptions{Stdin: in, Format: URLs})
					if err != nil {
						t.Fatal(err)
					}
					var b engine.Batch
					var got []string
					for l.Next(&b) {
						for row := range b.URLs {
							got = append(got, string(b.URL(row)))
						}
					}
					if !slices.Equal(got, want) || !errors.Is(l.Err(), ErrJoined) {
						t.Errorf("%v, cut %d, %x: %q, %v", order, cut, behind[:4], got, l.Err())
					}
				}
			}
		}
	}
}
