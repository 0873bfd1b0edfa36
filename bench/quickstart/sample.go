package main

import (
	"bytes"
	"crypto/sha1" // the hash in the index; it protects nothing
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/robots"
)

// The sizes of the sample of URLs: tens of thousands of lines, less than 1 MB compressed.
const (
	blockLines   = 48 // consecutive lines of the real log that are kept together
	blocksOrigin = 6  // maximum number of blocks per origin in the real log
	madeOrigin   = 90 // maximum number of lines per origin in the generated log
)

// sampleReal returns lines of the real log in their order: for each origin up to blocksOrigin blocks at equal
// distances. It samples the selected origins, and the http origins of the same hosts, which have no known rules.
func sampleReal(lines [][]byte, chosen []source) [][]byte {
	at := make(map[robots.Origin][]int) // the lines of each wanted origin
	for _, s := range chosen {
		at[s.origin], at[httpOrigin(s.origin)] = nil, nil
	}
	for i, line := range lines {
		origin := corpus.OriginOf(line)
		if _, wanted := at[origin]; wanted {
			at[origin] = append(at[origin], i)
		}
	}
	taken := make([]int, 0, len(lines))
	for _, positions := range at {
		taken = append(taken, blocks(positions)...)
	}
	slices.Sort(taken)
	sample := make([][]byte, len(taken))
	for i, p := range taken {
		sample[i] = lines[p]
	}
	return sample
}

// httpOrigin returns the http origin with the host of an https origin.
func httpOrigin(o robots.Origin) robots.Origin {
	return robots.Origin(strings.Replace(string(o), "https:", "http:", 1))
}

// blocks returns the lines of one origin that are in the sample.
func blocks(positions []int) []int {
	if len(positions) <= blockLines*blocksOrigin {
		return positions
	}
	taken := make([]int, 0, blockLines*blocksOrigin)
	for i := range blocksOrigin {
		start := i * (len(positions) - blockLines) / (blocksOrigin - 1)
		taken = append(taken, positions[start:start+blockLines]...)
	}
	return taken
}

// sampleMade returns lines of the generated log in their order: the first madeOrigin lines of each selected origin that
// is not federal, however its host is spelled, and a tenth as many of its http origin.
func sampleMade(lines [][]byte, chosen []source) [][]byte {
	room := make(map[robots.Origin]int)
	for _, s := range chosen {
		if s.field("source_repo") != federal {
			room[s.origin] = madeOrigin
			room[httpOrigin(s.origin)] = madeOrigin / 10
		}
	}
	var sample [][]byte
	for _, line := range lines {
		if origin := corpus.OriginOf(line); room[origin] > 0 {
			room[origin]--
			sample = append(sample, line)
		}
	}
	return sample
}

// federal is the name of the repository with the files of United States government hosts.
const federal = "nrjones8/robots-dot-txt-archive-bot"

// minURLs is the minimum number of URLs of a federal host in the real log: most hosts with fewer have only a home page.
const minURLs = 2

// hostsText lists the other selected hosts, one per line, with "#" comments.
//
//go:embed hosts.txt
var hostsText string

// A source is a robots.txt in the index of the collection.
type source struct {
	origin robots.Origin
	fields []string // the row, with the fields of columns
}

// columns are the fields of the index that sources.tsv has, in its order.
var columns = []string{"origin", "path", "source_repo", "commit", "source_path", "capture", "bytes", "flags", "sha1", "licence_note"}

// field returns the value of a field.
func (s *source) field(name string) string { return s.fields[slices.Index(columns, name)] }

// readIndex reads the index of a collection in its order.
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

// selectSources returns the selected sources, in the order of all: the federal hosts with enough URLs in the real log,
// and the hosts of hosts.txt. It is an error if the collection lacks one of the latter.
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

// writeLines writes lines as one zstd frame.
func writeLines(name string, lines [][]byte) error {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	text := append(bytes.Join(lines, []byte("\n")), '\n')
	return os.WriteFile(name, enc.EncodeAll(text, nil), 0o644)
}

// writeRules copies the selected files of the collection to rules, compares each with its SHA-1, and lists them in
// sources.tsv.
func writeRules(c *corpus.Corpus, out string, chosen []source) error {
	rules := filepath.Join(out, "rules")
	if err := errors.Join(os.RemoveAll(rules), os.MkdirAll(rules, 0o755)); err != nil {
		return err
	}
	bodies := map[string][]byte{}
	for r, err := range c.Rules {
		if err != nil {
			return err
		}
		bodies[r.Name] = r.Body
	}
	list := []string{strings.Join(columns, "\t")}
	for i := range chosen {
		s := &chosen[i]
		body, ok := bodies[s.field("path")]
		if sum := sha1.Sum(body); !ok || hex.EncodeToString(sum[:]) != s.field("sha1") {
			return fmt.Errorf("%s is missing or not the file that the index describes", s.field("path"))
		}
		if err := os.WriteFile(filepath.Join(out, filepath.FromSlash(s.field("path"))), body, 0o644); err != nil {
			return err
		}
		list = append(list, strings.Join(s.fields, "\t"))
	}
	return os.WriteFile(filepath.Join(out, "sources.tsv"), []byte(strings.Join(list, "\n")+"\n"), 0o644)
}

// copyLicences copies the files of a directory.
func copyLicences(from, to string) error {
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o755)); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
