// Package wire reads and writes numbers and texts one after the other, as rule packs and temporary files have them.
//
// The package hides how a length is checked before it is believed. It does not know the meaning of the
// fields. It is a leaf: any package that encodes may import it.
package wire
