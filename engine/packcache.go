package engine

import (
	"fmt"
	"sync/atomic"

	"github.com/dgraph-io/ristretto/v2"
)

// A textCache keeps texts as long as it likes. Any of them may be gone at any time, and a text that was just set may
// never appear: whoever loads one uses it directly.
type textCache interface {
	Get(number uint64) (*loadedText, bool)
	Set(number uint64, t *loadedText, size int64) bool
	Close()
}

const (
	// runMemory is what a run takes besides rules, in bytes: batches, decompression, the columns of the output. One with
	// a million origins has 80 MB alive.
	runMemory = 96 << 20

	// minCache is the least memory for rules that makes sense: some thousand origins.
	minCache = 8 << 20

	// typicalText is what the rules of a text take, about, to tell how many the cache may hold: 0.7 KiB for the median
	// of real ones and some 2 KiB on average.
	typicalText = 1 << 10
)

// A lossyCache is a textCache that holds about as many bytes as it may. What is set waits in a queue of many thousands, so
// that a goroutine of the cache that is not run in time, as there are many workers, would leave all that in memory: whoever sets
// what is too much in the queue waits for it.
type lossyCache struct {
	*ristretto.Cache[uint64, *loadedText]
	queued atomic.Int64 // bytes that were set since somebody waited
	most   int64        // that may be
}

// queueShare is the part of a cache's bytes that may be in its queue.
const queueShare = 4

// newTextCache returns a cache of that many bytes for a pack of so many texts.
func newTextCache(bytes, texts int64) (textCache, error) {
	queue := bytes / queueShare
	c, err := ristretto.NewCache(&ristretto.Config[uint64, *loadedText]{
		NumCounters:        10 * max(min(bytes/typicalText, texts), 1000), // ten times the texts in it, as its authors advise
		MaxCost:            bytes - queue,
		BufferItems:        64,
		IgnoreInternalCost: true, // size has everything
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of rules: %w", err)
	}
	return &lossyCache{Cache: c, most: queue}, nil
}

// Set keeps a text, maybe.
func (c *lossyCache) Set(number uint64, t *loadedText, size int64) bool {
	set := c.Cache.Set(number, t, size)
	if c.queued.Add(size) > c.most {
		c.queued.Store(0)
		c.Wait()
	}
	return set
}
