package automaton

import (
	"encoding/binary"
	"errors"
)

// ErrEncoding is the error of bytes that are no automaton.
var ErrEncoding = errors.New("not the encoding of an automaton")

// AppendBinary appends the automaton's encoding, which [FromBytes] reads: the length of the trie's
// table and the table, and then, for an automaton that searches, the tables of the search.
//
//	states, segments, nodes, starts, chains, anchor   4 bytes each
//	start, first, fail, out                   4 bytes for each byte, state and one more, state, state
//	shorter, length, listed, ending           4 bytes for each segment, and one more in ending
//	nodes                                     28 bytes each
//	starts, chains                            4 bytes each
//	labels                                    1 byte for each state
func (a *Automaton) AppendBinary(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(a.table)))
	dst = append(dst, a.table...)
	if a.search == nil {
		return dst
	}
	t := a.search
	counts := []uint32{uint32(len(t.labels)), uint32(len(t.length)), uint32(len(t.nodes)), uint32(len(t.starts)), uint32(len(t.chains)), t.anchor}
	for _, list := range [][]uint32{counts, t.start[:], t.first, t.fail, t.out, t.shorter} {
		dst = appendNumbers(dst, list)
	}
	dst = appendNumbers(dst, t.length)
	dst = appendNumbers(dst, t.listed)
	dst = appendNumbers(dst, t.ending)
	for i := range t.nodes {
		n := &t.nodes[i]
		dst = appendNumbers(dst, []uint32{n.parent, n.last, uint32(n.rank), uint32(n.exact), uint32(n.bound), n.start, n.chains})
	}
	dst = appendNumbers(dst, t.starts)
	dst = appendNumbers(dst, t.chains)
	return append(dst, t.labels...)
}

func appendNumbers[T ~uint32 | ~int32](dst []byte, list []T) []byte {
	for _, v := range list {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}

// FromBytes returns the automaton that [Automaton.AppendBinary] wrote, for that number of rules.
// Whatever the bytes are, Match of what it returns ends, without a panic, and its ranks are of
// those rules; the error is ErrEncoding. Time is linear in the bytes. The automaton keeps data,
// which must not change.
func FromBytes(data []byte, rules int) (*Automaton, error) {
	if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) || len(data) > 1<<31-1 {
		return nil, ErrEncoding
	}
	n := 4 + int(binary.LittleEndian.Uint32(data))
	a := &Automaton{table: data[4:n:n]}
	v := validator{table: a.table, rules: rules}
	if n < len(data) {
		if a.search = decodeSearch(data[n:]); a.search == nil || !v.checkSearch(a.search) {
			return nil, ErrEncoding
		}
	}
	if !v.checkTable() {
		return nil, ErrEncoding
	}
	if a.search != nil {
		a.search.maxDepth = v.maxDepth
		a.search.derive()
	}
	return a, nil
}

// decodeSearch returns the tables of a search, unchecked, or nil if their lengths do not add up.
func decodeSearch(data []byte) *searchTable {
	const head, node = 6 * 4, 7 * 4
	if len(data) < head {
		return nil
	}
	r := numberReader(data)
	states, segments, nodes, starts, chains := r.next(), r.next(), r.next(), r.next(), r.next()
	t := &searchTable{anchor: r.next()}
	want := int64(head) + 256*4 + int64(states)*(3*4+1) + 4 + int64(segments)*(4*4) + 4 + int64(nodes)*node + (int64(starts)+int64(chains))*4
	if want != int64(len(data)) {
		return nil
	}
	copy(t.start[:], r.list(256))
	t.first, t.fail, t.out = r.list(states+1), r.list(states), r.list(states)
	t.shorter, t.length = r.list(segments), make([]int32, segments)
	for g := range t.length {
		t.length[g] = int32(r.next())
	}
	t.listed, t.ending = r.list(segments), r.list(segments+1)
	t.nodes = make([]seqNode, nodes)
	for i := range t.nodes {
		t.nodes[i] = seqNode{r.next(), r.next(), Rank(r.next()), Rank(r.next()), Rank(r.next()), r.next(), r.next()}
	}
	t.starts, t.chains = r.list(starts), r.list(chains)
	t.labels = r
	return t
}

// A numberReader reads numbers of four bytes, of which there must be enough.
type numberReader []byte

func (r *numberReader) next() uint32 {
	v := binary.LittleEndian.Uint32(*r)
	*r = (*r)[4:]
	return v
}

func (r *numberReader) list(n uint32) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = r.next()
	}
	return list
}
