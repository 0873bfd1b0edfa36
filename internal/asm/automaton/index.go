package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The layout of an index, see index.go.
const (
	indexLog    = groupHeader + masksSize
	indexHeader = indexLog + 1 + 2 + 2

	maxHits = 480
	keyHash = 0x9e3779b97f4a7c15

	windowSize   = 8
	windowBefore = 3
)

// An indexer generates the look-up of a path in an index.
type indexer struct {
	*scanner
	*lookup
	filter, mask Register // the filter, and its bits less one
	n, has       Register
}

// hits writes hitsGeneric.
func hits() {
	TEXT("hitsAVX2", NOSPLIT, "func(table *byte, group int, path *byte, size int, pos int, out *uint16) (n int, has uint64)")
	Doc("hitsAVX2 does the same as hitsGeneric, for a path of at least eight bytes.")
	path, from := Load(Param("path"), GP64()), GP64()
	s := newScanner(path, Load(Param("size"), GP64()))
	group := Load(Param("table"), GP64())
	ADDQ(Load(Param("group"), GP64()), group)
	ADDQ(Load(Param("pos"), GP64()), path)
	MOVQ(path, from)
	CMPQ(from, s.last)
	CMOVQHI(s.last, from)
	x := &indexer{s, nil, GP64(), GP64(), GP64(), GP64()}
	LEAQ(Mem{Base: group, Disp: indexHeader}, x.filter)
	log, ones := GP64(), GP64()
	MOVBLZX(Mem{Base: group, Disp: indexLog}, log.As32())
	MOVQ(U32(64), ones)
	SHLXQ(log, ones, x.mask)
	DECQ(x.mask)
	XORQ(x.n, x.n)
	XORQ(x.has, x.has)
	Comment("the key of the end")
	path = Load(Param("path"), GP64())
	end, hash := GP64(), GP64()
	MOVQ(U64(keyHash), hash)
	MOVQ(Mem{Base: path, Index: x.size, Scale: 1, Disp: -windowSize}, end)
	IMULQ(hash, end)
	x.lookUp(end)
	x.lookup = newLookup(group)
	x.pairs(from)
	VZEROUPPER()
	Store(x.n, ReturnIndex(0))
	Store(x.has, ReturnIndex(1))
	RET()
}

// pairs looks up all positions from the given one on. Each iteration handles two blocks, because the end of the loop
// is unpredictable.
func (x *indexer) pairs(from Register) {
	at, begin, bits, v := GP64(), GP64(), GP64(), YMM()
	MOVQ(from, at)
	MOVQ(from, begin)
	XORL(bits.As32(), bits.As32())
	VMOVDQA(x.short, v)
	CMPQ(x.size, Imm(blockSize))
	JB(LabelRef("short"))

	Label("pair")
	MOVQ(at, begin)
	XORL(bits.As32(), bits.As32())
	for i := range 2 {
		CMPQ(at, x.last)
		JAE(LabelRef("tail"))
		VMOVDQU(Mem{Base: at}, v)
		some := x.places(v, false)
		SHLQ(Imm(uint64(i*blockStep)), some)
		ORQ(some, bits)
		ADDQ(Imm(blockStep), at)
	}
	JMP(LabelRef("places"))

	Label("tail")
	VMOVDQU(Mem{Base: x.last}, v)
	Label("short")
	some, size, up := x.places(v, true), GP64(), GP64()
	Comment("not those of the previous block, nor any after the path")
	SUBQ(x.last, at)
	SHRXQ(at, some, some)
	SHLXQ(at, some, some)
	MOVQ(U32(blockSize), size)
	CMPQ(x.size, size)
	CMOVQLT(x.size, size)
	BZHIQ(size, some, some)
	CMPQ(begin, x.last)
	CMOVQHI(x.last, begin)
	MOVQ(x.last, up)
	SUBQ(begin, up)
	SHLXQ(up, some, some)
	ORQ(some, bits)
	XORL(at.As32(), at.As32())

	Label("places")
	TESTQ(bits, bits)
	JZ(LabelRef("looked"))
	Label("place")
	place := GP64()
	TZCNTQ(bits, place)
	ADDQ(begin, place)
	x.lookUpPlace(place)
	BLSRQ(bits, bits)
	JNZ(LabelRef("place"))
	CMPQ(x.n, U32(maxHits))
	JAE(LabelRef("stopped"))
	Label("looked")
	TESTQ(at, at)
	JNZ(LabelRef("pair"))
	Label("stopped")
}

