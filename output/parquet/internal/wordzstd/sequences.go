package wordzstd

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A sequence has a number of literals and the match after them, as three numbers with their codes. In the frame, the
// low bits of a number follow its code.
type sequence struct {
	literals, match, offset uint32 // match is 3 less than its length, offset 3 more than the distance
	codes                   [kinds]uint8
}

// The three numbers of a sequence, in the order of their tables.
const (
	ofLiterals = iota
	ofOffset
	ofMatch
	kinds
)

// Numbers below directLiterals and directMatch have their codes in a table. For others, the code is the number of bits
// plus a constant.
const (
	directLiterals = 64
	directMatch    = 128
)

var (
	literalsBits  = [36]uint8{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	matchBits     = [53]uint8{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	literalsCodes = [directLiterals]uint8(directCodes(literalsBits[:], directLiterals))
	matchCodes    = [directMatch]uint8(directCodes(matchBits[:], directMatch))
)

// directCodes returns the codes of the numbers below n. extra has the number of bits that follow each code.
func directCodes(extra []uint8, n int) []uint8 {
	var codes []uint8
	for code, width := range extra {
		for range min(1<<width, n-len(codes)) {
			codes = append(codes, uint8(code))
		}
	}
	return codes
}

// code sets the codes of the three numbers.
func (s *sequence) code() {
	if s.literals < directLiterals {
		s.codes[ofLiterals] = literalsCodes[s.literals]
	} else {
		s.codes[ofLiterals] = uint8(bits.Len32(s.literals) + 18)
	}
	if s.match < directMatch {
		s.codes[ofMatch] = matchCodes[s.match]
	} else {
		s.codes[ofMatch] = uint8(bits.Len32(s.match) + 35)
	}
	s.codes[ofOffset] = uint8(bits.Len32(s.offset) - 1)
}

// A sequencer encodes the sequences of a block.
type sequencer struct {
	all    []sequence
	coders [kinds]coder
}

// reset removes all sequences.
func (q *sequencer) reset() { q.all = q.all[:0] }

// append appends the sequences section of a block: their number, the three tables, and the bits. It sets the
// codes of the sequences.
func (q *sequencer) append(dst []byte) []byte {
	n := len(q.all) // at most 16 Ki: a block has no more matches of eight bytes
	if n < 128 {
		dst = append(dst, byte(n))
	} else {
		dst = append(dst, byte(n>>8+128), byte(n))
	}
	if n == 0 {
		return dst
	}
	for i := range q.coders {
		q.coders[i].reset()
	}
	for i := range q.all {
		q.all[i].code()
		c := &q.all[i].codes
		q.coders[ofLiterals].counts[c[ofLiterals]]++
		q.coders[ofOffset].counts[c[ofOffset]]++
		q.coders[ofMatch].counts[c[ofMatch]]++
	}
	modes := len(dst)
	dst = append(dst, 0)
	for i := range q.coders {
		var mode byte
		dst, mode = q.coders[i].appendTable(dst, n)
		dst[modes] |= mode << (6 - 2*i)
	}
	return q.appendBits(dst)
}

// appendBits appends the bits of the sequences. Decoders read them from the end, so the last sequence comes first.
func (q *sequencer) appendBits(dst []byte) []byte {
	const most = 11 // maximum bytes of a sequence
	lit, off, mat := &q.coders[ofLiterals], &q.coders[ofOffset], &q.coders[ofMatch]
	w := newBitWriter(dst, most*len(q.all))
	last := &q.all[len(q.all)-1]
	litState, offState, matState := lit.firstState(last.codes[ofLiterals]), off.firstState(last.codes[ofOffset]), mat.firstState(last.codes[ofMatch])
	for i := len(q.all) - 1; ; i-- {
		s := &q.all[i]
		w.writeBits(uint64(s.literals), literalsBits[s.codes[ofLiterals]])
		w.writeBits(uint64(s.match), matchBits[s.codes[ofMatch]]) // with states and literals, at most 63 bits
		if w.used+s.codes[ofOffset] >= 64 {
			w.flush() // rarely needed
		}
		w.writeBits(uint64(s.offset), s.codes[ofOffset])
		w.flush()
		if i == 0 {
			break
		}
		c := &q.all[i-1].codes
		offState = w.addState(off, offState, c[ofOffset])
		matState = w.addState(mat, matState, c[ofMatch])
		litState = w.addState(lit, litState, c[ofLiterals])
	}
	w.writeBits(uint64(matState), mat.log)
	w.writeBits(uint64(offState), off.log)
	w.writeBits(uint64(litState), lit.log)
	w.writeBits(1, 1) // end mark
	return w.finish()
}

// A bitWriter packs numbers into bytes, from the lowest bit up.
type bitWriter struct {
	dst  []byte // its length is its capacity
	at   int    // number of bytes written
	word uint64
	used uint8 // bits of word: less than 8 after flush
}

// newBitWriter returns a writer that appends up to most bytes to dst.
func newBitWriter(dst []byte, most int) bitWriter {
	at := len(dst)
	dst = slices.Grow(dst, most+16) // flush writes a whole word
	return bitWriter{dst: dst[:cap(dst)], at: at}
}

// writeBits adds the low bits of v. word must have room for them.
func (w *bitWriter) writeBits(v uint64, width uint8) {
	w.word |= v & (1<<(width&63) - 1) << (w.used & 63)
	w.used += width
}

// addState writes the bits of the transition from a state to a state of the given code, and returns the new state.
func (w *bitWriter) addState(c *coder, state uint32, code uint8) uint32 {
	t := c.codes[code%maxCodes]
	width := uint8((state + t.width) >> 16)
	w.writeBits(uint64(state), width)
	return uint32(c.states[(int32(state>>(width&31))+t.start)&(1<<tableLog-1)])
}

// flush writes complete bytes. At most 7 bits remain in word.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.dst[w.at:], w.word)
	w.at += int(w.used / 8)
	w.word >>= w.used &^ 7 & 63
	w.used %= 8
}

// finish writes the remaining bits, and returns the bytes.
func (w *bitWriter) finish() []byte {
	w.flush()
	if w.used > 0 {
		w.dst[w.at] = byte(w.word)
		w.at++
	}
	return w.dst[:w.at]
}
