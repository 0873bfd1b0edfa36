package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/report/internal/show"
)

// A phrase is what a row says, and what to do about it. Words after $ are replaced, see [grid.writeSentence].
type phrase struct{ sentence, action string }

// phrases are by code; writeSentence changes some of them.
var phrases = map[string]phrase{
	LogGap:           {"The log has no lines from $from to $to, where about $expected requests are expected. Nothing is known about this time.", ""},
	NoCrawlers:       {"The log has no requests by known crawlers, so nothing about crawlers can be checked.", ""},
	Outage:           {"$path $down: $n of ${of request} returned $status, $by_crawlers of them to crawlers.", "Find the cause in the server's error log from that time. For planned maintenance, return 503 with Retry-After, for hours rather than days."},
	RobotsFailed:     {"$when $robots $returns $status for $n of ${of request} by $names. Search engines stop crawling a site whose robots.txt fails", "Serve robots.txt as a static file that does not depend on the application. Do not return 404 instead, which allows the whole site."},
	CrawlerRefused:   {"$when $who $being blocked$site: $n of ${of request} returned $status, while visitors received pages.", "Let verified requests by $names through the firewall or bot protection: allow the published addresses."},
	SiteClosed:       {"$when robots.txt $blocks $names from the whole site $inLine.", "Allow the site again, unless these crawlers are meant to stay out."},
	RobotsOther:      {"$when the server $sends different content as $robots: $size bytes instead of $text_size, for $n of ${of request}.", "Open /robots.txt in a browser. The usual causes are a catch-all route and an error page of the CDN."},
	RobotsMissing:    {"$when $robots $is missing: $n of ${of request} by $names returned $status. Crawlers then assume that there are no rules.", "Restore the file."},
	SectionClosed:    {"$when robots.txt $blocks $names from $dir $inLine. Before that, $share of the requests by $crawler were for it, $before per day.", "If these pages should appear in search, delete the line. If not, remove them from the sitemap."},
	ResourcesBlocked: {"$when robots.txt $blocks $dir for $names $inLine. Visitors loaded ${by_visitors file} from there. Search engines need these files to render pages: without them, they may see a broken layout.", "Allow $dir for these crawlers."},
	ServerErrors:     {"$when $share of the requests$whose for $path $fail with $status: $n of $of, $rest.", "Check the server's error log for these URLs."},
	CrawlerStopped:   {"$who $crawled $span: about $missing requests are missing.", "Check whether the site blocks the addresses of $names, and check the crawler's webmaster tools."},
	CrawlerSlowed:    {"$when $who $fetched $drop less: about $after requests per day, down from $before.", "Compare with the crawl statistics in its webmaster tools. Check response times, and what was released that day."},
	CrawlerSurge:     {"$who made ${n request} from $first to $to, $ratio times as many as usual.", "None needed, unless the server was overloaded. To slow a crawler, return 429 with Retry-After."},
	NotFoundSection:  {"$when $share of the requests by $crawler were for missing pages below $path: ${n request} by $names for ${urls URL}.", "If the pages have moved, redirect (301) each to its new URL. If not, return 410, and remove links and sitemap entries. Do not disallow them in robots.txt: otherwise search engines never learn that they are gone."},
	RedirectChain:    {"$who encounter redirect chains: $chain, ${n redirect}.", "Redirect $head directly to $tail with one rule."},
	ParameterCrawl:   {"$share of the requests by $crawler are for page variants with `$parameter=`: ${n request} by $names for ${urls URL}, but only ${paths page}.", "If these variants need not appear in search, disallow them with one rule, or add nofollow to the links."},
	EndlessURLs:      {"$names crawl $kind below $dir: ${n request}, nearly all for new URLs, $share of the requests by $crawler.", "Disallow these pages with one rule, or add nofollow to the links."},
	BytesHog:         {"$who downloaded $what ${n time}: $bytes of the $all_bytes sent in total.", "Send ETag or Last-Modified, so that it can check for changes; or limit its rate; or disallow the file in a group for it that also repeats its current rules."},
	DelayIgnored:     {"$who fetched faster than the Crawl-delay of $delay s: $n of $of pauses were shorter ($share).", "Send these numbers to the operator, or return 429."},
	RulesIgnored:     {"$when $who made ${n request} that the previously fetched robots.txt disallows, $share of all.", "Block it at the server: robots.txt does not stop it."},
	Impostors:        {"${n request} with the name $names came from addresses that its operator does not list ($from to $to)$most.", "Block requests with this name from addresses outside the operator's lists, rather than whole networks."},
	SitemapBad:       {"${urls URL} in the sitemaps ($share of all) are missing or redirect$where. Search crawlers made ${n request} for them.", "Generate the sitemap from pages that return 200."},
	SoftNotFound:     {"${urls URL} below $dir return 200 with pages of the same size, about $about bytes, and no sitemap lists them. This looks like an error page: $share of the requests by $crawler.", "Return 404 or 410 if these pages do not exist."},
}

