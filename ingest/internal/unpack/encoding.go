package unpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// An Encoding is a character encoding.
type Encoding uint8

// The encodings. UTF8 includes all supersets of ASCII.
const (
	UTF8 Encoding = iota
	UTF16LE
	UTF16BE
)

// encodingHead is the number of leading bytes used to detect the encoding of a text without a byte order mark.
const encodingHead = 16

// EncodingOf returns the encoding of a text and the length of its byte order mark, from its first bytes. Without a
// mark, a text is UTF-16 if exactly every second one of the first 16 bytes is zero, with a minimum of four bytes.
func EncodingOf(head []byte) (e Encoding, mark int) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return UTF16LE, 2
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return UTF16BE, 2
	}
	head = head[:min(len(head), encodingHead)&^1]
	if len(head) < 4 {
		return UTF8, 0
	}
	zeros := [2]int{}
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch half := len(head) / 2; {
	case zeros[0] == 0 && zeros[1] == half:
		return UTF16LE, 0
	case zeros[0] == half && zeros[1] == 0:
		return UTF16BE, 0
	}
	return UTF8, 0
}

// ErrEncoding means that a UTF-16 text ends within a character.
var ErrEncoding = errors.New("the text is UTF-16, but ends within a character")

// A Decoder reads the text of an input as UTF-8, whatever its encoding. It rejects a text that is itself packed. The
// zero value is ready for Reset.
type Decoder struct {
	texts                  Texts
	begun                  bool             // detect was called
	given                  int64            // bytes of UTF-8 returned, if the text is UTF-8
	head                   []byte           // the first bytes, not returned yet
	err                    error            // why reading ended
	order                  binary.ByteOrder // byte order of UTF-16; nil for UTF-8
	at, produced, verified int64            // UTF-16 bytes decoded, resulting UTF-8 bytes, and verified ones of these
	packed                 []byte           // UTF-16 that was not decoded yet
	held                   int              // bytes after packed, where a packed file may begin
	decoded                []byte           // UTF-8 that was not returned yet
	buf                    []byte           // memory of packed
	out                    []byte           // memory of decoded
}

// Reset starts with an input that was just opened, and reuses the memory.
func (d *Decoder) Reset(texts Texts) {
	*d = Decoder{texts: texts, head: d.head[:0], buf: d.buf, out: d.out}
}

// Read reads text as UTF-8. Its errors are those of the input, ErrFormat, ErrJoined and ErrEncoding.
func (d *Decoder) Read(p []byte) (int, error) {
	if !d.begun {
		d.detect()
	}
	switch {
	case d.order != nil:
		for len(d.decoded) == 0 {
			if err := d.decodeMore(); err != nil {
				return 0, err
			}
		}
		n := copy(p, d.decoded)
		d.decoded = d.decoded[n:]
		return n, nil
	case len(d.head) > 0:
		n := copy(p, d.head)
		d.head = d.head[n:]
		d.given += int64(n)
		return n, nil
	case d.err != nil:
		return 0, d.err
	}
	n, err := d.texts.Read(p)
	d.given += int64(n)
	return n, err
}

// Head returns the first bytes of the text as UTF-8, without consuming them: at least 64 characters, if the text has so
// many and they can be read. Call it before the first Read. It is valid until the next call.
func (d *Decoder) Head() []byte {
	if !d.begun {
		d.detect()
	}
	if d.order == nil {
		return d.head
	}
	if len(d.decoded) == 0 {
		d.decodeMore() //nolint:errcheck // the next Read returns it
	}
	return d.decoded
}

// Wide reports whether the text is UTF-16, once it has been read from.
func (d *Decoder) Wide() bool { return d.order != nil }

// Take takes a buffer from the input, see Taker, if the text is UTF-8 and the input provides buffers. The first bytes
// must have been read.
func (d *Decoder) Take(buf []byte) (data []byte, start int, ok bool) {
	t, ok := d.texts.(Taker)
	if !ok || !d.begun || d.order != nil || len(d.head) > 0 || d.err != nil {
		return nil, 0, false
	}
	data, start, ok = t.Take(buf)
	d.given += int64(len(data) - start)
	return data, start, ok
}

