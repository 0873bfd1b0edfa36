package automaton

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// An index finds the patterns of an anchor that has too many for groups. It begins like a group, but many patterns
// share each of the eight buckets, so buckets only say at which positions of a path a fingerprint may be. Each
// pattern is filed under a key: some bytes around its fingerprint, or at the end of the path. The keys of a path at
// these positions and at its end are looked up in a filter. A pattern filed under one of them is tried if the path
// has all keys that the pattern needs. The offset of an index leads to:
//
//	count     1 byte: 0, or moreGroups if there is another group
//	bound     3 bytes: the highest rank of a pattern
//	masks     as in a group
//	log       1 byte: keys are hashed to 6+log bits
//	hashes    2 bytes: the number of distinct hashes
//	number    2 bytes: the number of the patterns
//	filter    8 bytes for each of 1<<log words: a bit for each hash that is one of a key
//	before    2 bytes for each word: the number of hashes in the words before it
//	first     2 bytes for each hash, and one more: its first entry
//	entries   10 bytes for each pattern, in the order of their hashes: the bits that the pattern needs, see
//	          key.bits, and its number, in 2 bytes
//	offsets   3 bytes for each pattern, in the order of their numbers, the order of descending
//	          rank
//	patterns  see table.addPattern
const (
	indexLog    = groupHeader + masksSize
	indexHeader = indexLog + 1 + 2 + 2
	entrySize   = 8 + 2

	// maxIndexLog is the log for triedLimit patterns. With 16 to 32 bits per pattern, the filter contains 2 % to 4
	// % of keys without a pattern.
	maxIndexLog = 8

	keyHash = 0x9e3779b97f4a7c15 // multiplying a key by it mixes the key's bytes into the highest bits

	// maxHits and maxEntries limit the keys of a path: if maxHits of its hashes are in the filter, or if they have
	// maxEntries entries, all patterns are tried.
	maxHits    = 480
	maxEntries = 1024

	hitsRoom = maxHits + 4*blockSize // vector instructions look up two blocks at once
)

// A window is eight bytes around a position of a path, the first in the lowest bits: three before it, the one at
// it, and four after it. Bytes outside of the path are zero.
const (
	windowSize   = 8
	windowBefore = 3

	windowPrint  = 0x0000_ffff_ff00_0000 // the bytes of a fingerprint
	windowAhead  = 0xffff_ffff_ff00_0000 // the bytes of the key that begins with it
	windowBehind = 0x0000_ffff_ffff_0000 // the bytes of the key that ends with it
)

// A key is a number of bytes multiplied by keyHash.
type key uint64

func keyAhead(window uint64) key  { return key(window >> 24 * keyHash) }
func keyBehind(window uint64) key { return key(window << 16 >> 32 * keyHash) }

// keyAtEnd returns the key of a path's last eight bytes.
func keyAtEnd(last uint64) key { return key(last * keyHash) }

// bits returns the two of 64 bits that represent a key. A pattern needs the bits of the keys that begin where every
// path that it matches has a fingerprint or a '/'.
func (k key) bits() uint64 { return 1<<(k>>58) | 1<<(k>>52&63) }

// hash returns the hash of a key. Only its lowest bits are used, as many as the filter needs.
func (k key) hash() uint32 { return uint32(k >> 44) }

// candidates is the memory for the patterns that may match a path.
type candidates struct {
	hashes [hitsRoom]uint16   // hashes of the path that are in the filter
	found  [maxEntries]uint16 // numbers of the patterns to try
}

// An index is the header of an index and the offsets of its parts.
type index struct {
	before, first, entries, offsets uint32
	count                           uint32 // number of patterns
}

// indexAt reads the header of the index at off, and computes the offsets of its parts, which follow it.
func (t table) indexAt(off uint32) (x index) {
	head := t.u64(off + indexLog)
	words, hashes := uint32(1)<<(head&15), uint32(head>>8)&0xffff
	x.count = uint32(head>>24) & 0xffff
	x.before = off + indexHeader + 8*words
	x.first = x.before + 2*words
	x.entries = x.first + 2*hashes + 2
	x.offsets = x.entries + entrySize*x.count
	return x
}

