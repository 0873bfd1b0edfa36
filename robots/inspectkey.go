package robots

import (
	"slices"
	"strings"
)

// unused are the keys that google/robotstxt knows but does not use, except for the [spellings].
var unused = map[string]bool{
	"content-signal": true, "content-usage": true, "domain": true, "license": true, "noarchive": true, "nofollow": true, "noindex": true,
	"request-rate": true, "revisit-after": true, "visit-time": true,
}

// key looks at how the key of a line is written.
func (in *inspector) key(l *line) {
	switch {
	case l.noColon && isPreferenceKey(l.key):
		in.note(l.num, codeNoColon, "the colon after the key is missing, so the line has no effect")
	case l.noColon:
		in.note(l.num, codeNoColon, "the colon after the key is missing; the line is read nevertheless")
	}
	switch l.kind {
	case kindCrawlDelay, kindHost, kindCleanParam:
		if !in.dialect.Has(delayInSection) {
			in.note(l.num, codeUnused, "%q has no effect in this dialect", l.key)
		}
	case kindOther:
		in.unknownKey(l)
	case kindUserAgent, kindAllow, kindDisallow, kindSitemap:
		name := spelledOut(l.kind)
		if l.typo {
			in.note(l.num, codeTypo, "%q is read as %s", l.key, name)
		} else if len(l.key) != len(name) {
			in.note(l.num, codeLooseKey, "%q is read as %s, because it begins with it", l.key, name)
		}
	}
}

// preferenceKeys are the keys of preferences.
var preferenceKeys = []Directive{UsageLines, SignalLines, LicenseLines}

// isPreferenceKey reports whether a key names preferences, in any case.
func isPreferenceKey(key string) bool {
	return slices.Contains(preferenceKeys, Directive(strings.ToLower(key)))
}

// unknownKey looks at a key that has no effect in the dialect.
func (in *inspector) unknownKey(l *line) {
	kind, typo := typoKeys.kindOf(l.key)
	switch {
	case isPreferenceKey(l.key) && !l.noColon:
		in.note(l.num, codeUnused, "%q changes no verdict: it states what may be done with pages (a draft)", l.key)
	case strings.EqualFold(l.key, "noindex") && in.noindex(l):
		in.note(l.num, codeNoindexOpen, "no large search engine reads Noindex, and no rule disallows %s", shortened(l.value))
	case unused[strings.ToLower(l.key)]:
		in.note(l.num, codeUnused, "%q has no effect in this dialect", l.key)
	case typo:
		in.note(l.num, codeTypo, "%q is not read as %s; the line is ignored", l.key, spelledOut(kind))
	default:
		text := "the line is ignored"
		name := nearest(l.key)
		switch first := l.key[0]; {
		case first < 0x80 && !isLetter(first): // as comments of other languages begin
			name, text = "", "the line is ignored; only # begins a comment"
		case name != "":
			text += "; did you mean " + name + "?"
		}
		in.note(l.num, codeUnknown, "%q is an unknown key; %s", l.key, text)
		in.report.Diagnostics[len(in.report.Diagnostics)-1].Grave = isRuleSlip(strings.ToLower(l.key), name, l.value)
	}
}

// isRuleSlip reports whether the key of a line, in lower case, is a typo of the name of a rule or of user-agent. For
// "allow", only one letter may differ, because other words differ in two.
func isRuleSlip(key, name, value string) bool {
	switch path := value == "" || value[0] == '/' || value[0] == '*'; name {
	case "user-agent":
		return true
	case "disallow":
		return path
	case "allow":
		return path && (distance(key, name) == 1 || len(key) == len(name) && isSwap(key, name))
	}
	return false
}

// spelledOut returns the right way to write a key.
func spelledOut(k kind) string {
	for i := range spellings {
		if spellings[i].kind == k {
			return spellings[i].prefix
		}
	}
	return ""
}

// nearest returns the name of a key that differs from this one in at most two insertions, deletions
// or replacements, or "".
func nearest(key string) string {
	const most = 2
	best, name := most+1, ""
	try := func(right string) {
		if len(key) > len(right)+most {
			return
		}
		if n := distance(strings.ToLower(key), right); n < best && n < len(right)-most {
			best, name = n, right
		}
	}
	for i := range spellings {
		if !spellings[i].typo {
			try(spellings[i].prefix)
		}
	}
	for _, key := range preferenceKeys {
		try(string(key))
	}
	return name
}

// distance returns the Levenshtein distance of two strings, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the beginning of a read so far, to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
