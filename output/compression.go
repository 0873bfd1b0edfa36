package output

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
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

// The kinds of the errors about what [Options] ask of a format.
var (
	ErrCompression = errors.New("no such compression")
	ErrLevel       = errors.New("no such level")
	ErrRowGroup    = errors.New("no such row groups")
	ErrBloom       = errors.New("no Bloom filter")
)

// CheckContainer returns what is wrong with what the options ask of their format, joined: of the kinds ErrCompression, ErrLevel,
// ErrRowGroup, ErrBloom and ErrPartition. Columns that cannot be, of these agents in the wide layout, are left to [New].
func (o Options) CheckContainer(agents []string) error {
	_, _, errCompression := o.Compression.settle(o.Format, o.Level)
	var errGroup error
	if o.RowGroup < 0 {
		errGroup = fmt.Errorf("%w as of %d rows: use 1 or more, or 0 for the usual ones", ErrRowGroup, o.RowGroup)
	} else if o.RowGroup > 0 && o.Format != Parquet {
		errGroup = fmt.Errorf("%w in %s: they are for .parquet", ErrRowGroup, o.Format)
	}
	_, l, err := o.layouts(agents)
	if errors.Is(err, ErrPartition) {
		return errors.Join(errCompression, errGroup, err)
	}
	if err != nil {
		return errors.Join(errCompression, errGroup)
	}
	_, errBloom := bloomed(l.fields(), o.Format, o.Bloom)
	return errors.Join(errCompression, errGroup, errBloom)
}

// String returns the name: "zstd".
func (c Compression) String() string { return compressionNames[c] }

// Compressions returns the names that ParseCompression takes.
func Compressions() []string { return compressionNames[NoCompression:] }

// ParseCompression returns the compression of that name, DefaultCompression for "". The error is ErrCompression.
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

// compressionsOf are the compressions of the formats that have any, the default first.
var compressionsOf = map[Format][]Compression{
	Parquet:     {Zstd, NoCompression, Snappy, Gzip},
	ArrowFile:   {NoCompression, Zstd, LZ4},
	ArrowStream: {NoCompression, Zstd, LZ4},
}

// maxLevels are the highest levels of the compressions that have levels, in Parquet.
var maxLevels = [numCompressions]int{Zstd: 22, Gzip: 9}

// settle returns the compression to use for f, and the level, where it has any. The errors are ErrCompression and ErrLevel.
func (c Compression) settle(f Format, level int) (Compression, int, error) {
	known, ok := compressionsOf[f]
	switch {
	case !ok && c != DefaultCompression:
		return 0, 0, fmt.Errorf("%w in %s: columns are compressed in .parquet, .arrow and .arrows", ErrCompression, f)
	case !ok && level != 0:
		return 0, 0, fmt.Errorf("%w in %s: levels are for .parquet", ErrLevel, f)
	case !ok:
		return NoCompression, 0, nil
	}
	if c = cmp.Or(c, known[0]); !slices.Contains(known, c) {
		return 0, 0, fmt.Errorf("%w as %s in %s: use %s", ErrCompression, c, f, orList(known))
	}
	switch most := maxLevels[c]; {
	case level == 0:
	case f != Parquet:
		return 0, 0, fmt.Errorf("%w in %s: levels are for .parquet", ErrLevel, f)
	case most == 0:
		return 0, 0, fmt.Errorf("%w as %d of %s, which has none: zstd has 1 to %d, gzip 1 to %d", ErrLevel, level, c, maxLevels[Zstd], maxLevels[Gzip])
	case level < 1 || level > most:
		return 0, 0, fmt.Errorf("%w as %d: those of %s are 1 to %d", ErrLevel, level, c, most)
	}
	if level == 0 {
		level = defaultLevels[c]
	}
	return c, level, nil
}

// orList returns the names for a message: "none, zstd or lz4".
func orList(all []Compression) string {
	var sb strings.Builder
	for i, c := range all {
		switch {
		case i > 0 && i == len(all)-1:
			sb.WriteString(" or ")
		case i > 0:
			sb.WriteString(", ")
		}
		sb.WriteString(c.String())
	}
	return sb.String()
}

// defaultLevels are the levels that are taken where none is asked for.
var defaultLevels = [numCompressions]int{Zstd: 1, Gzip: 6}

// parquetCodecs are the compressions as Parquet names them.
var parquetCodecs = [numCompressions]compress.Compression{
	NoCompression: compress.Codecs.Uncompressed, Zstd: compress.Codecs.Zstd, Snappy: compress.Codecs.Snappy, Gzip: compress.Codecs.Gzip,
}

// A packer compresses pages, one after the other. What it makes of a page depends on nothing else.
type packer interface {
	// pack appends the compressed src to dst.
	pack(dst, src []byte) []byte
}

// newPacker returns a packer for a compression of Parquet at a level that it has.
func newPacker(c Compression, level int) packer {
	switch c {
	case Zstd:
		return zstdPacker{newEncoder(zstd.EncoderLevelFromZstd(level))}
	case Snappy:
		return snappyPacker{}
	case Gzip:
		w, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			panic(err) // the level was checked
		}
		return &gzipPacker{w: w}
	default:
		return noPacker{}
	}
}

type noPacker struct{}

func (noPacker) pack(dst, src []byte) []byte { return append(dst, src...) }

type zstdPacker struct{ enc *zstd.Encoder }

func (p zstdPacker) pack(dst, src []byte) []byte { return p.enc.EncodeAll(src, dst) }

type snappyPacker struct{}

// pack expects an empty dst.
func (snappyPacker) pack(dst, src []byte) []byte { return s2.EncodeSnappy(dst[:cap(dst)], src) }

type gzipPacker struct{ w *gzip.Writer }

func (p *gzipPacker) pack(dst, src []byte) []byte {
	buf := bytes.NewBuffer(dst)
	p.w.Reset(buf)
	if _, err := p.w.Write(src); err != nil {
		panic(err) // memory takes all
	}
	if err := p.w.Close(); err != nil {
		panic(err) // memory takes all
	}
	return buf.Bytes()
}