// tryIndexed tries the patterns of an index that may match, by descending rank. It returns the highest rank of those
// that match, or best if that is higher. path is the whole path, and c working memory.
func (t table) tryIndexed(p *pending, path []byte, best Rank, c *candidates) Rank {
	n, has := t.hits(p.group, path, int(p.pos), &c.hashes)
	if n == 0 {
		return best
	}
	x := t.indexAt(p.group)
	found, ok := t.candidates(p.group, &x, c.hashes[:n], has|slashes(path), c)
	if !ok {
		return t.tryAll(&x, path[p.pos:], best)
	}
	path = path[p.pos:]
	for _, number := range found {
		off := t.u24(x.offsets + 3*uint32(number))
		if r := t.try(off, path, best); r != best || t.headerAt(off).ruleRank() <= best {
			return r // all others have lower ranks
		}
	}
	return best
}

// candidates returns the numbers of the patterns to try, by descending rank, in c.found. hashes are those of the path
// that are in the filter, and has are the bits of its keys. If there are too many hashes or entries, ok is false: all
// patterns must be tried.
func (t table) candidates(group uint32, x *index, hashes []uint16, has uint64, c *candidates) (found []uint16, ok bool) {
	if len(hashes) >= maxHits {
		return nil, false
	}
	n, looked := 0, uint32(0)
	for _, h := range hashes {
		w := uint32(h >> 6)
		word := t.u64(group + indexHeader + 8*w)
		first := x.first + 2*(t.u16(x.before+2*w)+uint32(bits.OnesCount64(word&(1<<(h&63)-1))))
		lo, hi := t.u16(first), t.u16(first+2)
		if looked += hi - lo; looked > maxEntries {
			return nil, false
		}
		for e := x.entries + entrySize*lo; lo < hi; lo++ { // no branches that depend on the bits
			c.found[n] = uint16(t.u16(e + 8))
			if t.u64(e)&^has == 0 {
				n++
			}
			e += entrySize
		}
	}
	found = c.found[:n]
	if n > 1 {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found, true
}

// tryAll tries all patterns of an index, by descending rank. It returns the highest rank of those that match, or best
// if that is higher. path begins after the anchor.
func (t table) tryAll(x *index, path []byte, best Rank) Rank {
	for number := range x.count {
		off := t.u24(x.offsets + 3*number)
		if r := t.try(off, path, best); r != best || t.headerAt(off).ruleRank() <= best {
			return r
		}
	}
	return best
}

// windowAt returns the window at a position of a path, which must have at least windowSize bytes. It has no
// branches.
func windowAt(path []byte, i int) uint64 {
	from, last := i-windowBefore, len(path)-windowSize
	below := from & (from >> 63)                   // how far the window begins before the path, negative
	above := (last - from) & ((last - from) >> 63) // how far it ends after the path, negative
	w := binary.LittleEndian.Uint64(path[from-below+above:])
	return w << (-8 * below & 63) >> (-8 * above & 63)
}

// hitsGeneric looks up the keys of a path in an index: at its end, and from pos on at the positions that may have a
// fingerprint. It writes the hashes that are in the filter to out, and returns their number n. has are the bits of the
// keys that begin at these positions. If n is maxHits or more, the hashes may be incomplete.
func (t table) hitsGeneric(group uint32, path []byte, pos int, out *[hitsRoom]uint16) (n int, has uint64) {
	m := (*[masksSize]byte)(t[group+groupHeader:])
	filter := t[group+indexHeader:]
	mask := uint32(64<<t[group+indexLog] - 1)
	look := func(k key) {
		h := k.hash() & mask
		if filter[h>>3]&(1<<(h&7)) != 0 {
			out[n] = uint16(h)
			n++
		}
	}
	var short [blockSize]byte // a shorter path, padded with zeros
	length := len(path)
	if length >= windowSize {
		look(keyAtEnd(binary.LittleEndian.Uint64(path[length-windowSize:])))
	}
	if length < blockSize {
		copy(short[:], path)
		path = short[:]
	}
	at := func(i int) byte {
		if i < len(path) {
			return path[i]
		}
		return endByte
	}
	for i := min(pos, len(path)-blockSize); i < length && n < maxHits; i++ {
		if a := path[i]; m[a&15]&m[16+a>>4] == 0 || bucketsOf(m, a, at(i+1), at(i+2)) == 0 {
			continue
		}
		w := windowAt(path, i)
		has |= keyAhead(w).bits()
		look(keyAhead(w))
		look(keyBehind(w))
	}
	return n, has
}

// slashesGeneric returns the bits of the keys that begin at each "/" of a path.
func slashesGeneric(path []byte) (has uint64) {
	var short [windowSize]byte
	if len(path) < windowSize {
		copy(short[:], path)
		path = short[:]
	}
	for i, b := range path {
		if b == '/' {
			has |= keyAhead(windowAt(path, i)).bits()
		}
	}
	return has
}

// An indexEntry is the entry of a pattern in an index.
type indexEntry struct {
	hash   uint32
	number uint32
	needs  uint64
}

// addIndex writes patterns, given by descending rank, as an index, and sets their fingerprints. It returns the largest
// crowd: the number of patterns under one hash that need only what all patterns under the hash need.
func (t *table) addIndex(pats []ranked) (crowd int) {
	masks := chooseIndexPrints(pats)
	log := max(0, bits.Len(uint(len(pats)-1))-2)
	entries := indexEntries(pats, masks, uint32(64<<log-1))
	for lo := 0; lo < len(entries); {
		all, n, hi := ^uint64(0), 0, lo
		for ; hi < len(entries) && entries[hi].hash == entries[lo].hash; hi++ {
			all &= entries[hi].needs
		}
		for _, e := range entries[lo:hi] {
			if e.needs == all {
				n++
			}
		}
		crowd, lo = max(crowd, n), hi
	}
	filter, first := make([]uint64, 1<<log), make([]uint16, 0, len(pats)+1)
	for i, e := range entries {
		if i == 0 || e.hash != entries[i-1].hash {
			filter[e.hash>>6] |= 1 << (e.hash & 63)
			first = append(first, uint16(i))
		}
	}
	*t = append(*t, 0)
	t.addU24(uint32(pats[0].rank))
	*t = append(append(*t, masks[:]...), byte(log))
	t.addU16(len(first))
	t.addU16(len(pats))
	for _, word := range filter {
		t.addU64(word)
	}
	before := 0
	for _, word := range filter {
		t.addU16(before)
		before += bits.OnesCount64(word)
	}
	for _, i := range append(first, uint16(len(pats))) {
		t.addU16(int(i))
	}
	for _, e := range entries {
		t.addU64(e.needs)
		t.addU16(int(e.number))
	}
	t.addPatterns(pats)
	return crowd
}

// indexEntries returns the entries of patterns in the order of their hashes. Each pattern is filed under the key that
// the fewest other patterns have. Only the bits of a hash in mask count.
func indexEntries(pats []ranked, masks *[masksSize]byte, mask uint32) []indexEntry {
	entries, keys, count := make([]indexEntry, len(pats)), make([]filedKeys, len(pats)), make([]uint16, mask+1)
	for i := range pats {
		entries[i].number = uint32(i)
		keys[i], entries[i].needs = pats[i].filingKeys(masks)
		for _, k := range keys[i].all[:keys[i].n] {
			count[k.hash()&mask]++
		}
	}
	for i := range entries {
		least := ^uint16(0)
		for _, k := range keys[i].all[:keys[i].n] { // choose the key with the fewest other patterns
			if h := k.hash() & mask; count[h] < least {
				least, entries[i].hash = count[h], h
			}
		}
	}
	slices.SortFunc(entries, func(x, y indexEntry) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.number, y.number))
	})
	return entries
}

