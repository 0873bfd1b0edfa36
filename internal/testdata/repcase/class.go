package repcase

// An expectation says whose verdict a dialect must give.
type expectation uint8

const (
	notRun   expectation = iota
	asGoogle             // google/robotstxt's, for the agent's product token
	asSource             // the source's
	denied               // disallow, whatever both say
	allowed              // allow, whatever both say
)

// A class is this project's way with the rows where a source and google/robotstxt disagree
// for one reason.
type class struct {
	google     expectation // dialect google, URLs as they are
	normalised expectation // dialect google, URLs normalised: where that makes the difference
	rfc9309    expectation // dialect rfc9309
	wide       expectation // dialect google with WideTokens: where that makes the difference
	own        expectation // the source's dialect, if that is google-2010 or yandex, for rows of tier peer; notRun: asGoogle
	why        string
}

// classes has every class of the case collection. An agent that starts with "Googlebot-" is the
// exception of C24, see [Plan].
var classes = map[string]class{
	"C01-multi-agent":                            {why: "groups of different names are never merged, so there is no query by several names"},
	"C02-robots-txt-implicitly-allowed":          {google: asGoogle, rfc9309: allowed, why: "RFC 9309 section 2.2.2; google/robotstxt has no such exception"},
	"C03-other-origin-or-AllowNone":              {google: asGoogle, rfc9309: asGoogle, why: "the origin decides which file is asked, not the verdict of a file"},
	"C04-encoding-UTF16":                         {google: asGoogle, rfc9309: asGoogle, why: "UTF-16 is not decoded"},
	"C05-html-suffix-after-value":                {google: asGoogle, rfc9309: asGoogle, why: "markup is part of the value"},
	"C06-0x85-as-line-end":                       {google: asGoogle, rfc9309: asGoogle, why: "only CR and LF end lines"},
	"C07-crawl-delay-over-limit-blocks-site":     {google: asGoogle, rfc9309: asGoogle, why: "Crawl-delay decides no access"},
	"C08-visit-time":                             {google: asGoogle, rfc9309: asGoogle, why: "Visit-time decides no access"},
	"C09-line-length-limit":                      {google: asGoogle, rfc9309: asGoogle, why: "google keeps 16,663 bytes of a line, the source some less; for rfc9309 the rest counts too, and differs"},
	"C10-rules-before-any-user-agent":            {google: asGoogle, rfc9309: asGoogle, why: "RFC 9309 section 2.2.1: rules outside of groups are ignored"},
	"C11-unknown-or-crawl-delay-line-ends-group": {google: asGoogle, rfc9309: asGoogle, why: "RFC 9309 section 2.2.4: other records do not interfere"},
	"C12-missing-colon":                          {google: asGoogle, rfc9309: allowed, why: "rfc9309 skips a line without colon"},
	"C13-typos":                                  {google: asGoogle, rfc9309: allowed, why: "google takes its own list of misspellings, rfc9309 none"},
	"C15-absolute-URL-as-pattern":                {google: asGoogle, rfc9309: asGoogle, why: "a pattern is compared with the path"},
	"C14-empty-allow-yandex":                     {google: asGoogle, rfc9309: asGoogle, why: "a rule without value has no effect outside of the dialect yandex"},
	"C16-pattern-without-leading-slash":          {google: asGoogle, rfc9309: asGoogle, own: asSource, why: "a pattern is literal from its first byte on; google-2010 assumes a slash, yandex drops the rule"},
	"C17-dollar-edge":                            {google: asGoogle, rfc9309: asGoogle, why: "only the last $ is an anchor, and it anchors exactly"},
	"C18-invalid-url-path":                       {google: asGoogle, rfc9309: asGoogle, why: "a path starts with a slash"},
	"C19-global-group-also-applied":              {google: asGoogle, rfc9309: asGoogle, why: "RFC 9309 section 2.2.1: * is for crawlers that no group names"},
	"C20-several-names-in-one-user-agent-line":   {google: asGoogle, rfc9309: asGoogle, why: "a user-agent line has one product token"},
	"C21-multi-word-name":                        {google: asGoogle, rfc9309: asGoogle, why: "a product token has no spaces"},
	"C22-wildcard-inside-agent":                  {google: asGoogle, rfc9309: asGoogle, why: "a product token has no wildcards"},
	"C23-non-ASCII-agent":                        {google: asGoogle, rfc9309: asGoogle, why: "a product token is ASCII"},
	"C24-agent-prefix-fallback":                  {google: asGoogle, rfc9309: asGoogle, why: "only tokens that start with Googlebot- fall back, in google and google-2010; those that start with Yandex in yandex"},
	"C25-query-agent-carries-version":            {google: asGoogle, rfc9309: asGoogle, why: "the agent asked for is cut to its product token"},
	"C26-digits-or-other-chars-in-agent":         {google: asGoogle, rfc9309: asGoogle, wide: asSource, why: "a product token has no digits, unless asked for"},
	"C30-raw-non-ASCII-in-URL":                   {google: asGoogle, normalised: asSource, rfc9309: asSource, why: "URLs are escaped, unless taken as they are"},
	"C31-encoded-special-%2A-%24":                {google: asGoogle, rfc9309: asSource, why: "RFC 9309 section 2.2.3; bytes in google"},
	"C32-reserved-in-query-encoded":              {google: asGoogle, rfc9309: asGoogle, why: "known deviation from RFC 9309 section 2.2.2: reserved characters in a query are compared as they are"},
	"C33-lowercase-hex-in-URL":                   {google: asGoogle, normalised: asSource, rfc9309: asSource, why: "escapes get upper-case digits, unless the URL is taken as it is"},
	"C34-encoded-unreserved-or-unsafe-decoded":   {google: asGoogle, rfc9309: asSource, why: "RFC 9309 section 2.2.2: unreserved characters are decoded; google does not"},
}

