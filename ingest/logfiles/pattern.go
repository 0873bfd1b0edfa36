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

// IsPattern reports whether a name has wildcards. A file with exactly that name may also exist.
func IsPattern(name string) bool { return strings.ContainsAny(name, `*?[`) }

// Match returns the sorted names of the files that match a pattern, without directories. The error is a [*NameError].
func Match(pattern string) ([]string, error) {
	files, err := matchFiles(pattern)
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].Name
	}
	return names, err
}

// matchFiles is like Match, but returns files with names, sizes, tags and IDs. A broken link matches, with size -1.
func matchFiles(pattern string) ([]File, error) {
	base, parts := splitPattern(pattern)
	for _, part := range parts {
		if _, err := filepath.Match(part, ""); err != nil {
			return nil, &NameError{Name: pattern, Err: err, Remedy: `quote the pattern's special characters with \`}
		}
	}
	var found []File
	var err error
	if slices.Contains(parts, "**") || storage.IsRemote(pattern) {
		dir := cmp.Or(base, ".")
		err = storage.Of(dir).Walk(dir, func(name string, info storage.Info) error {
			rest := storage.Rel(dir, name)
			if !info.Dir && matchParts(parts, strings.Split(rest, "/")) {
				found = append(found, File{Name: base + rest, Size: info.Size, Tag: info.Tag, id: info.ID})
			}
			return nil
		})
		if errors.Is(err, fs.ErrNotExist) {
			found, err = nil, nil // no file matches
		}
	} else {
		var names []string
		names, err = filepath.Glob(pattern)
		for _, name := range names {
			info, errStat := storage.Of(name).Stat(name)
			switch {
			case errors.Is(errStat, fs.ErrNotExist): // a broken link
				found = append(found, File{Name: name, Size: -1})
			case errStat != nil:
				err = cmp.Or(err, errStat)
			case !info.Dir:
				found = append(found, File{Name: name, Size: info.Size, Tag: info.Tag, id: info.ID})
			}
		}
	}
	if err != nil {
		return nil, fault.OfFile(pattern, err, "give permission to read all directories in it")
	}
	if scheme := storage.Foreign(pattern); scheme != "" && len(found) == 0 {
		return nil, &NameError{Name: pattern, Err: &storage.ForeignError{Scheme: scheme}}
	}
	if len(found) == 0 {
		return nil, &NameError{Name: pattern, Err: ErrNoMatch, Remedy: "check the directory and the pattern; directories are ignored"}
	}
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// splitPattern returns the directory before the first part with a wildcard, with a slash at its end or "", and the
// parts after it.
func splitPattern(pattern string) (base string, parts []string) {
	first := strings.IndexAny(pattern, `*?[`)
	base = pattern[:1+strings.LastIndexFunc(pattern[:first], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })]
	return base, strings.FieldsFunc(pattern[len(base):], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// matchParts reports whether the parts of a path match those of a pattern. It backtracks only to the last **, because
// the parts before it need not change. The time is proportional to the product of the numbers of parts.
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

// Extensions of packed files, and of logs.
var (
	packings = []string{".zst", ".zstd", ".gz", ".gzip", ".xz", ".bz2", ".zip"}
	kinds    = []string{".urls", ".url", ".txt", ".log", ".list", ".lst", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".cdxj", ".warc"}
)

// Stem returns the last part of a name without the extensions of logs.
//
//	logs/urls.zst      urls
//	a.urls.txt.gz      a
//	access.log.1.gz    access.log.1
func Stem(name string) string { return cutEnds(cutEnds(filepath.Base(name), packings), kinds) }

// Unpacked returns a name without the extensions of packed files.
func Unpacked(name string) string { return cutEnds(name, packings) }

// CutEnd removes all of these extensions from the end of a name, ignoring case. The rest is not empty.
func CutEnd(name string, ends ...string) string { return cutEnds(name, ends) }

// cutEnds is like CutEnd.
func cutEnds(name string, ends []string) string {
	for {
		ext := filepath.Ext(name)
		if len(ext) == len(name) || !slices.Contains(ends, strings.ToLower(ext)) {
			return name
		}
		name = strings.TrimSuffix(name, ext)
	}
}

// IsLog reports whether a file is named like a log: with the extension of a log, which numbers may follow as in rotated
// logs, of a packed file, or of Parquet.
func IsLog(name string) bool {
	name = strings.ToLower(filepath.Base(name))
	unpacked := cutEnds(name, packings)
	if unpacked != name || filepath.Ext(name) == ".parquet" {
		return true
	}
	rotated := strings.TrimRight(name, "0123456789.-_:")
	return isKind(name) || rotated != name && isKind(rotated)
}

// isKind reports whether a name ends like that of a log that is neither packed nor rotated.
func isKind(name string) bool {
	return slices.Contains(kinds, filepath.Ext(name)) && len(name) > len(filepath.Ext(name)) || strings.HasSuffix(name, "_log")
}
