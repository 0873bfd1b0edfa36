package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestOddRows counts the rows that invalid robots.txt files decide, in all kinds of stores, and finds their product
// tokens.
func TestOddRows(t *testing.T) {
	text := func(origin robots.Origin, n int, body string) robots.Response {
		return robots.Response{Origin: origin, Status: 200, FetchedAt: day(n, 0), Body: []byte(body)}
	}
	page := text("https://both", 5, "<html>")
	responses := []robots.Response{
		text("https://good", 1, "User-agent: GPTBot\nUser-agent: a\nDisallow: /p\n"),
		text("https://other", 1, "User-agent: gptbot\nDisallow: /q\nUser-agent: B\nUser-agent: *\nDisallow: /"),
		text("https://page", 1, "<html>"),
		text("https://zip", 1, "PK\x03\x04"),
		text("https://empty", 1, ""),
		text("https://both", 1, "User-agent: *\nDisallow: /p\n"), page,
		{Origin: "https://gone", Status: 404, FetchedAt: day(1, 0), Body: []byte("<html>")},
	}
	opt := StoreOptions{Dialect: robots.Google, RowTimes: true, Tokens: true}
	memory, err := BuildStore(sequence(responses), opt)
	if err != nil {
		t.Fatal(err)
	}
	stores := waysToOpen(t, makePack(t, robots.Google, responses...), opt)
	stores["memory"] = memory
	for how, s := range stores {
		tokens, complete := s.Tokens()
		if want := []robots.ProductToken{"a", "B", "GPTBot"}; !slices.Equal(tokens, want) || !complete {
			t.Errorf("%s: tokens %q, complete: %t; want %q", how, tokens, complete, want)
		}
		c := newCounter(s, 1)
		count := func(n int, url string, rows int) {
			b := newBatch(slices.Repeat([]string{url}, rows)...)
			b.Times = slices.Repeat([]int64{day(n, 1).UnixMicro()}, rows)
			s.NewEvaluator().Evaluate(b)
			c.countBatch(b)
		}
		for range 2 {
			count(9, "https://page/p", 3)
			count(9, "https://good/p", 2)
			count(9, "https://zip/p", 1)
			count(9, "https://gone/p", 1)
			count(9, "https://empty/p", 1)
			count(2, "https://both/p", 9) // before the HTML
			count(9, "https://both/p", 2)
			count(9, "https://stray/p", 1)
			count(9, "no URL", 1)
		}
		want := OddCount{Number: 3, Rows: 12, Worst: [3]OddOrigin{
			{Origin: "https://page", Odd: robots.OddHTML, Rows: 6},
			{Origin: "https://both", Odd: robots.OddHTML, Rows: 4},
			{Origin: "https://zip", Odd: robots.OddZip, Rows: 2},
		}}
		want.Kinds[robots.OddHTML], want.Kinds[robots.OddZip] = 2, 1
		if got := sumCounts([]*counter{newCounter(s, 1), c, newCounter(s, 1)}, newBusiest(s, nil)).Odd; got != want {
			t.Errorf("%s:\n%+v, want\n%+v", how, got, want)
		}
	}
}

// TestManyOddSites checks that sites beyond the limit for separate counts are counted in total.
func TestManyOddSites(t *testing.T) {
	var o, p oddRows
	r := rand.New(rand.NewPCG(1, 1))
	for i := range maxOddSites + 1000 {
		[]*oddRows{&o, &p}[r.IntN(2)].countOddRows(oddSite{SiteID(i), 64}, 2)
	}
	o.merge(&p)
	rows := o.other
	for _, n := range o.bySite {
		rows += n
	}
	if len(o.bySite) != maxOddSites || rows != 2*(maxOddSites+1000) {
		t.Errorf("%d sites, %d rows", len(o.bySite), rows)
	}
}

// TestManyTokens checks that the list of product tokens is reported as incomplete for a hostile file with more of
// them than are kept, with a pack as well.
func TestManyTokens(t *testing.T) {
	var responses []robots.Response
	word := func(n int) (w []byte) {
		for ; n > 0; n /= 26 {
			w = append(w, byte('a'+n%26))
		}
		return w
	}
	for i := range 5 {
		var body []byte
		for k := range 30_000 {
			body = fmt.Appendf(body, "user-agent:z%s\n", word(1+i*30_000+k))
		}
		responses = append(responses, robots.Response{Origin: robots.Origin(fmt.Sprintf("https://%d", i)), Status: 200, Body: body})
	}
	opt := StoreOptions{Dialect: robots.Google, Tokens: true}
	memory, err := BuildStore(sequence(responses), opt)
	if err != nil {
		t.Fatal(err)
	}
	stores := waysToOpen(t, makePack(t, robots.Google, responses...), opt)
	stores["memory"] = memory
	for how, s := range stores {
		if tokens, complete := s.Tokens(); len(tokens) != 1<<17 || complete {
			t.Errorf("%s: %d tokens, complete: %t", how, len(tokens), complete)
		}
	}
}
