package madeup

import "math/bits"

// mix returns a number that depends on all bits of its arguments and looks random.
func mix(a, b uint64) uint64 {
	x := a ^ (b+0x9e3779b97f4a7c15)*0xbf58476d1ce4e5b9
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit returns h as a number from 0 up to 1.
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// A shuffle is a random order of the numbers below n that takes no memory: a Feistel network over
// as many bits as n has, applied again while the result is not below n.
type shuffle struct {
	n, seed uint64
	half    uint // bits of each half
}

func newShuffle(n, seed uint64) shuffle {
	return shuffle{n, seed, uint(bits.Len64(n)+1) / 2}
}

// at returns the number at place i < n.
func (s shuffle) at(i uint64) uint64 {
	mask := uint64(1)<<s.half - 1
	for {
		left, right := i>>s.half, i&mask
		for round := range uint64(4) {
			left, right = right, left^mix(right, s.seed+round)&mask
		}
		if i = left<<s.half | right; i < s.n {
			return i
		}
	}
}