// places returns a bit mask of the positions of a block at which some bucket may have a fingerprint.
func (x *indexer) places(v VecVirtual, last bool) GPVirtual {
	first, none, some := YMM(), YMM(), GP64()
	x.prepare(v)
	join(v, first, &x.behind, last, x.look)
	VPCMPEQB(x.zero, first, none)
	VPMOVMSKB(none, some.As32())
	NOTL(some.As32())
	return some
}

// lookUpPlace looks up the keys of a position.
func (x *indexer) lookUpPlace(place Register) {
	w := x.window(place)
	ahead, behind, hash, bit := GP64(), GP64(), GP64(), GP64()
	MOVQ(w, ahead)
	SHRQ(Imm(8*windowBefore), ahead)
	SHLQ(Imm(16), w)
	SHRQ(Imm(32), w)
	MOVQ(w, behind)
	MOVQ(U64(keyHash), hash)
	IMULQ(hash, ahead)
	IMULQ(hash, behind)
	MOVQ(ahead, bit)
	SHRQ(Imm(58), bit)
	BTSQ(bit, x.has)
	MOVQ(ahead, bit)
	SHRQ(Imm(52), bit)
	ANDQ(Imm(63), bit)
	BTSQ(bit, x.has)
	x.lookUp(ahead)
	x.lookUp(behind)
}

// window loads the window at a position, with zeros outside of the path.
func (x *indexer) window(place Register) Register {
	path, end, w, from := Load(Param("path"), GP64()), GP64(), GP64(), GP64()
	SUBQ(Imm(windowBefore), place)
	LEAQ(Mem{Base: path, Index: x.size, Scale: 1, Disp: -windowSize}, end)
	MOVQ(place, from)
	CMPQ(from, path)
	CMOVQLT(path, from)
	CMPQ(from, end)
	CMOVQGT(end, from)
	MOVQ(Mem{Base: from}, w)
	Comment("up if it begins before the path, down if it ends after it")
	up, none := GP64(), GP64()
	XORQ(none, none)
	MOVQ(from, up)
	SUBQ(place, up)
	SHLQ(Imm(3), up)
	MOVQ(up, place)
	NEGQ(place)
	CMPQ(up, none)
	CMOVQLT(none, up)
	CMPQ(place, none)
	CMOVQLT(none, place)
	SHLXQ(up, w, w)
	SHRXQ(place, w, w)
	return w
}

// lookUp writes the hash of a key if the filter has it.
func (x *indexer) lookUp(key GPVirtual) {
	word, out := GP64(), Load(Param("out"), GP64())
	SHRQ(Imm(44), key)
	ANDQ(x.mask, key)
	MOVW(key.As16(), Mem{Base: out, Index: x.n, Scale: 2})
	MOVQ(key, word)
	SHRQ(Imm(5), word)
	MOVL(Mem{Base: x.filter, Index: word, Scale: 4}, word.As32())
	BTL(key.As32(), word.As32())
	ADCQ(Imm(0), x.n)
}

