package weblog

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestJoinedShapes compares the search for two starts of records with equivalent regular expressions, in random lines
// made of pieces of records.
func TestJoinedShapes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name    string
		joiner  Joiner
		pattern string
		pieces  []string
	}{
		{"combined", &lineLog{joined: isJoinedCombined}, `\[\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d`, []string{"[17/May/2015:10:05:03 +0000] ", "[17/May/2015:10:05:0", "[17/MAY/2015:10:05:03", "[[", "10.0.0.1 - - "}},
		{"alb", &lineLog{joined: isJoinedALB}, `\dT\d\d:\d\d:\d\d\.\d+Z [a-z]+/`, []string{"2026-08-15T10:00:00.123456Z app/", "5T10:00:00.Z app/", "5T10:00:00.1Z /", "T10:00:00.1Z net/", "5T10:00:00.1Z app", "TT", " "}},
		{"w3c", &w3c{}, `\d{4}-\d\d-\d\d[ \t]\d\d:\d\d:\d\d[ \t]`, []string{"2026-08-15 10:00:00 ", "2026-08-15\t10:00:00\t", "2026-08-15 10:00:00", "026-08-15 10:00:00 ", "2026-08-15", " 10:00:00 ", "::", "x"}},
		{"json", &jsonLog{}, `(?:^|\})\s*\{\s*"`, []string{`{"a":1}`, ` { "b":{"c":2}}`, `{ {`, "}", " \t\r\f\n", "{", `"`, "{}", "\v"}},
		{"cdxj", cdxj{}, ` \d{14} \{`, []string{"com,example)/ 20260815100000 {", " 20260815100000\t{", " 2026081510000 {", " 20260815100000 {", "{", `"url"}`}},
	} {
		pattern := regexp.MustCompile(c.pattern)
		twice := 0
		for range 100_000 {
			var line strings.Builder
			for range random.IntN(6) {
				piece := c.pieces[random.IntN(len(c.pieces))]
				if random.IntN(8) == 0 { // truncate it
					piece = piece[random.IntN(len(piece)):]
				}
				line.WriteString(piece)
			}
			want := len(pattern.FindAllStringIndex(line.String(), 2)) == 2
			if got := c.joiner.Joined([]byte(line.String())); got != want {
				t.Fatalf("%s: %q: %v, want %v", c.name, line.String(), got, want)
			}
			if want {
				twice++
			}
		}
		if twice < 2_000 || twice > 98_000 {
			t.Errorf("%s: %d of 100,000 lines are joined: too few are, or are not", c.name, twice)
		}
	}
}
