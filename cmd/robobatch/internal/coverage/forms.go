package coverage

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
)

// markdown returns the report in Markdown, for a comment or the summary of a step.
func (c *Counter) markdown(p Page) string {
	h, tables := c.tables(p.All)
	h.Inputs = p.Inputs
	var sb strings.Builder
	sb.WriteString("### robots.txt: which rules decide\n")
	for _, line := range h.lines() {
		sb.WriteString("\n" + ci.Markdown(line) + "\n")
	}
	for k, rows := range tables {
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&sb, "\n<details><summary>%s: %s</summary>\n\n| rule | requests | URLs | |\n|---|--:|--:|---|\n", kind(k), say.Count(h.of(kind(k)), "rule"))
		for i := range rows {
			r := &rows[i]
			n := r.shown()
			fmt.Fprintf(&sb, "| %s %s | %s | %s | %s |\n", ci.Markdown(r.place(p.File, h.several())), ci.Markdown(r.Rule), say.Number(n.Requests), say.Number(n.URLs), ci.Markdown(r.note()))
		}
		if left := h.of(kind(k)) - int64(len(rows)); left > 0 {
			fmt.Fprintf(&sb, "\nand %s more\n", say.Number(left))
		}
		sb.WriteString("\n</details>\n")
	}
	return say.NoCommands(sb.String())
}

// place says where a rule stands: in the only file, in the robots.txt of an origin, or in one that has no
// name.
func (r *Rule) place(file string, several bool) string {
	place := fmt.Sprintf("line %d", r.Line)
	switch {
	case several:
		place = fmt.Sprintf("%s/robots.txt:%d", r.Origin, r.Line)
	case file != "":
		place = fmt.Sprintf("%s:%d", filepath.ToSlash(file), r.Line)
	}
	if r.Agent != nil {
		place += " " + *r.Agent
	}
	return place
}

// printGitHub prints notices of rules that matched nothing, and of those that decided nothing; the summary
// of the step gets the report.
func (c *Counter) printGitHub(w io.Writer, p Page) error {
	h, tables := c.tables(false)
	var notes []ci.Note
	for _, k := range []kind{never, onlyMatched} {
		for i := range tables[k] {
			r := &tables[k][i]
			note := ci.Note{Level: "notice", Title: r.kind().String(), Text: r.Rule}
			if p.File != "" {
				note.File, note.Line = filepath.ToSlash(p.File), r.Line
				if r.Agent != nil {
					note.Text += ", for " + *r.Agent
				}
			} else {
				note.Text = r.place("", h.several()) + " " + note.Text
			}
			if text := r.note(); text != "" {
				note.Text += ": " + text
			}
			note.Text += ". That is so in " + say.Count(h.Requests, "request")
			if h.From != nil {
				note.Text += fmt.Sprintf(" from %s to %s", h.From.Format("2006-01-02"), h.To.Format("2006-01-02"))
			}
			note.Text += "; others may need it."
			notes = append(notes, note)
		}
	}
	p.All = false
	return ci.Report(w, notes, h.Never+h.Matched-int64(len(notes)), c.markdown(p))
}
