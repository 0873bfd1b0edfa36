package robots

import (
	"bytes"
	"slices"
	"strings"
)

// A CleanParam is one clean-param line: parameters that do not change the content of a page, as Yandex reads it. It
// does not belong to a group.
type CleanParam struct {
	Line   int32    // 1-based
	Params []string // names of parameters, case-sensitive
	Path   string   // as written: the pattern of the paths concerned, matched like a rule; "/" if the line has none

	pattern string // Path in normal form
}

// CleanParams are the clean-param lines of a file. They apply to all crawlers.
type CleanParams []CleanParam

// CleanParams returns the clean-param lines among the notes of a robots.txt that was read in the
// dialect.
func (d Dialect) CleanParams(notes []Notes) (all CleanParams) {
	for i := range notes {
		if notes[i].Directive != CleanParamLines {
			continue
		}
		for _, n := range notes[i].Lines {
			if c, ok := d.parseCleanParam(n.Value); ok {
				c.Line = n.Line
				all = append(all, c)
			}
		}
	}
	return all
}

// validCleanParam reports whether a value fits a clean-param line.
func validCleanParam(d Dialect, value string) bool {
	_, ok := d.parseCleanParam(value)
	return ok
}

// maxCleanParam is the longest value of a clean-param line that Yandex reportedly reads, in bytes.
const maxCleanParam = 500

// parseCleanParam parses the value of a clean-param line. ok is false if it has no parameter, more
// than a list of them and a path, a path that starts with neither "/" nor "*", or is too long.
func (d Dialect) parseCleanParam(value string) (c CleanParam, ok bool) {
	fields := strings.FieldsFunc(value, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
	if len(fields) < 1 || len(fields) > 2 || len(value) > maxCleanParam {
		return c, false
	}
	c.Path = "/"
	if len(fields) == 2 {
		c.Path = fields[1]
	}
	for name := range strings.SplitSeq(fields[0], "&") {
		if name != "" {
			c.Params = append(c.Params, name)
		}
	}
	c.pattern = d.pattern(c.Path)
	return c, len(c.Params) > 0 && (c.Path[0] == '/' || c.Path[0] == '*')
}

// AppendCanonical appends the URL without the parameters that do not change its content, and returns the extended
// buffer. Everything else, including a fragment, is unchanged, and so is an invalid URL. The dialect is the one that
// the file was read in.
func (all CleanParams) AppendCanonical(dst, rawURL []byte, d Dialect) []byte {
	u, err := SplitURL(rawURL)
	mark := bytes.IndexByte(u.Path, '?')
	if err != nil || mark < 0 {
		return append(dst, rawURL...)
	}
	path, _ := d.Path(u.Path[:mark], nil)
	end := len(u.Prefix) + len(u.Path)
	dst = append(dst, rawURL[:len(u.Prefix)+mark]...)
	separator := byte('?')
	for param := range bytes.SplitSeq(u.Path[mark+1:], []byte("&")) {
		name, _, _ := bytes.Cut(param, []byte("="))
		if !slices.ContainsFunc(all, func(c CleanParam) bool {
			return slices.Contains(c.Params, string(name)) && matches(c.pattern, path)
		}) {
			dst = append(append(dst, separator), param...)
			separator = '&'
		}
	}
	return append(dst, rawURL[end:]...)
}
