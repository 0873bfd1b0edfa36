package sitemap

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/robots"
)

// The memory of a Set.
const (
	BytesPerURL    = 24 // 16 for the hash, up to a quarter more spare capacity, and half a byte for buckets
	bytesPerOrigin = 96 // besides its name
)

// MostURLs is the maximum number of URLs in a [Builder].
const MostURLs = 10_000_000

// A key is the hash of a URL.
type key struct{ hi, lo uint64 }

// numShards is the number of shards of a Set, which are selected by the first bits of hashes. Each grows by itself,
// so that growing needs little extra memory.
const numShards = 256

// A shard is a part of a Set.
type shard struct {
	keys    []key    // sorted
	buckets []uint32 // the index of the first key, by the next bits of the hash; and at the end, the number of keys
	shift   uint     // to extract these bits
	first   int      // the index of the first key in the Set
}

// perBucket is the average number of keys in a bucket, which take two cache lines.
const perBucket = 8

// A Set is a set of distinct URLs of sitemaps. It is immutable and safe for concurrent use. Use a [Builder].
type Set struct {
	dialect robots.Dialect
	seed    uint64
	origins map[string]uint32 // numbers of the origins
	names   []robots.Origin   // by number
	shards  [numShards]shard
	urls    int
}

// Len returns the number of URLs.
func (s *Set) Len() int { return s.urls }

// Size returns the approximate memory of the set in bytes.
func (s *Set) Size() int64 {
	size := int64(s.urls) * BytesPerURL
	for _, name := range s.names {
		size += originSize(len(name))
	}
	return size
}

// originSize returns the memory of an origin whose name has n bytes.
func originSize(n int) int64 { return bytesPerOrigin + 2*int64(n) }

// Origins returns the origins of the URLs, in the order in which they were added. The caller must not modify them.
func (s *Set) Origins() []robots.Origin { return s.names }

// Dialect returns the dialect by which paths are normalised.
func (s *Set) Dialect() robots.Dialect { return s.dialect }

// Origin returns the number of a normalised origin; ok is false if the set has no URL of it.
func (s *Set) Origin(origin []byte) (number uint32, ok bool) {
	number, ok = s.origins[string(origin)]
	return number, ok
}

// Find returns the index of a URL, less than Len. origin is its number, and path its path as normalised by
// [robots.Dialect.Path]. ok is false if the set does not have the URL. Only hashes of 128 bits are compared.
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

// hashOf returns the hash of a path at an origin.
func hashOf(path []byte, origin uint32, seed uint64) key {
	h := xxh3.Hash128Seed(path, seed^uint64(origin)*0x9E3779B97F4A7C15)
	return key{h.Hi, h.Lo}
}

// A Builder builds a Set. Use NewBuilder. It is for one goroutine.
type Builder struct {
	set   Set
	most  int64 // memory limit in bytes; 0 means no limit
	size  int64 // memory of the Set if all URLs are distinct
	count int64 // number of URLs added
	full  bool  // most was exceeded, so URLs are only counted

	prefix []byte // URL.Prefix of the last URL
	number uint32 // of its origin
	path   []byte // memory for paths
	origin []byte
}

// NewBuilder returns a Builder of a Set with an approximate memory limit in bytes; 0 means no limit. Paths are
// normalised by the dialect.
func NewBuilder(d robots.Dialect, most int64) *Builder {
	return &Builder{set: Set{dialect: d, seed: rand.Uint64(), origins: map[string]uint32{}}, most: most}
}

// AddURL adds a URL, which it does not keep, and returns the number of its origin. If the URL has no valid origin, it
// is not added, and the error is that of [robots.SplitURL] or [robots.AppendOrigin]. Above the memory limit, URLs are
// only counted, and all new origins have the same number.
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
		number, known := b.set.origins[string(b.origin)]
		if !known {
			b.size += originSize(len(b.origin))
			number = uint32(len(b.set.names))
			if !b.isFull() { // above the limit, all new origins share one number
				b.set.origins[string(b.origin)], b.set.names = number, append(b.set.names, robots.Origin(b.origin))
			}
		}
		b.number = number
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

// isFull reports whether the memory limit was exceeded. When it first is, isFull drops the URLs added so far.
func (b *Builder) isFull() bool {
	if !b.full && b.most > 0 && b.size > b.most {
		b.full = true
		for i := range b.set.shards {
			b.set.shards[i].keys = nil
		}
	}
	return b.full
}

// Origin returns an origin by a number that AddURL returned.
func (b *Builder) Origin(number uint32) robots.Origin { return b.set.names[number] }

// Count returns the number of URLs added, including duplicates.
func (b *Builder) Count() int64 { return b.count }

// Size returns the maximum size of the Set in bytes, which it has if all URLs are distinct.
func (b *Builder) Size() int64 { return b.size }

// Full reports whether the memory limit was exceeded. Then there is no Set, and Size returns the memory that is needed.
func (b *Builder) Full() bool { return b.full }

// Set returns the set of all URLs added; nil if the limit was exceeded. The Builder must not be used afterwards,
// because the Set is a part of it.
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
