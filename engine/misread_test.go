package engine

import (
	"slices"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestMisread counts the rows of Yandex's crawlers that are decided by other groups than their operator documents, in
// all kinds of stores. It counts no rows of other crawlers, none in the dialect of the operator, and none if both
// choose the same groups, or others with the same rules.
func TestMisread(t *testing.T) {
	text := func(origin robots.Origin, body string) robots.Response {
		return robots.Response{Origin: origin, Status: 200, FetchedAt: day(1, 0), Body: []byte(body)}
	}
	responses := []robots.Response{
		text("https://yandex", "User-agent: *\nDisallow: /p\nUser-agent: Yandex\nDisallow: /q\n"),
		text("https://own", "User-agent: *\nDisallow: /p\nUser-agent: Yandex\nDisallow: /q\nUser-agent: YandexBot\nDisallow: /r\n"),
		text("https://star", "User-agent: *\nDisallow: /p\n"),
		text("https://same", "User-agent: *\nDisallow: /p\nAllow: /p/q\nDisallow:\nUser-agent: Yandex\nAllow: /p/q\nDisallow: /p\nDisallow: /p\nUser-agent: YandexMobileBot\nDisallow: /\n"),
		text("https://open", "User-agent: *\nAllow: /p\nUser-agent: Yandex\nUser-agent: YandexMobileBot\nDisallow:\n"),
		{Origin: "https://gone", Status: 404, FetchedAt: day(1, 0)},
	}
	urls := slices.Repeat([]string{"https://yandex/q", "https://own/q", "https://star/p", "https://same/p", "https://open/p", "https://gone/", "https://stray/", "no URL"}, 3)
	headers := []string{"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)", "Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)", "Googlebot/2.1", "Firefox"}
	for _, test := range []struct {
		name    string
		opt     StoreOptions
		headers []string
		want    []MisreadCount
	}{
		{"asked", StoreOptions{Dialect: robots.Google, Agents: []string{"Googlebot", "YandexImages", "YandexBot/3.0"}}, headers[:1], []MisreadCount{{"YandexImages", robots.Yandex, 6}, {"YandexBot/3.0", robots.Yandex, 3}}},
		{"standard", StoreOptions{Dialect: robots.RFC9309, Agents: []string{"YandexMobileBot"}}, headers[:1], []MisreadCount{{"YandexMobileBot", robots.Yandex, 9}}}, // it ignores "*"
		{"yandex", StoreOptions{Dialect: robots.Yandex | robots.EmptyAllowIgnored, Agents: []string{"YandexImages", "YandexBot"}}, headers[:1], nil},
		{"others", StoreOptions{Dialect: robots.Google, Agents: []string{"Googlebot", "Googlebot-Image", "Yandex"}}, headers[:1], nil},
		{"log", StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, headers, []MisreadCount{{"YandexBot", robots.Yandex, 3}, {"YandexImages", robots.Yandex, 6}}},
		{"log of others", StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, headers[2:], nil},
		{"log in yandex", StoreOptions{Dialect: robots.Yandex, LogAgents: LogAgentsStar}, headers, nil},
	} {
		memory, err := BuildStore(sequence(responses), test.opt)
		if err != nil {
			t.Fatal(err)
		}
		stores := waysToOpen(t, makePack(t, test.opt.Dialect, responses...), test.opt)
		stores["memory"] = memory
		for how, s := range stores {
			counters := []*counter{newCounter(s, 2), newCounter(s, 2)}
			for n, header := range test.headers {
				b := newBatch(urls...)
				if test.opt.LogAgents != LogAgentsOff {
					b.UserAgents = slices.Repeat([]Span{{Off: uint32(len(b.Data)), Len: uint32(len(header))}}, len(urls))
					b.Data = append(b.Data, header...)
				}
				s.NewEvaluator().Evaluate(b)
				counters[n%2].countBatch(b)
			}
			if got := sumCounts(counters, newBusiest(s, nil)).Misread; !slices.Equal(got, test.want) {
				t.Errorf("%s, %s: %v, want %v", test.name, how, got, test.want)
			}
		}
	}
}

// TestMisreadTxt checks that requests for robots.txt are not counted if they are always allowed: for crawlers of a log,
// and in the standard.
func TestMisreadTxt(t *testing.T) {
	response := robots.Response{Origin: "https://a", Status: 200, Body: []byte("User-agent: *\nDisallow: /\nUser-agent: Yandex\nDisallow: /q\n")}
	urls := []string{"https://a/robots.txt", "https://a/robots.txt?x", "https://a/robots.txt.gz"}
	for name, test := range map[string]struct {
		opt  StoreOptions
		want int64
	}{
		"log":      {StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, 1},
		"standard": {StoreOptions{Dialect: robots.RFC9309, Agents: []string{"Googlebot", "YandexBot"}}, 1},
		"google":   {StoreOptions{Dialect: robots.Google, Agents: []string{"Googlebot", "YandexBot"}}, 3},
	} {
		s, err := BuildStore(sequence([]robots.Response{response}), test.opt)
		if err != nil {
			t.Fatal(err)
		}
		b := newBatch(urls...)
		if test.opt.LogAgents != LogAgentsOff {
			header := "YandexBot/3.0"
			b.UserAgents = slices.Repeat([]Span{{Off: uint32(len(b.Data)), Len: uint32(len(header))}}, len(urls))
			b.Data = append(b.Data, header...)
		}
		s.NewEvaluator().Evaluate(b)
		c := newCounter(s, 1)
		c.countBatch(b)
		if got := sumCounts([]*counter{c}, newBusiest(s, nil)).Misread; len(got) != 1 || got[0].Rows != test.want {
			t.Errorf("%s: %v, want %d rows", name, got, test.want)
		}
	}
}
