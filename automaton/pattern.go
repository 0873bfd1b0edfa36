package automaton

import (
	"encoding/binary"
	"strings"
)

// A Rule is a pattern to compile, and whether it allows.
type Rule struct {
	Pattern string // in normal form, see [Pattern]; an empty one has no effect
	Allow   bool   // the rule allows the paths that it decides

	// Uncounted is the number of bytes of Pattern that do not count in its length, which determines precedence.
	Uncounted int32
}

// A Rank is the precedence of a rule; the highest wins. Its lowest bit says whether the rule allows, so that the
// winner's verdict needs no look-up. The other bits number the rules from 1. The zero Rank means no rule.
type Rank uint32

// NoMatch is the Rank of a path that no rule matches.
const NoMatch Rank = 0

// maxRules is the largest number of rules whose ranks fit in three bytes.
const maxRules = 1<<23 - 1

// Allow reports whether the rule allows. It is false for NoMatch.
func (r Rank) Allow() bool { return r&1 != 0 }

// Position returns the rule's index in the order that [Compile] returned, or -1 for NoMatch.
func (r Rank) Position() int { return int(r>>1) - 1 }

// A Pattern is a parsed robots.txt pattern (RFC 9309 section 2.2.3). It matches a path that begins with Anchor and
// then contains the floating segments of Rest, in order and without overlap; if End is set, the last segment is at
// the very end of the path.
//
// In a pattern, "*" stands for any bytes or none, and "$" as the last byte for the end of the path. Every other
// byte stands for itself, including a "$" elsewhere. A "*" at the end is dropped, because every pattern matches
// prefixes anyway, and several "*" in a row are one. So patterns that differ only in these ways are equal as
// Patterns.
type Pattern struct {
	Anchor string // the path begins with it
	Rest   string // the floating segments, each after a "*"; "" if there are none
	End    bool   // the path ends where the last segment does
}

// ParsePattern parses a normalised pattern. Every string is a valid pattern.
func ParsePattern(s string) Pattern {
	var p Pattern
	s, p.End = strings.CutSuffix(s, "$")
	star := strings.IndexByte(s, '*')
	if star < 0 {
		p.Anchor = s
		return p
	}
	p.Anchor, p.Rest = s[:star], s[star:]
	if trimmed := strings.TrimRight(p.Rest, "*"); len(trimmed) < len(p.Rest) {
		p.Rest, p.End = trimmed, false // the rest of the path matches the final "*"
	}
	for strings.Contains(p.Rest, "**") {
		p.Rest = strings.ReplaceAll(p.Rest, "**", "*")
	}
	return p
}

// String returns the shortest spelling of the pattern.
func (p Pattern) String() string {
	if p.End {
		return p.Anchor + p.Rest + "$"
	}
	return p.Anchor + p.Rest
}

// segments calls yield with each floating segment and whether it is the last, in order.
func (p Pattern) segments(yield func(seg string, last bool)) {
	for rest := p.Rest; rest != ""; {
		seg, tail, _ := strings.Cut(rest[1:], "*")
		rest = rest[len(seg)+1:]
		yield(seg, tail == "" && rest == "")
	}
}

// compare orders patterns by anchor and then by the rest, so that patterns whose anchors share a prefix are
// neighbours.
func (p Pattern) compare(q Pattern) int {
	if c := strings.Compare(p.Anchor, q.Anchor); c != 0 {
		return c
	}
	if c := strings.Compare(p.Rest, q.Rest); c != 0 {
		return c
	}
	switch {
	case p.End == q.End:
		return 0
	case p.End:
		return 1
	}
	return -1
}

// ranked is a pattern with its rank and, once it is chosen, its fingerprint.
type ranked struct {
	Pattern
	rank  Rank
	print fingerprint
}

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
