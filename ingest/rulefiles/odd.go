package rulefiles

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/robots"
)

// Faults in the content of a single robots.txt. They come inside a [*NameError].
var (
	ErrNoText  = errors.New("is no robots.txt as it stands")
	errIsWARC  = errors.New("is a WARC file, and its name does not say so")
	errPackage = map[robots.Oddity]struct{ is, remedy string }{
		robots.OddUTF16:   {"it is UTF-16", "save it as UTF-8, as in: iconv -f UTF-16 -t UTF-8 < %s > plain.txt"},
		robots.OddUTF16LE: {"it looks like UTF-16", "save it as UTF-8, as in: iconv -f UTF-16LE -t UTF-8 < %s > plain.txt"},
		robots.OddUTF16BE: {"it looks like UTF-16", "save it as UTF-8, as in: iconv -f UTF-16BE -t UTF-8 < %s > plain.txt"},
		robots.OddUTF32:   {"it is UTF-32", "save it as UTF-8, as in: iconv -f UTF-32 -t UTF-8 < %s > plain.txt"},
		robots.OddNUL:     {"it has NUL bytes", "name a text; to leave them out: tr -d '\\000' < %s > plain.txt"},
		robots.OddGzip:    {"it is packed with gzip", "unpack it first, as in: gzip -dc < %s > plain.txt"},
		robots.OddZstd:    {"it is packed with zstd", "unpack it first, as in: zstd -dc < %s > plain.txt"},
		robots.OddXZ:      {"it is packed with xz", "unpack it first, as in: xz -dc < %s > plain.txt"},
		robots.OddBzip2:   {"it is packed with bzip2", "unpack it first, as in: bzip2 -dc < %s > plain.txt"},
		robots.OddZip:     {"it is packed with zip", "unpack it first, as in: unzip -p %s > plain.txt"},
		robots.OddParquet: {"it is a Parquet file", `name a text; if its rows are captures, write them as such: duckdb -c "COPY (FROM '%s') TO 'captures.jsonl'"`},
	}
)

// checkText returns the oddities in the content of a single robots.txt, or the [*NameError] that it
// is no text. UTF-16 is one where wide says so.
func checkText(name string, body []byte, wide bool) (robots.Oddity, error) {
	if unpack.Detect(body[:min(len(body), unpack.HeadLen)]).Content == unpack.WARC {
		return robots.NotOdd, &NameError{Name: name, Err: errIsWARC, Remedy: "rename it to end in .warc"}
	}
	odd := robots.OddityOf(body, nil)
	if !odd.Binary() || wide && odd <= robots.OddUTF16BE {
		return odd, nil
	}
	text := errPackage[odd]
	return odd, &NameError{Name: name, Err: fmt.Errorf("%w: %s", ErrNoText, text.is), Remedy: fmt.Sprintf(text.remedy, shellName(name))}
}

// shellName returns a name as a shell takes it: "file" where that takes more than quotes.
func shellName(name string) string {
	bare := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/@%+=:,-", r)
	}
	other := strings.TrimFunc(name, bare)
	switch {
	case strings.HasPrefix(name, "-"), strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\'' || r == '"' || r >= 0x7f }):
		return "file"
	case other != "":
		return "'" + name + "'"
	}
	return name
}
