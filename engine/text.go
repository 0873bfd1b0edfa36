package engine

// TextKey returns the first half of the SHA-256 of the text in force, so that a caller with the texts can find the
// one that decided. ok is false if a fetch decides instead of a text, or if the store has failed.
func (s *Store) TextKey(id RulingID) (key [16]byte, ok bool) {
	text, ok := id.Text()
	if !ok {
		return key, false
	}
	key = s.rules.Key(text)
	return key, s.Err() == nil
}
