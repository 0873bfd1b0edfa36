package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Flags of a trie node, see trie.go.
const (
	hasPrefix = 1 << iota
	hasExact
	hasFloating
	hasChildren
	hasRange
)

const (
	low24    = 1<<24 - 1
	lowBytes = 0x0101010101010101
	highBits = 0x8080808080808080
)

// A walker is the state of a walk through the trie.
type walker struct {
	table, path, size Register
	best              Register // the highest rank
	nodes             Register // behind the last node that was written
}

// count returns the number of the nodes that were written.
func (w *walker) count() Register {
	first, n := Load(Param("nodes"), GP64()), GP64()
	MOVQ(w.nodes, n)
	SUBQ(first, n)
	SHRQ(Imm(4), n)
	return n
}

// rank loads a rank, or an offset.
func rank(m Mem) Register {
	r := GP32()
	MOVL(m, r)
	ANDL(U32(low24), r)
	return r
}

// max sets best to rank if that is higher.
func (w *walker) max(rank Register) {
	CMPL(rank, w.best)
	CMOVLHI(rank, w.best)
}

// walk generates walkGeneric. It branches only where the choice is mostly predictable.
func walk() *walker {
	w := &walker{
		Load(Param("table"), GP64()), Load(Param("path"), GP64()), Load(Param("size"), GP64()),
		GP32(), Load(Param("nodes"), GP64()),
	}
	pos, tail, node := GP64(), GP64(), GP64()
	XORL(w.best, w.best)
	XORQ(pos, pos)
	LEAQ(Mem{Base: w.size, Disp: -8}, tail)
	MOVQ(w.table, node)

	Label("node")
	flags, run, end := GP32(), GP64(), GP64()
	MOVBLZX(Mem{Base: node}, flags)
	MOVBLZX(Mem{Base: node, Disp: 1}, run.As32())
	LEAQ(Mem{Base: pos, Index: run, Scale: 1}, end)
	CMPQ(end, w.size)
	JHI(LabelRef("walked"))
	CMPL(run.As32(), Imm(8))
	JHI(LabelRef("long"))
	Comment("eight bytes of the path, with zeros after its end")
	from, word := GP64(), GP64()
	MOVQ(pos, from)
	CMPQ(tail, from)
	CMOVQLT(tail, from)
	MOVQ(Mem{Base: w.path, Index: from, Scale: 1}, word)
	SUBQ(from, pos)
	SHLQ(Imm(3), pos)
	SHRXQ(pos, word, word)
	XORQ(Mem{Base: node, Disp: 2}, word)
	MOVQ(run, from)
	SHLQ(Imm(3), from)
	BZHIQ(from, word, word)
	JNZ(LabelRef("walked"))

	Label("own")
	LEAQ(Mem{Base: node, Index: run, Scale: 1, Disp: 2}, node)
	MOVQ(end, pos)
	prefix, has := rank(Mem{Base: node}), GP32()
	MOVL(flags, has)
	ANDL(Imm(hasPrefix), has)
	NEGL(has)
	ANDL(has, prefix)
	w.max(prefix)
	CMPQ(pos, w.size)
	JE(LabelRef("end"))
	own, floats, off := GP64(), GP64(), GP64()
	MOVL(flags, own.As32())
	SHRL(Imm(6), own.As32())
	LEAQ(Mem{Base: own, Index: own, Scale: 2}, own)
	ADDQ(own, node)
	Comment("a node without floating segments is written as well, but not counted")
	MOVL(flags, floats.As32())
	ANDL(Imm(hasFloating), floats.As32())
	MOVQ(node, off)
	SUBQ(floats, off)
	MOVL(Mem{Base: off}, off.As32())
	SHRL(Imm(8), off.As32())
	MOVL(off.As32(), Mem{Base: w.nodes})
	MOVL(pos.As32(), Mem{Base: w.nodes, Disp: 4})
	LEAQ(Mem{Base: w.nodes, Index: floats, Scale: 4}, w.nodes)

	b := GP64()
	MOVBLZX(Mem{Base: w.path, Index: pos, Scale: 1}, b.As32())
	INCQ(pos)
	TESTL(U32(hasRange), flags)
	JNZ(LabelRef("range"))
	TESTL(U32(hasChildren), flags)
	JZ(LabelRef("walked"))
	w.label(node, b)

	Label("range")
	least, most := GP32(), GP32()
	MOVBLZX(Mem{Base: node}, least)
	MOVBLZX(Mem{Base: node, Disp: 1}, most)
	SUBL(least, b.As32())
	CMPL(b.As32(), most)
	JHI(LabelRef("walked"))
	LEAQ(Mem{Base: b, Index: b, Scale: 2}, b)
	MOVL(Mem{Base: node, Index: b, Scale: 1, Disp: 2}, node.As32())
	TESTL(U32(low24), node.As32())
	JNZ(LabelRef("child"))
	JMP(LabelRef("walked"))

	w.long(node, pos, end)

	Label("end")
	Comment("the path ends here: the exact pattern counts, whose rank follows that of the prefix")
	TESTL(U32(hasExact), flags)
	JZ(LabelRef("walked"))
	skip := GP64()
	MOVL(flags, skip.As32())
	ANDL(Imm(hasPrefix), skip.As32())
	LEAQ(Mem{Base: skip, Index: skip, Scale: 2}, skip)
	w.max(rank(Mem{Base: node, Index: skip, Scale: 1}))

	Label("walked")
	return w
}

