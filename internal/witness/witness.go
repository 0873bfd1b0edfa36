// Package witness derives test paths from the patterns of robots.txt files, so that files can be compared without a
// log: if two files give different answers for some path, they do so for one of these.
//
// If the answers for a path differ, at least one of the two deciding claims is in only one file, because common claims
// decide alike. So the package considers pairs of claims: one that was added or removed, and one of the other file that
// says something else. The paths that match both are described by a few patterns, see [maker.addMeetings]. One path per
// pattern is enough: the one whose wildcards are replaced by a byte that does not occur in any pattern. A claim that
// matches this path matches all paths of the pattern. So if a third claim hides the difference here, it hides it
// everywhere. If an answer depends on claims of several kinds, their patterns are combined in the same way, see
// [Sides]. The number of paths grows with the number of changes times the number of contradicting claims; [Limits]
// bound it.
//
// The package also returns paths that people would try: each changed pattern with several texts for its wildcards,
// small changes at its end, index pages, and other letter cases.
//
// The package depends on patterns, but not on rules.
//
// Commands import it.
package witness

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// A Claim is what a line says about the paths that match its pattern, which is normalised. The longest pattern
// decides.
type Claim struct{ Pattern, Says string }

// Sides are claims that compete before and after a change. Both lists are sorted by [Compare], without duplicates.
type Sides struct {
	Old, New []Claim
	With     []string // patterns of claims of other kinds that also affect the answer
}

// Compare is the order of claims.
func Compare(a, b Claim) int {
	return cmp.Or(strings.Compare(a.Pattern, b.Pattern), strings.Compare(a.Says, b.Says))
}

// Minus returns the claims that are not among others; nil if there are none. Both lists must be sorted by Compare.
func Minus(claims, others []Claim) (rest []Claim) {
	for _, c := range claims {
		if _, is := slices.BinarySearchFunc(others, c, Compare); !is {
			rest = append(rest, c)
		}
	}
	return rest
}

// Paths are the paths for some sides.
type Paths struct {
	All []string
	Cut bool // the paths are incomplete: differences may exist only on other paths
}

// Limits bound the work of Make.
type Limits struct {
	Paths int
	Bytes int64 // of the paths, and of the notes about them
	Steps int64 // bytes examined, some nanoseconds each
}

// Make returns distinct paths for all sides, within limits. First come those that people would try. The order depends
// only on the sides and their order.
func Make(all []Sides, l Limits) Paths {
	m := maker{most: l, seen: map[string]bool{}}
	var used [256]bool
	use := func(pattern string) {
		for i := range len(pattern) {
			used[pattern[i]] = true
		}
	}
	for _, s := range all {
		for _, c := range slices.Concat(s.Old, s.New) {
			use(c.Pattern)
		}
		for _, pattern := range s.With {
			use(pattern)
		}
	}
	// Letters that are not hexadecimal digits come first, because a normal form may change such digits after a "%".
	// A "*" may be one that a pattern has escaped.
	fresh := []byte("xzqjkwvyghilmnoprstuXZQJKWVYGHILMNOPRSTU-_~!@:;,*")
	i := bytes.IndexFunc(fresh, func(r rune) bool { return r == '*' || !used[r] })
	m.fresh = string(fresh[i : i+1])
	m.cut = m.fresh == "*"

	for _, path := range []string{"/", "/x", "/index.html", "/?q=1", "/" + m.fresh} {
		m.addPath(path)
	}
	var changed []string
	for i := range all {
		for _, of := range [][2][]Claim{{all[i].Old, all[i].New}, {all[i].New, all[i].Old}} {
			for _, c := range Minus(of[0], of[1]) {
				if m.isFull() {
					break
				}
				changed = append(changed, c.Pattern)
				m.addContradictions(c, of[1], all[i].With)
			}
		}
	}
	cut := m.cut || m.isFull()
	// Paths that people would try come first, for the examples of a report. They may be cut.
	exact := m.paths
	m.paths, m.most.Paths = nil, min(l.Paths-len(exact), l.Paths/4)
	for _, path := range exact {
		m.addPath(strings.ReplaceAll(path, m.fresh, ""))
	}
	for _, pattern := range changed {
		m.addNearby(pattern)
	}
	return Paths{append(m.paths, exact...), cut}
}

// addContradictions adds the paths that match both a changed claim and a claim of the other file that says something
// else, and the paths that match the changed claim at all. If there are patterns of other kinds (with), it also adds
// paths that match one of these as well.
func (m *maker) addContradictions(c Claim, others []Claim, with []string) {
	for i := -1; i < len(others) && !m.isFull(); i++ {
		pattern := "/"
		if i >= 0 {
			if pattern = others[i].Pattern; others[i].Says == c.Says {
				m.taken.Steps++
				continue
			}
		}
		m.met = m.met[:0]
		m.addMeetings(c.Pattern, pattern)
		if len(with) == 0 {
			continue
		}
		for _, path := range slices.Clone(m.met) {
			text := strings.ReplaceAll(path, m.fresh, "*")
			if !strings.HasSuffix(text, "*") {
				text += "$"
			}
			for _, third := range with {
				m.addMeetings(text, third)
			}
		}
	}
}

// A maker collects paths.
type maker struct {
	fresh string // a byte that does not occur in any pattern
	most  Limits
	taken Limits
	paths []string
	met   []string // result of the last call of addMeetings
	seen  map[string]bool
	cut   bool // some ways in which two patterns meet were skipped
}

// pathBytes is the memory of a path besides its text.
const pathBytes = 64

