package capture

import "bytes"

// resync moves from a broken record to the next one, and reports whether there is one.
//
// If records share segments, the next record begins with a line like "WARC/1.0"; or a line ends
// with that, as the broken record may be cut off. If each record so far had a segment of its own,
// only the start of a segment counts, so that no body can pass for a record.
func (r *records) resync() bool {
	aligned := r.alone()
	r.src.StopAtSegments(true)
	defer r.src.StopAtSegments(false)
	if !r.src.Rewind(r.start) {
		return false
	}
	for {
		if !aligned && r.scan() {
			return true
		}
		if !r.src.NextSegment() {
			return false
		}
		if head, _ := r.src.Text.Peek(len(warcMagic)); bytes.Equal(head, warcMagic) {
			return true
		}
	}
}

// scan moves to the next text in this segment that looks like the first line of a record, behind
// the current position, and reports whether there is one.
func (r *records) scan() bool {
	const first = "WARC/1.0\r\n"
	for skip := 1; ; {
		r.src.Text.Peek(skip + len(first)) //nolint:errcheck // what there is counts
		b, _ := r.src.Text.Peek(r.src.Text.Buffered())
		if len(b) < skip+len(first) {
			return false
		}
		i := bytes.Index(b[skip:], warcMagic)
		switch {
		case i < 0:
			i = len(b) - skip - len(warcMagic) + 1
		case isFirstLine(b[skip+i:]):
			r.src.Text.Discard(skip + i) //nolint:errcheck // it is buffered
			return true
		case len(b)-skip-i >= len(first):
			i++
		}
		r.src.Text.Discard(skip + i) //nolint:errcheck // it is buffered
		skip = 0
	}
}

// isFirstLine reports whether b starts with a line like "WARC/1.0", apart from the text before the
// number.
func isFirstLine(b []byte) bool {
	n := len(warcMagic)
	return len(b) >= n+3 && '0' <= b[n] && b[n] <= '9' && b[n+1] == '\r' && b[n+2] == '\n'
}
