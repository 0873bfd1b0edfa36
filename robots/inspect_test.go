package robots_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// remarks writes lines and codes of the diagnostics: "3 typo, 5 nul".
func remarks(r *robots.Report) string {
	var parts []string
	for _, n := range r.Diagnostics {
		parts = append(parts, fmt.Sprintf("%d %s", n.Line, n.Code))
	}
	return strings.Join(parts, ", ")
}

// TestDiagnostics has a case for each code, with the expected diagnostics by dialect; "" stands for all other dialects.
func TestDiagnostics(t *testing.T) {
	const google, rfc, g2010, yandex = "google", "rfc9309", "google-2010", "yandex"
	long := strings.Repeat("x", 16670)
	comments := (robots.MaxBytes - len("user-agent: *\n") - 10) / 2
	cut := "user-agent: *\n" + strings.Repeat("#\n", comments) + "disallow: /private\nallow: /"
	cutAt := fmt.Sprintf("%[1]d too_large, %[1]d cut_line", comments+2)
	for _, c := range []struct {
		name, body string
		want       map[string]string
	}{
		{"nothing", "", map[string]string{"": ""}},
		{"nothing wrong", "# c\nuser-agent: a\nuser-agent: b # c\ndisallow: /x\nallow: /x/y\ndisallow:\nsitemap: https://a.com/s.xml\n", map[string]string{"": ""}},
		{"BOM", "\xef\xbb\xbfuser-agent: *", map[string]string{"": "1 bom"}},
		{"no width", "user-agent: *\ndisallow: /a\u200bb\u200bc\nallow: /x\u00ady", map[string]string{"": "2 garbled_line"}},
		{"policy tokens", "user-agent: usage_ai-training\ndisallow: /\nuser-agent: __Usage_AI-training\ndisallow: /\nuser-agent: __usage_ai-training, GPTBot\ndisallow: /\nuser-agent: __usage_search\nallow: /", map[string]string{
			"":     "1 unknown_policy_group, 5 unknown_policy_group, 7 unknown_policy_group",
			yandex: "1 unknown_policy_group, 3 joined_sections, 5 joined_sections, 5 agent_space, 7 joined_sections, 7 unknown_policy_group",
		}},
		{"rules of a policy", "user-agent: *\ndisallow: /a\n\nuser-agent: __usage_ai-training\ndisallow: /shop\nallow: /shop*\ndisallow: /x\ndisallow: /x\nallow: /page\ndisallow: /*.htm\nallow: /y\nallow: /y/z", map[string]string{
			"": "5 shadowed_rule, 8 duplicate_rule, 12 redundant_rule", g2010: "5 shadowed_rule, 8 duplicate_rule",
		}},
		{"BOM later", "user-agent: a\n\ufeffallow: /", map[string]string{"": "2 garbled_line"}},
		{"UTF-16", "\xff\xfeu\x00s\x00", map[string]string{"": "1 utf16, 1 nul, 1 not_utf8, 1 no_directive"}},
		{"HTML", "\n\r\n <!doctype html>\n<p>x</p>", map[string]string{"": "3 html, 3 no_directive, 4 no_directive", google: "3 html, 3 missing_colon, 3 unknown_field, 4 no_directive"}},
		{"not HTML", "<", map[string]string{"": "1 no_directive, 1 not_robots"}},
		{"NUL", "user-agent: *\ndisallow: /x\x00y", map[string]string{"": "2 nul"}},
		{"not UTF-8", "user-agent: *\ndisallow: /\xff", map[string]string{"": "2 not_utf8"}},
		{"long line", "user-agent: *\ndisallow: /" + long, map[string]string{"": "", google: "2 line_too_long", yandex: "2 line_too_long"}},
		{"too large", cut, map[string]string{"": cutAt}},
		{"no directive", "hello\n: x\na b c", map[string]string{"": "1 no_directive, 1 not_robots, 2 no_directive, 3 no_directive"}},
		{"merge conflict", "user-agent: *\n<<<<<<< Updated upstream\ndisallow: /x\n||||||| 3f2a1bc\n=======\r\ndisallow: /y\n>>>>>>> 3f2a1bc (Fix: robots)\n========\n======= #", map[string]string{
			"": "2 merge_conflict, 4 merge_conflict, 5 merge_conflict, 7 merge_conflict, 8 no_directive, 9 merge_conflict",
		}},
		{"missing colon", "user-agent *\ndisallow /x", map[string]string{"": "1 no_directive, 2 no_directive", google: "1 missing_colon, 2 missing_colon"}},
		{"typo", "useragent: *\ndisalow: /", map[string]string{"": "1 typo, 2 typo", google: "1 typo, 2 typo, 2 all_closed"}},
		{"loose key", "user-agents: *\nallowed: /", map[string]string{"": "1 unknown_field, 2 unknown_field", google: "1 loose_key, 2 loose_key"}},
		{"unknown field", "frobnicate: 1\nuser_agent: *", map[string]string{"": "1 unknown_field, 2 garbled_line"}},
		{"underscore", "user_agent: *\nuser-agent: b\nallow_: /", map[string]string{"": "1 garbled_line, 3 garbled_line", google: "1 garbled_line, 3 loose_key"}},
		{"full width", "User-agent：*\nＤisallow: /x\n", map[string]string{"": "1 garbled_line, 2 garbled_line"}},
		{"cannot be seen", "\u00a0User-agent: *\n\u200bDisallow: /x\nUser-agent:\u00a0*\nDisallow: /y\u2002", map[string]string{
			"": "1 garbled_line, 2 garbled_line, 3 garbled_line, 3 agent_never_matches, 4 garbled_line",
		}},
		{"blank in a key", "user-agent: *\nDis allow: /x\nNo index: /x", map[string]string{"": "2 garbled_line, 3 unknown_field"}},
		{"quotes and bullets", "\"User-agent: *\"\n- Disallow: /x", map[string]string{"": "1 garbled_line, 2 garbled_line"}},
		{"code", "user-agent: *\nuserAgent = \"iOS\";\nfoo = 1;", map[string]string{"": "2 no_directive, 3 no_directive"}},
		{"no line ends", `user-agent: *\ndisallow: /x`, map[string]string{"": "1 joined_lines, 1 agent_never_matches", yandex: "1 joined_lines, 1 agent_space"}},
		{"JSON", `"user-agent: *\r\ndisallow: /x"`, map[string]string{"": "1 joined_lines"}},
		{"one line", "user-agent: * disallow: /x\ndisallow: /y allow: /z\nallow: /see:disallow: x", map[string]string{
			"": "1 joined_lines, 2 joined_lines, 3 space_in_rule", rfc: "1 joined_lines, 2 joined_lines",
			yandex: "1 joined_lines, 1 agent_space, 2 joined_lines, 3 space_in_rule",
		}},
		{"glued", "user-agent: *Disallow: /\nUser-agent: Googlebotdisallow: /a/", map[string]string{
			"": "1 joined_lines, 1 agent_never_matches, 2 joined_lines, 2 agent_cut", yandex: "1 joined_lines, 1 agent_space, 2 joined_lines, 2 agent_space",
		}},
		{"switched off", "user-agent: *\n--disallow: /\n-- disallow: /\n-disallow: /\n_disallow: /\n'disallow: /\n' disallow: /\n'disallow: /x'\n* disallow: /y\n*disallow: /", map[string]string{
			"": "2 unknown_field, 3 unknown_field, 4 unknown_field, 5 unknown_field, 6 unknown_field, 7 unknown_field, 8 garbled_line, 9 garbled_line, 10 unknown_field",
		}},
		{"read as meant", "user-agent: Googlebot\u00a0\ndisallow: \u00a0\nuser-agent: a\u200bb\u00a0\ndisallow: /", map[string]string{
			"": "1 agent_cut, 3 garbled_line, 3 agent_cut", yandex: "1 agent_cut, 3 garbled_line, 3 joined_sections, 3 agent_cut",
		}},
		{"full width at the start", "\uff35ser-agent: *\ndisallow:\u00a0/x", map[string]string{"": "1 garbled_line, 2 garbled_line, 2 rule_without_group"}},
		{"joiner", "user-agent: *\ndisallow: /می\u200c\nnoindex: /*می", map[string]string{"": "3 noindex_open"}},
		{"Noindex", "user-agent: *\ndisallow: /x\nnoindex: /x/y\nnoindex: /z\nnoindex: /*/x$\n\nuser-agent: a\nnoindex: /b\ndisallow: /b\ndisallow: /x\n\nuser-agent: A\ndisallow: /c\nnoindex: /b/c", map[string]string{
			"": "3 unused_field, 4 noindex_open, 5 noindex_open, 8 unused_field, 14 unused_field",
		}},
		{"no robots.txt", "Not Found", map[string]string{"": "1 no_directive, 1 not_robots", google: "1 missing_colon, 1 unknown_field, 1 not_robots"}},
		{"unused field", "noindex: /x\nHost: a.com", map[string]string{"": "1 unused_field, 2 unused_field", yandex: "1 unused_field"}},
		{"no group", "disallow: /\ncrawl-delay: 1\nuser-agent: a\nallow: /", map[string]string{
			"": "1 rule_without_group, 2 unused_field, 2 rule_without_group", yandex: "1 rule_without_group, 2 rule_without_group",
		}},
		{"missing slash", "user-agent: *\ndisallow: x\ndisallow: *y\nallow:", map[string]string{"": "2 no_leading_slash, 4 empty_allow", yandex: "2 no_leading_slash, 4 empty_allow, 4 all_closed"}},
		{"agents", "user-agent: 008\nuser-agent: a/1.0\nuser-agent: * x\nuser-agent:\nallow: /", map[string]string{
			"": "1 agent_never_matches, 2 agent_cut, 3 joined_groups, 4 agent_never_matches", yandex: "1 agent_never_matches, 2 agent_cut, 3 agent_space, 4 agent_never_matches",
		}},
		{"several agents", "user-agent: a, b\nuser-agent: c d\nuser-agent: e (f)\nuser-agent: g,\nallow: /", map[string]string{
			"": "1 agent_list, 2 agent_space, 3 agent_cut, 4 agent_cut", yandex: "1 agent_space, 2 agent_space, 3 agent_space, 4 agent_cut",
		}},
		{"agents with spaces", "user-agent: Googlebot Bingbot\nuser-agent: Screaming Frog SEO Spider\nuser-agent: a b, c\nuser-agent: a;b\nuser-agent: a 1\nallow: /", map[string]string{
			"":     "1 agent_list, 2 agent_space, 3 agent_space, 4 agent_list, 5 agent_cut",
			yandex: "1 agent_space, 2 agent_space, 3 agent_space, 4 agent_list, 5 agent_space",
		}},
		{"escapes", "user-agent: *\ndisallow: /%61pi\nallow: /%7e\ndisallow: /%C3%A9%2F%2a%2g%\ndisallow: /x%4", map[string]string{"": "2 needless_escape, 3 needless_escape", rfc: ""}},
		{"space", "user-agent: *\ndisallow: /a b\ndisallow: /c # d", map[string]string{"": "2 space_in_rule", rfc: ""}},
		{"delay only", "user-agent: a\ncrawl-delay: 1\nuser-agent: b\ndisallow: /\nuser-agent: c\ncrawl-delay: 2", map[string]string{
			"":     "2 unused_field, 2 delay_only_group, 6 unused_field, 6 delay_only_group",
			yandex: "2 delay_only_group, 3 joined_sections, 5 joined_sections, 6 delay_only_group",
		}},
		{"blank line", "user-agent: a\n\ndisallow: /x\n\ndisallow: /y\n\nuser-agent: b\ndisallow: /", map[string]string{"": "", yandex: "3 blank_in_section, 5 blank_in_section"}},
		{"duplicate", "user-agent: a\ndisallow: /x\nuser-agent: b\ndisallow: /x\nuser-agent: A\ndisallow: /x*", map[string]string{"": "2 duplicate_rule", g2010: "6 duplicate_rule", yandex: "3 joined_sections, 5 joined_sections, 6 duplicate_rule"}},
		{"shadowed", "user-agent: a\ndisallow: /x\nallow: /x\nallow: /y\ndisallow: /y**", map[string]string{
			"": "2 shadowed_rule, 4 shadowed_rule", g2010: "2 shadowed_rule, 5 shadowed_rule", yandex: "2 shadowed_rule, 5 shadowed_rule",
		}},
		{"covered", "user-agent: a\ndisallow: /a\nallow: /*b*c\ndisallow: /***\nallow: /*$", map[string]string{
			"": "2 duplicate_rule, 5 shadowed_rule", g2010: "3 undefined_pair, 5 undefined_pair", yandex: "4 shadowed_rule",
		}},
		{"undefined pair", "user-agent: a\nallow: /p\ndisallow: /page\ndisallow: /*.htm", map[string]string{"": "", g2010: "4 undefined_pair"}},
		{"no undefined pair", "user-agent: a\nallow: /p\ndisallow: /pa\ndisallow: /pa*.htm\nallow: /x*$", map[string]string{"": "4 redundant_rule", g2010: ""}},
		{"not covered", "user-agent: a\ndisallow: /aab\nallow: /*a*a*$b\ndisallow: /x*y*z$\ndisallow: /xyz", map[string]string{
			"": "3 middle_dollar", g2010: "3 middle_dollar, 3 undefined_pair, 4 undefined_pair",
		}},
		{"other directives", "crawl-delay: x\nhost: 1.2.3.4\nhost: a.com\nhost: b.com\nclean-param: a b c\nsitemap: /x", map[string]string{
			"":     "1 unused_field, 1 bad_crawl_delay, 1 rule_without_group, 2 unused_field, 2 bad_host, 3 unused_field, 4 unused_field, 4 extra_host, 5 unused_field, 5 bad_clean_param, 6 bad_sitemap",
			yandex: "1 bad_crawl_delay, 1 rule_without_group, 2 bad_host, 4 extra_host, 5 bad_clean_param, 6 bad_sitemap",
		}},
		{"http host", "host: http://a.com\nhost: https://b.com:443", map[string]string{
			"": "1 unused_field, 1 bad_host, 2 unused_field", yandex: "1 bad_host",
		}},
		{"commented value", "user-agent: a\ndisallow: #not/like/this\nallow:#nor this\ndisallow: # all\ndisallow: /x # but this\n", map[string]string{
			"":     "2 commented_value, 3 commented_value, 3 empty_allow",
			yandex: "2 commented_value, 3 commented_value, 3 empty_allow, 3 shadowed_rule, 4 duplicate_rule",
		}},
		{"cut rule", "user-agent: a\ndisallow: /tag/#top\nallow: /x#y\ndisallow: /c#\ndisallow: /d# why\ndisallow: /e #f\n", map[string]string{
			"": "2 cut_rule, 3 cut_rule, 4 cut_rule",
		}},
		{"cut rule that closes", "user-agent: a\ndisallow: /#/admin\n\nuser-agent: b\ndisallow: *#x\n\nuser-agent: c\nallow: /#x\ndisallow: /y\n", map[string]string{
			"": "2 cut_rule_closes, 5 cut_rule_closes, 8 cut_rule",
		}},
		{"dollar in the middle", "user-agent: a\ndisallow: /*.php$/\nallow: /foo$bar\ndisallow: /x$\ndisallow: /y%24z\n", map[string]string{
			"": "2 middle_dollar, 3 middle_dollar", g2010: "2 middle_dollar, 2 undefined_pair, 3 middle_dollar",
		}},
		{"joined sections", "user-agent: a\ndisallow: /\nuser-agent: b\n# c\nuser-agent: c\ndisallow: /\n\n# d\nuser-agent: d\ndisallow: /", map[string]string{
			"": "", yandex: "3 joined_sections",
		}},
		{"before rules", "host: a.com\nuser-agent: a\ncrawl-delay: 1\nhost: b.com\ndisallow: /\ncrawl-delay: 2\n\nuser-agent: b\ncrawl-delay: 1", map[string]string{
			"":     "1 unused_field, 3 unused_field, 4 unused_field, 4 extra_host, 6 unused_field, 9 unused_field, 9 delay_only_group",
			yandex: "3 before_rules, 4 extra_host, 9 delay_only_group",
		}},
		{"all closed", "user-agent: *\ndisallow: /\n\nuser-agent: x\ndisallow: /", map[string]string{"": "2 all_closed"}},
		{"all closed for one", "user-agent: Bingbot\ndisallow: *\n\nuser-agent: GPTBot\ndisallow: /", map[string]string{"": "2 all_closed"}},
		{"closed but for a list", "user-agent: *\ndisallow: /\n\nuser-agent: Googlebot\nuser-agent: bingbot\nuser-agent: Yandex\ndisallow: /x", map[string]string{
			"": "", yandex: "",
		}},
		{"closed but for what is no page", "user-agent: *\nallow: /robots.txt\nallow: /.well-known/a\nallow: /*.css$\nallow: /*.JS\ndisallow: /\n", map[string]string{"": "6 all_closed", g2010: "4 undefined_pair, 5 undefined_pair, 6 all_closed"}},
		{"open home page", "user-agent: *\nallow: /$\nallow: /ads.txt\ndisallow: /", map[string]string{"": ""}},
		{"open name that is like a file", "user-agent: *\nallow: /css\ndisallow: /\n\nuser-agent: bingbot\nallow: /a.txt/\ndisallow: /", map[string]string{"": ""}},
		{"not all closed", "user-agent: *\nallow: /a\ndisallow: /", map[string]string{"": ""}},
		{"joined groups", "user-agent: a\nuser-agent: *\nuser-agent: b\ndisallow: /x\nuser-agent: *\ndisallow: /y", map[string]string{
			"": "2 joined_groups, 5 multiple_star_groups", yandex: "2 joined_groups, 5 joined_sections, 5 multiple_star_groups",
		}},
		{"names", "user-agent: Googelbot\nuser-agent: GPTbot\nuser-agent: Google-Read-Aloud\nuser-agent: x\ndisallow: /x", map[string]string{
			"": "1 agent_typo, 3 agent_ignores",
		}},
		{"short names", "user-agent: AIBOT\nuser-agent: crcbot\nuser-agent: gpt-bot\ndisallow: /x", map[string]string{"": "3 agent_typo"}},
		{"extensions", "license: /l\nlicense: https://a.example/l\ncontent-signal: a=b\nuser-agent: x\nContent-Usage: a=b\ndisallow: /x", map[string]string{
			"": "1 unused_field, 1 license_not_absolute, 2 unused_field, 3 unused_field, 3 content_signal_outside_group, 3 bad_content_signal, 5 unused_field, 5 unknown_content_usage",
		}},
		{"usage", "user-agent: *\ncontent-usage: train-ai=n\ncontent-usage: *.pdf train-ai=n\ncontent-usage: /a Train-AI=n\ncontent-usage: bots=n, search=no\n" +
			"content-signal: search=yes\ncontent-signal: /a search=y\ncontent-signal: use=full, use=reference\nallow: /", map[string]string{
			"": "2 unused_field, 3 unused_field, 3 bad_content_usage, 4 unused_field, 4 bad_content_usage, 5 unused_field, 5 unknown_content_usage, " +
				"5 unknown_content_usage, 6 unused_field, 7 unused_field, 7 bad_content_signal, 7 bad_content_signal, 8 unused_field, 8 bad_content_signal",
		}},
		{"retired name", "user-agent: Anthropic-AI\nuser-agent: claude-web\nuser-agent: claude\ndisallow: /", map[string]string{"": "1 agent_retired, 2 agent_retired"}},
		{"whole URLs", "user-agent: *\ndisallow: https://a.example/x\nallow: HTTP://b.example\ndisallow: http:/x\ndisallow: /https://a.example/", map[string]string{
			"": "2 full_url_rule, 3 full_url_rule, 4 no_leading_slash", g2010: "2 full_url_rule, 2 redundant_rule, 3 full_url_rule, 4 no_leading_slash",
		}},
		{"many rules", "user-agent: *\n" + manyRules(2049), map[string]string{"": "", yandex: "2050 too_many_rules"}},
	} {
		for _, d := range []string{google, rfc, g2010, yandex} {
			dialect, err := robots.ParseDialect(d)
			if err != nil {
				t.Fatal(err)
			}
			want, own := c.want[d]
			if !own {
				want = c.want[""]
			}
			if got := remarks(robots.Inspect([]byte(c.body), dialect)); got != want {
				t.Errorf("%s: %s: %s, want %s", c.name, d, got, want)
			}
		}
	}
}

