package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The layout of buckets, see fingerprint.go.
const (
	groupHeader  = 1 + 3
	printSize    = 3
	masksSize    = 2 * 16 * printSize
	maskedHeader = groupHeader + masksSize
	moreGroups   = 1 << 7
)

const (
	blockSize = 32
	blockStep = blockSize - printSize + 1 // returns a bit mask of the positions of a block that have all bytes of a fingerprint in a bucket
)

// sift generates siftGeneric. It writes the groups after the nodes, in the same slice.
func (w *walker) sift() {
	node, end := Load(Param("nodes"), GP64()), GP64()
	CMPQ(node, w.nodes)
	JE(LabelRef("sifted"))
	MOVQ(w.nodes, end)
	s := newScanner(w.path, w.size)

	Label("sift")
	group := GP64()
	MOVL(Mem{Base: node}, group.As32())
	Label("group")
	ADDQ(Load(Param("table"), GP64()), group)
	count, bound, place := GP32(), GP32(), GP64()
	MOVL(Mem{Base: group}, bound)
	MOVBLZX(bound.As8(), count)
	SHRL(Imm(8), bound)
	CMPL(bound, w.best)
	JBE(LabelRef("sieve"))
	MOVL(Mem{Base: node, Disp: 4}, place.As32())
	ADDQ(Load(Param("path"), GP64()), place)
	found := s.scan(group, count, place)
	TESTQ(found, found)
	JZ(LabelRef("sieve"))
	off, pos := GP64(), GP32()
	MOVQ(group, off)
	SUBQ(Load(Param("table"), GP64()), off)
	MOVL(Mem{Base: node, Disp: 4}, pos)
	MOVL(off.As32(), Mem{Base: w.nodes})
	MOVL(pos, Mem{Base: w.nodes, Disp: 4})
	MOVQ(found, Mem{Base: w.nodes, Disp: 8})
	ADDQ(Imm(16), w.nodes)
	Label("sieve")
	CMPB(Mem{Base: group}, Imm(0))
	JGE(LabelRef("last"))
	MOVL(Mem{Base: group, Disp: -4}, group.As32())
	SHRL(Imm(8), group.As32())
	JMP(LabelRef("group"))
	Label("last")
	ADDQ(Imm(16), node)
	CMPQ(node, end)
	JNE(LabelRef("sift"))
	VZEROUPPER()
	Label("sifted")
}

// A scanner is a path that is scanned for fingerprints.
type scanner struct {
	size  Register
	last  Register   // where the last block begins; 0 if the path is shorter than a block
	short VecVirtual // the whole path, padded with zeros, if it is shorter than a block
}

// newScanner generates the preparation for scanning a path of at least eight bytes.
func newScanner(path, size Register) *scanner {
	s := &scanner{size, GP64(), YMM()}
	LEAQ(Mem{Base: path, Index: size, Scale: 1, Disp: -blockSize}, s.last)
	CMPQ(size, Imm(blockSize))
	JAE(LabelRef("begin"))
	MOVQ(path, s.last)
	CMPQ(size, Imm(16))
	JB(LabelRef("under16"))
	Comment("the first 16 bytes, and the rest of the last 16, moved down")
	low, high, table := XMM(), XMM(), GP64()
	VMOVDQU(Mem{Base: path}, low)
	VMOVDQU(Mem{Base: path, Index: size, Scale: 1, Disp: -16}, high)
	LEAQ(slide(), table)
	SUBQ(size, table)
	VPSHUFB(Mem{Base: table, Disp: blockSize}, high, high)
	VINSERTI128(Imm(1), high, low.AsY(), s.short)
	JMP(LabelRef("begin"))
	Label("under16")
	first, second, by := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: path}, first)
	MOVQ(Mem{Base: path, Index: size, Scale: 1, Disp: -8}, second)
	MOVQ(U32(15), by)
	SUBQ(size, by)
	SHLQ(Imm(3), by)
	SHRXQ(by, second, second)
	SHRQ(Imm(8), second)
	VMOVQ(first, low)
	VPINSRQ(Imm(1), second, low, s.short.AsX())
	Label("begin")
	return s
}

var slideTable Mem

// slide returns a table of shuffles that shift the bytes of a vector down and fill it with zeros; the offset at which the
// table is read determines the distance.
func slide() Mem {
	if slideTable.Symbol.Name == "" {
		slideTable = GLOBL("slide", RODATA|NOPTR)
		for i := range 4 {
			var v uint64
			for j := range 8 {
				b := uint64(8*i + j)
				if b > 15 {
					b = 0x80
				}
				v |= b << (8 * j)
			}
			DATA(8*i, U64(v))
		}
	}
	return slideTable
}

