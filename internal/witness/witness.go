// Package witness makes paths from the patterns of robots.txt files, so that files can be compared
// without a log: if two files differ in their answer on some path, they differ on one of these.
//
// A path on which the answers differ is decided by a claim that only one file has: claims that both have
// decide alike. So two claims matter, of which one was added or removed, and the other is of the other file and says
// something else. The paths that both match are those of a few patterns, see [maker.meet], and one path is
// enough for each pattern: the one whose wildcards are filled by a byte that no pattern has. A claim that matches
// it matches all paths of that pattern, so no third claim hides the difference here and not elsewhere. Where an answer
// depends on claims of several kinds, the patterns of the others are met, too, see [Sides]. The number of paths grows
// with the product of the changes and the claims that contradict them; [Limits] cut it.
//
// Other paths are those that people would try: each changed pattern with its wildcards filled by several texts, the
// neighbours of its end, index pages, and other cases of letters.
//
// The package knows patterns, and no rules.
//
// Commands import it.
package witness

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// A Claim is what a line says about the paths that match its pattern, which is in normal form. The longest pattern
// decides.
type Claim struct{ Pattern, Says string }

// Sides are claims that compete before and after a change. Both lists are sorted by [Compare], without duplicates.
type Sides struct {
	Old, New []Claim
	With     []string // patterns of claims of other kinds, on which the answer depends as well
}

// Compare is the order of claims.
func Compare(a, b Claim) int {
	return cmp.Or(strings.Compare(a.Pattern, b.Pattern), strings.Compare(a.Says, b.Says))
}

// Minus returns the claims that are not among others. Both lists are sorted.
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
	Cut bool // there may be differences on other paths only
}

// Limits are the most that paths may take.
type Limits struct {
	Paths int
	Bytes int64 // of the paths, and of the notes about them
	Steps int64 // bytes that are looked at, some nanoseconds each
}

// Make returns paths, each once, within limits. The order depends on nothing but the sides and their order.
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
	// Letters that are not hexadecimal digits come first: a normal form may change those behind a "%". A "*" may be one
	// that a pattern has escaped.
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
				m.contradict(c, of[1], all[i].With)
			}
		}
	}
	cut := m.cut || m.isFull()
	// What people would try is for the examples of a report, so that it comes first, and may be cut.
	exact := m.paths
	m.paths, m.most.Paths = nil, min(l.Paths-len(exact), l.Paths/4)
	for _, path := range exact {
		m.addPath(strings.ReplaceAll(path, m.fresh, ""))
	}
	for _, pattern := range changed {
		m.try(pattern)
	}
	return Paths{append(m.paths, exact...), cut}
}

// contradict adds the paths that a changed claim and one of the other file match: any, or one that says something else. With patterns of
// other kinds, they are those that one of these matches, too.
func (m *maker) contradict(c Claim, others []Claim, with []string) {
	for i := -1; i < len(others) && !m.isFull(); i++ {
		pattern := "/"
		if i >= 0 {
			if pattern = others[i].Pattern; others[i].Says == c.Says {
				m.taken.Steps++
				continue
			}
		}
		m.met = m.met[:0]
		m.meet(c.Pattern, pattern)
		if len(with) == 0 {
			continue
		}
		for _, path := range slices.Clone(m.met) {
			text := strings.ReplaceAll(path, m.fresh, "*")
			if !strings.HasSuffix(text, "*") {
				text += "$"
			}
			for _, third := range with {
				m.meet(text, third)
			}
		}
	}
}

// A maker collects paths.
type maker struct {
	fresh string // a byte that no pattern has
	most  Limits
	taken Limits
	paths []string
	met   []string // by the last call of meet
	seen  map[string]bool
	cut   bool // some ways of two patterns to meet were not looked at
}

// pathBytes is the memory that a path takes besides its text.
const pathBytes = 64

// stepsOfMeet is what two patterns take before a byte of them is looked at.
const stepsOfMeet = 64

// isFull reports whether a limit is reached.
func (m *maker) isFull() bool {
	return len(m.paths) >= m.most.Paths || m.taken.Bytes >= m.most.Bytes || m.taken.Steps >= m.most.Steps
}

// addPath adds a path, unless there are enough. A fragment is not a part of a path.
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

// fillers replace wildcards.
var fillers = []string{"", "x", "/", "x/y", "x.html"}

// ends are the texts after the end of a pattern.
var ends = []string{"", "x", "/", "/x", "?q=1", ".html", "index.html", "/index.html", "/index.php", "$"}

// try adds the paths near a pattern.
func (m *maker) try(pattern string) {
	text, anchored := strings.CutSuffix(pattern, "$")
	if !anchored {
		text = strings.TrimRight(text, "*") // anything may follow in any case
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
		m.addPath(folded(base, 0))
		m.addPath(folded(base, 'a'-'A'))
		if len(segments) == 1 {
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

// rooted returns patterns that match what a pattern matches, if it begins with "/": they all do, have no two wildcards in a
// row, and one at the end if anything may follow.
func rooted(pattern string) (all []string) {
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

// meet adds a path for each way in which a path can match both of two patterns: the texts between the wildcards of one follow
// those of the other, or overlap. Wildcards of both at the same place are filled by the fresh byte.
func (m *maker) meet(one, two string) {
	m.taken.Steps += stepsOfMeet
	if m.isFull() {
		m.cut = true
		return
	}
	for _, p := range rooted(one) {
		for _, q := range rooted(two) {
			m.meetRooted(p, q)
		}
	}
}

// A meeting is a place in each of two patterns, and a text that leads there. A place at a wildcard is in it.
type meeting struct {
	i, k int
	path string
}

// meetRooted is meet for patterns that rooted returned.
func (m *maker) meetRooted(p, q string) {
	known := map[meeting]bool{}
	var left []meeting
	var notes int64 // bytes of these
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
		nextP, nextQ := at.i, at.k // the bytes that have to match next
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
