package automaton

import (
	"bytes"
	"encoding/binary"
)

// blockSize is how many bytes of a path are looked at at once. If a path has as many, no fewer are
// searched, even if some of them are before the node: what is found there is tried in vain.
const blockSize = 32

// siftGeneric leaves of the nodes those groups that have a pattern which may decide: the path has
// its fingerprint, and its rank may be above best. Of an index, only the rank is looked at. The
// groups are appended to nodes, which has room for them; the result is how many they are.
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

// scanGeneric returns the set of a group's buckets that have a fingerprint in the path from pos on,
// or 1 for an index.
// A path that is shorter than a block is taken to have zeros up to its length.
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
	return uint64(sumPlaces((*[masksSize]byte)(t[group+groupHeader:]), path, true))
}

// sumPlaces returns the buckets that have a fingerprint somewhere in a path, or if atEnd is not
// set, in a part of one.
func sumPlaces[text []byte | string](m *[masksSize]byte, path text, atEnd bool) (found byte) {
	last := len(path) - printSize
	for i := 0; i <= last; i++ {
		if some := m[path[i]&15] & m[16+path[i]>>4]; some != 0 { // mostly there are none
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

// hasPrint reports whether the path has a fingerprint.
func hasPrint(path, wanted []byte) bool {
	if bytes.Contains(path, wanted) {
		return true
	}
	for n := len(wanted) - 1; n > 0 && wanted[n] == endByte; n-- {
		if bytes.HasSuffix(path, wanted[:n]) {
			return true
		}
	}
	return false
}

// bucketsOf returns the buckets that may have a fingerprint of these bytes.
func bucketsOf(m *[masksSize]byte, a, b, c byte) byte {
	return m[a&15] & m[16+a>>4] & m[32+b&15] & m[48+b>>4] & m[64+c&15] & m[80+c>>4]
}

// hitsGeneric looks up the keys of a path in an index: at its end, and at its places from pos on
// that may have a fingerprint. It writes the hashes that the filter has, and returns how many, and
// the bits of the keys ahead. If there are maxHits or more, that may not be all.
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
	var short [blockSize]byte // the path, and zeros behind it, if it is shorter
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

// slashesGeneric returns the bits of the keys that a path has ahead of each '/'.
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
