package ingest

import (
	"hash/maphash"
	"net/url"

	"github.com/robobatch/robobatch/robots"
)

// A targetSet holds the URLs that robots.txt redirect to and that are no robots.txt themselves, in 8 bytes each and what a
// map takes: their responses are wanted, too.
type targetSet struct {
	seed maphash.Seed
	keys map[uint64]struct{}
	buf  []byte
}

// add takes in where a response of base, an absolute URL, leads to, unless that is a robots.txt.
func (t *targetSet) add(base, location string) {
	from, err := url.Parse(base)
	if err != nil || location == "" {
		return
	}
	to, err := from.Parse(location)
	if err != nil {
		return
	}
	u, err := robots.SplitURL([]byte(to.String()))
	if err != nil || string(u.Path) == ownPath || !t.setURL(u) {
		return
	}
	if t.keys == nil {
		t.keys, t.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	t.keys[maphash.Bytes(t.seed, t.buf)] = struct{}{}
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
	b, err := robots.AppendOrigin(t.buf[:0], u)
	if err != nil {
		return false
	}
	if len(u.Path) == 0 || u.Path[0] != '/' {
		b = append(b, '/')
	}
	t.buf = append(b, u.Path...)
	return true
}
