package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/robots"
)

// federal is the repository of the files of United States government hosts.
const federal = "nrjones8/robots-dot-txt-archive-bot"

// minURLs is how many URLs a federal host must have in the real log: most of the others are one
// bare home page.
const minURLs = 2

// hostsText lists the other hosts to take, one a line, with "#" comments.
//
//go:embed hosts.txt
var hostsText string

// A source is one robots.txt of the collection: a row of its index.
type source struct {
	origin robots.Origin
	fields []string // the row, as named by columns
}

// columns are the fields that sources.tsv keeps of the index, in its order.
var columns = []string{"origin", "path", "source_repo", "commit", "source_path", "capture", "bytes", "flags", "sha1", "licence_note"}

// field returns the field of a name in columns.
func (s *source) field(name string) string { return s.fields[slices.Index(columns, name)] }

// readIndex reads the index of a collection, in its order.
func readIndex(name string) ([]source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s is empty", name)
	}
	pos := make([]int, len(columns))
	for i, c := range columns {
		if pos[i] = slices.Index(rows[0], c); pos[i] < 0 {
			return nil, fmt.Errorf("%s has no column %q", name, c)
		}
	}
	sources := make([]source, 0, len(rows)-1)
	for _, row := range rows[1:] {
		s := source{fields: make([]string, len(columns))}
		for i, p := range pos {
			s.fields[i] = row[p]
		}
		if s.origin, err = robots.ParseOrigin(s.field("origin")); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// selectSources returns the sources of the quick start, in the order of all: federal hosts by their
// number of URLs in the real log, and the hosts of hosts.txt. A host of that list that the
// collection lacks is an error.
func selectSources(all []source, crawled [][]byte) ([]source, error) {
	urls := make(map[robots.Origin]int)
	for _, line := range crawled {
		urls[corpus.OriginOf(line)]++
	}
	listed := listedOrigins()
	var chosen []source
	for _, s := range all {
		byList := listed[s.origin]
		delete(listed, s.origin)
		if byList || s.field("source_repo") == federal && urls[s.origin] >= minURLs {
			chosen = append(chosen, s)
		}
	}
	for origin := range listed {
		return nil, fmt.Errorf("hosts.txt lists %s, which the collection lacks", origin)
	}
	return chosen, nil
}

// listedOrigins returns the origins of hosts.txt.
func listedOrigins() map[robots.Origin]bool {
	listed := make(map[robots.Origin]bool)
	for line := range strings.Lines(hostsText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			listed[robots.Origin("https://"+line)] = true
		}
	}
	return listed
}
