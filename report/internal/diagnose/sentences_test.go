package diagnose

import (
	"os"
	"strings"
	"testing"
)

// TestPhrases holds that each code has a phrase, and each word of phrases and of their parts a value.
func TestPhrases(t *testing.T) {
	r, g := Row{}, &grid{Log: &Log{Agents: agents}, from: begin, to: begin + day}
	parts, values := g.parts(&r), g.values(&r)
	check := func(where, text string) {
		os.Expand(text, func(word string) string {
			name, _, _ := strings.Cut(word, " ")
			_, isPart := parts[word]
			_, isVerb := past[word]
			if _, isValue := values[name]; !isPart && !isVerb && !isValue {
				t.Errorf("%s: unknown word %q", where, word)
			}
			return ""
		})
	}
	for _, code := range append([]string{NoCrawlers, LogGap}, Codes...) {
		if phrases[code].sentence == "" {
			t.Errorf("%s has no phrase", code)
		}
		check(code, phrases[code].sentence+phrases[code].action)
	}
	for part, text := range parts {
		check(part, text)
	}
}
