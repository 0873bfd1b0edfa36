package say

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteJSON writes a value as JSON in one line. It escapes characters in texts that a terminal might obey.
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

// IndentJSON returns a value as JSON with a line for each of its values, as WriteJSON writes it otherwise.
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

// EscapeJSON returns JSON with escapes in place of characters beyond ASCII, and of DEL, that a terminal
// might obey. It says the same: such characters only stand in texts.
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

// isHidden reports whether JSON may hold a character as it is that a terminal might obey.
func isHidden(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }
