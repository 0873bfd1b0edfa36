package repcase

import (
	"regexp"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// SlowPolicy returns the answer of the groups for __usage_ai-training for a path as it is written. It reads the text by
// code of its own; of the package robots it uses the normal form of patterns and paths.
func SlowPolicy(body, path string, d robots.Dialect) (a robots.Answer) {
	normal, _ := d.Path([]byte(path), nil)
	if path = string(normal); regexp.MustCompile(`^/robots\.txt([?#]|$)`).MatchString(path) {
		return a
	}
	best := -1
	for _, r := range slowRules(body, d) {
		length := -1
		for _, pattern := range r.patterns {
			if n := slowLength(pattern, d); n > length && slowMatches(pattern, path) {
				length = n
			}
		}
		if length > best || length >= 0 && length == best && r.allow && a.Uses[robots.TrainAI] == robots.Refused {
			best, a.Line, a.Uses[robots.TrainAI] = length, r.line, robots.Refused
			if r.allow {
				a.Uses[robots.TrainAI] = robots.Permitted
			}
		}
	}
	return a
}

// A slowRule is an Allow or Disallow of a policy group.
type slowRule struct {
	allow    bool
	line     int32
	patterns []string // its own, and that of the index page
}

// slowRules returns the rules of the groups for the token.
func slowRules(body string, d robots.Dialect) (rules []slowRule) {
	for _, bom := range []string{"\xef\xbb\xbf", "\xef\xbb", "\xef"} {
		if rest, ok := strings.CutPrefix(body, bom); ok {
			body = rest
			break
		}
	}
	google, yandex := d.String() == "google", d.String() == "yandex"
	named, run := false, false // the group names the token; its run of user-agent lines goes on
	for i, line := range regexp.MustCompile("\r\n|\r|\n").Split(body, -1) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.Trim(line, " \t\v\f")
		key, value, colon := strings.Cut(line, ":")
		if words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' }); !colon && google && len(words) == 2 {
			key, value, colon = words[0], words[1], true
		}
		key, value = strings.ToLower(strings.Trim(key, " \t\v\f")), strings.Trim(value, " \t\v\f")
		is := func(spellings ...string) bool {
			for _, s := range spellings {
				if colon && (key == s || google && strings.HasPrefix(key, s)) {
					return true
				}
			}
			return false
		}
		agent, allow, disallow := is("user-agent"), is("allow"), is("disallow")
		if google {
			agent = agent || is("useragent", "user agent")
			disallow = disallow || is("dissallow", "dissalow", "disalow", "diasllow", "disallaw")
		}
		switch {
		case agent:
			named = named && run || strings.EqualFold(value, "__usage_ai-training")
			run = true
		case allow || disallow:
			run = false
			if rule, ok := slowRuleOf(allow, value, d); ok && named {
				rule.line = int32(i + 1)
				rules = append(rules, rule)
			}
		case yandex && colon && key == "crawl-delay":
			run = false
		}
	}
	return rules
}

// slowRuleOf returns a rule; ok is false if it has no effect.
func slowRuleOf(allow bool, value string, d robots.Dialect) (r slowRule, ok bool) {
	rooted := strings.HasPrefix(value, "/") || strings.HasPrefix(value, "*")
	switch name := d.String(); {
	case value == "" && name == "yandex":
		return slowRule{allow: !allow, patterns: []string{"/"}}, true
	case value == "" || !rooted && name == "yandex":
		return r, false
	case !rooted && name == "google-2010":
		value = "/" + value
	}
	pattern := d.PatternOf(value)
	r = slowRule{allow: allow, patterns: []string{pattern}}
	if cut := strings.LastIndexByte(pattern, '/') + 1; d.String() == "google" && allow && cut > 0 && strings.HasPrefix(pattern[cut:], "index.htm") {
		r.patterns = append(r.patterns, pattern[:cut]+"$")
	}
	return r, true
}

// slowLength returns the length of a pattern, section by section of each dialect's text.
func slowLength(pattern string, d robots.Dialect) int {
	switch d.String() {
	case "google-2010":
		return len(strings.TrimRight(pattern, "*"))
	case "yandex":
		return len(strings.ReplaceAll(strings.TrimSuffix(pattern, "$"), "*", ""))
	}
	return len(pattern)
}

// slowMatches reports whether a pattern matches a path: "*" is any bytes, and "$" at the end is the end.
func slowMatches(pattern, path string) bool {
	switch {
	case pattern == "":
		return true
	case pattern == "$":
		return path == ""
	case pattern[0] == '*':
		return slowMatches(pattern[1:], path) || path != "" && slowMatches(pattern, path[1:])
	}
	return path != "" && pattern[0] == path[0] && slowMatches(pattern[1:], path[1:])
}
