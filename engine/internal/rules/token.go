package rules

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/robots"
)

// Tokens holds the product tokens that groups name, in one spelling each: the first in byte order. It is safe for
// concurrent use. The zero value is empty.
type Tokens struct {
	mu    sync.RWMutex
	names map[string]robots.ProductToken // by the token in lower case
	full  bool                           // there are more than maxTokens, and the rest is missing
}

// maxTokens is the maximum number of product tokens that are kept. 2,561 real files name about 1,200; a hostile
// file can name 50,000.
const maxTokens = 1 << 17

// Add adds the tokens of a file.
func (t *Tokens) Add(groups []robots.Group) {
	for i := range groups {
		for _, token := range groups[i].Agents {
			t.addToken(token)
		}
	}
}

// addToken adds a token. It does not keep the token's memory.
func (t *Tokens) addToken(token robots.ProductToken) {
	if len(token) > MaxToken || token.IsPolicy() {
		return
	}
	var buf [MaxToken]byte
	key := appendLower(buf[:0], token)
	t.mu.RLock()
	name, known := t.names[string(key)]
	full := t.full
	t.mu.RUnlock()
	if known && name <= token || !known && full {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		t.names = map[string]robots.ProductToken{}
	}
	name, known = t.names[string(key)]
	switch {
	case !known && len(t.names) == maxTokens:
		t.full = true
	case !known || token < name:
		t.names[string(key)] = robots.ProductToken(strings.Clone(string(token)))
	}
}

// appendLower appends a token in lower case.
func appendLower(dst []byte, token robots.ProductToken) []byte {
	for i := range len(token) {
		b := token[i]
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		dst = append(dst, b)
	}
	return dst
}

// List returns the tokens in the order of their lower case, and whether the list is complete.
func (t *Tokens) List() (all []robots.ProductToken, complete bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all = make([]robots.ProductToken, 0, len(t.names))
	for _, key := range slices.Sorted(maps.Keys(t.names)) {
		all = append(all, t.names[key])
	}
	return all, !t.full
}
