// Package warning has the texts about faults of the inputs: warnings, after which the run continues, and remedies for
// errors that end it. A warning says that the input does not look like its format, or contradicts a flag. Each
// warning has a code that scripts may rely on. Unlike hints, warnings are written to -stats, and -quiet does not hide
// them. This package makes the warnings about evaluated rows, from the counts of the engine, the lists of addresses,
// and the cells of the output. Package summary makes the warnings about lines of logs. Only cmd/robobatch and its
// packages import it.
package warning

import (
	"fmt"
	"slices"
	"strings"
)

// A Code is the name of a kind of warning. Its meaning never changes.
type Code string

// A Warning is an observation about the inputs that contradicts an assumption of the run.
type Warning struct {
	Code     Code     `json:"code"`
	Text     string   `json:"text"`               // one sentence: the observation, its place, and the remedy
	Count    int64    `json:"count"`              // number of rows, files or records that the warning is about; 1 if it is about the run
	Examples []string `json:"examples,omitempty"` // the first or the worst of them, at most [Examples]

	Short bool `json:"-"` // the warning is less important, so the terminal shows it in one line, with only the first example
}

// Examples is the number of examples a warning shows.
const Examples = 3

// String returns the warning as the terminal shows it. Unless Short is set, each example has its own line.
func (d Warning) String() string {
	if d.Short && len(d.Examples) > 0 {
		return fmt.Sprintf("%s: %s [%s]", d.Text, d.Examples[0], d.Code)
	}
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
	OldPack           Code = "old_pack"
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
		AddressHosts, "Lines of the combined format begin with two addresses. The first is read as the virtual host, but may be the client (%{X-Forwarded-For}i).",
		"Name the site with -base: the first address is then the client.",
	},
	{
		AnonymisedClients, "At least 10% of 100 or more crawler requests have a truncated address, such as 192.0.2.0 or 192.0.2.x, so -ranges may report crawlers as impostors.",
		"Use a log with full addresses.",
	},
	{
		BrokenRecords, "Captures contain damaged records. They are skipped, or count as failed fetches if only their content is broken.",
		"Check the records in -stats, or copy the captures again.",
	},
	{
		DamagedRules, "Capture files are damaged, and -accept-damaged-rules is set. URLs that only the missing rules disallow are allowed.",
		"Copy or download the captures again. For a pack, recompile it from complete captures.",
	},
	{
		DayOnly, "The time field contains only days, so each row counts at the start of its day.",
		"Name a field with the hour with -field time=name.",
	},
	{
		DifferingLists, "Lists in -ranges have the same name and time but different addresses. All addresses count.",
		"Keep the right file, or move each into a directory named after its day.",
	},
	{
		FailedFetches, "Crawler rows are disallowed only because a fetch of robots.txt failed. The crawler's own fetch may have succeeded, so `violation` is null.",
		"Add captures of successful fetches.",
	},
	{
		FormulaCells, "CSV cells begin with =, +, -, @, a tab or a carriage return. Spreadsheets run them as formulas, and any client can put them into the log.",
		"For spreadsheets, use -csv safe. Databases are not affected.",
	},
	{
		GrowingLog, "The log grew while it was read: another process is still writing to it. The last line may be incomplete.",
		"Use a complete log, such as a rotated one.",
	},
	{
		HeadlessTable, "A list of URLs may be a table without a header row: its first lines have the same number of values, separated by commas, semicolons or pipes, or a later line is a header row.",
		"Add a header row, such as url,clicks. If the values are part of the URLs, use -format urls.",
	},
	{
		HugeCounts, "Response sizes reach petabytes. A report excludes responses of 1 PiB or more, and stops counting at 4 PiB; conduct stops at 2^63 - 1 bytes.",
		"Check that the size field is the right one.",
	},
	{
		JoinedLines, "Lines contain a carriage return, several records, or NUL bytes from a crash: line endings were mixed or lost. Each such line gives at most one row.",
		"Convert CR line endings before joining, for example: tr '\\r' '\\n'. List the lines with -rejects.",
	},
	{
		MissingSitemaps, "A sitemap index names files that are not in its directory. They are not read.",
		"Add them, under the names in their URLs.",
	},
	{
		MixedEncoding, "A log changes between UTF-16 and another encoding. Lines in the second encoding cannot be read.",
		"Convert each part before joining, for example: iconv -f UTF-16 -t UTF-8.",
	},
	{
		MixedFormats, "Lines without a row look like another format: three in a row, ten in total, or ten unindented neighbours.",
		"Read that part as a separate input.",
	},
	{
		MixedOutputs, "An earlier run was killed after it had renamed only some of its outputs. The others are missing or older.",
		"Run it again. Replacing one of these outputs ends the warning.",
	},
	{
		MixedProducers, "The first lines of a log come from two programs. The field names of one are used.",
		"Read each part as a separate input.",
	},
	{
		NoAnswers, "Crawlers requested robots.txt, but the log has no status codes, so these requests do not count.",
		"Use a log with status codes.",
	},
	{
		NoRobots, "More than half of the rows have an origin without a robots.txt in -rules. The examples name similar origins: http and https differ, and example.com and www.example.com.",
		"Add the rules of these origins to -rules, or name the origin of the rules with -origin. To treat this as an error, set -require-rules.",
	},
	{
		NoRobotsRequests, "Fewer than half of the crawlers with 20 or more requests to an origin have a response to /robots.txt in the log, perhaps because a CDN or proxy answers. Disallowed requests of the others are `unseen`, not `never_asked`.",
		"Add the log of the CDN or proxy.",
	},
	{
		NoRows, "The logs give no rows, or -unknown-agents skip skips all of them.",
		"Check that these are the right logs. To treat empty logs as an error, set -no-rows fail.",
	},
	{
		NoRulesThen, "Every robots.txt is newer than -as-of, or more than half of the rows are older than every robots.txt of their origin.",
		"Use captures from that time, or a later -as-of. A plain file has its modification time.",
	},
	{
		NoTimes, "-as-of log or -partition-by date found no time in any row, so the newest captures were used, or all rows are in one partition.",
		"Name the time field with -field time=name.",
	},
	{
		NoURLs, "No line of the log gave a URL, and -no-rows allow accepts that.",
		"Name the format with -format, the URL field with -field url=name, or the site with -base.",
	},
	{
		NoUserAgents, "More than 10% of the rows have no User-Agent field (such as lines in Common Log Format), so -agent-from-log finds too few violations.",
		"Use the parts of the log with User-Agents, or name the field with -field agent=name.",
	},
	{
		OddRobots, "A robots.txt is not valid: it contains HTML, text without directives, UTF-16, compressed data or other bytes. Nearly everything is allowed, as for crawlers that receive such a file.",
		"Download the file again, decompress it, or save it as UTF-8.",
	},
	{
		OddSitemaps, "A sitemap has more than 50,000 URLs or 50 MiB, another namespace or encoding, URLs of several origins, or no URLs, or a file is not a sitemap. All URLs found are used.",
		"Fix the sitemap: crawlers may ignore it.",
	},
	{
		OldCrawlers, "More than 10% of the rows are over a year newer than robobatch's list of crawlers, so newer crawlers may be missing (-agent-from-log).",
		"Update robobatch, or add crawlers with -crawlers.",
	},
	{
		OldPack, "An older robobatch compiled this pack and skipped its `__usage_ai-training` groups: `policy_train_ai` is null.",
		"Compile it again.",
	},
	{
		OtherGroup, "Some of Yandex's crawlers obey the group for Yandex, but their rows were decided by another group.",
		"Use -dialect yandex for these crawlers.",
	},
	{
		ProxiedClients, "The client field contains the address of a proxy, so results of -ranges are meaningless: of at least 100 crawler requests, half have no public IP address, 10% have text instead of an address, half come from one network, or a quarter come from networks with crawlers of three operators each.",
		"Name the field of the client address with -field client=name.",
	},
	{
		ReadingsDiffer, "Crawlers may read this robots.txt in different ways (docs/AGENTS.md): rows are disallowed in one reading and allowed in another. Their `violation` is null.",
		"Fix the lines that lint reports, such as a Crawl-delay between user-agent lines or a misspelt directive.",
	},
	{
		RejectedLines, "More than a tenth of the lines, or an eighth of the bytes, were rejected: they gave no row, or their URL is invalid.",
		"List them with -rejects, then set -format or -field url=name. To treat this as an error, set -max-rejects.",
	},
	{
		RepeatedInput, "-in names files more than once: by path, link, directory, or copy. Their rows count each time.",
		"Name each file once.",
	},
	{
		SitemapURLs, "Sitemap entries have no URL, or one without scheme or host. They are skipped.",
		"Write full URLs.",
	},
	{
		SpareOutputs, "The directory of robobatch merge contains outputs of other inputs from earlier runs.",
		"Remove them and their files in _done; otherwise readers of the directory include their rows.",
	},
	{
		StoppedRun, "An earlier run was stopped while it moved files into the directory of -partition-by. All of them are there now.",
		"If you repeated that run in another way meanwhile, check for duplicate rows.",
	},
	{
		TimesLost, "More than 10% of the rows have no valid time in the time field.",
		"Name another field with -field time=name.",
	},
	{
		TwoQueries, "Rows have one query in the URL, which is used, and another in the query field.",
		"Name the right fields with -field.",
	},
	{
		UnclearAgent, "A name in -agent or -expect is unknown and in no robots.txt of -rules, but resembles a known one; or -fail of diff names a crawler without requests.",
		"Correct the name; robobatch help agents lists the known crawlers.",
	},
	{
		UnclearName, "The name of a rules file begins with a word and an underscore, but the word is not a known scheme, so the whole name is read as the host.",
		"If the word is a scheme, rename the file, as in https_example.com.txt.",
	},
	{
		UnlikeAnswers, "More than a tenth of the responses to /robots.txt have a size that no robots.txt in -rules explains (not checked for a pack), or most are 404 or 410. Crawlers received another file or none: requests after such a response are `unseen`.",
		"Use the robots.txt of that time, or captures and -as-of log.",
	},
	{
		UnnamedSitemaps, "A directory of -in-sitemap has an index, and sitemaps that no index there names. They are read.",
		"Add them to the index, or remove them.",
	},
	{
		UnreadField, "The log lacks a query, host, URL, time, client, User-Agent or status, and an unread field looks like one.",
		"Name it with -field if it has that role.",
	},
	{
		UnreadFiles, "A directory of -in contains files without a file extension of logs, or links to directories. They are not read.",
		"If they are logs, name them or a pattern that matches them.",
	},
	{
		UntimedLists, "Crawler requests were verified, or attributed to impostors, without a time: the log or the lists have none. Every file of the list is used.",
		"Name the time field with -field time=name. Put lists into directories named after their day, as in 2026-08-15/googlebot.json.",
	},
	{
		UntimedRules, "With -as-of log, rows are disallowed by a robots.txt with an unknown effective date: its only timestamp is a file modification time, or it has none. Their `violation` is null.",
		"Use captures with timestamps (`fetched_at`, or WARC).",
	},
	{
		UnusedRules, "The directory of rules contains entries named like a robots.txt that are links out of it, or not regular files. They are skipped, so URLs that they disallow are allowed.",
		"Replace them with the files, or remove them.",
	},
	{
		WhiteSpace, "URLs of a list, table, sitemap or WARC file contain spaces or tabs. Spaces are read as %20, tabs as %09 only in rfc9309; -url-as-is keeps both.",
		"If they separate columns, add a header row and set -format.",
	},
}

