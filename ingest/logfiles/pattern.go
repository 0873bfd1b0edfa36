package logfiles

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/internal/storage"
)

// IsPattern reports whether a name that no file has may be a pattern.
func IsPattern(name string) bool { return strings.ContainsAny(name, `*?[`) }

// Match returns the names of the files that a pattern matches, sorted. Directories do not count.
// The error is a [*NameError].
func Match(pattern string) ([]string, error) {
	files, err := matches(pattern)
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].Name
	}
	return names, err
}

// matches is Match for files with their sizes.
func matches(pattern string) ([]File, error) {
	base, parts := splitPattern(pattern)
	for _, part := range parts {
		if _, err := filepath.Match(part, ""); err != nil {
			return nil, &NameError{Name: pattern, Err: err, Remedy: `quote the pattern's special characters with \`}
		}
	}
	var found []File
	var err error
	if slices.Contains(parts, "**") || storage.IsRemote(pattern) {
		found, err = walk(base, parts)
	} else {
		found, err = glob(pattern)
	}
	if err != nil {
		return nil, fault.OfFile(pattern, err, "give permission to read all directories in it")
	}
	if scheme := storage.Foreign(pattern); scheme != "" && len(found) == 0 {
		return nil, &NameError{Name: pattern, Err: &storage.ForeignError{Scheme: scheme}}
	}
	if len(found) == 0 {
		return nil, &NameError{Name: pattern, Err: ErrNoMatch, Remedy: "check the directory and the pattern; directories do not count"}
	}
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// splitPattern returns the directory before the first part with a wildcard, with a slash at its end
// if there is one, and the parts from there on.
func splitPattern(pattern string) (base string, parts []string) {
	first := strings.IndexAny(pattern, `*?[`)
	base = pattern[:1+strings.LastIndexFunc(pattern[:first], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })]
	return base, strings.FieldsFunc(pattern[len(base):], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// glob finds the files that a pattern without ** matches.
func glob(pattern string) ([]File, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	found := make([]File, 0, len(names))
	for _, name := range names {
		info, err := storage.Of(name).Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a link to nothing
			found = append(found, File{Name: name, Size: -1})
		case err != nil:
			return nil, err
		case !info.Dir:
			found = append(found, File{Name: name, Size: info.Size, Tag: info.Tag, id: info.ID})
		}
	}
	return found, nil
}

// walk finds the files that a pattern with ** matches below its directory.
func walk(base string, parts []string) (found []File, err error) {
	dir := cmp.Or(base, ".")
	err = storage.Of(dir).Walk(dir, func(name string, info storage.Info) error {
		rest := storage.Rel(dir, name)
		if !info.Dir && matchParts(parts, strings.Split(rest, "/")) {
			found = append(found, File{Name: base + rest, Size: info.Size, Tag: info.Tag, id: info.ID})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no file matches
	}
	return found, err
}

// matchParts reports whether the parts of a path match a pattern's. It remembers the last **
// only, as the parts before that need not change: so it is linear in the product of their numbers.
func matchParts(pattern, path []string) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(path) {
		if p < len(pattern) && pattern[p] == "**" {
			star, from = p, n
			p++
			continue
		}
		if p < len(pattern) {
			if ok, _ := filepath.Match(pattern[p], path[n]); ok {
				p, n = p+1, n+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		p, n = star+1, from
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

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
