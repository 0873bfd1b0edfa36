package automaton

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// The patterns with floating segments of one anchor are found by fingerprints. A fingerprint is up to three
// consecutive bytes of a segment, chosen to be as rare as possible in paths. A path is searched for all
// fingerprints of a group of patterns at once, and only the patterns whose fingerprints it contains are tried.
//
// The fingerprint of a single pattern is compared with each position of the path. Several fingerprints are sorted
// into eight buckets. For each of the three bytes, and each value of its lower and of its upper four bits, a mask
// says which buckets have a fingerprint with such a byte there. So vector instructions can look up 32 positions of
// a path at once (Teddy, by Geoffrey Langdale, in Hyperscan). If a fingerprint has fewer than three bytes, any
// bytes may follow. In a pattern with an end anchor, a zero byte stands for the end of the path. If two groups have
// too little room for the patterns, they are in an index: see index.go.
//
// The offset in the trie node leads to the first group:
//
//	count     1 byte: the number of patterns, and moreGroups if there is another group
//	bound     3 bytes: the highest rank of a pattern
//	print     3 bytes, and 1 byte their number: the fingerprint (if count is 1; then the pattern
//	          follows)
//	masks     by byte of the fingerprint, 16 bytes for its lower four bits, and 16 for its upper
//	          ones: the buckets, a bit for each (if count is above 1, as all that follows)
//	needs     1 byte for each pattern: the buckets that are found in each path that it matches
//	offsets   3 bytes for each pattern
//	patterns  by descending rank, see table.addPattern
//
// If there is another group, its offset is in the three bytes before this one.
const (
	printSize = 3 // bytes of a fingerprint
	masksSize = 2 * 16 * printSize

	groupHeader   = 1 + 3
	printedHeader = groupHeader + printSize + 1
	maskedHeader  = groupHeader + masksSize

	moreGroups = 1 << 7
	buckets    = 8

	// groupSize is the maximum number of patterns in a group. With 8 instead of 12, all real files with more than
	// eight patterns at an anchor take the same time and 1.03× the memory; with 24, 1.12× the time.
	groupSize = 12
)

// A fingerprint contains its bytes, the first in the highest bits, and the number of its bytes in the lowest eight
// bits.
type fingerprint uint32

// endByte stands for the end of a path in fingerprints, and endRarity is its rarity, which is higher than that of
// any byte.
const (
	endByte   = 0
	endRarity = 100
)

// eachPrint calls yield with each possible fingerprint of a pattern, and its rarity. A segment at the end of the path
// may include endByte.
func (p *ranked) eachPrint(yield func(f fingerprint, rare int)) {
	p.segments(func(seg string, last bool) {
		size := len(seg)
		if last && p.End {
			size++
		}
		n := min(size, printSize)
		for at := 0; at+n <= size; at++ {
			f, rare := fingerprint(n), 0
			for i := at; i < at+n; i++ {
				if i == len(seg) {
					rare += endRarity // and endByte is zero
					continue
				}
				f |= fingerprint(seg[i]) << (24 - 8*(i-at))
				rare += int(rarity[seg[i]])
			}
			yield(f, rare)
		}
	})
}

// fingerprint returns the rarest fingerprint of a pattern.
func (p *ranked) fingerprint() (best fingerprint) {
	most := -1
	for rest := p.Rest; rest != ""; {
		seg, _, _ := strings.Cut(rest[1:], "*")
		rest = rest[1+len(seg):]
		if f, rare := rarestPrint(seg, p.End && rest == ""); rare > most {
			best, most = f, rare
		}
	}
	return best
}

// rarestPrint returns the rarest fingerprint of a segment, and its rarity. atEnd says that the segment is at the end of
// the path; then the fingerprint includes endByte.
func rarestPrint(seg string, atEnd bool) (best fingerprint, most int) {
	at, n := 0, min(len(seg), printSize)
	rare := 0
	for i := range n {
		rare += int(rarity[seg[i]])
	}
	most = rare
	for i := n; i < len(seg); i++ {
		if rare += int(rarity[seg[i]]) - int(rarity[seg[i-n]]); rare > most {
			at, most = i-n+1, rare
		}
	}
	if atEnd { // endByte is rarer than whatever it replaces
		if n == printSize {
			at, most = len(seg)-n+1, rare-int(rarity[seg[len(seg)-n]])+endRarity
		} else {
			most += endRarity
			n++
		}
	}
	best = fingerprint(n)
	for i := at; i < min(at+n, len(seg)); i++ {
		best |= fingerprint(seg[i]) << (24 - 8*(i-at))
	}
	return best, most
}

