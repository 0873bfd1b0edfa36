package wordzstd

import "math/bits"

// tableLog is the logarithm of the number of states of a coder.
const tableLog = 8

// maxCodes is greater than the number of codes for each number of a sequence.
const maxCodes = 64

// A coder is a table for Finite State Entropy (RFC 8878, section 4.1). Each of the 256 states stands for a code, and
// the number of states of a code is proportional to its frequency. To add a code before others, some low bits of the
// state are written, and the others select one of the states of the code.
type coder struct {
	counts [maxCodes]uint32
	log    uint8 // logarithm of the number of states: tableLog, or 0 if there is only one code

	shares [maxCodes]int32       // number of states of each code
	codes  [maxCodes]codeStates  // position of its states
	states [1 << tableLog]uint16 // the states of code 0, then of 1, and so on; each is 256 or more
}

// A codeStates determines the transition from a state to one of the states of a code.
type codeStates struct {
	width uint32 // (state + width) >> 16 bits of the state are written
	start int32  // start plus the other bits is an index in states
}

// reset sets all counts to 0.
func (c *coder) reset() { clear(c.counts[:]) }

// The modes of tables.
const (
	oneCode = 1 // there is only one code, which follows
	aTable  = 2
)

// appendTable builds the table from c.counts, whose sum is n, and appends it; or only the code, if there is just one.
// mode tells them apart.
func (c *coder) appendTable(dst []byte, n int) (table []byte, mode byte) {
	for code, count := range c.counts {
		if int(count) == n {
			c.log, c.codes[code], c.states[0] = 0, codeStates{}, 0
			return append(dst, byte(code)), oneCode
		}
	}
	c.log = tableLog
	c.share(n)
	c.buildStates()
	return c.appendShares(dst), aTable
}

// share distributes the states in proportion to the counts, whose sum is n. A code that occurs gets at least one
// state.
func (c *coder) share(n int) {
	left, most := int32(1<<tableLog), 0
	for code, count := range c.counts {
		c.shares[code] = 0
		if count > 0 {
			c.shares[code] = int32(max(1, (uint64(count)<<tableLog+uint64(n)/2)/uint64(n)))
		}
		left -= c.shares[code]
		if c.shares[code] > c.shares[most] {
			most = code
		}
	}
	c.shares[most] += left   // the sum is now correct
	for c.shares[most] < 1 { // many rare codes have one state each: take states from other codes
		for code := range c.shares {
			if c.shares[code] > 1 {
				c.shares[code]--
				c.shares[most]++
			}
		}
	}
}

// buildStates sets c.codes and c.states from the shares. As the format requires, the states of a code are far apart.
func (c *coder) buildStates() {
	const size, mask = 1 << tableLog, 1<<tableLog - 1
	var next [maxCodes]int32 // index of the next state of each code
	var codeAt [size]uint8
	place, sum := 0, int32(0)
	for code, share := range c.shares {
		next[code] = sum
		for range share {
			codeAt[place] = uint8(code)
			place = (place + size>>1 + size>>3 + 3) & mask
		}
		if share > 0 {
			width := int32(tableLog) // maximum number of bits that are written
			if share > 1 {
				width += 1 - int32(bits.Len32(uint32(share-1)))
			}
			c.codes[code] = codeStates{width: uint32(width<<16 - share<<width), start: sum - share}
		}
		sum += share
	}
	for place, code := range codeAt {
		c.states[next[code]] = uint16(size + place)
		next[code]++
	}
}

// firstState returns the state to start from, a state of the code that is added first.
func (c *coder) firstState(code uint8) uint32 {
	if c.log == 0 {
		return 0
	}
	t := c.codes[code]
	width := (t.width + 1<<15) >> 16
	return uint32(c.states[int32((width<<16-t.width)>>width)+t.start])
}

// appendShares appends the shares, by which a decoder builds the table, in the format of section 4.1.1 of the RFC.
func (c *coder) appendShares(dst []byte) []byte {
	w := newBitWriter(dst, 2*maxCodes)
	w.writeBits(tableLog-5, 4)
	left := int32(1<<tableLog + 1) // 1 + number of remaining states
	for code := 0; left > 1; code++ {
		// A share is written plus one, with as many bits as left needs, or one bit less if it is small.
		share := c.shares[code]
		width := bits.Len32(uint32(left))
		threshold := int32(1) << (width - 1)
		small := 2*threshold - 1 - left
		left -= share
		value := share + 1
		switch {
		case value < small:
			width--
		case value >= threshold:
			value += small
		}
		w.writeBits(uint64(value), uint8(width))
		w.flush()
		if share > 0 {
			continue
		}
		for { // write the number of further codes without states
			zeros := 0
			for zeros < 3 && c.shares[code+1] == 0 {
				zeros++
				code++
			}
			w.writeBits(uint64(zeros), 2)
			w.flush()
			if zeros < 3 {
				break
			}
		}
	}
	return w.finish()
}
