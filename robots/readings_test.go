package robots_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// everyDialect are the dialects and all readings.
func everyDialect(tb testing.TB) (all []robots.Dialect) {
	tb.Helper()
	for _, name := range robots.Dialects() {
		d, err := robots.ParseDialect(name)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, d, d|robots.WideTokens)
	}
	return append(all, robots.AllReadings(0)...)
}

// checkEssence checks that a robots.txt has the same groups and lines as its essence.
func checkEssence(t *testing.T, body []byte) {
	t.Helper()
	essence := robots.Essence(body)
	for _, d := range everyDialect(t) {
		want, got := robots.Parse(body, d), robots.Parse(essence, d)
		same := slices.EqualFunc(want.Groups, got.Groups, func(a, b robots.Group) bool {
			return a.Star == b.Star && a.Line == b.Line && slices.Equal(a.Agents, b.Agents) && slices.Equal(a.Rules, b.Rules)
		})
		if !same {
			t.Errorf("%v: of %q the essence is %q\n%v\n%v", d, body, essence, want.Groups, got.Groups)
		}
	}
	if len(essence) > len(body) {
		t.Errorf("the essence has %d bytes of %d", len(essence), len(body))
	}
}

// randomRobots returns a robots.txt with lines that dialects read differently.
func randomRobots(r *rand.Rand) []byte {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	var b bytes.Buffer
	b.WriteString(pick("", "", "\xef\xbb\xbf", "\xef\xbb"))
	for range 1 + r.IntN(12) {
		b.WriteString(pick("", "", " ", "\t"))
		switch r.IntN(10) {
		case 0, 1, 2:
			b.WriteString(pick("User-agent", "user-agent", "useragent", "user agent", "User-agents", "user_agent"))
			b.WriteString(pick(": ", ":", " ", " : "))
			b.WriteString(pick("*", "a", "b", "A", "bingbot", "Yandex", "YandexBot", "Googlebot", "msnbot", "* x", "a b", "a/1 b", "", "b2", "2b"))
		case 3, 4, 5, 6:
			b.WriteString(pick("Disallow", "disallow", "Allow", "allow", "Disalow", "allowed", "dissallow", "disallow-x"))
			b.WriteString(pick(": ", ":", " ", "  ", " : "))
			b.WriteString(pick("", "/", "/a", "/a*", "/a$", "/*b", "/a/b", "a", "*", "*b$", "/%61", "/a b", "/a/index.html", "/é", "/%2A", "/b$c", "/a**b", "/"+strings.Repeat("a", 20)))
			if r.IntN(300) == 0 {
				b.WriteString(strings.Repeat(pick(" ", "a"), 17_000) + pick("", ":", "b"))
			}
		case 7:
			b.WriteString(pick("Crawl-delay: 1", "crawl-delay", "Crawl-delay:", "crawl-delay 2"))
		case 8:
			b.WriteString(pick("# all", "Sitemap: https://a.example/", "Host: a", "x", ":", "Content-Usage: train-ai=n", "\x00Disallow: /"))
		}
		b.WriteString(pick("", "", "", " # c", "\x00x"))
		b.WriteString(pick("\n", "\n", "\n", "\r\n", "\r", "\n\n", ""))
	}
	return b.Bytes()
}

// TestEssence checks that an essence has everything that a dialect reads.
func TestEssence(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 1))
	texts := 20_000
	if testing.Short() {
		texts = 2_000
	}
	for range texts {
		checkEssence(t, randomRobots(r))
	}
	for i, body := range repcase.Robots(t) {
		if i%40 == 0 || !testing.Short() {
			checkEssence(t, body)
		}
	}
	large := []byte("User-agent: *\nDisallow: /\n" + strings.Repeat("# x\n", robots.MaxBytes/4))
	for _, n := range []int{robots.MaxBytes - 1, robots.MaxBytes, robots.MaxBytes + 1, len(large)} {
		checkEssence(t, large[:n])
	}
}

func FuzzEssence(f *testing.F) {
	r := rand.New(rand.NewPCG(51, 2))
	for range 30 {
		f.Add(randomRobots(r))
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkEssence(t, body) })
}