// A filedKeys holds up to two keys that a pattern may be filed under, but at least one.
type filedKeys struct {
	all [2]key
	n   int
}

// addKey adds a key, unless there are two already.
func (f *filedKeys) addKey(k key) {
	if f.n < len(f.all) {
		f.all[f.n] = k
		f.n++
	}
}

// endPrint stands for the fingerprint of a pattern that is filed under the end of the path.
const endPrint fingerprint = 1<<32 - 1

// filingKeys returns the keys that a pattern may be filed under, which are at its fingerprint or at the end of the
// path, and the bits that the pattern needs, see key.bits.
func (p *ranked) filingKeys(masks *[masksSize]byte) (filed filedKeys, needs uint64) {
	wanted := uint64(byte(p.print>>24))<<24 | uint64(byte(p.print>>16))<<32 | uint64(byte(p.print>>8))<<40
	if p.print == endPrint {
		filed.addKey(keyAtEnd(binary.LittleEndian.Uint64([]byte(p.Rest[len(p.Rest)-windowSize:]))))
	}
	p.eachWindow(func(w, known uint64) {
		if known&windowAhead == windowAhead {
			a, b, c := byte(w>>24), byte(w>>32), byte(w>>40)
			if a == '/' || bucketsOf(masks, a, b, c) != 0 {
				needs |= keyAhead(w).bits()
			}
		}
		if w&windowPrint != wanted || p.print == endPrint {
			return
		}
		if known&windowAhead == windowAhead {
			filed.addKey(keyAhead(w))
		}
		if known&windowBehind == windowBehind {
			filed.addKey(keyBehind(w))
		}
	})
	return filed, needs
}

