// Command linefeed writes the assembly of package ingest/internal/linefeed:
//
//	cd internal/asm && go run ./linefeed -out ../../ingest/internal/linefeed/vector_amd64.s
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	half  = 32 // bytes of a vector
	block = 64 // bytes that are examined together, one bit of a register each

	// written is the number of positions that are written for every block, so that no branch depends on the number of
	// its line feeds. Few blocks of a log have more.
	written = 2
)

func main() {
	ConstraintExpr("!purego")
	TEXT("findAVX2", NOSPLIT, "func(text *byte, size int, places *uint32, room int) (n, read int, blank, null, ret uint32)")
	Doc("findAVX2 does the same as findGeneric, for the whole blocks of a text, while there is room for all line feeds of another block.")
	text, left := Load(Param("text"), GP64()), Load(Param("size"), GP64())
	places, room := Load(Param("places"), GP64()), Load(Param("room"), GP64())
	feed, space, tab, carriage := constant('\n'), constant(' '), constant('\t'), constant('\r')
	blank, least, ret := YMM(), YMM(), YMM()
	VPXOR(blank, blank, blank)
	VPXOR(ret, ret, ret)
	VPCMPEQB(least, least, least)
	at, to, last := GP64(), GP64(), GP64()
	XORL(at.As32(), at.As32())
	MOVQ(places, to)
	LEAQ(Mem{Base: places, Index: room, Scale: 4, Disp: -4 * block}, last)
	SUBQ(Imm(block), left)

	Label("blocks")
	CMPQ(at, left)
	JG(LabelRef("done"))
	CMPQ(to, last)
	JA(LabelRef("done"))
	var found [2]GPVirtual
	for i := range found {
		v, t := YMM(), YMM()
		found[i] = GP64()
		VMOVDQU(Mem{Base: text, Index: at, Scale: 1, Disp: half * i}, v)
		VPCMPEQB(v, feed, t)
		VPMOVMSKB(t, found[i].As32())
		VPMINUB(v, least, least)
		VPCMPEQB(v, space, t)
		VPOR(t, blank, blank)
		VPCMPEQB(v, tab, t)
		VPOR(t, blank, blank)
		VPCMPEQB(v, carriage, t)
		VPOR(t, ret, ret)
	}
	here := found[0]
	SHLQ(Imm(half), found[1])
	ORQ(found[1], here)
	count, next := GP64(), GP64()
	POPCNTQ(here, count)
	LEAQ(Mem{Base: to, Index: count, Scale: 4}, next)
	for i := range written {
		store(here, at, Mem{Base: to, Disp: 4 * i})
	}
	CMPQ(count, Imm(written))
	JA(LabelRef("more"))
	Label("next")
	MOVQ(next, to)
	ADDQ(Imm(block), at)
	JMP(LabelRef("blocks"))

	Label("more")
	ADDQ(Imm(4*written), to)
	Label("each")
	store(here, at, Mem{Base: to})
	ADDQ(Imm(4), to)
	CMPQ(to, next)
	JB(LabelRef("each"))
	JMP(LabelRef("next"))

	Label("done")
	SUBQ(places, to)
	SHRQ(Imm(2), to)
	Store(to, ReturnIndex(0))
	Store(at, ReturnIndex(1))
	bits := GP32()
	VPMOVMSKB(blank, bits)
	Store(bits, ReturnIndex(2))
	VPXOR(feed, feed, feed)
	VPCMPEQB(feed, least, least)
	VPMOVMSKB(least, bits)
	Store(bits, ReturnIndex(3))
	VPMOVMSKB(ret, bits)
	Store(bits, ReturnIndex(4))
	VZEROUPPER()
	RET()
	Generate()
}

// constant returns a vector of equal bytes.
func constant(b byte) VecVirtual {
	n, v := GP32(), YMM()
	MOVL(U32(b), n)
	MOVD(n, v.AsX())
	VPBROADCASTB(v.AsX(), v)
	return v
}

// store stores the position in the text of the lowest bit of a block's mask, and clears the bit.
func store(here, at GPVirtual, to Mem) {
	place := GP64()
	TZCNTQ(here, place)
	ADDL(at.As32(), place.As32())
	MOVL(place.As32(), to)
	BLSRQ(here, here)
}
