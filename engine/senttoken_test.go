package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/robots"
)

// dialectsOfTest returns all dialects, and each of them with WideTokens.
func dialectsOfTest(t *testing.T) (all []robots.Dialect) {
	t.Helper()
	for _, name := range robots.Dialects() {
		d, err := robots.ParseDialect(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d, d|robots.WideTokens)
	}
	return all
}

// A sentRequest is a request to a site with a robots.txt.
type sentRequest struct{ text, header, path string }

// url returns the URL of request i. Each has a different origin.
func (r *sentRequest) url(i int) string { return fmt.Sprintf("https://site%d.example%s", i, r.path) }

// A judgment is a store's answer to a request.
type judgment struct {
	who                string
	allowed, violation bool
}

// judge returns the answers to requests.
func judge(t *testing.T, d robots.Dialect, requests []sentRequest) (all []judgment) {
	t.Helper()
	var pairs []string
	var rows []logRow
	for i, r := range requests {
		pairs = append(pairs, fmt.Sprintf("https://site%d.example", i), r.text)
		rows = append(rows, logRow{r.header, r.url(i)})
	}
	s := buildStore(t, StoreOptions{Dialect: d, LogAgents: LogAgentsStar}, pairs...)
	b := logBatch(rows)
	s.NewEvaluator().Evaluate(b)
	look := s.NewLookup()
	look.Use(b)
	for i := range rows {
		all = append(all, judgment{look.AgentName(b.Rulings[i], int(b.Agents[i])), b.Verdicts[i].Access == Allowed, b.Violations[i] == Violated})
	}
	return all
}

// TestSentToken checks that a group for the product token that a crawler sends decides its requests, whatever the
// groups for "*" and for all other crawlers contain: for each name in the table, in each dialect.
func TestSentToken(t *testing.T) {
	var others strings.Builder
	for _, c := range crawlers.Set("all") {
		fmt.Fprintf(&others, "User-agent: %s\n", c.Token)
	}
	for _, d := range dialectsOfTest(t) {
		var requests []sentRequest
		var want []judgment
		for _, c := range crawlers.Set("all") {
			for _, name := range c.Names {
				sent := string(robots.NewAgent(name, d).Token)
				if sent == "" { // 360Spider, unless tokens may contain digits
					if d.Has(robots.WideTokens) {
						t.Errorf("%q has no product token", name)
					}
					continue
				}
				text := "User-agent: " + sent + "\nDisallow: /own\n" + withoutToken(others.String(), sent, d) + "User-agent: *\nDisallow: /other\n"
				requests = append(requests, sentRequest{text, name + "/1.0", "/own"}, sentRequest{text, name + "/1.0", "/other"})
				want = append(want, judgment{c.Token, false, !c.Unbound && !c.Unstated}, judgment{c.Token, true, false})
			}
		}
		if len(requests) < 200 {
			t.Errorf("only %d requests", len(requests))
		}
		for i, got := range judge(t, d, requests) {
			if got != want[i] {
				t.Errorf("%v: %s of %q is %+v, want %+v", d, requests[i].path, requests[i].header, got, want[i])
			}
		}
	}
}

// withoutToken returns the user-agent lines of a text, except for those with a token.
func withoutToken(lines, token string, d robots.Dialect) string {
	var sb strings.Builder
	for line := range strings.Lines(lines) {
		if name := strings.TrimSpace(strings.TrimPrefix(line, "User-agent:")); !robots.NewAgent(name, d).Token.Equal(robots.ProductToken(token)) {
			sb.WriteString(line)
		}
	}
	return sb.String()
}

