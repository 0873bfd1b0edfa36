//go:build engines

package main

/*
#cgo pkg-config: libhs
#cgo LDFLAGS: -lre2 -ldl
#cgo CXXFLAGS: -O3 -std=c++17
#include <stdlib.h>
#include "engines.h"
*/
import "C"

import (
	"errors"
	"strings"
	"unsafe"

	"github.com/robobatch/robobatch/internal/measure"
)

// An engine is a matcher in engines.cc.
type engine struct {
	name string
	kind C.int
}

var engines = []engine{{"hyperscan", C.HYPERSCAN}, {"vectorscan", C.VECTORSCAN}, {"re2-set", C.RE2_SET}}

// A compiled is a workload's sites as an engine has compiled them.
type compiled struct {
	kind  C.int
	sites []unsafe.Pointer // memory of C++
}

// compile compiles all sites of a workload, and returns the CPU time that it took, in nanoseconds. The caller frees
// the result.
func (w *workload) compile(e engine) (*compiled, float64, error) {
	c := &compiled{kind: e.kind}
	before := measure.CPU()
	for _, s := range w.sites {
		text := C.CString(strings.Join(s.expressions(), "\n"))
		p := C.engine_compile(e.kind, text)
		C.free(unsafe.Pointer(text))
		if p == nil {
			return nil, 0, errors.New("rules do not compile")
		}
		c.sites = append(c.sites, p)
	}
	return c, float64((measure.CPU() - before).Nanoseconds()), nil
}

// match sets winners to the index of the expression that decides each path, or -1.
func (c *compiled) match(w *workload, winners []int32) {
	C.engine_match(c.kind, (*unsafe.Pointer)(&c.sites[0]), (*C.char)(unsafe.Pointer(&w.text[0])),
		(*C.int64_t)(&w.ends[0]), (*C.int32_t)(&w.of[0]), C.int64_t(len(w.of)), (*C.int32_t)(&winners[0]))
}

func (c *compiled) free() {
	for _, p := range c.sites {
		C.engine_free(c.kind, p)
	}
}
