// Package show formats numbers and texts for a page. Package report and its panels import it.
package show

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number returns a number with commas.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size formats a number of bytes with three digits and a decimal unit: 1 kB is 1,000 bytes.
func Size(n int64) string {
	units, x := []string{"B", "kB", "MB", "GB", "TB", "PB"}, float64(n)
	for x >= 999.5 && len(units) > 1 {
		x, units = x/1000, units[1:]
	}
	digits := 0
	if units[0] != "B" {
		digits = max(0, 2-int(math.Log10(x)))
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + " " + units[0]
}

// Percent formats a share with few digits. Only exactly 0 and 1 become 0 % and 100 %; NaN becomes a dash.
func Percent(share float64) string {
	p := 100 * share
	switch {
	case math.IsNaN(p):
		return "–"
	case p == 0:
		return "0%"
	case p == 100:
		return "100%"
	case p < 0.01:
		return "<0.01%"
	case p > 99.99:
		return ">99.99%"
	case p < 1:
		return strconv.FormatFloat(p, 'f', 2, 64) + "%"
	case p > 99.9:
		return strconv.FormatFloat(math.Floor(p*100)/100, 'f', 2, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + "%"
}

// Share returns part divided by all; NaN if both are 0.
func Share(n, all int64) float64 { return float64(n) / float64(all) }

// Maximum numbers of characters of an untrusted text, and of a sentence that contains one.
const (
	maxShown    = 240
	maxBrief    = 80   // of a rule next to its counts
	MaxWhole    = 8000 // including the hidden text for copies
	MaxSentence = 4000
)

// Text returns the beginning of an untrusted text with all characters visible: it escapes invalid UTF-8, invisible
// characters, and characters that change others.
func Text(s string) string { return escape(s, maxShown) }

// Whole is like Text, for a table cell. The truncated rest follows as hidden text, for copies of the table.
func Whole(s string) template.HTML { return cutOff(s, maxShown) }

// Brief is like Whole, for a rule next to its counts.
func Brief(s string) template.HTML { return cutOff(s, maxBrief) }

// cutOff escapes a text for HTML, and truncates it to the given number of characters. The rest follows as hidden text,
// up to MaxWhole.
func cutOff(s string, most int) template.HTML {
	begin, all := escape(s, most), escape(s, MaxWhole)
	cut, isCut := strings.CutSuffix(begin, "…")
	if rest, ok := strings.CutPrefix(all, cut); ok && isCut && rest != "…" {
		return template.HTML(template.HTMLEscapeString(cut) + `<span class="cut">…</span><span hidden>` + template.HTMLEscapeString(rest) + `</span>`)
	}
	return template.HTML(template.HTMLEscapeString(begin))
}

// Sentence is like Text, for one of our sentences that contains an untrusted text.
func Sentence(s string) string { return escape(s, MaxSentence) }

// dates matches days and times.
var dates = regexp.MustCompile(`\b(\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?|\d+ (day|hour)s?)\b`)

// quoted matches text between backticks.
var quoted = regexp.MustCompile("`([^`]+)`")

// Dated is like Sentence, but dates and durations do not break at the end of a line, and text between backticks is
// shown as code.
func Dated(s string) template.HTML {
	s = dates.ReplaceAllString(template.HTMLEscapeString(Sentence(s)), `<span class="nb">$0</span>`)
	return template.HTML(quoted.ReplaceAllString(s, `<code>$1</code>`))
}

// escape returns at most the given number of characters of a text, escaped as in Text, and "…" if it is longer.
func escape(s string, most int) string {
	if isOdd := func(r rune) bool { return r < ' ' || r > '~' }; len(s) <= most && !strings.ContainsFunc(s, isOdd) {
		return s
	}
	var sb strings.Builder
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&sb, "%%%02X", s[i])
		case !unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || r == '\u2800': // invisible, or changes the order of other characters
			fmt.Fprintf(&sb, `\u{%X}`, r)
		default:
			sb.WriteRune(r)
		}
		i += size
		if n++; n == most && i < len(s) {
			sb.WriteRune('…')
			break
		}
	}
	return sb.String()
}

// Plural returns a number and a noun.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}

// Coordinate formats an SVG coordinate with one decimal place.
func Coordinate(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}
