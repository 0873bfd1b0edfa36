package automaton

// Where only a few patterns share an anchor, each is looked for by itself, by the byte of each segment that paths have least: 4 ns by
// vector instructions for a path that lacks it. Of more, those are passed over in 1 ns that need a byte that the path lacks. The offset of a trie node's patterns leads to
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

// A classSet is the set of classes of the bytes of a path, found when it pays: that takes as long as looking for some
// four patterns, and most trie nodes have no more.
type classSet uint64

// fewPatterns is how many patterns of a node are looked for without the classes.
const fewPatterns = 6

// may reports whether the path may have the bytes that a pattern needs.
func (c *classSet) may(needs uint64, path []byte) bool {
	if *c == 0 {
		c.find(path)
	}
	return needs&^uint64(*c) == 0
}

func (c *classSet) find(path []byte) {
	for _, b := range path {
		*c |= classSet(classBit[b])
	}
}

// A pending is a trie node that a path passed and that has floating segments.
type pending struct {
	floating uint32 // what the node says of them
	pos      int    // where in the path the node is
}

// tryInTurn returns the best rank among best and the patterns of a node.
func (t table) tryInTurn(p pending, path []byte, best Rank, have *classSet) Rank {
	off, count := p.floating+1, t[p.floating]
	for range count {
		h := t.headerAt(off + 8)
		if h.rank() <= best {
			return best // and so are all that follow
		}
		next := off + 8 + patternHeader + h.size()
		if h.atEnd() { // mostly seen at once not to match
			if t.endsWith(off+8+patternHeader, next, path[p.pos:]) {
				return h.rank()
			}
		} else if (count <= fewPatterns || have.may(t.u64(off), path)) && t.follow(off+8+patternHeader, next, path[p.pos:]) {
			return h.rank()
		}
		off = next
	}
	return best
}
