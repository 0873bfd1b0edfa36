package robots

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/crawlers"
)

// readingsOf maps an operator to the dialects in which it may read a robots.txt: the readings of the dialect that it
// documents, if that is known here. "" stands for all other operators. All include the flag habits, because operators
// document these for their crawlers.
var readingsOf = map[string][]Dialect{
	"Google": {Google},
	"Yandex": {Yandex, Yandex | prefixLength},
	"":       {Google, RFC9309 | habits, Yandex},
}

// Readings returns the dialects in which the operator of the crawler with that name may read a robots.txt, with the
// options of d. A URL is certainly disallowed for the crawler only if all of them disallow it.
func Readings(name string, d Dialect) (all []Dialect) {
	token, _, _ := strings.Cut(name, "/")
	c, _ := crawlers.Lookup(token)
	readings, own := readingsOf[c.Operator]
	if !own {
		readings = readingsOf[""]
	}
	return d.withOptions(readings)
}

// withOptions returns the readings in a new slice, each with the options of d except prefixLength.
func (d Dialect) withOptions(readings []Dialect) (all []Dialect) {
	for _, r := range readings {
		all = append(all, r|d&(options&^prefixLength))
	}
	return all
}

// AllReadings returns all dialects that [Readings] returns for any crawler, each once.
func AllReadings(d Dialect) (all []Dialect) {
	for _, operator := range slices.Sorted(maps.Keys(readingsOf)) {
		for _, r := range d.withOptions(readingsOf[operator]) {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}

// SamePaths reports whether [Dialect.Path] returns the same in both dialects for every URL.
func (d Dialect) SamePaths(other Dialect) bool { return d.Has(fullEscapes) == other.Has(fullEscapes) }

// Essence returns the part of a robots.txt that [Parse] needs in any dialect: user-agent lines, rules and Crawl-delay
// without comments, and lines above the line limit, all with their line numbers. Other lines become empty. A body over
// [MaxBytes] is not reduced: its first MaxBytes+1 bytes are returned, which show that it is too large. The result does
// not share the memory of body.
func Essence(body []byte) []byte {
	if len(body) > MaxBytes {
		return bytes.Clone(body[:MaxBytes+1])
	}
	const widest = Google &^ lineLimit // the keys of the others are among its own
	text := string(body)
	lines := newScanner(text, widest)
	out := make([]byte, 0, len(body)/2)
	kept := 0 // bytes of out up to the end of the last line that matters
	var l line
	for start := 0; ; start = lines.pos {
		end := min(lines.lf, lines.cr)
		if !lines.next(&l) {
			break
		}
		switch raw := text[start:end]; {
		case len(raw) > maxLine:
			out = append(out, raw...)
			kept = len(out)
		case l.kind == kindUserAgent, l.kind == kindAllow, l.kind == kindDisallow, l.kind == kindCrawlDelay:
			raw, _, _ = strings.Cut(raw, "#")
			out = append(out, strings.TrimRight(raw, space)...)
			kept = len(out)
		}
		if end < len(text) {
			out = append(out, '\n') // for any line end: a CR would form CR LF with the LF of an omitted line
		}
	}
	return bytes.Clone(out[:kept])
}

// ReadingName returns the name of a dialect that [Readings] returns. The two readings of yandex, which differ in the
// length of patterns, have different names.
func (d Dialect) ReadingName() string {
	if d.Has(prefixLength) {
		return d.String() + " by prefixes"
	}
	return d.String()
}
