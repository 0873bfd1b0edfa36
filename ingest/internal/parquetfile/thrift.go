package parquetfile

import (
	"encoding/binary"
	"errors"
)

// errShort is the error of a structure that goes beyond the bytes that are given.
var errShort = errors.New("ends too early")

// errThrift is the error of bytes that are no structure.
var errThrift = errors.New("is not in Thrift's compact protocol")

// A compact reads a structure in Thrift's compact protocol. Errors are sticky; after one, all
// numbers are 0 and no field follows.
type compact struct {
	data []byte
	pos  int
	err  error
}

// The types of fields.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI32    = 5
	typeI64    = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeMap    = 11
	typeStruct = 12
)

// maxDepth is how deep structures may lie in each other.
const maxDepth = 16

func (c *compact) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compact) byte() byte {
	if c.err != nil || c.pos >= len(c.data) {
		c.fail(errShort)
		return 0
	}
	c.pos++
	return c.data[c.pos-1]
}

// uvarint reads an unsigned number; after an error it returns 0.
func (c *compact) uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.data[c.pos:])
	if n <= 0 {
		c.fail(errShort)
		if n < 0 {
			c.err = errThrift
		}
		return 0
	}
	c.pos += n
	return v
}

// int returns a number in zigzag.
func (c *compact) int() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// fields calls read for each field of a structure. read returns whether it has read the value;
// others are skipped.
func (c *compact) fields(depth int, read func(id int64, kind byte) bool) {
	if depth > maxDepth {
		c.fail(errThrift)
	}
	id := int64(0)
	for c.err == nil {
		b := c.byte()
		if b == 0 {
			return
		}
		if delta := int64(b >> 4); delta != 0 {
			id += delta
		} else {
			id = c.int()
		}
		if kind := b & 15; c.err == nil && !read(id, kind) {
			c.skip(kind, depth)
		}
	}
}

// skip skips a value.
func (c *compact) skip(kind byte, depth int) {
	switch {
	case kind == typeTrue, kind == typeFalse:
	case kind == typeByte:
		c.byte()
	case kind > typeByte && kind <= typeI64:
		c.uvarint()
	case kind == typeDouble:
		c.bytes(8)
	case kind == typeBinary:
		c.bytes(c.uvarint())
	case kind == typeList, kind == typeSet:
		b := c.byte()
		n := uint64(b >> 4)
		if n == 15 {
			n = c.uvarint()
		}
		kind := b & 15
		for ; n > 0 && c.err == nil; n-- {
			c.element(kind, depth)
		}
	case kind == typeMap:
		if n := c.uvarint(); n > 0 {
			b := c.byte()
			for ; n > 0 && c.err == nil; n-- {
				c.element(b>>4, depth)
				c.element(b&15, depth)
			}
		}
	case kind == typeStruct:
		c.fields(depth+1, func(int64, byte) bool { return false })
	default:
		c.fail(errThrift)
	}
}

// element skips an element of a list or map: unlike a field, a truth value takes a byte there.
func (c *compact) element(kind byte, depth int) {
	if kind == typeTrue || kind == typeFalse {
		c.byte()
		return
	}
	c.skip(kind, depth+1)
}

// bytes skips so many bytes.
func (c *compact) bytes(n uint64) {
	if c.err == nil && n > uint64(len(c.data)-c.pos) {
		c.fail(errShort)
		return
	}
	c.pos += int(n)
}
