//go:build !unix

package automaton

import "testing"

// guarded returns memory; nothing is known of what is around it.
func guarded(testing.TB) (before, behind []byte) { return make([]byte, 4096), make([]byte, 4096) }
