package ingest

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// A captureProgress is how far the latest pass through files of captures is.
type captureProgress struct {
	done  atomic.Int64 // bytes of them that were read
	once  sync.Once
	total int64 // bytes of all of them, once it was asked for; -1 if unknown
}

// Progress returns how many bytes of the files the latest use of [RuleFiles.Responses] has read, as stored, and how many there are. The
// total is -1 where a robots.txt is among them, as these are small and may be many: count them by [robots.Response.Name] instead.
func (r *RuleFiles) Progress() (done, total int64) {
	r.progress.once.Do(func() { r.progress.total = r.captureBytes() })
	return r.progress.done.Load(), r.progress.total
}

// captureBytes returns how many bytes all files have, or -1 unless all are of captures.
func (r *RuleFiles) captureBytes() (total int64) {
	for _, f := range r.files {
		if f.kind == kindText {
			return -1
		}
		if info, err := os.Stat(f.path); err == nil { // else reading it tells
			total += info.Size()
		}
	}
	return total
}

// A trackedFile tells how far a file was read, whatever was read twice or passed over.
type trackedFile struct {
	io.ReaderAt
	before int64         // bytes of the files before it
	done   *atomic.Int64 // these, and the bytes of it before the last that was read
}

// ReadAt reads.
func (t trackedFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := t.ReaderAt.ReadAt(b, off)
	if reached := t.before + off + int64(n); reached > t.done.Load() {
		t.done.Store(reached) // nobody else does
	}
	return n, err
}