// eachWindow calls yield for each position in a pattern's segments at which all bytes of a fingerprint are known, with
// the window and a mask of its known bytes. After a segment at the end of the path, the bytes are zero.
func (p *ranked) eachWindow(yield func(w, known uint64)) {
	p.segments(func(seg string, last bool) {
		w, known := uint64(0), uint64(0)
		for i := range len(seg) + windowSize {
			w, known = w>>8, known>>8
			if i < len(seg) {
				w |= uint64(seg[i]) << 56
			}
			if i < len(seg) || last && p.End {
				known |= 0xff << 56
			}
			if at := i - (windowSize - windowBefore - 1); at >= 0 && at < len(seg) && known&windowPrint == windowPrint {
				yield(w, known)
			}
		}
	})
}

// An indexer chooses the fingerprints of the patterns of an index, and their buckets, so that paths have few
// positions with all three bytes of a bucket. It computes with integers, because tables must be the same on every
// processor.
type indexer struct {
	pats   []ranked
	prints []fingerprint // possible fingerprints of all patterns
	places []printRange  // by pattern: its range of prints
	all    [buckets]bucket
	used   int // number of buckets in use
	masks  [masksSize]byte
}

// chooseIndexPrints sets the fingerprints of patterns, and returns the masks. Patterns that determine the last eight
// bytes of a path are filed under its end. Of the others, those that share a rare byte, usually one that occurs in
// queries, share a bucket. Each remaining pattern, in turn, goes to the bucket where it adds the least cost.
func chooseIndexPrints(pats []ranked) *[masksSize]byte {
	size := 0
	for i := range pats {
		size += len(pats[i].Rest)
	}
	x := indexer{pats: pats, prints: make([]fingerprint, 0, size), places: make([]printRange, len(pats))}
	for i := range pats {
		pats[i].print = 0
		if p := &pats[i]; p.End && len(p.Rest)-1-strings.LastIndexByte(p.Rest, '*') >= windowSize { // it determines the last eight bytes
			p.print = endPrint
		} else {
			x.addPrints(i)
		}
	}
	for x.used < buckets-1 {
		v, ok := x.pivot()
		if !ok {
			break
		}
		x.fillBucket(v)
	}
	for i := range pats {
		if pats[i].print == 0 {
			x.choosePrint(i)
		}
	}
	return &x.masks
}

// A printRange is the range of the possible fingerprints of a pattern, indexer.prints[begin:end]. Those with a rare
// byte come first, before rare.
type printRange struct{ begin, rare, end int32 }

