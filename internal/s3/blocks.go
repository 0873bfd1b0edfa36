package s3

import (
	"io"
	"sync"
)

// Blocks read an object at random, a few bytes at a time, as is done with packs. They ask for blocks of
// 256 KiB, and keep those that were used last. They are safe for concurrent use.
type Blocks struct {
	object *Object

	mu     sync.Mutex
	blocks map[int64]*block
	clock  uint64
}

// A block is a piece of the object.
type block struct {
	used  uint64
	once  sync.Once
	bytes []byte
	err   error
}

const (
	blockSize = 256 << 10
	maxBlocks = 64
)

// BlocksMemory is the most that Blocks take.
const BlocksMemory = blockSize * maxBlocks

// OpenBlocks opens an object.
func OpenBlocks(name string) (*Blocks, error) {
	o, err := Open(name)
	if err != nil {
		return nil, err
	}
	return &Blocks{object: o, blocks: map[int64]*block{}}, nil
}

// Info returns the store's facts about the object.
func (b *Blocks) Info() Info { return b.object.Info() }

// ReadAt reads.
func (b *Blocks) ReadAt(p []byte, off int64) (n int, err error) {
	if len(p) >= blockSize { // all that is asked for, at once
		return b.object.ReadAt(p, off)
	}
	for n < len(p) {
		at := (off + int64(n)) / blockSize
		b.mu.Lock()
		b.clock++
		one := b.blocks[at]
		if one == nil {
			if len(b.blocks) >= maxBlocks {
				b.drop()
			}
			one = &block{}
			b.blocks[at] = one
		}
		one.used = b.clock
		b.mu.Unlock()
		one.once.Do(func() {
			left := b.object.Info().Size - at*blockSize
			if left <= 0 {
				return
			}
			one.bytes = make([]byte, min(blockSize, left))
			_, one.err = b.object.ReadAt(one.bytes, at*blockSize)
		})
		block, err := one.bytes, one.err
		if err != nil {
			return n, err
		}
		from := off + int64(n) - at*blockSize
		if from >= int64(len(block)) {
			return n, io.EOF
		}
		n += copy(p[n:], block[from:])
	}
	return n, nil
}

// drop drops the block that was not used for the longest time.
func (b *Blocks) drop() {
	oldest, at := b.clock, int64(-1)
	for number, one := range b.blocks {
		if one.used < oldest {
			oldest, at = one.used, number
		}
	}
	delete(b.blocks, at)
}

// Close ends all reading.
func (b *Blocks) Close() error { return b.object.Close() }
