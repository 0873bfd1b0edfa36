package diagnose

// Codes of findings, in the order of precedence of causes: a row explains those after it that lie in its time range.
const (
	Outage           = "outage" // before robots_txt_failed: if the site is down, that is why robots.txt failed
	RobotsFailed     = "robots_txt_failed"
	CrawlerRefused   = "crawler_refused"
	SiteClosed       = "site_closed"
	RobotsOther      = "robots_txt_other_text"
	RobotsMissing    = "robots_txt_missing"
	SectionClosed    = "section_closed"
	ResourcesBlocked = "resources_blocked"
	ServerErrors     = "server_errors"
	CrawlerStopped   = "crawler_stopped"
	CrawlerSlowed    = "crawler_slowed"
	CrawlerSurge     = "crawler_surge"
	NotFoundSection  = "not_found_section"
	RedirectChain    = "redirect_chain"
	ParameterCrawl   = "parameter_crawl"
	EndlessURLs      = "endless_urls"
	BytesHog         = "bytes_hog"
	DelayIgnored     = "crawl_delay_ignored"
	RulesIgnored     = "rules_ignored"
	Impostors        = "crawler_impostors"
	SitemapBad       = "sitemap_bad_urls"
	SoftNotFound     = "soft_not_found"
)

// Limits of a log, which are not findings.
const (
	NoCrawlers = "no_crawlers"
	LogGap     = "log_gap"
)

// Codes are all codes of findings.
var Codes = []string{
	Outage, RobotsFailed, CrawlerRefused, SiteClosed, RobotsOther, RobotsMissing, SectionClosed, ResourcesBlocked, ServerErrors, CrawlerStopped, CrawlerSlowed,
	CrawlerSurge, NotFoundSection, RedirectChain, ParameterCrawl, EndlessURLs, BytesHog, DelayIgnored, RulesIgnored, Impostors, SitemapBad, SoftNotFound,
}

// classes maps codes to their certainty; other codes are certain.
var classes = map[string]string{CrawlerStopped: "B", CrawlerSlowed: "B", CrawlerSurge: "B", RedirectChain: "B", DelayIgnored: "B", SoftNotFound: "B", ParameterCrawl: "C"}

// nameless are the codes that do not depend on the identity of a client: responses to all clients, texts, and names
// that are proven false.
var nameless = []string{Outage, RobotsFailed, SiteClosed, RobotsOther, RobotsMissing, SectionClosed, ResourcesBlocked, Impostors, SitemapBad}

// Thresholds of all codes. Times are in seconds; shares are fractions of 1.
const (
	hour = 3600
	day  = 24 * hour

	leastShown      = 20       // minimum requests of a row, unless it has this share
	leastShownShare = .0005    // of the log, or
	leastOwnShare   = .01      // of the requests of each crawler of the row
	wholeLog        = .9       // share of the log from which a row counts as lasting all of it
	oneStatus       = .95      // share of responses from which one status stands for all
	effectEarly     = 6 * hour // how long before its cause a crawler's last request may be
	leastCrawl      = 100      // page requests of a search crawler, needed for an all-clear
)

// Thresholds of robots_txt_*.
const (
	txtAnswers   = 3
	txtClients   = 2
	txtAgents    = 3       // crawlers, if none is a search crawler
	txtFailing   = 30 * 60 // duration of failures
	txtLasting   = hour    // duration of a missing or different text
	leftLeast    = 10      // expected requests in stopLasts before a failure, to decide if a crawler was still active
	txtBridged   = 10      // other responses allowed within a run
	txtOthers    = .2      // share of other responses in a run
	textSlack    = day     // around a change of the text, because the new size may appear early or late
	textKnown    = .3      // share of sizes that must equal a text's; otherwise sizes include headers or are compressed
	textSent     = .9      // share of sizes that proves a text without a time was in force
	textElse     = .05     // share of responses outside a run with its size
	longFailing  = 12 * hour
	leastFailing = 100 // requests lost during such a long failure of robots.txt
)

