package capture

import (
	"hash/maphash"

	"github.com/robobatch/robobatch/robots"
)

// A targetSet is the set of URLs that a robots.txt redirects to, without those that are a
// robots.txt themselves: their responses are wanted, too. It takes 8 bytes a URL and the overhead
// of a map.
type targetSet struct {
	seed maphash.Seed
	keys map[uint64]struct{}
	buf  []byte
}

// addTarget adds the URL that a response of base, an absolute URL, leads to, unless that is a robots.txt.
func (t *targetSet) addTarget(base, location string) {
	from, err := robots.SplitURL([]byte(base))
	if err != nil || !t.setURL(from) {
		return
	}
	to, ok := robots.ResolveURL(string(t.buf), location)
	if !ok {
		return
	}
	u, err := robots.SplitURL([]byte(to))
	if err != nil || string(u.Path) == robots.TxtPath {
		return
	}
	t.keys[maphash.String(t.seed, to)] = struct{}{}
}

// has reports whether a redirect leads to u. It is cheap as long as there was none.
func (t *targetSet) has(u robots.URL) bool {
	if len(t.keys) == 0 || !t.setURL(u) {
		return false
	}
	_, ok := t.keys[maphash.Bytes(t.seed, t.buf)]
	return ok
}

// setURL sets buf to the normal form of u, and reports whether it has one.
func (t *targetSet) setURL(u robots.URL) bool {
	b, err := robots.AppendURL(t.buf[:0], u)
	t.buf = b
	return err == nil
}