// A crowdCount contains, by the hash of a fingerprint, the number of patterns of a node that have it.
type crowdCount [1 << crowdBits]uint16

const (
	crowdBits = 9

	// crowdCost is how much rarer a fingerprint must be to be preferred to one that half as many patterns have.
	crowdCost = 6
)

// hash returns the index of a fingerprint in a crowdCount.
func (f fingerprint) hash() uint32 { return uint32(f) * 0x9e3779b1 >> (32 - crowdBits) }

// distinctPrint returns the best fingerprint of a pattern: one that is rare, and that few patterns of the same anchor
// have. count has all fingerprints of all these patterns.
func (p *ranked) distinctPrint(count *crowdCount) (best fingerprint) {
	most := -1 << 31
	p.eachPrint(func(f fingerprint, rare int) {
		if rare -= crowdCost * bits.Len16(count[f.hash()]); rare > most {
			best, most = f, rare
		}
	})
	return best
}

// addToMasks adds the fingerprint to masks, for a bucket. Bytes that it does not have may be any.
func (f fingerprint) addToMasks(masks *[masksSize]byte, bucket int) {
	for i := range printSize {
		lower, upper := masks[32*i:32*i+16], masks[32*i+16:32*i+32]
		if i >= int(f&0xff) {
			for j := range lower {
				lower[j] |= 1 << bucket
				upper[j] |= 1 << bucket
			}
			continue
		}
		b := byte(f >> (24 - 8*i))
		lower[b&15] |= 1 << bucket
		upper[b>>4] |= 1 << bucket
	}
}

// A part is a set of patterns that are written as a group or as an index.
type part struct {
	pats    []ranked
	indexed bool
}

// addGroups writes patterns, given by descending rank, and reorders them. It returns the offset of the first group,
// and the largest crowd, see addIndex. It writes the part with the highest rank last, and matching begins with that
// part.
func (t *table) addGroups(pats []ranked, grouped int) (off uint32, crowd int) {
	parts := partsOf(pats, grouped)
	slices.SortFunc(parts, func(x, y part) int { return cmp.Compare(x.pats[0].rank, y.pats[0].rank) })
	before := uint32(0) // offset of the previous part; 0 if there is none
	for i := range parts {
		more := i < len(parts)-1
		if more {
			t.addU24(0)
		}
		at := uint32(len(*t))
		if i == 0 {
			off = at
		} else {
			t.putU24(before-3, at)
		}
		if parts[i].indexed {
			crowd = t.addIndex(parts[i].pats)
		} else {
			t.addGroup(parts[i].pats)
		}
		if more {
			(*t)[at] |= moreGroups
		}
		before = at
	}
	return off, crowd
}

// partsOf divides patterns, given by descending rank, into parts, and reorders them. If there are more than grouped,
// those that fit in an index form one part. All others are in groups of similar fingerprints, so that the fingerprints
// in a path belong to only a few groups. Each part is in the order of descending rank.
func partsOf(pats []ranked, grouped int) (all []part) {
	if len(pats) > grouped {
		if n := moveIndexedFirst(pats); n > grouped {
			all = append(all, part{pats[:n], true})
			pats = pats[n:]
		}
	}
	if len(pats) == 0 {
		return all
	}
	choosePrints(pats)
	if len(pats) <= groupSize {
		slices.SortFunc(pats, func(x, y ranked) int { return cmp.Compare(y.rank, x.rank) })
		return append(all, part{pats, false})
	}
	slices.SortStableFunc(pats, func(x, y ranked) int { return cmp.Compare(x.print, y.print) })
	groups := (len(pats) + groupSize - 1) / groupSize
	for i := range groups {
		group := pats[i*len(pats)/groups : (i+1)*len(pats)/groups]
		slices.SortFunc(group, func(x, y ranked) int { return cmp.Compare(y.rank, x.rank) })
		all = append(all, part{group, false})
	}
	return all
}

