package expect

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/cli"
)

// Forms are the forms in which results are printed.
var Forms = []string{"text", "json", "junit", "github"}

// Print prints results in one form. The error is one of writing.
func Print(w io.Writer, form string, results []Result) error {
	out := bufio.NewWriter(w)
	var err error
	switch form {
	case "json":
		for i := range results {
			if err = say.WriteJSON(out, &results[i]); err != nil {
				break
			}
		}
	case "junit":
		cases := make([]ci.Case, len(results))
		for i := range results {
			cases[i] = results[i].testCase()
		}
		err = ci.JUnit(out, "robobatch check", cases)
	case "github":
		var notes []ci.Note
		for i := range results {
			if r := &results[i]; !r.Pass {
				n := ci.Note{Level: "error", File: filepath.ToSlash(r.File), Line: int32(r.Line), Title: r.title(), Text: r.Text}
				if r.File == Stdin {
					n.File, n.Line = "", 0 // a line of nothing that is shown
				}
				notes = append(notes, n)
			}
		}
		err = ci.GitHub(out, notes, 0)
	default:
		printText(out, results)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// The columns of the text.
const (
	width    = 80
	margin   = "        " // in front of why
	longName = 30         // columns of the name of a crawler
	shortest = 20         // columns of a URL behind a very long place
)

// printText prints two lines for each result, and how many failed. They have at most 80 columns, apart
// from places and names of files, which stand whole.
func printText(out *bufio.Writer, results []Result) {
	failed := Failed(results)
	for i := range results {
		r := &results[i]
		word := "ok      "
		if !r.Pass {
			word = "FAILED  "
		}
		out.WriteString(word + r.heading(width-len(word)) + "\n")
		for line := range strings.SplitSeq(r.why(width-len(margin)), "\n") {
			out.WriteString(say.NoCommands(margin + strings.TrimPrefix(line, "  ") + "\n"))
		}
	}
	out.WriteString(say.Count(int64(len(results)), "check") + ", " + say.Number(failed) + " failed\n")
}

// heading returns the title in so many columns.
func (r *Result) heading(columns int) string {
	if r.Problem != "" {
		return r.Problem
	}
	s := say.Line(r.place()) + "  " + r.Expect + " " + cli.Fit(say.Line(r.Agent), longName) + " "
	return s + cli.Fit(say.Line(r.URL), max(columns-cli.Columns(s), shortest))
}

// why returns the text in lines of so many columns.
func (r *Result) why(columns int) string {
	if r.Problem != "" {
		return cli.Fill(r.Text, columns)
	}
	text, other := r.Why(columns), r.otherRule()
	if cli.Columns(text)+len(other) > columns {
		other = "\n" + strings.TrimSpace(other)
	}
	return text + other
}

// Failed returns how many results did not pass.
func Failed(results []Result) (n int64) {
	for i := range results {
		if !results[i].Pass {
			n++
		}
	}
	return n
}

// title names an expectation, its crawler and its place.
func (r *Result) title() string {
	if r.Problem != "" {
		return r.Problem
	}
	return fmt.Sprintf("%s  %s %s %s", r.place(), r.Expect, r.Agent, r.URL)
}

// place returns where the expectation stands.
func (r *Result) place() string { return fmt.Sprintf("%s:%d", filepath.ToSlash(r.File), r.Line) }

// testCase returns the result as a case of JUnit.
func (r *Result) testCase() ci.Case {
	c := ci.Case{Class: r.File, Name: r.title()}
	if !r.Pass {
		c.Failure = r.Text
	}
	return c
}
