package engine

import (
	"fmt"

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

// newTextCache returns a cache of that many bytes.
func newTextCache(bytes int64) (textCache, error) {
	c, err := ristretto.NewCache(&ristretto.Config[uint64, *loadedText]{
		NumCounters:        10 * max(bytes/typicalText, 1000), // ten times the texts in it, as its authors advise
		MaxCost:            bytes,
		BufferItems:        64,
		IgnoreInternalCost: true, // size has everything
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of rules: %w", err)
	}
	return c, nil
}
