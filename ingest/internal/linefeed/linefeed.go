// Package linefeed finds the line feeds of a text, 64 bytes at a time if the processor supports it. It also detects
// some special bytes.
//
// Only package ingest imports it.
package linefeed

import "bytes"

// Block is the number of free places that Find needs to continue.
const Block = 64

// Seen says which special bytes a text contains besides line feeds.
type Seen struct {
	Blank bool // space or tab
	NUL   bool // zero byte
	CR    bool // carriage return, before a line feed or elsewhere
}

// Add adds the findings of another text.
func (s *Seen) Add(o Seen) {
	s.Blank = s.Blank || o.Blank
	s.NUL = s.NUL || o.NUL
	s.CR = s.CR || o.CR
}

// Find writes the positions of the line feeds of a text to places, in order. It reads to the end of the text, or until
// fewer than [Block] places are free. It returns the number of places written, the number of bytes read, and the
// special bytes in them. A text must be shorter than 4 GiB. Find does not allocate.
func Find(text []byte, places []uint32) (n, read int, s Seen) { return find(text, places) }

// findGeneric is Find without vector instructions.
func findGeneric(text []byte, places []uint32) (n, read int, s Seen) {
	for n+Block <= len(places) {
		i := bytes.IndexByte(text[read:], '\n')
		if i < 0 {
			read = len(text)
			break
		}
		places[n] = uint32(read + i)
		n++
		read += i + 1
	}
	text = text[:read]
	s.Blank = bytes.IndexByte(text, ' ') >= 0 || bytes.IndexByte(text, '\t') >= 0
	s.NUL = bytes.IndexByte(text, 0) >= 0
	s.CR = bytes.IndexByte(text, '\r') >= 0
	return n, read, s
}
