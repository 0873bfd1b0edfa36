package wire

import "encoding/binary"

// A Cursor decodes data from its start. If a value is incomplete, or a length exceeds the rest, it becomes Bad, and from
// then on returns only zeros and empty texts. So a decoder needs to check only once, at the end. The zero Cursor is at the
// end of empty data.
type Cursor struct {
	rest []byte
	bad  bool
}

// NewCursor returns a Cursor at the start of data.
func NewCursor(data []byte) Cursor { return Cursor{rest: data} }

// Bad reports whether a read failed.
func (c *Cursor) Bad() bool { return c.bad }

// AtEnd reports whether the Cursor has read everything and is not Bad.
func (c *Cursor) AtEnd() bool { return !c.bad && len(c.rest) == 0 }

// Fail makes the Cursor Bad.
func (c *Cursor) Fail() { c.bad, c.rest = true, nil }

// Bytes returns the next n bytes. They share the memory of the data.
func (c *Cursor) Bytes(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.Fail()
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

// Byte returns a byte.
func (c *Cursor) Byte() byte {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uvarint returns a number in the encoding of [binary.AppendUvarint].
func (c *Cursor) Uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.Fail()
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// Varint returns a number in the encoding of [binary.AppendVarint].
func (c *Cursor) Varint() int64 {
	v := c.Uvarint()
	return int64(v>>1) ^ -int64(v&1) // the sign is the lowest bit
}

// Text returns a text that [AppendText] wrote. It shares the memory of the data.
func (c *Cursor) Text() []byte { return c.Bytes(c.Uvarint()) }

// Count returns the number of elements that follow. Each of them takes at least a byte.
func (c *Cursor) Count() int {
	n := c.Uvarint()
	if n > uint64(len(c.rest)) {
		c.Fail()
		return 0
	}
	return int(n)
}

// AppendText appends the length of a text and the text.
func AppendText[T ~string | ~[]byte](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// Rest returns the remaining bytes.
func (c *Cursor) Rest() []byte { return c.Bytes(uint64(len(c.rest))) }
