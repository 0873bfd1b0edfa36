package bench

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
	"github.com/robobatch/robobatch/robots"
)

// A Corpus is a collection of robots.txt and logs of their origins. It holds names only: everything is read anew each
// time, so that what one benchmark read does not change how often the garbage collector runs in the next.
type Corpus struct {
	Name  string // "quickstart" or "collection"
	Logs  []Log  // at least one
	rules func() ([]robots.Response, error)
}

// A Log is a zstd file of URLs.
type Log struct {
	Name string // what it is, for the names of benchmarks: "real"
	Path string
}

// Quickstart returns the corpus in dir, which is the source tree's testdata/quickstart: a few hundred robots.txt and one
// log, real and made-up URLs mixed.
func Quickstart(dir string) *Corpus {
	return &Corpus{
		Name: "quickstart",
		Logs: []Log{{"mixed", filepath.Join(dir, "urls.zst")}},
		rules: func() ([]robots.Response, error) {
			files, err := ingest.Rules(filepath.Join(dir, "rules"), "")
			if err != nil {
				return nil, err
			}
			var all []robots.Response
			for r, err := range files.Responses() {
				if err != nil {
					return nil, err
				}
				all = append(all, r)
			}
			return all, nil
		},
	}
}

// Collection returns the corpus in dir that the quick start's was sampled from: thousands of robots.txt, a real log
// as a crawler writes it, grouped by host, the same log shuffled, and one made up so that rules match often.
func Collection(dir string) *Corpus {
	return &Corpus{
		Name: "collection",
		Logs: []Log{
			{"real", filepath.Join(dir, "urls_real_hostgrouped.urls.zst")},
			{"shuffled", filepath.Join(dir, "urls_real_shuffled.urls.zst")},
			{"synth", filepath.Join(dir, "synth_300k.urls.zst")},
		},
		rules: func() ([]robots.Response, error) { return readArchive(filepath.Join(dir, "rules.tar.zst")) },
	}
}

// Find returns the larger corpus that there is for the source tree that holds dir: the collection, which lies beside the tree
// in the project's own setup, else the quick start's.
func Find(dir string) (*Corpus, error) {
	top, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		quickstart := filepath.Join(top, "testdata", "quickstart")
		if _, err := os.Stat(quickstart); err == nil {
			collection := filepath.Join(filepath.Dir(top), "shared", "data")
			if _, err := os.Stat(filepath.Join(collection, "rules.tar.zst")); err == nil {
				return Collection(collection), nil
			}
			return Quickstart(quickstart), nil
		}
		if filepath.Dir(top) == top {
			return nil, fmt.Errorf("no testdata/quickstart in %s or above: run this in the source tree", dir)
		}
		top = filepath.Dir(top)
	}
}

// Responses reads all robots.txt. The caller owns them.
func (c *Corpus) Responses() ([]robots.Response, error) { return c.rules() }

// Each yields all robots.txt, read when that begins. The receiver owns them.
func (c *Corpus) Each() iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		all, err := c.rules()
		if err != nil {
			yield(robots.Response{}, err)
			return
		}
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// readArchive reads a .tar.zst of files <scheme>_<host>[_<port>].txt.
func readArchive(name string) ([]robots.Response, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	dec, err := zstd.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	defer dec.Close()
	var all []robots.Response
	for members := tar.NewReader(dec); ; {
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		r, err := readMember(h, members)
		if err != nil {
			return nil, fmt.Errorf("unpack %s from %s: %w", h.Name, name, err)
		}
		all = append(all, r)
	}
}

// readMember reads a robots.txt as package ingest reads it from a file: as much of it as counts.
func readMember(h *tar.Header, r io.Reader) (robots.Response, error) {
	origin, err := memberOrigin(h.Name)
	if err != nil {
		return robots.Response{}, err
	}
	body, err := io.ReadAll(io.LimitReader(r, ingest.MaxBody))
	return robots.Response{Origin: origin, Status: http.StatusOK, Name: h.Name, Body: body, Size: h.Size}, err
}

// memberOrigin returns the origin that a file's name tells.
func memberOrigin(name string) (robots.Origin, error) {
	scheme, host, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".txt"), "_")
	if i := strings.LastIndexByte(host, '_'); i >= 0 && strings.Trim(host[i+1:], "0123456789") == "" {
		host = host[:i] + ":" + host[i+1:]
	}
	return robots.ParseOrigin(scheme + "://" + host)
}

// Batches reads the whole log, in batches as a run reads it. The caller owns them.
func (l Log) Batches() ([]engine.Batch, error) {
	src, err := ingest.OpenLogs([]string{l.Path}, ingest.LogOptions{})
	if err != nil {
		return nil, err
	}
	var all []engine.Batch
	for {
		var b engine.Batch
		if !src.Next(&b) {
			break
		}
		all = append(all, b)
	}
	return all, errors.Join(src.Err(), src.Close())
}

// Header writes the line that says what benchmarks run on, behind the header of package measure. Benchstat does not compare results of different data.
func (c *Corpus) Header(w io.Writer) error {
	_, err := fmt.Fprintf(w, "corpus: %s\n", c.Name)
	return err
}
