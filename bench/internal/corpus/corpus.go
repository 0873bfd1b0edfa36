// Package corpus finds and reads the real robots.txt files and logs of the benchmarks. It hides how they are packed.
// Only the packages below bench import it.
package corpus

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/robots"
)

// A Corpus is a collection of robots.txt files and logs of their origins. It only holds names: everything is read again
// each time, so that the data of one benchmark do not affect how often garbage is collected in the next.
type Corpus struct {
	Name  string                            // "quickstart" or "collection"
	Logs  []Log                             // at least one
	Rules iter.Seq2[robots.Response, error] // all robots.txt, read lazily; the receiver owns them
}

// A Log is a zstd file of URLs.
type Log struct {
	Name string // for the names of benchmarks, such as "real"
	Path string
}

// Quickstart returns the corpus in dir, which is testdata/quickstart of the source tree: several hundred robots.txt
// files and one log of real and generated URLs.
func Quickstart(dir string) *Corpus {
	return &Corpus{
		Name: "quickstart",
		Logs: []Log{{"mixed", filepath.Join(dir, "urls.zst")}},
		Rules: func(yield func(robots.Response, error) bool) {
			files, err := rulefiles.Find(filepath.Join(dir, "rules"), "")
			if err != nil {
				yield(robots.Response{}, err)
				return
			}
			files.Responses()(yield)
		},
	}
}

// Collection returns the corpus in dir from which the quick start is sampled: thousands of robots.txt files, a real log
// grouped by host as a crawler writes it, the same log in random order, and a generated log in which rules often match.
func Collection(dir string) *Corpus {
	return &Corpus{
		Name: "collection",
		Logs: []Log{
			{"real", filepath.Join(dir, "urls_real_hostgrouped.urls.zst")},
			{"shuffled", filepath.Join(dir, "urls_real_shuffled.urls.zst")},
			{"synth", filepath.Join(dir, "synth_300k.urls.zst")},
		},
		Rules: func(yield func(robots.Response, error) bool) {
			if err := readArchive(filepath.Join(dir, "rules.tar.zst"), yield); err != nil {
				yield(robots.Response{}, err)
			}
		},
	}
}

// Find returns the largest corpus for the source tree that contains dir: the collection next to the tree if it exists,
// or else the quick start. It returns an error if dir is not in a source tree.
func Find(dir string) (*Corpus, error) {
	top, err := filepath.Abs(dir)
	for ; err == nil; top = filepath.Dir(top) {
		quickstart := filepath.Join(top, "testdata", "quickstart")
		if _, missing := os.Stat(quickstart); missing == nil {
			collection := filepath.Join(filepath.Dir(top), "shared", "data")
			if _, missing := os.Stat(filepath.Join(collection, "rules.tar.zst")); missing == nil {
				return Collection(collection), nil
			}
			return Quickstart(quickstart), nil
		}
		if filepath.Dir(top) == top {
			err = fmt.Errorf("no testdata/quickstart in %s or above: run this in the source tree", dir)
		}
	}
	return nil, err
}

// Responses reads all robots.txt files. The caller owns them.
func (c *Corpus) Responses() (all []robots.Response, err error) {
	for r, err := range c.Rules {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// readArchive yields the files <scheme>_<host>[_<port>].txt of a .tar.zst, until yield returns false. Like package
// ingest, it reads only the part of a file that counts.
func readArchive(name string, yield func(robots.Response, error) bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dec, err := zstd.NewReader(f)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	defer dec.Close()
	for members := tar.NewReader(dec); ; {
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		scheme, host, _ := strings.Cut(strings.TrimSuffix(path.Base(h.Name), ".txt"), "_")
		if i := strings.LastIndexByte(host, '_'); i >= 0 && strings.Trim(host[i+1:], "0123456789") == "" {
			host = host[:i] + ":" + host[i+1:]
		}
		origin, errOrigin := robots.ParseOrigin(scheme + "://" + host)
		body, errRead := io.ReadAll(io.LimitReader(members, rulefiles.MaxBody))
		if err := errors.Join(errOrigin, errRead); err != nil {
			return fmt.Errorf("unpack %s: %s: %w", name, h.Name, err)
		}
		if !yield(robots.Response{Origin: origin, Status: http.StatusOK, Name: h.Name, Body: body, Size: h.Size}, nil) {
			return nil
		}
	}
}

// Distinct returns the distinct bodies in the order of their first responses, and the sum of their sizes in bytes. The
// bodies are not copied.
func Distinct(all []robots.Response) (bodies [][]byte, size int64) {
	seen := map[string]bool{}
	for _, r := range all {
		if !seen[string(r.Body)] {
			seen[string(r.Body)] = true
			bodies = append(bodies, r.Body)
			size += int64(len(r.Body))
		}
	}
	return bodies, size
}

// Batches reads the complete log in batches, like a run. The caller owns them.
func (l Log) Batches() (all []engine.Batch, err error) {
	src, err := ingest.OpenLogs([]string{l.Path}, ingest.LogOptions{})
	if err != nil {
		return nil, err
	}
	for b := (engine.Batch{}); src.Next(&b); b = (engine.Batch{}) {
		all = append(all, b)
	}
	return all, errors.Join(src.Err(), src.Close())
}

// OriginOf returns the origin of a URL, or "" if it is invalid.
func OriginOf(url []byte) robots.Origin {
	u, _ := robots.SplitURL(url) // an invalid URL has no host
	origin, _ := robots.AppendOrigin(nil, u)
	return robots.Origin(origin)
}

// URLs reads the complete log and returns its URLs in order. The caller owns them.
func (l Log) URLs() (all [][]byte, err error) {
	batches, err := l.Batches()
	for i := range batches {
		for j := range batches[i].Len() {
			all = append(all, batches[i].URL(j))
		}
	}
	return all, err
}

// Header writes the line that names the data, after the header of package measure: benchstat compares only results with
// the same data.
func (c *Corpus) Header(w io.Writer) error {
	_, err := fmt.Fprintf(w, "corpus: %s\n", c.Name)
	return err
}
