package aggregate

import (
	"cmp"
	"math/bits"
)

// A Sampler tells in which groups a URL is new, as a [Distinct] does, and looks at fewer URLs of groups that
// have many: of each it takes those whose hash ends in a zero bit, then in two, and so on. So a group with
// few is exact beside one with a billion, and what else a caller counts of a URL that is taken stands for as
// many others as the URL does.
//
// The sample of a group depends on the order in which URLs came; it has, at any moment, each URL with the
// same probability. It is for one goroutine.
type Sampler struct {
	set   *Distinct
	most  int64 // that are taken before samples have less
	asked int64 // of all groups
	taken int64 // of these

	hashes []uint64 // of entries
}

// A Sample says which URLs of a group are taken. The zero value takes all.
type Sample struct {
	// Least is how many URLs are taken before fewer are; 0 is 2,048, for a standard error of some 3 %.
	Least int32

	level uint8
	taken int32 // at this level, or twice as many at the one before
}

// An Entry is a URL that a group met.
type Entry struct {
	Sample *Sample // of the group, or of several that have no URL in common
	Group  uint32
	URL    uint64 // its Hash
	New    int64  // for how many new URLs it stands: 0 if it is not new, or not in the sample
}

// What a sampler takes beyond its most: one of so many, and so many of a group before it takes fewer of it. No
// group goes beyond the most level.
const (
	takenOf     = 32
	leastSample = 1 << 11
	mostLevel   = 24
)

// NewSampler returns a sampler without URLs, whose set takes about so many bytes. It takes so many URLs
// before it takes fewer of large groups.
func NewSampler(memory, most int64) *Sampler {
	return &Sampler{set: NewDistinct(memory), most: most}
}

// Take returns for how many requests one of a URL stands, given its Hash: 1 while all are taken, and 0 if the
// URL is not in the sample. Those that are taken may be given to Add.
func (s *Sampler) Take(of *Sample, url uint64) (weight int64) {
	s.asked++
	weight = s.weight(of, url)
	if weight == 0 {
		return 0
	}
	of.taken++
	if s.taken++; of.taken >= cmp.Or(of.Least, leastSample) && of.level < mostLevel && s.taken > s.most+s.asked/takenOf {
		of.level++
		of.taken /= 2
	}
	return weight
}

// weight is Take without a count.
func (s *Sampler) weight(of *Sample, url uint64) int64 {
	if level := s.Level(of); uint(bits.TrailingZeros64(url)) >= uint(level) {
		return 1 << level
	}
	return 0
}

// Level returns how many zero bits the hashes of the sample end in at present: one that is taken stands for
// 1<<Level.
func (s *Sampler) Level(of *Sample) uint8 { return max(of.level, uint8(s.set.level)) }

// Add adds URLs that were taken, and sets New of each.
func (s *Sampler) Add(all []Entry) {
	s.hashes = s.hashes[:0]
	for i := range all {
		s.hashes = append(s.hashes, hashIn(all[i].Group, all[i].URL))
	}
	for from := 0; from < len(all); from += together {
		to := min(from+together, len(all))
		s.set.look(s.hashes[from:to])
		for i := from; i < to; i++ {
			s.add(&all[i], s.hashes[i])
		}
	}
}

// add sets New.
func (s *Sampler) add(e *Entry, hash uint64) {
	if e.New = 0; s.weight(e.Sample, e.URL) == 0 {
		return
	}
	if weight := s.set.Add(hash); weight > 0 {
		e.New = max(weight, 1<<e.Sample.level)
	}
}

// hashIn returns the hash of a URL in a group, which ends in the same bits in all groups.
func hashIn(group uint32, url uint64) uint64 {
	const same = 1<<mostLevel - 1
	return mix(url, Group(group))&^same | url&same
}
