package page

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/report"
)

// forms are the values of -print.
var forms = []string{"text", "json", "markdown"}

// A digest prints the findings. It returns an error if one of them has a code of -fail.
type digest struct {
	form string
	fail []string
}

// flags returns the flags -print and -fail, which set the fields of d.
func (d *digest) flags() []cli.Flag {
	return []cli.Flag{
		flags.Print(&d.form, forms, `
			Form of the output. text: findings. json: one object (docs/report.schema.json). markdown: for a comment.`),
		{Name: "fail", Arg: "codes", Set: cli.Words(&d.fail), Doc: `
			Exit with code 1 for a finding with one of these codes, such as outage. May be repeated.`},
	}
}

// checkFlags adds faults of the flags: standard output can have only the page or the findings, findings need
// -agent-from-log, and codes must exist. page is the name of the page.
func (d *digest) checkFlags(page string, fromLog bool, faults *cli.Faults) {
	_, err := cli.Choose("form", d.form, forms)
	faults.Add("print", err)
	if err == nil && d.form != forms[0] && page == msg.Std {
		faults.Add("print", errors.New("the page goes to standard output: name a file with -out"))
	}
	if (d.form != "" && d.form != forms[0] || len(d.fail) > 0) && !fromLog { // findings are needed apart from the page
		faults.Add("agent-from-log", errors.New("findings need the crawlers of the log: add this flag"))
	}
	for _, code := range d.fail {
		if !slices.Contains(report.FindingCodes, code) {
			faults.Add("fail", cli.Hint(fmt.Errorf("unknown finding code %q: use %s", code, strings.Join(report.FindingCodes, ", ")), code, report.FindingCodes))
		}
	}
}

// print prints findings, and the warnings about their inputs, as JSON or Markdown. It prints nothing in the form
// text, which [run.writtenText] has.
func (d *digest) print(w io.Writer, p *Page) error {
	all, warnings := &p.Diagnosis, p.Warnings
	switch d.form {
	case "json":
		return msg.WriteJSON(w, struct {
			*report.Diagnosis
			Periods  *report.Periods   `json:"periods,omitempty"`
			Warnings []warning.Warning `json:"warnings"`
		}{all, p.Periods, append([]warning.Warning{}, warnings...)})
	case "markdown":
		var sb strings.Builder
		sb.WriteString("### robots.txt and crawlers: findings (UTC)\n\n")
		if len(all.Sites) > 0 {
			fmt.Fprintf(&sb, "%s, %s to %s\n\n", ci.Markdown(strings.Join(all.Sites, ", ")), all.From.Format(time.DateTime), all.To.Format(time.DateTime))
		}
		for i := range warnings {
			fmt.Fprintf(&sb, "Warning: %s (`%s`)\n\n", ci.Markdown(warnings[i].Text), warnings[i].Code)
		}
		for i := range all.Limits {
			fmt.Fprintf(&sb, "%s\n\n", markdown(all.Limits[i].Sentence))
		}
		for _, f := range report.Causes(all) {
			fmt.Fprintf(&sb, "%d. %s Fix: %s\n", f.No, markdown(f.Headline()), markdown(f.Remedy.Action))
			if f.Remedy.Text != "" { // shown as code because of its indentation
				sb.WriteString("\n")
				for line := range strings.Lines(f.Remedy.Text) {
					sb.WriteString("        " + msg.Printable(strings.TrimSpace(line)) + "\n")
				}
				sb.WriteString("\n")
			}
		}
		if verdict := all.Verdict(); verdict != "" {
			sb.WriteString(verdict + "\n")
		}
		for _, one := range all.Unchecked {
			fmt.Fprintf(&sb, "\nNot checked: `%s` (needs %s).\n", strings.Join(one.Codes, "`, `"), one.Needs)
		}
		if p.Periods != nil {
			writePeriods(&sb, p.Periods)
		}
		_, err := io.WriteString(w, msg.NoCommands(sb.String()))
		return err
	}
	return nil
}

// writePeriods writes a Markdown table that compares two periods. It has at most shownRows rows.
func writePeriods(sb *strings.Builder, p *report.Periods) {
	fmt.Fprintf(sb, "\n%s\n\n", ci.Markdown(p.Title()))
	for _, claim := range append(p.Claims, p.Limit) {
		if claim != "" {
			fmt.Fprintf(sb, "- %s\n", ci.Markdown(claim))
		}
	}
	sb.WriteString("\n| a day |")
	for _, name := range report.PeriodNumbers {
		sb.WriteString(" " + name + " |")
	}
	sb.WriteString("\n|---|" + strings.Repeat("--:|", len(report.PeriodNumbers)) + "\n")
	for i := range p.Rows[:min(len(p.Rows), shownRows)] {
		fmt.Fprintf(sb, "| %s |", ci.Markdown(p.Rows[i].Name))
		for m := range report.PeriodNumbers {
			fmt.Fprintf(sb, " %s |", p.Rows[i].Changes[m].String())
		}
		sb.WriteString("\n")
	}
}

// shownRows is the maximum number of rows in the Markdown table that compares two periods.
const shownRows = 13

// markdown converts a sentence of a finding to Markdown: text in backticks is code.
func markdown(sentence string) string {
	parts := strings.Split(sentence, "`")
	for i, part := range parts {
		if parts[i] = ci.Markdown(part); i%2 == 1 && i < len(parts)-1 {
			parts[i] = "<code>" + parts[i] + "</code>"
		} else if i%2 == 1 {
			parts[i] = ci.Markdown("`") + parts[i]
		}
	}
	return strings.Join(parts, "")
}
