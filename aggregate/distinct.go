package aggregate

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Distinct is a set of hashes of URLs, which tells whether one is new. It is half of a [URLs]: it has no
// groups, and no requests.
//
// While all hashes fit, it is exact. Beyond that it keeps an even sample: those that end in one zero bit,
// then two, and so on. A URL of the sample stands for those that are left out as well, so that sums are
// estimates whose variance is known, see [Tally].
type Distinct struct {
	slots []uint64 // a hash table, linearly probed; its length is a power of two; 0 is free
	used  int
	most  int    // the greatest length of slots
	seed  uint64 // says where a hash lies, and nothing else: nobody can choose URLs whose slots are the same
	level uint   // zero bits at the end of the hashes of the sample
}

// NewDistinct returns an empty set that takes about so many bytes; 0 is DefaultMemory. While the table
// grows, the old one is there as well.
func NewDistinct(memory int64) *Distinct {
	if memory <= 0 {
		memory = DefaultMemory
	}
	most := leastSlots
	for int64(most)*2*8*3/2 <= memory && most < 1<<31 {
		most *= 2
	}
	return &Distinct{slots: make([]uint64, leastSlots), most: most, seed: rand.Uint64()}
}

// In returns the hash of a URL in a group, so that one set tells in which groups a URL is new. It is
// another one than that of the URL itself.
func In(group uint32, url uint64) uint64 { return mix(url, Group(group)) }

// Add adds a URL by its Hash, and returns for how many new URLs it stands: 0 if it is not new, or not in
// the sample.
func (d *Distinct) Add(url uint64) (weight int64) {
	url = max(1, url)
	if uint(bits.TrailingZeros64(url)) < d.level {
		return 0
	}
	i := d.find(url)
	if d.slots[i] == url {
		return 0
	}
	if 4*d.used >= 3*len(d.slots) {
		d.grow()
		if uint(bits.TrailingZeros64(url)) < d.level {
			return 0
		}
		i = d.find(url)
	}
	d.slots[i] = url
	d.used++
	return 1 << d.level
}

// Exact reports whether all URLs fit, so that all weights are 0 or 1.
func (d *Distinct) Exact() bool { return d.level == 0 }

func (d *Distinct) shift() int { return 64 - bits.TrailingZeros(uint(len(d.slots))) }

// find returns the slot of a hash, or the free one where it belongs.
func (d *Distinct) find(url uint64) uint64 {
	// The sample has hashes that end in zeros, so the slot comes from the upper bits.
	mask := uint64(len(d.slots) - 1)
	for i := (url ^ d.seed) * 0x9E3779B97F4A7C15 >> d.shift(); ; i = (i + 1) & mask {
		if at := d.slots[i]; at == url || at == 0 {
			return i
		}
	}
}

// fastSlots is how long a table is that is made four times as long when it is full; longer ones double.
const fastSlots = 1 << 20

// grow makes room: it makes the table longer, or drops half of the sample where that would be too large.
func (d *Distinct) grow() {
	old := d.slots
	if len(old) < d.most {
		d.slots = make([]uint64, min(4*len(old), max(2*len(old), fastSlots), d.most))
		for i := 0; i < len(d.slots); i += 512 {
			d.slots[i] = 0 // a page that is read first is mapped twice
		}
	} else {
		old = make([]uint64, 0, d.used)
		for d.level++; ; d.level++ {
			for _, url := range d.slots {
				if uint(bits.TrailingZeros64(url)) >= d.level && url != 0 {
					old = append(old, url)
				}
			}
			if 2*len(old) <= len(d.slots) {
				break
			}
			old = old[:0]
		}
		clear(d.slots)
	}
	d.used = 0
	for _, url := range old {
		if url != 0 {
			d.slots[d.find(url)] = url
			d.used++
		}
	}
}

// A Tally counts requests and the distinct URLs that a [Distinct] tells to be new.
type Tally struct {
	Requests int64

	urls, variance int64
}

// Add counts requests of a URL, and for how many new URLs that stands.
func (t *Tally) Add(requests, weight int64) {
	t.Requests += requests
	t.urls += weight
	t.variance += weight * (weight - 1) // of a URL that is in the sample with a probability of 1/weight
}

// Join adds the URLs of others, which have none in common with those so far.
func (t *Tally) Join(others *Tally) {
	t.urls += others.urls
	t.variance += others.variance
}

// URLs returns how many URLs there are. Some were requested if there are requests.
func (t *Tally) URLs() Estimate {
	if t.Requests > 0 && t.urls == 0 {
		return Estimate{N: 1, Error: 1}
	}
	e := Estimate{N: min(t.urls, t.Requests)}
	if t.variance > 0 {
		e.Error = math.Sqrt(float64(t.variance)) / float64(t.urls)
	}
	return e
}
