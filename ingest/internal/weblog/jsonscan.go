package weblog

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of a line. Logs have about five levels.
const maxDepth = 200

// A jsonNode is a position in a JSON value at or below which values are wanted.
type jsonNode struct {
	members map[string]*jsonNode
	filter  *[filterBits / 64]uint64 // of the names of members, see filterOf
	slots   []int                    // for the value at this position
	keyed   bool                     // the path element is a key instead of an index: it selects the array element with that key
	seen    uint64                   // the last line that had it, as in jsonScanner.lines
}

// filterBits is the number of bits of a filter of names.
const filterBits = 1 << 12

// filterOf returns the filter bit of a non-empty name.
func filterOf(name []byte) uint {
	n := uint(len(name))
	return (n<<5 ^ uint(name[0])<<2 ^ uint(name[n-1])*37 ^ uint(name[n/2])*11) % filterBits
}

// want requests the value at a path for a slot. A path is the name of a member, possibly with dots, or names, indices
// and keys separated by dots, see [pairScanner].
func (n *jsonNode) want(path string, slot int) {
	n.member(path).addSlot(slot)
	at := n
	for name := range strings.SplitSeq(path, ".") {
		at = at.member(name)
	}
	at.addSlot(slot)
}

// member returns the node of a member, and creates it if needed.
func (n *jsonNode) member(name string) *jsonNode {
	if n.members == nil {
		n.members, n.filter = map[string]*jsonNode{}, new([filterBits / 64]uint64)
	}
	if n.members[name] == nil {
		n.members[name] = &jsonNode{}
		n.keyed = n.keyed || strings.Trim(name, "0123456789") != ""
	}
	if name != "" {
		bit := filterOf([]byte(name))
		n.filter[bit/64] |= 1 << (bit % 64)
	}
	return n.members[name]
}

// find returns the node of a member, nil if there is none. Most names differ from all members in length or in some
// bytes.
func (n *jsonNode) find(name []byte) *jsonNode {
	if len(name) > 0 {
		if bit := filterOf(name); n.filter[bit/64]>>(bit%64)&1 == 0 {
			return nil
		}
	}
	return n.members[string(name)]
}

func (n *jsonNode) addSlot(slot int) {
	if !slices.Contains(n.slots, slot) {
		n.slots = append(n.slots, slot)
	}
}

// A jsonScanner reads the wanted values of a line, and validates the whole line: it accepts what RFC 8259 allows, down
// to maxDepth, and \xHH in strings. The last of several members with the same name counts, as in encoding/json.
type jsonScanner struct {
	root   jsonNode
	values [][]byte // by slot: the text of a string, other values as written; nil if missing or null
	nested []bool   // by slot: the value is an object or an array
	filled []int    // the slots with values
	roles  []uint32 // by slot: bit r is set if the value may have the role r
	found  uint32   // roles of the line's values that are neither empty, nor objects or arrays
	line   []byte
	lines  uint64                        // number of lines read
	buf    []byte                        // memory of strings with escapes
	pairs  *pairScanner                  // for arrays of key-value pairs; nil until the first one
	use    func(name, value []byte) bool // of Members
}

// want requests the value at a path, and returns its slot.
func (s *jsonScanner) want(path string) (slot int) {
	slot = len(s.values)
	s.root.want(path, slot)
	s.values, s.nested, s.roles = append(s.values, nil), append(s.nested, false), append(s.roles, 0)
	return slot
}

// scan reads a line, which must be a single value.
func (s *jsonScanner) scan(line []byte) bool {
	s.reset(line)
	i := s.value(s.space(0), 0, &s.root)
	return i >= 0 && s.space(i) == len(line)
}

// reset begins a line without values.
func (s *jsonScanner) reset(line []byte) {
	s.line, s.buf = line, s.buf[:0]
	s.lines++
	for _, slot := range s.filled {
		s.values[slot] = nil
	}
	s.filled, s.found = s.filled[:0], 0
}

// Members calls use for each member of the object in a line. name has no quotes, and value is as written. It reports
// whether the line is valid and use accepted all members.
func Members(line []byte, use func(name, value []byte) bool) bool {
	s := jsonScanner{line: line, use: use}
	i := s.space(0)
	if i >= len(line) || line[i] != '{' {
		return false
	}
	i = s.object(i+1, 0, nil)
	return i >= 0 && s.space(i) == len(line)
}

// space returns the first index from i on without white space.
func (s *jsonScanner) space(i int) int {
	for i < len(s.line) && (s.line[i] == ' ' || s.line[i] == '\t' || s.line[i] == '\n' || s.line[i] == '\r') {
		i++
	}
	return i
}

