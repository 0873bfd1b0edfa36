package weblog

import "bytes"

// A Joiner is a Parser that can report whether a rejected line consists of several records whose line ends were lost.
type Joiner interface {
	Joined(line []byte) bool
}

// Shapes that records begin with, or have once near their start. In a shape, 0 is a digit, A and a are letters of that
// case, _ is a space or tab, and any other byte is itself.
const (
	combinedTime = "[00/Aaa/0000:00:00:00"
	albMoment    = "0T00:00:00.0"
	w3cMoment    = "0000-00-00_00:00:00_"
	cdxjMoment   = " 00000000000000 {"
)

// hasShape reports whether text begins with a shape.
func hasShape(text []byte, shape string) bool {
	if len(text) < len(shape) {
		return false
	}
	for i, c := range text[:len(shape)] {
		var ok bool
		switch shape[i] {
		case '0':
			ok = isDigit(c)
		case 'A':
			ok = 'A' <= c && c <= 'Z'
		case 'a':
			ok = isLower(c)
		case '_':
			ok = c == ' ' || c == '\t'
		default:
			ok = c == shape[i]
		}
		if !ok {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// occursTwice reports whether a shape occurs twice in a line. It searches for the byte of the shape at mark.
func occursTwice(line []byte, shape string, at int) bool {
	found := 0
	for i := 0; i < len(line); i++ {
		next := bytes.IndexByte(line[i:], shape[at])
		if next < 0 {
			return false
		}
		if i += next; i >= at && hasShape(line[i-at:], shape) && (shape != albMoment || isBehindALB(line[i-at:])) {
			if found++; found == 2 {
				return true
			}
		}
	}
	return false
}

// Joined reports whether a line has two times.
func (l *lineLog) Joined(line []byte) bool { return l.joined != nil && l.joined(line) }

// isJoinedCombined reports whether a line has two times.
func isJoinedCombined(line []byte) bool { return occursTwice(line, combinedTime, 0) }

// isJoinedALB reports whether a line has two times that are followed by the kind of a load balancer.
func isJoinedALB(line []byte) bool { return occursTwice(line, albMoment, 1) }

// isBehindALB reports whether a time is followed by a fraction, Z, a space and the kind of a load balancer.
func isBehindALB(text []byte) bool {
	kind, ok := bytes.CutPrefix(bytes.TrimLeft(text[len(albMoment):], "0123456789"), []byte("Z "))
	slash := bytes.TrimLeft(kind, "abcdefghijklmnopqrstuvwxyz")
	return ok && len(slash) < len(kind) && bytes.HasPrefix(slash, []byte{'/'})
}

// Joined reports whether a line has two times.
func (w *w3c) Joined(line []byte) bool { return occursTwice(line, w3cMoment, len("0000-00-00_00")) }

// Joined reports whether a line has two objects: braces followed by a quote, at the start of the line or after another
// object.
func (j *jsonLog) Joined(line []byte) bool {
	const space = " \t\n\f\r"
	found := 0
	for i, c := range line {
		if c != '{' {
			continue
		}
		before := bytes.TrimRight(line[:i], space)
		if (len(before) == 0 || bytes.HasSuffix(before, []byte{'}'})) && bytes.HasPrefix(bytes.TrimLeft(line[i+1:], space), []byte{'"'}) {
			if found++; found == 2 {
				return true
			}
		}
	}
	return false
}

// Joined reports whether a line has two times before objects.
func (c cdxj) Joined(line []byte) bool { return occursTwice(line, cdxjMoment, len(cdxjMoment)-1) }

// Joined reports whether a line has the fields of several records with a URL in each, or of a record and a header
// row. The last field of one record then includes the first field of the next.
func (t *table) Joined(line []byte) bool {
	step := len(t.header) - 1
	if step < 1 || t.foreign || bytes.Count(line, []byte{t.sep}) <= step || t.split(line) != IsRow || len(t.values) <= len(t.header) || (len(t.values)-1)%step != 0 {
		return false
	}
	if t.isGlued() {
		return true
	}
	mark, first := []byte{'/'}, t.of[roleURL][0].at
	if isURL(trimBlank(t.values[first])) {
		mark = []byte("://")
	}
	for i := first; i < len(t.values); i += step {
		if i < len(t.values)-1 && !bytes.Contains(t.values[i], mark) {
			return false
		}
	}
	return true
}