// Thresholds of outage.
const (
	outageShare    = .5
	outageRequests = 30
	outageLasts    = hour
	outageShort    = 20 * 60 // with
	outageMany     = 200     // requests
	outageBaseline = .05     // error share outside it
	outageClients  = 2       // crawlers, or unidentified clients together
	outageHolds    = .9      // share of the errors in the named directory
	outageParts    = 2. / 3  // share of failing directories from which the whole site counts as failing
	outageSome     = 1. / 3  // share of the requests of a directory that fails with the whole site
	outagePart     = 20      // requests to such a directory
	soleErrors     = .9      // share of the errors that one client or crawler got
	provokedShare  = .1      // share of errors that crawlers would get if all clients got as many
	edgeShare      = .05     // error share of an adjacent slot that belongs to it
)

// Thresholds of server_errors.
const (
	errorsShare = .02
	errorsRoot  = .01 // error share of the whole site
	errorsLeast = 100
	errorsURLs  = 20
	errorsLasts = 3 * day
	errorsShort = day // in a log shorter than errorsLog
	errorsLog   = 4 * day
	errorsTimes = 3.  // ratio to the error share of the rest of the site
	changeGain  = 12. // gain of the log-likelihood
)

// Thresholds of crawler_refused.
const (
	refusedShare  = .5
	refusedWeight = .5 // weight of a different response in the score of a run
	refusedHours  = 3
	refusedMany   = 50
	refusedLeast  = 10
	refusedPeople = .05 // maximum share of unidentified clients' responses
	refusedScans  = .25 // the same where other crawlers get robots.txt: the others are scanners
	refusedBefore = .1  // maximum share of the crawler's responses outside the run, or
	refusedSpread = 3   // directories that refuse it
)

// Thresholds of crawler_stopped, crawler_slowed, crawler_surge, log_gap.
const (
	chance       = 1e-6
	burst        = 4 // times the median of all clients' requests in a slot
	leastBlocks  = 8
	leastLog     = 4 * day // minimum length of a log in which a crawler may stop, slow down or surge
	stopLasts    = 12 * hour
	stopShare    = .02 // share of the expected requests
	stopRests    = 3   // multiple of the longest previous pause
	stopPresent  = 72 * hour
	stopSlots    = .6 // share of the slots before it (of length stopSlot) with a request
	stopSlot     = 6 * hour
	stopBack     = .25 // share of the expected requests after it
	stopDaily    = 24. // requests per day
	stopTogether = 3   // crawlers that stop at once
	stopWithin   = 3 * hour
	busyShare    = .05 // share of the log's requests, for a crawler that is not a search engine's
	slowShare    = .5
	slowShift    = 5.8 // standard errors × √(log ratio + slowDepth): a deep drop needs fewer
	slowWithin   = 6.8 // the same, for a drop that ends before the log
	slowDepth    = .4
	spread       = .4 // standard deviation of the logarithms of a usual crawler's days; it counts as much as
	spreadDays   = 8
	slowDays     = 3
	slowBase     = 7 * day // outside it, or a fourth of the log
	slowHours    = 48      // in a log shorter than
	slowLog      = 8 * day
	slowAfter    = .7 // share of the days after it that are below
	slowBelow    = .6 // fraction of the previous median
	surgeLasts   = 3 * hour
	surgeTimes   = 4.6    // multiple of the profile: three times the usual requests result in four here
	surgeEdge    = 2.5    // multiple of the expected requests in a slot that may belong to a surge
	surgeLog     = 1. / 3 // maximum share of the log: longer is usual traffic
	surgeShare   = .05    // share of all requests in its time range
)

// Thresholds of not_found_section.
const (
	missingShare = .8
	missingOwn   = .02
	missingLeast = 100
	missingURLs  = 20
)

