package lint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/storage"
)

// A Baseline holds the accepted findings: for each [Key], how many findings with it are accepted.
type Baseline map[Key]int

// An accepted is an entry of a baseline file.
type accepted struct {
	Key
	Count int `json:"count"`
}

// baselineFile is the structure of the file.
type baselineFile struct {
	Version  int        `json:"version"`
	Accepted []accepted `json:"accepted"`
}

// baselineVersion is the version of the structure.
const baselineVersion = 1

// ReadBaseline reads a baseline that [Baseline.Write] wrote. A missing file, another version, or a count below 1 is
// an error.
func ReadBaseline(name string) (Baseline, error) {
	text, err := storage.ReadAll(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("missing file %s: create it with -approve, which accepts the current findings, or leave out -baseline", name)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", msg.File(name), atomicfile.WithoutPath(err))
	}
	var file baselineFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w: rebuild it with -approve", name, err)
	}
	if file.Version != baselineVersion {
		return nil, fmt.Errorf("read the baseline %s: it has version %d, but only version %d can be read: rebuild it with -approve", name, file.Version, baselineVersion)
	}
	b := Baseline{}
	for _, entry := range file.Accepted {
		if entry.Count < 1 {
			return nil, fmt.Errorf("read the baseline %s: it accepts %s %d times: write a positive number, or rebuild it with -approve", name, entry.Code, entry.Count)
		}
		b[entry.Key] += entry.Count
	}
	return b, nil
}

// Accepts reports whether the baseline has the finding, and if so, uses up one of the accepted occurrences. b may be
// nil.
func (b Baseline) Accepts(f *Finding) bool {
	key := f.Key()
	if b[key] == 0 {
		return false
	}
	b[key]--
	return true
}

// Left returns the number of accepted findings that did not occur.
func (b Baseline) Left() (n int64) {
	for _, count := range b {
		n += int64(count)
	}
	return n
}

// names lists accepted findings that did not occur, by origin, code and text of the line. If there are more than
// most, it gives the number of the others.
func (b Baseline) names(most int) string {
	var left []string
	for key, count := range b {
		if count > 0 {
			left = append(left, strings.TrimSpace(key.Origin+" "+key.Code)+" "+strconv.Quote(msg.Line(key.Source)))
		}
	}
	slices.Sort(left)
	if n := len(left) - most; n > 0 {
		left = append(left[:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(left, ", ")
}

// Add adds a finding.
func (b Baseline) Add(f *Finding) { b[f.Key()]++ }

// Write writes the baseline, with its findings sorted.
func (b Baseline) Write(w io.Writer) error {
	file := baselineFile{Version: baselineVersion, Accepted: []accepted{}}
	for key, n := range b {
		file.Accepted = append(file.Accepted, accepted{key, n})
	}
	slices.SortFunc(file.Accepted, func(x, y accepted) int {
		return cmp.Or(cmp.Compare(x.Origin, y.Origin), cmp.Compare(x.Code, y.Code), cmp.Compare(x.Source, y.Source))
	})
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(msg.EscapeJSON(text), '\n'))
	return err
}
