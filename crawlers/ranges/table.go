package ranges

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"unsafe"
)

// A table maps an address to the longest prefix that contains it. It is immutable.
//
// The beginning and the end of each prefix are boundaries. A node divides a block of addresses into equal parts,
// about two to four per boundary in the block. A part with boundaries has its own node, for the smallest block that
// contains them all. So in real lists, looking up an IPv4 address takes one or two nodes, and an IPv6 address two
// or three, whatever the lengths of the prefixes. That takes half to three quarters of the time of bart.Fast
// (BenchmarkVerify/part=table). A flat table of boundaries by the first 16 bits is as fast, but takes 384 KiB per
// list, and does not work as well for IPv6.
type table struct {
	nodes        []node
	cells        []cell // of all nodes
	root4, root6 cell
}

// A cell is the value of a part of the addresses: the value of their longest prefix, or 0 if they have none. If it
// is negative, it is the complement of the index of a node that divides the part.
type cell int32

// A node divides its block, the keys from base on, into cells of 1<<shift keys each. The key of an IPv4 address is
// the address; that of an IPv6 address is its first half. A node without cells is a single boundary, before base.
type node struct {
	base          uint64
	cells         uint64 // number of cells
	first         uint64 // index of its first cell in table.cells
	before, after cell   // of the keys below and above the block
	shift         uint8
	low           bool // the key is the second half of an IPv6 address
}

// find returns the value of the longest prefix that contains an address, or 0. The address must be valid and not
// IPv4-mapped.
func (t *table) find(addr netip.Addr) int32 {
	var key, low uint64
	c := t.root4
	if addr.Is4() {
		b := addr.As4()
		key = uint64(binary.BigEndian.Uint32(b[:]))
	} else {
		b := addr.As16()
		key, low, c = binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:]), t.root6
	}
	for c < 0 {
		n := &t.nodes[^c]
		if n.low {
			key = low
		}
		switch i := (key - n.base) >> (n.shift & 63); { // very large if key is below base
		case i < n.cells:
			c = t.cells[n.first+i]
		case key < n.base:
			c = n.before
		default:
			c = n.after
		}
	}
	return int32(c)
}

// A valued is a prefix with its value, which is more than 0.
type valued struct {
	prefix netip.Prefix
	value  int32
}

// newTable returns the table of distinct normalised prefixes. It sorts the slice, but does not keep it.
func newTable(prefixes []valued) table {
	var t table
	var keys4, keys6 []boundary
	var all []boundary
	slices.SortFunc(prefixes, func(a, b valued) int {
		return cmp.Or(a.prefix.Addr().Compare(b.prefix.Addr()), cmp.Compare(a.prefix.Bits(), b.prefix.Bits()))
	})
	add := func(addr netip.Addr, behind cell) {
		if n := len(all); n > 0 && all[n-1].addr == addr {
			all[n-1].behind = behind
		} else if addr.IsValid() { // there is one after the prefix
			all = append(all, boundary{addr: addr, behind: behind})
		}
	}
	var open []valued // the prefixes that contain the address, each inside the one before
	closeLast := func() {
		b := open[len(open)-1].prefix.Addr().AsSlice()
		for i := open[len(open)-1].prefix.Bits(); i < len(b)*8; i++ {
			b[i/8] |= 1 << (7 - i%8)
		}
		last, _ := netip.AddrFromSlice(b)

		open = open[:len(open)-1]
		around := cell(0)
		if len(open) > 0 {
			around = cell(open[len(open)-1].value)
		}
		add(last.Next(), around)
	}
	for _, p := range prefixes {
		for len(open) > 0 && !open[len(open)-1].prefix.Contains(p.prefix.Addr()) {
			closeLast()
		}
		add(p.prefix.Addr(), cell(p.value))
		open = append(open, p)
	}
	for len(open) > 0 {
		closeLast()
	}
	for _, b := range all {
		if b.addr.Is4() {
			as4 := b.addr.As4()
			keys4 = append(keys4, boundary{key: uint64(binary.BigEndian.Uint32(as4[:])), behind: b.behind})
			continue
		}
		as16 := b.addr.As16()
		b.key, b.low = binary.BigEndian.Uint64(as16[:]), binary.BigEndian.Uint64(as16[8:])
		keys6 = append(keys6, b)
	}
	t.root4 = t.divide(keys4, 0, false)
	// Boundaries with the same first half are divided by their second half. keys are the boundaries of first halves.
	var keys []boundary
	before := cell(0)
	for len(keys6) > 0 {
		key, n := keys6[0].key, 1
		for n < len(keys6) && keys6[n].key == key {
			n++
		}
		behind := keys6[n-1].behind
		if n == 1 && keys6[0].low == 0 {
			keys = append(keys, boundary{key: key, behind: behind})
		} else {
			lows := make([]boundary, n)
			for i, b := range keys6[:n] {
				lows[i] = boundary{key: b.low, behind: b.behind}
			}
			keys = append(keys, boundary{key: key, behind: t.divide(lows, before, true)})
			if key != math.MaxUint64 && (n == len(keys6) || keys6[n].key != key+1) {
				keys = append(keys, boundary{key: key + 1, behind: behind})
			}
		}
		before, keys6 = behind, keys6[n:]
	}
	t.root6 = t.divide(keys, 0, false)
	return t
}

