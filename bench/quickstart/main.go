// Command quickstart writes testdata/quickstart: the real robots.txt files and the real log of URLs that the first
// command of the README reads.
//
//	go run -C bench ./quickstart [-out folder] <collection>
//
// The collection is a directory with these files:
//
//	index.tsv                         one row a robots.txt: where it comes from, its licence, its SHA-1
//	rules.tar.zst                     the files themselves
//	urls_real_hostgrouped.urls.zst    real URLs of federal hosts, grouped by host
//	synth_300k.urls.zst               URLs made from the files' own patterns and from real paths
//	LICENSES                          the licences of the four
//
// The result depends only on the collection. The robots.txt files are copied unchanged.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/robobatch/robobatch/bench/internal/corpus"
)

func main() {
	out := flag.String("out", filepath.Join("..", "testdata", "quickstart"), "folder to write to")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run -C bench ./quickstart [-out folder] <collection>")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	files, urls, err := build(flag.Arg(0), *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(2)
	}
	fmt.Printf("%s: %d robots.txt, %d URLs\n", *out, files, urls)
}

// The logs of the collection that are sampled.
const (
	realLog = 0
	madeLog = 2
)

// build writes the directory out from a collection, and returns the numbers of robots.txt files and URLs. It replaces
// the files of an earlier run, but keeps README.md.
func build(collection, out string) (files, urls int, err error) {
	all, err := readIndex(filepath.Join(collection, "index.tsv"))
	c := corpus.Collection(collection)
	crawled, errReal := c.Logs[realLog].URLs()
	made, errMade := c.Logs[madeLog].URLs()
	if err := errors.Join(err, errReal, errMade); err != nil {
		return 0, 0, fmt.Errorf("read the collection: %w", err)
	}
	chosen, err := selectSources(all, crawled)
	if err != nil {
		return 0, 0, fmt.Errorf("select robots.txt: %w", err)
	}
	if err := writeRules(c, out, chosen); err != nil {
		return 0, 0, fmt.Errorf("copy robots.txt: %w", err)
	}
	lines := append(sampleReal(crawled, chosen), sampleMade(made, chosen)...)
	return len(chosen), len(lines), errors.Join(
		copyLicences(filepath.Join(collection, "LICENSES"), filepath.Join(out, "LICENSES")),
		writeLines(filepath.Join(out, "urls.zst"), lines))
}
