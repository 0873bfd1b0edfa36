// Command automaton writes the assembly of package automaton:
//
//	cd internal/asm && go run ./automaton -out ../../automaton/vector_amd64.s
//
// It is in a module of its own, so that its generator is not a dependency of robobatch.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

func main() {
	ConstraintExpr("!purego")
	const arguments = "(table *byte, path *byte, size int, nodes *byte)"

	TEXT("walkBMI2", NOSPLIT, "func"+arguments+" (best uint32, n int)")
	Doc("walkBMI2 does the same as walkGeneric, for a path of at least eight bytes. It may write one node beyond the n that it returns.")
	w := walk()
	Store(w.best, ReturnIndex(0))
	Store(w.count(), ReturnIndex(1))
	RET()

	TEXT("siftAVX2", NOSPLIT, "func"+arguments+" (best uint32, n, end int)")
	Doc("siftAVX2 is walkBMI2, and then siftGeneric.")
	w = walk()
	Store(w.count(), ReturnIndex(1))
	w.sift()
	Store(w.best, ReturnIndex(0))
	Store(w.count(), ReturnIndex(2))
	RET()

	TEXT("scanAVX2", NOSPLIT, "func(table *byte, group int, path *byte, size int, pos int) (found uint64)")
	Doc("scanAVX2 does the same as scanGeneric, for a path of at least eight bytes.")
	path := Load(Param("path"), GP64())
	s := newScanner(path, Load(Param("size"), GP64()))
	group, count := Load(Param("table"), GP64()), GP32()
	ADDQ(Load(Param("group"), GP64()), group)
	MOVBLZX(Mem{Base: group}, count)
	ADDQ(Load(Param("pos"), GP64()), path)
	found := s.scan(group, count, path)
	VZEROUPPER()
	Store(found, ReturnIndex(0))
	RET()
	hits()
	slashes()
	find()
	Generate()
}
