package engine

import (
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

// TestListed checks for which rows sitemaps list the URL, with one store and with two, and with skipped rows.
func TestListed(t *testing.T) {
	builder := sitemap.NewBuilder(robots.Google, 0)
	for _, url := range []string{"https://a.com/x", "https://a.com/caf%C3%A9?q=1", "https://bücher.example/", "https://b.com/%7e"} {
		if _, err := builder.AddURL([]byte(url)); err != nil {
			t.Fatal(err)
		}
	}
	set := builder.Set()
	rows := []struct {
		url  string
		want Listed
	}{
		{"https://a.com/x", IsListed},
		{"https://a.com/x#part", IsListed},
		{"HTTPS://A.com:443/x", IsListed},
		{"https://u:p@a.com/x", IsListed},
		{"https://a.com/x/", NotListed},
		{"http://a.com/x", NotListed},
		{"https://a.com/café?q=1", IsListed},
		{"https://a.com/caf%c3%a9?q=1", IsListed},
		{"https://a.com/caf%C3%A9", NotListed},
		{"no URL", ListedUnknown},
		{"https://xn--bcher-kva.example", IsListed},
		{"https://xn--bcher-kva.example/?", NotListed},
		{"https://c.com/x", NotListed},
		{"https://b.com/%7E", IsListed},
		{"https://b.com/~", NotListed},
		{"https://a.com/x", IsListed},
	}
	for _, agents := range []LogAgents{LogAgentsOff, LogAgentsSkip} {
		opt := StoreOptions{Dialect: robots.Google, Sitemaps: set, LogAgents: agents}
		s := buildStore(t, opt, "https://a.com", "User-agent: *\nDisallow: /private")
		b := new(Batch)
		var want []Listed
		for i, row := range rows {
			b.AddURL([]byte(row.url), int64(i+1))
			client := "Googlebot/2.1"
			if i%4 == 1 {
				client = "Mozilla/5.0"
			}
			b.UserAgents = append(b.UserAgents, Span{uint32(len(b.Data)), uint32(len(client))})
			b.Data = append(b.Data, client...)
			if agents == LogAgentsOff || !strings.HasPrefix(client, "Mozilla") {
				want = append(want, row.want)
			}
		}
		s.NewEvaluator().Evaluate(b)
		if len(b.Listed) != len(want) || b.Len() != len(want) {
			t.Fatalf("%d rows, want %d", len(b.Listed), len(want))
		}
		for i, got := range b.Listed {
			if got != want[i] {
				t.Errorf("%s: %d, want %d", b.URL(i), got, want[i])
			}
		}
		if b.Reset(); len(b.Listed) != 0 {
			t.Error("Reset leaves rows")
		}
	}
}
