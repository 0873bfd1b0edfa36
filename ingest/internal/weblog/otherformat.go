package weblog

import (
	"bytes"
	"slices"
)

// ShapeOf reports whether a line that was rejected by the parser of a format nevertheless looks like that format,
// such as a JSON record that is not about a request, and, if it does not, whether it looks like a request in another
// format.
func ShapeOf(line []byte, own Format) (isOwn, isOther bool) {
	var its *format
	if i := slices.IndexFunc(formats, func(f *format) bool { return f.name == own }); i >= 0 {
		if its = formats[i]; (its.line != nil || its.sure > 0) && its.isLine(line, allSigns) {
			return true, false
		}
	}
	signs := signsOf(line)
	return false, own != W3C && own != CloudFront && isW3CRequest(line) || slices.ContainsFunc(formats, func(f *format) bool {
		return f != its && f.isLine(line, signs) && (f.name != JSON || hasURL(line))
	})
}

// isW3CRequest reports whether a line has a date and a time, followed by a method and a path, or a method, a host and a
// path as in CloudFront. Other programs write the same times.
func isW3CRequest(line []byte) bool {
	if !hasShape(line, w3cMoment) {
		return false
	}
	fields := bytes.Fields(line[len(w3cMoment):])
	if len(fields) > 0 && fields[0][0] == '+' { // a zone, which W3C does not have
		return false
	}
	for i, field := range fields {
		if !isMethod(field) {
			continue
		}
		if path := slices.IndexFunc(fields[i+1:], func(f []byte) bool { return f[0] == '/' }); path == 0 || path == 1 {
			return true
		}
	}
	return false
}

// isMethod reports whether a field is a common method of requests.
func isMethod(field []byte) bool {
	return slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, string(field))
}

// hasURL reports whether a JSON object has a known field for the URL.
func hasURL(line []byte) bool {
	has := false
	return flatten(line, func(name string, _ []byte) { has = has || isURLName(name) }) && has
}
