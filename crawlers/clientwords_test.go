package crawlers

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// groupTokens returns the words of a header by which a group of some robots.txt names its client, as
// the engine finds them: in lower case, cut where a product token ends.
func groupTokens(header string, groups map[string]bool) (all []string) {
	for _, word := range AppendWords(nil, []byte(header)) {
		end := bytes.IndexFunc(word, func(r rune) bool { return (r|0x20 < 'a' || r|0x20 > 'z') && r != '-' && r != '_' })
		if end < 0 {
			end = len(word)
		}
		token := strings.ToLower(string(word[:end]))
		if groups[token] && !IsClientWord(word) && !slices.Contains(all, token) {
			all = append(all, token)
		}
	}
	return all
}

// TestClientWords holds, for real headers and for the tokens of real robots.txt, that no word of a
// browser, a system or a device names a group: those in headers.tsv are the names of the crawlers,
// programs and libraries that sent the header, and of nobody else.
func TestClientWords(t *testing.T) {
	groups := map[string]bool{}
	for _, token := range dataLines(t, "testdata/tokens.txt") {
		groups[token] = true
	}
	const name = "testdata/headers.tsv"
	lines, text := dataLines(t, name)[1:], readFile(t, name)
	if len(lines) < 300 || len(groups) < 1000 {
		t.Fatalf("%d headers and %d tokens", len(lines), len(groups))
	}
	for _, line := range lines {
		fields := strings.Split(line, "\t")
		got := ""
		if IdentifyIndex([]byte(fields[2])) < 0 {
			got = strings.Join(groupTokens(fields[2], groups), " ")
		}
		if got != fields[1] {
			t.Errorf("%s: names %q, want %q", fields[2], got, fields[1])
			text = strings.Replace(text, line, fields[0]+"\t"+got+"\t"+fields[2], 1)
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClientWordsData holds that the words are as they are looked up, and once.
func TestClientWordsData(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(clientWordsText, "\n") {
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.Fields(line) {
			if seen[word] || len(word) < 2 || len(word) > maxClientWord || !IsClientWord([]byte(strings.ToUpper(word)+"/1.0")) {
				t.Errorf("%q is there twice, or cannot be found", word)
			}
			seen[word] = true
		}
	}
	for _, word := range []string{"Mozilla", "Win64", "Version", "Mobile15E148", "compatible", "http", "Instagram", "FBAN", "YaBrowser"} {
		if !IsClientWord([]byte(word)) {
			t.Errorf("%s names a client", word)
		}
	}
	for _, word := range []string{"", "curl", "Examplebot", "Mozillabot", "Chrome-Lighthouse", strings.Repeat("a", 100)} {
		if IsClientWord([]byte(word)) {
			t.Errorf("%s names no client", word)
		}
	}
}

// dataLines returns the lines of a file but comments.
func dataLines(tb testing.TB, name string) []string {
	tb.Helper()
	return slices.DeleteFunc(strings.Split(readFile(tb, name), "\n"), func(line string) bool { return line == "" || line[0] == '#' })
}

func readFile(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// BenchmarkIdentifyReal identifies the clients of real headers, one after the other.
func BenchmarkIdentifyReal(b *testing.B) {
	var headers [][]byte
	size := 0
	for _, line := range dataLines(b, "testdata/headers.tsv")[1:] {
		header := []byte(line[strings.LastIndexByte(line, '\t')+1:])
		headers, size = append(headers, header), size+len(header)
	}
	b.SetBytes(int64(size / len(headers)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		IdentifyIndex(headers[i%len(headers)])
	}
}