// TestFallbackOrder checks the order of groups that the sources in crawlers.tsv state for crawlers with two names.
func TestFallbackOrder(t *testing.T) {
	const closed, open = "Disallow: /\n", "Allow: /\n"
	for _, c := range []struct {
		header, text string
		who          string
		allowed      string // in rfc9309, google, google-2010 and yandex: "+" if this text allows, "-" if it disallows
	}{
		// Bing's blog of June 2010: bingbot obeys groups for msnbot, unless there is one for bingbot.
		{"bingbot/2.0", "User-agent: msnbot\n" + closed, "bingbot", "+---"},
		{"bingbot/2.0", "User-agent: msnbot\n" + closed + "User-agent: bingbot\n" + open, "bingbot", "++++"},
		{"bingbot/2.0", "User-agent: msnbot\n" + open + "User-agent: *\n" + closed, "bingbot", "-+++"},
		{"msnbot/2.0b", "User-agent: msnbot\n" + open + "User-agent: bingbot\n" + closed, "msnbot", "++++"},
		{"msnbot/2.0b", "User-agent: bingbot\n" + open + "User-agent: *\n" + closed, "msnbot", "----"},
		{"msnbot-media/1.1", "User-agent: msnbot\n" + closed, "msnbot-media", "----"},
		{"msnbot-media/1.1", "User-agent: msnbot-media\n" + open + "User-agent: msnbot\n" + closed, "msnbot-media", "++++"},
		// Its page, then and now: all names contain Qwantify, or all contain Qwantbot.
		{"Mozilla/5.0 (compatible; Qwantify/2.4w; +https://www.qwant.com/)", "User-agent: Qwantify\n" + open + "User-agent: Qwantbot\n" + closed, "Qwantify", "++++"},
		{"Mozilla/5.0 (compatible; Qwantbot/1.0_1; +https://help.qwant.com/bot/)", "User-agent: Qwantify\n" + open + "User-agent: Qwantbot\n" + closed, "Qwantbot", "----"},
		// Meta's page: facebookcatalog is a name of FacebookExternalHit. Facebot is not mentioned.
		{"facebookcatalog/1.0", "User-agent: facebookexternalhit\n" + open + "User-agent: *\n" + closed, "facebookcatalog", "++++"},
		{"Facebot/1.0", "User-agent: Facebot\n" + open + "User-agent: facebookexternalhit\n" + closed, "Facebot", "++++"},
		// Google's page: these have two tokens.
		{"GoogleOther-Image/1.0", "User-agent: GoogleOther\n" + open + "User-agent: *\n" + closed, "GoogleOther-Image", "++++"},
		{"Google-InspectionTool/1.0", "User-agent: Googlebot\n" + open + "User-agent: *\n" + closed, "Google-InspectionTool", "-+++"},
		{"Googlebot-Mobile/2.1", "User-agent: Googlebot-Mobile\n" + open + "User-agent: Googlebot\n" + closed, "Googlebot-Mobile", "++++"},
		{"Googlebot-Mobile/2.1", "User-agent: Googlebot\n" + closed, "Googlebot-Mobile", "+--+"},
		{"AdsBot-Google-Mobile-Apps", "User-agent: AdsBot-Google\n" + closed, "AdsBot-Google-Mobile-Apps", "+---"},
		{"AdsBot-Google-Mobile-Apps", "User-agent: AdsBot-Google-Mobile\nUser-agent: *\n" + closed, "AdsBot-Google-Mobile-Apps", "-+++"},
		// No source says more than the header.
		{"Mozilla/5.0 (compatible; Baiduspider-render/2.0)", "User-agent: Baiduspider\n" + open + "User-agent: *\n" + closed, "Baiduspider-render", "++++"},
		{"Slackbot-LinkExpanding 1.0", "User-agent: Slackbot\n" + open + "User-agent: *\n" + closed, "Slackbot-LinkExpanding", "++++"},
		{"Slack-ImgProxy 0.19", "User-agent: Slackbot\n" + closed, "Slack-ImgProxy", "++++"},
		{"YandexDirectDyn/1.0", "User-agent: Yandex\n" + closed + "User-agent: YandexDirect\n" + open, "YandexDirectDyn", "+++-"},
	} {
		for i, name := range robots.Dialects() {
			d, err := robots.ParseDialect(name)
			if err != nil {
				t.Fatal(err)
			}
			_, excused := readByReference([]byte(c.text), c.who, "/x", d)
			want := judgment{c.who, c.allowed[i] == '+', c.allowed[i] == '-' && !excused}
			request := sentRequest{c.text, c.header, "/x"}
			if got := judge(t, d, []sentRequest{request})[0]; got != want {
				t.Errorf("%s: %q is %+v, want %+v, by\n%s", name, c.header, got, want, c.text)
			}
			asked := newBatch(request.url(0))
			buildStore(t, StoreOptions{Dialect: d, Agents: []string{c.who}}, "https://site0.example", c.text).NewEvaluator().Evaluate(asked)
			if allowed := asked.Verdicts[0].Access == Allowed; allowed != want.allowed {
				t.Errorf("%s: an agent %s is allowed %t by\n%s", name, c.who, allowed, c.text)
			}
		}
	}
}
