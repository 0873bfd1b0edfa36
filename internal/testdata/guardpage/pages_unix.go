//go:build unix

package guardpage

import (
	"syscall"
	"testing"
)

// New returns a page before which, and a page behind which, there is one that cannot be read.
func New(tb testing.TB) (before, behind []byte) {
	tb.Helper()
	size := syscall.Getpagesize()
	all, err := syscall.Mmap(-1, 0, 4*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := syscall.Munmap(all); err != nil {
			tb.Error(err)
		}
	})
	for _, page := range [][]byte{all[:size], all[3*size:]} {
		if err := syscall.Mprotect(page, syscall.PROT_NONE); err != nil {
			tb.Fatal(err)
		}
	}
	return all[size : 2*size : 2*size], all[2*size : 3*size : 3*size]
}