// detect reads the first bytes, and sets the encoding. If the text is packed again, or is a Parquet file, it sets
// d.err.
func (d *Decoder) detect() {
	d.begun = true
	buf := make([]byte, HeadLen)
	n := 0
	for range maxEmptyReads {
		var m int
		m, d.err = d.texts.Read(buf[n:])
		if n += m; d.err != nil || n == HeadLen {
			break
		}
	}
	head := buf[:n]
	var packed error // the text is packed again, or is a file of another kind
	switch outer, is := d.texts.Packing(), Detect(head); {
	case outer == None && is.Packing == None:
	case is.Content == Parquet:
		packed = fmt.Errorf("a Parquet file within %s is %w: unpack it to a file", outer, ErrFormat)
	case is.Packing == None:
	case is.Packing == Tar: // the tool unpacks both
		packed = &PackingError{Packing: Tar, Tool: tarTools[outer]}
	default:
		packed = &PackingError{Packing: is.Packing, Outer: outer, Tool: packings[outer].tool}
	}
	if packed != nil {
		d.err = packed
		return
	}
	e, mark := EncodingOf(head)
	switch e {
	case UTF16LE:
		d.order = binary.LittleEndian
	case UTF16BE:
		d.order = binary.BigEndian
	default:
		d.head = head
		return
	}
	if d.buf == nil {
		d.buf, d.out = make([]byte, fileBuffer), make([]byte, 0, 2*fileBuffer) // two bytes become at most three
	}
	d.at = int64(mark)
	d.hold(d.buf[:copy(d.buf, head[mark:])])
}

// hold splits the UTF-16 bytes in text: d.packed is decoded next, and the last d.held bytes are kept back, because a
// packed file that was appended to the text may begin there. If one does, d.packed ends before it, and d.err says so.
func (d *Decoder) hold(text []byte) {
	d.packed, d.held = text, 0
	if at, p := findJoinedWide(text); at >= 0 {
		d.packed, d.err = text[:at], p.Joined()
	} else if d.err == nil {
		d.held = min(len(text), wideHead)
		d.packed = text[:len(text)-d.held]
	}
}

// decodeMore decodes bytes that were read to d.decoded or, if there are none, reads more. It returns an error if
// nothing is left. d.decoded may still be empty without an error.
func (d *Decoder) decodeMore() error {
	if d.transform(); len(d.decoded) > 0 {
		return nil
	}
	switch {
	case d.err == io.EOF && len(d.packed) > 0:
		d.err = fmt.Errorf("%w: copy or download the file again", ErrEncoding)
		return d.err
	case d.err != nil:
		return d.err
	}
	n := copy(d.buf, d.packed[:len(d.packed)+d.held])
	m, err := d.texts.Read(d.buf[n:])
	d.err = err
	d.hold(d.buf[:n+m])
	return nil
}

// transform decodes complete characters that were read to d.decoded: only the verified ones if there are any, otherwise
// all. An unpaired surrogate becomes U+FFFD.
func (d *Decoder) transform() {
	src := d.packed
	ahead := d.texts.Verified() - d.at
	if ahead == 0 {
		d.verified = d.produced
	} else if 0 < ahead && ahead < int64(len(src)) {
		src = src[:ahead]
	}
	out, n := d.out, 0
	for n == 0 && len(src) > 0 {
		out, n = d.appendText(out, src)
		if n > 0 && ahead >= int64(len(src)) {
			d.verified = d.produced + int64(len(out))
		}
		if n > 0 || len(src) == len(d.packed) {
			break
		}
		src, ahead = d.packed, 0 // the verified bytes end within a character
	}
	d.decoded, d.packed = out, d.packed[n:]
	d.at += int64(n)
	d.produced += int64(len(out))
}

// appendText appends the complete characters of src to dst, and returns the number of bytes of src that it used.
func (d *Decoder) appendText(dst, src []byte) (text []byte, n int) {
	for len(src)-n >= 2 {
		r, size := rune(d.order.Uint16(src[n:])), 2
		if r&^0x3ff == 0xd800 { // first surrogate of a pair
			if len(src)-n < 4 {
				break
			}
			if pair := utf16.DecodeRune(r, rune(d.order.Uint16(src[n+2:]))); pair != utf8.RuneError {
				r, size = pair, 4
			}
		}
		dst = utf8.AppendRune(dst, r)
		n += size
	}
	return dst, n
}

// Verified returns the number of returned bytes that are verified, see Texts. It is math.MaxInt64 for a text that is
// not packed.
func (d *Decoder) Verified() int64 {
	n := d.texts.Verified()
	switch {
	case n == allVerified:
		return n
	case d.order != nil:
		return min(d.verified, d.produced-int64(len(d.decoded)))
	}
	return min(n, d.given)
}
