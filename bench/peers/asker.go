package main

import (
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
)

// A verdict is an answer for a line.
type verdict int8

const (
	noRules verdict = iota // the origin has none, or the line is no URL
	allowed
	denied
)

// An asker has parsed all files of a workload with a library.
type asker struct {
	files map[string]file // by origin, and by scheme and authority as written in the log
}

// newAsker parses each file once.
func newAsker(lib library, w workload) (*asker, error) {
	a := &asker{map[string]file{}}
	for origin, body := range w.bodies {
		f, err := lib.parse(body)
		if err != nil {
			return nil, fmt.Errorf("%s parses %s: %w", lib.name, origin, err)
		}
		a.files[string(origin)] = f
	}
	return a, nil
}

// verdicts asks for each line. Neighbours of one origin cost one look-up; no line is copied.
func (a *asker) verdicts(w workload) []verdict {
	all := make([]verdict, 0, w.lines())
	head, f := "", file(nil)
	for line := range strings.Lines(w.text) {
		url := strings.TrimSuffix(line, "\n")
		path := pathOf(url)
		if h := url[:len(url)-len(path)]; h != head || f == nil {
			head, f = h, a.fileOf(h, url)
		}
		all = append(all, answer(f, url, path))
	}
	return all
}

func answer(f file, url, path string) verdict {
	if f == nil {
		return noRules
	}
	if i := strings.IndexByte(path, '#'); i >= 0 {
		path = path[:i]
	}
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	if f(query{url, path}) {
		return allowed
	}
	return denied
}

// pathOf returns the text after scheme and authority.
func pathOf(url string) string {
	i := strings.Index(url, "://")
	if i < 0 {
		return url
	}
	if j := strings.IndexAny(url[i+3:], "/?#"); j >= 0 {
		return url[i+3+j:]
	}
	return ""
}

// fileOf returns the file for the text before the path, or nil if there is none. Spellings that
// are not normal are looked at once.
func (a *asker) fileOf(head, url string) file {
	f, known := a.files[head]
	if !known {
		f = a.files[string(corpus.OriginOf([]byte(url)))]
		a.files[head] = f
	}
	return f
}
