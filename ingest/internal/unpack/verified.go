package unpack

import "math"

// verifiedParts say how much of a text was verified, from its start: all frames or members whose
// checksums were right, up to the first that ended without one.
//
// A frame without a checksum is never verified: its size, if it has one, says nothing about its
// bytes. That matters only where a fault shows that the file is damaged.
type verifiedParts struct {
	given     int64 // bytes of text so far
	bytes     int64 // of them, the first so many are verified
	unchecked bool  // a part without a checksum has ended
}

// end ends a part, which has a checksum that is right, or none.
func (v *verifiedParts) end(check bool) {
	if v.unchecked = v.unchecked || !check; !v.unchecked {
		v.bytes = v.given
	}
}

// allVerified is the number of verified bytes of a text that is not packed: nothing is known of its
// bytes, and nothing that was read can make them uncertain.
const allVerified = math.MaxInt64
