// Package say writes numbers and names as messages show them. Only cmd/robobatch and its packages
// import it.
package say

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/robobatch/robobatch/internal/fieldtext"
)

// Std stands for standard input and standard output among the names of files.
const Std = "-"

// File returns a name as messages show it. It is quoted if it has bytes that a terminal might obey, or
// would not show.
func File(name string) string {
	if name == Std {
		return "standard output"
	}
	quoted := strconv.Quote(name)
	if filepath.Separator == '\\' { // it is no sign of anything odd there
		quoted = strings.ReplaceAll(quoted, `\\`, `\`)
	}
	if quoted != `"`+name+`"` || strings.TrimSpace(name) != name {
		return quoted
	}
	return name
}

// Number returns n with commas between the thousands.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count returns "1 row" or "2 rows".
func Count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}

// Were returns "1 row was" or "2 rows were".
func Were(n int64, noun string) string {
	if n == 1 {
		return Count(n, noun) + " was"
	}
	return Count(n, noun) + " were"
}

// Percent returns n as a percentage of all; "" if there are none.
func Percent(n, all int64) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(all))
}

// Bytes returns a number of bytes in a unit that suits it: B, kB or MB.
func Bytes(n int64) string {
	switch {
	case n < 10_000:
		return Number(n) + " B"
	case n < 10_000_000:
		return Number(n/1000) + " kB"
	}
	return Number(n/1_000_000) + " MB"
}

// Printable returns s with escapes in place of bytes that a terminal might obey: names of files can
// have any. Its lines after the first are no commands, as [NoCommands] has it.
func Printable(s string) string {
	first, rest, ok := strings.Cut(printable(s), "\n")
	if !ok {
		return first
	}
	return first + "\n" + NoCommands(rest)
}

// printable returns s with escapes. Bytes that are no UTF-8 are %XX, as in outputs.
func printable(s string) string {
	var sb strings.Builder
	for _, r := range fieldtext.Valid(s) {
		if r == '\n' || unicode.IsPrint(r) {
			sb.WriteRune(r)
		} else {
			sb.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return sb.String()
}

// Line returns s as Printable does, with an escape in place of line ends, too: a text from an
// input cannot leave its line.
func Line(s string) string { return strings.ReplaceAll(printable(s), "\n", `\n`) }

// NoCommands returns a text with a backslash in front of each "::" that begins a line, in place of a space if spaces
// stand before it: GitHub obeys such lines of a log.
func NoCommands(text string) string {
	const command = "::"
	if !strings.Contains(text, command) {
		return text
	}
	var sb strings.Builder
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, command) {
			line = line[:max(len(line)-len(rest)-1, 0)] + `\` + rest
		}
		sb.WriteString(line)
	}
	return sb.String()
}