// Thresholds of site_closed, section_closed, resources_blocked.
const (
	siteShare      = .98
	seenBefore     = 10 * 60 // how long a text is in force before any crawler has it
	sectionShare   = .02
	sectionListed  = 50      // sitemap URLs blocked by a rule that always existed, with
	sectionVisited = .05     // share of the pages that visitors got
	sectionBefore  = 7 * day // requests before it that are compared, at most half of the log
	resourcesLeast = 500
	resourcesHarm  = .01 // share of a rendering crawler's page requests above which it may see broken pages
)

// Thresholds of parameter_crawl, endless_urls, bytes_hog, soft_not_found, redirect_chain.
const (
	parameterShare  = .15
	parameterURLs   = 200
	parameterFan    = 2      // URLs per path: two weeks show only a small part of a space with thousands
	parameterSame   = .7     // share of URLs as large as others of their path
	parameterBeside = .8     // share of requests with two parameters on the same URLs
	leastValues     = 3      // values of a parameter that creates versions of pages
	smallCrawl      = 10_000 // page requests of its crawlers in its time range: with fewer, each page is crawled anyway
	endlessURLs     = 200
	endlessOnce     = .95
	endlessTwice    = .1 // maximum share of URLs that a crawler fetched again within weeks: the catalogue has at most .05
	endlessShare    = .05
	endlessLate     = .1 // share of the requests in the last quarter of the log, or it was crawled only once
	hogBytes        = 1_000_000_000
	hogURL          = .2  // share of all bytes for one URL
	hogCrawler      = .5  // share of all bytes for a crawler with
	hogRequests     = .2  // at most this share of all requests
	hogHolds        = .9  // share of a crawler's bytes in the named directory
	hogDaily        = 1.5 // requests per day, or it is one complete fetch per day
	softURLs        = 50  // URLs of one size
	softOthers      = 20  // URLs of other sizes
	softSpread      = 10  // percent between the quartiles of other sizes
	softNear        = 20  // percent around the size, where each percent has
	softTimes       = 5   // times fewer pages
	softShell       = .6  // share of all pages of the site
	softShare       = .02
	tallyEdge       = .25 // multiple of the mean requests per slot in the time range of a row
	chainRuns       = 50
	chainShare      = .01
	chainHolds      = .5 // share of the redirects of the first directory; below that, names are alike by chance
)

// Thresholds that distinguish parameters whose values are not pages, and endless URL spaces, from many ordinary pages.
const (
	mostNames     = 1 << 16 // parameters per site; later ones are not counted
	mostDiffer    = 64      // maximum difference in bytes between sizes of one page
	leastPerValue = 10      // average URLs per value; with fewer, each may be one page
	mostPerPlain  = 100     // requests per request of the path without a query; with more, that is not a page
	leastPages    = 20      // pages with session ids
	leastIDs      = 20      // ids of a parameter named like a session
	mostShared    = 10      // one in this many session ids may come from several crawlers or clients
	leastToken    = 16      // minimum length of a text that looks like an id
	mostOthers    = 100     // one in this many URLs that a rule closes may be a different one
	leastSureID   = 6       // minimum length of an id whose parameter has an unambiguous name
	leastDates    = 100     // dates of a calendar
	perMonth      = 2       // average days per month of a calendar: a monthly list has fewer
	aheadYears    = 2       // years after the end of the log; later days belong to a calendar
	lastYear      = 2060    // the same limit for a log without times
	firstYear     = 1900    // earliest year of a date
	lateYear      = 2100    // from here on, dates occur only in calendars; elsewhere they are other numbers
)

// Thresholds of crawl_delay_ignored, crawler_impostors, sitemap_bad_urls.
const (
	delayGaps      = 100
	delayShort     = .2
	impostorsLeast = 100
	impostorsShare = .05
	listedLeast    = 10
	listedShare    = .01
)

// Directories with their own rows.
const (
	directoryLeast = 200 // requests
)
