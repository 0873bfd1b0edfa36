package waste

import (
	"bytes"
	"strings"
)

// repeats count the URLs of a site whose segments come again, one block after the other: /a/b/a/b/a.
type repeats struct {
	tally
	times  int              // the most that a block came
	blocks map[string]int64 // requests by block, without slashes around it
}

// maxBlock is how many segments a block has.
const maxBlock = 3

// take counts a URL, and reports whether it is one of them.
func (r *repeats) take(v *Visit, path []byte, segs []seg) bool {
	block, times := blockOf(path, segs)
	if block == nil {
		return false
	}
	r.addVisit(v)
	r.times = max(r.times, times)
	countName(&r.blocks, string(block), v.requests())
	return true
}

// blockOf returns the segments of a path that come again, and how often they come; nil if none do.
func blockOf(path []byte, segs []seg) (block []byte, times int) {
	if !mayRepeat(path, segs) {
		return nil, 0
	}
	for size := 1; size <= maxBlock && 2*size <= len(segs); size++ {
		at, same := -1, 0
		for i := size; i < len(segs); i++ {
			a, b := segs[i-size], segs[i]
			if a.to-a.from != b.to-b.from || !bytes.Equal(path[a.from:a.to], path[b.from:b.to]) {
				if same >= leastAlike(size) {
					break
				}
				at, same = -1, 0
				continue
			}
			if at < 0 {
				at = i - size
			}
			same++
		}
		if same < leastAlike(size) {
			continue
		}
		block := path[segs[at].from:segs[at+size-1].to]
		if !hasLetter(block) {
			continue // tiles of maps, dates
		}
		return block, 1 + same/size
	}
	return nil, 0
}

// mayRepeat reports whether some segments are of equal lengths, and begin alike.
func mayRepeat(path []byte, segs []seg) bool {
	if len(segs) < leastTimes {
		return false
	}
	alike := 0
	for i := range segs {
		for before := max(0, i-maxBlock); before < i; before++ {
			if a, b := segs[before], segs[i]; a.to-a.from == b.to-b.from && path[a.from] == path[b.from] && path[a.to-1] == path[b.to-1] {
				alike++
			}
		}
	}
	return alike >= 2
}

// leastAlike returns how many segments are those before them, one block ahead: a block of one comes three times, others twice.
func leastAlike(size int) int { return max(2, size) }

// hasLetter reports whether a text has a letter.
func hasLetter(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= 0x80 })
}

// end returns the space, if there is one, and empties the finder.
func (r *repeats) end() (found []*Space) {
	if r.urls >= leastURLs && r.times >= leastTimes {
		blocks := frequent(r.blocks, 3)
		names, rules := make([]string, 0, len(blocks)), []string(nil)
		for _, block := range blocks {
			names = append(names, "/"+block)
			if isPlain(block) {
				times := 2
				if !strings.Contains(block, "/") {
					times = leastTimes
				}
				again := strings.Repeat("/"+block, times) + "/"
				rules = append(rules, "Disallow: "+again, "Disallow: /*"+again)
			}
		}
		found = append(found, r.space(Repeats, names, rules))
	}
	r.clear()
	r.times = 0
	clear(r.blocks)
	return found
}
