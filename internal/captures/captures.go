// Package captures tells captures of robots.txt apart, their bodies by a key. It also finds two
// files of one origin whose order is unknown. Whatever reads captures imports it: packages engine
// and listings.
package captures

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/robots"
)

// ErrTwoFiles is the error of an origin that has two robots.txt, and nothing says which
// is newer.
var ErrTwoFiles = errors.New("two robots.txt files without a time for one origin: remove one, or add the times of their fetches")

// A Key identifies a text. Texts of equal keys are treated as equal. Strangers write the texts, and
// whoever could make a text with the key of another's would decide for its origin. So it is half of
// a SHA-256: nobody can make a second text with the same half. XXH3 is several times as fast, but
// would save only a fourteenth of loading.
type Key [16]byte

// KeyOf returns the key of a text.
func KeyOf(text []byte) Key {
	sum := sha256.Sum256(text)
	return Key(sum[:])
}

// Undated holds the origins that have a capture of unknown time. An origin may have only one.
type Undated map[Key]struct{}

// Add adds the origin of a capture of unknown time, and ignores other captures. Its error wraps
// ErrTwoFiles.
func (u Undated) Add(r *robots.Response) error {
	if r.URL != "" || !r.FetchedAt.IsZero() {
		return nil
	}
	key := KeyOf([]byte(r.Origin))
	if _, twice := u[key]; twice {
		return fmt.Errorf("read rules of %s from %s: %w", r.Origin, r.Name, ErrTwoFiles)
	}
	u[key] = struct{}{}
	return nil
}
