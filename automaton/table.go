package automaton

import "encoding/binary"

// A table is a complete compiled automaton: bytes without pointers, in which numbers are little-endian and offsets
// count from its start. Offsets and ranks have three bytes. They are read as four bytes and masked, so a table ends
// with padding.
type table []byte

const (
	maxTable = 1 << 24 // the largest size that offsets of three bytes can address
	padding  = 8       // bytes at the end, so that reading a wider number stays inside
)

func (t table) u16(off uint32) uint32 { return uint32(binary.LittleEndian.Uint16(t[off:])) }
func (t table) u24(off uint32) uint32 { return binary.LittleEndian.Uint32(t[off:]) & (1<<24 - 1) }
func (t table) u64(off uint32) uint64 { return binary.LittleEndian.Uint64(t[off:]) }

func (t table) putU24(off, v uint32) { t[off], t[off+1], t[off+2] = byte(v), byte(v>>8), byte(v>>16) }

func (t *table) addU16(v int)    { *t = binary.LittleEndian.AppendUint16(*t, uint16(v)) }
func (t *table) addU24(v uint32) { *t = append(*t, byte(v), byte(v>>8), byte(v>>16)) }
func (t *table) addU64(v uint64) { *t = binary.LittleEndian.AppendUint64(*t, v) }

// ones has the value 1 in each byte.
const ones = 0x0101010101010101

// A pending is a trie node with floating segments that a path passed, or a group of its patterns that must still be
// tried.
type pending struct {
	group uint32 // offset of the group; for a node, of the first group
	pos   uint32 // position of the node in the path
	found uint64 // the buckets of the group that were found; 1 if it has no buckets
}
