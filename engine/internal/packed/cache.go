package packed

import (
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
)

// A Cache holds the rules of texts, by the numbers of the texts. It may drop any of them at any time, even a text
// just set: the code that loads a text must use it directly. It is safe for concurrent use.
type Cache interface {
	Get(text uint64) (*rules.Ruling, bool)
	Set(text uint64, r *rules.Ruling, size int64) bool
	Close()
}

const (
	// runMemory is the default memory, in bytes, that a run takes besides rules: batches, decompression, the
	// columns of the output.
	runMemory = 96 << 20

	// MinRoom is the least memory for rules. A cache of this size has the rules of a few thousand origins.
	MinRoom = 4 << 20

	// siteSize is the memory per site of a limited Store.
	siteSize = 4

	// typicalText is roughly the size of the rules of a text: 0.7 KiB for the median of real texts, and about 2 KiB
	// on average. It determines how many texts fit in the cache.
	typicalText = 1 << 10
)

// IndexMemory returns the memory that the named pack takes under a limit before any rules are loaded. It reads only
// the header.
func IndexMemory(name string) (int64, error) {
	index, sites, err := pack.MemoryOf(name)
	return index + siteSize*int64(sites), err
}

// A lossyCache is a Cache with an approximate size limit. Each new text waits in a queue with room for many
// thousands. With many workers, the goroutine of the cache may not run in time, and the whole queue would stay in
// memory. So Set waits if the queue has too many bytes.
type lossyCache struct {
	*ristretto.Cache[uint64, *rules.Ruling]
	queued atomic.Int64 // bytes set since the last wait
	most   int64        // maximum of queued
}

// queuePart is the divisor of a cache's bytes that gives the maximum size of its queue.
const queuePart = 4

// cacheFor returns the size of a cache that drops no rules if their total size is this: the queue takes part of it.
func cacheFor(size int64) int64 { return size/(queuePart-1)*queuePart + 2*queuePart }

// Set adds the rules of a text, or drops them. It may wait until the queue is processed. The result is false if they
// were certainly dropped.
func (c *lossyCache) Set(text uint64, r *rules.Ruling, size int64) bool {
	set := c.Cache.Set(text, r, size)
	if c.queued.Add(size) > c.most {
		c.queued.Store(0)
		c.Wait()
	}
	return set
}

// A growingCache keeps the first texts in a map, and moves to a lossyCache once there are many. The counters of a
// lossyCache for a million texts take 24 MB, and two thirds of the time of a run on ten URLs.
type growingCache struct {
	lossy atomic.Pointer[lossyCache] // nil while the map is in use

	mu           sync.RWMutex
	first        map[uint64]sized
	size         int64 // bytes of the texts in the map
	bytes, texts int64
}

// A sized holds the rules of a text and their size in bytes.
type sized struct {
	rules *rules.Ruling
	size  int64
}

// firstTexts is the maximum number of texts in the map of a growingCache.
const firstTexts = 1000

// newCache returns a cache with a size in bytes, for a pack with the given number of texts. It allocates little until
// the first texts are set.
func newCache(bytes, texts int64) *growingCache {
	return &growingCache{first: map[uint64]sized{}, bytes: bytes, texts: texts}
}

// Get implements Cache.
func (c *growingCache) Get(text uint64) (*rules.Ruling, bool) {
	if lossy := c.lossy.Load(); lossy != nil {
		return lossy.Get(text)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.first[text]
	return r.rules, ok
}

// Set implements Cache. Once there are more than firstTexts texts, or they take more than a share of the size, it moves
// all of them to a lossyCache.
func (c *growingCache) Set(text uint64, r *rules.Ruling, size int64) bool {
	lossy := c.lossy.Load()
	if lossy == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		lossy = c.lossy.Load()
	}
	if lossy == nil && (len(c.first) == firstTexts || c.size+size > c.bytes/queuePart) {
		// Move the first texts to a lossyCache.
		queue := c.bytes / queuePart
		cache, err := ristretto.NewCache(&ristretto.Config[uint64, *rules.Ruling]{
			NumCounters:        10 * max(min(c.bytes/typicalText, c.texts), 1000), // ten per text, as ristretto recommends
			MaxCost:            c.bytes - queue,
			BufferItems:        64,
			IgnoreInternalCost: true, // size includes everything
		})
		if err != nil {
			panic(err) // impossible: the size is positive
		}
		lossy = &lossyCache{Cache: cache, most: queue}
		for text, r := range c.first {
			lossy.Set(text, r.rules, r.size)
		}
		c.first = nil
		c.lossy.Store(lossy)
	}
	if lossy != nil {
		return lossy.Set(text, r, size)
	}
	c.size += size - c.first[text].size
	c.first[text] = sized{r, size}
	return true
}

// Close implements Cache.
func (c *growingCache) Close() {
	if lossy := c.lossy.Load(); lossy != nil {
		lossy.Close()
	}
}