// scan returns the buckets of a group that have a fingerprint in the path from a position on, or 1 for an index. The
// group begins with the count.
func (s *scanner) scan(group Register, count GPVirtual, from Register) GPVirtual {
	Comment("the first block begins before the position if fewer bytes follow")
	CMPQ(from, s.last)
	CMOVQHI(s.last, from)
	found := GP64()
	ANDL(Imm(moreGroups-1), count)
	CMPL(count, Imm(1))
	JE(LabelRef("single"))
	JB(LabelRef("index"))
	s.masked(group, from, found)
	Label("index")
	Comment("an index is looked at later")
	MOVL(U32(1), found.As32())
	JMP(LabelRef("scanned"))
	Label("single")
	s.single(group, from, found)
	Label("scanned")
	return found
}

// A lookup is the masks of a group in registers.
type lookup struct {
	nibble, zero VecVirtual // 0x0f in each byte, and 0
	low, high    [printSize]VecVirtual
	behind       [printSize]VecVirtual // the finding behind the path
	upper        VecVirtual            // the upper four bits of the byte looked up
}

// newLookup loads the masks of a group.
func newLookup(group Register) *lookup {
	nibble := YMM()
	Comment("nibble is 0x0f in each byte")
	VPCMPEQB(nibble, nibble, nibble)
	VPSRLW(Imm(12), nibble, nibble)
	VPACKUSWB(nibble, nibble, nibble)
	var low, high [printSize]VecVirtual
	for i := range low {
		low[i], high[i] = YMM(), YMM()
		VBROADCASTI128(Mem{Base: group, Disp: groupHeader + 32*i}, low[i])
		VBROADCASTI128(Mem{Base: group, Disp: groupHeader + 32*i + 16}, high[i])
	}
	zero := YMM()
	VPXOR(zero, zero, zero)
	var behind [printSize]VecVirtual
	for i := 1; i < printSize; i++ {
		t := YMM()
		behind[i] = YMM()
		VPSHUFB(zero, low[i], behind[i])
		VPSHUFB(zero, high[i], t)
		VPAND(t, behind[i], behind[i])
	}
	return &lookup{nibble: nibble, zero: zero, low: low, high: high, behind: behind}
}

// prepare splits the bytes of a block into their lower and upper four bits.
func (l *lookup) prepare(v VecVirtual) {
	l.upper = YMM()
	VPSRLW(Imm(4), v, l.upper)
	VPAND(l.nibble, v, v)
	VPAND(l.nibble, l.upper, l.upper)
}

// look finds the buckets in which a byte may be byte i of a fingerprint.
func (l *lookup) look(i int, v, r VecVirtual) {
	t := YMM()
	VPSHUFB(l.upper, l.high[i], t)
	VPSHUFB(v, l.low[i], r)
	VPAND(t, r, r)
}

// masked searches for the fingerprints of several patterns.
func (s *scanner) masked(group, from Register, found GPVirtual) {
	l, acc := newLookup(group), YMM()
	VPXOR(acc, acc, acc)
	s.blocks("masked", from, &l.behind, l.prepare, l.look, func(first VecVirtual) { VPOR(first, acc, acc) })
	Comment("all places as one")
	half, wide, t := XMM(), XMM(), GP64()
	VEXTRACTI128(Imm(1), acc, half)
	VPOR(acc.AsX(), half, half)
	VPSRLDQ(Imm(8), half, wide)
	VPOR(wide, half, half)
	VMOVQ(half, found)
	for _, by := range []uint64{32, 16, 8} {
		MOVQ(found, t)
		SHRQ(Imm(by), t)
		ORQ(t, found)
	}
	MOVBLZX(found.As8(), found.As32())
	JMP(LabelRef("scanned"))
}

