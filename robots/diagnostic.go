package robots

// A Diagnostic is a remark on a line that is ignored, or that may not mean what it seems to mean.
type Diagnostic struct {
	Line int32 // 1-based
	Code Code
	Text string // a description of the mistake; it may quote bytes of the file that are not UTF-8

	At    int32 // offset of the mistake in the line, in bytes; 0 if it is where mistakes with this Code usually are
	Grave bool  // unlike others with this Code, the line certainly does not do what its author meant
}

// A Code identifies a kind of diagnostic. Codes never change.
type Code string

// The codes of diagnostics.
const (
	// Of the file.

	codeBOM      Code = "bom"        // it starts with a byte order mark, or a part of one, which is skipped
	codeNoRobots Code = "not_robots" // no line of it is a directive
	codeUTF16    Code = "utf16"      // it starts like UTF-16, which is not decoded
	codeHTML     Code = "html"       // it looks like an HTML page
	codeTooLarge Code = "too_large"  // it continues after the last line that is read
	codeCutLine  Code = "cut_line"   // the size limit cuts this line in two, so it is discarded

	// Of any line.

	codeNUL         Code = "nul"            // it holds a NUL byte: the rest is not read
	codeNotUTF8     Code = "not_utf8"       // it is not UTF-8
	codeLineTooLong Code = "line_too_long"  // it is longer than the dialect reads, or than its documentation permits
	codeNoDirective Code = "no_directive"   // neither a comment nor a key with a colon
	codeConflict    Code = "merge_conflict" // it marks a merge conflict
	codeNoColon     Code = "missing_colon"  // white space replaces the colon
	codeTypo        Code = "typo"           // its key is a known misspelling; the text says whether it counts
	codeLooseKey    Code = "loose_key"      // its key only begins like a known key
	codeUnknown     Code = "unknown_field"  // its key is unknown
	codeGarbled     Code = "garbled_line"   // extra characters around its key or value keep it from being read as a directive
	codeJoinedLines Code = "joined_lines"   // another directive begins in it
	codeNoindexOpen Code = "noindex_open"   // a Noindex whose path no rule disallows
	codeUnused      Code = "unused_field"   // its key is known, and has no effect in this dialect

	// Of groups.

	codeAllClosed      Code = "all_closed"           // a rule that blocks a search engine, or everyone, from all pages
	codeJoinedGroups   Code = "joined_groups"        // "*" shares a group with named crawlers
	codeStarGroups     Code = "multiple_star_groups" // not the first group for "*"; all of them are merged
	codeAgentTypo      Code = "agent_typo"           // a name that resembles that of a known crawler
	codeAgentIgnores   Code = "agent_ignores"        // a name whose operator says that robots.txt does not bind it
	codeAgentRetired   Code = "agent_retired"        // a name that its operator no longer uses
	codeAgentNever     Code = "agent_never_matches"  // a user-agent line without a valid name
	codeAgentCut       Code = "agent_cut"            // a user-agent line that is read as a shorter name
	codeAgentList      Code = "agent_list"           // a user-agent line with several names: only the first is read
	codeAgentSpace     Code = "agent_space"          // a user-agent line with a name of several words: only the first is read
	codeNotInherited   Code = "not_inherited"        // a group whose crawlers do not obey the rules for "*"
	codeDelayOnly      Code = "delay_only_group"     // a Crawl-delay, and no rule, before the next user-agent line
	codeBlankInSection Code = "blank_in_section"     // an empty line inside the section, against Yandex's documentation
	codeJoinedSections Code = "joined_sections"      // no empty line before the section, which Yandex requires
	codeBeforeRules    Code = "before_rules"         // Crawl-delay or Host before the rules of its section, against Yandex's advice
	codeTooManyRules   Code = "too_many_rules"       // more rules than Yandex's documentation permits

	// Of rules.

	codeNoGroup      Code = "rule_without_group" // no user-agent line precedes it, so it is ignored
	codeNoSlash      Code = "no_leading_slash"   // it starts with neither "/" nor "*"
	codeFullURL      Code = "full_url_rule"      // it is a URL instead of a path
	codeSpace        Code = "space_in_rule"      // it contains a space, which is %20 in URLs
	codeEscape       Code = "needless_escape"    // it percent-encodes a character that URLs contain unencoded
	codeEmptyAllow   Code = "empty_allow"        // "Allow:" without a value, which some take for "Disallow: /"
	codeCommented    Code = "commented_value"    // a "#" makes all of its value a comment
	codeCutRule      Code = "cut_rule"           // a "#" cuts it in the middle
	codeCutClosing   Code = "cut_rule_closes"    // the same, and the rest disallows everything
	codeMiddleDollar Code = "middle_dollar"      // a "$" that is not its last byte
	codeDuplicate    Code = "duplicate_rule"     // another rule for the crawler has the same effect on its URLs
	codeShadowed     Code = "shadowed_rule"      // another rule for the same crawler always takes precedence
	codeRedundant    Code = "redundant_rule"     // without it, another rule of the group would decide in the same way

	codeBlockedAssets Code = "blocked_assets" // it blocks style sheets or scripts for search engines
	codeUndefinedPair Code = "undefined_pair" // precedence over a rule with the opposite effect is undefined

	// Of other directives.

	codeBadDelay           Code = "bad_crawl_delay"              // its value is not a number of seconds
	codeBadHost            Code = "bad_host"                     // its value is not a domain name
	codeExtraHost          Code = "extra_host"                   // only the first valid one counts
	codeBadCleanParam      Code = "bad_clean_param"              // not parameters joined by "&" with an optional path
	codeBadLicense         Code = "license_not_absolute"         // its value is not an absolute URL
	codeBadUsage           Code = "bad_content_usage"            // not a Dictionary, so it has no effect
	codeUnknownUsage       Code = "unknown_content_usage"        // a label or value without effect
	codeBadSignal          Code = "bad_content_signal"           // a pair is dropped or repeated, or there is a path
	codeUnknownPolicy      Code = "unknown_policy_group"         // no draft defines its token
	codeLooseSignal        Code = "content_signal_outside_group" // no user-agent line precedes it
	codeUsageDisallowed    Code = "preference_disallowed"        // none of its crawlers may fetch its pages
	codePreferenceConflict Code = "preference_conflict"          // another line contradicts it for the same path
	codePreferenceHidden   Code = "preference_hidden"            // a group whose crawlers do not read the preferences for others
	codeHTTPSitemap        Code = "http_sitemap"                 // its URL has http although the site uses https
	codeBlockedSitemap     Code = "blocked_sitemap"              // the rules of the file disallow it
	codeBadSitemap         Code = "bad_sitemap"                  // its value is not an absolute URL
)
