// Package linefeed finds the line feeds of a text, 64 bytes at once where the processor can. On the
// way it sees which odd bytes there are.
//
// Only package ingest imports it.
package linefeed

import "bytes"

// Block is the number of places that must be free for Find to look at more text.
const Block = 64

// Seen says which special bytes a text has beside line feeds.
type Seen struct {
	Blank bool // a space or a tab
	NUL   bool // a byte that is 0
	CR    bool // a carriage return, before a line feed or not
}

// Add adds the findings of another text.
func (s *Seen) Add(o Seen) {
	s.Blank = s.Blank || o.Blank
	s.NUL = s.NUL || o.NUL
	s.CR = s.CR || o.CR
}

// Find writes where the line feeds of a text are to places, in order. It reads the text to its end,
// or until fewer than [Block] places are free, and returns how many it wrote, how many bytes it has
// read, and the special bytes in them. A text has less than 4 GiB. It does not allocate.
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
