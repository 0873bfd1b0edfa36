package logfiles

import (
	"path/filepath"
	"slices"
	"strings"
)

// The ends of the names of logs: ends for packing, and ends that say that it is a log.
var (
	packings = []string{".zst", ".zstd", ".gz", ".gzip", ".xz", ".bz2", ".zip"}
	kinds    = []string{".urls", ".url", ".txt", ".log", ".list", ".lst", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".cdxj", ".warc"}
)

// Stem returns the last part of a name without the ends of names of logs.
//
//	logs/urls.zst      urls
//	a.urls.txt.gz      a
//	access.log.1.gz    access.log.1
func Stem(name string) string { return cutEnds(cutEnds(filepath.Base(name), packings), kinds) }

// Unpacked returns a name without the ends of packing.
func Unpacked(name string) string { return cutEnds(name, packings) }

// CutEnd returns a name without ends of these, in any case and number. It leaves something.
func CutEnd(name string, ends ...string) string { return cutEnds(name, ends) }

// cutEnds cuts the ends off a name, in any case, as often as one is there.
func cutEnds(name string, ends []string) string {
	for {
		ext := filepath.Ext(name)
		if len(ext) == len(name) || !slices.Contains(ends, strings.ToLower(ext)) {
			return name
		}
		name = strings.TrimSuffix(name, ext)
	}
}

// IsLog reports whether a name is a log's: whether it ends as names of logs do, has numbers
// behind that as logs that were rotated do, or is packed. Files of Parquet count too.
func IsLog(name string) bool {
	name = strings.ToLower(filepath.Base(name))
	unpacked := cutEnds(name, packings)
	if unpacked != name || filepath.Ext(name) == ".parquet" {
		return true
	}
	rotated := strings.TrimRight(name, "0123456789.-_:")
	return isKind(name) || rotated != name && isKind(rotated)
}

// isKind reports whether a name ends as an unpacked log's does.
func isKind(name string) bool {
	return slices.Contains(kinds, filepath.Ext(name)) && len(name) > len(filepath.Ext(name)) || strings.HasSuffix(name, "_log")
}
