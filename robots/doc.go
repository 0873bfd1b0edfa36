// Package robots implements the Robots Exclusion Protocol: it parses robots.txt files and URLs, and has a slow and
// obvious matcher, [Decide], which returns the rule that applies. Package automaton answers the same question fast.
//
// # The protocol in one page
//
// A robots.txt binds one origin: a scheme, a host and a port (RFC 9309 section 2.3). [AppendOrigin]
// and [ParseOrigin] bring an origin into one normal form, so that equal strings are equal origins.
//
// The file is a sequence of lines, "key: value", where "#" begins a comment (section 2.2). Lines
// "User-agent" name crawlers by [ProductToken]; the lines "Allow" and "Disallow" that follow are
// the rules of those crawlers; a User-agent line after a rule begins another [Group] (section 2.1).
// All other lines are skipped and have no effect on groups. [Parse] never fails, whatever the
// bytes: it skips all lines that it cannot use.
//
// A crawler is bound by the rules of all groups that name it. If none does, the rules of its fallbacks
// bind it, then the groups for "*"; if there is none of these either, everything is
// allowed (section 2.2.1). An [Agent] is such a chain of names, and [File.Select] finds its rules.
//
// A rule applies to a URL if its pattern matches the URL's path and query from the first byte on;
// "*" in a pattern stands for any bytes, and "$" at its end for the end of the URL. Of the rules
// that match, the one with the longest pattern decides; Allow wins over Disallow of the same
// length; if no rule matches, the URL is allowed (section 2.2.2). Before they are compared,
// patterns and paths are brought into one normal form of percent-encoding (section 2.2.2, 2.2.3):
// [Parse] does so for patterns, [Dialect.Path] for URLs.
//
// Implementations differ in points that the standard leaves open or that predate it. A [Dialect] is
// a set of flags for these points; [RFC9309], [Google], [Google2010] and [Yandex] are such sets.
//
// # Fetches and remarks
//
// A failed fetch also has an effect (section 2.3.1). A [History] takes the [Response] of each fetch and returns their
// effect: whether rules decide, or everything is allowed or disallowed, and why.
//
// [Inspect] also reads the lines that Parse skips for speed (Sitemap, Crawl-delay, Host and Clean-param), and finds
// the mistakes in a file.
//
// # Patterns
//
// [Rule.Pattern] does not depend on the dialect: each "*" matches any bytes or none; "$" as the last byte matches only
// the end of the path; every other byte, including an earlier "$", matches itself. A "*" or "$" that a dialect takes
// literally is another byte, the same in the pattern and in the path; see [ReadablePattern]. The length of Pattern in
// bytes is the priority of the rule.
//
// # Out of scope
//
// Fetching and caching (section 2.4); rules in HTML pages and HTTP headers.
//
// The package hides how bytes become rules, URLs become origins, and captures become an outcome. Any package may import
// it; it imports only crawlers from this module.
package robots
