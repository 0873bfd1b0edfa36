package fieldtext

import (
	"math"
	"strconv"
	"time"
)

// appendFloat appends a number with as few digits as tell it from all others, and with an exponent
// below 1e-6 and from 1e21 on; or nan, inf or -inf, as databases read them.
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

// appendJSONFloat is appendFloat for JSON, which has no such numbers as NaN and the infinities:
// they are null.
func appendJSONFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return appendFloat(dst, f)
}

const microsPerDay = 24 * 60 * 60 * 1e6

// A Calendar writes moments as ISO 8601 in UTC, with microseconds. It remembers the last day, as
// most of a log is of few. The zero value is ready.
type Calendar struct {
	day  int64 // since 1970
	date []byte
}

// append appends a moment in microseconds since 1970: 2026-01-31T18:00:00.000000Z. A year of more
// than four digits, or before 0, has a sign.
func (c *Calendar) append(dst []byte, micros int64) []byte {
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

// setDay remembers the date of a day.
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

// appendJSONTime appends a moment as a string of JSON.
func appendJSONTime(c *Calendar, dst []byte, micros int64) []byte {
	return append(c.append(append(dst, '"'), micros), '"')
}

// appendDigits appends n, which is not negative and has no more digits than that, with leading
// zeros.
func appendDigits(dst []byte, n, digits int) []byte {
	for range digits {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; n > 0; n, i = n/10, i-1 {
		dst[i] = byte('0' + n%10)
	}
	return dst
}
