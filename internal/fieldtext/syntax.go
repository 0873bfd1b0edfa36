// Package fieldtext formats values as fields of CSV and JSON Lines, which differ in their [Syntax], compresses pieces
// of such text, and makes texts valid UTF-8. It escapes bytes and formats times. It does not depend on columns or
// files. Packages output, listfile and rejects import it.
package fieldtext

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A Syntax is a format of lines of text. Its functions append to dst.
type Syntax struct {
	Header bool                                               // the first line has the names of the columns
	Lead   func(dst []byte, column int, name string) []byte   // appends the text before the value of a column
	Text   func(dst, text []byte) []byte                      // appends a text, which must be valid UTF-8
	Float  func(dst []byte, f float64) []byte                 // appends a number
	Time   func(c *Calendar, dst []byte, micros int64) []byte // appends a time, in microseconds since 1970
	Null   string                                             // text for null
	End    string                                             // end of a row
}

// CSV is CSV after RFC 4180, except for its line ends, which are LF.
var CSV = Separated(',', false)

// TSV is the same with tabs instead of commas.
var TSV = Separated('\t', false)

// Separated returns the syntax of CSV with another ASCII separator, which must not be a quotation mark. If safe is set,
// texts that are formulas (see [IsFormula]) are quoted and begin with an apostrophe.
func Separated(separator byte, safe bool) Syntax {
	s := Syntax{
		Header: true,
		Lead: func(dst []byte, column int, _ string) []byte {
			if column == 0 {
				return dst
			}
			return append(dst, separator)
		},
		Text:  func(dst, text []byte) []byte { return appendCSV(dst, text, separator) },
		Float: appendFloat,
		Time:  (*Calendar).appendTime,
		End:   "\n",
	}
	if safe {
		s.Text = func(dst, text []byte) []byte {
			if !IsFormula(text) {
				return appendCSV(dst, text, separator)
			}
			return appendQuoted(append(dst, '"', '\''), text)
		}
	}
	return s
}

// IsFormula reports whether a spreadsheet may run a text as a formula: it begins with =, +, -, @, a tab or a carriage
// return, and has more bytes. A single - is not a formula: it names standard input, and in logs means that there is no
// value.
func IsFormula(text []byte) bool { return len(text) > 1 && formulaStarts[text[0]] }

var formulaStarts = [256]bool{'=': true, '+': true, '-': true, '@': true, '\t': true, '\r': true}

// JSON is JSON Lines: RFC 8259, one object per line.
var JSON = Syntax{
	Lead: func(dst []byte, column int, name string) []byte {
		open := byte(',')
		if column == 0 {
			open = '{'
		}
		return append(appendJSON(append(dst, open), []byte(name)), ':')
	},
	Text:  appendJSON,
	Float: appendJSONFloat,
	Time: func(c *Calendar, dst []byte, micros int64) []byte {
		return append(c.appendTime(append(dst, '"'), micros), '"')
	},
	Null: "null",
	End:  "}\n",
}

// A Packing is a compression of lines of text.
type Packing uint8

// The packings.
const (
	NotPacked Packing = iota
	Zstd              // level 1, with checksums
	Gzip              // level 1
)

// A Packer compresses pieces of text, each to a separate zstd frame or gzip member. Readers treat consecutive pieces as
// one text, and can decompress them in parallel. It reuses its memory.
type Packer struct {
	zstd *zstd.Encoder
	gzip *gzip.Writer
	text bytes.Buffer // for gzip
	out  []byte       // for zstd
}

// NewPacker returns a Packer for one goroutine. With NotPacked, it returns pieces unchanged.
func NewPacker(p Packing) *Packer {
	switch p {
	case Zstd:
		return &Packer{zstd: must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true)))}
	case Gzip:
		return &Packer{gzip: must(gzip.NewWriterLevel(nil, gzip.BestSpeed))}
	case NotPacked:
	}
	return &Packer{}
}

// must returns made. The error is nil, because the options are constant.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// Pack returns the compressed piece, or the piece itself without compression. The result is valid until the next call.
func (p *Packer) Pack(piece []byte) ([]byte, error) {
	switch {
	case p.zstd != nil:
		p.out = p.zstd.EncodeAll(piece, p.out[:0])
		return p.out, nil
	case p.gzip != nil:
		p.text.Reset()
		p.gzip.Reset(&p.text)
		if _, err := p.gzip.Write(piece); err != nil {
			return nil, err
		}
		err := p.gzip.Close()
		return p.text.Bytes(), err
	}
	return piece, nil
}

// appendFloat appends a number with the fewest digits that identify it, and with an exponent below 1e-6 and from 1e21
// on. Other values are nan, inf or -inf, as databases read them.
func appendFloat(dst []byte, f float64) []byte {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case abs != 0 && (abs < 1e-6 || abs >= 1e21):
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// appendJSONFloat is appendFloat for JSON, in which NaN and infinities are null.
func appendJSONFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return appendFloat(dst, f)
}

const microsPerDay = 24 * 60 * 60 * 1e6

// A Calendar formats times as ISO 8601 in UTC, with microseconds. It caches the last date. The zero value is ready to
// use.
type Calendar struct {
	day  int64 // since 1970
	date []byte
}

// appendTime appends a time, in microseconds since 1970, as in 2026-01-31T18:00:00.000000Z. Years after 9999 or before
// 0 have a sign.
func (c *Calendar) appendTime(dst []byte, micros int64) []byte {
	day, rest := micros/microsPerDay, micros%microsPerDay
	if rest < 0 {
		day, rest = day-1, rest+microsPerDay
	}
	if len(c.date) == 0 || day != c.day {
		c.setDay(day)
	}
	seconds, fraction := int(rest/1e6), int(rest%1e6)
	dst = append(dst, c.date...)
	dst = append(appendDigits(dst, seconds/3600, 2), ':')
	dst = append(appendDigits(dst, seconds/60%60, 2), ':')
	dst = append(appendDigits(dst, seconds%60, 2), '.')
	return append(appendDigits(dst, fraction, 6), 'Z')
}

// setDay sets day, in days since 1970, and date: its date with a final T.
func (c *Calendar) setDay(day int64) {
	year, month, dom := time.Unix(day*24*60*60, 0).UTC().Date()
	c.day, c.date = day, c.date[:0]
	if year < 0 {
		c.date, year = append(c.date, '-'), -year
	} else if year > 9999 {
		c.date = append(c.date, '+')
	}
	if year > 9999 {
		c.date = strconv.AppendInt(c.date, int64(year), 10)
	} else {
		c.date = appendDigits(c.date, year, 4)
	}
	c.date = appendDigits(append(c.date, '-'), int(month), 2)
	c.date = append(appendDigits(append(c.date, '-'), dom, 2), 'T')
}

// appendDigits appends a non-negative number with leading zeros, as that many digits. The number must not have more.
func appendDigits(dst []byte, n, digits int) []byte {
	for range digits {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; n > 0; n, i = n/10, i-1 {
		dst[i] = byte('0' + n%10)
	}
	return dst
}
