package waste

import "github.com/zeebo/xxh3"

// mostDistinct is how many hashes tell a number of different texts: then it is about 6 % wrong, one time in three.
const mostDistinct = 256

// seed is the same in every run, as what is found must not differ.
const seed = 0x9E3779B97F4A7C15

// A distinct tells about how many texts differ, exactly up to mostDistinct of them. The zero value has none.
type distinct struct {
	hashes []uint64 // a hash table, linearly probed, at most half full; 0 is free
	used   int
	level  uint // a hash counts if so many of its upper bits are 0
}

// add adds a text by its hash.
func (d *distinct) add(hash uint64) {
	if hash |= 1; d.level > 0 && hash>>(64-d.level) != 0 {
		return
	}
	if d.hashes == nil {
		d.hashes = make([]uint64, 8)
	}
	mask := uint64(len(d.hashes) - 1)
	i := hash >> 1 & mask
	for ; d.hashes[i] != 0; i = (i + 1) & mask {
		if d.hashes[i] == hash {
			return
		}
	}
	if 2*d.used >= len(d.hashes) {
		d.grow()
		d.add(hash)
		return
	}
	d.hashes[i] = hash
	d.used++
}

// grow makes room for another hash: in a greater table, or by leaving out half of the hashes.
func (d *distinct) grow() {
	old := d.hashes
	if d.used = 0; len(old) < 2*mostDistinct {
		d.hashes = make([]uint64, 2*len(old))
	} else {
		d.hashes = make([]uint64, len(old))
		d.level++
	}
	for _, hash := range old {
		if hash != 0 {
			d.add(hash)
		}
	}
}

// n returns about how many texts there are.
func (d *distinct) n() int64 { return int64(d.used) << d.level }

// clear empties it.
func (d *distinct) clear() {
	clear(d.hashes)
	d.used, d.level = 0, 0
}

// hashOf returns the hash of a text.
func hashOf(text []byte) uint64 { return xxh3.HashSeed(text, seed) }