// label continues with the child whose label is b. Among eight labels, the one that is equal to b becomes zero, and
// is found.
func (w *walker) label(node, b GPVirtual) {
	more, ones, high, labels, slots := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVBLZX(Mem{Base: node}, more.As32()) // labels than one
	MOVQ(U64(lowBytes), ones)
	MOVQ(U64(highBits), high)
	IMULQ(ones, b)
	LEAQ(Mem{Base: node, Disp: 1}, labels)
	LEAQ(Mem{Base: node, Index: more, Scale: 1, Disp: 2}, slots)
	Label("labels")
	x, y, place := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: labels}, x)
	XORQ(b, x)
	MOVQ(x, y)
	SUBQ(ones, y)
	ANDNQ(y, x, x)
	ANDQ(high, x)
	JZ(LabelRef("unlabelled"))
	TZCNTQ(x, place)
	SHRQ(Imm(3), place)
	CMPQ(place, more)
	JHI(LabelRef("walked"))
	LEAQ(Mem{Base: place, Index: place, Scale: 2}, place)
	MOVL(Mem{Base: slots, Index: place, Scale: 1}, node.As32())
	Label("child")
	ANDL(U32(low24), node.As32())
	ADDQ(w.table, node)
	JMP(LabelRef("node"))
	Label("unlabelled")
	ADDQ(Imm(8), labels)
	ADDQ(Imm(3*8), slots)
	SUBQ(Imm(8), more)
	JGE(LabelRef("labels"))
	JMP(LabelRef("walked"))
}

// long compares a run of more than eight bytes: eight at a time, and then the last eight. The path must be long
// enough.
func (w *walker) long(node, pos, end GPVirtual) {
	Label("long")
	at, last, run, word := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: w.path, Index: pos, Scale: 1}, at)
	LEAQ(Mem{Base: w.path, Index: end, Scale: 1, Disp: -8}, last)
	LEAQ(Mem{Base: node, Disp: 2}, run)
	SUBQ(at, run)
	Label("words")
	MOVQ(Mem{Base: at}, word)
	CMPQ(word, Mem{Base: at, Index: run, Scale: 1})
	JNE(LabelRef("walked"))
	ADDQ(Imm(8), at)
	CMPQ(at, last)
	JB(LabelRef("words"))
	MOVQ(Mem{Base: last}, word)
	CMPQ(word, Mem{Base: last, Index: run, Scale: 1})
	JNE(LabelRef("walked"))
	MOVQ(end, run)
	SUBQ(pos, run)
	JMP(LabelRef("own"))
}
