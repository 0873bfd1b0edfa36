package ingest

import (
	"iter"
	"runtime"
	"slices"

	"github.com/robobatch/robobatch/robots"
)

// aheadFiles is how many robots.txt files are read by one goroutine in turn: enough that handing them over costs
// nothing beside the system calls, and few enough that what is read ahead stays below some 30 MB if all are as long
// as they can be.
const aheadFiles = 16

// A readText is a robots.txt file that was read.
type readText struct {
	response robots.Response // without its origin
	err      error
}

// readAhead yields what the robots.txt files among files hold, in order. They are read by as many goroutines as there are
// processors, which are a few files ahead. The goroutines have ended, or end soon, when the iteration has.
func readAhead(files []ruleFile) iter.Seq[readText] {
	return func(yield func(readText) bool) {
		stop := make(chan struct{})
		defer close(stop)
		for chunk := range startReading(files, stop) {
			for _, t := range <-chunk {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// startReading reads the robots.txt files in chunks, of which the receiver gets one after the other. Those in the channel
// are being read.
func startReading(files []ruleFile, stop <-chan struct{}) <-chan chan []readText {
	chunks := make(chan chan []readText, runtime.GOMAXPROCS(0)-1)
	go func() {
		defer close(chunks)
		for part := range slices.Chunk(files, aheadFiles) {
			chunk := make(chan []readText, 1)
			select {
			case chunks <- chunk:
			case <-stop:
				return
			}
			go func() { chunk <- readTexts(part) }()
		}
	}()
	return chunks
}

// readTexts reads the robots.txt files among files.
func readTexts(files []ruleFile) []readText {
	texts := make([]readText, 0, len(files))
	for i := range files {
		if files[i].kind == kindText {
			var t readText
			t.response, t.err = files[i].read()
			texts = append(texts, t)
		}
	}
	return texts
}
