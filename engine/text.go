package engine

// TextKey returns the first half of the SHA-256 of the text that is in force; ok is false if there is none,
// because a fetch decides in its place, or if the store has failed. So who has texts finds that which decided.
func (s *Store) TextKey(id RulingID) (key [16]byte, ok bool) {
	text, ok := id.Text()
	if !ok {
		return key, false
	}
	key = s.rules.Key(text)
	return key, s.Err() == nil
}
