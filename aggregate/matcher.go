package aggregate

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// A matcher finds all rules that match a path. The engine's automata find only the rule that decides, and stop when
// no other rule can.
type matcher struct {
	anchors []anchor // in the order of their texts
	keys    []uint64 // keyOf of each anchor's text: comparing numbers is faster than comparing texts
	size    int64    // approximate number of bytes
}

// An anchor is the part of a pattern before its first "*". Patterns with the same start share one anchor.
type anchor struct {
	text     string
	parent   int32     // the longest other anchor that is a prefix of this one; -1 if there is none
	always   []int32   // rules that match whatever follows the anchor
	exact    []int32   // rules that match only the anchor itself
	floating []segment // rules that continue after a "*"
}

// A segment is the rest of a pattern after its anchor, if the pattern contains "*".
type segment struct {
	rule  int32
	atEnd bool     // whether the last text must be at the end of the path
	texts [][]byte // the texts between "*"; only the last may be empty
	bytes uint64   // set of the bytes that a path must contain, see bytesOf
}

// newMatcher returns a matcher of rules. The numbers identify the rules in results of match.
func newMatcher(rules []robots.Rule, numbers []int32, d robots.Dialect) *matcher {
	m := &matcher{}
	type part struct {
		rule    int32
		pattern string
	}
	var parts []part
	for i, r := range rules {
		r.Pattern = d.PatternOf(r.Value)
		parts = append(parts, part{numbers[i], r.Pattern})
		if index, ok := d.IndexPattern(r); ok {
			parts = append(parts, part{numbers[i], index})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return strings.Compare(anchorOf(a.pattern), anchorOf(b.pattern)) })
	for _, p := range parts {
		text := anchorOf(p.pattern)
		if n := len(m.anchors); n == 0 || m.anchors[n-1].text != text {
			parent := int32(n) - 1 // the longest anchor so far that is a prefix of this one
			for parent >= 0 && !strings.HasPrefix(text, m.anchors[parent].text) {
				parent = m.anchors[parent].parent
			}
			m.anchors = append(m.anchors, anchor{text: text, parent: parent})
			m.keys = append(m.keys, keyOf(text))
		}
		m.anchors[len(m.anchors)-1].addRule(p.rule, p.pattern[len(text):])
		m.size += int64(len(p.pattern)) + 120
	}
	return m
}

// anchorOf returns the anchor of a pattern.
func anchorOf(pattern string) string {
	if star := strings.IndexByte(pattern, '*'); star >= 0 {
		return pattern[:star]
	}
	return strings.TrimSuffix(pattern, "$")
}

// addRule adds a rule to its anchor: as always matching, or with the segments that must follow.
func (a *anchor) addRule(rule int32, rest string) {
	switch rest {
	case "":
		a.always = append(a.always, rule)
		return
	case "$":
		a.exact = append(a.exact, rule)
		return
	}
	s := segment{rule: rule}
	rest, s.atEnd = strings.CutSuffix(rest, "$")
	texts := strings.Split(rest, "*")
	last := len(texts) - 1
	for i, text := range texts {
		if text != "" {
			s.texts = append(s.texts, []byte(text))
			s.bytes |= bytesOf(text)
		} else if i == last {
			s.atEnd = false // "*" or "*$" at the end matches any rest of a path
		}
	}
	if len(s.texts) == 0 {
		a.always = append(a.always, rule)
		return
	}
	a.floating = append(a.floating, s)
}

// bytesOf returns a set of the bytes of a text, as bits. Bytes that differ by 64 share one bit.
func bytesOf[text string | []byte](t text) (set uint64) {
	for i := range len(t) {
		set |= 1 << (t[i] & 63)
	}
	return set
}

// keyOf returns the first eight bytes of a text as a number, padded with zeros.
func keyOf[text string | []byte](t text) uint64 {
	var eight [8]byte
	copy(eight[:], t)
	return binary.BigEndian.Uint64(eight[:])
}

// last returns the index of the last anchor that does not sort after a path, or -1. Each anchor that is a prefix of
// the path is this anchor or one of its ancestors.
func (m *matcher) last(path []byte) int {
	key := keyOf(path)
	lo, hi := 0, len(m.keys) // anchors before lo have a key that is less or equal, anchors from hi on a greater one
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); m.keys[mid] <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	from := lo
	for step := 1; from > 0 && m.keys[from-1] == key; step *= 2 { // step back, in growing steps, to an anchor with a smaller key
		from = max(0, from-step)
	}
	return from + sort.Search(lo-from, func(i int) bool { return m.anchors[from+i].text > string(path) }) - 1
}

// match appends the numbers of the rules that match a path, in ascending order, each once.
func (m *matcher) match(path []byte, dst []int32) []int32 {
	has, start := uint64(0), len(dst)
	for n := m.last(path); n >= 0; {
		a := &m.anchors[n]
		n = int(a.parent)
		if len(a.text) > len(path) || string(path[:len(a.text)]) != a.text {
			continue
		}
		dst = append(dst, a.always...)
		rest := path[len(a.text):]
		if len(rest) == 0 {
			dst = append(dst, a.exact...)
		}
		if len(a.floating) > 0 && has == 0 {
			has = bytesOf(path)
		}
		for i := range a.floating {
			if s := &a.floating[i]; s.bytes&^has == 0 && s.follows(rest) {
				dst = append(dst, s.rule)
			}
		}
	}
	slices.Sort(dst[start:])
	return dst[:start+len(slices.Compact(dst[start:]))]
}

// follows reports whether the texts occur in a path one after another without overlap.
func (s *segment) follows(path []byte) bool {
	texts := s.texts
	if s.atEnd {
		last := texts[len(texts)-1]
		if !bytes.HasSuffix(path, last) {
			return false
		}
		path, texts = path[:len(path)-len(last)], texts[:len(texts)-1]
	}
	for _, text := range texts {
		i := bytes.Index(path, text)
		if i < 0 {
			return false
		}
		path = path[i+len(text):]
	}
	return true
}
