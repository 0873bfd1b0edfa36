package say

import (
	"encoding/json"
	"strings"
	"testing"
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
	if got, want := Printable("a é \x1b[2J\xff\nb'\t"), `a é \x1b[2J`+"\ufffd\nb'"+`\t`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("a\n::b\x1b"), `a\n::b\x1b`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestJSON escapes what a terminal obeys, and changes no value.
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
