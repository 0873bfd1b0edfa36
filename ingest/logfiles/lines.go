package logfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/place"
)

// This file reads lists: a name a line.

// A line is one of a list that has a name.
type line struct {
	number int
	name   string
}

// block is how many names of a list are looked at before the first of them is added: a list may have a
// million, and each look may be a request, or a far disk's.
const block = 4096

// addList adds the logs that the lines of a list stand for.
func (f *finder) addList(name string) {
	text, ok := f.readList(name)
	if !ok {
		return
	}
	before, faults, n, most := len(f.list.Files), len(f.errs), 0, 1+strings.Count(text, "\n")
	f.list.Files = slices.Grow(f.list.Files, most)
	lines := make([]line, 0, min(block, most))
	for text := range strings.Lines(text) {
		n++
		if text = strings.TrimRight(text, "\r\n"); strings.TrimSpace(text) == "" {
			continue
		}
		if lines = append(lines, line{n, text}); len(lines) == block {
			f.addLines(name, lines)
			lines = lines[:0]
		}
	}
	f.addLines(name, lines)
	if before == len(f.list.Files) && faults == len(f.errs) {
		f.fail(name, ErrNoLogs, "put a name a line into it")
	}
}

// readList returns the text of a list; ok is false if it is none.
func (f *finder) readList(name string) (list string, ok bool) {
	var text []byte
	var err error
	switch {
	case name == "":
		f.fail("@", ErrNoList, "write @ and the name of a file that has a name a line")
		return "", false
	case name == fault.Stdin && !f.useStdin():
		return "", false
	case name == fault.Stdin:
		text, err = io.ReadAll(f.stdin)
	default:
		f.list.Lists = append(f.list.Lists, name)
		text, err = place.ReadAll(name)
	}
	if err != nil {
		f.errs = append(f.errs, fault.OfFile(name, err, "check the name and the permissions of the list"))
		return "", false
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if i := bytes.IndexByte(text, 0); i >= 0 {
		f.fail(name, ErrNoList, fmt.Sprintf("line %d has a byte 0: save it as UTF-8 with a name a line", 1+bytes.Count(text[:i], []byte("\n"))))
		return "", false
	}
	return string(text), true
}

// addLines adds the logs that some lines of a list stand for.
func (f *finder) addLines(list string, lines []line) {
	// Look at the names of lines, many at once.
	results := make([]looked, len(lines))
	var next atomic.Int64
	var all panics.Group
	for range min(lookers, len(lines)) {
		all.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(lines)); i = next.Add(1) - 1 {
				results[i] = look(lines[i].name)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		panic(err)
	}

	for i, l := range lines {
		if l.name == fault.Stdin || strings.HasPrefix(l.name, "@") {
			f.fail(list, ErrNoList, fmt.Sprintf("line %d names standard input or another list: name a file, as in %s", l.number, fault.Display("./"+l.name)))
			continue
		}
		before := len(f.list.Files)
		f.addName(l.name, results[i])
		if added := f.list.Files[before:]; len(added) == 1 {
			// Add to the error of a name the oddity of its line: it was not meant as a name, perhaps.
			e, ok := errors.AsType[*NameError](added[0].Err)
			if !ok || !errors.Is(added[0].Err, fs.ErrNotExist) {
				continue
			}
			var odd string
			switch first, last := l.name[0], l.name[len(l.name)-1]; {
			case strings.TrimSpace(l.name) != l.name:
				odd = "has white space around the name, which is taken as a part of it: remove it"
			case first == '#':
				odd = "begins with #, and lists have no comments: remove it"
			case len(l.name) > 1 && first == last && (first == '"' || first == '\''):
				odd = "has quotes around the name, which are taken as a part of it: remove them"
			default:
				continue
			}
			e.Remedy = fmt.Sprintf("line %d of %s %s", l.number, fault.Display(list), odd)
		}
	}
}

// lookers is how many names are looked at at once.
const lookers = 64
