package cli

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	for _, tt := range []struct{ word, known, want string }{
		{"", "a b", ""},
		{"googel", "google yandex", "google"},
		{"GOOGLE2010", "google google-2010", "google-2010"},
		{"yan", "google yandex", "yandex"},
		{"google", "google-2010 google-2019", ""}, // begins two
		{"x", "y in", ""},
		{"i", "y in", "in"},
		{"im", "y in h", "in"},
		{"ni", "y in h", "in"},
		{"im", "in am", ""}, // like two
		{"bing", "rfc9309 google", ""},
		{"csvs", "csv tsv", "csv"},
		{"jsno", "json cdxj", "json"},
	} {
		if got := Closest(tt.word, strings.Fields(tt.known)); got != tt.want {
			t.Errorf("Closest(%q, %s) = %q, want %q", tt.word, tt.known, got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"é", "e", 2}} {
		if got, back := Distance(tt.a, tt.b), Distance(tt.b, tt.a); got != tt.want || back != tt.want {
			t.Errorf("Distance(%q, %q) = %d, and %d in reverse, want %d", tt.a, tt.b, got, back, tt.want)
		}
	}
}
