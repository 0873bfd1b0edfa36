package crawlers

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestSuspect checks which headers look like those of crawlers, and by which word.
func TestSuspect(t *testing.T) {
	for header, want := range map[string]string{
		"LumiBot 2.0": "LumiBot", "Mozilla/5.0 (compatible; EasouSpider; +http://www.easou.com/search/spider.html)": "EasouSpider",
		"Mozilla/5.0 (Windows NT 5.1; fr) VoilaBot BETA 1.2 (support@orange-ftgroup.com)": "VoilaBot", "mycrawler": "mycrawler",
		"Mozilla/5.0 (compatible; Ezooms/1.0; help@moz.com)": "Ezooms", "Chef Client/10.18 (ruby-1.9; +http://opscode.com)": "Chef",
		"Mozilla/5.0 (X11; U; Linux; en-US; aggregator:Spinn3r (Spinn3r 3.1); http://spinn3r.com/robot) Gecko/2010040121": "Spinn3r",
		"a\"b,c (Some-Fetcher; https://example.com/a?b=bot)":                                                              "Some-Fetcher", "Grabbit/2 www.example.com": "Grabbit", "curl/8.1 MyBot": "MyBot",
		"Expanse, a Palo Alto company, searches the IPv4 space. To be left out, send IP addresses/domains to scans@example.com": "Expanse", "lumix/v2 (a@example.com)": "lumix", "addresses/7 +http://a.example": "addresses",
		"MeWeBot/1.0 (compatible; Googlebot/2.1; facebookexternalhit/1.1)": "MeWeBot", "Locubot (compatible; Googlebot; msnbot)": "Locubot",
		"OWLer/0.1 (built with StormCrawler; https://ows.example)": "OWLer",
		// Without a suitable word:
		"facebookexternalhit/1.1 Facebot Twitterbot/1.0": "", "facebookexternalhit/1.1 Foobot Twitterbot/1.0": "", "-Foobot (Barbot)": "", "crawler4j for XQuery": "",
		"Mozilla/5.0 (compatible; Let's Encrypt validation server; +https://www.example.org)": "", "my bot": "", "crawler/1.0": "", "1 readers (webmaster@example.com)": "", "-bot-": "", "Mozilla/5.0 http://example.com/": "",
		"bot.example": "", "Google-ExtendedBot-" + strings.Repeat("x", 120): "", "https://example.com/Google-Extended Google-Extended": "",
	} {
		if name, is := Suspect([]byte(header)); !is || string(name) != want || (name == nil) != (want == "") {
			t.Errorf("%s: %q, %t; want %q", header, name, is, want)
		}
	}
	for _, header := range []string{
		"", "-", "Mozilla/5.0 (X11) Firefox/140.0", "curl/8.1", "Mozilla/5.0 (Linux; Android 9; CUBOT X19 Build/PPR1.180610.011)",
		"Mozilla/5.0 Chrome/32.0 Safari/537.36,gzip(gfe) (via docs.google.com/viewer)", "Mozilla/5.0 (like MyBot) Safari", "a+b c:d //",
	} {
		if name, is := Suspect([]byte(header)); is || name != nil {
			t.Errorf("%s: %q, %t", header, name, is)
		}
	}
	header := []byte("Mozilla/5.0 (compatible; Ezooms/1.0; help@moz.com)")
	if n := testing.AllocsPerRun(100, func() { Suspect(header) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestSuspectsOfLogs counts the real headers without a known crawler that look like those of crawlers.
func TestSuspectsOfLogs(t *testing.T) {
	text, err := os.ReadFile("testdata/headers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	suspects, unnamed := 0, 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 3 || IdentifyIndex([]byte(fields[2])) >= 0 {
			continue
		}
		if name, is := Suspect([]byte(fields[2])); is {
			suspects++
			if name == nil {
				unnamed++
			}
		}
	}
	if suspects != 39 || unnamed != 6 {
		t.Errorf("%d suspects, %d of them without a name", suspects, unnamed)
	}
}

// FuzzSuspect checks that a table with the suggested name identifies the header, and that the check for signs does not
// change results.
func FuzzSuspect(f *testing.F) {
	for _, header := range []string{"LumiBot 2.0", "Mozilla/5.0 (compatible; Ezooms/1.0; help@moz.com)", "a@b cubot-bot/1 x:// like bot", "AA A+@"} {
		f.Add([]byte(header))
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		name, is := Suspect(header)
		if other, slowly := suspectName(header); slowly != is || !bytes.Equal(name, other) {
			t.Fatalf("%q: %q, %t; without a look at signs %q, %t", header, name, is, other, slowly)
		}
		if name == nil {
			return
		}
		own, err := parseTable("own", "token\n"+string(name)+"\n")
		if err != nil || !is || !bytes.Contains(header, name) {
			t.Fatalf("%q: %q, %t, %v", header, name, is, err)
		}
		if IdentifyIndex(header) >= 0 {
			return // the word after the name of the crawler
		}
		if newTable(slices.Concat(known.all, own)).findNamed(header, nil) != len(known.all) {
			t.Fatalf("%q: %q is not found", header, name)
		}
	})
}