// slashes writes slashesGeneric.
func slashes() {
	TEXT("slashesAVX2", NOSPLIT, "func(path *byte, size int) (has uint64)")
	Doc("slashesAVX2 does the same as slashesGeneric, for a path of at least eight bytes.")
	at, size, last, end, has := Load(Param("path"), GP64()), Load(Param("size"), GP64()), GP64(), GP64(), GP64()
	bits, begin, hash, slash, v, some := GP64(), GP64(), GP64(), YMM(), YMM(), GP64()
	LEAQ(Mem{Base: at, Index: size, Scale: 1, Disp: -windowSize}, end)
	LEAQ(Mem{Base: at, Index: size, Scale: 1, Disp: -blockSize}, last)
	XORL(has.As32(), has.As32())
	MOVQ(U64(keyHash), hash)
	MOVL(U32('/'), bits.As32())
	VMOVD(bits.As32(), slash.AsX())
	VPBROADCASTB(slash.AsX(), slash)
	CMPQ(size, Imm(blockSize))
	JB(LabelRef("short"))

	Label("pair")
	Comment("two blocks at once, because the end of a loop cannot be predicted; some positions are examined twice")
	MOVQ(at, begin)
	CMPQ(begin, last)
	CMOVQHI(last, begin)
	VPCMPEQB(Mem{Base: begin}, slash, v)
	VPMOVMSKB(v, bits.As32())
	ADDQ(Imm(blockSize), at)
	CMPQ(at, last)
	CMOVQHI(last, at)
	VPCMPEQB(Mem{Base: at}, slash, v)
	VPMOVMSKB(v, some.As32())
	up := GP64()
	MOVQ(at, up)
	SUBQ(begin, up)
	SHLXQ(up, some, some)
	Label("both")
	ORQ(some, bits)
	JZ(LabelRef("looked"))
	Label("place")
	place, from, w, bit := GP64(), GP64(), GP64(), GP64()
	TZCNTQ(bits, place)
	ADDQ(begin, place)
	MOVQ(place, from)
	CMPQ(from, end)
	CMOVQHI(end, from)
	MOVQ(Mem{Base: from}, w)
	SUBQ(from, place)
	SHLQ(Imm(3), place)
	SHRXQ(place, w, w)
	SHLQ(Imm(24), w)
	SHRQ(Imm(24), w)
	IMULQ(hash, w)
	MOVQ(w, bit)
	SHRQ(Imm(58), bit)
	BTSQ(bit, has)
	SHRQ(Imm(52), w)
	ANDQ(Imm(63), w)
	BTSQ(w, has)
	BLSRQ(bits, bits)
	JNZ(LabelRef("place"))
	Label("looked")
	CMPQ(at, last)
	JAE(LabelRef("done"))
	ADDQ(Imm(blockSize), at)
	JMP(LabelRef("pair"))

	Label("short")
	Comment("the first bytes, and the last ones")
	MOVQ(at, begin)
	x := slash.AsX()
	CMPQ(size, Imm(16))
	JB(LabelRef("under16"))
	VPCMPEQB(Mem{Base: at}, x, v.AsX())
	VPMOVMSKB(v.AsX(), bits.As32())
	VPCMPEQB(Mem{Base: at, Index: size, Scale: 1, Disp: -16}, x, v.AsX())
	VPMOVMSKB(v.AsX(), some.As32())
	SUBQ(Imm(16), size)
	SHLXQ(size, some, some)
	JMP(LabelRef("both"))
	Label("under16")
	VMOVQ(Mem{Base: at}, v.AsX())
	VPCMPEQB(v.AsX(), x, v.AsX())
	VPMOVMSKB(v.AsX(), bits.As32())
	VMOVQ(Mem{Base: at, Index: size, Scale: 1, Disp: -8}, v.AsX())
	VPCMPEQB(v.AsX(), x, v.AsX())
	VPMOVMSKB(v.AsX(), some.As32())
	SUBQ(Imm(8), size)
	SHLXQ(size, some, some)
	JMP(LabelRef("both"))

	Label("done")
	VZEROUPPER()
	Store(has, ReturnIndex(0))
	RET()
}
