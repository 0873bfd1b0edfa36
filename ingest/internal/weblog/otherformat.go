package weblog

import (
	"bytes"
	"slices"
)

// leastFields is how many fields a record of W3C logs has at least, with its date and time: fewer may be another text with a time.
const leastFields = 6

// IsOtherFormat reports whether a line that a parser of a format has refused looks like a record of another one.
func IsOtherFormat(line []byte, own Format) bool {
	if own != W3C && own != CloudFront && hasShape(line, w3cMoment) && len(bytes.Fields(line)) >= leastFields {
		return true
	}
	return slices.ContainsFunc(formats, func(f *format) bool { return f.name != own && f.line != nil && f.line(line) })
}
