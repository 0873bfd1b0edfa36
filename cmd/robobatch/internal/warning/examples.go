package warning

import (
	"slices"
	"strings"
)

// An example is an input or a command that has a warning, in lines, and the same, mended.
type example struct{ bad, good string }

// examples are those of all codes.
var examples = map[Code]example{
	AddressHosts: {
		"robobatch -in proxied.log …, whose lines begin with 203.0.113.9 10.0.0.1 - -",
		"robobatch -in proxied.log -base https://www.example.com …",
	},
	AnonymisedClients: {
		"robobatch -in anonymous.log -ranges lists/ …, of clients such as 66.249.64.0",
		"robobatch -in access.log -ranges lists/ …, of clients such as 66.249.64.5",
	},
	BrokenRecords: {
		"robobatch -rules crawl.warc.gz …, of a crawl with damaged records",
		"robobatch -rules crawl.warc.gz …, of the crawl copied again",
	},
	DamagedRules: {
		"robobatch -rules cut.warc.gz -accept-damaged-rules …",
		"robobatch -rules whole.warc.gz …",
	},
	DayOnly: {
		`-as-of log, and {"url":"https://a.example/","date":"2026-01-31"}`,
		`{"url":"https://a.example/","date":"2026-01-31","time":"18:00:00"}`,
	},
	DifferingLists: {
		"lists/a/googlebot.json and lists/b/googlebot.json, of one creationTime",
		"lists/googlebot.json",
	},
	FailedFetches: {
		`{"origin": "https://a.example", "error": "no such host"}`,
		`{"origin": "https://a.example", "status": 200, "body": "User-agent: *"}`,
	},
	FormulaCells: {
		"robobatch … -out verdicts.csv, with the URL =cmd() in the log",
		"robobatch … -out verdicts.csv -csv safe",
	},
	GrowingLog: {
		"robobatch -in access.log …, while the server writes to it",
		"robobatch -in access.log.1.gz …, which was rotated",
	},
	HeadlessTable: {
		"https://a.example/x,12,0.4\nhttps://a.example/y,3,0.1",
		"url,clicks,ctr\nhttps://a.example/x,12,0.4\nhttps://a.example/y,3,0.1",
	},
	HugeCounts: {
		`{"url":"https://a.example/x","bytes":9223372036854775807}`,
		`{"url":"https://a.example/x","bytes":5120}`,
	},
	JoinedLines: {
		"cat unix.log mac.log > all.log; robobatch -in all.log …",
		"robobatch -in unix.log …; tr '\\r' '\\n' < mac.log | robobatch -in - …",
	},
	MissingSitemaps: {
		"maps/index.xml, of https://a.example/sitemap-1.xml, and nothing beside it",
		"maps/index.xml and maps/sitemap-1.xml",
	},
	MixedEncoding: {
		"cat utf8.log utf16.log > all.log; robobatch -in all.log …",
		"robobatch -in utf8.log -in utf16.log …",
	},
	MixedFormats: {
		"cat apache.log iis.log apache.log.1 > all.log; robobatch -in all.log …",
		"robobatch -in apache.log -in iis.log -in apache.log.1 …",
	},
	MixedOutputs: {
		"robobatch -out x.csv -report x.html …, killed with kill -9",
		"robobatch -out x.csv -report x.html …, run again",
	},
	MixedProducers: {
		`cat traefik.json envoy.json > all.json; robobatch -in all.json …`,
		`robobatch -in traefik.json -in envoy.json …`,
	},
	NoAnswers: {
		"robobatch conduct -in x.csv …, with the columns url, time and user_agent",
		"robobatch conduct -in x.csv …, with the column status, too",
	},
	NoRobots: {
		"rules/https_example.com.txt, and URLs of https://www.example.com",
		"rules/https_www.example.com.txt, and URLs of https://www.example.com",
	},
	NoRobotsRequests: {
		"robobatch conduct -in origin.log …, behind a CDN that answers /robots.txt",
		"robobatch conduct -in cdn.log …",
	},
	NoRows: {
		"robobatch -in empty.log …",
		"robobatch -in access.log -no-rows fail …",
	},
	NoRulesThen: {
		"-as-of 2020-01-01, and captures of 2026",
		"-as-of 2026-01-31, and captures of 2026",
	},
	NoTimes: {
		"-as-of log, and a log with its times in the field \"when\"",
		"-as-of log -field time=when",
	},
	NoURLs: {
		"-no-rows allow, and a log of lines such as \"GET failed\"",
		"-field url=request, and a log of {\"request\":\"https://a.example/\"}",
	},
	NoUserAgents: {
		"robobatch -agent-from-log -in half-common.log …",
		"robobatch -agent-from-log -in combined.log …",
	},
	OddRobots: {
		"<!doctype html>\n<title>Not found</title>",
		"User-agent: *\nDisallow: /private/",
	},
	OddSitemaps: {
		"<urlset>",
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`,
	},
	OldCrawlers: {
		"a log of 2029, and robobatch of 2026",
		"a log of 2029, and robobatch of 2029",
	},
	OtherGroup: {
		"-agent YandexBot, and a robots.txt with groups for * and Yandex",
		"-agent YandexBot -dialect yandex",
	},
	ProxiedClients: {
		"robobatch -in proxied.log -ranges lists/ …, whose remote_addr is 10.0.0.1",
		"robobatch -in proxied.log -ranges lists/ -field client=xff -client-at -1 …",
	},
	ReadingsDiffer: {
		"User-agent: bingbot\nCrawl-delay: 1\n\nUser-agent: CCBot\nDisallow: /",
		"User-agent: bingbot\nCrawl-delay: 1\nAllow: /\n\nUser-agent: CCBot\nDisallow: /",
	},
	RejectedLines: {
		"-format urls, and a log in another format",
		"-format combined -origin https://www.example.com",
	},
	RepeatedInput: {
		"-in logs/ -in logs/a.log",
		"-in logs/",
	},
	SitemapURLs: {
		"<loc>/products/1</loc>",
		"<loc>https://a.example/products/1</loc>",
	},
	SpareOutputs: {
		"-in b.log -out out/, where out/a.verdicts.parquet is of an earlier run",
		"-in b.log -out new/",
	},
	StoppedRun: {
		"robobatch … -partition-by date, killed, and run again with other flags",
		"robobatch … -partition-by date, run once",
	},
	TimesLost: {
		`{"url":"https://a.example/","time":"yesterday"}`,
		`{"url":"https://a.example/","time":"2026-01-31T18:00:00Z"}`,
	},
	TwoQueries: {
		`{"path":"/x?a=1","query":"b=2"}`,
		`{"path":"/x","query":"b=2"}`,
	},
	UnclearAgent: {
		"-agent Googelbot",
		"-agent Googlebot",
	},
	UnclearName: {
		"rules/htps_example.com.txt",
		"rules/https_example.com.txt",
	},
	UnlikeAnswers: {
		"robobatch conduct -rules draft.txt -in access.log …",
		"robobatch conduct -rules robots-2026-07.txt -in access.log …",
	},
	UnnamedSitemaps: {
		"robobatch -in-sitemap maps/ …, with old.xml beside an index",
		"robobatch -in-sitemap maps/index.xml …",
	},
	UnreadField: {
		`-base https://a.example, and a log of {"path":"/x","q":"a=1"}`,
		`robobatch -base https://a.example -field query=q …`,
	},
	UnreadFiles: {
		"-in logs/, which holds access.log and access.dat",
		"-in logs/ -in logs/access.dat",
	},
	UntimedLists: {
		"-ranges Ownbot=own.txt, with addresses alone",
		"-ranges Ownbot=own.txt, which begins \"# created: 2026-08-15\"",
	},
	UntimedRules: {
		"-rules rules/, which holds text files, and -as-of log",
		"-rules captures.jsonl, with fetched_at, and -as-of log",
	},
	UnusedRules: {
		"rules/https_a.example.txt -> /elsewhere/robots.txt",
		"rules/https_a.example.txt, a regular file",
	},
	WhiteSpace: {
		"https://a.example/my page",
		"https://a.example/my%20page",
	},
}

// Lookup returns the meaning of a code, and whether there is one.
func Lookup(code Code) (Meaning, bool) {
	i := slices.IndexFunc(Meanings, func(m Meaning) bool { return m.Code == code })
	if i < 0 {
		return Meaning{}, false
	}
	return Meanings[i], true
}

// Text explains the code in lines of at most 80 columns.
func (m *Meaning) Text(fill func(text string, columns int) string) string {
	const columns = 80
	e := examples[m.Code]
	lines := func(example string) string { return "    " + strings.ReplaceAll(example, "\n", "\n    ") + "\n" }
	return string(m.Code) + ": warning\n\n" + fill(m.What, columns) + "\n\n" + fill(m.Do, columns) + "\n\nBad:\n\n" + lines(e.bad) + "\nGood:\n\n" + lines(e.good)
}
