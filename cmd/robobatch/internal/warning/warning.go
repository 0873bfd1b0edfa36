// Package warning has the warnings of a run: observations that input does not look like its format, or
// contradicts a flag, while the run goes on. Each has a code, which scripts may rely on. -quiet does
// not hide warnings, and -stats has them; neither holds for hints, which are advice. Those about decided rows are made
// here, from the counts of the engine, the lists of addresses, and the cells of the output; those about lines of logs by
// package summary, which knows the lines. Only cmd/robobatch and its packages import it.
package warning

import (
	"fmt"
	"slices"
	"strings"
)

// A Code is the name of a kind of warnings. It never changes its meaning.
type Code string

// A Warning is an observation about the inputs that contradicts an assumption of the run.
type Warning struct {
	Code     Code     `json:"code"`
	Text     string   `json:"text"`               // one sentence: the observation, its place, and the remedy
	Count    int64    `json:"count"`              // how many rows, files or records it is about; 1 if it is about the run
	Examples []string `json:"examples,omitempty"` // the first or the worst of them, at most Examples
}

// Examples is how many examples a warning shows.
const Examples = 3

// String returns the warning as the terminal shows it, its examples on lines of their own.
func (d Warning) String() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%s [%s]", d.Text, d.Code)
	for _, example := range d.Examples {
		sb.WriteString("\n  " + example)
	}
	return sb.String()
}

// A Meaning is the meaning of a code, for docs/WARNINGS.md.
type Meaning struct {
	Code Code
	What string // the observation
	Do   string // the remedy
}

// The codes.
const (
	AddressHosts      Code = "address_hosts"
	AnonymisedClients Code = "anonymised_clients"
	BrokenRecords     Code = "broken_records"
	DamagedRules      Code = "damaged_rules"
	DayOnly           Code = "day_only"
	DifferingLists    Code = "differing_lists"
	FailedFetches     Code = "failed_fetches"
	FormulaCells      Code = "formula_cells"
	GrowingLog        Code = "growing_log"
	HeadlessTable     Code = "headless_table"
	HugeCounts        Code = "huge_counts"
	JoinedLines       Code = "joined_lines"
	MissingSitemaps   Code = "missing_sitemaps"
	MixedEncoding     Code = "mixed_encodings"
	MixedFormats      Code = "mixed_formats"
	MixedOutputs      Code = "mixed_outputs"
	MixedProducers    Code = "mixed_producers"
	NoAnswers         Code = "no_answers"
	NoRobots          Code = "no_robots"
	NoRobotsRequests  Code = "no_robots_requests"
	NoRows            Code = "no_rows"
	NoRulesThen       Code = "no_rules_then"
	NoTimes           Code = "no_times"
	NoURLs            Code = "no_urls"
	NoUserAgents      Code = "no_user_agents"
	OddRobots         Code = "odd_robots"
	OddSitemaps       Code = "odd_sitemaps"
	OldCrawlers       Code = "old_crawlers"
	OtherGroup        Code = "other_group"
	ProxiedClients    Code = "proxied_clients"
	ReadingsDiffer    Code = "readings_differ"
	RejectedLines     Code = "rejected_lines"
	RepeatedInput     Code = "repeated_input"
	SitemapURLs       Code = "sitemap_urls"
	SpareOutputs      Code = "spare_outputs"
	StoppedRun        Code = "stopped_run"
	TimesLost         Code = "times_lost"
	TwoQueries        Code = "two_queries"
	UnclearAgent      Code = "unclear_agent"
	UnclearName       Code = "unclear_name"
	UnlikeAnswers     Code = "unlike_answers"
	UnnamedSitemaps   Code = "unnamed_sitemaps"
	UnreadField       Code = "unread_field"
	UnreadFiles       Code = "unread_files"
	UntimedLists      Code = "untimed_lists"
	UntimedRules      Code = "untimed_rules"
	UnusedRules       Code = "unused_rules"
	WhiteSpace        Code = "white_space"
)

