package expect

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/cli"
)

// Forms are what results can be printed as.
var Forms = []string{"text", "json", "junit", "github"}

// Print prints results in one form. The error is one of writing.
func Print(w io.Writer, form string, results []Result) error {
	out := bufio.NewWriter(w)
	var err error
	switch form {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		for i := range results {
			if err = encoder.Encode(&results[i]); err != nil {
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
				notes = append(notes, ci.Note{Level: "error", File: filepath.ToSlash(r.File), Line: int32(r.Line), Title: r.title(), Text: r.Text})
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

// margin stands in front of why.
const margin = "        "

// printText prints two lines for each result, and how many failed.
func printText(out *bufio.Writer, results []Result) {
	failed := Failed(results)
	for i := range results {
		r := &results[i]
		word := "ok    "
		if !r.Pass {
			word = "FAILED"
		}
		text := r.Text
		if r.Problem != "" {
			text = cli.Fill(text, 80-len(margin))
		}
		out.WriteString(word + "  " + say.Line(r.title()) + "\n")
		for line := range strings.SplitSeq(text, "\n") {
			out.WriteString(margin + strings.TrimPrefix(line, "  ") + "\n")
		}
	}
	out.WriteString(say.Count(int64(len(results)), "check") + ", " + say.Number(failed) + " failed\n")
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

// title says what was expected, of whom and where.
func (r *Result) title() string {
	if r.Problem != "" {
		return r.Problem
	}
	return fmt.Sprintf("%s:%d  %s %s %s", filepath.ToSlash(r.File), r.Line, r.Expect, r.Agent, r.URL)
}

// testCase returns the result as a case of JUnit.
func (r *Result) testCase() ci.Case {
	c := ci.Case{Class: r.File, Name: r.title()}
	if !r.Pass {
		c.Failure = r.Text
	}
	return c
}
