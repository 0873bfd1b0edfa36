// Package captures identifies bodies of robots.txt captures by keys, and detects origins with two files of unknown order.
// Packages that read captures import it: engine, ingest/internal/capture and listings.
package captures

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/robots"
)

// ErrTwoFiles is the error of an origin with two robots.txt files of which the newer is unknown.
var ErrTwoFiles = errors.New("two robots.txt files without a time for one origin: remove one, or add the times of their fetches")

// A Key identifies a text. Texts with the same key are treated as equal. Texts are untrusted: an attacker who could make a
// text with the key of another one could replace the rules of its origin. So the key is half of a SHA-256, for which second
// preimages are infeasible. XXH3 is several times as fast, but would save only 1/14 of the time for loading.
type Key [16]byte

// KeyOf returns the key of a text.
func KeyOf(text []byte) Key {
	sum := sha256.Sum256(text)
	return Key(sum[:])
}

// Undated is the set of origins with a capture of unknown time, by key, because there may be millions. An origin may have
// only one such capture.
type Undated map[Key]struct{}

// Add adds the origin of a capture of unknown time. It ignores other captures. The error wraps ErrTwoFiles.
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
