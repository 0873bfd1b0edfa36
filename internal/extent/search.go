package extent

import (
	"encoding/binary"
	"slices"
	"strings"
)

// A position is the state of a pattern.
type position struct{ pattern, at int32 }

// An escape is the state of an escape at the end of a path.
type escape uint8

const (
	noEscape    escape = iota
	afterMark          // "%"
	afterDigit         // "%" and an upper-case digit or a number
	afterLetter        // "%" and a lower-case digit, which is not an escape
)

// after returns the state of escapes after one more byte. ok is false if no normalised path continues with that byte.
func (e escape) after(b byte) (n escape, ok bool) {
	upper := '0' <= b && b <= '9' || 'A' <= b && b <= 'F'
	lower := 'a' <= b && b <= 'f'
	switch {
	case b == '%':
		return afterMark, true
	case e == afterDigit && lower, e == afterLetter && (lower || upper):
		return e, false
	case e == afterMark && upper:
		return afterDigit, true
	case e == afterMark && lower:
		return afterLetter, true
	}
	return noEscape, true
}

// A state contains everything that determines how the verdict on a path may change.
type state struct {
	parent    int32 // -1 for the state before the first byte
	depth     int32 // bytes of the path
	byte      byte  // the last byte
	escape    escape
	wanted    bool       // whether the path is wanted if none of positions matches
	done      bool       // its successors have been added
	positions []position // ascending in precedence
}

// A search looks for the shortest path of certain kinds.
type search struct {
	*product
	want   int // bits of kinds
	states int
	moves  int
	cut    bool // there were too many states or moves

	all       []state
	known     map[string]int32 // by encoded state: the index in all
	queue     [][]int32        // by the minimum length of a wanted path through the state
	first     int              // the first index of queue that may have states
	key       []byte
	positions []position // scratch
}

// isWanted reports whether a kind is searched for.
func (s *search) isWanted(k kind) bool { return s.want>>k&1 != 0 }

// tried is the number of patterns that are tried before a search.
const tried = 16

// find returns the shortest path of the wanted kinds (bits), or "" if there is none, and the search. If the search was
// cut, the path may be longer, or missing. With try, it first tries texts of patterns, which often makes a search
// unnecessary.
func (p *product) find(want int, try bool) (path string, s *search) {
	s = &search{product: p, want: want}
	found := ""
	if try {
		var isShortest bool
		if found, isShortest = s.try(); isShortest {
			return found, s
		}
	}
	if path := s.run(); path != "" || !s.cut {
		return path, s
	}
	return found, s
}

// try tries the shortest texts of up to about sixteen patterns. It returns the shortest wanted path that it finds,
// or "", and whether no shorter path is possible.
func (s *search) try() (found string, isShortest bool) {
	shortest, attempts := 0, 0
	attempt := func(path string) {
		if attempts++; (found == "" || len(path) < len(found)) && s.isWanted(s.kindOfPath(path)) {
			found = path
		}
	}
	if s.isWanted(page) {
		shortest = 1
		attempt("/")
		attempt("/x")
	}
	for _, entry := range s.byLeast {
		q := &s.patterns[uint32(entry)]
		if !s.isWanted(q.kind) {
			continue
		}
		if shortest == 0 {
			shortest = q.least
		}
		if found != "" && len(found) <= q.least || attempts >= tried {
			break
		}
		text := strings.ReplaceAll(q.text, "*", "")
		if !strings.HasPrefix(text, "/") {
			text = "/" + text
		}
		if path, _ := s.dialect.Path([]byte(s.spell(text)), nil); string(path) == text {
			attempt(text)
		}
	}
	return found, found != "" && len(found) == shortest
}

// run returns the shortest wanted path; "" if there is none, or if the search was cut.
func (s *search) run() string {
	s.known = map[string]int32{}
	begin := state{parent: -1, wanted: s.isWanted(page)}
	for i := range s.patterns {
		switch at := s.patterns[i].startPosition(); at {
		case matched:
			begin.wanted, begin.positions = s.isWanted(s.patterns[i].kind), begin.positions[:0]
		default:
			begin.positions = append(begin.positions, position{int32(i), int32(at)})
		}
	}
	begin.positions = s.reduce(begin.wanted, begin.positions)
	s.all = append(s.all, begin)
	s.follow(0, '/')
	var waits [256]bool
	for i, ok := s.popState(); ok; i, ok = s.popState() {
		if s.all[i].done {
			continue
		}
		s.all[i].done = true
		isWanted := s.all[i].wanted
		for _, p := range slices.Backward(s.all[i].positions) {
			if q := &s.patterns[p.pattern]; int(p.at) == len(q.text) { // matched by an end anchor: other matches are no longer in positions
				isWanted = s.isWanted(q.kind)
				break
			}
		}
		if isWanted { // the path ends here
			return s.pathTo(i)
		}
		clear(waits[:])
		for _, p := range s.all[i].positions {
			s.patterns[p.pattern].waits(int(p.at), &waits)
		}
		s.moves += len(s.all[i].positions)
		s.followOthers(i, &waits)
		for b := range waits {
			if waits[b] && s.legal[b] {
				s.follow(i, byte(b))
			}
		}
		if s.cut {
			return ""
		}
	}
	return ""
}

