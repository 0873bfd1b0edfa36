// Package witness makes paths from the patterns of robots.txt files, so that files can be compared
// without a log. If two files differ in their answer on some path, they mostly differ on one of
// these.
//
// The paths are of two kinds. Those that people would try: each pattern with its wildcards filled by
// several texts, and the neighbours of its end, index pages, and other cases of letters. And a walk
// through all patterns at once: it goes on byte by byte, shortest paths first, and keeps one path for
// each set of places that the patterns can be in. The files' answer on a path depends on that set alone,
// so if the walk comes to its end, no difference is missed, but for paths whose normal form is
// another. Both are cut after a number of paths, of bytes, and of steps, see [Limits]: their need
// may grow with the product of all patterns.
//
// The package knows patterns, and no rules.
//
// Commands import it.
package witness

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Paths are the paths for some patterns.
type Paths struct {
	All []string
	Cut bool // there may be differences on other paths: the walk did not come to its end
}

// Limits are the most that paths may take.
type Limits struct {
	Paths int
	Bytes int64 // of the paths, and of the notes about them
	Steps int64 // places of patterns that are looked at, some nanoseconds each
}

// A pattern is the value of a rule, taken apart.
type pattern struct {
	segments []string // between the wildcards
	anchored bool     // its end is the path's end
}

// Make returns paths, each once, for patterns in normal form, within limits. The order depends on
// nothing but the patterns and their order.
func Make(patterns []string, l Limits) Paths {
	m := maker{most: Limits{l.Paths / 2, l.Bytes / 2, l.Steps / 2}, seen: map[string]bool{}} // the rest is for the walk
	var parsed []pattern
	known := map[string]bool{}
	for _, text := range patterns {
		if text != "" && !known[text] {
			known[text] = true
			// Take a pattern apart.
			p := pattern{}
			if text, p.anchored = strings.CutSuffix(text, "$"); !p.anchored {
				text = strings.TrimRight(text, "*") // anything may follow in any case
			}
			p.segments = strings.Split(text, "*")
			parsed = append(parsed, p)
		}
	}
	for _, path := range []string{"/", "/x", "/index.html", "/?q=1"} {
		m.addPath(path)
	}
	for _, p := range parsed {
		m.try(p)
	}
	m.pairs(parsed)
	m.most = l
	cut := m.walk(parsed)
	return Paths{m.paths, cut}
}

// A maker collects paths.
type maker struct {
	most  Limits
	taken Limits
	paths []string
	seen  map[string]bool
}

// pathBytes is the memory that a path takes besides its text.
const pathBytes = 64

// isFull reports whether a limit is reached.
func (m *maker) isFull() bool {
	return len(m.paths) >= m.most.Paths || m.taken.Bytes >= m.most.Bytes || m.taken.Steps >= m.most.Steps
}

// addPath adds a path, unless there are enough, and reports whether there was room. A fragment is not a part
// of a path.
func (m *maker) addPath(path string) bool {
	if m.isFull() {
		return false
	}
	m.taken.Steps += 1 + int64(len(path))/8
	if strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "# \t\r\n") && !m.seen[path] {
		m.seen[path] = true
		m.paths = append(m.paths, path)
		m.taken.Bytes += int64(len(path)) + pathBytes
	}
	return true
}

// fillers stand for wildcards.
var fillers = []string{"", "x", "/", "x/y", "x.html"}

// ends are the texts after the end of a pattern.
var ends = []string{"", "x", "/", "/x", "?q=1", ".html", "index.html", "/index.html", "/index.php", "$"}

// try adds the paths near a pattern.
func (m *maker) try(p pattern) {
	for _, filler := range fillers {
		if m.isFull() {
			return
		}
		base := strings.Join(p.segments, filler)
		if !strings.HasPrefix(base, "/") {
			base = "/" + base
		}
		for _, end := range ends {
			m.addPath(base + end)
		}
		if len(base) > 1 {
			m.addPath(base[:len(base)-1])
			m.addPath(base[:len(base)-1] + "~")
		}
		m.addPath(folded(base, 0))
		m.addPath(folded(base, 'a'-'A'))
		if len(p.segments) == 1 {
			return
		}
	}
}

// folded returns a path with all letters of ASCII in lower case, or, less that much, in upper case. Other
// bytes stay as they are: no text needs to be UTF-8.
func folded(path string, less byte) string {
	b := []byte(path)
	for i, c := range b {
		if c |= 'a' - 'A'; 'a' <= c && c <= 'z' {
			b[i] = c - less
		}
	}
	return string(b)
}

