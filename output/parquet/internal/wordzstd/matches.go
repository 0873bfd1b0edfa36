package wordzstd

import (
	"encoding/binary"
	"math/bits"

	"github.com/robobatch/robobatch/internal/prefix"
)

const (
	// leastMatch is the minimum length of a match. With six bytes, there are more matches, and frames take longer, but
	// are not smaller.
	leastMatch = 8
	// tableBits is the logarithm of the number of positions in the table. With one bit more, frames are 1 to 2 % smaller
	// and take 3 % longer.
	tableBits = 13
	// pieceSize is the number of bytes for which matches are looked up before they are used. Sizes from 1 to 128 KiB are
	// equally fast.
	pieceSize = 4 << 10
	// copySlack is the number of bytes that copies may write beyond their end.
	copySlack = 32
)

// A finder finds matches: parts of the text that have occurred before. It makes two passes over the text. The first
// looks up every position of punctuation, without a branch that depends on the result: such branches are unpredictable,
// and would take most of the time. The second extends the few matches in both directions.
type finder struct {
	// table maps a hash of eight bytes to their last position, combined with other bits of the hash. Most different texts
	// are distinguished by these bits, without reading the text.
	table [1 << tableBits]uint64
	found [pieceSize]match // of the piece
	bytes int              // number of bytes so far
	signs int              // number of bytes that are punctuation
}

// A match is a position and an earlier one, with the same hash of eight bytes.
type match struct{ at, earlier uint32 }

// reset begins another text.
func (f *finder) reset() {
	clear(f.table[:])
	f.bytes, f.signs = 0, 0
}

// appendMatches appends the literals of src[at:end], and its sequences to all. The text before at is already in the
// table.
func (f *finder) appendMatches(literals []byte, all []sequence, src []byte, at, end int) ([]byte, []sequence) {
	next := at // start of the bytes that are not in a sequence yet
	for from := at; from < end; from += pieceSize {
		to := min(from+pieceSize, end)
		for _, m := range f.found[:f.findCandidates(src, max(from, next), to)] {
			place, earlier := int(m.at), int(m.earlier)
			if place < next || place+leastMatch > end || place == 0 {
				continue // an empty slot of the table has position 0, so position 0 finds itself
			}
			length := prefix.Shared(src[earlier:], src[place:end])
			if length < leastMatch {
				continue
			}
			back := sharedBefore(src, earlier, place, place-next)
			literals = appendShort(literals, src, next, place-back)
			all = append(all, sequence{literals: uint32(place - back - next), match: uint32(back + length - 3), offset: uint32(place - earlier + 3)})
			next = place + length
		}
	}
	return append(literals, src[next:end]...), all
}

// findCandidates looks up and stores the positions of punctuation in src[from:to], except near the end of src. It
// fills f.found with earlier positions of the same hash, and returns their number. The texts there may differ.
func (f *finder) findCandidates(src []byte, from, to int) uint {
	const (
		word  = 8
		piece = 64
		low   = 1<<32 - 1
	)
	table, found := &f.table, &f.found
	n, looked := uint(0), 0
	for ; from < min(to, len(src)-piece-word); from += piece {
		text := (*[piece + word]byte)(src[from:])
		signs := signsOf(text)
		if rest := to - from; rest < piece {
			signs &= 1<<rest - 1
		}
		for ; signs != 0; signs &= signs - 1 {
			i := bits.TrailingZeros64(signs) % piece
			hash := binary.LittleEndian.Uint64(text[i:i+word]) * 0x9e3779b185ebca87
			slot := &table[hash>>(64-tableBits)]
			here := hash&^low | uint64(from+i)
			earlier := *slot
			*slot = here
			found[n%pieceSize] = match{uint32(here), uint32(earlier)}
			n += uint((earlier^here)>>32-1) >> 63 // one more if they are equal
			looked++
		}
		f.bytes += piece
	}
	f.signs += looked
	return n
}

// signsOf returns a bit for each of the first 64 bytes, the lowest for the first: whether it is below '0', like most
// ASCII punctuation.
func signsOf(text *[72]byte) (signs uint64) {
	const each = 0x0101010101010101
	for i := 0; i < 64; i += 8 {
		v := binary.LittleEndian.Uint64(text[i:])
		below := (v - '0'*each) &^ v & (0x80 * each)
		signs |= (below >> 7 * 0x0102040810204080 >> 56) << i // gathers the highest bits
	}
	return signs
}

// sharedBefore returns the number of equal bytes before two positions of src, at most the given maximum. earlier is
// less than place.
func sharedBefore(src []byte, earlier, place, most int) int {
	if earlier >= 8 {
		x := binary.LittleEndian.Uint64(src[earlier-8:]) ^ binary.LittleEndian.Uint64(src[place-8:])
		if x != 0 || most <= 8 {
			return min(bits.LeadingZeros64(x)/8, most)
		}
	}
	n := 0
	for n < min(most, earlier) && src[earlier-n-1] == src[place-n-1] {
		n++
	}
	return n
}

// appendShort appends src[from:to], which is usually short. If there is room, it writes up to copySlack bytes more.
func appendShort(dst, src []byte, from, to int) []byte {
	at := len(dst)
	if to-from <= copySlack && from+copySlack <= len(src) && at+copySlack <= cap(dst) {
		dst = dst[:at+copySlack]
		*(*[copySlack]byte)(dst[at:]) = *(*[copySlack]byte)(src[from:])
		return dst[:at+to-from]
	}
	return append(dst, src[from:to]...)
}