// stepsOfMeet is the cost of two patterns before any of their bytes is examined.
const stepsOfMeet = 64

// isFull reports whether a limit is reached.
func (m *maker) isFull() bool {
	return len(m.paths) >= m.most.Paths || m.taken.Bytes >= m.most.Bytes || m.taken.Steps >= m.most.Steps
}

// addPath adds a path, unless it is known or a limit is reached. It ignores a text that is not a path: without a
// leading slash, or with a "#" or a blank.
func (m *maker) addPath(path string) {
	if m.isFull() {
		return
	}
	m.taken.Steps += 1 + int64(len(path))/8
	if strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "# \t\r\n") && !m.seen[path] {
		m.seen[path] = true
		m.paths = append(m.paths, path)
		m.taken.Bytes += int64(len(path)) + pathBytes
	}
}

// fillers are the replacements for wildcards.
var fillers = []string{"", "x", "/", "x/y", "x.html"}

// ends are texts to append to a pattern.
var ends = []string{"", "x", "/", "/x", "?q=1", ".html", "index.html", "/index.html", "/index.php", "$"}

// addNearby adds paths close to a pattern: with several texts for its wildcards, several ends, one byte less, and other
// letter cases.
func (m *maker) addNearby(pattern string) {
	text, anchored := strings.CutSuffix(pattern, "$")
	if !anchored {
		text = strings.TrimRight(text, "*") // anything may follow anyway
	}
	segments := strings.Split(text, "*")
	for _, filler := range fillers {
		if m.isFull() {
			return
		}
		base := strings.Join(segments, filler)
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
		m.addPath(foldCase(base, 0))
		m.addPath(foldCase(base, 'a'-'A'))
		if len(segments) == 1 {
			return
		}
	}
}

// foldCase returns a path with all ASCII letters in lower case if less is 0, or in upper case if it is 'a' - 'A'. Other
// bytes are unchanged, because texts need not be valid UTF-8.
func foldCase(path string, less byte) string {
	b := []byte(path)
	for i, c := range b {
		if c |= 'a' - 'A'; 'a' <= c && c <= 'z' {
			b[i] = c - less
		}
	}
	return string(b)
}

// rootedPatterns returns at most two patterns that together match the same paths as a pattern. They all begin with "/",
// have no two consecutive wildcards, and end in a wildcard if anything may follow. It returns nil if the pattern
// matches no path.
func rootedPatterns(pattern string) (all []string) {
	text, anchored := strings.CutSuffix(pattern, "$")
	if !anchored {
		text += "*"
	}
	for strings.Contains(text, "**") {
		text = strings.ReplaceAll(text, "**", "*")
	}
	rest, ok := strings.CutPrefix(text, "*")
	if ok {
		all = append(all, "/"+text)
	}
	if strings.HasPrefix(rest, "/") {
		all = append(all, rest)
	}
	return all
}

// addMeetings adds a path for each way in which a path can match both of two patterns, and appends it to met: the texts
// between the wildcards of one come after those of the other, or overlap them. If both have a wildcard at the same
// place, it is replaced by the fresh byte. If a limit is reached, it sets cut.
func (m *maker) addMeetings(one, two string) {
	m.taken.Steps += stepsOfMeet
	if m.isFull() {
		m.cut = true
		return
	}
	for _, p := range rootedPatterns(one) {
		for _, q := range rootedPatterns(two) {
			m.addRootedMeetings(p, q)
		}
	}
}

// A meeting is an offset in each of two patterns, and a text that leads to both. An offset at a wildcard is inside
// it.
type meeting struct {
	i, k int
	path string
}

// addRootedMeetings is addMeetings for patterns from rootedPatterns.
func (m *maker) addRootedMeetings(p, q string) {
	known := map[meeting]bool{}
	var left []meeting
	var notes int64 // bytes of the notes
	reach := func(i, k int, path string) {
		if at := (meeting{i, k, path}); !known[at] {
			known[at] = true
			left = append(left, at)
			size := int64(len(path)) + 2*pathBytes
			notes, m.taken.Bytes = notes+size, m.taken.Bytes+size
		}
	}
	n := 0
	for n < min(len(p), len(q)) && p[n] == q[n] && p[n] != '*' {
		n++
	}
	reach(n, n, p[:n])
	for len(left) > 0 && !m.isFull() {
		at := left[len(left)-1]
		left = left[:len(left)-1]
		m.taken.Steps += 1 + int64(len(at.path))/8
		inP, inQ := at.i < len(p) && p[at.i] == '*', at.k < len(q) && q[at.k] == '*'
		if inP && inQ && !strings.HasSuffix(at.path, m.fresh) {
			at.path += m.fresh
		}
		nextP, nextQ := at.i, at.k // the offsets of the bytes that must match next
		if inP {
			nextP++
		}
		if inQ {
			nextQ++
		}
		endP, endQ := nextP == len(p), nextQ == len(q)
		if endP && endQ {
			m.met = append(m.met, at.path)
			m.addPath(at.path)
			continue
		}
		if !endP && inQ {
			reach(nextP+1, at.k, at.path+p[nextP:nextP+1])
		}
		if !endQ && inP {
			reach(at.i, nextQ+1, at.path+q[nextQ:nextQ+1])
		}
		if !endP && !endQ && p[nextP] == q[nextQ] {
			reach(nextP+1, nextQ+1, at.path+p[nextP:nextP+1])
		}
	}
	m.cut = m.cut || len(left) > 0
	m.taken.Bytes -= notes
}