// pairs adds paths that two patterns match, as far as they can: rules only compete there.
func (m *maker) pairs(all []pattern) {
	for i, p := range all {
		for k, q := range all {
			if m.taken.Steps++; m.isFull() {
				return
			}
			if i == k || len(p.segments)+len(q.segments) == 2 {
				continue // both are prefixes: one holds the other, or they have nothing in common
			}
			prefix := p.segments[0]
			if len(q.segments[0]) > len(prefix) {
				prefix = q.segments[0]
			}
			if !strings.HasPrefix(prefix, "/") {
				prefix = "/" + prefix
			}
			rest := strings.Join(p.segments[1:], "")
			if !m.addPath(prefix + rest + strings.Join(q.segments[1:], "")) {
				return
			}
		}
	}
}

// A state is the places that patterns can be in after a path: the number of bytes and wildcards of
// each that are consumed. It is sorted, and has no pattern twice in one place.
type state struct {
	path   string
	places []place
}

// bytes returns the memory of a state.
func (s *state) bytes() int64 { return int64(len(s.path)) + 8*int64(cap(s.places)) + pathBytes }

// A place is how much of a pattern is consumed: len(text) is all of it.
type place struct{ pattern, at uint32 }

// automaton is all patterns, with their wildcards.
type automaton struct{ texts []string }

// step returns the places after a byte. dst is used for them.
func (a automaton) step(dst, from []place, b byte) []place {
	for _, p := range from {
		text := a.texts[p.pattern]
		switch {
		case int(p.at) == len(text): // it matches whatever follows
			dst = append(dst, p)
		case text[p.at] == '*':
			dst = append(dst, p)
			if int(p.at)+1 < len(text) && text[p.at+1] == b {
				dst = a.consume(dst, place{p.pattern, p.at + 2})
			}
		case text[p.at] == '$' && int(p.at)+1 == len(text): // nothing may follow
		case text[p.at] == b:
			dst = a.consume(dst, place{p.pattern, p.at + 1})
		}
	}
	slices.SortFunc(dst, func(x, y place) int {
		if x.pattern != y.pattern {
			return int(x.pattern) - int(y.pattern)
		}
		return int(x.at) - int(y.at)
	})
	return slices.Compact(dst)
}

// consume appends a place. A wildcard at the very end matches the same paths as the pattern without it.
func (a automaton) consume(dst []place, p place) []place {
	if text := a.texts[p.pattern]; strings.Trim(text[p.at:], "*") == "" {
		p.at = uint32(len(text))
	}
	return append(dst, p)
}

// walk adds a path for each set of places, and reports whether it stopped before it had all.
func (m *maker) walk(patterns []pattern) (cut bool) {
	var a automaton
	for _, p := range patterns {
		text := strings.Join(p.segments, "*")
		if p.anchored {
			text += "$"
		}
		for strings.Contains(text, "**") {
			text = strings.ReplaceAll(text, "**", "*")
		}
		a.texts = append(a.texts, text)
	}
	var used [256]bool
	for _, text := range a.texts {
		for i := range len(text) {
			used[text[i]] = true
		}
	}
	var alphabet []byte
	others := []byte("xzqjkwvyabcdefghilmnoprstu0123456789-_~")
	if i := bytes.IndexFunc(others, func(r rune) bool { return !used[r] }); i >= 0 {
		alphabet = append(alphabet, others[i])
	}
	for b := range 256 {
		if used[b] && b != '*' && b != '#' && b > ' ' {
			alphabet = append(alphabet, byte(b))
		}
	}

	var begin []place
	for i, text := range a.texts {
		if strings.Trim(text, "*") == "" {
			begin = append(begin, place{uint32(i), uint32(len(text))})
		} else {
			begin = append(begin, place{uint32(i), 0})
		}
	}
	known := map[xxh3.Uint128]struct{}{} // sets of places, by their hashes
	queue := []state{{"/", a.step(nil, begin, '/')}}
	var key []byte
	var next []place
	for n := 0; n < len(queue); n++ {
		s := queue[n]
		queue[n] = state{}
		m.taken.Bytes -= s.bytes()
		if !m.addPath(s.path) {
			return true
		}
		for _, b := range alphabet {
			m.taken.Steps += int64(len(s.places)) + 1
			next = a.step(next[:0], s.places, b)
			key = key[:0]
			for _, p := range next {
				key = append(key, byte(p.pattern), byte(p.pattern>>8), byte(p.pattern>>16), byte(p.at), byte(p.at>>8), byte(p.at>>16))
			}
			hash := xxh3.Hash128(key)
			if _, is := known[hash]; is {
				continue
			}
			known[hash] = struct{}{}
			m.taken.Bytes += pathBytes
			if len(m.paths)+len(queue)-n > m.most.Paths || m.isFull() {
				cut = true
				continue
			}
			later := state{s.path + string(b), slices.Clone(next)}
			m.taken.Bytes += later.bytes()
			queue = append(queue, later)
		}
	}
	return cut
}