// popState removes the first state from the queue, and returns its index in all. The same state may be returned several
// times. ok is false if the queue is empty.
func (s *search) popState() (i int32, ok bool) {
	for ; s.first < len(s.queue); s.first++ {
		if states := &s.queue[s.first]; len(*states) > 0 {
			i, *states = (*states)[0], (*states)[1:]
			return i, true
		}
	}
	return 0, false
}

// pathTo returns the path that leads to state i.
func (s *search) pathTo(i int32) string {
	b := make([]byte, s.all[i].depth)
	for ; s.all[i].parent >= 0; i = s.all[i].parent {
		b[s.all[i].depth-1] = s.all[i].byte
	}
	return string(b)
}

// others are the bytes to try if no pattern waits for them, the most readable ones first.
var others = func() []byte {
	all := []byte("xzqjkwvyuostrnmlihgpedcbaf0123456789-_XYZABCDEF")
	for b := range 256 {
		if !slices.Contains(all, byte(b)) {
			all = append(all, byte(b))
		}
	}
	return all
}()

// followOthers adds the successors of state i by a byte for which no pattern waits: one for each way in which escapes
// may continue. waits has the other bytes.
func (s *search) followOthers(i int32, waits *[256]bool) {
	var gone [afterLetter + 1]bool
	for _, b := range others {
		if waits[b] || !s.legal[b] || b == '%' { // a "%" only restricts the bytes after it
			continue
		}
		next := noEscape
		if s.escapes {
			var ok bool
			if next, ok = s.all[i].escape.after(b); !ok {
				continue
			}
		}
		if !gone[next] {
			gone[next] = true
			s.follow(i, b)
		}
		if !s.escapes {
			return
		}
	}
}

// follow adds the successor of state i by a byte, unless no wanted path can continue from there, or the same state is
// known with a path that is not longer. It sets cut if there are too many states or moves.
func (s *search) follow(i int32, b byte) {
	from := &s.all[i]
	next := state{parent: i, depth: from.depth + 1, byte: b, wanted: from.wanted}
	if s.escapes {
		var ok bool
		if next.escape, ok = from.escape.after(b); !ok {
			return
		}
	}
	positions := s.positions[:0]
	for _, p := range from.positions {
		q := &s.patterns[p.pattern]
		switch at := q.move(int(p.at), b); at {
		case dead:
		case matched:
			next.wanted, positions = s.isWanted(q.kind), positions[:0]
		default:
			positions = append(positions, position{p.pattern, int32(at)})
		}
	}
	s.moves += len(from.positions)
	positions = s.reduce(next.wanted, positions)
	s.positions = positions[:0]
	left := s.left(next.wanted, positions)
	if left < 0 {
		return
	}
	key := append(s.key[:0], byte(next.escape), 0)
	if next.wanted {
		key[1] = 1
	}
	for _, p := range positions {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(p.pattern)), uint64(p.at))
	}
	s.key = key
	n, known := s.known[string(key)]
	if known && s.all[n].depth <= next.depth {
		return
	}
	if known { // this path to the state is shorter
		next.positions = s.all[n].positions
		s.all[n] = next
	} else {
		if s.states++; s.states > MaxStates || s.moves > maxMoves {
			s.cut = true
			return
		}
		next.positions = slices.Clone(positions)
		n = int32(len(s.all))
		s.all = append(s.all, next)
		s.known[string(key)] = n
	}
	least := int(next.depth) + left
	for len(s.queue) <= least {
		s.queue = append(s.queue, nil)
	}
	s.queue[least] = append(s.queue[least], n)
}

// reduce removes the positions with the lowest precedence, as long as the verdict is the same without them. wanted is
// whether the path is wanted if no position matches. It changes positions, and returns a part of it.
func (s *search) reduce(wanted bool, positions []position) []position {
	n := 0
	for n < len(positions) && s.isWanted(s.patterns[positions[n].pattern].kind) == wanted {
		n++
	}
	return append(positions[:0], positions[n:]...)
}

// left returns the minimum number of bytes that a path still needs to be wanted; -1 if that is impossible. wanted
// is as in reduce.
func (s *search) left(wanted bool, positions []position) int {
	if wanted {
		return 0
	}
	least := -1
	for _, p := range positions {
		q := &s.patterns[p.pattern]
		if s.isWanted(q.kind) {
			if left := q.bytesLeft(int(p.at)); least < 0 || left < least {
				least = left
			}
		}
	}
	return least
}
