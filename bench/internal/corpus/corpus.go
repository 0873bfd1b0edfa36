// Package corpus finds and reads the real robots.txt and logs that benchmarks run on. It hides how
// they are packed. Only the packages below bench import it.
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

// A Corpus is a collection of robots.txt and logs of their origins. It holds names only: everything
// is read again each time, so that the data of one benchmark do not change how often the garbage
// collector runs in the next.
type Corpus struct {
	Name  string                            // "quickstart" or "collection"
	Logs  []Log                             // at least one
	Rules iter.Seq2[robots.Response, error] // all robots.txt, read while they are yielded; the receiver owns them
}

// A Log is a zstd file of URLs.
type Log struct {
	Name string // for the names of benchmarks: "real"
	Path string
}

// Quickstart returns the corpus in dir, which is the source tree's testdata/quickstart: a few
// hundred robots.txt and one log, real and made-up URLs mixed.
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

// Collection returns the corpus in dir that the quick start's was sampled from: thousands of
// robots.txt, a real log as a crawler writes it, grouped by host, the same log shuffled, and one
// made up so that rules match often.
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

// Find returns the largest corpus available for the source tree that contains dir: the collection next to the tree in
// the project's own setup, or else that of the quick start.
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

// Responses reads all robots.txt. The caller owns them.
func (c *Corpus) Responses() (all []robots.Response, err error) {
	for r, err := range c.Rules {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// readArchive yields the files <scheme>_<host>[_<port>].txt of a .tar.zst, until one is refused.
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
		var r robots.Response
		if err == nil && h.Typeflag == tar.TypeReg {
			r, err = readMember(h, members)
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
		if r.Origin != "" && !yield(r, nil) {
			return nil
		}
	}
}

// readMember reads a robots.txt as package ingest reads it from a file: as much of it as counts.
func readMember(h *tar.Header, r io.Reader) (robots.Response, error) {
	scheme, host, _ := strings.Cut(strings.TrimSuffix(path.Base(h.Name), ".txt"), "_")
	if i := strings.LastIndexByte(host, '_'); i >= 0 && strings.Trim(host[i+1:], "0123456789") == "" {
		host = host[:i] + ":" + host[i+1:]
	}
	origin, err := robots.ParseOrigin(scheme + "://" + host)
	if err != nil {
		return robots.Response{}, fmt.Errorf("%s: %w", h.Name, err)
	}
	body, err := io.ReadAll(io.LimitReader(r, rulefiles.MaxBody))
	return robots.Response{Origin: origin, Status: http.StatusOK, Name: h.Name, Body: body, Size: h.Size}, err
}

// Distinct returns the distinct bodies, in the order of their first responses, and the sum of their
// bytes.
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

// Batches reads the whole log, in batches as a run reads it. The caller owns them.
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

// OriginOf returns the origin of a URL, "" if it has none.
func OriginOf(url []byte) robots.Origin {
	u, _ := robots.SplitURL(url) // an invalid URL has no host
	origin, _ := robots.AppendOrigin(nil, u)
	return robots.Origin(origin)
}

// URLs reads the whole log and returns its URLs, in order. The caller owns them.
func (l Log) URLs() (all [][]byte, err error) {
	batches, err := l.Batches()
	for i := range batches {
		for j := range batches[i].Len() {
			all = append(all, batches[i].URL(j))
		}
	}
	return all, err
}

// Header writes the line that names the data, behind the header of package measure: benchstat
// compares only results of the same data.
func (c *Corpus) Header(w io.Writer) error {
	_, err := fmt.Fprintf(w, "corpus: %s\n", c.Name)
	return err
}
