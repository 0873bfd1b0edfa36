package unpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
)

// decode returns the text of data on standard input, as a Decoder returns it.
func decode(t *testing.T, data io.Reader) (string, error) {
	t.Helper()
	texts := NewTexts([]string{fault.Stdin}, 0, 0, new(atomic.Int64))
	defer texts.Release()
	if err := texts.Open(fault.Stdin, data); err != nil {
		t.Fatal(err)
	}
	var d Decoder
	d.Reset(texts)
	text, err := io.ReadAll(&d)
	return string(text), err
}

// asUTF16 encodes text as UTF-16.
func asUTF16(text string, order binary.AppendByteOrder, mark bool) (data []byte) {
	if mark {
		data = order.AppendUint16(data, 0xfeff)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = order.AppendUint16(data, unit)
	}
	return data
}

// TestDecoder reads text in all encodings, packed and not, with large reads and single bytes.
func TestDecoder(t *testing.T) {
	const line = "https://example.com/ä\t𝄞 上\r\n"
	for _, text := range []string{"", "a", "ab", line, strings.Repeat(line, 20_000)} {
		for name, data := range map[string][]byte{
			"UTF-8":                         []byte(text),
			"UTF-16LE with mark":            asUTF16(text, binary.LittleEndian, true),
			"UTF-16BE with mark":            asUTF16(text, binary.BigEndian, true),
			"UTF-16LE":                      asUTF16("https://x/"+text, binary.LittleEndian, false),
			"UTF-16BE":                      asUTF16("https://x/"+text, binary.BigEndian, false),
			"gzip of UTF-16LE with mark":    testpack.Gzip(t, asUTF16(text, binary.LittleEndian, true)),
			"zstd of UTF-16BE without mark": testpack.Zstd(t, asUTF16("https://x/"+text, binary.BigEndian, false)),
		} {
			want := text
			if !strings.HasSuffix(name, "mark") || strings.Contains(name, "without") {
				want = "https://x/" + text
			}
			if name == "UTF-8" {
				want = text
			}
			for _, r := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data))} {
				if got, err := decode(t, r); got != want || err != nil {
					t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(want))
				}
			}
		}
	}
	for _, data := range [][]byte{asUTF16("abcdef", binary.LittleEndian, true)[:9], append(asUTF16("abc", binary.LittleEndian, true), "\x34\xd8"...)} {
		if got, err := decode(t, bytes.NewReader(data)); !errors.Is(err, ErrEncoding) || got != "abc" {
			t.Errorf("%q cut within a character is %q, %v", data, got, err)
		}
	}
}

// TestRefused checks the errors for other kinds of files, also within a packed file.
func TestRefused(t *testing.T) {
	tar := append(make([]byte, 257), "ustar\x00"...)
	for _, test := range []struct {
		data []byte
		want string
	}{
		{tar, "tar"},
		{testpack.Gzip(t, tar), "tar"},
		{testpack.Gzip(t, testpack.Gzip(t, []byte("x"))), "gzip within gzip"},
		{testpack.Zstd(t, testpack.Gzip(t, []byte("x"))), "gzip within zstd"},
		{testpack.Gzip(t, []byte("PAR1")), "a Parquet file within gzip"},
		{[]byte("\x04\x22\x4d\x18"), "lz4"},
		{[]byte("7z\xbc\xaf\x27\x1c"), "7z"},
		{[]byte("\x1f\x9d\x90"), "compress (.Z)"},
		{[]byte("\xff\xfe\x00\x00a\x00\x00\x00"), "the text"},
		{[]byte("\x00\x00\xfe\xff\x00\x00\x00a"), "the text"},
		{testpack.Gzip(t, []byte("\xff\xfe\x00\x00a\x00\x00\x00")), "UTF-32 within gzip"},
	} {
		if _, err := decode(t, bytes.NewReader(test.data)); !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), test.want+" is ") || test.want == "the text" && !strings.Contains(err.Error(), "UTF-32") {
			t.Errorf("%s: %v", test.want, err)
		}
	}
}

// readAll is a simple reference that decodes a whole text in any encoding.
func readAll(data []byte) (text string, whole bool) {
	var order binary.ByteOrder
	pairs := func(at int) bool { // each pair has one zero, at this position
		for i := 0; i+1 < min(len(data), 16); i += 2 {
			if data[i+at] != 0 || data[i+1-at] == 0 {
				return false
			}
		}
		return len(data) >= 4
	}
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order, data = binary.LittleEndian, data[2:]
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order, data = binary.BigEndian, data[2:]
	case pairs(1):
		order = binary.LittleEndian
	case pairs(0):
		order = binary.BigEndian
	default:
		return string(data), true
	}
	var units []uint16
	for ; len(data) >= 2; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	whole = len(data) == 0
	if n := len(units); n > 0 && utf16.IsSurrogate(rune(units[n-1])) && units[n-1] < 0xdc00 {
		units, whole = units[:n-1], false
	}
	return string(utf16.Decode(units)), whole
}

// FuzzEncoding compares the text of anything that is not packed with readAll, and checks that it is UTF-8 if the input
// is UTF-16.
func FuzzEncoding(f *testing.F) {
	f.Add([]byte("https://example.com/\n"))
	f.Add([]byte("\ufeffurl,n\n"))
	f.Add(asUTF16("https://example.com/ä\t𝄞\n", binary.LittleEndian, true))
	f.Add(asUTF16("https://example.com/ä\t𝄞\n", binary.BigEndian, true))
	f.Add(asUTF16("https://example.com/", binary.LittleEndian, false))
	f.Add([]byte("\xfe\xff\xd8\x00\xd8\x00\xdc\x00\xdc\x00\xdc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		is := Detect(data[:min(len(data), HeadLen)])
		if is.Packing != None || is.Content == Parquet {
			return
		}
		text, err := decode(t, iotest.HalfReader(bytes.NewReader(data)))
		again, errAgain := decode(t, iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(data))))
		if want, whole := readAll(data); text != want || again != want || (err == nil) != whole || (errAgain == nil) != whole {
			t.Errorf("%q is %q, %v, in single bytes %q, %v, want %q, whole %t", data, text, err, again, errAgain, want, whole)
		}
		if !slices.Equal([]byte(text), data) && !utf8.ValidString(text) {
			t.Errorf("%q is %q, which is not UTF-8", data, text)
		}
	})
}

// TestDecoderVerified reads UTF-8 and UTF-16 in two members, the second one truncated: the text of the first must be
// verified.
func TestDecoderVerified(t *testing.T) {
	text := strings.Repeat("https://example.com/ä\n", 10_000)
	for name, member := range map[string][]byte{"UTF-8": []byte(text), "UTF-16": asUTF16(text, binary.LittleEndian, true)} {
		packed := testpack.Gzip(t, member)
		texts := NewTexts([]string{fault.Stdin}, 0, 0, new(atomic.Int64))
		if err := texts.Open(fault.Stdin, bytes.NewReader(append(packed, packed[:len(packed)-9]...))); err != nil {
			t.Fatal(err)
		}
		var d Decoder
		d.Reset(texts)
		var given int64
		for err := error(nil); err == nil; {
			var n int
			n, err = d.Read(make([]byte, 1000))
			if given += int64(n); d.Verified() > given {
				t.Fatalf("%s: %d bytes are verified, and %d were read", name, d.Verified(), given)
			}
		}
		if got := d.Verified(); got != int64(len(text)) || given <= got {
			t.Errorf("%s: %d bytes of %d are verified, want %d", name, got, given, len(text))
		}
		if err := texts.Release(); err != nil {
			t.Error(err)
		}
	}
}
