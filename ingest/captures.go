package ingest

import (
	"os"
	"strings"
	"sync/atomic"

	"github.com/robobatch/robobatch/robots"
)

// A fileKind is what a rules file is.
type fileKind uint8

const (
	kindText  fileKind = iota // a robots.txt
	kindWARC                  // a WARC file of captures
	kindJSONL                 // a JSON Lines file of responses
)

// kindOf returns the kind of a file called base. A name that ends in .txt is that of a host, whatever the host.
func kindOf(base string) fileKind {
	switch {
	case strings.HasSuffix(base, ".txt"):
		return kindText
	case strings.Contains(base, ".warc"):
		return kindWARC
	case strings.Contains(base, ".jsonl"):
		return kindJSONL
	}
	return kindText
}

// A pass is one reading of all files. It keeps buffers and decoders between them.
type pass struct {
	problems Problems
	captures captureIndex
	targets  targetSet
	undated  map[robots.Origin]bool // origins with a response of unknown time
	done     *atomic.Int64          // bytes of the captures that were read
	warc     *warcReader
	jsonl    *jsonlReader
}

// repeats notes that there is a response of unknown time for the origin, and reports whether it is not the first.
func (p *pass) repeats(o robots.Origin) bool {
	if p.undated == nil {
		p.undated = map[robots.Origin]bool{}
	}
	again := p.undated[o]
	p.undated[o] = true
	return again
}

func (p *pass) report(e *RecordError) { p.problems.add(e) }

// readCaptures yields the responses of a capture file and reports whether yield wants more. Its error is that the file
// cannot be read, or holds nothing.
func (p *pass) readCaptures(f ruleFile, yield func(robots.Response) bool) (more bool, err error) {
	if f.err != nil {
		return true, f.err
	}
	file, err := os.Open(f.path)
	if err != nil {
		return true, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	info, err := file.Stat()
	if err != nil {
		return true, err
	}
	if !info.Mode().IsRegular() {
		return true, ErrNotRegular
	}
	tracked := trackedFile{file, p.done.Load(), p.done}
	if f.kind == kindJSONL {
		if p.jsonl == nil {
			p.jsonl = &jsonlReader{pass: p}
		}
		return p.jsonl.read(f.name, tracked, info.Size(), yield)
	}
	if p.warc == nil {
		p.warc = &warcReader{pass: p}
	}
	p.captures.paths = append(p.captures.paths, f.path)
	return p.warc.read(f.name, tracked, info.Size(), yield)
}

// release gives back the memory that closing alone frees.
func (p *pass) release() {
	if p.jsonl != nil {
		p.jsonl.src.release()
	}
	if p.warc != nil {
		p.warc.release()
	}
	if p.captures.reader != nil {
		p.captures.reader.release()
	}
}