// value reads the value at i, and stores it if node wants it. node is nil if nothing in the value is wanted. It returns
// the end, or -1 if there is no value.
func (s *jsonScanner) value(i, depth int, node *jsonNode) (end int) {
	if i >= len(s.line) || depth > maxDepth {
		return -1
	}
	switch b := s.line[i]; {
	case b == '"':
		return s.text(i, node)
	case b == '{':
		end = s.object(i+1, depth, node)
	case b == '[':
		end = s.array(i+1, depth, node)
	case b == '-' || '0' <= b && b <= '9':
		end = s.number(i)
	default:
		return s.word(i, node)
	}
	if end > 0 && node != nil {
		s.store(node, s.line[i:end:end], s.line[i] == '{' || s.line[i] == '[')
	}
	return end
}

// store stores a value.
func (s *jsonScanner) store(node *jsonNode, value []byte, nested bool) {
	for _, slot := range node.slots {
		s.values[slot], s.nested[slot] = value, nested
		s.filled = append(s.filled, slot)
		if len(value) > 0 && !nested {
			s.found |= s.roles[slot]
		}
	}
}

// removeBelow removes all values stored below node.
func (s *jsonScanner) removeBelow(node *jsonNode) {
	s.store(node, nil, false)
	for _, m := range node.members {
		s.removeBelow(m)
	}
}

// word reads true, false or null.
func (s *jsonScanner) word(i int, node *jsonNode) (end int) {
	for _, word := range [...]string{"true", "false", "null"} {
		if end = i + len(word); end <= len(s.line) && string(s.line[i:end]) == word {
			if node != nil && word != "null" {
				s.store(node, s.line[i:end:end], false)
			}
			return end
		}
	}
	return -1
}

// object reads the text after "{".
func (s *jsonScanner) object(i, depth int, node *jsonNode) (end int) {
	if i = s.space(i); i < len(s.line) && s.line[i] == '}' {
		return i + 1
	}
	for done := false; !done; {
		if i >= len(s.line) || s.line[i] != '"' {
			return -1
		}
		stop, escaped := s.endText(i + 1)
		if stop < 0 {
			return -1
		}
		var child *jsonNode
		if node != nil && node.members != nil {
			child = s.child(node, s.line[i+1:stop], escaped)
		}
		name := i + 1
		if i = s.space(stop + 1); i >= len(s.line) || s.line[i] != ':' {
			return -1
		}
		begin := s.space(i + 1)
		if i = s.value(begin, depth+1, child); i < 0 || s.use != nil && depth == 0 && !s.use(s.line[name:stop], s.line[begin:i]) {
			return -1
		}
		i, done = s.next(i, '}')
	}
	return i
}

// child returns the node of a member, nil if nothing in it is wanted. It removes the value of an earlier member with
// the same name.
func (s *jsonScanner) child(node *jsonNode, name []byte, escaped bool) *jsonNode {
	if escaped {
		begin := len(s.buf)
		s.buf = AppendUnquoted(s.buf, name)
		name = s.buf[begin:]
	}
	child := node.find(name)
	if child != nil && child.seen == s.lines {
		s.removeBelow(child)
	} else if child != nil {
		child.seen = s.lines
	}
	return child
}

// array reads the text after "[".
func (s *jsonScanner) array(i, depth int, node *jsonNode) (end int) {
	if i = s.space(i); i < len(s.line) && s.line[i] == ']' {
		return i + 1
	}
	for n, done := 0, false; !done; n++ {
		var child *jsonNode
		if node != nil && node.members != nil {
			var index [20]byte
			child = node.find(strconv.AppendInt(index[:0], int64(n), 10))
		}
		begin := i
		if i = s.value(i, depth+1, child); i < 0 {
			return -1
		}
		if node != nil && node.keyed && s.line[begin] == '{' {
			s.pair(node, s.line[begin:i])
		}
		i, done = s.next(i, ']')
	}
	return i
}

// next reads the text after a member or element: a comma, or the end of its container. A fault counts as an end at -1.
func (s *jsonScanner) next(i int, end byte) (next int, done bool) {
	i = s.space(i)
	switch {
	case i >= len(s.line):
	case s.line[i] == end:
		return i + 1, true
	case s.line[i] == ',':
		return s.space(i + 1), false
	}
	return -1, true
}