// single looks for one fingerprint.
func (s *scanner) single(group, from Register, found GPVirtual) {
	var bytes, wild, behind [printSize]VecVirtual
	zero, size, n := YMM(), YMM(), YMM()
	VPBROADCASTB(Mem{Base: group, Disp: groupHeader + printSize}, size)
	VPXOR(zero, zero, zero)
	VPCMPEQB(n, n, n)
	VPABSB(n, n)
	Comment("any byte matches beyond the end of the fingerprint")
	for i := range bytes {
		bytes[i] = YMM()
		VPBROADCASTB(Mem{Base: group, Disp: groupHeader + i}, bytes[i])
		if i == 0 {
			continue
		}
		wild[i], behind[i] = YMM(), YMM()
		VPCMPEQB(n, size, wild[i])
		if i > 1 {
			VPOR(wild[i-1], wild[i], wild[i])
		}
		VPADDB(n, n, n)
		VPCMPEQB(zero, bytes[i], behind[i])
		VPOR(wild[i], behind[i], behind[i])
	}
	acc := YMM()
	VPXOR(acc, acc, acc)
	s.blocks("single", from, &behind, func(VecVirtual) {}, func(i int, v, r VecVirtual) {
		VPCMPEQB(v, bytes[i], r)
		if i > 0 {
			VPOR(wild[i], r, r)
		}
	}, func(first VecVirtual) { VPOR(first, acc, acc) })
	XORL(found.As32(), found.As32())
	VPTEST(acc, acc)
	SETNE(found.As8())
}

// blocks looks up the blocks of the path, from one position on. It passes the buckets found in each block to found:
// for each position, those of the byte there, of the next byte, and of the one after that. The caller gives the
// result for the bytes after the path.
func (s *scanner) blocks(name string, from Register, behind *[printSize]VecVirtual, prepare func(v VecVirtual),
	look func(i int, v, r VecVirtual), found func(first VecVirtual),
) {
	at, v, first := GP64(), YMM(), YMM()
	block := func(last bool) {
		prepare(v)
		join(v, first, behind, last, look)
		found(first)
	}
	MOVQ(from, at)
	VMOVDQA(s.short, v)
	CMPQ(s.size, Imm(blockSize))
	JB(LabelRef(name + "block"))
	Label(name + "blocks")
	CMPQ(at, s.last)
	JAE(LabelRef(name + "last"))
	VMOVDQU(Mem{Base: at}, v)
	block(false)
	ADDQ(Imm(blockStep), at)
	JMP(LabelRef(name + "blocks"))
	Label(name + "last")
	VMOVDQU(Mem{Base: s.last}, v)
	Label(name + "block")
	block(true)
}

// join sets first to the buckets found at all three bytes, for the positions of a block.
func join(v, first VecVirtual, behind *[printSize]VecVirtual, last bool, look func(i int, v, r VecVirtual)) {
	look(0, v, first)
	for i := 1; i < printSize; i++ {
		r, next := YMM(), YMM()
		look(i, v, r)
		if last {
			VPERM2I128(Imm(0x21), behind[i], r, next)
		} else {
			VPERM2I128(Imm(0x81), r, r, next) // the next block has these places, too
		}
		VPALIGNR(Imm(uint64(i)), r, next, next)
		VPAND(next, first, first)
	}
}

// find generates findGeneric for a path of at least a block.
func find() {
	TEXT("findAVX2", NOSPLIT, "func(path *byte, size int, window *byte) int")
	Doc("findAVX2 does the same as findGeneric, for a path of at least blockSize bytes.")
	path, window, last, at := Load(Param("path"), GP64()), Load(Param("window"), GP64()), GP64(), GP64()
	MOVQ(path, at)
	MOVQ(path, last)
	ADDQ(Load(Param("size"), GP64()), last)
	SUBQ(Imm(blockSize), last)
	var bytes [printSize]VecVirtual
	for i := range bytes {
		bytes[i] = YMM()
		VPBROADCASTB(Mem{Base: window, Disp: i}, bytes[i])
	}
	Label("block")
	v, places := YMM(), GP64()
	VMOVDQU(Mem{Base: at}, v)
	for i := range bytes {
		equal, some := YMM(), GP64()
		VPCMPEQB(v, bytes[i], equal)
		if i == 0 {
			VPMOVMSKB(equal, places.As32())
			continue
		}
		VPMOVMSKB(equal, some.As32())
		SHRL(Imm(uint64(i)), some.As32())
		ANDL(some.As32(), places.As32())
	}
	TESTL(places.As32(), places.As32())
	JNZ(LabelRef("found"))
	CMPQ(at, last)
	JAE(LabelRef("missing"))
	ADDQ(Imm(blockStep), at)
	CMPQ(at, last)
	CMOVQHI(last, at)
	JMP(LabelRef("block"))
	Label("found")
	TZCNTL(places.As32(), places.As32())
	ADDQ(places, at)
	SUBQ(path, at)
	VZEROUPPER()
	Store(at, ReturnIndex(0))
	RET()
	Label("missing")
	MOVQ(I32(-1), at)
	VZEROUPPER()
	Store(at, ReturnIndex(0))
	RET()
}
