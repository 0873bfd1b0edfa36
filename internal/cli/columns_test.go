package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestColumns checks the number of columns of letters, wide letters, combining marks and pictographs.
func TestColumns(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "ｱ": 1, "한": 2, "🤖": 2, "…": 1, "Ω": 1} {
		if got := Columns(text); got != want {
			t.Errorf("Columns(%q) = %d, want %d", text, got, want)
		}
	}
}

// TestFit shortens texts in their middle, between characters.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abcdefghij", 10, "abcdefghij"},
		{"abcdefghijk", 10, "abcdef…ijk"},
		{"abcdef", 0, "a…f"},
		{"日本語日本語", 7, "日本…語"},
		{"日本語日本語", 12, "日本語日本語"},
		{"éééééé", 4, "éé…é"},
	} {
		if got := Fit(c.text, c.columns); got != c.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
	for n := range 40 {
		got := Fit(strings.Repeat("a日e\u0301🤖", 20), n)
		if Columns(got) > max(n, 3) || !utf8.ValidString(got) {
			t.Errorf("%d: %q has %d columns", n, got, Columns(got))
		}
	}
	if got, want := FitWords("a  "+strings.Repeat("b", 20), 5), "a  bb…bb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
