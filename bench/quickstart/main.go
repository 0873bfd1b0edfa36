// Command quickstart makes testdata/quickstart, the real robots.txt files and the real log of URLs
// that the README's first command runs on.
//
//	go run -C bench ./quickstart [-out folder] <collection>
//
// The collection is a folder with
//
//	index.tsv                         one row a robots.txt: where it comes from, its licence, its SHA-1
//	rules.tar.zst                     the files themselves
//	urls_real_hostgrouped.urls.zst    real URLs of federal hosts, grouped by host
//	synth_300k.urls.zst               URLs made from the files' own patterns and from real paths
//	LICENSES                          the licences of the four
//
// Nothing in it is random: the same collection gives the same selection. The robots.txt are copied
// byte for byte.
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

// build makes the folder out from a collection and returns how many robots.txt and URLs it has.
// Files of an earlier run in out are replaced; its README.md is kept.
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
