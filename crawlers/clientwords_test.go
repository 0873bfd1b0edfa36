package crawlers

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files that tests compare")

// groupTokens returns the words of a header that may match a group of a robots.txt, as the engine finds them: in lower
// case, and only the part that a product token may have.
func groupTokens(header string, groups map[string]bool) (all []string) {
	_, words := IdentifyWords(nil, []byte(header))
	for _, word := range words {
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

// TestClientWords checks real headers and the tokens of real robots.txt files. No word of a browser, a system or a
// device may name a group: the groups in headers.tsv are only the names of the crawlers, programs and libraries that
// sent the header.
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

// TestClientWordsInHeaders checks that words of browsers, devices and apps that are also groups in lists of crawlers do
// not name a client in the headers that contain them.
func TestClientWordsInHeaders(t *testing.T) {
	for _, c := range []struct{ word, header string }{
		{"Coast", "Mozilla/5.0 (iPad; CPU OS 7_0_2 like Mac OS X) AppleWebKit/537.51.1 (KHTML, like Gecko) Coast/1.1.2.64598 Mobile/11B511 Safari/7534.48.3"},
		{"Element", "Mozilla/5.0 (Windows; U; Windows NT 6.1; en-US) AppleWebKit/533+ (KHTML, like Gecko) Element Browser 5.0"},
		{"Blackbird", "Mozilla/5.0 (Windows; U; Windows NT 5.1; en-US; rv:1.9) Gecko/2008120120 Blackbird/0.9991"},
		{"Kinza", "Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/67.0.3396.99 Safari/537.36 Kinza/4.8.2"},
		{"StumbleUpon", "Mozilla/5.0 (X11; U; Linux i686; en-US; rv:1.7.5) Gecko/20050105 Debian/1.4-6 StumbleUpon/1.87"},
		{"QQDownload", "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; QQDownload 691; Maxthon; .NET CLR 2.0.50727)"},
		{"Open", "Mozilla/5.0 (Mobile; Open C; rv:28.0) Gecko/28.0 Firefox/28.0"},
		{"Next", "Mozilla/5.0 (Linux; Android 4.0.3; Next10P12 Build/IML74K) AppleWebKit/535.19 (KHTML, like Gecko) Chrome/18.0.1025.166 Safari/535.19"},
		{"zoom", "Mozilla/5.0 (Linux; U; Android 2.2.1; en-us; Nook Color (zoom2) Build/FROYO) AppleWebKit/533.1 (KHTML, like Gecko) Version/4.0 Mobile Safari/533.1"},
		{"information", "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.0; Private information.  DO NOT SHARE)"},
		{"Blackboard", "Mozilla/5.0 (iPhone; CPU iPhone OS 14_7_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Safari/605.1 Blackboard/6.9"},
		{"TradingView", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) TradingView/1.0.0-beta.15 Chrome/96.0.4664.55 Safari/537.36"},
		{"Perplexity", "Perplexity/5280 CFNetwork/1408.0.4 Darwin/22.5.0"},
		{"Outlook-iOS", "Outlook-iOS/665.29827.prod.iphone (2.63.0)"},
	} {
		token := strings.ToLower(c.word)
		if got := groupTokens(c.header, map[string]bool{token: true}); len(got) > 0 {
			t.Errorf("%s: names %q", c.header, got)
		}
		// With another word after the name, it is a different crawler.
		if got := groupTokens(c.header+" "+token+"-examplebot/1", map[string]bool{token + "-examplebot": true}); len(got) != 1 {
			t.Errorf("%s: names no robot behind it", c.header)
		}
	}
}

// TestClientWordsData checks that the words are in lower case and distinct.
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

// dataLines returns the lines of a file without comments.
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

// BenchmarkIdentifyReal identifies the clients of real headers.
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