// addPrints adds the possible fingerprints of pattern i to x.prints, those with a rare byte first, and sets
// x.places[i].
func (x *indexer) addPrints(i int) {
	begin := len(x.prints)
	x.prints = x.pats[i].appendPrints(x.prints)
	rare, all := begin, x.prints
	for n := begin; n < len(all); n++ {
		if f := all[n]; isRare(f.at(0)) || isRare(f.at(1)) || isRare(f.at(2)) {
			all[n], all[rare] = all[rare], f
			rare++
		}
	}
	x.places[i] = printRange{int32(begin), int32(rare), int32(len(all))}
}

// rarePrints returns the possible fingerprints of pattern i that have a rare byte.
func (x *indexer) rarePrints(i int) []fingerprint {
	return x.prints[x.places[i].begin:x.places[i].rare]
}

// isRare reports whether a byte is rare enough for a bucket of the patterns that share it.
func isRare(b byte) bool { return rates[b] <= pivotRate || b == endByte }

// A pivot is a byte that all fingerprints of a bucket have at the same position.
type pivot struct {
	b  byte
	at int
}

const (
	pivotMin  = 4       // minimum number of patterns with the byte
	pivotRate = 400     // maximum rate of the byte
	placeRate = 200     // added to each rate, for the positions that are found in any case
	choices   = 3       // fingerprints per pattern that are compared
	openCost  = 1 << 33 // the cost of the first bucket; each further one costs twice as much as the one before
)

// pivot returns the byte, and its position in fingerprints, that is worth the most for the patterns that have no
// fingerprint yet. ok is false if fewer than pivotMin patterns share any rare byte.
func (x *indexer) pivot() (best pivot, ok bool) {
	var count [printSize][256]uint16
	for i := range x.pats {
		if x.pats[i].print == 0 {
			countBytes(x.rarePrints(i), &count)
		}
	}
	most, least := uint32(0), uint32(1)
	for at := range count {
		for b, n := range count[at] {
			if n < pivotMin {
				continue
			}
			if rate := uint32(rates[b]) + placeRate; uint32(n)*least > most*rate {
				best, most, least = pivot{byte(b), at}, uint32(n), rate
			}
		}
	}
	return best, most > 0
}

// countBytes counts, by position, each rare byte in the fingerprints of a pattern: once, however many of them have it.
func countBytes(prints []fingerprint, count *[printSize][256]uint16) {
	var seen [printSize][4]uint64
	for _, f := range prints {
		for i := range seen {
			b := f.at(i)
			if !isRare(b) {
				continue
			}
			if bit := uint64(1) << (b & 63); seen[i][b>>6]&bit == 0 {
				seen[i][b>>6] |= bit
				count[i][b]++
			}
		}
	}
}

// fillBucket opens a bucket for all patterns without a fingerprint that can have the byte shared.b at position
// shared.at. Each gets the rarest of its fingerprints that have the byte there.
func (x *indexer) fillBucket(shared pivot) {
	for i := range x.pats {
		if x.pats[i].print != 0 {
			continue
		}
		best, least := fingerprint(0), ^uint64(0)
		for _, f := range x.rarePrints(i) {
			if f.at(shared.at) == shared.b && f.rate() < least {
				best, least = f, f.rate()
			}
		}
		if best != 0 {
			x.setPrint(i, best, x.used)
		}
	}
	x.used++
}

// choosePrint chooses the fingerprint of pattern i, and its bucket, that add the least to the cost of the buckets. It
// may open a new bucket.
func (x *indexer) choosePrint(i int) {
	best, bucket, least := fingerprint(0), 0, ^uint64(0)
	for _, f := range rarestPrints(x.prints[x.places[i].begin:x.places[i].end]) {
		if f == 0 {
			break
		}
		for j := range x.all[:min(x.used+1, buckets)] {
			b := &x.all[j]
			cost := b.rateWith(f).cost() - b.rate.cost()
			if j == x.used {
				cost += openCost << j
			}
			if cost < least {
				best, bucket, least = f, j, cost
			}
		}
	}
	if bucket == x.used {
		x.used++
	}
	x.setPrint(i, best, bucket)
}

