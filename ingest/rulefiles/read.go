package rulefiles

import (
	"bytes"
	"io"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
)

// A pipe stores the content of a pipe, which can be read only once.
type pipe struct {
	once     sync.Once
	response robots.Response
	err      error
}

// aheadFiles is the number of robots.txt files that a goroutine reads at once: enough to make the hand-over cheap
// compared with the system calls, and few enough that at most 30 MB are read ahead.
const aheadFiles = 16

// A readText is a robots.txt file that was read.
type readText struct {
	response robots.Response // without its origin
	err      error
}

// readAhead yields the content of the robots.txt files among files, in order, and skips captures. As many goroutines as
// there are processors read ahead, each a few files. They end soon after the iteration.
func readAhead(files []ruleFile) iter.Seq[readText] {
	return func(yield func(readText) bool) {
		stop := make(chan struct{})
		defer close(stop)
		chunks := make(chan chan []readText, runtime.GOMAXPROCS(0)-1) // in order; those in the channel are being read
		done := panics.Run(func() error {
			defer close(chunks)
			for part := range slices.Chunk(files, aheadFiles) {
				chunk := make(chan []readText, 1)
				select {
				case chunks <- chunk:
				case <-stop:
					return nil
				}
				panics.Send(chunk, func() []readText {
					var texts []readText
					for i := range part {
						if part[i].content == unpack.Text {
							r, err := part[i].read()
							texts = append(texts, readText{r, err})
						}
					}
					return texts
				}, func(err error) []readText { return []readText{{err: err}} })
			}
			return nil
		})
		for chunk := range chunks {
			for _, t := range <-chunk {
				if !yield(t) {
					return
				}
			}
		}
		if err := <-done; err != nil {
			panic(err)
		}
	}
}

// maxRest is the maximum number of bytes of a pipe that are read after MaxBody to find its size. A pipe may never end.
const maxRest = 64 << 20

// read returns the response of the file, without its origin; the caller owns the body. It reads a pipe only once, and
// is safe for concurrent use.
func (f *ruleFile) read() (r robots.Response, err error) {
	switch {
	case f.err != nil:
		return r, f.err
	case f.pipe == nil:
		return f.readContent()
	}
	f.pipe.once.Do(func() { f.pipe.response, f.pipe.err = f.readContent() })
	r = f.pipe.response
	r.Body = bytes.Clone(r.Body)
	return r, f.pipe.err
}

// readContent is like read, but reads a pipe each time. After the first MaxBody bytes of a pipe, it reads at most
// maxRest bytes to count them.
func (f *ruleFile) readContent() (r robots.Response, err error) {
	r = robots.Response{Name: f.name, Status: http.StatusOK, File: true}
	if f.pipe == nil && !storage.IsRemote(f.path) {
		body, size, changed, ok, err := readRegular(f.path)
		if ok || err != nil {
			r.Body, r.Size, r.FetchedAt = body, size, changed.UTC()
			return r, err
		}
	}
	file, err := storage.Of(f.path).Open(f.path)
	if err != nil {
		return r, err
	}
	defer file.Close()
	info, err := file.Info()
	if err != nil {
		return r, err
	}
	r.FetchedAt = info.Changed.UTC()
	if r.Body, err = io.ReadAll(io.LimitReader(file, MaxBody)); err != nil {
		return r, err
	}
	r.Size = int64(len(r.Body))
	if r.Size == MaxBody && info.Size >= 0 {
		r.Size = max(info.Size, r.Size)
	} else if r.Size == MaxBody { // the writer of a pipe may fail if it is not read
		var rest int64
		rest, err = io.Copy(io.Discard, io.LimitReader(file, maxRest))
		r.Size += rest
	}
	return r, err
}
