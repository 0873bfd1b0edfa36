// Command robots writes the assembly of package robots:
//
//	cd internal/asm && go run ./robots -out ../../robots/vector_amd64.s
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	blockSize = 32
	middle    = 4 // number of blocks of the longest text that is examined without a loop
)

func main() {
	ConstraintExpr("!purego")
	TEXT("keptAVX2", NOSPLIT, "func(text *byte, size int, nibbles *byte) int")
	Doc("keptAVX2 does the same as form.keptGeneric, for a text of at least 16 bytes.")
	text, size := Load(Param("text"), GP64()), Load(Param("size"), GP64())
	f := newFinder(Load(Param("nibbles"), GP64()))
	at, end, places, more := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: text, Index: size, Scale: 1}, end)
	MOVQ(text, at)
	CMPQ(size, Imm(blockSize))
	JB(LabelRef("short"))
	CMPQ(size, Imm(middle*blockSize))
	JA(LabelRef("blocks"))

	Comment("most texts: blocks that may overlap, without a branch that depends on their number")
	f.any(text, size, places.As32())
	TESTL(places.As32(), places.As32())
	JZ(LabelRef("none"))

	Comment("two blocks at once; the last one ends at the end of the text")
	Label("blocks")
	f.find(Mem{Base: at}, places.As32(), VecVirtual.AsY)
	SUBQ(Imm(2*blockSize), end)
	CMPQ(at, end)
	JAE(LabelRef("last"))
	f.find(Mem{Base: at, Disp: blockSize}, more.As32(), VecVirtual.AsY)
	SHLQ(Imm(blockSize), more)
	ADDQ(Imm(2*blockSize), end)
	ORQ(more, places)
	JNZ(LabelRef("found"))
	ADDQ(Imm(2*blockSize), at)
	LEAQ(Mem{Base: end, Disp: -blockSize}, more)
	CMPQ(at, more)
	CMOVQHI(more, at)
	JMP(LabelRef("blocks"))
	Label("last")
	f.find(Mem{Base: end, Disp: blockSize}, more.As32(), VecVirtual.AsY)
	SUBQ(at, end)
	ADDQ(Imm(blockSize), end)
	SHLXQ(end, more, more)
	ORQ(more, places)
	JNZ(LabelRef("found"))
	Label("none")
	VZEROUPPER()
	Store(size, ReturnIndex(0))
	RET()

	Comment("two halves of a block, which may overlap")
	Label("short")
	f.find(Mem{Base: at}, places.As32(), VecVirtual.AsX)
	f.find(Mem{Base: end, Disp: -blockSize / 2}, more.As32(), VecVirtual.AsX)
	SUBQ(at, end)
	SUBQ(Imm(blockSize/2), end)
	SHLXQ(end, more, more)
	ORQ(more, places)
	JZ(LabelRef("none"))
	Label("found")
	TZCNTQ(places, places)
	SUBQ(text, at)
	ADDQ(places, at)
	VZEROUPPER()
	Store(at, ReturnIndex(0))
	RET()
	Generate()
}

// A finder generates the search for the bytes of a form that need an action.
type finder struct{ low, high, nibble, zero VecVirtual }

// newFinder returns a finder whose registers hold the constants of its form.
func newFinder(nibbles Register) *finder {
	f := &finder{YMM(), YMM(), YMM(), YMM()}
	Comment("nibble is 0x0f in each byte")
	VPCMPEQB(f.nibble, f.nibble, f.nibble)
	VPSRLW(Imm(12), f.nibble, f.nibble)
	VPACKUSWB(f.nibble, f.nibble, f.nibble)
	VBROADCASTI128(Mem{Base: nibbles}, f.low)
	VBROADCASTI128(Mem{Base: nibbles, Disp: 16}, f.high)
	VPXOR(f.zero, f.zero, f.zero)
	return f
}

// any sets places to zero if no byte of a text needs an action. The text has from one to middle blocks.
func (f *finder) any(text, size, places Register) {
	last, at, all := GP64(), GP64(), YMM()
	MOVQ(size, last)
	SUBQ(Imm(blockSize), last)
	f.look(Mem{Base: text}, all, VecVirtual.AsY)
	for i := 1; i < middle-1; i++ {
		v := YMM()
		MOVQ(U32(i*blockSize), at)
		CMPQ(at, last)
		CMOVQHI(last, at)
		f.look(Mem{Base: text, Index: at, Scale: 1}, v, VecVirtual.AsY)
		VPMINUB(v, all, all)
	}
	v := YMM()
	f.look(Mem{Base: text, Index: last, Scale: 1}, v, VecVirtual.AsY)
	VPMINUB(v, all, all)
	VPCMPEQB(f.zero, all, all)
	VPMOVMSKB(all, places)
}

// find sets places to a bit mask of the bytes of a block that need an action. Such a byte is one whose entries in the
// two tables share no bit. For a byte beyond ASCII, VPSHUFB finds zero in low.
func (f *finder) find(block Mem, places Register, part func(VecVirtual) Register) {
	v := YMM()
	f.look(block, v, part)
	VPCMPEQB(part(f.zero), part(v), part(v))
	VPMOVMSKB(part(v), places)
}

// look sets v to zero for each byte of a block that needs an action, and to other values for all others.
func (f *finder) look(block Mem, v VecVirtual, part func(VecVirtual) Register) {
	upper := YMM()
	VMOVDQU(block, part(v))
	VPSRLW(Imm(4), part(v), part(upper))
	VPAND(part(f.nibble), part(upper), part(upper))
	VPSHUFB(part(upper), part(f.high), part(upper))
	VPSHUFB(part(v), part(f.low), part(v))
	VPAND(part(upper), part(v), part(v))
}
