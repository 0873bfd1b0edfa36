package ranges

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"net/netip"
	"slices"
)

// A table leads from an address to the longest of its prefixes that contains it. It is immutable.
//
// It divides the addresses at the first and behind the last one of each prefix. A node divides a block of
// addresses into equal parts, some two to four for each boundary within the block; a part that has boundaries
// has a node of its own, which begins at the smallest block that holds them all. So real lists need a
// node or two for an address of IPv4, and two or three for IPv6, whatever the lengths of their prefixes. That
// takes half to three quarters of the time of bart.Fast (BenchmarkVerify/part=table). A flat table of
// boundaries by the first 16 bits is as fast, but takes 384 KiB a list, and no index is as good for IPv6.
type table struct {
	nodes        []node
	cells        []cell // of all nodes
	root4, root6 cell
}

// A cell is the value of a part of the addresses: the value of their longest prefix, 0 if they have none. Below
// 0, it is the complement of the index of a node that divides the part.
type cell int32

// A node divides its block, the keys from base on, into cells of 1<<shift keys each. The key of an address of
// IPv4 is the address, and the first half of one of IPv6. A node without cells is one boundary, in front of base.
type node struct {
	base          uint64
	cells         uint64 // how many
	first         uint64 // of its cells in table.cells
	before, after cell   // of the keys below and above the block
	shift         uint8
	low           bool // the key is the second half of an address of IPv6
}

// find returns the value of the longest prefix that contains an address, 0 if none does.
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
		switch i := (key - n.base) >> (n.shift & 63); { // huge below base
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

// newTable returns the table of prefixes in normal form, which it sorts. None of them comes twice.
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
		} else if addr.IsValid() { // there is one behind the prefix
			all = append(all, boundary{addr: addr, behind: behind})
		}
	}
	var open []valued // the prefixes that contain each other and the address
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
	// Divide the addresses of IPv6 that share their first half, where there are boundaries within them,
	// and returns the cells of first halves.
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

// divide returns the cell of a block with boundaries in it. before is the cell in front of the first one.
func (t *table) divide(all []boundary, before cell, low bool) cell {
	if len(all) == 0 {
		return before
	}
	begin, end := all[0].key, all[len(all)-1]
	width := bits.Len64(begin ^ end.key)
	n := node{base: begin >> width << width, first: uint64(len(t.cells)), before: before, after: end.behind, low: low}
	id := len(t.nodes)
	if width > 0 {
		stride := min(width, bits.Len(uint(len(all)))+1) // two to four cells for each boundary
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

// size returns how many bytes the table takes.
func (t *table) size() int64 {
	const sizeOfNode, sizeOfCell = 40, 4
	return int64(cap(t.nodes))*sizeOfNode + int64(cap(t.cells))*sizeOfCell
}