// text reads the string at i.
func (s *jsonScanner) text(i int, node *jsonNode) (end int) {
	stop, escaped := s.endText(i + 1)
	if stop < 0 {
		return -1
	}
	if node != nil && len(node.slots) > 0 {
		text := s.line[i+1 : stop : stop]
		if escaped {
			begin := len(s.buf)
			s.buf = AppendUnquoted(s.buf, text)
			text = s.buf[begin:len(s.buf):len(s.buf)]
		}
		s.store(node, text, false)
	}
	return stop + 1
}

// Constants for testing eight bytes at once.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// special sets the high bit of each byte of a word that is a quote, a backslash or a control character. Bytes above the
// lowest such byte may be marked incorrectly.
func special(word uint64) uint64 {
	quote, backslash := word^lowBits*'"', word^lowBits*'\\'
	return ((quote-lowBits)&^quote | (backslash-lowBits)&^backslash | (word-lowBits*0x20)&^word) & highBits
}

// endSimple returns the first index from i on with a special byte, or the length of the line.
func (s *jsonScanner) endSimple(i int) int {
	line := s.line
	for ; i+8 <= len(line); i += 8 {
		if marks := special(binary.LittleEndian.Uint64(line[i:])); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(line) && line[i] >= 0x20 && line[i] != '"' && line[i] != '\\' {
		i++
	}
	return i
}

// endText returns the end of the string that begins at i, -1 if it does not end or is invalid, and whether it has
// escapes.
func (s *jsonScanner) endText(i int) (end int, escaped bool) {
	for {
		i = s.endSimple(i)
		if i >= len(s.line) || s.line[i] < 0x20 {
			return -1, false
		}
		if s.line[i] == '"' {
			return i, escaped
		}
		n := escapeLen(s.line[i:])
		if n == 0 {
			return -1, false
		}
		escaped = true
		i += n
	}
}

// escapeLen returns the length of the escape at the start of text; 0 if there is none.
func escapeLen(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(text) >= 0 {
			return 6
		}
	case 'x': // of nginx without escape=json
		if _, n := escaped(text); n == 4 {
			return 4
		}
	}
	return 0
}

// hex4 returns the number in the escape \uXXXX at the start of text; -1 if there is none.
func hex4(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	r := rune(0)
	for _, b := range text[2:6] {
		if unhex[b] > 15 {
			return -1
		}
		r = r<<4 | rune(unhex[b])
	}
	return r
}

// AppendUnquoted appends the decoded text of a valid string. An unpaired surrogate becomes U+FFFD. It copies eight
// bytes at once; an escape is longer than its text.
func AppendUnquoted(dst, text []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(text)+8)
	dst = dst[:cap(dst)]
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			word := binary.LittleEndian.Uint64(text[i:])
			binary.LittleEndian.PutUint64(dst[n:], word)
			word ^= lowBits * '\\'
			simple := bits.TrailingZeros64((word-lowBits)&^word&highBits) / 8
			i, n = i+simple, n+simple
			if simple == 8 {
				continue
			}
		}
		switch {
		case text[i] != '\\':
			dst[n] = text[i]
			i, n = i+1, n+1
		case text[i+1] == 'u':
			r, size := escapedRune(text[i:])
			i, n = i+size, n+utf8.EncodeRune(dst[n:], r)
		case text[i+1] == 'x':
			dst[n], _ = escaped(text[i:])
			i, n = i+4, n+1
		default:
			dst[n] = jsonEscapes[text[i+1]]
			i, n = i+2, n+1
		}
	}
	return dst[:n]
}

// jsonEscapes maps the letters after a backslash to bytes.
var jsonEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escapedRune returns the character of one or two escapes \uXXXX at the start of text, and their length.
func escapedRune(text []byte) (r rune, size int) {
	r = hex4(text)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if r = utf16.DecodeRune(r, hex4(text[6:])); r == utf8.RuneError {
		return r, 6
	}
	return r, 12
}

// number reads the number at i (RFC 8259 section 6).
func (s *jsonScanner) number(i int) (end int) {
	if s.line[i] == '-' {
		i++
	}
	if i < len(s.line) && s.line[i] == '0' {
		i++
	} else {
		i = s.digits(i)
	}
	if i >= 0 && i < len(s.line) && s.line[i] == '.' {
		i = s.digits(i + 1)
	}
	if i >= 0 && i < len(s.line) && s.line[i]|0x20 == 'e' {
		if i++; i < len(s.line) && (s.line[i] == '+' || s.line[i] == '-') {
			i++
		}
		i = s.digits(i)
	}
	return i
}

// digits returns the end of the digits at i; at least one must be there.
func (s *jsonScanner) digits(i int) (end int) {
	end = i
	for end < len(s.line) && '0' <= s.line[end] && s.line[end] <= '9' {
		end++
	}
	if end == i {
		return -1
	}
	return end
}
