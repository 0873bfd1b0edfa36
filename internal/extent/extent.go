// Package extent determines how much of a site the rules of a robots.txt leave open to a crawler: none of its
// paths, some or all. The answer is exact, and covers every path that [robots.Dialect.Path] can return, except
// /robots.txt itself.
//
// # Algorithm
//
// Each pattern is a deterministic automaton with one state per byte. Before the first "*", the bytes must match one
// by one; after it, the first occurrence of each segment is searched as Knuth, Morris and Pratt do. The first
// occurrence suffices, because it leaves the most bytes for the following segments. In the product of all patterns,
// A* finds the shortest allowed path and the shortest disallowed path. The lower bound for a state's distance is
// the number of bytes that some rule of the wanted kind still needs. If a search ends without a path, no such path
// exists.
//
// A state consists of the positions of the patterns that can still change the verdict. Patterns are removed if they
// can no longer match or, once a pattern without an end anchor has matched, if they have lower precedence. The
// patterns with the lowest precedence are removed as long as the verdict is the same without them. After "Disallow:
// /", only longer Allow rules remain; if there are none, the search ends immediately.
//
// All bytes that no pattern waits for lead to the same state, so only one of them is tried. A normalised path has
// no escapes with lower-case digits, unless the dialect decodes escapes: then every text can occur, because
// "%%34%31" becomes "%41". A search distinguishes states by escapes if some pattern has a "%".
//
// # Cost
//
// Patterns without "*" that have n bytes together lead to at most n+1 states. If patterns have a "*", there may be
// as many states as the product of their lengths. A search stops after [MaxStates] states or [maxMoves] moves of
// patterns, and its result is then [Unknown]. Before a search, the shortest texts that match the first rules of the
// wanted kind are tried: if one of them is as short as any path can be, it is the answer. None of 2,561 real files
// needs more than a few hundred states.
//
// Only the command census imports it.
package extent

import (
	"slices"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/robots"
)

// An Access is the part of all paths that is allowed. The zero value is Unknown.
type Access uint8

// The values of Access.
const (
	Unknown Access = iota // the search would take too many states
	None
	Some
	All
)

// String returns "unknown", "none", "some" or "all".
func (a Access) String() string { return [...]string{"unknown", "none", "some", "all"}[a] }

// MaxStates is the maximum number of states of a search.
const MaxStates = 100_000

// maxMoves is the maximum number of moves of patterns in a search, which take some tenths of a second.
const maxMoves = 1 << 25

// An Extent describes the part of a site that rules leave open.
type Extent struct {
	Access Access

	// Open and Closed are the shortest allowed and the shortest disallowed path, as they can be written in a URL; "" if
	// there is none. If a search had too many states, they may be longer, or missing.
	Open, Closed string

	// OnlyFiles says whether all allowed paths are decided by Allow rules for single files, such as /ads.txt:
	// without "*", and ending in an end anchor or the name of a file. It is Unknown, None or All, and None unless
	// Access is Some.
	OnlyFiles Access

	Rule   int // index of the rule that disallows Closed; -1 if there is none
	States int // number of states in all searches
}

// Of returns the extent of the rules that bind a crawler. Their Pattern must be set.
func Of(rules []robots.Rule, d robots.Dialect) Extent { return extentOf(rules, d, true) }

// extentOf is Of. If try is false, it does not try texts of rules before searches, as tests do to compare the results.
func extentOf(rules []robots.Rule, d robots.Dialect, try bool) Extent {
	var x Extent
	p := newProduct(rules, d)
	open, seekOpen := p.find(isOpen, try)
	closed, seekClosed := p.find(isClosed, try)
	x.States = seekOpen.states + seekClosed.states
	switch {
	case open == "" && !seekOpen.cut:
		x.Access = None
	case closed == "" && !seekClosed.cut:
		x.Access = All
	case open != "" && closed != "":
		x.Access = Some
	}
	x.OnlyFiles = None
	if x.Access == Some && p.kindOfPath(open) == file {
		path, seek := p.find(isOpenPage, try)
		x.States += seek.states
		switch {
		case path == "" && seek.cut:
			x.OnlyFiles = Unknown
		case path == "":
			x.OnlyFiles = All
		}
	}
	x.Open, x.Closed, x.Rule = p.spell(open), p.spell(closed), -1
	if closed != "" {
		x.Rule = p.patterns[p.winner(closed)].rule
	}
	return x
}

// A kind classifies a path by what the rules say about it.
type kind uint8

const (
	page   kind = iota // allowed, by a rule or without one
	file               // allowed, by a rule for a single file
	closed             // disallowed
	own                // /robots.txt itself, which is ignored
)

// The kinds of paths to search for, as bits.
const (
	isOpenPage = 1 << page
	isOpen     = 1<<page | 1<<file
	isClosed   = 1 << closed
)