// Meanings are all codes, in alphabetical order.
var Meanings = []Meaning{
	{
		AddressHosts, "Lines of the combined format have an address in front of another one, and their site is not known. It is read as the virtual host, and may be the client's address, as %{X-Forwarded-For}i writes it.",
		"Name the site of the log with -base: then the first address is the client's.",
	},
	{
		AnonymisedClients, "Of 100 requests of crawlers or more, a tenth have an address whose end was cut off, such as 192.0.2.0 or 192.0.2.x. -ranges looks that up, if it is an address, and may take a crawler for an impostor.",
		"Give a log that has whole addresses.",
	},
	{
		BrokenRecords, "Records of captures are damaged. Each is left out, or counts as a failed fetch where only its content is broken.",
		"Look at the records that -stats lists, and copy the captures again if they should be whole.",
	},
	{
		DamagedRules, "Files of captures are damaged, and -accept-damaged-rules is set. Rules behind the damage are missing, so URLs that they disallow are allowed.",
		"Copy or download the captures again. Of a pack, compile it again from whole captures.",
	},
	{
		DayOnly, "Hours count, and the field of the time has days alone: each row counts as at the beginning of its day.",
		"Name a field with the hour with -field time=name.",
	},
	{
		DifferingLists, "Files of -ranges are of one list and one time, and have other addresses. All of them count.",
		"Keep the right file, or put each into a directory named by its day.",
	},
	{
		FailedFetches, "Rows of crawlers are disallowed only because a fetch of robots.txt failed: by a server error, or without an answer. It was not the fetch of the crawler, which may keep its copy, so the `violation` of these rows is null.",
		"Give captures of fetches that succeeded, if there are any.",
	},
	{
		FormulaCells, "Cells of CSV begin with =, +, -, @, a tab or a carriage return. Spreadsheets run them as formulas, and anyone may have put them into the log.",
		"Use -csv safe if a spreadsheet is to open the file. Databases need nothing.",
	},
	{
		GrowingLog, "A log is longer at its end than it was when it was opened: somebody writes to it. The last line may be only the first part of one.",
		"Read logs that are complete, such as those that were rotated.",
	},
	{
		HeadlessTable, "A log was read as a list of URLs, but each of its first lines has equally many numbers, shares or URLs after its URL, parted by commas, semicolons or pipes: it may be a table without a header. Or a later line is the header of a table that was joined to the list.",
		"Put a header in front, as in url,clicks. If the numbers are parts of the URLs, add -format urls.",
	},
	{
		HugeCounts, "Answers have petabytes, alone or in sum. The page counts no answer of 1 PiB or more, and 4 PiB in all; sums of conduct end at 9,223,372,036,854,775,807.",
		"Check that the field of the bytes is the right one.",
	},
	{
		JoinedLines, "Lines hold a carriage return, several records, or NULs that a crash has left: parts with other line ends were joined, or line ends were lost. At most one record of such a line has a row.",
		"Convert parts that end their lines with CR before they are joined, as in: tr '\\r' '\\n'. List the lines with -rejects.",
	},
	{
		MissingSitemaps, "An index names sitemaps that are not beside it. They are not read.",
		"Put them there, by the names in their URLs.",
	},
	{
		MixedEncoding, "Lines of a log are UTF-16 and the log began in another encoding, or the other way round: parts of several encodings were joined. Their URLs are not understood.",
		"Convert each part by itself before they are joined, as in: iconv -f UTF-16 -t UTF-8.",
	},
	{
		MixedFormats, "Lines have no row: three neighbours in another format, ten such in all, or ten neighbours not indented.",
		"Give that part as an input of its own.",
	},
	{
		MixedOutputs, "An earlier run was killed when only some of its outputs had their names. The others are of the run before, or missing.",
		"Run it again. A run that replaces one of these outputs ends the warning.",
	},
	{
		MixedProducers, "The first lines of a log are of two programs. The names of one of them count.",
		"Give each part as an input of its own.",
	},
	{
		NoAnswers, "Crawlers asked for robots.txt, and the log has no status of an answer. None counts, so that crawlers may seem never to have asked.",
		"Give conduct a log that has the status.",
	},
	{
		NoRobots, "Over half of the rows are of origins without a robots.txt in -rules. The examples say which rules are near: http and https differ, as example.com and www.example.com do.",
		"Name the rules of the log's origins with -rules, or the site of the rules with -origin. -require-rules makes it an error.",
	},
	{
		NoRobotsRequests, "Less than half of the crawlers with 20 requests or more to an origin have an answer to /robots.txt in the log, as where a CDN or proxy answers it. Disallowed requests of crawlers without one are `unseen`, not `never_asked`.",
		"Give the log of the CDN or proxy, too, which shows who asked for robots.txt.",
	},
	{
		NoRows, "The logs have no row, or -unknown-agents skip leaves out all of them.",
		"Look whether these are the logs that were meant. -no-rows fail makes it an error that they are empty.",
	},
	{
		NoRulesThen, "No robots.txt is as old as -as-of, or over half of the rows are older than all robots.txt of their origins.",
		"Give captures of that time, or a later moment. The time of a file is that of its last change.",
	},
	{
		NoTimes, "-as-of log or -partition-by date found no time in any row, so the newest captures decided, or all rows are in one partition.",
		"Name the field of the time with -field time=name.",
	},
	{
		NoURLs, "No line of the log gave a URL, and -no-rows allow takes that as it is.",
		"Name the format of the lines with -format, their field with -field url=name, or their site with -base.",
	},
	{
		NoUserAgents, "With -agent-from-log, over a tenth of the rows have no field for the User-Agent, as lines of the Common Log Format among combined ones. Their crawlers are not known, so that violations are too few.",
		"Give the parts of the log that have User-Agents, or name their field with -field agent=name.",
	},
	{
		OddRobots, "A robots.txt is none: it is an HTML page, text without any directive, UTF-16, packed or other bytes. The verdicts are as for crawlers that get it: nearly everything is allowed.",
		"Fetch these robots.txt again, unpack them, or save them as UTF-8.",
	},
	{
		OddSitemaps, "A sitemap has over 50,000 URLs or 50 MiB, another namespace or encoding, URLs of several origins, or none; or a file of a directory is none. Its URLs count.",
		"Mend it: crawlers may leave it out.",
	},
	{
		OldCrawlers, "More than a tenth of the rows are over a year younger than robobatch's table of crawlers. Crawlers that came since then are unknown, and habits may have changed. It is looked for where -agent-from-log is given and times are read.",
		"Update robobatch, or add the crawlers with -crawlers.",
	},
	{
		OtherGroup, "Rows of Yandex's robots are decided by another group, with other rules, than -dialect yandex chooses: it has them obey that for Yandex.",
		"Decide them with -dialect yandex.",
	},
	{
		ProxiedClients, "Of 100 requests of crawlers or more, half have no address of the internet, or a tenth of any number a text. Or half came from one network, or a quarter from several, each with crawlers of three operators. The field holds the address of a proxy, so the results of -ranges mean nothing.",
		"Name the field that holds the client's with -field client=name.",
	},
	{
		ReadingsDiffer, "Rows of crawlers are disallowed by one reading of robots.txt that their operators may have, and allowed by another: google for Google's, yandex by both lengths for Yandex's, google, rfc9309 and yandex for others. Their `violation` is null.",
		"Mend the lines that lint finds, such as a Crawl-delay between user-agent lines or a misspelt directive, so that all crawlers read them alike.",
	},
	{
		RejectedLines, "Over a tenth of the lines of the logs, or an eighth of their bytes, are rejected: they are refused, so that they have no row, or their URL is none. -max-rejects, which says how many may be, is not set.",
		"List them with -rejects, and name the format, or the field of the URL. -max-rejects makes it an error.",
	},
	{
		RepeatedInput, "-in has files more than once: by the same name, by another way to it, by a link, or by a directory and a name in it. Their rows are decided and counted once for each.",
		"Name each file once.",
	},
	{
		SitemapURLs, "Entries of sitemaps have no URL, or one without scheme or host. They are left out.",
		"Write whole URLs.",
	},
	{
		SpareOutputs, "The directory of robobatch merge has outputs of earlier runs, made of inputs that are not in the list of this one.",
		"Remove them, with their files in _done, or who reads the directory has their rows, too.",
	},
	{
		StoppedRun, "An earlier run was stopped while its files were put into the directory of -partition-by. They are there now, all of them.",
		"Look whether that run was repeated in another way meanwhile, so that rows are there twice.",
	},
	{
		TimesLost, "Over a tenth of the rows have something else than a time in the field of the time.",
		"Name another with -field time=name.",
	},
	{
		TwoQueries, "Rows have a query in their URL, which counts, and another one in the field for the query.",
		"Name the right fields with -field.",
	},
	{
		UnclearAgent, "-agent, or a line of -expect, has a name that no known crawler and no robots.txt of -rules has, though one has a similar name. Or -fail of diff names a crawler without requests, so that it stops nothing.",
		"Write the name as its operator does; robobatch help agents lists the known crawlers.",
	},
	{
		UnclearName, "The name of a rules file begins with a word and an underscore, and the word is no known scheme. All of the name is taken for the host.",
		"Rename the file if the word was meant as a scheme, as in https_example.com.txt.",
	},
	{
		UnlikeAnswers, "Over a tenth of the answers to /robots.txt in the log have more or fewer bytes than the robots.txt of -rules can have (a pack does not tell), or most are 404 or 410. Crawlers had another, or none: the conduct of requests after such an answer is `unseen`.",
		"Give the robots.txt of that time, or captures and -as-of log.",
	},
	{
		UnnamedSitemaps, "A directory of -in-sitemap has an index, and sitemaps that none there names. They are read.",
		"Name them there, or take them out.",
	},
	{
		UnreadField, "The log lacks a query, host, URL, time, client, User-Agent or status, and a field that is not read looks like one.",
		"Read it with -field, or look why it is none.",
	},
	{
		UnreadFiles, "A directory of -in has files whose names do not end as those of logs do, or links to directories. They are not read.",
		"Name them, or a pattern that they match, if they are logs.",
	},
	{
		UntimedLists, "Requests of crawlers are verified, or called impostors', without a time: the log has none, or no file of the list has one. Any file of the list that has the address counts.",
		"Name the field of the time with -field time=name. Put lists into directories named by their day, as in 2026-08-15/googlebot.json.",
	},
	{
		UntimedRules, "-as-of log: rows are disallowed by a robots.txt of which nobody knows since when it has been there, because its only time is that of a file, or it has none. Their `violation` is null.",
		"Give captures with their times (`fetched_at`, or WARC).",
	},
	{
		UnusedRules, "The directory of rules has entries with the name of a robots.txt that are links out of it, or no regular files. They are not read, so URLs that they disallow are allowed.",
		"Put the files themselves into the directory, or take the entries out.",
	},
	{
		WhiteSpace, "URLs of a list, table, sitemap or WARC file hold spaces or tabs. A space is decided as %20, a tab as %09 by rfc9309 only; -url-as-is keeps both.",
		"If they separate columns of a list, give it a header, and name its format with -format.",
	},
}

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
