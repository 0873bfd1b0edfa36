package automaton

import (
	"bytes"
	"slices"
	"strings"
)

// Where only a few patterns have floating segments to look for in one path, each is looked for by itself: a segment
// takes some 5 ns by vector instructions, or 1 ns if the path lacks a byte of it, against 1.5 ns for each byte of the
// path in one search for all. The offset of a trie node's patterns leads to
//
//	count     1 byte
//	patterns  of descending rank, each
//	    rank      3 bytes
//	    end       1 byte: 1 if the last segment must be at the end of the path
//	    needs     8 bytes: the classes of the bytes of all segments, as byteClass tells them
//	    size      2 bytes: how long what follows is
//	    segments  1 byte length, then the bytes, each
const (
	inTurnHeader = 3 + 1 + 8 + 2

	// inTurnLimit is the most patterns with floating segments that may be tried for one path. Where more than that
	// are below each other, one search for all is faster (BenchmarkMatch), and never slow.
	inTurnLimit = 24

	// maxInTurnSegment is the longest segment for which bytes.Index works with vector instructions alone, so that a
	// search takes time linear in the path whatever the segment.
	maxInTurnSegment = 63

	maxInTurnSize = 1<<16 - 1
)

// fewFloating reports whether the patterns can be tried in turn: no path meets more than inTurnLimit of them, and their
// segments are short.
func fewFloating(pats []ranked) bool {
	type level struct {
		anchor string
		count  int // patterns at this anchor and at those that it starts with
	}
	var above []level
	for i := range pats {
		p := &pats[i]
		if p.Rest == "" {
			continue
		}
		for len(above) > 0 && !strings.HasPrefix(p.Anchor, above[len(above)-1].anchor) {
			above = above[:len(above)-1]
		}
		n := 1
		if len(above) > 0 {
			n += above[len(above)-1].count
		}
		if len(above) > 0 && above[len(above)-1].anchor == p.Anchor {
			above[len(above)-1].count = n
		} else {
			above = append(above, level{p.Anchor, n})
		}
		if n > inTurnLimit || !p.isShort() {
			return false
		}
	}
	return true
}

// isShort reports whether the floating segments of the pattern fit what is tried in turn.
func (p *ranked) isShort() bool {
	long := false
	p.segments(func(seg string, _ bool) { long = long || len(seg) > maxInTurnSegment })
	return !long && len(p.Rest) <= maxInTurnSize // a length takes the place of each "*"
}

// floating writes the patterns with floating segments that share an anchor, and returns their offset:
// for the table if they are tried in turn, else for the search.
func (b *builder) floating(pats []ranked) uint32 {
	if !b.inTurn {
		return b.search.addRoot(pats)
	}
	off := uint32(len(b.table))
	sorted := slices.Clone(pats)
	slices.SortFunc(sorted, func(p, q ranked) int { return int(q.rank) - int(p.rank) })
	b.table = append(b.table, byte(len(sorted)))
	for i := range sorted {
		b.inTurnPattern(&sorted[i])
	}
	return off
}

func (b *builder) inTurnPattern(p *ranked) {
	end := byte(0)
	if p.End {
		end = 1
	}
	b.table = append(b.table.appendU24(uint32(p.rank)), end)
	b.table = b.table.appendU64(needs(p.Rest))
	b.table = append(b.table, byte(len(p.Rest)), byte(len(p.Rest)>>8))
	p.segments(func(seg string, _ bool) {
		b.table = append(append(b.table, byte(len(seg))), seg...)
	})
}

// byteClass sorts bytes into 64 classes, those that tell paths apart best into one of their own: a pattern that needs a
// class that the path lacks is passed over.
var byteClass = func() (t [256]uint8) {
	for b := range t {
		t[b] = uint8(b & 31) // letters of either case, and control bytes
		if b < 'A' || b >= 0x7f {
			t[b] = 32 + uint8(b&31) // digits and punctuation
		}
	}
	return t
}()

// needs returns the set of classes of the bytes of all segments of a Pattern's Rest.
func needs(rest string) (set uint64) {
	for i := range len(rest) {
		if rest[i] != '*' {
			set |= 1 << byteClass[rest[i]]
		}
	}
	return set
}

// classes returns the set of classes of the bytes of a path.
func classes(path []byte) (set uint64) {
	for _, b := range path {
		set |= 1 << (byteClass[b] & 63) // the mask spares a test for larger shifts
	}
	return set
}

// A pending is a trie node that a path passed and that has floating segments.
type pending struct {
	floating uint32 // what the node says of them
	pos      int    // where in the path the node is
}

// tryInTurn returns the best rank among best and the patterns of a node.
func (t table) tryInTurn(p pending, path []byte, best Rank, have *uint64) Rank {
	off := p.floating + 1
	for range t[p.floating] {
		rank := Rank(t.u24(off))
		if rank <= best {
			return best // and so are all that follow
		}
		segments := off + inTurnHeader
		next := segments + t.u32(off+12)&0xffff
		if t[off+3] != 0 {
			if t.endsWith(segments, next, path, p.pos) {
				return rank
			}
		} else {
			if *have == 0 {
				*have = classes(path)
			}
			if t.u64(off+4)&^*have == 0 && t.follow(segments, next, path[p.pos:]) {
				return rank
			}
		}
		off = next
	}
	return best
}

// follow reports whether the segments at off, up to end, occur in path one after the other.
func (t table) follow(off, end uint32, path []byte) bool {
	for off < end {
		n := uint32(t[off])
		i := bytes.Index(path, t[off+1:off+1+n])
		if i < 0 {
			return false
		}
		path = path[i+int(n):]
		off += 1 + n
	}
	return true
}

// endsWith is follow for a pattern with an end anchor: the last segment is at the end of the path.
func (t table) endsWith(off, end uint32, path []byte, pos int) bool {
	path = path[pos:]
	for {
		n := uint32(t[off])
		seg := t[off+1 : off+1+n]
		off += 1 + n
		if off == end {
			return bytes.HasSuffix(path, seg)
		}
		i := bytes.Index(path, seg)
		if i < 0 {
			return false
		}
		path = path[i+int(n):]
	}
}