// A pattern is the pattern of a rule as an automaton. Its states are offsets in text.
type pattern struct {
	text string // without the end anchor, a "*" at the end, and repeated "*"
	end  bool   // there is an end anchor
	kind kind
	rule int // index of the rule

	floats int     // offset of the first segment after a "*"; len(text)+1 if there is none
	back   []int32 // for each offset in a segment, the offset to continue at if a byte does not match; itself at its start
	stars  []int32 // for each offset, the number of "*" from there on; nil if there is none
	least  int     // length of the shortest path that it matches; -1 if it matches none
}

// newPattern returns the automaton of a pattern in normal form. k is the kind of the paths that it decides; rule is not
// set.
func newPattern(text string, k kind) pattern {
	p := pattern{kind: k}
	p.text, p.end = strings.CutSuffix(text, "$")
	if trimmed := strings.TrimRight(p.text, "*"); len(trimmed) < len(p.text) {
		p.text, p.end = trimmed, false
	}
	for strings.Contains(p.text, "**") {
		p.text = strings.ReplaceAll(p.text, "**", "*")
	}
	p.floats = len(p.text) + 1
	if star := strings.IndexByte(p.text, '*'); star >= 0 {
		p.floats = star + 1
		p.back, p.stars = make([]int32, len(p.text)+1), make([]int32, len(p.text)+1)
		for at := len(p.text) - 1; at >= 0; at-- {
			if p.stars[at] = p.stars[at+1]; p.text[at] == '*' {
				p.stars[at]++
			}
		}
		for start := p.floats; start <= len(p.text); {
			segment, _, _ := strings.Cut(p.text[start:], "*")
			end := start + len(segment)
			p.back[start] = int32(start)
			for i, at := start+1, start; i <= end; i++ { // at is the longest border of the segment's first i-start bytes
				p.back[i] = int32(at)
				if i == end {
					break
				}
				for at > start && p.text[at] != p.text[i] {
					at = int(p.back[at])
				}
				if p.text[at] == p.text[i] {
					at++
				}
			}
			for i := start + 1; i < end; i++ { // skip offsets that wait for the same byte, to shorten the chains
				if border := p.back[i]; p.text[border] == p.text[i] {
					p.back[i] = p.back[border]
				}
			}
			start = end + 1
		}
	}
	p.least = max(1, p.bytesLeft(0))
	switch {
	case p.text == "" && p.end, p.text != "" && p.text[0] != '/' && p.text[0] != '*':
		p.least = -1
	case strings.HasPrefix(p.text, "*") && p.text[1] != '/':
		p.least++
	}
	return p
}

// bytesLeft returns the minimum number of bytes that a pattern still needs at a position, which must be an offset.
func (p *pattern) bytesLeft(at int) int {
	if p.stars == nil {
		return len(p.text) - at
	}
	return len(p.text) - at - int(p.stars[at])
}

// Positions that are not offsets.
const (
	dead    = -1 // the pattern can no longer match
	matched = -2 // the pattern matches, whatever follows
)

// startPosition returns the position of a pattern before the first byte of a path.
func (p *pattern) startPosition() int { return p.reach(0) }

// reach returns the position for an offset that was just reached: the one after a "*", or matched at the end of a
// pattern without an end anchor.
func (p *pattern) reach(at int) int {
	switch {
	case at < len(p.text) && p.text[at] == '*':
		return at + 1
	case at == len(p.text) && !p.end:
		return matched
	}
	return at
}

// move returns the position after one more byte, or dead or matched. at must be an offset.
func (p *pattern) move(at int, b byte) int {
	if at < p.floats {
		if at == len(p.text) || p.text[at] != b {
			return dead
		}
		return p.reach(at + 1)
	}
	for {
		if at < len(p.text) && p.text[at] == b {
			return p.reach(at + 1)
		}
		back := int(p.back[at])
		if back == at { // the start of the segment
			return at
		}
		at = back
	}
}

// waits adds to set the bytes that lead from a position to a different position than all other bytes do.
func (p *pattern) waits(at int, set *[256]bool) {
	if at < p.floats {
		if at < len(p.text) {
			set[p.text[at]] = true
		}
		return
	}
	for {
		if at < len(p.text) {
			set[p.text[at]] = true
		}
		back := int(p.back[at])
		if back == at {
			return
		}
		at = back
	}
}

// A product combines all patterns of the rules that bind a crawler.
type product struct {
	dialect  robots.Dialect
	patterns []pattern // ascending in precedence
	byLeast  []uint64  // least<<32 | index of each pattern, ascending, without patterns that match no path
	escapes  bool      // escapes have upper-case digits, and some pattern has a "%"
	*alphabet
}

