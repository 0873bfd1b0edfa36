package crawlers

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// headers are User-Agent headers with the tokens of their crawlers, as documented by operators, or from the server log
// that tests of package ingest read.
var headers = []struct{ header, token string }{
	{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"},
	{"Mozilla/5.0 (iPhone; CPU iPhone OS 6_0 like Mac OS X) AppleWebKit/536.26 (KHTML, like Gecko) Version/6.0 Mobile/10A5376e Safari/8536.25 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"},
	{"SAMSUNG-SGH-E250/1.0 Profile/MIDP-2.0 Configuration/CLDC-1.1 UP.Browser/6.2.3.3.c.1.101 (GUI) MMP/2.0 (compatible; Googlebot-Mobile/2.1; +http://www.google.com/bot.html)", "Googlebot-Mobile"},
	{"Googlebot-Image/1.0", "Googlebot-Image"},
	{"googlebot", "Googlebot"},
	{"AdsBot-Google (+http://www.google.com/adsbot.html)", "AdsBot-Google"},
	{"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/W.X.Y.Z Mobile Safari/537.36 (compatible; AdsBot-Google-Mobile; +http://www.google.com/mobile/adsbot.html)", "AdsBot-Google-Mobile"},
	{"APIs-Google (+https://developers.google.com/webmasters/APIs-Google.html)", "APIs-Google"},
	{"Mozilla/5.0 (X11; Linux x86_64; Storebot-Google/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/79.0.3945.88 Safari/537.36", "Storebot-Google"},
	{"Feedfetcher-Google; (+http://www.google.com/feedfetcher.html; 22 subscribers; feed-id=8321906634162087507)", "FeedFetcher-Google"},
	{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "bingbot"},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/80.0.345.0 Safari/537.36 Edg/80.0.345.0", "bingbot"},
	{"msnbot/2.0b (+http://search.msn.com/msnbot.htm)", "msnbot"},
	{"msnbot-media/1.1 (+http://search.msn.com/msnbot.htm)", "msnbot-media"},
	{"Mozilla/5.0 (compatible; adidxbot/2.0; +http://www.bing.com/bingbot.htm)", "adidxbot"},
	{"Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b", "BingPreview"},
	{"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)", "Slurp"},
	{"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)", "Baiduspider"},
	{"Baiduspider-image+(+http://www.baidu.com/search/spider.htm)", "Baiduspider-image"},
	{"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)", "YandexBot"},
	{"Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)", "YandexImages"},
	{"Mozilla/5.0 (compatible; YandexDirect/3.0; +http://yandex.com/bots)", "YandexDirect"},
	{"Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)", "Sogou"},
	{"Mozilla/5.0 (compatible; Linux x86_64; Mail.RU_Bot/2.0; +http://go.mail.ru/help/robots)", "Mail.RU_Bot"},
	{"Mozilla/5.0 (Windows; U; Windows NT 5.1; zh-CN; )  Firefox/1.5.0.11; 360Spider", "360Spider"},
	{"Mozilla/5.0 (compatible; archive.org_bot +http://www.archive.org/details/archive.org_bot)", "archive.org_bot"},
	{"Mozilla/5.0 (compatible; special_archiver/3.1.1 +http://www.archive.org/details/archive.org_bot)", "special_archiver"},
	{"ia_archiver (+http://www.alexa.com/site/help/webmasters; crawler@alexa.com)", "ia_archiver"},
	{"Mozilla/5.0 (compatible; MJ12bot/v1.4.4; http://www.majestic12.co.uk/bot.php?+)", "MJ12bot"},
	{"Mozilla/5.0 (compatible; AhrefsBot/5.0; +http://ahrefs.com/robot/)", "AhrefsBot"},
	{"Mozilla/5.0 (compatible; SemrushBot/2~bl; +http://www.semrush.com/bot.html)", "SemrushBot"},
	{"Mozilla/5.0 (compatible; Exabot/3.0 (BiggerBetter); +http://www.exabot.com/go/robot)", "Exabot"},
	{"Twitterbot/1.0", "Twitterbot"},
	{"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "facebookexternalhit"},
	{"facebookexternalhit/1.1 Facebot", "facebookexternalhit"},                     // both belong to Meta
	{"Mozilla/5.0 (compatible; Googlebot/2.1) AdsBot-Google GPTBot2", "Googlebot"}, // both belong to Google
	{"facebookcatalog/1.0", "facebookcatalog"},
	{"Facebot/1.0", "Facebot"},
	{"Mozilla/5.0 (compatible; Qwantify/2.4w; +https://www.qwant.com/)", "Qwantify"},
	{"Mozilla/5.0 (compatible; Qwantbot/1.0_12345; +https://help.qwant.com/bot/)", "Qwantbot"},
	{"meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)", "meta-externalagent"},
	{"Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)", "Feedly"},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot"},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot", "ChatGPT-User"},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; OAI-SearchBot/1.0; +https://openai.com/searchbot", "OAI-SearchBot"},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "ClaudeBot"},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +Claude-User@anthropic.com)", "Claude-User"},
	{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)", "Applebot"},
	{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_10_1) AppleWebKit/600.2.5 (KHTML\\, like Gecko) Version/8.0.2 Safari/600.2.5 (Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot)", "Amazonbot"},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Google-Agent; +https://developers.google.com/crawling/docs/crawlers-fetchers/google-agent) Chrome/W.X.Y.Z Safari/537.36", "Google-Agent"},
	{"Mozilla/5.0 (compatible; Kagibot/1.0; +https://kagi.com/bot)", "Kagibot"},
	{"Timpibot/0.8 (+http://www.timpi.io)", "Timpibot"},
	{"Mozilla/5.0 (compatible; ImagesiftBot; +imagesift.com)", "ImagesiftBot"},
	{"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; TikTokSpider; ttspider-feedback@tiktok.com)", "TikTokSpider"},
	{"Mozilla/5.0 (compatible; SERankingBacklinksBot/1.0; +https://seranking.com/backlinks-crawler)", "SERankingBacklinksBot"},
	{"CloudflareBrowserRenderingCrawler/1.0", "CloudflareBrowserRenderingCrawler"},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ShapBot/0.1.0", "ShapBot"},

	{"", ""},
	{"Foo (www.example.com/GPTBot)", ""},
	{"Foo (example.com/GPTBot; GPTBot+abuse@example.com; GPTBot+x)", "GPTBot"}, // only the last one is a word
	{"Foo (+ftp://example.com/GPTBot)", ""},
	{"Foo Like GPTBot", ""},
	{"\xff\xfeGPTBot\x00", "GPTBot"},
	{"-", ""},
	{"like", ""},
	{"like ", ""},
	{"Googlebot2/2.1", ""},
	{"NotGooglebot/2.1", ""},
	{"Googlebot-Imagery/1.0", ""},
	{"Applebot-Extended/0.1", ""}, // a switch, which the operator does not send
	{"Google-Extended", ""},
	{"Sogou spider", ""},
	{"Mozilla/5.0 (compatible; Foo/1.0; +https://gptbot.example/GPTBot)", ""},
	{"Foo (mailto:ClaudeBot@example.com)", ""},
	{"Foo (+http://example.com/,GPTBot)", "GPTBot"}, // a comma ends a URL
	{"TelegramBot (like TwitterBot)", ""},
	{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36", ""},
	{"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/121.0", ""},
	{"UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/", ""},
	{"curl/8.5.0", ""},

	// Crawlers of two operators.
	{"facebookexternalhit/1.1 Facebot Twitterbot/1.0", ""},
	{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0", ""},
	{"Mozilla/5.0 (compatible; Googlebot/2.1; bingbot/2.0)", ""},
	{"Mozilla/5.0 (compatible; Googlebot/2.1; AdsBot-Google) bingbot", ""},
	{"Googlebot/2.1 (https://example.com/bingbot; like bingbot; bingbot-like; bingbot@example.com)", "Googlebot"},

	// The first product is an unknown crawler.
	{"WireReaderBot/1.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", ""},
	{"ExampleMonitorBot (compatible with Googlebot)", ""},
	{"OnPageBot (compatible; Googlebot 2.1; +https://bot.onpage.org/)", ""},
	{"ourCRAWLER Googlebot", ""},
	{"Spidery.2/7 Googlebot", ""},
	{"Applebot-Extended/0.1 (Googlebot)", ""},
	{"Locubot Googlebot/2.1", ""},
	{"examplebot.org/1.0 (Googlebot/2.1)", ""},
	{"Bot/1.0 (compatible; Googlebot/2.1)", ""},                      // a common word, but not one of browsers
	{"Reader/1.0 (compatible; Googlebot/2.1)", "Googlebot"},          // does not look like a crawler
	{"CUBOT_X19 (compatible; Googlebot/2.1)", "Googlebot"},           // a phone
	{"(compatible; Foobot; Googlebot/2.1)", "Googlebot"},             // Foobot is not a product
	{"Mozilla/5.0 (compatible; Foobot; Googlebot/2.1)", "Googlebot"}, // Foobot is not the first word

	// Names that do not name the client.
	{"Mozilla/5.0 (compatible with Googlebot)", ""},
	{"Mozilla/5.0 (compatible  With  Googlebot/2.1)", ""},
	{"Reader (not Googlebot, faster than bingbot, as GPTBot; for ClaudeBot by CCBot via Applebot from Amazonbot)", ""},
	{"Reader (not Googlebot) bingbot", "bingbot"},
	{"Reader (KHTML, like) Googlebot", "Googlebot"},
	{"Reader (with; Googlebot)", "Googlebot"},
	{"Reader (withal Googlebot)", "Googlebot"},
	{"Mozilla/5.0 Googlebot-like", ""},
	{"Mozilla/5.0 Googlebot/2.1-like", ""},
	{"Mozilla/5.0 (Googlebot/2.1 -Like; x)", ""},
	{"Mozilla/5.0 Sogou web spider/4.0-like", ""},
	{"Mozilla/5.0 with Sogou web spider/4.0", ""},
	{"Mozilla/5.0 Googlebot/2.1 -likely", "Googlebot"},
}

func TestIdentify(t *testing.T) {
	for _, h := range headers {
		c, ok := Identify([]byte(h.header))
		if c.Token != h.token || ok != (h.token != "") {
			t.Errorf("%q is %q, %t; want %q", h.header, c.Token, ok, h.token)
		}
	}
}

// TestIdentifyWords checks which words of a header may name its client in a robots.txt.
func TestIdentifyWords(t *testing.T) {
	for header, want := range map[string]string{
		"Examplebot/1.0 (compatible; Reader/2; Googlebot/2.1)": "Examplebot",
		"Examplebot/1.0-like (compatible; Googlebot/2.1)":      "",
		"examplebot.org/1.0 (compatible; Googlebot/2.1)":       "",
		"facebookexternalhit/1.1 Reader Twitterbot/1.0":        "",
		"Reader facebookexternalhit/1.1 Twitterbot/1.0":        "",
		"Reader Googlebot":               "",
		"Reader/1 for Timpi, Other-like": "Reader 1 Other-like",
		"Reader/1 Other/2-like":          "Reader 1 2-like",
		"Reader (Foobot)":                "Reader Foobot",
	} {
		_, words := IdentifyWords([][]byte{[]byte("kept")}, []byte(header))
		if got := string(bytes.Join(words, []byte(" "))); got != strings.TrimSuffix("kept "+want, " ") {
			t.Errorf("%s: %q, want %q behind what was there", header, got, want)
		}
	}
}

// A piece is a part of a generated header.
type piece struct {
	before  string // separators
	text    string
	version string // after the text
}

var (
	preposition = regexp.MustCompile(`(?i)^(with|like|not|as|for|by|via|from|than)$`)
	mark        = regexp.MustCompile(`(?i)bot|crawl|spider`)
)

// identifySlowly applies the rules one by one: it returns the token of the crawler that a header of these pieces names,
// and the words that may name the client in a robots.txt if the table does not.
func identifySlowly(pieces []piece) (token string, words []string) {
	var names []Crawler
	counted, inComment := 0, false
	for i, p := range pieces {
		inComment = inComment || strings.Contains(p.before, "(")
		isAfter := i > 0 && preposition.MatchString(pieces[i-1].text) && !strings.ContainsAny(p.before, ";)")
		if isAfter || preposition.MatchString(p.text) {
			continue
		}
		counted++
		isLike := strings.HasSuffix(p.version, "-like")
		var c Crawler
		n := slices.IndexFunc(known.all, func(c Crawler) bool { return c.isCalled(p.text) })
		if n >= 0 {
			c = known.all[n]
		}
		switch {
		case n >= 0 && !isLike:
			names = append(names, c)
		case n < 0 && counted == 1 && mark.MatchString(p.text) && !inComment:
			if isLike {
				return "", nil
			}
			return "", []string{p.text}
		case n < 0 && !isLike:
			words = append(words, p.text)
		}
	}
	for _, c := range names {
		if c.Operator != names[0].Operator {
			return "", nil
		}
	}
	if len(names) > 0 {
		return names[0].Token, nil
	}
	return "", words
}

// TestIdentifySlowly compares generated headers with identifySlowly.
func TestIdentifySlowly(t *testing.T) {
	texts := []string{"Googlebot", "googlebot-IMAGE", "AdsBot-Google", "bingbot", "facebookexternalhit", "Facebot", "Twitterbot", "Mozilla", "Reader", "Examplebot", "our-crawler", "Google-Extended", "with", "Like", "not", "as", "for", "by", "via", "from", "than", "other"}
	seps, versions := []string{" ", "  ", " (", "; ", ") "}, []string{"", "", "", "/2.1", "/1-like", " -like"}
	r := rand.New(rand.NewPCG(51, 3))
	seen := map[string]int{}
	for range 20_000 {
		var pieces []piece
		var header []byte
		for i := range 1 + r.IntN(5) {
			p := piece{text: texts[r.IntN(len(texts))], version: versions[r.IntN(len(versions))], before: seps[r.IntN(len(seps))]}
			if i == 0 {
				p.before = []string{"", "", "", "("}[r.IntN(4)]
			}
			if preposition.MatchString(p.text) {
				p.version = ""
			}
			pieces = append(pieces, p)
			header = append(header, p.before+p.text+p.version...)
		}
		want, wantWords := identifySlowly(pieces)
		seen[want]++
		index, words := IdentifyWords(nil, header)
		got := ""
		if index >= 0 {
			got = known.all[index].Token
		}
		// Versions are also words.
		words = slices.DeleteFunc(words, func(w []byte) bool { return w[0] <= '9' })
		if got != want || string(bytes.Join(words, []byte(" "))) != strings.Join(wantWords, " ") {
			t.Fatalf("%q is %q, or one of %q; want %q, or %q", header, got, words, want, wantWords)
		}
	}
	if len(seen) < 8 || seen[""] < 5000 || seen["Googlebot"] < 500 {
		t.Errorf("headers of %v", seen)
	}
}

// TestIdentifyEveryName checks that every name in the table identifies its row: alone, with a version, in a comment,
// and in capitals; and that longer words do not.
func TestIdentifyEveryName(t *testing.T) {
	for i, c := range known.all {
		for _, name := range c.Names {
			for _, header := range []string{
				name, name + "/1.0", "Mozilla/5.0 (compatible; " + name + "; +http://example.com/bot)", upper(name), name + "~x",
			} {
				if got := IdentifyIndex([]byte(header)); got != i {
					t.Errorf("%q is number %d, want %d (%s)", header, got, i, c.Token)
				}
			}
			for _, header := range []string{name + "x", "x" + name, name + ".", "me@" + name, "http://" + name, "like " + name, "from " + name + "/1.0", name + "/1.0-like"} {
				if got := IdentifyIndex([]byte(header)); got >= 0 {
					t.Errorf("%q is %s", header, known.all[got].Token)
				}
			}
		}
	}
}

func upper(s string) string {
	b := []byte(s)
	for i := range b {
		if 'a' <= b[i] && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

func TestIdentifyDoesNotAllocate(t *testing.T) {
	header := []byte(headers[1].header)
	if n := testing.AllocsPerRun(100, func() { Identify(header) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzIdentify(f *testing.F) {
	for _, h := range headers {
		f.Add([]byte(h.header))
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		c, ok := Identify(header)
		if ok != (c.Token != "") {
			t.Errorf("%q is %q, %t", header, c.Token, ok)
		}
		// After a crawler is found, a name that follows as a separate word belongs to the same or to a second operator.
		// It counts unless a preposition precedes it.
		again, named := Identify(append(append([]byte{}, header...), " GPTBot"...))
		if ok && again.Token != c.Token && (named || c.Operator == "OpenAI") {
			t.Errorf("%q is %s, followed by GPTBot %s", header, c.Token, again.Token)
		}
		index, words := IdentifyWords(nil, header)
		if index != IdentifyIndex(header) || ok && len(words) > 0 {
			t.Errorf("%q is number %d, with words %q; without them %d", header, index, words, IdentifyIndex(header))
		}
	})
}

func BenchmarkIdentify(b *testing.B) {
	for _, h := range []struct{ name, header string }{
		{"browser", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"},
		{"phone", headers[1].header},
		{"short", "Googlebot-Image/1.0"},
	} {
		b.Run("header="+h.name, func(b *testing.B) {
			header := []byte(h.header)
			b.SetBytes(int64(len(header)))
			b.ReportAllocs()
			for b.Loop() {
				Identify(header)
			}
		})
	}
}