// setPrint sets the fingerprint of pattern i, and adds it to a bucket and to the masks.
func (x *indexer) setPrint(i int, f fingerprint, bucket int) {
	x.pats[i].print = f
	f.addToMasks(&x.masks, bucket)
	b := &x.all[bucket]
	b.rate = b.rateWith(f)
	for at := range b.rate {
		c := f.at(at)
		b.has[at][c>>6] |= 1 << (c & 63)
	}
}

// rarestPrints returns the rarest of the fingerprints, the rarest first. If there are fewer than choices, the rest is
// zero.
func rarestPrints(prints []fingerprint) (best [choices]fingerprint) {
	var rate [choices]uint64
	for _, f := range prints {
		r := f.rate()
		for i := range best {
			if best[i] == 0 || r < rate[i] {
				best[i], f = f, best[i]
				rate[i], r = r, rate[i]
			}
			if f == 0 {
				break
			}
		}
	}
	return best
}

// appendPrints appends the possible fingerprints of a pattern in an index: those whose bytes are all known, with the
// bytes of a key that begins or ends with them.
func (p *ranked) appendPrints(dst []fingerprint) []fingerprint {
	rest, f, n := p.Rest, fingerprint(0), 0
	for i := 1; i < len(rest); i++ {
		if rest[i] == '*' {
			n = 0
			continue
		}
		f = f<<8 | fingerprint(rest[i])<<8
		if n++; n > printSize || n == printSize && p.knowsKeyAhead(i) {
			dst = append(dst, f|printSize)
		}
	}
	if n++; p.End && n >= printSize {
		dst = append(dst, f<<8|printSize)
	}
	return dst
}

// knowsKeyAhead reports whether the bytes of the key that begins with a fingerprint are known. The fingerprint ends at
// p.Rest[i]; two more bytes of the segment must follow, or the end of the path.
func (p *ranked) knowsKeyAhead(i int) bool {
	behind := p.Rest[i+1:]
	if n := strings.IndexByte(behind, '*'); n >= 0 || !p.End {
		return n >= 2 || n < 0 && len(behind) >= 2
	}
	return true
}

// canBeIndexed reports whether a pattern can be in an index.
func (p *ranked) canBeIndexed() (ok bool) {
	p.segments(func(seg string, last bool) {
		ok = ok || len(seg) > printSize || last && p.End && len(seg) >= printSize-1
	})
	return ok
}

// at returns a byte of a fingerprint.
func (f fingerprint) at(i int) byte { return byte(f >> (24 - 8*i)) }

// A bucketRate says how many of 100,000 positions of paths have one of the bytes of a bucket, by position in the
// fingerprint.
type bucketRate [printSize]uint64

// cost is the number of positions that have all three bytes, if bytes were independent of each other.
func (r bucketRate) cost() uint64 { return r[0] * r[1] * r[2] }

// rate is the cost of a bucket with only this fingerprint.
func (f fingerprint) rate() uint64 {
	return uint64(rates[f.at(0)]) * uint64(rates[f.at(1)]) * uint64(rates[f.at(2)])
}

// A bucket holds the bytes of its fingerprints by position, and their rates.
type bucket struct {
	has  [printSize][4]uint64
	rate bucketRate
}

// rateWith returns the rates after adding a fingerprint.
func (b *bucket) rateWith(f fingerprint) bucketRate {
	rate := b.rate
	for i := range rate {
		if c := f.at(i); b.has[i][c>>6]&(1<<(c&63)) == 0 {
			rate[i] += uint64(rates[c])
		}
	}
	return rate
}

// rates is the approximate number of positions with a byte per 100,000 positions of paths, in the order of rarity.
// One position in sixty is the end.
var rates = func() (rate [256]uint16) {
	for b := range rate {
		switch r := rarity[b]; {
		case r < 10: // up to "-"
			rate[b] = 6000
		case r < 19: // "f"
			rate[b] = 2200
		case r < 26: // "w"
			rate[b] = 1200
		case r < 36: // "6"
			rate[b] = 330
		case r < 39: // "z"
			rate[b] = 180
		case r < 53: // "?"
			rate[b] = 70
		default:
			rate[b] = 40
		}
	}
	rate[endByte] = 1600
	return rate
}()
