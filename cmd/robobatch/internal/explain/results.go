package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/why"
)

// mostWhole is for how many crawlers whole answers are printed. Of more, those with the same result share a line.
const mostWhole = 3

// A Result is the verdict on a URL with the preferences that count, and the crawlers that both are for.
type Result struct {
	text   string
	agents []string
}

// addResult adds an answer to the results on a URL, in the order of the first crawler of each.
func addResult(results []Result, a *Answer) []Result {
	text := a.verdict() + counting(a.Preferences)
	for i := range results {
		if results[i].text == text {
			results[i].agents = append(results[i].agents, a.Agent)
			return results
		}
	}
	return append(results, Result{text, []string{a.Agent}})
}

// counting returns lines with the preferences, and the lines of robots.txt that they are from; "" if there are none.
func counting(p *why.Preferences) string {
	if !p.Stated() {
		return ""
	}
	var uses []string
	for _, use := range []struct {
		name string
		said *bool
	}{{"train AI", p.TrainAI}, {"search", p.Search}, {"AI input", p.AIInput}} {
		if use.said != nil {
			uses = append(uses, use.name+": "+wish(use.said))
		}
	}
	from := fmt.Sprintf("lines %d and %d", p.UsageLine, p.SignalLine)
	if p.Usage == nil || p.Signal == nil {
		from = fmt.Sprintf("line %d", max(p.UsageLine, p.SignalLine))
	}
	return indented(cmp.Or(strings.Join(uses, "; "), "nothing known") + " (drafts, " + from + ")")
}

// indented returns a text in lines below a verdict.
func indented(text string) string {
	var sb strings.Builder
	for line := range strings.Lines(cli.Fill(text, width-len(verdictIndent))) {
		sb.WriteString(verdictIndent + strings.TrimRight(line, "\n") + "\n")
	}
	return sb.String()
}

// verdictIndent stands in front of all lines of a verdict but the first.
const verdictIndent = "             "

// verdict returns the first line of the text: the word, and the rule or reason behind it.
func (a *Answer) verdict() string {
	word := "unknown"
	if a.Allowed != nil {
		word = map[bool]string{true: "allowed", false: "disallowed"}[*a.Allowed]
	}
	return fmt.Sprintf("%-*s%s\n", len(verdictIndent), word, a.Why(width-len(verdictIndent)))
}
