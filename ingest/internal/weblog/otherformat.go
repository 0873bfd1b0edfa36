package weblog

import (
	"bytes"
	"slices"
)

// ShapeOf returns whether a line that a parser of a format has refused has the shape of that format all the same, as
// records of JSON that tell of no request, and if not, whether it is a request in another one.
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

// isW3CRequest reports whether a line has a date and a time, and later a method beside a path, or beside a host and a path
// as CloudFront writes them. Other programs write such times, too.
func isW3CRequest(line []byte) bool {
	if !hasShape(line, w3cMoment) {
		return false
	}
	fields := bytes.Fields(line[len(w3cMoment):])
	if len(fields) > 0 && fields[0][0] == '+' { // a zone, which no row of W3C has
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

// isMethod reports whether a field is the method of a request that logs have.
func isMethod(field []byte) bool {
	return slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, string(field))
}

// hasURL reports whether an object of JSON has a field that is known for the URL.
func hasURL(line []byte) bool {
	has := false
	return flatten(line, func(name string, _ []byte) { has = has || isURLName(name) }) && has
}