// exceptions are rows whose disagreement has another reason than their class says, or a second one.
var exceptions = map[string]class{
	"crawler-commons/SimpleRobotRulesParserTest.testRfpCases2:488#335": encodedTilde,

	"crawler-commons/SimpleRobotRulesParserTest.testDirectiveTypos:1039#378": misspeltAgent,
	"crawler-commons/SimpleRobotRulesParserTest.testDirectiveTypos:1042#379": misspeltAgent,
	"crawler-commons/SimpleRobotRulesParserTest.testDirectiveTypos:1045#380": misspeltAgent,

	"bopoda/t1gorTest.testRuleContainingDollarIssue63#56": assumedSlash,
	"t1gor/EndAnchorTest.testEndAnchor_5#35":              assumedSlash,

	"bopoda/Issue13Test.testIsUrlAllow3#49": trailingStar,

	"protego/TestProtego.test_special_symbols_dual_behaviour:1031#260": anchorOnly,
	"protego/TestProtego.test_special_symbols_dual_behaviour:1032#261": anchorOnly,

	"protego/TestProtego.test_unescaped_url:128#263":                                   rawBracket,
	"protego/TestProtego.test_unescaped_url:133#265":                                   rawBracket,
	"rep-cpp/AgentTest.UnescapedRule:85#101":                                           rawBracket,
	"rep-cpp/AgentTest.UnescapedRuleWildcard:99#105":                                   rawBracket,
	"reppy/test_unescaped_rule:80#83":                                                  rawBracket,
	"reppy/test_unescaped_rule_wildcard:98#85":                                         rawBracket,
	"robots-parser/Robots_should_handle_Unicode_and_urlencoded_paths_isAllowed#125":    classes["C33-lowercase-hex-in-URL"],
	"robots-parser/Robots_should_handle_Unicode_and_urlencoded_paths_isDisallowed#126": classes["C33-lowercase-hex-in-URL"],
}

var (
	encodedTilde = class{google: asGoogle, rfc9309: asSource, why: "%7E in the URL is ~ in rfc9309 only; the agent's version matters to nobody"}
	// misspeltAgent is a user-agent line that opens no group in rfc9309, so that the rule below it belongs to
	// the group before, which names "bot1"; and all these names are cut to "bot".
	misspeltAgent = class{google: asGoogle, rfc9309: denied, why: "a rule below a misspelt user-agent line belongs to the group before"}
	anchorOnly    = class{google: asGoogle, rfc9309: asGoogle, why: "a $ at the end is the anchor and never literal; the source takes it for both"}
	// assumedSlash is a rule "deny_all/$". The sources drop it, and so does yandex; but they are listed under
	// google-2010, which assumes a slash.
	assumedSlash = class{google: asGoogle, own: denied, why: "google-2010 assumes the slash in front of a rule"}
	// trailingStar is a "*" at the end, which Google's documentation before 2019 ignores, so that the lengths
	// tie and Allow wins.
	trailingStar = class{google: asGoogle, own: allowed, why: "google-2010 ignores a * at the end of a rule"}
	rawBracket   = class{google: asGoogle, normalised: asGoogle, rfc9309: asSource, why: "a raw < in a pattern is encoded in rfc9309 only"}
)
