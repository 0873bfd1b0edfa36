package report

import "math/bits"

// sightings tell which keys were seen of late, in a memory that does not grow: a bit for each. Keys that share
// a bit may seem to have been seen.
type sightings struct {
	words []uint64
	seen  int    // since all was forgotten
	most  int    // that are seen before all is forgotten
	epoch uint32 // how often all was forgotten
}

// newSightings returns sightings of about so many keys.
func newSightings(most int) sightings {
	const words = 4 // for each 16 keys, so that few share a bit
	return sightings{words: make([]uint64, max(1, 1<<bits.Len(uint(most*words/16-1)))), most: most}
}

// word returns the word of a key.
func (s *sightings) word(key uint64) *uint64 { return &s.words[key&uint64(len(s.words)-1)] }

// see reports whether a key was seen, and notes that it is. forgot is true if all was forgotten before.
func (s *sightings) see(key uint64) (seen, forgot bool) {
	if s.seen++; s.seen > s.most {
		clear(s.words)
		s.epoch++
		s.seen, forgot = 1, true
	}
	word, bit := s.word(key), uint64(1)<<(key>>32%64)
	seen = *word&bit != 0
	*word |= bit
	return seen, forgot
}
