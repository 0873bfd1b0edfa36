package explain

import (
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/cli"
)

// mostWhole is for how many crawlers whole answers are printed. Of more, those with the same result share a line.
const mostWhole = 3

// A Result is the verdict on a URL, and the crawlers that it is for.
type Result struct {
	text   string
	agents []string
}

// addResult adds an answer to the results on a URL, in the order of the first crawler of each.
func addResult(results []Result, a *Answer) []Result {
	text := a.verdict()
	for i := range results {
		if results[i].text == text {
			results[i].agents = append(results[i].agents, a.Agent)
			return results
		}
	}
	return append(results, Result{text, []string{a.Agent}})
}

// resultsText returns the results on a URL: for each a line with the rule, and below it its crawlers.
func resultsText(url string, results []Result) string {
	var sb strings.Builder
	sb.WriteString("# " + cli.Fit(say.Line(url), width-len("# ")) + "\n")
	for _, r := range results {
		sb.WriteString(r.text)
		names := make([]string, len(r.agents))
		for i, agent := range r.agents {
			names[i] = name(agent)
		}
		for line := range strings.Lines(cli.Fill(strings.Join(names, ", "), width-len(verdictIndent))) {
			sb.WriteString(verdictIndent + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return say.NoCommands(sb.String())
}

// verdictIndent stands in front of what continues a verdict.
const verdictIndent = "             "

// verdict returns the first line of the text: the word, and what gave it.
func (a *Answer) verdict() string {
	word := "unknown"
	if a.Allowed != nil {
		word = map[bool]string{true: "allowed", false: "disallowed"}[*a.Allowed]
	}
	return fmt.Sprintf("%-*s%s\n", len(verdictIndent), word, a.Why(width-len(verdictIndent)))
}