// A boundary is an address where another cell starts.
type boundary struct {
	addr     netip.Addr
	key, low uint64
	behind   cell
}

// divide returns the cell of a block that contains boundaries, and adds the nodes and cells below it to the table. all
// is sorted by key; before is the cell of the keys before the first boundary, and the result if there is none. low
// means that the keys are second halves of IPv6 addresses.
func (t *table) divide(all []boundary, before cell, low bool) cell {
	if len(all) == 0 {
		return before
	}
	begin, end := all[0].key, all[len(all)-1]
	width := bits.Len64(begin ^ end.key)
	n := node{base: begin >> width << width, first: uint64(len(t.cells)), before: before, after: end.behind, low: low}
	id := len(t.nodes)
	if width > 0 {
		stride := min(width, bits.Len(uint(len(all)))+1) // two to four cells per boundary
		n.shift, n.cells = uint8(width-stride), 1<<stride
		t.cells = append(t.cells, make([]cell, n.cells)...)
	}
	t.nodes = append(t.nodes, n)
	for i := range n.cells {
		if len(all) > 0 && all[0].key == n.base+i<<n.shift {
			before, all = all[0].behind, all[1:]
		}
		inside := 0
		for inside < len(all) && (all[inside].key-n.base)>>n.shift == i {
			inside++
		}
		t.cells[n.first+i] = t.divide(all[:inside], before, low)
		if inside > 0 {
			before, all = all[inside-1].behind, all[inside:]
		}
	}
	return ^cell(id)
}

// size returns the memory of the table in bytes.
func (t *table) size() int64 {
	const sizeOfNode, sizeOfCell = 40, 4
	return int64(cap(t.nodes))*sizeOfNode + int64(cap(t.cells))*sizeOfCell
}

// ParseAddress parses a client's address as logs write it: with a port, in brackets, with a zone, or as IPv4-mapped
// IPv6. For other text it returns the zero Addr: for example "-", a host name, or an address whose end is hidden,
// such as 1.2.3.x. It does not keep text.
func ParseAddress(text []byte) netip.Addr {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '"') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '"') {
		text = text[:len(text)-1]
	}
	if addr, rest, ok := parse4(text); ok && isPort(rest) {
		return addr
	}
	if len(text) < 2 || len(text) > maxAddress {
		return netip.Addr{}
	}
	switch end := bytes.LastIndexByte(text, ']'); {
	case text[0] == '[' && end > 0: // [2001:db8::1]:443
		if !isPort(text[end+1:]) {
			return netip.Addr{}
		}
		text = text[1:end]
	default:
		if colon := bytes.LastIndexByte(text, ':'); colon > 0 && colon == bytes.IndexByte(text, ':') { // 192.0.2.1:443
			if !isPort(text[colon:]) {
				return netip.Addr{}
			}
			text = text[:colon]
		} else if port := len(text) - colon; isPort(text[max(0, colon):]) && (port > len(":ffff") || bytes.Count(text, []byte{':'}) == 8) {
			text = text[:colon] // 2001:db8::1:54321, where the port cannot belong to the address
		}
	}
	if zone := bytes.IndexByte(text, '%'); zone >= 0 {
		text = text[:zone]
	}
	if bytes.IndexByte(text, ':') < 0 {
		addr, rest, ok := parse4(text)
		if !ok || len(rest) > 0 {
			return netip.Addr{}
		}
		return addr
	}
	if len(text) < len("::") || !isAddressText(text) {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(unsafe.String(&text[0], len(text))) // keeps text only if it has a zone
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap()
}

// parse4 parses the IPv4 address at the beginning of text, and returns the rest. ok is false if there is none; a number
// with a leading zero is not valid. netip.ParseAddr takes three times as long, and allocates its errors.
func parse4(text []byte) (addr netip.Addr, rest []byte, ok bool) {
	var numbers [4]byte
	for i := range numbers {
		if i > 0 {
			if len(text) == 0 || text[0] != '.' {
				return addr, nil, false
			}
			text = text[1:]
		}
		n, digits := 0, 0
		for digits < len(text) && '0' <= text[digits] && text[digits] <= '9' && n < 256 {
			n = n*10 + int(text[digits]-'0')
			digits++
		}
		if digits == 0 || n > 255 || digits > 1 && text[0] == '0' {
			return addr, nil, false
		}
		numbers[i], text = byte(n), text[digits:]
	}
	return netip.AddrFrom4(numbers), text, true
}

// maxAddress is longer than any address with its brackets, zone and port.
const maxAddress = 128

// isAddressText reports whether all bytes can occur in an address; for others, parsing would allocate an error.
func isAddressText(text []byte) bool {
	for _, b := range text {
		if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'f') && b != '.' && b != ':' {
			return false
		}
	}
	return true
}

// isPort reports whether text is empty, or a colon followed by one to five digits.
func isPort(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if text[0] != ':' || len(text) == 1 || len(text) > 6 {
		return false
	}
	for _, b := range text[1:] {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}
