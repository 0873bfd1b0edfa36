//go:build engines

package main

import (
	"slices"

	"github.com/robobatch/robobatch/automaton"
)

// A dense is a full DFA over byte classes, with one load and one comparison per byte of a path. It is fast as long as
// the number of states stays small.
type dense struct {
	class  [256]uint32
	next   []uint32 // by state + class; a state is the index of its row; from ended on, the result is known: the rest is the winner
	winner []int32  // by row number: the result if the path ends there
	width  uint32
}

// Sites that need more than mostStates states have no DFA. Row numbers are below ended.
const (
	mostStates = 1 << 13
	ended      = 1 << 31
)

// A pattern contains the text of a rule without its end anchor.
type pattern struct {
	text string
	end  bool
}

// newDense returns the DFA of a site, or nil if it has more than mostStates states.
func newDense(s *site) *dense {
	d, patterns := &dense{width: 1}, []pattern(nil)
	for _, n := range s.order {
		p := automaton.ParsePattern(s.rules[n].Pattern)
		patterns = append(patterns, pattern{p.Anchor + p.Rest, p.End})
		for _, b := range []byte(p.Anchor + p.Rest) {
			if d.class[b] == 0 && b != '*' {
				d.class[b], d.width = d.width, d.width+1
			}
		}
	}
	// A state is the best rule that matched, and positions in the texts of better rules, in order.
	var states [][]rune
	known := map[string]uint32{}
	add := func(best rune, places []rune) uint32 {
		var set []rune
		for _, p := range places {
			for n, at := p>>12, p&0xfff; ; at++ {
				of := &patterns[n]
				if set = append(set, n<<12|at); int(at) == len(of.text) && !of.end {
					best = max(best, n)
				}
				if int(at) == len(of.text) || of.text[at] != '*' {
					break
				}
			}
		}
		set = slices.DeleteFunc(set, func(p rune) bool { return p>>12 <= best })
		slices.Sort(set)
		if set = slices.Compact(set); len(set) == 0 {
			return ended + uint32(best+1)
		}
		set = append(set, best)
		key := string(runeBytes(set))
		if _, ok := known[key]; !ok {
			known[key] = uint32(len(states)) * d.width
			states = append(states, set)
		}
		return known[key]
	}
	var start []rune
	for n := range patterns {
		start = append(start, rune(n)<<12)
	}
	if first := add(-1, start); first >= ended {
		states = append(states, []rune{rune(first-ended) - 1})
	}
	for i := 0; i < len(states); i++ {
		places, best := states[i][:len(states[i])-1], states[i][len(states[i])-1]
		win := best
		for _, p := range places {
			if of := &patterns[p>>12]; of.end && int(p&0xfff) == len(of.text) {
				win = max(win, p>>12)
			}
		}
		d.winner = append(d.winner, win)
		for class := range d.width {
			var to []rune
			for _, p := range places {
				text := patterns[p>>12].text
				switch at := int(p & 0xfff); {
				case at == len(text):
				case text[at] == '*':
					to = append(to, p)
				case d.class[text[at]] == class:
					to = append(to, p+1)
				}
			}
			d.next = append(d.next, add(best, to))
		}
		if len(states) > mostStates {
			return nil
		}
	}
	return d
}

// runeBytes encodes numbers as bytes for use as a map key.
func runeBytes(set []rune) (key []byte) {
	for _, n := range set {
		key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return key
}

// match returns the rank of the rule that decides a path, the index in site.order; -1 if no rule matches.
func (d *dense) match(path []byte) int32 {
	at := uint32(0)
	for _, b := range path {
		if at = d.next[at+d.class[b]]; at >= ended {
			return int32(at-ended) - 1
		}
	}
	return d.winner[at/d.width]
}
