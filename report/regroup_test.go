package report

import (
	"testing"

	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/robots"
)

// TestRegroup checks that a remedy consists of whole groups for its crawlers, and is empty if their other rules would
// take precedence.
func TestRegroup(t *testing.T) {
	const text = "User-agent: Googlebot\nUser-agent: Googlebot-News\nDisallow: /a/\nAllow: /shop/open\n\nUser-agent: *\nDisallow: /cart\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n"
	color := diagnose.Remedy{Pattern: "/*?color=", Examples: []string{"/list?color=1", "/shop/a?size=2&color=1"}}
	for _, c := range []struct {
		agents     []string
		remedy     diagnose.Remedy
		path, gone string
		code, want string
	}{
		{[]string{"bingbot", "YandexBot"}, color, "", "", "", "User-agent: *\nDisallow: /cart\nAllow: /\nDisallow: /*?color=\nDisallow: /*&color=\n"},
		{[]string{"Googlebot", "bingbot"}, color, "", "", "", "User-agent: Googlebot\nUser-agent: Googlebot-News\nDisallow: /a/\nAllow: /shop/open\nDisallow: /*?color=\nDisallow: /*&color=\n\nUser-agent: *\nDisallow: /cart\nAllow: /\nDisallow: /*?color=\nDisallow: /*&color=\n"},
		{[]string{"Googlebot"}, diagnose.Remedy{Pattern: "/*?color=", Examples: []string{"/shop/open-air?color=1"}}, "", "", "", ""}, // the rule that allows it is longer
		{[]string{"bingbot"}, diagnose.Remedy{Pattern: "/calendar/"}, "", "", "", "User-agent: *\nDisallow: /cart\nAllow: /\nDisallow: /calendar/\n"},
		{[]string{"Googlebot"}, diagnose.Remedy{}, "/a/", "/a/", "", "User-agent: Googlebot\nUser-agent: Googlebot-News\nAllow: /shop/open\n"},
		{[]string{"GPTBot"}, diagnose.Remedy{}, "/a/", "/a/", "", ""}, // another rule closes it
		{[]string{"Googlebot", "bingbot"}, diagnose.Remedy{Pattern: "/a.pdf$", Examples: []string{"/a.pdf"}}, "", "", diagnose.BytesHog, "User-agent: Googlebot\nDisallow: /a/\nAllow: /shop/open\nDisallow: /a.pdf$\n\nUser-agent: Googlebot-News\nDisallow: /a/\nAllow: /shop/open\n\nUser-agent: bingbot\nDisallow: /cart\nAllow: /\nDisallow: /a.pdf$\n"},
		{[]string{"GPTBot"}, diagnose.Remedy{}, "/", "/", diagnose.SiteClosed, "User-agent: GPTBot\n"},
	} {
		if got := regroup([]byte(text), robots.Google, &diagnose.Row{Code: c.code, Agents: c.agents, Path: c.path, Remedy: c.remedy}, c.gone); got != c.want {
			t.Errorf("%v: %q, want %q", c.agents, got, c.want)
		}
	}
}
