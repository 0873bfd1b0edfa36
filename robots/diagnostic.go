package robots

// A Diagnostic is a remark on a line that is ignored, or that may not mean what it seems to.
type Diagnostic struct {
	Line int32  // 1-based
	Code Code   //
	Text string // what is wrong, for people; it may hold bytes of the file, which need not be UTF-8
}

// A Code names a kind of diagnostic. Codes are stable: they can be searched for, and will not be renamed.
type Code string

// The codes of diagnostics.
const (
	// Of the file.

	CodeBOM      Code = "bom"       // it starts with a byte order mark, or a part of one, which is skipped
	CodeUTF16    Code = "utf16"     // it starts like UTF-16, which is not decoded
	CodeHTML     Code = "html"      // it looks like an HTML page
	CodeTooLarge Code = "too_large" // it goes on behind the last line that is read
	CodeCutLine  Code = "cut_line"  // the size limit cuts this line in two, so it is discarded

	// Of any line.

	CodeNUL         Code = "nul"           // it holds a NUL byte: what follows is not read
	CodeNotUTF8     Code = "not_utf8"      // it is not UTF-8
	CodeLineTooLong Code = "line_too_long" // it is longer than the dialect reads, or than its documentation permits
	CodeNoDirective Code = "no_directive"  // it is no comment, and has no key and colon
	CodeNoColon     Code = "missing_colon" // white space stands for the colon
	CodeTypo        Code = "typo"          // its key is a known misspelling; the text says whether it counts
	CodeLooseKey    Code = "loose_key"     // its key only starts like the one that it is taken for
	CodeUnknown     Code = "unknown_field" // nobody knows its key
	CodeUnused      Code = "unused_field"  // its key is known, and decides nothing in this dialect

	// Of groups.

	CodeAgentNever     Code = "agent_never_matches" // a user-agent line that no crawler's name can match
	CodeAgentCut       Code = "agent_cut"           // a user-agent line that is read as a shorter name
	CodeAgentList      Code = "agent_list"          // a user-agent line with several names, of which only the first is read
	CodeDelayOnly      Code = "delay_only_group"    // a Crawl-delay, and no rule, before the next user-agent line
	CodeBlankInSection Code = "blank_in_section"    // an empty line inside the section, which Yandex's documentation forbids
	CodeTooManyRules   Code = "too_many_rules"      // more rules than Yandex's documentation permits

	// Of rules.

	CodeNoGroup    Code = "rule_without_group" // no user-agent line precedes it, so it is ignored
	CodeNoSlash    Code = "no_leading_slash"   // it starts with neither "/" nor "*"
	CodeSpace      Code = "space_in_rule"      // it has a space, and in URLs that is %20
	CodeEmptyAllow Code = "empty_allow"        // "Allow:" without a value, which some take for "Disallow: /"
	CodeDuplicate  Code = "duplicate_rule"     // another rule of the same crawler says the same of the same URLs
	CodeShadowed   Code = "shadowed_rule"      // another rule of the same crawler always wins over it

	// Of other directives.

	CodeBadDelay      Code = "bad_crawl_delay" // its value is no number of seconds
	CodeBadHost       Code = "bad_host"        // its value is no domain name
	CodeExtraHost     Code = "extra_host"      // only the first valid one counts
	CodeBadCleanParam Code = "bad_clean_param" // it is not: parameters joined by "&", and maybe a path
	CodeBadSitemap    Code = "bad_sitemap"     // its value is no absolute URL
)
