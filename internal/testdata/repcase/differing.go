package repcase

// Reasons why this project says something else about a directive than a source does.
const (
	asWritten    = "a sitemap's URL is given as written, the source resolves relative ones"
	notDeduped   = "equal sitemaps are all given, the source drops duplicates"
	anyGroup     = "sitemaps are bound to no group, the source gives those of one"
	severalNames = "an agent has one name, the source takes a list of them"
	noUTF16      = "UTF-16 is not decoded"
	markup       = "markup is part of the value"
	bareURL      = "a line with nothing but a URL is no sitemap"
	ungrouped    = "a Crawl-delay before the first user-agent line is ignored, the source takes it for all crawlers"
	firstHost    = "the first valid host counts, whatever its group; the source takes the last, that of the group, or all"
	cacheDelay   = "Cache-delay is not read"
	negative     = "an invalid Crawl-delay ends the run of user-agent lines too, so that the next one is not its crawlers'"
	spelling     = "the key has another spelling"
	twoWords     = "a user-agent line of several words names nobody in yandex"
)

const (
	crawlerCommons = "crawler-commons/dir/SimpleRobotRulesParserTest."
	robotsParser   = "robots-parser/dir/Robots_should_"
	t1gor          = "t1gor/dir/"
	textingRobots  = "texting_robots/dir/test_"
)

// differing are the rows about directives whose source says something else than this project, with
// the reason.
var differing = map[string]string{
	crawlerCommons + "testFormatErrors#0":                      asWritten,
	crawlerCommons + "testFormatErrors#1":                      asWritten,
	crawlerCommons + "testFormatErrors#2":                      asWritten,
	crawlerCommons + "testEnableAllExtensions#12":              asWritten,
	crawlerCommons + "testExtensionLlmPolicyEnabled#14":        asWritten,
	crawlerCommons + "testEnableAllExtensionsWildcardAgent#28": asWritten,
	crawlerCommons + "testRelativeSitemap#29":                  asWritten,
	crawlerCommons + "testSitemapDedup#16":                     notDeduped,
	crawlerCommons + "testHeritrixCases#13":                    severalNames,
	crawlerCommons + "testRobotsWithUTF16BEBOM#17":             noUTF16,
	crawlerCommons + "testRobotsWithUTF16LEBOM#18":             noUTF16,
	crawlerCommons + "testHtmlMarkupInRobotsTxt#21":            markup,
	crawlerCommons + "testHtmlMarkupInRobotsTxt#22":            markup,
	crawlerCommons + "testSitemap#27":                          bareURL,

	"bopoda/dir/t1gorTest.testRulesLoadedIssue79#8": twoWords,

	"reppy/dir/test_no_leading_user_agent#3":                ungrouped,
	textingRobots + "robot_starts_with_crawl_delay#11":      ungrouped,
	textingRobots + "reppy_no_leading_user_agent#15":        ungrouped,
	textingRobots + "repcpp_no_leading_user_agent#23":       ungrouped,
	textingRobots + "real_robot_against_ipwatchdog#33":      ungrouped,
	textingRobots + "robot_retrieve_crawl_delay#3":          negative,
	textingRobots + "forgiveness_sitemap_variations#19":     spelling,
	textingRobots + "forgiveness_crawl_delay_variations#21": spelling,
	textingRobots + "forgiveness_crawl_delay_variations#22": spelling,

	robotsParser + "parse_the_host_directive#12":                    firstHost,
	robotsParser + "treat_only_the_last_host_directive_as_valid#13": firstHost,

	t1gor + "CacheDelayTest.testCacheDelayForExistingUserAgents#1": cacheDelay,
	t1gor + "CacheDelayTest.testCacheDelayForExistingUserAgents#2": cacheDelay,
	t1gor + "HostTest.testGetAllHosts#15":                          firstHost,
	t1gor + "HostTest.testHostForSomeUserAgent#16":                 firstHost,
	t1gor + "SitemapsTest.testRemoveDuplicateSitemaps#18":          notDeduped,
	t1gor + "SitemapsTest.testGetSitemapForExactUserAgent#24":      anyGroup,
	t1gor + "SitemapsTest.testGetSitemapFallsBackToDefault#27":     anyGroup,
	"vipnytt/dir/SitemapTest.testSitemap#31":                       notDeduped,
}
