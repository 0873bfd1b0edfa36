package aggregate

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/zeebo/xxh3"
)

// DefaultMemory is how many bytes a [URLs] takes unless it is told otherwise.
const DefaultMemory = 256 << 20

// Hash returns the hash by which URLs are told apart. Two of n URLs are taken for one with a
// probability of n²/2⁶⁵: 1 to 1,000,000 for the 6 million that fit in DefaultMemory.
func Hash(url []byte) uint64 { return xxh3.Hash(url) }

// A Group names one of the counts of a [URLs].
type Group uint32

// An Estimate is a number of distinct URLs. Error is the relative standard error: two of three
// estimates are nearer than that, and 19 of 20 are nearer than twice that. It is 0 if N is exact.
type Estimate struct {
	N     int64
	Error float64
}

// plus returns the number of URLs of two groups that have none in common.
func (e Estimate) plus(o Estimate) Estimate {
	sum := Estimate{N: e.N + o.N}
	if err := math.Hypot(e.Error*float64(e.N), o.Error*float64(o.N)); sum.N > 0 {
		sum.Error = err / float64(sum.N)
	}
	return sum
}

// URLs counts requests and distinct URLs by group.
//
// It is a set of pairs of group and URL, each with its requests. While all pairs fit, it is exact.
// Beyond that it keeps an even sample of them: the pairs whose hash ends in one zero bit, then two,
// and so on. So each group has its estimate from one set, and a group with few URLs takes little.
// The sample depends on the pairs only, not on their order. A HyperLogLog would need a sketch of
// some kilobytes for each group, though most groups have few URLs, and could not say which URLs are
// requested most.
type URLs struct {
	slots  []pair // a hash table, linearly probed; its length is a power of two
	used   int
	most   int    // the greatest length of slots
	seed   uint64 // says where a pair lies, and nothing else: nobody can choose URLs whose slots are the same
	level  uint   // zero bits at the end of the hashes of the sample
	groups []groupCount
}

// A pair is a URL in a group.
type pair struct {
	hash     uint64 // of both, and never 0; 0 is a free slot
	group    Group
	requests uint32 // at most math.MaxUint32
}

// A groupCount counts for a group.
type groupCount struct {
	requests int64
	sampled  int64 // pairs of the group in the set

	// Of URLs that [URLs.Follow] counts: their number, where each stands for as many as the sample
	// leaves out, and the variance of that.
	followed, variance int64
}

// The sizes of the set.
const (
	pairBytes  = 16
	leastSlots = 1 << 10
)

// NewURLs returns an empty set that takes about so many bytes; 0 is DefaultMemory. While the table
// doubles, the old half is there as well.
func NewURLs(memory int64) *URLs {
	if memory <= 0 {
		memory = DefaultMemory
	}
	most := leastSlots
	for int64(most)*2*pairBytes*3/2 <= memory && most < 1<<30 {
		most *= 2
	}
	return &URLs{slots: make([]pair, leastSlots), most: most, seed: rand.Uint64()}
}

// NewGroup returns a group without requests.
func (u *URLs) NewGroup() Group {
	u.groups = append(u.groups, groupCount{})
	return Group(len(u.groups) - 1)
}

// Add counts a request of a URL, by its Hash, in a group. It returns the requests of that URL in the
// group so far; 0 if the URL is not in the sample.
func (u *URLs) Add(g Group, url uint64) (requests uint32) {
	u.groups[g].requests++
	hash := mix(url, g)
	if uint(bits.TrailingZeros64(hash)) < u.level {
		return 0
	}
	p := u.find(hash)
	if p.hash == 0 {
		if 4*u.used >= 3*len(u.slots) {
			u.grow()
			if uint(bits.TrailingZeros64(hash)) < u.level {
				return 0
			}
			p = u.find(hash)
		}
		p.hash, p.group = hash, g
		u.used++
		u.groups[g].sampled++
	}
	if p.requests < math.MaxUint32 {
		p.requests++
	}
	return p.requests
}

// Follow counts a request in a group whose URLs are all in another group as well, given what Add
// returned for that. It takes no memory for the URL. A URL counts when it is new; once the sample leaves
// out others, it counts for these as well.
func (u *URLs) Follow(g Group, requests uint32) {
	to := &u.groups[g]
	to.requests++
	if requests == 1 {
		weight := int64(1) << u.level
		to.followed += weight
		to.variance += weight * (weight - 1)
	}
}

// Requests returns how many requests the group has.
func (u *URLs) Requests(g Group) int64 { return u.groups[g].requests }

// Distinct returns how many URLs the group has.
func (u *URLs) Distinct(g Group) Estimate {
	if n := u.groups[g].followed; n > 0 {
		return Estimate{N: min(n, u.groups[g].requests), Error: math.Sqrt(float64(u.groups[g].variance)) / float64(n)}
	}
	n := u.groups[g].sampled
	if u.level == 0 {
		return Estimate{N: n}
	}
	e := Estimate{N: min(n<<u.level, u.groups[g].requests), Error: 1}
	if n > 0 {
		// A URL is sampled with probability p = 1/2^level: the variance of n is N·p·(1-p).
		e.Error = math.Sqrt((1 - math.Exp2(-float64(u.level))) / float64(n))
	}
	return e
}

// Exact reports whether all URLs fit, so that all numbers are exact.
func (u *URLs) Exact() bool { return u.level == 0 }

// find returns the slot of a hash, or the free one where it belongs.
func (u *URLs) find(hash uint64) *pair {
	// The sample has hashes that end in zeros, so the slot comes from the upper bits.
	shift := 64 - bits.TrailingZeros(uint(len(u.slots)))
	for i := (hash ^ u.seed) * 0x9E3779B97F4A7C15 >> shift; ; i = (i + 1) & uint64(len(u.slots)-1) {
		if p := &u.slots[i]; p.hash == hash || p.hash == 0 {
			return p
		}
	}
}

// grow makes room: it doubles the table, or drops half of the sample where that would be too large.
func (u *URLs) grow() {
	size := 2 * len(u.slots)
	for size > u.most && 2*u.used > len(u.slots) {
		u.level++
		u.drop()
	}
	rest := make([]pair, 0, u.used)
	for _, p := range u.slots {
		if p.hash != 0 {
			rest = append(rest, p)
		}
	}
	if size > u.most {
		clear(u.slots)
	} else {
		u.slots = make([]pair, size)
	}
	for _, p := range rest {
		*u.find(p.hash) = p
	}
}

// drop frees the slots of pairs that are not in the sample any more. The table must be built again.
func (u *URLs) drop() {
	for i := range u.slots {
		if p := &u.slots[i]; p.hash != 0 && uint(bits.TrailingZeros64(p.hash)) < u.level {
			u.groups[p.group].sampled--
			u.used--
			*p = pair{}
		}
	}
}

// mix returns the hash of a URL in a group; it is never 0. For one group it is one to one but for 0.
func mix(url uint64, g Group) uint64 {
	h := url ^ (uint64(g)+1)*0x9E3779B97F4A7C15
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	h ^= h >> 32
	return max(1, h)
}
