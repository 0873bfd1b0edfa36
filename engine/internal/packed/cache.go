package packed

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
)

// A Cache has the rules of texts by the numbers of the texts. It may drop any of them at any time,
// and may never return a text just set: whoever loads a text uses it directly. It is safe for
// concurrent use.
type Cache interface {
	Get(text uint64) (*rules.Ruling, bool)
	Set(text uint64, r *rules.Ruling, size int64) bool
	Close()
}

const (
	// runMemory is the memory of a run besides rules, in bytes, unless the options say it: batches,
	// decompression, the columns of the output.
	runMemory = 96 << 20

	// MinRoom is the least room for rules: some thousand origins of them are in its cache.
	MinRoom = 4 << 20

	// siteSize is the memory of a limited Store for each site.
	siteSize = 4

	// typicalText is about the size of the rules of a text. It decides how many fit in the
	// cache: 0.7 KiB for the median of real ones and some 2 KiB on average.
	typicalText = 1 << 10
)

// IndexMemory returns the memory that the pack of that name takes under a limit before any rules are
// loaded. It reads no more than the header.
func IndexMemory(name string) (int64, error) {
	index, sites, err := pack.MemoryOf(name)
	return index + siteSize*int64(sites), err
}

// A lossyCache is a Cache of about as many bytes as it may have. Each new text waits in a queue of
// many thousands. With many workers the goroutine of the cache may not run in time, and all of the
// queue would stay in memory. So whoever sets more than the queue may have waits for it.
type lossyCache struct {
	*ristretto.Cache[uint64, *rules.Ruling]
	queued atomic.Int64 // bytes that were set since a goroutine waited
	most   int64        // that may be
}

// queuePart is the part of a cache's bytes that may be in its queue.
const queuePart = 4

// cacheFor returns the bytes of a cache that drops nothing of rules of that size: it keeps only
// those that its queue leaves.
func cacheFor(size int64) int64 { return size/(queuePart-1)*queuePart + 2*queuePart }

// newLossyCache returns a cache of that many bytes for a pack of that many texts.
func newLossyCache(bytes, texts int64) (*lossyCache, error) {
	queue := bytes / queuePart
	c, err := ristretto.NewCache(&ristretto.Config[uint64, *rules.Ruling]{
		NumCounters:        10 * max(min(bytes/typicalText, texts), 1000), // ten a text, as its authors advise
		MaxCost:            bytes - queue,
		BufferItems:        64,
		IgnoreInternalCost: true, // the size counts everything
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of rules: %w", err)
	}
	return &lossyCache{Cache: c, most: queue}, nil
}

// Set may add the rules of a text.
func (c *lossyCache) Set(text uint64, r *rules.Ruling, size int64) bool {
	set := c.Cache.Set(text, r, size)
	if c.queued.Add(size) > c.most {
		c.queued.Store(0)
		c.Wait()
	}
	return set
}

// A growingCache has the first texts in a map, and all in a lossyCache once they are many: its counters for a million
// texts have 24 MB, which took two thirds of the time of a run on ten URLs.
type growingCache struct {
	lossy atomic.Pointer[lossyCache] // nil while there is the map

	mu           sync.RWMutex
	first        map[uint64]sized
	size         int64 // of these
	bytes, texts int64
}

// A sized is the rules of a text, with their bytes.
type sized struct {
	rules *rules.Ruling
	size  int64
}

// firstTexts is the number of texts a growingCache has in its map.
const firstTexts = 1000

// newCache returns a cache of that many bytes for a pack of that many texts.
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

// Set implements Cache.
func (c *growingCache) Set(text uint64, r *rules.Ruling, size int64) bool {
	lossy := c.lossy.Load()
	if lossy == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		lossy = c.lossy.Load()
	}
	if lossy == nil && (len(c.first) == firstTexts || c.size+size > c.bytes/queuePart) {
		lossy = c.grow()
	}
	if lossy != nil {
		return lossy.Set(text, r, size)
	}
	c.size += size - c.first[text].size
	c.first[text] = sized{r, size}
	return true
}

// grow moves the first texts to a lossyCache.
func (c *growingCache) grow() *lossyCache {
	lossy, err := newLossyCache(c.bytes, c.texts)
	if err != nil {
		panic(err) // it has more than no bytes
	}
	for text, r := range c.first {
		lossy.Set(text, r.rules, r.size)
	}
	c.first = nil
	c.lossy.Store(lossy)
	return lossy
}

// Close implements Cache.
func (c *growingCache) Close() {
	if lossy := c.lossy.Load(); lossy != nil {
		lossy.Close()
	}
}
