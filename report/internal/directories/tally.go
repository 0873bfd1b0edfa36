package directories

import "github.com/robobatch/robobatch/engine"

// ByText is requests by the text that was in force. Nil is none.
type ByText = tally[engine.RulingID]

// A tally is requests by a key that has few values. Nil is none.
type tally[K comparable] []keyed[K]

// A keyed is the requests of a key.
type keyed[K comparable] struct {
	key      K
	requests int64
}

// Add adds requests of a key.
func (t tally[K]) Add(key K, requests int64) tally[K] {
	for i := range t {
		if t[i].key == key {
			t[i].requests += requests
			return t
		}
	}
	return append(t, keyed[K]{key, requests})
}

// Of returns the requests of a key.
func (t tally[K]) Of(key K) int64 {
	for _, by := range t {
		if by.key == key {
			return by.requests
		}
	}
	return 0
}