// moveIndexedFirst moves the patterns that can be in an index to the front, and returns their number. Both parts stay
// in the order of descending rank.
func moveIndexedFirst(pats []ranked) (n int) {
	var others []ranked
	for i := range pats {
		switch {
		case !pats[i].canBeIndexed():
			others = append(others, pats[i])
		case n < i:
			pats[n] = pats[i]
			fallthrough
		default:
			n++
		}
	}
	copy(pats[n:], others)
	return n
}

// addGroup writes a group of 1 to groupSize patterns, which must be in the order of descending rank and have their
// fingerprints.
func (t *table) addGroup(pats []ranked) {
	at := uint32(len(*t))
	*t = append(*t, byte(len(pats)))
	t.addU24(uint32(pats[0].rank))
	if len(pats) == 1 {
		*t = binary.BigEndian.AppendUint32(*t, uint32(pats[0].print))
		t.addPattern(&pats[0])
		return
	}
	*t = append(*t, make([]byte, masksSize)...)
	needs := addPrints((*[masksSize]byte)((*t)[at+groupHeader:]), pats)
	*t = append(*t, needs[:len(pats)]...)
	t.addPatterns(pats)
}

// addPatterns writes the offsets of patterns, and then the patterns.
func (t *table) addPatterns(pats []ranked) {
	offsets := uint32(len(*t))
	*t = append(*t, make([]byte, 3*len(pats))...)
	for i := range pats {
		t.putU24(offsets+3*uint32(i), uint32(len(*t)))
		t.addPattern(&pats[i])
	}
}

// addPrints adds the fingerprints of a group's patterns to its masks, and returns the buckets that each pattern needs,
// by pattern. There are at most groupSize patterns.
func addPrints(masks *[masksSize]byte, pats []ranked) (needs [groupSize]byte) {
	var sorted [groupSize]fingerprint
	for i := range pats {
		sorted[i] = pats[i].print
	}
	slices.Sort(sorted[:len(pats)])
	distinct := slices.Compact(sorted[:len(pats)])
	for i := range pats { // similar fingerprints share a bucket
		n, _ := slices.BinarySearch(distinct, pats[i].print)
		if len(distinct) > buckets {
			n = n * buckets / len(distinct)
		}
		pats[i].print.addToMasks(masks, n)
		needs[i] = 1 << n
	}
	if len(distinct) > buckets {
		for i := range pats {
			needs[i] |= pats[i].need(masks)
		}
	}
	return needs
}

// choosePrints sets the fingerprints of the patterns of one anchor: rare ones and, if there are more patterns than
// buckets, ones that few other patterns have.
func choosePrints(pats []ranked) {
	if len(pats) <= buckets {
		for i := range pats {
			pats[i].print = pats[i].fingerprint()
		}
		return
	}
	var count crowdCount
	for i := range pats {
		pats[i].eachPrint(func(f fingerprint, _ int) { count[f.hash()]++ })
	}
	for i := range pats {
		pats[i].print = pats[i].distinctPrint(&count)
	}
}

// need returns the buckets that are found in every path that the pattern matches.
func (p *ranked) need(masks *[masksSize]byte) (need byte) {
	p.segments(func(seg string, last bool) { need |= findBuckets(masks, seg, last && p.End) })
	return need
}

// tryFound tries the patterns of a group or an index whose fingerprints were found, by descending rank. It returns the
// highest rank of those that match, or best if that is higher. c is working memory.
func (t table) tryFound(p *pending, path []byte, best Rank, c *candidates) Rank {
	count := uint32(t[p.group] &^ moreGroups)
	if count == 0 {
		return t.tryIndexed(p, path, best, c)
	}
	path = path[p.pos:]
	if count == 1 {
		return t.try(p.group+printedHeader, path, best)
	}
	needs := p.group + maskedHeader
	for i := uint32(0); i < count; i += 8 { // eight patterns at a time
		x := t.u64(needs+i) &^ (p.found * ones)
		some := ^((x&low7 + low7) | x | low7) // the highest bit of each zero byte
		if left := count - i; left < 8 {
			some &= 1<<(8*left) - 1
		}
		for ; some != 0; some &= some - 1 {
			n := i + uint32(bits.TrailingZeros64(some))/8
			off := t.u24(needs + count + 3*n)
			if r := t.try(off, path, best); r != best || t.headerAt(off).ruleRank() <= best {
				return r // all others have lower ranks
			}
		}
	}
	return best
}

