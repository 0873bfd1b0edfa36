package msg

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", -1: "-1", 999: "999", 1000: "1,000", -123456: "-123,456", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q", n, got)
		}
	}
	for n, want := range map[int64]string{9_999: "9,999 B", 10_000: "10 kB", 9_999_999: "9,999 kB", 12_345_678: "12 MB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q", n, got)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got, want := Printable("a é \x1b[2J\xff\nb'\t"), `a é \x1b[2J%FF`+"\nb'"+`\t`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("a\n::b\x1b"), `a\n::b\x1b`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestJSON checks that characters that control a terminal are escaped, and that no value changes.
func TestJSON(t *testing.T) {
	for _, text := range []string{"", "<é日🤖>", "\x1b[1m\x00", "\x7f\u009b\u202e\u2028", "\U000e0001\U0010ffff", `\u0041"`} {
		var sb strings.Builder
		if err := WriteJSON(&sb, []string{text}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(strings.TrimSuffix(sb.String(), "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q holds what a terminal obeys", &sb)
		}
		var got []string
		if err := json.Unmarshal([]byte(sb.String()), &got); err != nil || len(got) != 1 || got[0] != text {
			t.Errorf("%s: %q, %v; want %q", &sb, got, err, text)
		}
	}
}

// TestLines reads lines with all line endings, in pieces of any size, and expects an error for UTF-16 text.
func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "a\r\nb\rc\n\nd\r\re": "a|b|c||d||e", "a\r": "a", "a\n": "a", "\r\n": "", "\r\n\r\n": "|",
	} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			var got []string
			lines := NewLines(r)
			for lines.Scan() {
				got = append(got, lines.Text())
			}
			if lines.Err() != nil || strings.Join(got, "|") != want {
				t.Errorf("%q has the lines %q, %v; want %q", text, got, lines.Err(), want)
			}
		}
	}
	for text, want := range map[string]error{
		"\xff\xfea\x00": ErrUTF16, "\xfe\xff\x00a": ErrUTF16, "a\x00b\x00": ErrUTF16, "\x00a\x00b": ErrUTF16,
		"a\n" + strings.Repeat("x", 1<<20): ErrLongLine, strings.Repeat("x", 1<<20-1): nil, "a\n\xff\xfe\n\x00": nil,
	} {
		lines := NewLines(strings.NewReader(text))
		for lines.Scan() {
		}
		if !errors.Is(lines.Err(), want) {
			t.Errorf("%.10q: %v, want %v", text, lines.Err(), want)
		}
	}
}

// TestNoCommands checks that no line is a GitHub workflow command, whatever its indentation.
func TestNoCommands(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a ::b": "a ::b", "::a": `\::a`, "x\n  ::a\n:b\n::": "x\n \\::a\n:b\n\\::",
	} {
		if got := NoCommands(text); got != want {
			t.Errorf("NoCommands(%q) = %q, want %q", text, got, want)
		}
	}
	if got, want := Printable("::a\n ::b\x1b"), "::a\n\\::b\\x1b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
