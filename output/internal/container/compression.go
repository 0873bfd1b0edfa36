package container

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/output/parquet"
)

// A Compression says how columns are packed.
type Compression uint8

// The compressions.
const (
	DefaultCompression Compression = iota // of the format: Zstd for Parquet, NoCompression for Arrow
	NoCompression
	Zstd
	Snappy          // Parquet only
	Gzip            // Parquet only
	LZ4             // Arrow only
	numCompressions = int(iota)
)

// compressionNames are the names of the compressions.
var compressionNames = [numCompressions]string{"default", "none", "zstd", "snappy", "gzip", "lz4"}

// The kinds of the errors about the demands of [Options] on a format.
var (
	ErrCompression = errors.New("no such compression")
	ErrLevel       = errors.New("no such level")
	ErrRowGroup    = errors.New("no row groups")
)

// String returns the name: "zstd".
func (c Compression) String() string { return compressionNames[c] }

// Compressions returns the names that ParseCompression takes.
func Compressions() []string { return compressionNames[NoCompression:] }

// ParseCompression returns the compression of that name, DefaultCompression for "". The error is
// ErrCompression.
func ParseCompression(name string) (Compression, error) {
	if name == "" {
		return DefaultCompression, nil
	}
	for c := NoCompression; int(c) < numCompressions; c++ {
		if c.String() == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("%w as %q: use one of %s", ErrCompression, name, strings.Join(Compressions(), ", "))
}

// CompressionsOf are the compressions of the formats that have any, the default first.
var CompressionsOf = map[Format][]Compression{
	Parquet:     {Zstd, NoCompression, Snappy, Gzip},
	ArrowFile:   {NoCompression, Zstd, LZ4},
	ArrowStream: {NoCompression, Zstd, LZ4},
}

// MaxLevels are the highest levels of the compressions that have levels, in Parquet.
var MaxLevels = [numCompressions]int{Zstd: 22, Gzip: 9}

// choose returns the compression to use for f, and the level, where it has any. The errors are
// ErrCompression and ErrLevel.
func (c Compression) choose(f Format, level int) (Compression, int, error) {
	known, ok := CompressionsOf[f]
	switch {
	case !ok && c != DefaultCompression:
		return 0, 0, fmt.Errorf("%w in %s: columns are compressed in .parquet, .arrow and .arrows", ErrCompression, f)
	case !ok && level != 0:
		return 0, 0, fmt.Errorf("%w in %s: levels are for .parquet", ErrLevel, f)
	case !ok:
		return NoCompression, 0, nil
	}
	if c = cmp.Or(c, known[0]); !slices.Contains(known, c) {
		var sb strings.Builder
		for i, c := range known {
			switch {
			case i > 0 && i == len(known)-1:
				sb.WriteString(" or ")
			case i > 0:
				sb.WriteString(", ")
			}
			sb.WriteString(c.String())
		}
		return 0, 0, fmt.Errorf("%w as %s in %s: use %s", ErrCompression, c, f, sb.String())
	}
	switch most := MaxLevels[c]; {
	case level == 0:
	case f != Parquet:
		return 0, 0, fmt.Errorf("%w in %s: levels are for .parquet", ErrLevel, f)
	case most == 0:
		return 0, 0, fmt.Errorf("%w as %d of %s, which has none: zstd has 1 to %d, gzip 1 to %d", ErrLevel, level, c, MaxLevels[Zstd], MaxLevels[Gzip])
	case level < 1 || level > most:
		return 0, 0, fmt.Errorf("%w as %d: those of %s are 1 to %d", ErrLevel, level, c, most)
	}
	if level == 0 {
		level = defaultLevels[c]
	}
	return c, level, nil
}

// defaultLevels are the levels that are taken where none is asked for.
var defaultLevels = [numCompressions]int{Zstd: 1, Gzip: 6}

// parquetCodecs are the compressions that Parquet has.
var parquetCodecs = [numCompressions]parquet.Codec{
	NoCompression: parquet.Uncompressed, Zstd: parquet.Zstd, Snappy: parquet.Snappy, Gzip: parquet.Gzip,
}