// low7 has all bits of each byte set except the highest.
const low7 = 0x7f * ones

// try returns the rank of the pattern at off, if it is above best and the segments of the pattern occur in the path, or
// else best. path begins after the anchor.
func (t table) try(off uint32, path []byte, best Rank) Rank {
	h := t.headerAt(off)
	if h.ruleRank() <= best {
		return best
	}
	off += patternHeader
	next := off + h.size()
	if h.atEnd() && t.containsAtEnd(off, next, path) || !h.atEnd() && t.containsInOrder(off, next, path) {
		return h.ruleRank()
	}
	return best
}

// blockSize is the number of bytes of a path that are examined together. A path with at least as many bytes is
// searched in whole blocks, although the first block may begin before the node. A fingerprint found there only
// causes an unsuccessful try.
const blockSize = 32

// siftGeneric appends to nodes, which must have room for it, the groups of the nodes that may contain the deciding
// pattern: one of their fingerprints occurs in the path, and one of their ranks is above best. For an index, the rank
// suffices. It returns the number of these groups.
func (t table) siftGeneric(path []byte, nodes []pending, best Rank) (n int) {
	groups := nodes[len(nodes):cap(nodes)]
	for _, p := range nodes {
		for {
			if Rank(t.u24(p.group+1)) > best {
				if p.found = t.scanGeneric(p.group, path, int(p.pos)); p.found != 0 {
					groups[n] = p
					n++
				}
			}
			if t[p.group]&moreGroups == 0 {
				break
			}
			p.group = t.u24(p.group - 3)
		}
	}
	return n
}

// scanGeneric returns the buckets of a group that have a fingerprint in the path from pos on, or 1 for an index. A
// path shorter than a block is searched as if padded with zeros.
func (t table) scanGeneric(group uint32, path []byte, pos int) (found uint64) {
	if t[group]&^moreGroups == 0 {
		return 1
	}
	var short [blockSize]byte
	if len(path) < blockSize {
		copy(short[:], path)
		path = short[:]
	}
	path = path[min(pos, len(path)-blockSize):]
	if t[group]&^moreGroups == 1 {
		at := group + groupHeader
		if hasPrint(path, t[at:at+uint32(t[at+printSize])]) {
			return 1
		}
		return 0
	}
	return uint64(findBuckets((*[masksSize]byte)(t[group+groupHeader:]), path, true))
}

// findBuckets returns the buckets that have a fingerprint somewhere in a path. If atEnd is false, the text is only a
// part of a path; otherwise it must not be empty.
func findBuckets[text []byte | string](m *[masksSize]byte, path text, atEnd bool) (found byte) {
	last := len(path) - printSize
	for i := 0; i <= last; i++ {
		if some := m[path[i]&15] & m[16+path[i]>>4]; some != 0 { // rarely true
			b, c := path[i+1], path[i+2]
			found |= some & m[32+b&15] & m[48+b>>4] & m[64+c&15] & m[80+c>>4]
		}
	}
	if !atEnd {
		return found
	}
	const lower, upper = endByte & 15, endByte >> 4
	end := m[64+lower] & m[80+upper]
	if i := len(path) - 2; i >= 0 {
		b, c := path[i], path[i+1]
		found |= end & m[b&15] & m[16+b>>4] & m[32+c&15] & m[48+c>>4]
	}
	b := path[len(path)-1]
	return found | end&m[b&15]&m[16+b>>4]&m[32+lower]&m[48+upper]
}

// hasPrint reports whether the path contains a fingerprint. In wanted, endByte stands for the end of the path.
func hasPrint(path, wanted []byte) bool {
	if len(wanted) == printSize && findGeneric(path, wanted) >= 0 || len(wanted) < printSize && bytes.Contains(path, wanted) {
		return true
	}
	for n := len(wanted) - 1; n > 0 && wanted[n] == endByte; n-- {
		if bytes.HasSuffix(path, wanted[:n]) {
			return true
		}
	}
	return false
}

// bucketsOf returns the buckets that may have a fingerprint with these bytes.
func bucketsOf(m *[masksSize]byte, a, b, c byte) byte {
	return m[a&15] & m[16+a>>4] & m[32+b&15] & m[48+b>>4] & m[64+c&15] & m[80+c>>4]
}
