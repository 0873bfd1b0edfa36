package diagnose

// The codes of findings, in the order in which causes win: a row explains those behind it that lie in its time.
const (
	Outage           = "outage" // before robots_txt_failed: a site that is down explains why its robots.txt failed
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

// The limits of a log, which are not findings.
const (
	NoCrawlers = "no_crawlers"
	LogGap     = "log_gap"
)

// Codes are all codes of findings.
var Codes = []string{
	Outage, RobotsFailed, CrawlerRefused, SiteClosed, RobotsOther, RobotsMissing, SectionClosed, ResourcesBlocked, ServerErrors, CrawlerStopped, CrawlerSlowed,
	CrawlerSurge, NotFoundSection, RedirectChain, ParameterCrawl, EndlessURLs, BytesHog, DelayIgnored, RulesIgnored, Impostors, SitemapBad, SoftNotFound,
}

// classes are how sure the rows of a code are; others are certain.
var classes = map[string]string{CrawlerStopped: "B", CrawlerSlowed: "B", CrawlerSurge: "B", RedirectChain: "B", DelayIgnored: "B", SoftNotFound: "B", ParameterCrawl: "C"}

// nameless are the codes about what the site sent to everybody, about its texts, and about names that are proven false.
var nameless = []string{Outage, RobotsFailed, SiteClosed, RobotsOther, RobotsMissing, SectionClosed, ResourcesBlocked, Impostors, SitemapBad}

// The thresholds of all codes follow. Times are in seconds; shares are parts of 1.
const (
	hour = 3600
	day  = 24 * hour

	leastShown      = 20       // requests of a row; fewer take
	leastShownShare = .0005    // of the log, or
	leastOwnShare   = .01      // of the requests of each crawler of the row
	wholeLog        = .9       // of the log, that lasts the whole log
	oneStatus       = .95      // of the answers, that are told as if all had it
	effectEarly     = 6 * hour // before its cause, that a crawler made its last request: it may have been due
	leastCrawl      = 100      // page requests of a search crawler, without which nobody can say that all is well
)

// The thresholds of robots_txt_*.
const (
	txtAnswers   = 3
	txtClients   = 2
	txtAgents    = 3       // of which none is a search crawler
	txtFailing   = 30 * 60 // that failures last
	txtLasting   = hour    // the same of a missing or another text
	leftLeast    = 10      // expected requests of a crawler in stopLasts before a failure, that tell whether it still came
	txtBridged   = 10      // answers of a run that has others in it
	txtOthers    = .2      // of a run
	textSlack    = day     // around a change of the text, whose size may come early or late
	textKnown    = .3      // of the sizes that equal a text's, or sizes have headers in them or are compressed
	textSent     = .9      // of the sizes, of a text without a time that was in force
	textElse     = .05     // of the answers outside a run, that have its size
	longFailing  = 12 * hour
	leastFailing = 100 // requests lost by a robots.txt that fails so long
)

// The thresholds of outage.
const (
	outageShare    = .5
	outageRequests = 30
	outageLasts    = hour
	outageShort    = 20 * 60 // with
	outageMany     = 200     // requests
	outageBaseline = .05     // of errors outside it
	outageClients  = 2       // crawlers, or other clients together
	outageHolds    = .9      // of the errors, in the directory that is named
	outageParts    = 2. / 3  // of the directories fail, or it is not the whole site
	outageSome     = 1. / 3  // of the requests of a directory that fails with the whole site
	outagePart     = 20      // requests of such a directory
	soleErrors     = .9      // of the errors, of one client, or of one crawler
	provokedShare  = .1      // of the errors that crawlers would get if all clients got as many
	edgeShare      = .05     // of errors in a slot beside it, that belong to it
)

// The thresholds of server_errors.
const (
	errorsShare = .02
	errorsRoot  = .01 // of the whole site
	errorsLeast = 100
	errorsURLs  = 20
	errorsLasts = 3 * day
	errorsShort = day // in a log of less than errorsLog
	errorsLog   = 4 * day
	errorsTimes = 3.  // the share of the rest of the site
	changeGain  = 12. // of the logarithm of the likelihood
)

// The thresholds of crawler_refused.
const (
	refusedShare  = .5
	refusedWeight = .5 // of another answer, in the score of a run
	refusedHours  = 3
	refusedMany   = 50
	refusedLeast  = 10
	refusedPeople = .05 // of other clients' answers, at most
	refusedBefore = .1  // of the crawler's outside the run, at most, or
	refusedSpread = 3   // directories that refuse it
)

// The thresholds of crawler_stopped, crawler_slowed, crawler_surge, log_gap.
const (
	chance       = 1e-6
	leastBlocks  = 8
	leastLog     = 4 * day // in which a crawler may stop, slow down or surge
	stopLasts    = 12 * hour
	stopShare    = .02 // of the expected requests
	stopRests    = 3   // times the longest rest before
	stopPresent  = 72 * hour
	stopSlots    = .6 // of those of stopSlot before it, with a request
	stopSlot     = 6 * hour
	stopBack     = .25 // of the expected requests, after it
	stopDaily    = 24. // requests a day
	stopTogether = 3   // crawlers that stop
	stopWithin   = 3 * hour
	busyShare    = .05 // of the log's requests, of a crawler that is not a search engine's
	slowShare    = .5
	slowShift    = 14   // standard errors times the square of the logarithm of the ratio and slowDepth: a deep fall needs fewer
	slowWithin   = 16.5 // the same, of a time that ends before the log
	slowDepth    = .4
	slowDays     = 3
	slowHours    = 48 // in a log of less than
	slowLog      = 8 * day
	slowAfter    = .7 // of the days after it, below
	slowBelow    = .6 // of the median before
	surgeLasts   = 3 * hour
	surgeTimes   = 4.6    // its slots are those with the most over the profile: three times as many as usual come out as four
	surgeEdge    = 2.5    // times the expected requests, in a slot that may be of a surge
	surgeLog     = 1. / 3 // of the log, at most: more is usual
	surgeShare   = .05    // of all requests in its time
)

// The thresholds of not_found_section.
const (
	missingShare = .8
	missingOwn   = .02
	missingLeast = 100
	missingURLs  = 20
)

// The thresholds of site_closed, section_closed, resources_blocked.
const (
	siteShare      = .98
	seenBefore     = 10 * 60 // that a text is in force before anybody has it
	sectionShare   = .02
	sectionListed  = 50      // URLs of sitemaps, below a rule that was always there, with
	sectionVisited = .05     // of the pages that visitors got
	sectionBefore  = 7 * day // of requests before it, or half of the log
	resourcesLeast = 500
	resourcesHarm  = .01 // of the page requests of a crawler that renders, if more: it may see them broken
)

// The thresholds of parameter_crawl, endless_urls, bytes_hog, soft_not_found, redirect_chain.
const (
	parameterShare  = .15
	parameterURLs   = 200
	parameterFan    = 2      // URLs of a path: two weeks show a small part of a space that has thousands
	parameterSame   = .7     // of the URLs are as large as others of their path
	parameterBeside = .8     // of the requests, of two parameters of the same URLs
	leastValues     = 3      // of a parameter that makes versions of pages
	smallCrawl      = 10_000 // page requests of its crawlers in its time: where there are fewer, each page is crawled anyway
	endlessURLs     = 200
	endlessOnce     = .95
	endlessTwice    = .1 // of the URLs, at most, to which a crawler came back in weeks: the catalogue has no more than .05
	endlessShare    = .05
	endlessLate     = .1 // of the requests are in the last quarter of the log, or it was crawled once
	hogBytes        = 1_000_000_000
	hogURL          = .2  // of all bytes, for one URL
	hogCrawler      = .5  // of all bytes, for a crawler with
	hogRequests     = .2  // of all requests at most
	hogHolds        = .9  // of a crawler's bytes, in the directory that is named
	hogDaily        = 1.5 // requests a day, or it is one complete fetch a day
	softURLs        = 50  // of one size
	softOthers      = 20  // of other sizes
	softSpread      = 10  // percent, between the quartiles of other sizes
	softNear        = 20  // percent around the size, of which
	softTimes       = 5   // times fewer pages have each percent
	softShell       = .6  // of all pages of the site
	softShare       = .02
	tallyEdge       = .25 // times the mean requests of a slot, in the time of a row
	chainRuns       = 50
	chainShare      = .01
	chainHolds      = .5 // of the redirects of the directory where it begins, or only names are alike by chance
)

// The signs of parameters whose values are no pages, and of URLs without end: they tell these from pages that are just many.
const (
	mostNames     = 1 << 16 // parameters of a site; later ones are not counted
	mostDiffer    = 64      // bytes between sizes of one page
	leastPerValue = 10      // URLs that have the same value, on average, or each may be one page
	mostPerPlain  = 100     // requests with the parameter for each of the same path without a query, or that is no page
	leastPages    = 20      // with ids of sessions
	leastIDs      = 20      // of a parameter that has the name of a session
	mostShared    = 10      // of so many ids of sessions one may come from several crawlers, or from others as well
	leastToken    = 16      // bytes of a text that looks like an id
	mostOthers    = 100     // of how many URLs that a rule closes one may be another
	leastSureID   = 6       // bytes of an id whose parameter has a sure name
	leastDates    = 100     // of a calendar
	perMonth      = 2       // the days of a calendar are more, on average: a list by month ends
	aheadYears    = 2       // years after the last of the log; later days are of a calendar
	lastYear      = 2060    // the last one before these, of a log without times
	firstYear     = 1900    // of dates
	lateYear      = 2100    // dates from it on are those of a calendar alone; elsewhere they are numbers of things
)

// The thresholds of crawl_delay_ignored, crawler_impostors, sitemap_bad_urls.
const (
	delayGaps      = 100
	delayShort     = .2
	impostorsLeast = 100
	impostorsShare = .05
	listedLeast    = 10
	listedShare    = .01
)

// The directories that have rows of their own.
const (
	directoryLeast = 200 // requests
)
