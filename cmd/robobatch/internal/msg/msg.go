// Package msg formats numbers and names for messages. Only cmd/robobatch and its packages import it.
package msg

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/robobatch/robobatch/internal/fieldtext"
)

// Std stands for standard input or standard output in file names.
const Std = "-"

// File formats a file name for messages. It is quoted if it has invisible bytes or bytes that control a terminal, or
// white space at its ends. "-" is "standard output".
func File(name string) string {
	if name == Std {
		return "standard output"
	}
	quoted := strconv.Quote(name)
	if filepath.Separator == '\\' { // the usual path separator there
		quoted = strings.ReplaceAll(quoted, `\\`, `\`)
	}
	if quoted != `"`+name+`"` || strings.TrimSpace(name) != name {
		return quoted
	}
	return name
}

// Input is File for an input: "-" is "standard input".
func Input(name string) string {
	if name == Std {
		return "standard input"
	}
	return File(name)
}

// Number formats n with thousands separators.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count returns "1 row" or "2 rows". noun is the singular, and gets an s.
func Count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}

// Were returns "1 row was" or "2 rows were".
func Were(n int64, noun string) string {
	if n == 1 {
		return Count(n, noun) + " was"
	}
	return Count(n, noun) + " were"
}

// Percent returns n as a percentage of all, such as " 12.3 %", at least seven columns wide; "" if all is 0.
func Percent(n, all int64) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(all))
}

// Bytes formats a number of bytes with a suitable unit: B, kB or MB.
func Bytes(n int64) string {
	switch {
	case n < 10_000:
		return Number(n) + " B"
	case n < 10_000_000:
		return Number(n/1000) + " kB"
	}
	return Number(n/1_000_000) + " MB"
}

// Printable escapes bytes that control a terminal; line ends stay. Lines after the first cannot be workflow commands
// of GitHub, see [NoCommands].
func Printable(s string) string {
	first, rest, ok := strings.Cut(escapeHidden(s), "\n")
	if !ok {
		return first
	}
	return first + "\n" + NoCommands(rest)
}

// escapeHidden escapes characters that are not printable, except line ends. Invalid UTF-8 is written as %XX, as in
// outputs.
func escapeHidden(s string) string {
	var sb strings.Builder
	for _, r := range fieldtext.Valid(s) {
		if r == '\n' || unicode.IsPrint(r) {
			sb.WriteRune(r)
		} else {
			sb.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return sb.String()
}

// Line is Printable, but it also escapes line ends, so that a text from an input stays on one line.
func Line(s string) string { return strings.ReplaceAll(escapeHidden(s), "\n", `\n`) }

// NoCommands adds a backslash before each "::" at the beginning of a line, replacing a space if there is one: GitHub
// runs such lines of a job's output as workflow commands.
func NoCommands(text string) string {
	const command = "::"
	if !strings.Contains(text, command) {
		return text
	}
	var sb strings.Builder
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, command) {
			line = line[:max(len(line)-len(rest)-1, 0)] + `\` + rest
		}
		sb.WriteString(line)
	}
	return sb.String()
}

// WriteJSON writes a value as one line of JSON. It escapes characters that control a terminal.
func WriteJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(append(EscapeJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), '\n'))
	return err
}

// IndentJSON returns a value as indented JSON, with a line end. It escapes characters that control a terminal.
func IndentJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return append(EscapeJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), '\n'), nil
}

// EscapeJSON escapes DEL and non-ASCII characters that control a terminal in JSON. The values are unchanged, because
// such characters occur only in strings. It returns text itself if there are none.
func EscapeJSON(text []byte) []byte {
	if bytes.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		switch {
		case !isHidden(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// isHidden reports whether a character that may control a terminal is allowed unescaped in JSON.
func isHidden(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }

// Errors of [Lines].
var (
	ErrLongLine = errors.New("line longer than 1,048,576 bytes: write one entry per line")
	ErrUTF16    = errors.New("the text is UTF-16: save it as UTF-8, or convert it with iconv -f UTF-16 -t UTF-8")
)

// maxLine is the maximum length of a line.
const maxLine = 1 << 20

// Lines are the lines of a hand-written text, which end with LF, CR or both. Use it like a [bufio.Scanner].
type Lines struct {
	*bufio.Scanner
}

// NewLines returns the lines of a UTF-8 text. A line over 1 MiB causes [ErrLongLine], and UTF-16 causes [ErrUTF16].
func NewLines(r io.Reader) Lines {
	lines := Lines{bufio.NewScanner(r)}
	lines.Buffer(nil, maxLine)
	begun := false
	lines.Split(func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		if !begun && (bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) || bytes.IndexByte(data[:min(len(data), 2)], 0) >= 0) {
			return 0, nil, ErrUTF16
		}
		advance, line = splitLine(data, atEOF)
		begun = begun || advance > 0
		return advance, line, nil
	})
	return lines
}

// Err returns the error that ended the lines; nil if the text was read to its end.
func (l Lines) Err() error {
	if err := l.Scanner.Err(); !errors.Is(err, bufio.ErrTooLong) {
		return err
	}
	return ErrLongLine
}

// splitLine is a [bufio.SplitFunc] without an error: it splits off a line that ends with LF, CR or CR LF, or with the
// text.
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
	case end+1 == len(data) && !atEOF: // an LF may follow
		return 0, nil
	case bytes.HasPrefix(data[end+1:], []byte("\n")):
		return end + 2, data[:end]
	}
	return end + 1, data[:end]
}
