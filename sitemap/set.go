package sitemap

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/robots"
)

// The bytes that a Set takes.
const (
	BytesPerURL    = 24 // 16 for the hash, up to a quarter more of spare room, and half a byte of buckets
	bytesPerOrigin = 96 // beside its name
)

// MostURLs is the number of URLs a [Builder] takes in all.
const MostURLs = 10_000_000

// A key is the hash of a URL.
type key struct{ hi, lo uint64 }

// numShards is the number of parts a Set has, by the first bits of hashes. Each grows by itself, so that growing needs
// little memory beside it.
const numShards = 256

// A shard is a part of a Set.
type shard struct {
	keys    []key    // in order
	buckets []uint32 // where in keys the keys begin whose bits after those of the shard are this number; one more at the end
	shift   uint     // of those bits
	first   int      // the index of the first key in the Set
}

// perBucket is the number of keys a bucket has on average: they are in two lines of the cache.
const perBucket = 8

// A Set is the distinct URLs of sitemaps. It does not change, and is safe for concurrent use. Use a [Builder].
type Set struct {
	dialect robots.Dialect
	seed    uint64
	origins map[string]uint32 // their numbers
	names   []robots.Origin   // by number
	shards  [numShards]shard
	urls    int
}

// Len returns how many URLs there are.
func (s *Set) Len() int { return s.urls }

// Size returns about how many bytes the set takes.
func (s *Set) Size() int64 {
	size := int64(s.urls) * BytesPerURL
	for _, name := range s.names {
		size += originSize(len(name))
	}
	return size
}

// originSize returns how many bytes an origin takes, by the length of its name.
func originSize(n int) int64 { return bytesPerOrigin + 2*int64(n) }

// Origins returns the origins of the URLs, in the order they came. The caller must not change it.
func (s *Set) Origins() []robots.Origin { return s.names }

// Dialect returns the dialect of the normal form of paths.
func (s *Set) Dialect() robots.Dialect { return s.dialect }

// Origin returns the number of an origin in normal form; ok is false if no URL is of it.
func (s *Set) Origin(origin []byte) (number uint32, ok bool) {
	number, ok = s.origins[string(origin)]
	return number, ok
}

// Find returns the number of a URL of the set, below Len, by its origin and its path in the normal form of
// [robots.Dialect.Path]. ok is false if the set has no such URL.
func (s *Set) Find(origin uint32, path []byte) (index int, ok bool) {
	k := hashOf(path, origin, s.seed)
	sh := &s.shards[k.hi>>56]
	if len(sh.keys) == 0 {
		return 0, false
	}
	b := k.hi << 8 >> sh.shift
	for i := sh.buckets[b]; i < sh.buckets[b+1]; i++ {
		if sh.keys[i] == k {
			return sh.first + int(i), true
		}
	}
	return 0, false
}

// hashOf returns the hash of a path of an origin.
func hashOf(path []byte, origin uint32, seed uint64) key {
	h := xxh3.Hash128Seed(path, seed^uint64(origin)*0x9E3779B97F4A7C15)
	return key{h.Hi, h.Lo}
}

// A Builder makes a Set. The zero value is not ready: use NewBuilder. It is for one goroutine.
type Builder struct {
	set   Set
	most  int64 // bytes; 0 means no limit
	size  int64 // bytes that the Set would take if all URLs differed
	count int64 // URLs that were added
	full  bool  // most was passed, so that URLs are only counted

	prefix []byte // URL.Prefix of the last URL
	number uint32 // of its origin
	path   []byte // memory of paths
	origin []byte
}

// NewBuilder returns a Builder of a Set that takes at most about this number of bytes; 0 means no limit. Paths get the
// normal form of the dialect.
func NewBuilder(d robots.Dialect, most int64) *Builder {
	return &Builder{set: Set{dialect: d, seed: rand.Uint64(), origins: map[string]uint32{}}, most: most}
}

// AddURL adds a URL, and returns the number of its origin. It adds no URL without a valid origin, and returns the error of
// [robots.SplitURL] or [robots.AppendOrigin]. Beyond the limit of memory URLs are only counted.
func (b *Builder) AddURL(url []byte) (origin uint32, err error) {
	u, err := robots.SplitURL(url)
	if err != nil {
		return 0, err
	}
	if len(b.prefix) == 0 || string(u.Prefix) != string(b.prefix) {
		if b.origin, err = robots.AppendOrigin(b.origin[:0], u); err != nil {
			return 0, err
		}
		b.prefix = append(b.prefix[:0], u.Prefix...)
		b.number = b.numberOf(b.origin)
	}
	b.count++
	if b.size += BytesPerURL; b.isFull() {
		return b.number, nil
	}
	var path []byte
	path, b.path = b.set.dialect.Path(url[len(u.Prefix):], b.path)
	k := hashOf(path, b.number, b.set.seed)
	sh := &b.set.shards[k.hi>>56]
	sh.keys = append(sh.keys, k)
	return b.number, nil
}

// numberOf returns the number of an origin, which may be new. Beyond the limit all new origins share one number.
func (b *Builder) numberOf(origin []byte) uint32 {
	if number, known := b.set.origins[string(origin)]; known {
		return number
	}
	b.size += originSize(len(origin))
	number := uint32(len(b.set.names))
	if !b.isFull() {
		b.set.origins[string(origin)], b.set.names = number, append(b.set.names, robots.Origin(origin))
	}
	return number
}

// isFull reports whether the limit was passed, and gives up the URLs kept then.
func (b *Builder) isFull() bool {
	if !b.full && b.most > 0 && b.size > b.most {
		b.full = true
		for i := range b.set.shards {
			b.set.shards[i].keys = nil
		}
	}
	return b.full
}

// Origin returns the origin of a number that AddURL returned.
func (b *Builder) Origin(number uint32) robots.Origin { return b.set.names[number] }

// Count returns how many URLs were added.
func (b *Builder) Count() int64 { return b.count }

// Size returns how many bytes a Set of them takes at most: if all differ.
func (b *Builder) Size() int64 { return b.size }

// Full reports whether the memory limit was exceeded. Then there is no Set, and Size returns the memory that is needed.
func (b *Builder) Full() bool { return b.full }

// Set returns the set; nil if the limit was passed. The Builder must not be used after it.
func (b *Builder) Set() *Set {
	if b.full {
		return nil
	}
	s := &b.set
	s.urls = 0
	for i := range s.shards {
		sh := &s.shards[i]
		slices.SortFunc(sh.keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo)) })
		sh.keys = slices.Compact(sh.keys)
		sh.first = s.urls
		s.urls += len(sh.keys)
		// Make the buckets.
		bits := uint(0)
		for len(sh.keys)>>bits > perBucket {
			bits++
		}
		sh.shift = 64 - bits
		sh.buckets = make([]uint32, 1<<bits+1)
		for _, k := range sh.keys {
			sh.buckets[k.hi<<8>>sh.shift+1]++
		}
		for i := 1; i < len(sh.buckets); i++ {
			sh.buckets[i] += sh.buckets[i-1]
		}
	}
	return s
}