// An example is an input or a command that causes a warning, and a corrected version without it. Both may have
// several lines.
type example struct{ bad, good string }

// examples are those of all codes.
var examples = map[Code]example{
	AddressHosts: {
		"robobatch -in proxied.log … (lines begin with 203.0.113.9 10.0.0.1 - -)",
		"robobatch -in proxied.log -base https://www.example.com …",
	},
	AnonymisedClients: {
		"robobatch -in anonymous.log -ranges lists/ … (clients such as 66.249.64.0)",
		"robobatch -in access.log -ranges lists/ … (clients such as 66.249.64.5)",
	},
	BrokenRecords: {
		"robobatch -rules crawl.warc.gz … (with damaged records)",
		"robobatch -rules crawl.warc.gz … (copied again)",
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
		"lists/a/googlebot.json and lists/b/googlebot.json, with one creationTime",
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
		"robobatch -as-of 2020-01-01 …, with captures from 2026",
		"robobatch -as-of 2026-01-31 …, with captures from 2026",
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
		"a log from 2029, read by robobatch from 2026",
		"a log from 2029, read by robobatch from 2029",
	},
	OldPack: {
		"robobatch -rules old.rbp -columns +policy_train_ai …",
		"robobatch compile -rules robots/ -out new.rbp, and the same with new.rbp",
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
		"-in b.log -out out/, if an earlier run wrote out/a.verdicts.parquet",
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
		"-ranges Ownbot=own.txt, with only addresses",
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
