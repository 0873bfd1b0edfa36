package report

import (
	"math/rand/v2"

	"github.com/zeebo/xxh3"
)

// numbers assigns numbers to keys. Keys are compared only by hashes with a secret seed: two of n keys collide with a
// probability of n²/2⁶⁵, which is 1 in 4 billion for 100,000 keys. A look-up therefore takes a single memory access.
// The last key found is checked first, because frequent keys are often repeated.
type numbers struct {
	ids  map[uint64]int32
	seed uint64
	key  []byte // that is looked for
	hash uint64 // of it
	last int32  // that was found
	is   uint64 // its hash
}

func newNumbers() numbers { return numbers{ids: map[uint64]int32{}, seed: rand.Uint64(), last: -1} }

// find returns the number of the thing with the key; -1 if it is new: then set gives it one.
func (n *numbers) find() int32 {
	if n.hash = xxh3.HashSeed(n.key, n.seed); n.hash == n.is {
		return n.last
	}
	id, known := n.ids[n.hash]
	if !known {
		return -1
	}
	n.last, n.is = id, n.hash
	return id
}

// set gives the thing with the key a number.
func (n *numbers) set(id int32) { n.ids[n.hash] = id }
