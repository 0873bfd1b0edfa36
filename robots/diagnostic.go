package robots

// A Diagnostic is a remark on a line that is ignored, or whose meaning may not be the apparent one.
type Diagnostic struct {
	Line int32  // 1-based
	Code Code   //
	Text string // the fault, for people; it may hold bytes of the file, which need not be UTF-8

	At    int32 // the bytes of the line before the fault; 0 if it is at the usual place of the Code
	Grave bool  // the line certainly does not do what its author meant, though others with the Code may
}

// A Code names a kind of diagnostic. Codes are stable: they can be searched for, and will not be
// renamed.
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
	codeNoDirective Code = "no_directive"   // it is no comment, and has no key and colon
	codeConflict    Code = "merge_conflict" // it marks a conflict of a merge
	codeNoColon     Code = "missing_colon"  // white space stands for the colon
	codeTypo        Code = "typo"           // its key is a known misspelling; the text says whether it counts
	codeLooseKey    Code = "loose_key"      // its key only starts like the one that it is taken for
	codeUnknown     Code = "unknown_field"  // nobody knows its key
	codeGarbled     Code = "garbled_line"   // it would be a directive, but for characters around its key
	codeJoinedLines Code = "joined_lines"   // another directive begins in it
	codeNoindexOpen Code = "noindex_open"   // a Noindex whose path no rule closes
	codeUnused      Code = "unused_field"   // its key is known, and has no effect in this dialect

	// Of groups.

	codeAllClosed      Code = "all_closed"           // a rule that leaves nothing to a search engine, or to everybody
	codeJoinedGroups   Code = "joined_groups"        // "*" shares a group with named crawlers
	codeStarGroups     Code = "multiple_star_groups" // not the first group for "*"; all of them are merged
	codeAgentTypo      Code = "agent_typo"           // a name that is nearly a known crawler's
	codeAgentIgnores   Code = "agent_ignores"        // a name whose operator says that robots.txt does not bind it
	codeAgentRetired   Code = "agent_retired"        // a name that its operator no longer uses
	codeAgentNever     Code = "agent_never_matches"  // a user-agent line that is read as no name
	codeAgentCut       Code = "agent_cut"            // a user-agent line that is read as a shorter name
	codeAgentList      Code = "agent_list"           // a user-agent line with several names: only the first is read
	codeAgentSpace     Code = "agent_space"          // a user-agent line with a name of several words: only the first is read
	codeNotInherited   Code = "not_inherited"        // a group for named crawlers that rules for "*" do not bind
	codeDelayOnly      Code = "delay_only_group"     // a Crawl-delay, and no rule, before the next user-agent line
	codeBlankInSection Code = "blank_in_section"     // an empty line inside the section, which Yandex's documentation forbids
	codeJoinedSections Code = "joined_sections"      // no empty line parts it from the section before, as Yandex asks for
	codeBeforeRules    Code = "before_rules"         // Crawl-delay or Host before the rules of its section, against Yandex's advice
	codeTooManyRules   Code = "too_many_rules"       // more rules than Yandex's documentation permits

	// Of rules.

	codeNoGroup      Code = "rule_without_group" // no user-agent line precedes it, so it is ignored
	codeNoSlash      Code = "no_leading_slash"   // it starts with neither "/" nor "*"
	codeFullURL      Code = "full_url_rule"      // it is a URL, and not a path
	codeSpace        Code = "space_in_rule"      // it has a space, and in URLs that is %20
	codeEscape       Code = "needless_escape"    // it has a percent-encoding of a character that URLs have as it is
	codeEmptyAllow   Code = "empty_allow"        // "Allow:" without a value, which some take for "Disallow: /"
	codeCommented    Code = "commented_value"    // a "#" makes all of its value a comment
	codeCutRule      Code = "cut_rule"           // a "#" cuts it in the middle
	codeCutClosing   Code = "cut_rule_closes"    // the same, and the rest forbids everything
	codeMiddleDollar Code = "middle_dollar"      // a "$" that is not its last byte
	codeDuplicate    Code = "duplicate_rule"     // another rule of the same crawler says the same of the same URLs
	codeShadowed     Code = "shadowed_rule"      // another rule of the same crawler always wins over it
	codeRedundant    Code = "redundant_rule"     // another rule of the group says the same, and nothing would change without it

	codeBlockedAssets Code = "blocked_assets" // it keeps style sheets or scripts from search engines
	codeUndefinedPair Code = "undefined_pair" // with a rule that says the opposite, it leaves the verdict undefined

	// Of other directives.

	codeBadDelay           Code = "bad_crawl_delay"              // its value is not a number of seconds
	codeBadHost            Code = "bad_host"                     // its value is not a domain name
	codeExtraHost          Code = "extra_host"                   // only the first valid one counts
	codeBadCleanParam      Code = "bad_clean_param"              // it is not: parameters joined by "&", and maybe a path
	codeBadLicense         Code = "license_not_absolute"         // its value is no absolute URL
	codeBadUsage           Code = "bad_content_usage"            // it is no Dictionary, so it says nothing
	codeUnknownUsage       Code = "unknown_content_usage"        // a label or a value of it says nothing
	codeBadSignal          Code = "bad_content_signal"           // a pair is dropped or comes twice, or there is a path
	codeUnknownPolicy      Code = "unknown_policy_group"         // no draft defines its token
	codeLooseSignal        Code = "content_signal_outside_group" // no user-agent line precedes it
	codeUsageDisallowed    Code = "preference_disallowed"        // it is of pages that none of its crawlers may fetch
	codePreferenceConflict Code = "preference_conflict"          // another line says the opposite of the same path
	codePreferenceHidden   Code = "preference_hidden"            // a group keeps the preferences for others from its crawlers
	codeHTTPSitemap        Code = "http_sitemap"                 // it is fetched by http though the site has https
	codeBlockedSitemap     Code = "blocked_sitemap"              // the rules of the file forbid it
	codeBadSitemap         Code = "bad_sitemap"                  // its value is no absolute URL
)
