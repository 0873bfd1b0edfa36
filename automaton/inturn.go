package automaton

// Where only a few patterns share an anchor, each is looked for by itself: a segment takes some 5 ns by vector
// instructions, or 1 ns if the path lacks a byte of it. The offset of a trie node's patterns leads to
//
//	count     1 byte
//	patterns  of descending rank, each
//	    needs     8 bytes: the classes of the bytes of all segments, see classBit
//	    pattern   see builder.pattern

// tableInTurn writes patterns of descending rank.
func (b *builder) tableInTurn(pats []ranked) {
	b.table = append(b.table, byte(len(pats)))
	for i := range pats {
		b.table = b.table.appendU64(needs(pats[i].Rest))
		b.pattern(&pats[i])
	}
}

// classBit sorts bytes into 64 classes, those that tell paths apart best into one of their own, and has a bit for each: a
// pattern that needs a class that the path lacks is passed over.
var classBit = func() (t [256]uint64) {
	for b := range t {
		t[b] = 1 << (b & 31) // letters of either case, and control bytes
		if b < 'A' || b >= 0x7f {
			t[b] <<= 32 // digits and punctuation
		}
	}
	return t
}()

// needs returns the set of classes of the bytes of all segments of a Pattern's Rest.
func needs(rest string) (set uint64) {
	for i := range len(rest) {
		if rest[i] != '*' {
			set |= classBit[rest[i]]
		}
	}
	return set
}

// classes returns the set of classes of the bytes of a path.
func classes(path []byte) (set uint64) {
	for _, b := range path {
		set |= classBit[b]
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
		h := t.headerAt(off + 8)
		if h.rank() <= best {
			return best // and so are all that follow
		}
		next := off + 8 + patternHeader + h.size()
		if h.atEnd() { // mostly seen at once not to match
			if t.endsWith(off+8+patternHeader, next, path[p.pos:]) {
				return h.rank()
			}
		} else {
			if *have == 0 {
				*have = classes(path)
			}
			if t.u64(off)&^*have == 0 && t.follow(off+8+patternHeader, next, path[p.pos:]) {
				return h.rank()
			}
		}
		off = next
	}
	return best
}
