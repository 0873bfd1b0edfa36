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

// aheadFiles is the number of robots.txt files one goroutine reads in turn. That is enough to make the hand-over cheap
// beside the system calls, and few enough that at most 30 MB are read ahead.
const aheadFiles = 16

// A readText is a robots.txt file that was read.
type readText struct {
	response robots.Response // without its origin
	err      error
}

// readAhead yields the content of the robots.txt files among files, in order. As many goroutines as
// there are processors read a few files ahead. They end soon after the iteration.
func readAhead(files []ruleFile) iter.Seq[readText] {
	return func(yield func(readText) bool) {
		stop := make(chan struct{})
		defer close(stop)
		chunks, done := startReading(files, stop)
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

// startReading reads the robots.txt files in chunks, which the channel gives in order. The chunks
// in the channel are being read. done gets an error if that panics.
func startReading(files []ruleFile, stop <-chan struct{}) (all <-chan chan []readText, done <-chan error) {
	chunks := make(chan chan []readText, runtime.GOMAXPROCS(0)-1)
	done = panics.Run(func() error {
		defer close(chunks)
		for part := range slices.Chunk(files, aheadFiles) {
			chunk := make(chan []readText, 1)
			select {
			case chunks <- chunk:
			case <-stop:
				return nil
			}
			panics.Send(chunk, func() []readText { return readTexts(part) }, func(err error) []readText { return []readText{{err: err}} })
		}
		return nil
	})
	return chunks, done
}

// readTexts reads the robots.txt files among files.
func readTexts(files []ruleFile) []readText {
	texts := make([]readText, 0, len(files))
	for i := range files {
		if files[i].content == unpack.Text {
			var t readText
			t.response, t.err = files[i].read()
			texts = append(texts, t)
		}
	}
	return texts
}

// maxRest is how much of a pipe is read beyond MaxBody to find its size. A pipe may never end.
const maxRest = 64 << 20

// read returns the response of the file, without its origin. It reads a pipe only once.
func (f *ruleFile) read() (r robots.Response, err error) {
	switch {
	case f.err != nil:
		return r, f.err
	case f.pipe == nil:
		return f.readOnce()
	}
	f.pipe.once.Do(func() { f.pipe.response, f.pipe.err = f.readOnce() })
	r = f.pipe.response
	r.Body = bytes.Clone(r.Body)
	return r, f.pipe.err
}

// readOnce is read for any file, each time.
func (f *ruleFile) readOnce() (r robots.Response, err error) {
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
	r.Body, r.Size, err = readBody(file, info)
	return r, err
}

// readBody returns the first MaxBody bytes of the file, and its size. The size of a pipe is the bytes
// read of it: up to maxRest more.
func readBody(file io.Reader, info storage.Info) (body []byte, size int64, err error) {
	body, err = io.ReadAll(io.LimitReader(file, MaxBody))
	size = int64(len(body))
	switch {
	case err != nil:
		return nil, 0, err
	case size == MaxBody && info.Size >= 0:
		size = max(info.Size, size)
	case size == MaxBody: // a pipe's writer may count on being read
		var rest int64
		rest, err = io.Copy(io.Discard, io.LimitReader(file, maxRest))
		size += rest
	}
	return body, size, err
}
