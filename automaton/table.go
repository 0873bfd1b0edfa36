package automaton

import "encoding/binary"

// A table is the whole of a compiled automaton: one run of bytes without pointers, in which numbers
// are little-endian and offsets count from its start. Offsets and ranks take three bytes; they are
// read as four and masked, so a table ends with padding.
type table []byte

const (
	maxTable = 1 << 24 // what three bytes can address
	padding  = 8       // bytes at the end, so that reading a wider number stays inside
)

func (t table) u16(off uint32) uint32 { return uint32(binary.LittleEndian.Uint16(t[off:])) }
func (t table) u24(off uint32) uint32 { return binary.LittleEndian.Uint32(t[off:]) & (1<<24 - 1) }
func (t table) u64(off uint32) uint64 { return binary.LittleEndian.Uint64(t[off:]) }

func (t table) putU24(off, v uint32) { t[off], t[off+1], t[off+2] = byte(v), byte(v>>8), byte(v>>16) }
