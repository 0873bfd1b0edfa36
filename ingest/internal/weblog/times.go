package weblog

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// A Clock reads times. Rows of one second have one text, which it reads once.
type Clock struct {
	text  []byte
	micro int64
}

// Read is [ParseTime].
func (c *Clock) Read(text []byte) int64 {
	if len(text) > 0 && string(text) == string(c.text) {
		return c.micro
	}
	c.text = append(c.text[:0], text...)
	c.micro = ParseTime(text)
	return c.micro
}

// ParseTime returns the microseconds since 1970 of a moment: as in 2026-01-31T18:00:00Z, 2026-01-31
// 18:00:00.5, 31/Jan/2026:18:00:00 +0100, or 20260131180000, or a number of seconds, milliseconds,
// microseconds or nanoseconds, which is told by its size. Without a zone it is in UTC. It is NoTime
// if text names none.
func ParseTime(text []byte) int64 {
	switch {
	case len(text) >= 20 && text[2] == '/':
		return parseCLF(text)
	case len(text) >= 10 && text[4] == '-':
		return parseISO(text)
	case len(text) == 14 && (text[0] == '1' && text[1] == '9' || text[0] == '2' && text[1] == '0'):
		return parseDigits(text)
	}
	return parseEpoch(text)
}

// A moment is a point in time by its parts.
type moment struct{ year, month, day, hour, minute, second, micro, offset int }

// unix returns the moment in microseconds, NoTime if there is none such.
func (m moment) unix() int64 {
	t := time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute, m.second, 0, time.UTC)
	if m.month < 1 || m.month > 12 || t.Day() != m.day || m.hour > 23 || m.minute > 59 || m.second > 60 {
		return NoTime
	}
	return t.UnixMicro() + int64(m.micro) - int64(m.offset)*1e6
}

// number returns the number that all of b is, -1 if there are other bytes than digits.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// A part is a number within a text: text[from:up].
type part struct {
	to       *int
	from, up int
}

// numbers reads parts of b and reports whether all are numbers.
func numbers(b []byte, parts ...part) bool {
	for _, p := range parts {
		if *p.to = number(b[p.from:p.up]); *p.to < 0 {
			return false
		}
	}
	return true
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// parseCLF reads 31/Jan/2026:18:00:00 +0100.
func parseCLF(b []byte) int64 {
	var m moment
	i := strings.Index(months, string(b[3:6]))
	if i < 0 || i%3 != 0 || b[6] != '/' || b[11] != ':' || b[14] != ':' || b[17] != ':' {
		return NoTime
	}
	m.month = i/3 + 1
	if !numbers(b, part{&m.day, 0, 2}, part{&m.year, 7, 11}, part{&m.hour, 12, 14}, part{&m.minute, 15, 17}, part{&m.second, 18, 20}) {
		return NoTime
	}
	return m.end(b[20:])
}

// parseISO reads 2026-01-31, and what may follow: T or a space, 18:00:00.
func parseISO(b []byte) int64 {
	var m moment
	if b[7] != '-' || !numbers(b, part{&m.year, 0, 4}, part{&m.month, 5, 7}, part{&m.day, 8, 10}) {
		return NoTime
	}
	if len(b) == 10 {
		return m.unix()
	}
	if len(b) < 19 || b[10]|0x20 != 't' && b[10] != ' ' || b[13] != ':' || b[16] != ':' ||
		!numbers(b, part{&m.hour, 11, 13}, part{&m.minute, 14, 16}, part{&m.second, 17, 19}) {
		return NoTime
	}
	return m.end(b[19:])
}

// parseDigits reads 20260131180000.
func parseDigits(b []byte) int64 {
	var m moment
	if !numbers(b, part{&m.year, 0, 4}, part{&m.month, 4, 6}, part{&m.day, 6, 8},
		part{&m.hour, 8, 10}, part{&m.minute, 10, 12}, part{&m.second, 12, 14}) {
		return NoTime
	}
	return m.unix()
}

// end reads what follows the seconds: a fraction and a zone, both of which may be missing.
func (m *moment) end(b []byte) int64 {
	if len(b) > 0 && (b[0] == '.' || b[0] == ',') {
		n := 1
		for n < len(b) && '0' <= b[n] && b[n] <= '9' {
			n++
		}
		m.micro = micros(b[1:n])
		b = b[n:]
	}
	b = bytes.TrimPrefix(b, []byte{' '})
	switch {
	case len(b) == 0 || string(b) == "Z" || string(b) == "z" || string(b) == "UTC":
		return m.unix()
	case b[0] != '+' && b[0] != '-':
		return NoTime
	}
	var hours, minutes int
	switch len(b) {
	case 5:
		hours, minutes = number(b[1:3]), number(b[3:5])
	case 6:
		hours, minutes = number(b[1:3]), number(b[4:6])
	default:
		return NoTime
	}
	if hours < 0 || minutes < 0 || hours > 23 || minutes > 59 {
		return NoTime
	}
	m.offset = hours*3600 + minutes*60
	if b[0] == '-' {
		m.offset = -m.offset
	}
	return m.unix()
}

// micros returns the digits behind a decimal point as millionths; what follows the sixth is
// dropped.
func micros(digits []byte) int {
	n := 0
	for i := range 6 {
		n *= 10
		if i < len(digits) {
			n += int(digits[i] - '0')
		}
	}
	return n
}

// The least numbers that are taken for milliseconds, microseconds and nanoseconds: seconds would be
// later than the year 5138.
const (
	leastMillis = 1e11
	leastMicros = 1e14
	leastNanos  = 1e17
)

// parseEpoch reads a number of seconds, or of a smaller unit, since 1970.
func parseEpoch(b []byte) int64 {
	whole, fraction, _ := bytes.Cut(b, []byte{'.'})
	n := int64(number(whole))
	if len(whole) == 0 || len(whole) > 19 || n < 0 || len(bytes.Trim(fraction, "0123456789")) > 0 {
		return parseFloatEpoch(b)
	}
	switch {
	case n >= leastNanos:
		return n / 1000
	case n >= leastMicros:
		return n
	case n >= leastMillis:
		return n*1000 + int64(micros(fraction))/1000
	}
	return n*1e6 + int64(micros(fraction))
}

// parseFloatEpoch reads a number of seconds with an exponent.
func parseFloatEpoch(b []byte) int64 {
	if len(b) == 0 || len(b) > 30 || len(bytes.Trim(b, "0123456789.eE+")) > 0 { // whose error would allocate
		return NoTime
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f >= leastMillis {
		return NoTime
	}
	return int64(f * 1e6)
}