// past maps verbs to those of a row that is over.
var past = map[string]string{"blocks": "blocked", "fail": "failed", "fetches": "fetched", "has made": "made", "have made": "made", "is": "was", "are": "were", "returns": "returned", "sends": "sent", "fetch": "fetched"}

// choose returns one of two texts.
func choose(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// writeSentence writes the sentence and the remedy of a row. A word after $ is a field of the evidence by its name in
// JSON, a part of a sentence, a value, or a verb; ${urls URL} is a number with a noun.
func (g *grid) writeSentence(r *Row) {
	p, e := phrases[r.Code], &r.Evidence
	switch r.Code {
	case RobotsFailed:
		p.sentence += choose(e.Expected > 2*float64(e.Made) && e.Expected >= 10, ": $crawler made ${made request} instead of about $expected.", ".")
	case CrawlerRefused:
		switch e.Status {
		case 429, 503:
			p.action = "Raise the rate limit for $names."
		case 500, 502, 504:
			p.action = "Check the server's error log for requests by $names: other clients get no errors."
		}
	case SiteClosed:
		p.sentence += choose(r.Requests > 0, " About $missing requests are missing.", "") + choose(e.Unaffected > 0, " ${unaffected other search crawler} may still fetch it.", "")
		p.action = choose(r.Ongoing, p.action, "Already fixed. Find out how this version was deployed, and request recrawling in the webmaster tools.")
	case RobotsMissing:
		p.action = choose(r.Ongoing, p.action, "Already fixed. Find out why the file disappeared.")
	case SectionClosed:
		p.sentence = choose(e.URLs > 0, "$when robots.txt $blocks $names from $dir $inLine. Visitors made ${by_visitors request} there, and sitemaps list ${urls URL}.", p.sentence)
		p.action = choose(r.Ongoing, p.action, "Already fixed. Find out how this version was deployed.")
	case ServerErrors:
		p.action = choose(e.Status == 504, "504 means that the backend is too slow: check the slowest pages there.", p.action)
	case CrawlerStopped:
		p.sentence = choose(e.Kind == allStopped, "All crawlers stopped $span: about $missing requests by $names are missing.", p.sentence)
		p.action = choose(len(r.Agents) >= stopTogether, "The cause is probably on your side, because they stopped together: check changes of firewall, CDN and DNS in that hour.", p.action)
	}
	parts, values := g.parts(r), g.values(r)
	var fill func(word string) string
	fill = func(word string) string {
		if part, ok := parts[word]; ok {
			return os.Expand(part, fill)
		}
		if was, ok := past[word]; ok {
			return choose(r.Ongoing, word, was)
		}
		name, noun, isCount := strings.Cut(word, " ")
		return values[name] + choose(isCount, " "+noun+choose(values[name] == "1", "", "s"), "")
	}
	r.Sentence, r.Remedy.Action = os.Expand(p.sentence, fill), os.Expand(p.action, fill)
	switch first, rest, _ := strings.Cut(r.Sentence, " "); first { // names of crawlers and paths stay as written
	case "clients", "all", "the":
		r.Sentence = strings.ToUpper(first[:1]) + first[1:] + " " + rest
	}
}

// parts returns the parts of sentences by their words. They depend on more than a number, and may contain
// words themselves.
func (g *grid) parts(r *Row) map[string]string {
	e, isMany, isSeveral := &r.Evidence, len(r.Agents) > 1 || r.unsure, len(g.sites) > 1
	return map[string]string{
		"span":    choose(r.Ongoing, "since $from ($lasting)", "between $from and $to ($lasting)"),
		"down":    choose(r.Ongoing, "has been down since $from", "was down for $lasting ($from to $to)"),
		"first":   choose(r.Begins == "log_start", "the beginning of the log", "$from"),
		"being":   choose(isMany, "$are", "$is"),
		"crawled": choose(isMany, "${have made}", "${has made}") + choose(e.Made > 0, " hardly any requests", " no requests"),
		"fetched": choose(r.unsure, "$fetch", "$fetches"),
		"whose":   choose(len(r.Agents) > 0, " of $who", ""),
		"rest":    choose(len(r.Agents) > 0, "while other clients get pages", "$by_crawlers of them by crawlers"),
		"most":    choose(e.Network != "", ", most of them from $network", ""),
		"path":    choose(isSeveral, "$origin$dir", choose(r.Path == "/", "the site", "$dir")),
		"robots":  choose(isSeveral, "$origin/robots.txt", "robots.txt"),
		"site":    choose(isSeveral, " by $origin", ""),
		"what":    choose(r.Path == "", "files", choose(strings.HasSuffix(r.Path, "/"), "files below $dir", "$dir")),
		"where":   choose(r.Path == "", "", choose(e.Paths == e.URLs, ", all below $dir", ", $paths of them below $dir")),
		"inLine":  "(line $line, `$rule`)",
	}
}

// values returns the values of words: the fields of the evidence by their names in JSON, and others.
func (g *grid) values(r *Row) map[string]string {
	e := &r.Evidence
	chain, values := strings.Split(e.Chain, " -> "), map[string]string{}
	for i := range reflect.TypeFor[Evidence]().NumField() {
		name, value := e.fieldText(i)
		values[name] = value
	}
	maps.Copy(values, map[string]string{
		"when": r.When, "from": g.formatTime(r.From), "to": g.formatTime(r.To), "lasting": formatDuration(r.duration()), "names": r.listAgents(), "who": r.claimedNames(r.listAgents()), "origin": r.Origin, "dir": r.Path,
		"n": show.Number(r.Requests), "of": show.Number(r.Of), "missing": formatEstimate(float64(r.Requests)), "expected": formatEstimate(e.Expected), "ratio": formatEstimate(float64(r.Requests) / e.Expected),
		"before": formatEstimate(e.Before), "after": formatEstimate(e.After), "drop": show.Percent(rounded(1 - e.After/e.Before)), "crawler": r.claimedNames(e.Crawler), "status": r.status(), "head": chain[0], "tail": chain[len(chain)-1],
		"bytes": formatGigabytes(e.Bytes), "all_bytes": formatGigabytes(e.AllBytes), "about": formatEstimate(float64(e.Size)), "delay": fmt.Sprintf("%g", e.Delay),
	})
	return values
}

// claimedNames returns the given names of crawlers, or says that clients claim to be them if no address verifies it.
func (r *Row) claimedNames(names string) string {
	if r.unsure {
		return "clients that claim to be " + names
	}
	return names
}

// listAgents lists the agents of a row: "Googlebot, bingbot and 9 others"; "all clients" if it names none.
func (r *Row) listAgents() string {
	n := len(r.Agents)
	switch {
	case n == 0:
		return "all clients"
	case n == 1:
		return r.Agents[0]
	case n <= 3:
		return strings.Join(r.Agents[:n-1], ", ") + " and " + r.Agents[n-1]
	}
	shown := r.Agents[:min(2, len(r.Agents))]
	return strings.Join(shown, ", ") + " and " + show.Plural(int64(n-len(shown)), "other")
}

// formatTime formats a time in the page's time zone, with its year unless that is the last year of the log.
func (g *grid) formatTime(t time.Time) string {
	zone := cmp.Or(g.Zone, time.UTC)
	if t = t.In(zone); t.Year() != timeOf(g.to).In(zone).Year() {
		return t.Format("2 Jan 2006 15:04")
	}
	return t.Format("2 Jan 15:04")
}

// status returns the status code of a row, and whether there are many others.
func (r *Row) status() string {
	text := strconv.Itoa(r.Evidence.Status)
	if r.mixed {
		text += " or another error"
	}
	return text
}

// formatDuration formats a duration in whole minutes, hours or days.
func formatDuration(seconds int64) string {
	switch {
	case seconds < 2*hour:
		return show.Plural(max(1, (seconds+30)/60), "minute")
	case seconds < 2*day:
		return show.Plural((seconds+hour/2)/hour, "hour")
	}
	return show.Plural((seconds+day/2)/day, "day")
}

// formatEstimate formats an estimated number, rounded to two digits.
func formatEstimate(x float64) string {
	if x < 10 {
		return show.Number(int64(math.Round(x)))
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return show.Number(int64(math.Round(x/unit) * unit))
}

// formatGigabytes formats a number of bytes.
func formatGigabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB" }
