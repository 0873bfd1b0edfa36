package engine

import "crypto/sha256"

// A textKey tells texts apart. Texts of equal keys are taken for equal, and strangers write them: whoever could make one with the key
// of another's would decide for its origin. So it is half of a SHA-256, of which nobody can make such a text; XXH3, several times as
// fast, would save a fourteenth of loading.
type textKey [16]byte

// keyOf returns the key of a text.
func keyOf(text []byte) textKey {
	sum := sha256.Sum256(text)
	return textKey(sum[:])
}