func manyRules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "disallow: /%d/\n", i)
	}
	return b.String()
}

// TestInherit checks the reports of groups whose crawlers do not obey the rules for "*". Groups for which this seems
// intended are not reported.
func TestInherit(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"own rules", "user-agent: *\ndisallow: /a\n\nuser-agent: Googlebot\ndisallow: /b", "4 the rules for * do not bind Googlebot: line 2 Disallow: /a"},
		{"before *", "user-agent: x\nuser-agent: y\nuser-agent: z\ndisallow: /b\n\nuser-agent: *\ndisallow: /1\ndisallow: /2\ndisallow: /3\ndisallow: /4\ndisallow: /5", "1 the rules for * do not bind x and 2 more names: line 7 Disallow: /1, line 8 Disallow: /2, line 9 Disallow: /3 and 2 more"},
		{"several groups of a name", "user-agent: x\ndisallow: /b\n\nuser-agent: *\ndisallow: /a\n\nuser-agent: X\ndisallow: /c", "1 the rules for * do not bind x: line 5 Disallow: /a"},
		{"Allow alone at a closed site", "user-agent: *\ndisallow: /\n\nuser-agent: x\nallow: /public/", "4 the rules for * do not bind x: line 2 Disallow: /"},
		{"wildcards", "user-agent: *\ndisallow: /*?s=\ndisallow: /*.pdf$\n\nuser-agent: x\ndisallow: /*.pdf", "5 the rules for * do not bind x: line 2 Disallow: /*?s="},
		{"own rules at a closed site", "user-agent: x\ndisallow: /search\n\nuser-agent: *\ndisallow: /", ""},
		{"open", "user-agent: *\ndisallow: /a\n\nuser-agent: x\ndisallow:\n\nuser-agent: y\nallow: /\ndisallow: /b\n\nuser-agent: z\nallow: /*", ""},
		{"closed", "user-agent: *\ndisallow: /a\n\nuser-agent: x\ndisallow: /", ""},
		{"covered", "user-agent: *\ndisallow: /a/b\n\nuser-agent: x\ndisallow: /a", ""},
		{"repeated", "user-agent: *\ndisallow: /a\ndisallow: /b*\n\nuser-agent: x\ndisallow: /b\ndisallow: /c", ""},
		{"joined", "user-agent: *\nuser-agent: x\ndisallow: /a\n\nuser-agent: x\ndisallow: /b", ""},
		{"not for *", "user-agent: *\nallow: /a\ndisallow:\n\nuser-agent: x\ndisallow: /b", ""},
		{"never forbidden", "user-agent: *\ndisallow: /a\nallow: /a\n\nuser-agent: x\ndisallow: /b", ""},
		{"not bound by *", "user-agent: *\ndisallow: /a\n\nuser-agent: AdsBot-Google\ndisallow: /b\n\nuser-agent: Google-Read-Aloud\ndisallow: /c", ""},
		{"of a family", "user-agent: *\ndisallow: /a\n\nuser-agent: Googlebot\nallow: /\n\nuser-agent: Googlebot-Image\ndisallow: /b", ""},
	} {
		var got []string
		for _, n := range robots.Inspect([]byte(c.body), robots.Google).Diagnostics {
			if n.Code == "not_inherited" {
				got = append(got, fmt.Sprintf("%d %s", n.Line, n.Text))
			}
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestBlockedAssets checks that rules for style sheets and scripts are reported for the search engines that they bind.
func TestBlockedAssets(t *testing.T) {
	for body, want := range map[string]string{
		"user-agent: *\ndisallow: /js/\ndisallow: /a/CSS\ndisallow: /b/*.js$\ndisallow: /a/*.css?*":                                             "2 Googlebot, bingbot scripts, 3 Googlebot, bingbot style sheets, 4 Googlebot, bingbot scripts, 5 Googlebot, bingbot style sheets",
		"user-agent: *\ndisallow: /js/\n\nuser-agent: Googlebot\nallow: /":                                                                      "2 bingbot scripts",
		"user-agent: *\ndisallow: /js/\nallow: /*.js$":                                                                                          "",
		"user-agent: *\ndisallow: /\ndisallow: /js/":                                                                                            "",
		"user-agent: *\ndisallow: /js$\ndisallow: /a.js\ndisallow: /*.json\ndisallow: /*.jsp$\ndisallow: /njs/\ndisallow: /js/x/\nallow: /css/": "",
		"user-agent: x\ndisallow: /js/":                                                                                                         "",
	} {
		var got []string
		for _, n := range robots.Inspect([]byte(body), robots.Google).Diagnostics {
			if n.Code == "blocked_assets" {
				text, remedy, _ := strings.Cut(n.Text, " here, so pages are rendered without them: ")
				mended := strings.Split(body, "\n")
				if rule, ok := strings.CutPrefix(remedy, "add "); ok {
					mended[n.Line-1] += "\n" + rule
				} else {
					mended[n.Line-1] = "# " + remedy
				}
				for _, left := range robots.Inspect([]byte(strings.Join(mended, "\n")), robots.Google).Diagnostics {
					if left.Code == n.Code && left.Line == n.Line {
						t.Errorf("%q: %q leaves %v", body, remedy, left)
					}
				}
				got = append(got, fmt.Sprintf("%d %s", n.Line, strings.Replace(text, "may not fetch ", "", 1)))
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

// TestAbout checks that a sitemap with http is reported only for an origin with https, and a disallowed one only if it
// is of the same site.
func TestAbout(t *testing.T) {
	const forbids = "user-agent: *\ndisallow: /s\n"
	for _, c := range []struct {
		origin robots.Origin
		body   string
		want   string
	}{
		{"https://a.example", "sitemap: http://a.example/s", "1 http_sitemap"},
		{"https://www.a.example", "sitemap: HTTP://A.example/s", "1 http_sitemap"},
		{"https://a.example", "sitemap: http://cdn.a.example/s\nsitemap: http://a.example:8080/s\nsitemap: https://a.example/s", ""},
		{"http://a.example", "sitemap: http://a.example/s", ""},
		{"", "sitemap: http://a.example/s", ""},
		{"https://a.example", forbids + "sitemap: https://a.example/s", "3 blocked_sitemap"},
		{"https://a.example", forbids + "sitemap: http://a.example/s", "3 http_sitemap, 3 blocked_sitemap"},
		{"", forbids + "sitemap: https://a.example/s\nsitemap: https://A.example/t", "3 blocked_sitemap"},
		{"", forbids + "sitemap: https://a.example/s\nsitemap: https://b.example/s", ""},
		{"https://a.example", forbids + "sitemap: https://b.example/s\nsitemap: https://a.example:444/s\nsitemap: https://a.example/t\nsitemap: /s", "6 bad_sitemap"},
		{"https://a.example", "sitemap: https://a b.example/s\nsitemap: https://a.example:65536/s\nsitemap: https://a<b.example/s\nsitemap: https://a.example\\@b.example/s\nsitemap: https://[::1]:8/s\nsitemap: https://b_c.example.:443/s", "1 bad_sitemap, 2 bad_sitemap, 3 bad_sitemap, 4 bad_sitemap"},
		{"https://a.example", "user-agent: *\ndisallow: /\nsitemap: https://a.example/s", "2 all_closed"},
		{"https://a.example", "user-agent: *\ndisallow: /\n\nuser-agent: bingbot\ndisallow: /*.xml\n\nsitemap: https://a.example/s.xml", "2 all_closed, 7 blocked_sitemap"},
	} {
		r := robots.Inspect([]byte(c.body), robots.Google)
		r.Diagnostics = r.About(c.origin)
		if got := remarks(r); got != c.want {
			t.Errorf("%s: %q: %s, want %s", c.origin, c.body, got, c.want)
		}
	}
}

// TestDiagnosticsShort checks that a long rule is not quoted whole in the diagnostics of all rules that it shadows.
func TestDiagnosticsShort(t *testing.T) {
	body := "user-agent: *\ndisallow: /" + strings.Repeat("*", 250_000) + "\n" + strings.Repeat("allow: /\n", 20_000)
	total := 0
	for _, n := range robots.Inspect([]byte(body), robots.RFC9309).Diagnostics {
		total += len(n.Text)
	}
	if total == 0 || total > 20*len(body) {
		t.Errorf("%d bytes of diagnostics for %d", total, len(body))
	}
}

// TestShadowedHarmless deletes the rules that are reported as useless from the real files of the quick start: the
// verdict on paths made from all patterns does not change.
func TestShadowedHarmless(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(quickstart, "rules", "*.txt"))
	if err != nil || len(names) == 0 {
		t.Skip("no files to inspect")
	}
	useless, asked := 0, 0
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := robots.Inspect(body, robots.Google)
		rules, _ := r.File.Select(robots.Agent{})
		if len(rules) > 300 {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(rules), func(rule robots.Rule) bool {
			return slices.ContainsFunc(r.Diagnostics, func(n robots.Diagnostic) bool {
				return n.Line == rule.Line && (n.Code == robots.CodeDuplicate || n.Code == robots.CodeShadowed)
			})
		})
		useless += len(rules) - len(left)
		for _, rule := range rules {
			for _, filler := range []string{"", "x", "/"} {
				path := []byte(strings.ReplaceAll(strings.TrimSuffix(rule.Pattern, "$"), "*", filler))
				asked++
				if a, b := allows(rules, path), allows(left, path); a != b {
					t.Errorf("%s: %s is allowed %v, without useless rules %v", name, path, a, b)
				}
			}
		}
	}
	t.Logf("%d rules without effect, %d paths", useless, asked)
}

func allows(rules []robots.Rule, path []byte) bool {
	i := robots.Decide(rules, path, robots.Google)
	return i < 0 || rules[i].Allow
}

// TestShapes compares the matcher of the diagnostics with Matches.
func TestShapes(t *testing.T) {
	for _, pattern := range words("/a*$", 5) {
		for _, text := range words("/a*", 4) {
			if !strings.HasPrefix(text, "/") {
				continue
			}
			if want := robots.Matches(pattern, []byte(text)); robots.ShapeMatches(pattern, text) != want {
				t.Errorf("%q matches %q: %v, want %v", pattern, text, !want, want)
			}
		}
	}
}

// TestGoogleLinesDiagnostics compares the diagnostics of each line with its classification by google/robotstxt.
func TestGoogleLinesDiagnostics(t *testing.T) {
	type file struct {
		ID     string              `json:"id"`
		Robots string              `json:"robots"`
		Base64 string              `json:"robots_b64"`
		Lines  [][]json.RawMessage `json:"lines"`
	}
	lines, noted := 0, 0
	for _, f := range repcase.Lines[file](t, "google-lines") {
		body := []byte(f.Robots)
		if f.Base64 != "" {
			body, _ = base64.StdEncoding.DecodeString(f.Base64)
		}
		got := map[int]map[robots.Code]bool{}
		for _, n := range robots.Inspect(body, robots.Google).Diagnostics {
			if got[int(n.Line)] == nil {
				got[int(n.Line)] = map[robots.Code]bool{}
			}
			got[int(n.Line)][n.Code] = true
		}
		for i, raw := range f.Lines {
			lines++
			var tag, flags string
			if json.Unmarshal(raw[1], &tag) != nil || json.Unmarshal(raw[2], &flags) != nil {
				t.Fatalf("%s: line %d is %s", f.ID, i+1, raw)
			}
			for code, want := range codesOf(tag, flags) {
				said := got[i+1][code]
				if want && !said { // another code is more specific
					said = code == "unused_field" && got[i+1]["noindex_open"] || (code == "unknown_field" || code == "no_directive") && got[i+1]["garbled_line"]
				}
				if said != want {
					t.Errorf("%s: line %d, %s %s: %s %v, want %v", f.ID, i+1, tag, flags, code, got[i+1][code], want)
				}
				if want {
					noted++
				}
			}
		}
	}
	t.Logf("google-lines: %d lines, %d diagnostics", lines, noted)
}

// codesOf returns the diagnostics that a line must have, and those that it must not have.
func codesOf(tag, flags string) map[robots.Code]bool {
	has := func(flag string) bool { return strings.Contains(flags, flag) }
	return map[robots.Code]bool{
		robots.CodeTypo:        has("T"),
		robots.CodeNoColon:     has("M"),
		robots.CodeLineTooLong: has("L"),
		robots.CodeUnused:      tag == "unused",
		robots.CodeUnknown:     tag == "unknown" && has("D"),
		robots.CodeNoDirective: !has("D") && !has("E") && !has("C"),
	}
}

// TestDirectivesInAllDialects checks that all dialects read Sitemap, Crawl-delay, Host and Clean-param in the same way.
func TestDirectivesInAllDialects(t *testing.T) {
	const body = "Host: example.com/\nClean-param: a&&b /x*y\nuser-agent: a\ncrawl-delay: 1.5\ncrawl-delay: 2\nuser-agent: b\ndisallow:\n" +
		"user-agent: *\nCrawl-Delay: 3\nsitemap: https://a.com/ s\nhost: https://Example.com:8080\nclean-param: c\nuser-agent: b\ncrawl-delay: -1\nuser-agent: d\nuser-agent: e\ncrawl-delay: .5"
	for _, d := range named {
		r := robots.Inspect([]byte(body), d)
		for name, want := range map[string]string{"a": "1.5 true", "b": "0 false", "c": "3 true", "*": "3 true", "d": "0.5 true", "E/1": "0.5 true"} {
			s, ok := r.CrawlDelay(robots.NewAgent(name, d))
			if got := fmt.Sprint(s, ok); got != want {
				t.Errorf("%v: delay of %s is %s, want %s", d, name, got, want)
			}
		}
		if got := fmt.Sprint(r.Sitemaps, r.Host()); got != "[{10 https://a.com/ s}]https://Example.com:8080" {
			t.Errorf("%v: %s", d, got)
		}
		if fmt.Sprint(r.CleanParams) != "[{2 [a b] /x*y /x*y} {12 [c] / /}]" {
			t.Errorf("%v: %v", d, r.CleanParams)
		}
	}
	if _, ok := (&robots.Report{}).CrawlDelay(robots.Agent{IgnoresStar: true}); ok {
		t.Error("an empty file has a delay")
	}
}

func TestHost(t *testing.T) {
	for value, want := range map[string]bool{
		"example.com": true, "www.example.com:8080": true, "HTTPS://example.com": true, "https://example.com:443": true, "пример.рф": true, "1.example": true,
		"": false, "localhost": false, "1.2.3.4": false, "1.2.3.4:80": false, "[::1]": false, "::1": false, "a..b": false, ".a.b": false, "a.b.": false,
		"-a.b": false, "a-.b": false, "a_b.c": false, "a.b/": false, "a.b c.d": false, "a.b:0": false, "a.b:": false, "a.b:65536": false, "ftp://a.b": false, "http://a.b": false, // the examples of Yandex have only https
		"a.\xff": false,
	} {
		r := robots.Inspect([]byte("Host: "+value), robots.Yandex)
		if got := r.Host() != ""; got != want {
			t.Errorf("host %q: valid %v, want %v", value, got, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	r := robots.Inspect([]byte("Clean-param: ref&s /some_dir/*.pl\nClean-param: Sid\nClean-param: é /é\nclean-param: x "+strings.Repeat("/y", 300)), robots.Yandex)
	for url, want := range map[string]string{
		"http://a.com/some_dir/get_book.pl?ref=site_1&book_id=123": "http://a.com/some_dir/get_book.pl?book_id=123",
		"http://a.com/some_dir/get_book.pl?book_id=1&s&ref=2#f":    "http://a.com/some_dir/get_book.pl?book_id=1#f",
		"http://a.com/other/get_book.pl?ref=site_1":                "http://a.com/other/get_book.pl?ref=site_1",
		"http://a.com/?Sid=1":                                      "http://a.com/",
		"http://a.com?Sid=1&sid=2":                                 "http://a.com?sid=2",
		"http://a.com/%c3%a9?é=1&ref=&":                            "http://a.com/%c3%a9?ref=&",
		"http://a.com/x#?Sid=1":                                    "http://a.com/x#?Sid=1",
		"http://a.com/x?":                                          "http://a.com/x?",
		"no url?Sid=1":                                             "no url?Sid=1",
	} {
		if got := string(r.CleanParams.AppendCanonical([]byte("> "), []byte(url), robots.Yandex)); got != "> "+want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// TestInspectLinear checks that hostile files take no longer than others of their size.
func TestInspectLinear(t *testing.T) {
	var many, stars, wide bytes.Buffer
	for i := 0; many.Len() < robots.MaxBytes; i++ { // crawlers of several groups each, in all combinations
		fmt.Fprintf(&many, "user-agent: %s\n", strings.Map(func(r rune) rune { return r - '0' + 'a' }, strconv.Itoa(i%9000)))
		if i%9000 == 0 {
			many.WriteString(manyRules(2000))
		}
	}
	for i := 0; stars.Len() < robots.MaxBytes; i++ {
		fmt.Fprintf(&stars, "disallow: /%d*a*b\n", i)
	}
	for i := 0; wide.Len() < robots.MaxBytes; i++ { // as many rules with "*" as possible
		fmt.Fprintf(&wide, "allow:*%x\n", i)
	}
	var heirs, blocked bytes.Buffer // many groups that do not inherit many rules; many rules about scripts
	heirs.WriteString("user-agent: *\n" + manyRules(10_000))
	for i := 0; heirs.Len() < robots.MaxBytes; i++ {
		name := strings.Map(func(r rune) rune { return r - '0' + 'a' }, strconv.Itoa(i))
		fmt.Fprintf(&heirs, "user-agent: %s\ndisallow: /*%s*b*c*d\n", name, name)
	}
	blocked.WriteString("user-agent: *\n")
	for i := 0; blocked.Len() < robots.MaxBytes; i++ {
		fmt.Fprintf(&blocked, "disallow: /%d/*.js\nsitemap: http://a.b/%d/x.js\n", i, i)
	}
	var closed, opened bytes.Buffer // Noindex after many rules, and after many groups
	closed.WriteString("user-agent: *\n" + manyRules(10_000))
	for i := 0; opened.Len() < robots.MaxBytes; i++ {
		fmt.Fprintf(&closed, "noindex: /x%d\n", i)
		fmt.Fprintf(&opened, "user-agent: *\ndisallow: /b%d\nnoindex: /c\n", i)
	}
	for _, body := range [][]byte{
		closed.Bytes(), opened.Bytes(),
		heirs.Bytes(), blocked.Bytes(),
		append([]byte("user-agent: *\n"), wide.Bytes()...),
		many.Bytes(), append([]byte("user-agent: *\n"), stars.Bytes()...), bytes.Repeat([]byte("x\n"), robots.MaxBytes/2),
		bytes.Repeat([]byte("frob: /\n"), robots.MaxBytes/8), append([]byte("user-agent: *\nallow: /"), bytes.Repeat([]byte("*a"), robots.MaxBytes/2)...),
	} {
		r := robots.Inspect(body, robots.Google)
		if !slices.IsSortedFunc(r.About("https://a.b"), func(a, b robots.Diagnostic) int { return int(a.Line - b.Line) }) {
			t.Error("diagnostics are not in the order of lines")
		}
	}
}

// FuzzInspect checks for any body that the rules are those of Parse, and that the line numbers are in the file.
func FuzzInspect(f *testing.F) {
	f.Add([]byte("user-agent: a\ncrawl-delay: 1\nclean-param: a&b /\nhost: a.b\n\nsitemap: x\r\nallow: /**\ndisallow: /a*\x00\xff"))
	f.Add([]byte("\xef\xbb\n<html>\nuser-agent *\ndisalow /x\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range allDialects {
			r := robots.Inspect(body, d)
			if got, want := dump(r.File), dump(robots.Parse(body, d)); got != want {
				t.Errorf("%v: rules %s, want %s", d, got, want)
			}
			lines := int32(len(splitLines(body)))
			for _, n := range r.Diagnostics {
				if n.Line < 1 || n.Line > lines || n.Code == "" || n.Text == "" {
					t.Errorf("%v: diagnostic %+v of %d lines", d, n, lines)
				}
			}
			for _, c := range r.CleanParams {
				if len(c.Params) == 0 || c.Path == "" {
					t.Errorf("clean-param %+v", c)
				}
			}
		}
	})
}

// TestDelayOnlyChain checks that groups with only a Crawl-delay share the rules of the next group if a later group has
// rules.
func TestDelayOnlyChain(t *testing.T) {
	const free, next = "its crawlers may fetch everything", "the next group's rules also apply to its crawlers"
	const chain = "user-agent: a\ncrawl-delay: 1\nuser-agent: b\ncrawl-delay: 2\n"
	for body, want := range map[string][]string{
		chain:                                   {free, free},
		chain + "user-agent: c\n":               {free, free},
		chain + "user-agent: c\ndisallow: /x\n": {next, next},
		chain + "user-agent: c\ndisallow: /x\n" + chain:          {next, next, free, free},
		"user-agent: c\ndisallow: /x\n" + chain + "\nsitemap: /": {free, free},
	} {
		var got []string
		for _, d := range robots.Inspect([]byte(body), robots.Google).Diagnostics {
			if d.Code == "delay_only_group" {
				_, effect, _ := strings.Cut(d.Text, ": ")
				got = append(got, effect)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}
