package robots

import "strings"

// A LineInfo describes one line as the scanner read it, in the notation of the case file google-lines.
type LineInfo struct {
	Num   int32
	Tag   string // "user-agent", "allow", "disallow", "sitemap" or "unknown"
	Flags string // T typo, c has a comment, C is a comment, E empty, D has a directive, L too long, M missing colon
	Key   string
	Value string
}

// ScanLines classifies the lines of a file.
func ScanLines(body []byte, d Dialect) []LineInfo {
	var infos []LineInfo
	s := newScanner(string(body), d)
	var l line
	for s.next(&l) {
		infos = append(infos, LineInfo{l.num, tags[l.kind], flagsOf(&l), l.key, l.value})
	}
	return infos
}

var tags = map[kind]string{
	kindOther: "unknown", kindUserAgent: "user-agent", kindAllow: "allow", kindDisallow: "disallow", kindSitemap: "sitemap",
	kindCrawlDelay: "unknown", kindHost: "unknown", kindCleanParam: "unknown",
}

func flagsOf(l *line) string {
	var b strings.Builder
	for _, f := range []struct {
		on   bool
		flag byte
	}{
		{l.typo, 'T'},
		{l.blank && !l.comment, 'E'},
		{l.comment, 'c'},
		{l.comment && l.blank, 'C'},
		{l.directive, 'D'},
		{l.tooLong, 'L'},
		{l.noColon, 'M'},
	} {
		if f.on {
			b.WriteByte(f.flag)
		}
	}
	return b.String()
}

// PatternOf returns the normal form of a rule's value.
func PatternOf(value string, d Dialect) string { return d.normalPattern(value) }

// ShapeMatches reports whether the shape of a pattern matches a text that starts with "/".
func ShapeMatches(pattern, text string) bool {
	shape := shapeOf(pattern)
	return shape.matches(text)
}

// Names for tests in package robots_test.
const (
	FullEscapes  = fullEscapes
	IndexPage    = indexPage
	MaxRedirects = maxRedirects

	CodeDuplicate     = codeDuplicate
	CodeShadowed      = codeShadowed
	CodeLineTooLong   = codeLineTooLong
	CodeNoColon       = codeNoColon
	CodeNoDirective   = codeNoDirective
	CodeRedundant     = codeRedundant
	CodeTypo          = codeTypo
	CodeUndefinedPair = codeUndefinedPair
	CodeUnknown       = codeUnknown
	CodeUnused        = codeUnused
)

// Matches reports whether the pattern matches the path from its first byte on.
func Matches(pattern string, path []byte) bool { return matches(pattern, path) }

// ErrOriginPath is the error of an origin with a path.
var ErrOriginPath = errOriginPath

// Common returns a path that both patterns match.
func Common(a, b string) (path string, ok bool) { return commonPath(wholePath(a), wholePath(b)) }
