package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

//go:generate go test -count 1 -run TestPage -update .

// A Severity says how bad a finding is.
type Severity uint8

// The severities, worst first.
const (
	Error   Severity = iota // the file does something else than its author meant
	Warning                 // it may not
	Info                    // it does, and somebody may wonder
)

// Severities are the names of the severities, worst first.
var Severities = []string{"error", "warning", "info"}

// A Gate is the severities that fail: so many of the worst. Of 0 none does.
type Gate int

// Fails reports whether a severity fails.
func (g Gate) Fails(s Severity) bool { return int(s) < int(g) }

// String returns the name.
func (s Severity) String() string { return Severities[s] }

// A Code is a kind of finding, with its explanation.
type Code struct {
	Name     robots.Code
	Severity Severity
	What     string // its meaning, in one or two sentences
	Do       string // the remedy
	Bad      string // a file that has it, or its beginning if there are Rules
	Rules    int    // bytes of rules, all different, that follow in the bad file
	Good     string // the same, mended
	Dialect  string // in which it occurs; "" is google
}

// Lookup returns the code of that name, and whether there is one.
func Lookup(name robots.Code) (Code, bool) {
	i, ok := slices.BinarySearchFunc(Codes, name, func(c Code, name robots.Code) int {
		return strings.Compare(string(c.Name), string(name))
	})
	if !ok {
		return Code{Name: name}, false
	}
	return Codes[i], true
}

// Text explains the code in lines of at most 80 columns.
func (c *Code) Text(fill func(text string, width int) string) string {
	const width = 80
	text := string(c.Name) + ": " + c.Severity.String() + "\n\n" + fill(c.What, width) + "\n\n" + fill(c.Do, width) + "\n"
	if c.Dialect != "" {
		text += "\nIn the dialect " + c.Dialect + ".\n"
	}
	return text + "\nBad:\n\n" + Indent(c.bad()) + "\nGood:\n\n" + Indent(c.Good)
}

// bad returns the bad file. Rules are made here and not in Codes: every start of the program would
// take 6 ms more.
func (c *Code) bad() string {
	var sb strings.Builder
	sb.WriteString(c.Bad)
	for i := 0; sb.Len() < len(c.Bad)+c.Rules; i++ {
		sb.WriteString("Disallow: /x" + strconv.Itoa(i) + "/\n")
	}
	return sb.String()
}

// The most that an example shows.
const (
	exampleLines = 8
	exampleWidth = 60
)

// Indent returns the beginning of a file with each line indented, and with bytes that nobody sees
// escaped.
func Indent(file string) string {
	var sb strings.Builder
	n := 0
	for line := range strings.Lines(file) {
		if n++; n > exampleLines {
			sb.WriteString("    ...\n")
			break
		}
		line = strings.NewReplacer("\ufeff", `\uFEFF`, "\x00", `\x00`, "\xff", `\xff`, "\xfe", `\xfe`).Replace(strings.TrimSuffix(line, "\n"))
		if len(line) > exampleWidth {
			line = line[:exampleWidth] + "..."
		}
		sb.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return sb.String()
}
