package robots

import "strings"

// Decide returns the index of the rule that decides the path, or -1 if none of the rules matches (RFC 9309 section
// 2.2.2). The path is one that [Dialect.Path] returned. It is written to be obviously correct: it tries one rule after
// the other, in time proportional to the bytes of the rules times the bytes of the path.
func Decide(rules []Rule, path []byte, d Dialect) int {
	best, priority := -1, unmatched
	for i, r := range rules {
		p := r.priority(path, d)
		if p > priority || p > unmatched && p == priority && r.Allow && !rules[best].Allow {
			best, priority = i, p
		}
	}
	return best
}

// unmatched is the priority of a rule that does not match.
const unmatched = -1

// priority returns the length of the pattern that makes the rule match the path, or unmatched.
func (r Rule) priority(path []byte, d Dialect) int {
	if r.Pattern != "" && matches(r.Pattern, path) {
		return d.Length(r.Pattern)
	}
	if index, ok := d.IndexPattern(r); ok && matches(index, path) {
		return d.Length(index)
	}
	return unmatched
}

// Length returns the length of a pattern in normal form, by which the longest that matches decides: all its bytes, or
// those that the dialect counts. In yandex, the pattern "*" has length 0, but still matches.
func (d Dialect) Length(pattern string) int {
	if !d.Has(literalLength) {
		return len(pattern)
	}
	if star := strings.IndexByte(pattern, '*'); star >= 0 && d.Has(prefixLength) {
		return star
	}
	return len(strings.TrimSuffix(pattern, "$")) - strings.Count(pattern, "*")
}

// Uncounted returns how many bytes of a pattern Length omits.
func (d Dialect) Uncounted(pattern string) int32 { return int32(len(pattern) - d.Length(pattern)) }

// IndexPattern returns the second pattern of a rule, "/d/$" for "Allow: /d/index.html", and whether the dialect gives
// it one (see the flag indexPage): only Allow rules whose text after the last "/" starts with "index.htm" have one.
// Its priority is its own length, and it is always shorter than the rule's first pattern.
func (d Dialect) IndexPattern(r Rule) (pattern string, ok bool) {
	if !d.Has(indexPage) || !r.Allow {
		return "", false
	}
	slash := strings.LastIndexByte(r.Pattern, '/')
	if slash < 0 || !strings.HasPrefix(r.Pattern[slash:], "/index.htm") {
		return "", false
	}
	return r.Pattern[:slash+1] + "$", true
}

// matches reports whether the pattern matches the path from its first byte on: "*" matches any
// bytes, "$" as the last byte of the pattern matches the end of the path, every other byte matches
// itself (RFC 9309 section 2.2.3).
func matches(pattern string, path []byte) bool { return reach(pattern, path) == len(pattern) }

// reach returns the length of the longest part of the pattern, from its start, that matches a prefix of the path. It
// is the whole length if the pattern matches.
func reach(pattern string, path []byte) int {
	ends := []int{0} // where in the path the part of the pattern read so far can end, in ascending order
	for i := range len(pattern) {
		switch {
		case pattern[i] == '$' && i == len(pattern)-1:
			if ends[len(ends)-1] != len(path) {
				return i
			}
		case pattern[i] == '*':
			first := ends[0]
			ends = ends[:0]
			for end := first; end <= len(path); end++ {
				ends = append(ends, end)
			}
		default:
			longer := ends[:0]
			for _, end := range ends {
				if end < len(path) && path[end] == pattern[i] {
					longer = append(longer, end+1)
				}
			}
			ends = longer
		}
		if len(ends) == 0 {
			return i
		}
	}
	return len(pattern)
}

// Undefined reports whether the dialect leaves the verdict on a path undefined. winner is the index of the rule that
// [Decide] returned. With [WildcardsUndefined], any matching rule with a "*" might decide, as well as the winner
// among the rules without one. The verdict is undefined unless all of these agree.
func Undefined(rules []Rule, winner int, path []byte, d Dialect) bool {
	if winner < 0 || !d.Has(WildcardsUndefined) {
		return false
	}
	var literal []Rule
	for _, r := range rules {
		if !hasWildcard(r.Pattern) {
			literal = append(literal, r)
		} else if r.Allow != rules[winner].Allow && r.priority(path, d) > unmatched {
			return true
		}
	}
	best := Decide(literal, path, d)
	return best >= 0 && literal[best].Allow != rules[winner].Allow
}

// hasWildcard reports whether the pattern has a "*".
func hasWildcard(pattern string) bool { return strings.IndexByte(pattern, '*') >= 0 }
