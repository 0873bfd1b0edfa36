package say

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Errors of [Lines].
var (
	ErrLongLine = errors.New("longer than 1,048,576 bytes: one line each is read, so give it lines")
	ErrUTF16    = errors.New("the text is UTF-16, and UTF-8 is read: save it as that, or send it through iconv -f UTF-16 -t UTF-8")
)

// maxLine is the longest line that is read.
const maxLine = 1 << 20

// Lines are the lines of a text that people write, which end with LF, CR or both. Use it like a
// [bufio.Scanner].
type Lines struct {
	*bufio.Scanner
}

// NewLines returns the lines of a text in UTF-8. A line over 1 MiB is the error [ErrLongLine], and UTF-16 is
// [ErrUTF16].
func NewLines(r io.Reader) Lines {
	lines := Lines{bufio.NewScanner(r)}
	lines.Buffer(nil, maxLine)
	begun := false
	lines.Split(func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		if !begun && isUTF16(data) {
			return 0, nil, ErrUTF16
		}
		advance, line = splitLine(data, atEOF)
		begun = begun || advance > 0
		return advance, line, nil
	})
	return lines
}

// Err returns the error that ended the lines; nil at their end.
func (l Lines) Err() error {
	if err := l.Scanner.Err(); !errors.Is(err, bufio.ErrTooLong) {
		return err
	}
	return ErrLongLine
}

// isUTF16 reports whether a text begins as one in UTF-16.
func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.IndexByte(text[:min(len(text), 2)], 0) >= 0
}

// splitLine splits off a line.
func splitLine(data []byte, atEOF bool) (advance int, line []byte) {
	end := bytes.IndexAny(data, "\r\n")
	switch {
	case len(data) == 0:
		return 0, nil
	case end < 0 && !atEOF:
		return 0, nil
	case end < 0:
		return len(data), data
	case data[end] == '\n':
		return end + 1, data[:end]
	case end+1 == len(data) && !atEOF: // a LF may follow
		return 0, nil
	case bytes.HasPrefix(data[end+1:], []byte("\n")):
		return end + 2, data[:end]
	}
	return end + 1, data[:end]
}