// newProduct returns the product of rules, with a pattern for each Pattern and IndexPattern, and two for /robots.txt
// itself.
func newProduct(rules []robots.Rule, d robots.Dialect) *product {
	// Sort numbers, which is faster than sorting patterns: the length, whether the rule allows, and its index.
	const last = 1<<31 - 1
	keys := make([]uint64, 0, len(rules))
	add := func(pattern string, allow bool, number int) {
		key := uint64(d.Length(pattern))<<32 | uint64(last-number)
		if allow {
			key |= 1 << 31
		}
		keys = append(keys, key)
	}
	for i, r := range rules {
		if r.Pattern != "" {
			add(r.Pattern, r.Allow, 2*i)
		}
		if index, ok := d.IndexPattern(r); ok {
			add(index, true, 2*i+1)
		}
	}
	slices.Sort(keys)
	p := &product{dialect: d, patterns: make([]pattern, 0, len(keys)+2), byLeast: make([]uint64, 0, len(keys))}
	for _, key := range keys {
		number := last - int(key&last)
		r := rules[number/2]
		text, k := r.Pattern, closed
		if number%2 == 1 {
			text, _ = d.IndexPattern(r)
		}
		if r.Allow {
			k = kindOf(text)
		}
		q := newPattern(text, k)
		q.rule = number / 2
		p.patterns = append(p.patterns, q)
	}
	for i := range p.patterns {
		p.escapes = p.escapes || strings.Contains(p.patterns[i].text, "%")
		if p.patterns[i].least > 0 {
			p.byLeast = append(p.byLeast, uint64(p.patterns[i].least)<<32|uint64(i))
		}
	}
	slices.Sort(p.byLeast)
	p.patterns = append(p.patterns, newPattern(robots.TxtPath+"?", own), newPattern(robots.TxtPath+"$", own))

	p.alphabet = alphabetOf(d)
	p.escapes = p.escapes && !p.decodes
	return p
}

// An alphabet is the bytes of paths in a dialect.
type alphabet struct {
	legal   [256]bool
	decodes bool // escapes are decoded, so that every byte may follow a "%"
}

// alphabets caches alphabets by dialect.
var alphabets sync.Map

// alphabetOf returns the bytes of normalised paths in a dialect. The result is shared and must not be changed.
func alphabetOf(d robots.Dialect) *alphabet {
	if known, ok := alphabets.Load(d); ok {
		return known.(*alphabet)
	}
	a := new(alphabet)
	for b := range 256 {
		if path, _ := d.Path([]byte{'/', byte(b)}, nil); len(path) == 2 { // a "*" or "$" may become another byte
			a.legal[path[1]] = true
		}
	}
	path, _ := d.Path([]byte("/%7e"), nil)
	a.decodes = len(path) == 2
	alphabets.Store(d, a)
	return a
}

// kindOf returns the kind of paths that an Allow rule with this pattern decides: file if the pattern has no "*", and
// ends in an end anchor or in a name with an extension of up to five letters and digits, not only digits; otherwise
// page.
func kindOf(pattern string) kind {
	if strings.Contains(pattern, "*") {
		return page
	}
	if strings.HasSuffix(pattern, "$") {
		return file
	}
	name := pattern[strings.LastIndexByte(pattern, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot > len(".shtml") || strings.Trim(name[dot+1:], "0123456789") == "" {
		return page
	}
	for _, b := range []byte(name[dot+1:]) {
		if (b|0x20 < 'a' || 'z' < b|0x20) && (b < '0' || '9' < b) {
			return page
		}
	}
	return file
}

// winner returns the index of the pattern that decides a normalised path, or -1 if none matches.
func (p *product) winner(path string) int {
	for i := range slices.Backward(p.patterns) {
		q := &p.patterns[i]
		at := q.startPosition()
		for k := 0; k < len(path) && at >= 0; k++ {
			at = q.move(at, path[k])
		}
		if at == matched || at == len(q.text) {
			return i
		}
	}
	return -1
}

// kindOfPath returns the kind of a path.
func (p *product) kindOfPath(path string) kind {
	if i := p.winner(path); i >= 0 {
		return p.patterns[i].kind
	}
	return page
}

// spell returns a normalised path as it can be written in a URL, so that [robots.Dialect.Path] returns the path; "" for
// "".
func (p *product) spell(path string) string {
	if path == "" {
		return ""
	}
	text := p.dialect.ReadablePath([]byte(path))
	if made, _ := p.dialect.Path([]byte(text), nil); string(made) == path {
		return text
	}
	// The dialect decodes escapes, and the path has a "%" before digits. Write these digits as escapes.
	const digits = "0123456789ABCDEF"
	var sb strings.Builder
	for i, n := 0, 0; i < len(text); i++ {
		b := text[i]
		isDigit := '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f'
		if n--; b == '%' {
			n = len("00") + 1
		}
		if isDigit && n > 0 {
			sb.WriteString(string([]byte{'%', digits[b>>4], digits[b&15]}))
		} else {
			sb.WriteByte(b)
		}
	}
	return sb.String()
}
