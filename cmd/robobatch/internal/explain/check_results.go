package explain

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/cli"
)

// checkForms are the output forms of the results.
var checkForms = []string{"text", "json", "junit", "github", "markdown"}

// printResults prints results in one form. In the form text, all means that results that passed are printed, too. The
// error is a write error.
func printResults(w io.Writer, form string, all bool, results []result) error {
	out := bufio.NewWriter(w)
	var err error
	switch form {
	case "json":
		for i := range results {
			if err = msg.WriteJSON(out, &results[i]); err != nil {
				break
			}
		}
	case "junit":
		cases := make([]ci.Case, len(results))
		for i := range results {
			c := ci.Case{Class: results[i].File, Name: results[i].title()}
			if !results[i].Pass {
				c.Failure = results[i].Text
			}
			cases[i] = c
		}
		err = ci.JUnit(out, "robobatch check", cases)
	case "github", "markdown":
		var notes []ci.Note
		for i := range results {
			if r := &results[i]; !r.Pass {
				n := ci.Note{Level: "error", File: filepath.ToSlash(r.File), Line: int32(r.Line), Title: r.title(), Text: r.Text, Site: r.File}
				if r.Answer != nil {
					n.Site = r.Origin
				}
				if r.File == Stdin {
					n.File, n.Line = "", 0 // the line of a shown result only
				}
				notes = append(notes, n)
			}
		}
		if form == "markdown" {
			out.WriteString("### robots.txt: expectations\n\n" + countText(results) + ci.Fold(notes, 0))
		} else {
			err = ci.GitHub(out, notes, 0)
		}
	default:
		// Print two lines for each failed result, or for each result if all is set. Add the group and a remedy to
		// failed ones, and end with the number of failures. Crawlers for which an expectation fails in the same way
		// are listed together. Lines have at most 80 columns; only file names with their line numbers may be longer,
		// because they are not wrapped.
		for _, a := range groupAlike(results) {
			r := a[0]
			if r.Pass && !all {
				continue
			}
			word := "ok      "
			if !r.Pass {
				word = "FAILED  "
			}
			if len(a) == 1 {
				out.WriteString(word + r.heading(width-len(word)) + "\n" + r.body())
				continue
			}
			names := make([]string, len(a))
			for i, r := range a {
				names[i] = r.Agent
			}
			them := r.withAgent(fmt.Sprintf("%d crawlers", len(a)))
			out.WriteString(word + them.heading(width-len(word)) + "\n")
			for line := range strings.SplitSeq(cli.Fill(msg.Line(strings.Join(names, ", ")), width-len(margin)), "\n") {
				out.WriteString(margin + line + "\n")
			}
			them = r.withAgent(each)
			out.WriteString(them.body())
		}
		out.WriteString(countText(results))
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// countText returns the counts of the results in words.
func countText(results []result) string {
	return msg.Count(int64(len(results)), "check") + ", " + msg.Number(Failed(results)) + " failed\n"
}

// Columns of the text.
const (
	margin   = "        " // indent of the reason
	shortest = 20         // minimum width of the URL in columns, even after a very long file name
)

// groupAlike returns pointers to the results in groups. A group has the failed results of one expectation that differ
// only in the crawler, or one other result. Groups are in the order of their first results.
func groupAlike(results []result) (all [][]*result) {
	places := map[string]int{}
	for i := range results {
		r := &results[i]
		if !r.Pass && r.Answer != nil {
			same := r.withAgent(each)
			key := same.place() + same.heading(0) + same.body()
			if at, ok := places[key]; ok {
				all[at] = append(all[at], r)
				continue
			}
			places[key] = len(all)
		}
		all = append(all, []*result{r})
	}
	return all
}

// each is the placeholder in a remedy that applies to each of several crawlers.
const each = "each of them"

// withAgent returns the result with a different crawler name. It does not change r, which must have an answer.
func (r *result) withAgent(name string) result {
	same, answer := *r, *r.Answer
	answer.Agent, same.Answer = name, &answer
	return same
}

// body returns the lines below the heading: reason, group and remedy. They are indented by margin.
func (r *result) body() string {
	var sb strings.Builder
	for line := range strings.SplitSeq(r.why(width-len(margin)), "\n") {
		sb.WriteString(msg.NoCommands(margin + strings.TrimPrefix(line, "  ") + "\n"))
	}
	for _, line := range r.remedy() {
		sb.WriteString(msg.NoCommands(margin + cli.Fit(msg.Line(line), width-len(margin)) + "\n"))
	}
	return sb.String()
}

// heading returns the title of a result in at most that many columns, if possible: the URL is shortened, but not
// below shortest columns.
func (r *result) heading(columns int) string {
	if r.Problem != "" {
		return r.Problem
	}
	s := msg.Line(r.place()) + "  " + r.Expect + " " + cli.Fit(msg.Line(r.Agent), longName) + " "
	end := r.wantedUsage()
	return s + cli.Fit(msg.Line(r.URL), max(columns-cli.Columns(s)-len(end), shortest)) + end
}

// why returns the reason, wrapped at that many columns.
func (r *result) why(columns int) string {
	if r.Problem != "" || r.Usage != "" {
		return cli.Fill(r.Text, columns)
	}
	text, other := r.Why(columns), r.otherRule()
	if cli.Columns(text)+len(other) > columns {
		other = "\n" + strings.TrimSpace(other)
	}
	return text + other
}

// remedy returns one line for the group that decided, and one for each change of the rules that would make the failed
// expectation pass; nil if no change of rules would.
func (r *result) remedy() (lines []string) {
	if r.Usage != "" {
		if !r.Pass && r.add != "" {
			lines = append(lines, "to add to its group: "+r.add)
		}
		return lines
	}
	if r.Pass || r.Problem != "" || r.Group == nil || r.Reason != "rule" && r.Reason != "default" && r.Reason != "no_group" {
		return nil
	}
	for _, part := range r.Group.Parts {
		lines = append(lines, fmt.Sprintf("group of lines %d to %d: User-agent: %s", part.First, part.Last, strings.Join(part.Agents, ", ")))
	}
	directive := "Disallow: "
	if r.Expect == "allow" {
		directive = "Allow: "
	}
	_, rule, _ := strings.Cut(r.Rule, ":")
	least := len(r.Path) // from this length on, the deciding rule takes precedence over a new rule with the path; Allow wins a tie
	if r.Expect == "allow" {
		least++
	}
	switch {
	case r.WantRule > 0 && *r.Allowed == (r.Expect == "allow"):
		return append(lines, fmt.Sprintf("if line %d is right, write rule=%[1]d", r.RuleLine))
	case strings.ContainsAny(r.Path, "*$"):
		return lines
	case r.Reason == "rule" && len(strings.TrimSpace(rule)) >= least:
		return append(lines, fmt.Sprintf("to change: line %d, which is longer than a rule with this path", r.RuleLine))
	case r.Reason == "no_group" && r.Agent == each:
		return append(lines, "to add: a group for each crawler, with "+directive+r.Path)
	case r.Reason == "no_group":
		return append(lines, "to add: a group with User-agent: "+r.Agent+" and "+directive+r.Path)
	case r.Agent != "*" && (r.Group.Shared > 0 || r.Group.ByStar()):
		return append(lines, "to add: "+directive+r.Path, "to a copy of that group for "+r.Agent+", or to the group itself for all its crawlers")
	}
	return append(lines, "to add to that group: "+directive+r.Path)
}

// Failed returns the number of results that did not pass; problems are among them.
func Failed(results []result) (n int64) {
	for i := range results {
		if !results[i].Pass {
			n++
		}
	}
	return n
}

// title names an expectation, its crawler and its place.
func (r *result) title() string {
	if r.Problem != "" {
		return r.Problem
	}
	return fmt.Sprintf("%s  %s %s %s", r.place(), r.Expect, r.Agent, r.URL) + r.wantedUsage()
}

// wantedUsage returns a space and the expected uses, such as " train-ai=n"; "" if no uses are expected.
func (r *result) wantedUsage() string {
	if r.Usage == "" {
		return ""
	}
	return " " + r.Usage
}

// place returns the file and line of the expectation.
func (r *result) place() string { return fmt.Sprintf("%s:%d", filepath.ToSlash(r.File), r.Line) }
